//! `alignment`: encoder-decoders with different kinds of attention, trained on the same batches.

mod held_out;
mod reading;

use burn::tensor::Device;
use unroll_protocol::{
    Ask, Packed,
    study::alignment::{
        Lengths, MOST_LENGTH, Question, Spec, ask, exact_series, loss_series, name,
    },
    transduction::PairTask,
};

use super::{
    Built, Refusal, StudySlice,
    learner::{Gradients, Learner, steady, usable_rate},
};
use crate::{Pairs, Seq2seq, Seq2seqConfig, Split};
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
    learners: Vec<Learner<Seq2seq>>,
    rate: f64,
    /// The gradients of the models that are through with their batch.
    gradients: Vec<Gradients>,
    pending: Option<Pending>,
    measured: Lengths,
}

/// A step whose models are updated and which is only to be measured.
struct Pending {
    losses: Vec<f32>,
    /// The models before it, in case it is dropped.
    before: Vec<Learner<Seq2seq>>,
    /// For each model that is begun, which held-out sources it answered rightly.
    right: Vec<Vec<bool>>,
}

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
            learners: learners.collect(),
            pairs,
            rate: LEARNING_RATE.into(),
            gradients: Vec::new(),
            pending: None,
            measured: Lengths::default(),
        })
    }

    fn built(&self) -> Built {
        let kinds = self.spec.kinds();
        let sizes: Vec<_> = kinds.iter().zip(&self.learners).collect();
        let sizes = sizes.iter().map(|(kind, learner)| {
            format!("{}: {} parameters", name(**kind), learner.parameters())
        });
        Built {
            parameters: self.learners.iter().map(Learner::parameters).sum(),
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
        self.learners[0].steps() - u32::from(self.pending.is_some())
    }

    async fn advance(&mut self) -> StudySlice {
        if let Some(pending) = self.pending.take() {
            return self.measure(pending).await;
        }
        let step = self.step();
        // One slice computes one model's batch.
        let batch = self.pairs.batch(self.spec.seed, Split::Training, step, ROWS);
        let tracked = self.learners[self.gradients.len()].tracked();
        let loss = tracked.loss(&batch.tensors(&self.device));
        self.gradients.push(Gradients::of(&tracked, loss));
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
        let rate = self.rate * (STEADY_STEPS / f64::from(step + 1)).sqrt().min(1.0);
        for (learner, gradients) in self.learners.iter_mut().zip(gradients) {
            learner.update(gradients, rate);
        }
        if let Some(before) = before {
            self.pending = Some(Pending { losses, before, right: Vec::new() });
            return StudySlice::More;
        }
        let unmeasured = vec![None; self.learners.len()];
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
        let asked = reading::Asked {
            pairs: &self.pairs,
            seed: self.spec.seed,
            learners: &self.learners,
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
        })
    }
}

impl Study {
    /// One model's answers to some of the held-out sources.
    async fn measure(&mut self, mut pending: Pending) -> StudySlice {
        let whole = self.held_out.len();
        if pending.right.last().is_none_or(|right| right.len() == whole) {
            pending.right.push(Vec::new());
        }
        let model = &self.learners[pending.right.len() - 1].model;
        if let Some(right) = pending.right.last_mut() {
            match self.held_out.part(model, right.len(), &self.device).await {
                Ok(part) => right.extend(part),
                // A device that can't be read from says so with the next step's loss.
                Err(_) => right.resize(whole, false),
            }
        }
        let done = pending.right.len() == self.learners.len()
            && pending.right.iter().all(|right| right.len() == whole);
        if !done {
            self.pending = Some(pending);
            return StudySlice::More;
        }
        let step = self.learners[0].steps();
        self.measured = Lengths { step, bins: self.held_out.bins(&pending.right) };
        let shares = pending.right.iter().map(|right| Some(self.held_out.share(right)));
        StudySlice::Step(pending.losses.into_iter().map(Some).chain(shares).collect())
    }
}
