//! `seq2seq`: an encoder-decoder whose decoder is given a single vector.

pub(super) mod reading;

use burn::tensor::Device;
use unroll_protocol::{
    Ask, AttentionKind, Packed, PairTask,
    study::seq2seq::{BEYOND, Question, RIGHT, Spec, ask, length_series},
};

use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner, steady},
    training::{Pending, Training, is_measured},
};
use crate::{Named, PairBatch, Pairs, Seq2seq, Seq2seqConfig, Source, Split};

/// Pairs in one step.
const ROWS: usize = 32;
const RATE: f32 = 0.01;
/// Steps between two measurements on held-out sources.
const MEASURE_EVERY: u32 = 20;
/// Number of held-out strings of each length.
const EACH: usize = 32;
/// Number of held-out dates.
const DATES: usize = 384;
/// Number of sources decoded in one slice.
const SLICE: usize = 64;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    task: Pairs,
    /// Measured is whether each of the first held-out pairs was right.
    training: Training<Seq2seq, Vec<bool>>,
    /// Held-out pairs, shortest source first.
    measured: PairBatch,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, _text: &str, device: &Device) -> Result<Self, Refusal> {
        if !(1..=128).contains(&spec.hidden) {
            return Err(Refusal(format!(
                "A vector of {} numbers can't be drawn: choose 1 to 128.",
                spec.hidden
            )));
        }
        if !(1..=20).contains(&spec.longest) {
            return Err(Refusal(format!(
                "Strings of up to {} letters can't be shown: choose 1 to 20.",
                spec.longest
            )));
        }
        let task = Pairs::new(spec.task, spec.longest as usize)?;
        let config = Seq2seqConfig {
            sources: task.sources(),
            targets: task.targets(),
            hidden: spec.hidden as usize,
            bidirectional: false,
            attention: AttentionKind::None,
            alignment: 1,
            seed: spec.seed,
        };
        let learner = Learner::new(config.init(device), &steady(RATE));
        Ok(Self {
            spec: spec.clone(),
            device: device.clone(),
            task,
            training: Training::new(vec![learner], RATE, 1 + spec.bins().len()),
            measured: measured(spec)?,
        })
    }

    fn built(&self) -> Built {
        let lengths = self.spec.bins().into_iter().map(length_series);
        let model = self.training.model(0);
        Built {
            parameters: self.training.parameters(),
            vocabulary: self.task.source_symbols(),
            series: ["loss".to_owned(), RIGHT.to_owned()].into_iter().chain(lengths).collect(),
            notes: vec![format!(
                "Two GRUs of {} units, {} parameters, {ROWS} pairs a step; measured on {} held-out \
                 pairs.",
                model.hidden(),
                self.training.parameters(),
                self.measured.pairs.len()
            )],
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
        let mut batch = self.task.batch(self.spec.seed, Split::Training, step, ROWS);
        batch.sources = self.read(batch.sources);
        let tracked = self.training.tracked();
        let gradients = Gradients::of(&tracked, tracked.loss(&batch.tensors(&self.device)));
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
        self.training.keep(["model"], keeper);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        match question {
            Question::Reading(question @ ask::Reading { text, example, beam }) => {
                let reading = self.reading(text.as_deref(), *example, *beam as usize).await?;
                Ok(question.answered(&reading))
            }
            Question::Odds(question @ ask::Odds { number }) => {
                Ok(question.answered(&self.odds(*number).await?))
            }
        }
    }
}

/// The held-out pairs that are measured, of all lengths, shortest first, so that sources decoded
/// together need little padding.
fn measured(spec: &Spec) -> Result<PairBatch, Refusal> {
    let longest = (spec.longest + BEYOND) as usize;
    let rows = if spec.task == PairTask::Dates { DATES } else { EACH * longest };
    let drawn = Pairs::new(spec.task, longest)?.measured(spec.seed, rows);
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by_key(|&row| drawn.sources[row].len());
    Ok(PairBatch {
        pairs: order.iter().map(|&row| drawn.pairs[row].clone()).collect(),
        sources: order.iter().map(|&row| drawn.sources[row].clone()).collect(),
        targets: order.iter().map(|&row| drawn.targets[row].clone()).collect(),
    })
}

impl Study {
    /// Sources in the order in which they are read.
    fn read(&self, mut sources: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        if self.spec.backwards {
            sources.iter_mut().for_each(|source| source.reverse());
        }
        sources
    }

    /// Decodes some more of the held-out sources.
    async fn measure(&mut self, mut pending: Pending<Seq2seq, Vec<bool>>) -> StudySlice {
        let from = pending.measured.len();
        let to = (from + SLICE).min(self.measured.pairs.len());
        let part = PairBatch {
            pairs: self.measured.pairs[from..to].to_vec(),
            sources: self.measured.sources[from..to].to_vec(),
            targets: self.measured.targets[from..to].to_vec(),
        };
        let most = part.targets.iter().map(Vec::len).max().unwrap_or(1);
        let source = Source::new(&self.read(part.sources.clone()), &self.device);
        let Ok(written) = self.training.model(0).decode_greedy(&source, most).await else {
            // The step counts, but is not measured.
            return pending.done(vec![None; 1 + self.spec.bins().len()]);
        };
        // An output that does not end within `most` tokens is longer than the target: not right.
        pending.measured.extend(part.right(&written));
        if to < self.measured.pairs.len() {
            return self.training.wait(pending);
        }
        let shares = self.shares(&pending.measured);
        pending.done(shares)
    }

    /// The share of right answers among sources of trained lengths, then in each bin.
    fn shares(&self, right: &[bool]) -> Vec<Option<f32>> {
        let share = |from: u32, to: u32| {
            let rows = right.iter().zip(&self.measured.sources);
            let rows = rows.filter(|(_, s)| (from..=to).contains(&(s.len() as u32)));
            let (mut count, mut sum) = (0, 0);
            for (&right, _) in rows {
                count += 1;
                sum += u32::from(right);
            }
            (count > 0).then(|| sum as f32 / count as f32)
        };
        let trained = share(1, self.task.longest_source() as u32);
        let lengths = self.spec.bins().into_iter().map(|(from, to)| share(from, to));
        core::iter::once(trained).chain(lengths).collect()
    }
}
