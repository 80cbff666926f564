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
    Built, Refusal, StudySlice,
    learner::{Gradients, usable_rate},
};
use crate::{CellKind, read_all};
use learner::{Learner, gradients, learner};
use task::Task;

/// Steps between two measurements on what is not learned from.
const MEASURE_EVERY: u32 = 20;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    task: Task,
    /// The Elman network, then the LSTM.
    learners: [Learner; 2],
    rate: f64,
    pending: Option<Pending>,
}

/// A step whose models are updated and which is only to be measured.
struct Pending {
    losses: [f32; 2],
    /// The state before it, in case it is dropped.
    before: [Learner; 2],
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
        let rate = f64::from(learner::OPTIMIZER.learning_rate);
        Ok(Self { spec: spec.clone(), device: device.clone(), task, learners, rate, pending: None })
    }

    fn built(&self) -> Built {
        let [elman, lstm] = self.learners.each_ref().map(Learner::parameters);
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
        self.learners[0].steps() - u32::from(self.pending.is_some())
    }

    async fn advance(&mut self) -> StudySlice {
        let losses = match self.pending.take() {
            Some(pending) => pending.losses,
            None => {
                let step = self.step();
                let batch = self.task.batch(self.spec.seed, step, &self.device);
                let gradients = self.learners.each_ref().map(|learner| gradients(learner, &batch));
                let losses = match Gradients::losses(&gradients).await {
                    Ok(losses) => [losses[0], losses[1]],
                    Err(diverged) => return diverged,
                };
                let due = step == 0 || (step + 1).is_multiple_of(MEASURE_EVERY);
                let before = due.then(|| self.learners.clone());
                for (learner, gradients) in self.learners.iter_mut().zip(gradients) {
                    learner.update(gradients, self.rate);
                }
                if let Some(before) = before {
                    self.pending = Some(Pending { losses, before });
                    return StudySlice::More;
                }
                return StudySlice::Step(vec![Some(losses[0]), Some(losses[1]), None, None]);
            }
        };
        let measured = self
            .learners
            .each_ref()
            .map(|learner| self.task.measure(&learner.model, self.spec.seed, &self.device));
        let measured = match measured {
            [Some(elman), Some(lstm)] => read_all([elman, lstm]).await.ok(),
            _ => None,
        };
        let value = |index: usize| Some(measured.as_ref()?[index][0]);
        StudySlice::Step(vec![Some(losses[0]), Some(losses[1]), value(0), value(1)])
    }

    fn discard(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.learners = pending.before;
        }
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.rate = usable_rate(rate)?;
        Ok(())
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        let [elman, lstm] = self.learners.each_ref().map(|learner| &learner.model);
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
