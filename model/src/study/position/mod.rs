//! `position`: one model for each positional encoding, otherwise alike, trained on the same batches
//! of a task that needs order.

mod encodings;
mod models;
mod reading;

use burn::tensor::{Device, Tensor};
use unroll_protocol::{
    Ask, Packed,
    architecture::Positions,
    study::position::{
        Asked, CONTEXT, LONGEST, MEASURED, MOST_SHOWN, Question, SHORTEST, SYMBOLS, Spec,
        accuracy_series, ask, loss_series,
    },
};

use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::Gradients,
    training::{Pending, is_measured},
};
use crate::{
    Named,
    gpt::Gpt,
    loss::{masked_accuracy, masked_cross_entropy},
    read_all,
    tasks::{BatchTensors, NthSymbol, Split, Task},
};
use models::{Accuracies, Models};

/// Sequences of one training batch.
const ROWS: usize = 48;
/// Sequences of each length that models are measured on.
const MEASURED_ROWS: usize = 96;
/// Steps between two measurements.
const MEASURE_EVERY: u32 = 50;
/// Number of models that compute their batch in one slice.
const AT_ONCE: usize = 3;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    models: Models,
    /// Accuracy by counting, for each of [`MEASURED`].
    counting: Vec<f32>,
    /// The last result about all positions, which does not depend on training.
    farthest: Option<encodings::Farthest>,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, _text: &str, device: &Device) -> Result<Self, Refusal> {
        if !(2..=64).contains(&spec.width) {
            return Err(Refusal(format!(
                "Models of width {} can't be drawn: choose 2 to 64.",
                spec.width
            )));
        }
        if !(1..=3).contains(&spec.layers) {
            return Err(Refusal(format!(
                "{} layers take too long side by side: choose 1 to 3.",
                spec.layers
            )));
        }
        let counting = MEASURED.iter().map(|&length| {
            let task = task(spec, length)?;
            let batch = task.batch(spec.seed, Split::HeldOut, 0, MEASURED_ROWS);
            Ok(task.by_counting(&batch) as f32)
        });
        Ok(Self {
            spec: spec.clone(),
            device: device.clone(),
            models: Models::new(spec, device),
            counting: counting.collect::<Result<_, Refusal>>()?,
            farthest: None,
        })
    }

    fn built(&self) -> Built {
        let Spec { layers, width, .. } = self.spec;
        let plural = |count, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let note = format!(
            "Each model has {} of width {width} with {}. All see the same {ROWS} sequences at each \
             step, of {SHORTEST} to {LONGEST} symbols in turn, out of {SYMBOLS}.",
            plural(layers, "layer"),
            plural(self.spec.heads(), "head"),
        );
        let refused = self.models.refusals().map(str::to_owned);
        Built {
            parameters: self.models.training.parameters(),
            vocabulary: Vec::new(),
            series: self.series(),
            notes: core::iter::once(note).chain(refused).collect(),
        }
    }

    fn step(&self) -> u32 {
        self.models.training.step()
    }

    async fn advance(&mut self) -> StudySlice {
        if let Some(pending) = self.models.training.take_pending() {
            return self.measure(pending).await;
        }
        let batch = match self.training() {
            Ok(batch) => batch,
            Err(_) => return StudySlice::Diverged { loss: f32::NAN },
        };
        let training = &self.models.training;
        let learners = training.learners().iter().skip(training.next()).take(AT_ONCE);
        let gradients = learners.map(|learner| {
            let tracked = learner.tracked();
            let logits = tracked.forward(batch.inputs.clone());
            let loss = masked_cross_entropy(logits, batch.targets.clone(), batch.weights.clone());
            Gradients::of(&tracked, loss)
        });
        let gradients: Vec<_> = gradients.collect();
        let due = is_measured(self.step(), MEASURE_EVERY);
        self.models.training.advance(gradients, due).await
    }

    fn discard(&mut self) {
        self.models.training.discard();
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.models.training.set_rate(rate)
    }

    fn named_parameters(&self, model: usize) -> Vec<Named> {
        self.models.training.parameters_of(model)
    }

    fn hold(&mut self, holder: &mut Holder<'_>) {
        self.models.training.hold(holder);
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        let names: Vec<_> = self.models.kinds().map(Positions::id).collect();
        self.models.training.keep(names, keeper);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        let width = self.spec.width as usize;
        Ok(match question {
            Question::Encoding(question @ ask::Encoding { positions }) => {
                question.answered(&encodings::encoding(&self.models, &self.spec, *positions).await?)
            }
            Question::Clock(question @ ask::Clock { at, k }) => {
                question.answered(&encodings::clock(*at, *k, width, &mut self.farthest)?)
            }
            Question::Products(question @ ask::Products { positions, at }) => {
                let products = encodings::products(&self.models, &self.spec, *positions, *at);
                question.answered(&products.await?)
            }
            Question::Scores(question @ ask::Scores { positions }) => {
                question.answered(&reading::scores(self.models.get(*positions)?, *positions).await?)
            }
            Question::Swamping(question) => {
                question.answered(&encodings::swamping(&self.models).await?)
            }
            Question::Reading(question @ ask::Reading { asked }) => {
                let sequence = self.sequence(asked)?;
                let counting = self.counting.clone();
                question.answered(&reading::reading(&self.models, sequence, counting).await?)
            }
            Question::Row(question @ ask::Row { positions, asked, head, query }) => {
                let sequence = self.sequence(asked)?;
                let cell = [*head as usize, *query as usize];
                let row = reading::row(self.models.get(*positions)?, sequence, cell);
                question.answered(&row.await?)
            }
        })
    }
}

/// The chapter's task with `length` symbols.
fn task(spec: &Spec, length: u32) -> Result<NthSymbol, Refusal> {
    Ok(NthSymbol::new(SYMBOLS as usize, length as usize, LONGEST as usize, spec.from)?)
}

impl Study {
    /// Losses, then accuracies, model by model.
    fn series(&self) -> Vec<String> {
        let kinds = || self.models.kinds();
        let accuracies = kinds().flat_map(|positions| {
            readable(positions).map(move |length| accuracy_series(positions, length))
        });
        kinds().map(loss_series).chain(accuracies).collect()
    }

    /// The next step's batch: each step has a single length, and all lengths take turns.
    fn training(&self) -> Result<BatchTensors, Refusal> {
        let step = self.models.training.step();
        let length = SHORTEST + step % (LONGEST - SHORTEST + 1);
        let task = task(&self.spec, length)?;
        let batch = task.batch(self.spec.seed, Split::Training, step, ROWS);
        Ok(batch.tensors(&self.device))
    }

    /// One model's measurement; with the last one the step is done.
    async fn measure(&mut self, mut pending: Pending<Gpt, Accuracies>) -> StudySlice {
        let index = pending.measured.len();
        if let Some((positions, learner)) = self.models.with_kinds().nth(index) {
            let accuracies = readable(positions).filter_map(|length| {
                let task = task(&self.spec, length).ok()?;
                let batch = task.batch(self.spec.seed, Split::HeldOut, 0, MEASURED_ROWS);
                let BatchTensors { inputs, targets, weights } = batch.tensors(&self.device);
                Some(masked_accuracy(learner.model.forward(inputs), targets, weights))
            });
            pending.measured.push(Tensor::cat(accuracies.collect(), 0));
        }
        let models = self.models.training.learners().len();
        if pending.measured.len() < models {
            return self.models.training.wait(pending);
        }
        let accuracies = core::mem::take(&mut pending.measured);
        let measured = read_all(accuracies).await.ok().map(|read| read.concat());
        let count = self.series().len() - models;
        pending.done((0..count).map(|i| measured.as_ref().and_then(|m| m.get(i).copied())))
    }

    /// The sequence on show: symbols drawn from the held-out stream, then the requested number.
    fn sequence(&self, asked: &Asked) -> Result<reading::Sequence, Refusal> {
        let Asked { example, length, number } = *asked;
        if !(1..=MOST_SHOWN).contains(&length) {
            return Err(Refusal(format!(
                "A sequence of {length} symbols can't be shown: choose 1 to {MOST_SHOWN}."
            )));
        }
        let most = length.min(LONGEST);
        if !(1..=most).contains(&number) {
            return Err(Refusal(format!(
                "A sequence of {length} symbols has no symbol number {number} to ask for: ask for \
                 1 to {most}."
            )));
        }
        let task = task(&self.spec, length)?;
        // Stream 0 is used for measuring.
        let batch = task.batch(self.spec.seed, Split::HeldOut, 1 + example, 1);
        Ok(reading::Sequence::new(&task, &batch, number as usize))
    }
}

/// The lengths at which a model with these positions can be measured at all.
fn readable(positions: Positions) -> impl Iterator<Item = u32> {
    let ends = positions == Positions::Learned;
    MEASURED.into_iter().filter(move |&length| !ends || length < CONTEXT)
}
