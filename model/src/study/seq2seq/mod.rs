//! `seq2seq`: an encoder-decoder whose decoder is given a single vector.

mod reading;

use core::slice;

use burn::tensor::Device;
use unroll_protocol::{
    Ask, AttentionKind, Packed, PairTask,
    study::seq2seq::{BEYOND, Question, RIGHT, Spec, ask, length_series},
};

use super::{
    Built, Refusal, StudySlice,
    learner::{Gradients, Learner, steady, usable_rate},
};
use crate::{PairBatch, Pairs, Seq2seq, Seq2seqConfig, Source, Split};

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
    learner: Learner<Seq2seq>,
    rate: f64,
    /// Held-out pairs, shortest source first.
    measured: PairBatch,
    pending: Option<Pending>,
}

/// A step that is taken and only to be measured.
struct Pending {
    loss: f32,
    /// The model before it, in case it is dropped.
    before: Learner<Seq2seq>,
    /// Whether each of the first measured pairs was right.
    right: Vec<bool>,
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
            learner,
            rate: f64::from(RATE),
            measured: measured(spec)?,
            pending: None,
        })
    }

    fn built(&self) -> Built {
        let lengths = self.spec.bins().into_iter().map(length_series);
        let model = &self.learner.model;
        Built {
            parameters: self.learner.parameters(),
            vocabulary: self.task.source_symbols(),
            series: ["loss".to_owned(), RIGHT.to_owned()].into_iter().chain(lengths).collect(),
            notes: vec![format!(
                "Two GRUs of {} units, {} parameters, {ROWS} pairs a step; measured on {} held-out \
                 pairs.",
                model.hidden(),
                self.learner.parameters(),
                self.measured.pairs.len()
            )],
        }
    }

    fn step(&self) -> u32 {
        self.learner.steps() - u32::from(self.pending.is_some())
    }

    async fn advance(&mut self) -> StudySlice {
        if let Some(mut pending) = self.pending.take() {
            let from = pending.right.len();
            let to = (from + SLICE).min(self.measured.pairs.len());
            let part = PairBatch {
                pairs: self.measured.pairs[from..to].to_vec(),
                sources: self.measured.sources[from..to].to_vec(),
                targets: self.measured.targets[from..to].to_vec(),
            };
            let most = part.targets.iter().map(Vec::len).max().unwrap_or(1);
            let source = Source::new(&self.read(part.sources.clone()), &self.device);
            let Ok(written) = self.learner.model.decode_greedy(&source, most).await else {
                // Not measured this time.
                return StudySlice::Step(self.values(pending.loss, None));
            };
            // A row that goes on at the room's end is longer than the target: not right.
            pending.right.extend(part.right(&written));
            if to < self.measured.pairs.len() {
                self.pending = Some(pending);
                return StudySlice::More;
            }
            return StudySlice::Step(self.values(pending.loss, Some(&pending.right)));
        }
        let step = self.learner.steps();
        let mut batch = self.task.batch(self.spec.seed, Split::Training, step, ROWS);
        batch.sources = self.read(batch.sources);
        let tracked = self.learner.tracked();
        let gradients = Gradients::of(&tracked, tracked.loss(&batch.tensors(&self.device)));
        let loss = match Gradients::losses(slice::from_ref(&gradients)).await {
            Ok(losses) => losses[0],
            Err(diverged) => return diverged,
        };
        let due = step == 0 || (step + 1).is_multiple_of(MEASURE_EVERY);
        let before = due.then(|| self.learner.clone());
        self.learner.update(gradients, self.rate);
        if let Some(before) = before {
            self.pending = Some(Pending { loss, before, right: Vec::new() });
            return StudySlice::More;
        }
        StudySlice::Step(self.values(loss, None))
    }

    fn discard(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.learner = pending.before;
        }
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.rate = usable_rate(rate)?;
        Ok(())
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

    /// One value for each series.
    fn values(&self, loss: f32, right: Option<&[bool]>) -> Vec<Option<f32>> {
        let share = |from: u32, to: u32| {
            let rows = right?.iter().zip(&self.measured.sources);
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
        [Some(loss), trained].into_iter().chain(lengths).collect()
    }
}
