//! `gates`: one layer of gated units, and everything inside it.

mod forces;
mod seen;
mod sums;
mod task;
mod units;

use burn::{module::Module, tensor::Device};
use unroll_protocol::{
    OptimizerSpec,
    study::gates::{Answer, CellChoice, MOST_UNITS, Question, Spec, TaskChoice},
};

use super::{Built, Refusal, StudySlice};
use crate::{
    AdamW, CellKind, GradientSum, Initialization, SequenceConfig, SequenceModel, global_norm,
    named_parameters, read_all,
};
use task::Task;

/// Steps between two measurements on what is not learnt from.
const MEASURE_EVERY: u32 = 20;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    task: Task,
    model: SequenceModel,
    optimizer: AdamW,
    rate: f64,
    /// A step that is taken and only to be measured: its loss, and the state before it.
    pending: Option<(f32, SequenceModel, AdamW)>,
}

/// The cell that is built. The forget gate's bias starts at 1 (Gers et al. 2000): at PyTorch's
/// start, about 0, a cell needs longer to learn to remember.
fn kind(spec: &Spec) -> CellKind {
    let projection = spec.cell.projection(spec.units).map(|width| width as usize);
    match spec.cell {
        CellChoice::Lstm | CellChoice::Projected => CellKind::Lstm { projection, forget_bias: 1.0 },
        CellChoice::Gru => CellKind::Gru,
        CellChoice::Cho => CellKind::ChoGru,
    }
}

/// The learning rate does not change by itself. The rates are those at which each task is learnt
/// within a few hundred steps by every cell.
fn optimizer(task: TaskChoice) -> OptimizerSpec {
    OptimizerSpec {
        learning_rate: match task {
            TaskChoice::Brackets | TaskChoice::Text => 0.01,
            TaskChoice::Quotes => 0.03,
        },
        warmup_steps: 0,
        decay_steps: 0,
        weight_decay: 0.0,
        beta1: 0.9,
        beta2: 0.99,
        epsilon: 1e-8,
        clip_norm: 1.0,
    }
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;
    type Answer = Answer;

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
            optimizer: AdamW::new(&settings, &model),
            model,
            rate: f64::from(settings.learning_rate),
            pending: None,
        })
    }

    fn built(&self) -> Built {
        let parameters = named_parameters(&self.model);
        Built {
            parameters: parameters.iter().map(|p| p.1.iter().product::<usize>() as u64).sum(),
            vocabulary: self.task.known(),
            series: ["loss", self.task.measured()].map(str::to_owned).to_vec(),
            notes: self.task.notes(),
        }
    }

    fn step(&self) -> u32 {
        self.optimizer.steps() - u32::from(self.pending.is_some())
    }

    async fn advance(&mut self) -> StudySlice {
        let loss = match self.pending.take() {
            Some((loss, ..)) => loss,
            None => {
                let step = self.step();
                let batch = self.task.batch(self.spec.seed, step, &self.device);
                let tracked = self.model.clone().train();
                let loss = batch.loss(tracked.forward(batch.inputs()));
                let mut sum = GradientSum::default();
                sum.add(&tracked, &mut loss.backward());
                let gradients = sum.finish();
                let norm = global_norm(&gradients);
                let loss = match read_all([loss.inner(), norm.clone()]).await {
                    Ok(read) if read[1][0].is_finite() => read[0][0],
                    _ => f32::NAN,
                };
                if !loss.is_finite() {
                    return StudySlice::Diverged { loss };
                }
                let due = step == 0 || (step + 1).is_multiple_of(MEASURE_EVERY);
                let before = due.then(|| (self.model.clone(), self.optimizer.clone()));
                let model = self.model.clone();
                self.model = self.optimizer.update(model, gradients, &norm, self.rate);
                if let Some((model, optimizer)) = before {
                    self.pending = Some((loss, model, optimizer));
                    return StudySlice::More;
                }
                return StudySlice::Step(vec![Some(loss), None]);
            }
        };
        let measured = match self.task.measure(&self.model, self.spec.seed, &self.device) {
            Some(measured) => read_all([measured]).await.ok().map(|read| read[0][0]),
            None => None,
        };
        StudySlice::Step(vec![Some(loss), measured])
    }

    fn discard(&mut self) {
        if let Some((_, model, optimizer)) = self.pending.take() {
            (self.model, self.optimizer) = (model, optimizer);
        }
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(Refusal(format!("{rate} is no learning rate: choose one above 0.")));
        }
        self.rate = f64::from(rate);
        Ok(())
    }

    async fn ask(&mut self, question: &Question) -> Result<Answer, Refusal> {
        match question {
            Question::Seen { sentence, quantity, forced } => {
                self.seen(sentence, *quantity, forced).await.map(Answer::Seen)
            }
            Question::Sums { sentence, forced, unit, at } => {
                self.sums(sentence, forced, *unit as usize, *at as usize).await.map(Answer::Sums)
            }
            Question::Shut { sentence, gate, units } => {
                self.shut(sentence, *gate, units).await.map(Answer::Shut)
            }
            Question::Units => self.units().await.map(Answer::Units),
        }
    }
}
