//! Synthetic tasks that show what a network can remember, generated from a seed.

mod brackets;
mod dates;
mod fill_in;
mod look_ahead;
mod nth_symbol;
mod pairs;
mod quotes;
mod recall;

use core::fmt;

use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::rngs::ChaCha8Rng;

pub use brackets::Brackets;
pub use fill_in::FillIn;
pub use look_ahead::LookAhead;
pub use nth_symbol::NthSymbol;
pub use pairs::{END, PairBatch, PairTensors, Pairs, TextPair};
pub use quotes::Quotes;
pub use recall::Recall;

use crate::{
    data::token_tensor,
    random::{Purpose, stream},
};

/// Whether a batch is for training or for measuring. The two never share a random stream, nor, in a
/// task on a text, a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    Training,
    HeldOut,
}

/// Sequences with an answer at each position, some of which are asked for.
pub trait Task {
    /// Number of tokens.
    fn vocabulary(&self) -> usize;

    /// Number of answers.
    fn outputs(&self) -> usize;

    /// Tokens in each sequence.
    fn length(&self) -> usize;

    /// The name of each token in a figure.
    fn symbols(&self) -> Vec<String>;

    /// The name of each answer in a figure.
    fn answers(&self) -> Vec<String>;

    /// The batch of one step, which depends on the arguments only.
    fn batch(&self, seed: u32, split: Split, step: u32, rows: usize) -> SequenceBatch;

    /// The accuracy of the best answer that ignores the sequence. Unless it is known, that of the
    /// most common answer in a sample.
    fn chance(&self) -> f64 {
        let sample = self.batch(0, Split::HeldOut, 0, 256);
        let mut counts = vec![0f64; self.outputs()];
        for (&target, &weight) in sample.targets.iter().zip(&sample.weights) {
            counts[target as usize] += f64::from(weight);
        }
        counts.iter().copied().fold(0.0, f64::max) / counts.iter().sum::<f64>()
    }
}

/// Why a task can't be built. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskError {
    GapTooLong { gap: usize, length: usize },
    AheadTooFar { ahead: usize, length: usize },
    DelayTooLong { delay: usize, length: usize },
    TooFewSymbols { symbols: usize },
    OddLength { length: usize },
    TooShort { length: usize, least: usize },
    TooShallow,
    ShareOutOfRange { share: f64 },
    TextTooShort { characters: usize, needed: usize },
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GapTooLong { gap, length } => write!(
                f,
                "A gap of {gap} does not fit a sequence of {length}: with the symbol before it and \
                 the question after it, {} are needed. Use a shorter gap or a longer sequence.",
                gap.saturating_add(2)
            ),
            Self::AheadTooFar { ahead, length } => write!(
                f,
                "Nothing lies {ahead} steps ahead in a sequence of {length}: look less far ahead \
                 or use a longer sequence."
            ),
            Self::DelayTooLong { delay, length } => write!(
                f,
                "Delayed by {delay} steps, no answer is left in a sequence of {length}: use a \
                 shorter delay."
            ),
            Self::TooFewSymbols { symbols } => write!(
                f,
                "With {symbols} symbol{} there is nothing to tell apart: use at least 2.",
                if *symbols == 1 { "" } else { "s" }
            ),
            Self::OddLength { length } => write!(
                f,
                "A string of {length} brackets can't be balanced: use an even length from 2 up."
            ),
            Self::TooShort { length, least } => {
                write!(f, "A sequence of {length} is too short: use at least {least}.")
            }
            Self::TooShallow => write!(f, "Brackets must be allowed at least 1 deep."),
            Self::ShareOutOfRange { share } => {
                write!(
                    f,
                    "The share of masked letters lies above 0 and at most at 1, not at {share}."
                )
            }
            Self::TextTooShort { characters, needed } => write!(
                f,
                "The text has {characters} character{}, but this task needs at least {needed}: use \
                 a longer text or shorter sequences.",
                if *characters == 1 { "" } else { "s" }
            ),
        }
    }
}

impl std::error::Error for TaskError {}

/// Sequences of equal length, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceBatch {
    pub rows: usize,
    pub inputs: Vec<u32>,
    /// The right answer at each position; arbitrary where none is asked for.
    pub targets: Vec<u32>,
    /// 1 where an answer is asked for and 0 elsewhere.
    pub weights: Vec<f32>,
}

/// A [`SequenceBatch`] on a device, each `[batch, T]`.
#[derive(Clone, Debug)]
pub struct BatchTensors {
    pub inputs: Tensor<2, Int>,
    pub targets: Tensor<2, Int>,
    pub weights: Tensor<2>,
}

impl SequenceBatch {
    pub(crate) fn with_capacity(rows: usize, length: usize) -> Self {
        Self {
            rows,
            inputs: Vec::with_capacity(rows * length),
            targets: Vec::with_capacity(rows * length),
            weights: Vec::with_capacity(rows * length),
        }
    }

    pub(crate) fn push(&mut self, input: u32, target: u32, asked: bool) {
        self.inputs.push(input);
        self.targets.push(target);
        self.weights.push(if asked { 1.0 } else { 0.0 });
    }

    /// Number of tokens in each sequence.
    pub fn length(&self) -> usize {
        self.inputs.len() / self.rows.max(1)
    }

    /// The same batch with every answer asked for `delay` steps later, which gives a network that
    /// reads in one direction that much of the future (Schuster and Paliwal 1997). Answers that
    /// would be due after the end are not asked for.
    pub fn delayed(mut self, delay: usize) -> Result<Self, TaskError> {
        let length = self.length();
        let kept = length.saturating_sub(delay);
        for row in 0..self.rows {
            let whole = row * length..(row + 1) * length;
            let targets = &mut self.targets[whole.clone()];
            targets.copy_within(..kept, length - kept);
            targets[..length - kept].fill(0);
            let weights = &mut self.weights[whole];
            weights.copy_within(..kept, length - kept);
            weights[..length - kept].fill(0.0);
        }
        if self.weights.iter().all(|&weight| weight == 0.0) {
            return Err(TaskError::DelayTooLong { delay, length });
        }
        Ok(self)
    }

    pub fn tensors(&self, device: &Device) -> BatchTensors {
        let weights = TensorData::new(self.weights.clone(), [self.rows, self.length()]);
        BatchTensors {
            inputs: token_tensor(&self.inputs, self.rows, device),
            targets: token_tensor(&self.targets, self.rows, device),
            weights: Tensor::from_data(weights, device),
        }
    }
}

/// Separates the random streams of the tasks. The discriminants are part of the meaning of a share
/// link: never change or reuse one.
#[derive(Clone, Copy)]
enum Kind {
    Recall = 1,
    Depth = 2,
    Balanced = 3,
    Quotes = 4,
    FillIn = 5,
    LookAhead = 6,
    NthSymbol = 15,
}

fn draws(kind: Kind, seed: u32, split: Split, step: u32) -> ChaCha8Rng {
    let split = match split {
        Split::Training => 0,
        Split::HeldOut => 1,
    };
    stream(seed, Purpose::Task, [kind as u32, split, step])
}

/// `a`, `b`, ... and `a1`, `b1`, ... after `z`.
fn letters(first: char, count: usize) -> Vec<String> {
    let base = first as u32;
    let name = |index: usize| {
        let letter = char::from_u32(base + (index % 26) as u32).unwrap_or('?');
        if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
    };
    (0..count).map(name).collect()
}

#[cfg(test)]
mod tests {
    use unroll_protocol::study::position::CountFrom;

    use super::*;

    fn tasks() -> Vec<Box<dyn Task>> {
        let text = "the cat sat on the mat and the dog sat on the log. ".repeat(20);
        let tokenizer = crate::CharTokenizer::from_text(&text);
        vec![
            Box::new(Recall::new(4, 5, 9).unwrap()),
            Box::new(Brackets::depth(20, 4).unwrap()),
            Box::new(Brackets::balanced(12).unwrap()),
            Box::new(Quotes::new(20).unwrap()),
            Box::new(FillIn::new(&tokenizer, &text, 16, 0.2).unwrap()),
            Box::new(LookAhead::new(5, 3, 12).unwrap()),
            Box::new(NthSymbol::new(5, 7, 9, CountFrom::Start).unwrap()),
            Box::new(NthSymbol::new(5, 7, 4, CountFrom::End).unwrap()),
        ]
    }

    #[test]
    fn batches_are_whole_and_depend_on_their_arguments_only() {
        for task in tasks() {
            let batch = task.batch(1, Split::Training, 2, 7);
            assert_eq!((batch.rows, batch.length()), (7, task.length()));
            assert_eq!(batch.inputs.len(), 7 * task.length());
            assert_eq!(batch.targets.len(), batch.inputs.len());
            assert_eq!(batch.weights.len(), batch.inputs.len());
            assert!(batch.inputs.iter().all(|&token| (token as usize) < task.vocabulary()));
            assert!(batch.targets.iter().all(|&answer| (answer as usize) < task.outputs()));
            assert!(batch.weights.chunks(task.length()).all(|row| row.contains(&1.0)));
            assert_eq!(task.symbols().len(), task.vocabulary());
            assert_eq!(task.answers().len(), task.outputs());
            assert_eq!(batch, task.batch(1, Split::Training, 2, 7));
            assert_ne!(batch, task.batch(1, Split::HeldOut, 2, 7));
            assert_ne!(batch, task.batch(2, Split::Training, 2, 7));
            assert_ne!(batch, task.batch(1, Split::Training, 3, 7));
            assert!((0.0..1.0).contains(&task.chance()));
        }
    }

    #[test]
    fn a_delay_moves_answers_and_drops_those_after_the_end() {
        let batch = SequenceBatch {
            rows: 2,
            inputs: (0..6).collect(),
            targets: vec![1, 2, 3, 4, 5, 6],
            weights: vec![1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        };
        assert_eq!(batch.clone().delayed(0), Ok(batch.clone()));
        let delayed = batch.clone().delayed(1).unwrap();
        assert_eq!(delayed.inputs, batch.inputs);
        assert_eq!(delayed.targets, [0, 1, 2, 0, 4, 5]);
        assert_eq!(delayed.weights, [0.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        for delay in [3, 4, usize::MAX] {
            let error = batch.clone().delayed(delay).unwrap_err();
            assert_eq!(error, TaskError::DelayTooLong { delay, length: 3 });
        }
    }

    #[test]
    fn what_can_not_be_asked_is_said() {
        assert_eq!(
            Recall::new(4, 9, 10).unwrap_err().to_string(),
            "A gap of 9 does not fit a sequence of 10: with the symbol before it and the question \
             after it, 11 are needed. Use a shorter gap or a longer sequence."
        );
        assert!(Recall::new(4, usize::MAX, 10).is_err());
        assert!(Recall::new(1, 1, 10).is_err());
        assert!(LookAhead::new(4, 10, 10).is_err());
        assert!(Brackets::balanced(7).is_err());
        assert!(Brackets::balanced(0).is_err());
        assert!(Brackets::depth(8, 0).is_err());
        assert!(Quotes::new(1).is_err());
        let tokenizer = crate::CharTokenizer::from_text("ab");
        assert!(FillIn::new(&tokenizer, "abab", 8, 0.2).is_err());
        assert!(FillIn::new(&tokenizer, &"ab".repeat(50), 8, f64::NAN).is_err());
        assert!(FillIn::new(&tokenizer, &"ab".repeat(50), 8, 0.0).is_err());
    }
}
