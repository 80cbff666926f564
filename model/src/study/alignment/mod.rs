//! `alignment`: encoder-decoders with different kinds of attention, trained on the same batches.

mod held_out;
mod reading;

use burn::tensor::Device;
use unroll_protocol::{
    Ask, Packed,
    study::alignment::{
        Lengths, MOST_LENGTH, Question, Spec, ask, exact_series, loss_series, name,
    },
    transduction::{AttentionKind, PairTask},
};

use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner, steady},
    training::{Pending, Training, is_measured},
};
use crate::{Named, Pairs, Seq2seq, Seq2seqConfig, Split};
use held_out::HeldOut;

/// Pairs in a training step.
const ROWS: usize = 32;
/// Steps between two measurements on held-out sources.
const MEASURE_EVERY: u32 = 25;
/// Far above what a transformer tolerates: recurrent models this small learn fast with it at first.
const LEARNING_RATE: f32 = 0.01;
/// From this step on the rate falls with the square root of the step, so that what is learned
/// stays.
const STEADY_STEPS: f64 = 60.0;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    pairs: Pairs,
    held_out: HeldOut,
    /// One for each of [`Spec::kinds`].
    training: Training<Seq2seq, Answered>,
    measured: Lengths,
}

/// For each model whose measurement has begun, which held-out sources it answered correctly.
type Answered = Vec<Vec<bool>>;

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, _text: &str, device: &Device) -> Result<Self, Refusal> {
        let Spec { hidden, length, .. } = *spec;
        if !(1..=128).contains(&hidden) {
            return Err(Refusal(format!("States have 1 to 128 units, not {hidden}.")));
        }
        if length > MOST_LENGTH {
            return Err(Refusal(format!(
                "Strings of {length} characters take too long to learn here: choose at most \
                 {MOST_LENGTH}."
            )));
        }
        // The lengths of dates are what they are.
        let longest = if spec.task == PairTask::Dates { 1 } else { length as usize };
        let pairs = Pairs::new(spec.task, longest)?;
        let held_out = HeldOut::new(spec, &pairs)?;
        let learners = spec.kinds().into_iter().map(|attention| {
            let model = Seq2seqConfig {
                sources: pairs.sources(),
                targets: pairs.targets(),
                hidden: hidden as usize,
                bidirectional: true,
                attention,
                alignment: hidden as usize,
                seed: spec.seed,
            };
            Learner::new(model.init(device), &steady(LEARNING_RATE))
        });
        Ok(Self {
            spec: spec.clone(),
            device: device.clone(),
            held_out,
            training: Training::new(learners.collect(), LEARNING_RATE, spec.kinds().len()),
            pairs,
            measured: Lengths::default(),
        })
    }

    fn built(&self) -> Built {
        let kinds = self.spec.kinds();
        let sizes: Vec<_> = kinds.iter().zip(self.training.learners()).collect();
        let sizes = sizes.iter().map(|(kind, learner)| {
            format!("{}: {} parameters", name(**kind), learner.parameters())
        });
        Built {
            parameters: self.training.parameters(),
            vocabulary: self.pairs.source_symbols(),
            series: kinds
                .iter()
                .map(|kind| loss_series(*kind))
                .chain(kinds.iter().map(|kind| exact_series(*kind)))
                .collect(),
            notes: vec![format!("{}.", sizes.collect::<Vec<_>>().join("; "))],
        }
    }

    fn step(&self) -> u32 {
        self.training.step()
    }

    async fn advance(&mut self) -> StudySlice {
        if let Some(pending) = self.training.take_pending() {
            return self.measure(pending).await;
        }
        let step = self.step();
        // One slice computes one model's batch.
        let batch = self.pairs.batch(self.spec.seed, Split::Training, step, ROWS);
        let tracked = self.training.tracked();
        let gradients = Gradients::of(&tracked, tracked.loss(&batch.tensors(&self.device)));
        let decay = (STEADY_STEPS / f64::from(step + 1)).sqrt().min(1.0);
        self.training.advance_at([gradients], is_measured(step, MEASURE_EVERY), decay).await
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
        holder.value(&mut self.measured);
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        self.training.keep(self.spec.kinds().into_iter().map(AttentionKind::id), keeper);
        keeper.measured(&mut self.measured);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        let asked = reading::Asked {
            pairs: &self.pairs,
            seed: self.spec.seed,
            learners: self.training.learners(),
            device: &self.device,
        };
        Ok(match question {
            Question::Reading(question @ ask::Reading { source }) => {
                question.answered(&asked.reading(source).await?)
            }
            Question::Row(question @ ask::Row { source, model, at }) => {
                let row = asked.row(source, *model as usize, *at as usize);
                question.answered(&row.await?)
            }
            Question::Lengths(question) => question.answered(&self.measured.clone()),
            Question::Beam(question @ ask::Beam { source, width }) => {
                question.answered(&asked.search(source, *width as usize).await?)
            }
        })
    }
}

impl Study {
    /// One model's answers to some of the held-out sources.
    async fn measure(&mut self, mut pending: Pending<Seq2seq, Answered>) -> StudySlice {
        let whole = self.held_out.len();
        let answered = &mut pending.measured;
        if answered.last().is_none_or(|right| right.len() == whole) {
            answered.push(Vec::new());
        }
        let model = self.training.model(answered.len() - 1);
        if let Some(right) = answered.last_mut() {
            match self.held_out.part(model, right.len(), &self.device).await {
                Ok(part) => right.extend(part),
                // A device that can't be read from says so with the next step's loss.
                Err(_) => right.resize(whole, false),
            }
        }
        let done = answered.len() == self.training.learners().len()
            && answered.iter().all(|right| right.len() == whole);
        if !done {
            return self.training.wait(pending);
        }
        let bins = self.held_out.bins(answered);
        self.measured = Lengths { step: self.training.step(), bins };
        let shares: Vec<_> =
            answered.iter().map(|right| Some(self.held_out.share(right))).collect();
        pending.done(shares)
    }
}
