//! The two tasks, and what each asks of a model.

use burn::tensor::{Device, Int, Tensor};
use unroll_protocol::study::birnn::{
    LENGTH, MOST_AHEAD, PASSAGE, Reader, SYMBOLS, Spec, TaskChoice,
};

use super::Refusal;
use crate::{
    CharTokenizer, FillIn, LookAhead, SequenceBatch, Split, Task as _, masked_accuracy,
    masked_cross_entropy, token_tensor,
};

/// Sequences in a training step.
const ROWS: usize = 16;
/// Sequences that accuracy is measured on.
const MEASURED_ROWS: usize = 96;
/// Share of the letters that are hidden in training.
const SHARE: f64 = 0.15;

/// Fewest positions of a passage that a delay must leave to be asked about.
const FEWEST_PLACES: usize = 8;

/// What the models learn.
pub enum Task {
    /// The symbol k steps later, for every k from 1 to [`MOST_AHEAD`] at once, each with its own
    /// answers. The tasks share their sequences, because what is drawn does not depend on k.
    Look(Vec<LookAhead>),
    Fill {
        task: FillIn,
        tokenizer: CharTokenizer,
    },
}

/// A batch as one reader sees it.
pub struct Batch {
    pub inputs: Tensor<2, Int>,
    /// Targets and weights, `[batch, T]`, one pair for each group of answers.
    groups: Vec<(Tensor<2, Int>, Tensor<2>)>,
}

impl Task {
    pub fn new(spec: &Spec, text: &str) -> Result<Self, Refusal> {
        let task = match spec.task {
            TaskChoice::Look => {
                let ahead = |k| LookAhead::new(SYMBOLS as usize, k, LENGTH as usize);
                Self::Look((1..=MOST_AHEAD as usize).map(ahead).collect::<Result<_, _>>()?)
            }
            TaskChoice::Fill => {
                let tokenizer = CharTokenizer::from_text(text);
                let task = FillIn::new(&tokenizer, text, PASSAGE as usize, SHARE)?;
                Self::Fill { task, tokenizer }
            }
        };
        let (delay, length) = (spec.delay as usize, task.length());
        // Only a few of the letters are missing: with fewer positions left, a batch might ask
        // nothing.
        let least = if spec.task == TaskChoice::Fill { FEWEST_PLACES } else { 1 };
        if delay + least > length {
            return Err(Refusal(format!(
                "Delayed by {delay} steps, too little is left to answer in sequences of {length}: \
                 use a delay of at most {}.",
                length - least
            )));
        }
        Ok(task)
    }

    pub fn vocabulary(&self) -> usize {
        match self {
            Self::Look(tasks) => tasks[0].vocabulary(),
            Self::Fill { task, .. } => task.vocabulary(),
        }
    }

    /// Answers of one group.
    pub fn answers(&self) -> Vec<String> {
        match self {
            Self::Look(tasks) => tasks[0].answers(),
            Self::Fill { task, .. } => task.answers(),
        }
    }

    pub fn symbols(&self) -> Vec<String> {
        match self {
            Self::Look(tasks) => tasks[0].symbols(),
            Self::Fill { task, .. } => task.symbols(),
        }
    }

    fn length(&self) -> usize {
        match self {
            Self::Look(tasks) => tasks[0].length(),
            Self::Fill { task, .. } => task.length(),
        }
    }

    /// Number of questions asked about each position.
    pub fn groups(&self) -> usize {
        match self {
            Self::Look(tasks) => tasks.len(),
            Self::Fill { .. } => 1,
        }
    }

    /// The accuracy of the best answer that does not look at the sequence.
    pub fn chance(&self) -> f64 {
        match self {
            Self::Look(tasks) => tasks[0].chance(),
            Self::Fill { task, .. } => task.chance(),
        }
    }

    /// The sequences of a step, with the answers of each group.
    fn drawn(&self, seed: u32, split: Split, step: u32, rows: usize) -> Vec<SequenceBatch> {
        match self {
            Self::Look(tasks) => {
                tasks.iter().map(|task| task.batch(seed, split, step, rows)).collect()
            }
            Self::Fill { task, .. } => vec![task.batch(seed, split, step, rows)],
        }
    }

    /// One sequence that nothing is trained on.
    pub fn example(&self, seed: u32, number: u32) -> SequenceBatch {
        // Step 0 is reserved for measuring accuracy.
        self.drawn(seed, Split::HeldOut, number.max(1), 1).swap_remove(0)
    }

    fn batch(&self, drawn: &[SequenceBatch], reader: Reader, device: &Device) -> Batch {
        let (rows, length) = (drawn[0].rows, drawn[0].length());
        let turned = |mut batch: SequenceBatch| {
            if reader == Reader::Backward {
                turn(&mut batch.inputs, length);
                turn(&mut batch.targets, length);
                turn(&mut batch.weights, length);
            }
            batch
        };
        let delay = match reader {
            Reader::Delayed(by) => by as usize,
            _ => 0,
        };
        let groups = drawn.iter().filter_map(|batch| {
            let batch = turned(batch.clone()).delayed(delay).ok()?.tensors(device);
            Some((batch.targets, batch.weights))
        });
        let groups = groups.collect();
        let inputs = turned(drawn[0].clone()).inputs;
        Batch { inputs: token_tensor(&inputs, rows, device), groups }
    }

    /// What each reader trains on at one step: the same sequences for all.
    pub fn training(&self, spec: &Spec, step: u32, device: &Device) -> Vec<Batch> {
        let drawn = self.drawn(spec.seed, Split::Training, step, ROWS);
        spec.readers().into_iter().map(|reader| self.batch(&drawn, reader, device)).collect()
    }

    /// What accuracy is measured on, the same sequences every time.
    pub fn measured(&self, spec: &Spec, reader: Reader, device: &Device) -> Batch {
        self.batch(&self.drawn(spec.seed, Split::HeldOut, 0, MEASURED_ROWS), reader, device)
    }
}

impl Batch {
    /// The answers of group `index`, `[batch, T, K]`, taken from those of all groups,
    /// `[batch, T, groups * K]`.
    fn group(&self, logits: &Tensor<3>, index: usize) -> Tensor<3> {
        let width = logits.dims()[2] / self.groups.len();
        logits.clone().narrow(2, index * width, width)
    }

    /// Mean cross-entropy over the groups, `[1]`.
    pub fn loss(&self, logits: &Tensor<3>) -> Tensor<1> {
        let count = self.groups.len();
        let losses = self.groups.iter().enumerate().map(|(index, (targets, weights))| {
            masked_cross_entropy(self.group(logits, index), targets.clone(), weights.clone())
        });
        losses.reduce(|sum, loss| sum + loss).expect("at least one group") / count as f64
    }

    /// The share of right answers in each group, `[groups]`.
    pub fn accuracy(&self, logits: &Tensor<3>) -> Tensor<1> {
        let shares = self.groups.iter().enumerate().map(|(index, (targets, weights))| {
            masked_accuracy(self.group(logits, index), targets.clone(), weights.clone())
        });
        Tensor::cat(shares.collect(), 0)
    }
}

/// Reverses each row.
fn turn<T>(rows: &mut [T], length: usize) {
    rows.chunks_mut(length).for_each(<[T]>::reverse);
}
