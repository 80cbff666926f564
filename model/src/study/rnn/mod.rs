//! `rnn`: an Elman network and an LSTM, trained on the same batches.

mod learner;
mod recovery;
mod task;
mod unrolled;
mod writing;

use burn::tensor::Device;
use unroll_protocol::{
    Ask, Packed,
    study::rnn::{CellChoice, Question, Spec, ask},
};

use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    training::{Training, is_measured},
};
use crate::{CellKind, Named, SequenceModel, read_all};
use learner::{gradients, learner};
use task::Task;

/// Steps between two measurements on what is not learned from.
const MEASURE_EVERY: u32 = 20;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    task: Task,
    /// The Elman network, then the LSTM.
    training: Training<SequenceModel>,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        if !(1..=256).contains(&spec.hidden) {
            return Err(Refusal(format!(
                "A state of {} units can't be drawn: choose 1 to 256.",
                spec.hidden
            )));
        }
        let task = Task::new(spec.readout, text)?;
        let elman = match spec.cell {
            CellChoice::Tanh => CellKind::RNN,
            CellChoice::Sigmoid => CellKind::MIKOLOV,
        };
        // A forget bias of 1 is the usual advice (Gers et al. 2000); with PyTorch's initial bias,
        // about 0, the LSTM would take longer to learn to remember.
        let lstm = CellKind::Lstm { projection: None, forget_bias: 1.0 };
        let learners = [elman, lstm].map(|kind| learner(kind, spec, &task, device));
        let rate = learner::OPTIMIZER.learning_rate;
        let training = Training::new(learners.into(), rate, 2);
        Ok(Self { spec: spec.clone(), device: device.clone(), task, training })
    }

    fn built(&self) -> Built {
        let [elman, lstm] = [0, 1].map(|index| self.training.learners()[index].parameters());
        let mut notes = self.task.notes();
        notes.push(format!("The Elman network has {elman} parameters, the LSTM {lstm}."));
        let names = |what: &str| [format!("Elman{what}"), format!("LSTM{what}")];
        let measured = match &self.task {
            Task::Text { .. } => names(", held out"),
            Task::Brackets => names(", share right"),
        };
        Built {
            parameters: elman + lstm,
            // The generated strings are not the learner's text.
            vocabulary: match &self.task {
                Task::Text(text) => text.tokenizer.vocabulary(),
                Task::Brackets => Vec::new(),
            },
            series: [names(" loss"), measured].concat(),
            notes,
        }
    }

    fn step(&self) -> u32 {
        self.training.step()
    }

    async fn advance(&mut self) -> StudySlice {
        let Some(pending) = self.training.take_pending() else {
            let step = self.step();
            let batch = self.task.batch(self.spec.seed, step, &self.device);
            let learners = self.training.learners().iter();
            let gradients: Vec<_> = learners.map(|learner| gradients(learner, &batch)).collect();
            return self.training.advance(gradients, is_measured(step, MEASURE_EVERY)).await;
        };
        let measure =
            |index| self.task.measure(self.training.model(index), self.spec.seed, &self.device);
        let measured = match [0, 1].map(measure) {
            [Some(elman), Some(lstm)] => read_all([elman, lstm]).await.ok(),
            _ => None,
        };
        pending.done([0, 1].map(|index: usize| Some(measured.as_ref()?[index][0])))
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
        self.training.keep(["elman", "lstm"], keeper);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        let [elman, lstm] = [0, 1].map(|index| self.training.model(index));
        match question {
            Question::Unrolled(question @ ask::Unrolled { text, edit, example }) => {
                let reading = self.task.reading(text, *example, self.spec.seed)?;
                let asked =
                    unrolled::Asked { task: &self.task, spec: &self.spec, reading, edit: *edit };
                Ok(question.answered(&unrolled::unrolled(elman, asked).await?))
            }
            Question::Writing(question @ ask::Writing { prompt, length, temperature, odd }) => {
                let text = self.task.text("writes")?;
                let asked = writing::Asked {
                    prompt,
                    length: *length,
                    temperature: *temperature,
                    odd: *odd,
                    seed: self.spec.seed,
                };
                Ok(question.answered(&writing::writing([elman, lstm], text, asked).await?))
            }
            Question::Recovery(question @ ask::Recovery { letter }) => {
                let text = self.task.text("reads on")?;
                Ok(question.answered(&recovery::recovery([elman, lstm], text, *letter).await?))
            }
        }
    }
}
