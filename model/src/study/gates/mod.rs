//! `gates`: one layer of gated units and everything inside it.

mod forces;
mod seen;
mod sums;
mod task;
mod units;

use burn::tensor::Device;
use unroll_protocol::{
    Ask, OptimizerSpec, Packed,
    study::gates::{CellChoice, MOST_UNITS, Question, Spec, TaskChoice, ask},
};

use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner, steady},
    training::{Training, is_measured},
};
use crate::{
    CellKind, Initialization, Named, SequenceConfig, SequenceModel, masked_cross_entropy, read_all,
};
use task::Task;

/// Steps between two measurements on held-out data.
const MEASURE_EVERY: u32 = 20;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    task: Task,
    training: Training<SequenceModel>,
}

/// The cell that is built. The forget gate's bias starts at 1 (Gers et al. 2000): with PyTorch's
/// initial bias of about 0, a cell takes longer to learn to remember.
fn kind(spec: &Spec) -> CellKind {
    let projection = spec.cell.projection(spec.units).map(|width| width as usize);
    match spec.cell {
        CellChoice::Lstm | CellChoice::Projected => CellKind::Lstm { projection, forget_bias: 1.0 },
        CellChoice::Gru => CellKind::Gru,
        CellChoice::Cho => CellKind::ChoGru,
    }
}

/// Learning rates at which every kind of cell learns the task within a few hundred steps.
fn optimizer(task: TaskChoice) -> OptimizerSpec {
    steady(match task {
        TaskChoice::Brackets | TaskChoice::Text => 0.01,
        TaskChoice::Quotes => 0.03,
    })
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        if !(1..=MOST_UNITS).contains(&spec.units) {
            return Err(Refusal(format!(
                "A layer of {} units can't be drawn: choose 1 to {MOST_UNITS}.",
                spec.units
            )));
        }
        let task = Task::new(spec.task, text)?;
        let model = SequenceConfig {
            vocabulary: task.vocabulary(),
            outputs: task.outputs(),
            embedding: None,
            kind: kind(spec),
            hidden: spec.units as usize,
            layers: 1,
            bidirectional: false,
            initialization: Initialization::Uniform,
            seed: spec.seed,
        }
        .init(device);
        let settings = optimizer(spec.task);
        Ok(Self {
            spec: spec.clone(),
            device: device.clone(),
            task,
            training: Training::new(
                vec![Learner::new(model, &settings)],
                settings.learning_rate,
                1,
            ),
        })
    }

    fn built(&self) -> Built {
        Built {
            parameters: self.training.parameters(),
            vocabulary: self.task.known(),
            series: ["loss", self.task.measured()].map(str::to_owned).to_vec(),
            notes: self.task.notes(),
        }
    }

    fn step(&self) -> u32 {
        self.training.step()
    }

    async fn advance(&mut self) -> StudySlice {
        let Some(pending) = self.training.take_pending() else {
            let step = self.step();
            let batch = self.task.batch(self.spec.seed, step, &self.device);
            let tracked = self.training.tracked();
            let logits = tracked.forward(batch.inputs);
            let loss = masked_cross_entropy(logits, batch.targets, batch.weights);
            let gradients = Gradients::of(&tracked, loss);
            return self.training.advance([gradients], is_measured(step, MEASURE_EVERY)).await;
        };
        let measured = match self.task.measure(self.model(), self.spec.seed, &self.device) {
            Some(measured) => read_all([measured]).await.ok().map(|read| read[0][0]),
            None => None,
        };
        pending.done([measured])
    }

    fn discard(&mut self) {
        self.training.discard();
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.training.set_rate(rate)
    }

    fn named_parameters(&self, model: usize) -> Vec<Named> {
        self.training.parameters_of(model)
    }

    fn hold(&mut self, holder: &mut Holder<'_>) {
        self.training.hold(holder);
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        self.training.keep(["model"], keeper);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        match question {
            Question::Seen(question @ ask::Seen { sentence, quantity, forced }) => {
                self.seen(sentence, *quantity, forced).await.map(|seen| question.answered(&seen))
            }
            Question::Sums(question @ ask::Sums { sentence, forced, unit, at }) => {
                let sums = self.sums(sentence, forced, *unit as usize, *at as usize).await?;
                Ok(question.answered(&sums))
            }
            Question::Shut(question @ ask::Shut { sentence, gate, units }) => {
                Ok(question.answered(&self.shut(sentence, *gate, units).await?))
            }
            Question::Units(question) => Ok(question.answered(&self.units().await?)),
        }
    }
}

impl Study {
    fn model(&self) -> &SequenceModel {
        self.training.model(0)
    }
}
