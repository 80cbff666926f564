//! `birnn`: models that read one way and both ways, trained on the same batches.

mod learner;
mod reading;
mod task;

use burn::tensor::{Device, Tensor};
use unroll_protocol::{
    Ask, Packed,
    study::birnn::{MOST_AHEAD, Question, Reader, Spec, TaskChoice, accuracy_series, ask},
};

use super::{
    Built, Refusal, StudySlice,
    learner::{Gradients, usable_rate},
};
use crate::read_all;
use learner::Learner;
use task::Task;

/// Steps between two measurements on what is not trained on.
const MEASURE_EVERY: u32 = 20;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    task: Task,
    /// One for each of [`Spec::readers`].
    learners: Vec<Learner>,
    rate: f64,
    /// The gradients of the models that are through with their batch.
    gradients: Vec<Gradients>,
    pending: Option<Pending>,
}

/// A step whose models are updated and which is only to be measured.
struct Pending {
    losses: Vec<f32>,
    /// The models before it, in case it is dropped.
    before: Vec<Learner>,
    accuracies: Vec<Tensor<1>>,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        if !(1..=128).contains(&spec.hidden) {
            return Err(Refusal(format!(
                "States of {} units can't be drawn: choose 1 to 128.",
                spec.hidden
            )));
        }
        let task = Task::new(spec, text)?;
        let readers = spec.readers().into_iter();
        let learners = readers.map(|reader| Learner::new(reader, spec, &task, device)).collect();
        Ok(Self {
            spec: spec.clone(),
            device: device.clone(),
            task,
            learners,
            rate: f64::from(learner::OPTIMIZER.learning_rate),
            gradients: Vec::new(),
            pending: None,
        })
    }

    fn built(&self) -> Built {
        let losses = self.learners.iter().map(|learner| match learner.reader {
            // Short, because the bar above the figure shows the first three.
            Reader::Delayed(_) => "late loss".to_owned(),
            reader => format!("{} loss", reader.name()),
        });
        let measured = self.learners.iter().flat_map(|l| self.measured_series(l.reader));
        let sizes = self.learners.iter().map(|learner| {
            let reader = learner.reader;
            let units = learner.model().recurrent.layers[0].forward.hidden();
            let each = if reader == Reader::Both { " in each direction" } else { "" };
            format!(
                "{}: {units} units{each}, {} parameters",
                reader.name(),
                learner.inner.parameters()
            )
        });
        let sizes: Vec<_> = sizes.collect();
        Built {
            parameters: self.learners.iter().map(|learner| learner.inner.parameters()).sum(),
            vocabulary: match &self.task {
                Task::Look(_) => Vec::new(),
                Task::Fill { tokenizer, .. } => tokenizer.vocabulary(),
            },
            series: losses.chain(measured).collect(),
            notes: vec![format!("{}.", sizes.join("; "))],
        }
    }

    fn step(&self) -> u32 {
        self.learners[0].inner.steps() - u32::from(self.pending.is_some())
    }

    async fn advance(&mut self) -> StudySlice {
        if let Some(mut pending) = self.pending.take() {
            // One slice measures one model.
            let learner = &self.learners[pending.accuracies.len()];
            let batch = self.task.measured(&self.spec, learner.reader, &self.device);
            let logits = learner.model().forward(batch.inputs.clone());
            pending.accuracies.push(batch.accuracy(&logits));
            if pending.accuracies.len() < self.learners.len() {
                self.pending = Some(pending);
                return StudySlice::More;
            }
            let measured = read_all(pending.accuracies).await.ok().map(|read| read.concat());
            let count = self.measured_count();
            let measured = (0..count).map(|i| measured.as_ref().map(|m| m[i]));
            return StudySlice::Step(
                pending.losses.into_iter().map(Some).chain(measured).collect(),
            );
        }
        let step = self.step();
        // One slice computes one model's batch.
        let index = self.gradients.len();
        let batches = self.task.training(&self.spec, step, &self.device);
        self.gradients.push(self.learners[index].gradients(&batches[index]));
        if self.gradients.len() < self.learners.len() {
            return StudySlice::More;
        }
        let gradients = core::mem::take(&mut self.gradients);
        let losses = match Gradients::losses(&gradients).await {
            Ok(losses) => losses,
            Err(diverged) => return diverged,
        };
        let due = step == 0 || (step + 1).is_multiple_of(MEASURE_EVERY);
        let before = due.then(|| self.learners.clone());
        for (learner, gradients) in self.learners.iter_mut().zip(gradients) {
            learner.inner.update(gradients, self.rate);
        }
        if let Some(before) = before {
            self.pending = Some(Pending { losses, before, accuracies: Vec::new() });
            return StudySlice::More;
        }
        let unmeasured = core::iter::repeat_n(None, self.measured_count());
        StudySlice::Step(losses.into_iter().map(Some).chain(unmeasured).collect())
    }

    fn discard(&mut self) {
        self.gradients.clear();
        if let Some(pending) = self.pending.take() {
            self.learners = pending.before;
        }
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.rate = usable_rate(rate)?;
        Ok(())
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        match question {
            Question::Reading(question @ ask::Reading { text, example, ahead, hidden, edit }) => {
                let asked = reading::Asked {
                    text,
                    example: *example,
                    ahead: *ahead,
                    hidden: *hidden,
                    edit: *edit,
                };
                let reading = reading::reading(&self.learners, &self.task, &self.spec, asked);
                Ok(question.answered(&reading.await?))
            }
            Question::Passage(question @ ask::Passage { number }) => {
                let passage = reading::passage(&self.learners, &self.task, &self.spec, *number);
                Ok(question.answered(&passage.await?))
            }
        }
    }
}

impl Study {
    /// Names of the series measured for one model.
    fn measured_series(&self, reader: Reader) -> Vec<String> {
        match self.spec.task {
            TaskChoice::Look => {
                (1..=MOST_AHEAD).map(|k| accuracy_series(reader, Some(k))).collect()
            }
            TaskChoice::Fill => vec![accuracy_series(reader, None)],
        }
    }

    /// Number of values measured for all models.
    fn measured_count(&self) -> usize {
        self.learners.len() * self.task.groups()
    }
}
