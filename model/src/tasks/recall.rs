//! Remember one symbol across a gap.

use super::{Kind, SequenceBatch, Split, Task, TaskError, draws, letters};
use crate::random::below;

/// A symbol, `gap` distractors, and a question mark at the last step: which symbol was it?
///
/// In a longer sequence, more distractors precede the symbol, so that different gaps can be
/// compared at one length. Distractors are letters of their own, as many as there are symbols, and
/// say nothing about the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recall {
    symbols: usize,
    gap: usize,
    length: usize,
}

impl Recall {
    pub fn new(symbols: usize, gap: usize, length: usize) -> Result<Self, TaskError> {
        if symbols < 2 {
            return Err(TaskError::TooFewSymbols { symbols });
        }
        if gap.checked_add(2).is_none_or(|needed| needed > length) {
            return Err(TaskError::GapTooLong { gap, length });
        }
        Ok(Self { symbols, gap, length })
    }

    /// Position of the symbol.
    pub fn position(&self) -> usize {
        self.length - self.gap - 2
    }
}

impl Task for Recall {
    fn vocabulary(&self) -> usize {
        2 * self.symbols + 1
    }

    fn outputs(&self) -> usize {
        self.symbols
    }

    fn length(&self) -> usize {
        self.length
    }

    fn symbols(&self) -> Vec<String> {
        let mut symbols = letters('A', self.symbols);
        symbols.extend(letters('a', self.symbols));
        symbols.push("?".to_owned());
        symbols
    }

    fn answers(&self) -> Vec<String> {
        letters('A', self.symbols)
    }

    fn chance(&self) -> f64 {
        1.0 / self.symbols as f64
    }

    fn batch(&self, seed: u32, split: Split, step: u32, rows: usize) -> SequenceBatch {
        let mut rng = draws(Kind::Recall, seed, split, step);
        let mut batch = SequenceBatch::with_capacity(rows, self.length);
        for _ in 0..rows {
            let symbol = below(&mut rng, self.symbols) as u32;
            for step in 0..self.length {
                let last = step + 1 == self.length;
                let input = if last {
                    2 * self.symbols as u32
                } else if step == self.position() {
                    symbol
                } else {
                    (self.symbols + below(&mut rng, self.symbols)) as u32
                };
                batch.push(input, symbol, last);
            }
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_symbol_stands_a_gap_before_the_question() {
        for (gap, length) in [(0, 2), (5, 7), (5, 12)] {
            let task = Recall::new(3, gap, length).unwrap();
            let batch = task.batch(1, Split::Training, 0, 50);
            for ((inputs, targets), weights) in batch
                .inputs
                .chunks(length)
                .zip(batch.targets.chunks(length))
                .zip(batch.weights.chunks(length))
            {
                assert_eq!(inputs[length - 1], 6);
                assert_eq!(inputs[length - 2 - gap], targets[length - 1]);
                assert_eq!(inputs.iter().filter(|&&token| token < 3).count(), 1);
                assert_eq!(weights.iter().sum::<f32>(), 1.0);
                assert_eq!(weights[length - 1], 1.0);
            }
        }
    }
}
