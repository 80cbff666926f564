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
    Built, Holder, Keeper, Refusal, StudySlice,
    training::{Training, is_measured},
};
use crate::{Named, SequenceModel, read_all};
use learner::{Model, learner};
use task::Task;

/// Steps between two measurements on what is not trained on.
const MEASURE_EVERY: u32 = 20;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    task: Task,
    /// One for each of [`Spec::readers`]; measured are the accuracies.
    training: Training<SequenceModel, Vec<Tensor<1>>>,
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
        let learners: Vec<_> = readers.map(|reader| learner(reader, spec, &task, device)).collect();
        let measured = learners.len() * task.groups();
        Ok(Self {
            spec: spec.clone(),
            device: device.clone(),
            task,
            training: Training::new(learners, learner::OPTIMIZER.learning_rate, measured),
        })
    }

    fn built(&self) -> Built {
        let models = self.models();
        let losses = models.iter().map(|model| match model.reader {
            // Short, because the bar above the figure shows the first three.
            Reader::Delayed(_) => "late loss".to_owned(),
            reader => format!("{} loss", reader.name()),
        });
        let measured = models.iter().flat_map(|model| self.measured_series(model.reader));
        let sizes = models.iter().map(|model| {
            let reader = model.reader;
            let units = model.learner.model.recurrent.layers[0].forward.hidden();
            let each = if reader == Reader::Both { " in each direction" } else { "" };
            format!(
                "{}: {units} units{each}, {} parameters",
                reader.name(),
                model.learner.parameters()
            )
        });
        let sizes: Vec<_> = sizes.collect();
        Built {
            parameters: self.training.parameters(),
            vocabulary: match &self.task {
                Task::Look(_) => Vec::new(),
                Task::Fill { tokenizer, .. } => tokenizer.vocabulary(),
            },
            series: losses.chain(measured).collect(),
            notes: vec![format!("{}.", sizes.join("; "))],
        }
    }

    fn step(&self) -> u32 {
        self.training.step()
    }

    async fn advance(&mut self) -> StudySlice {
        if let Some(mut pending) = self.training.take_pending() {
            // One slice measures one model.
            let models = self.models();
            let model = models[pending.measured.len()];
            let batch = self.task.measured(&self.spec, model.reader, &self.device);
            let logits = model.learner.model.forward(batch.inputs.clone());
            pending.measured.push(batch.accuracy(&logits));
            if pending.measured.len() < models.len() {
                return self.training.wait(pending);
            }
            let accuracies = core::mem::take(&mut pending.measured);
            let measured = read_all(accuracies).await.ok().map(|read| read.concat());
            let count = self.training.learners().len() * self.task.groups();
            return pending.done((0..count).map(|i| measured.as_ref().map(|m| m[i])));
        }
        let step = self.step();
        // One slice computes one model's batch.
        let index = self.training.next();
        let batches = self.task.training(&self.spec, step, &self.device);
        let gradients = self.models()[index].gradients(&batches[index]);
        self.training.advance([gradients], is_measured(step, MEASURE_EVERY)).await
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
        let names = self.spec.readers().into_iter().map(|reader| match reader {
            Reader::Forward => "forward",
            Reader::Delayed(_) => "delayed",
            Reader::Backward => "backward",
            Reader::Both => "both",
        });
        self.training.keep(names, keeper);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        let models = self.models();
        match question {
            Question::Reading(question @ ask::Reading { text, example, ahead, hidden, edit }) => {
                let asked = reading::Asked {
                    text,
                    example: *example,
                    ahead: *ahead,
                    hidden: *hidden,
                    edit: *edit,
                };
                let reading = reading::reading(&models, &self.task, &self.spec, asked);
                Ok(question.answered(&reading.await?))
            }
            Question::Passage(question @ ask::Passage { number }) => {
                let passage = reading::passage(&models, &self.task, &self.spec, *number);
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

    /// Every model with its reader.
    fn models(&self) -> Vec<Model<'_>> {
        let readers = self.spec.readers().into_iter().zip(self.training.learners());
        readers.map(|(reader, learner)| Model { reader, learner }).collect()
    }
}
