//! Predict a symbol that is still to come.

use super::{Kind, SequenceBatch, Split, Task, TaskError, draws, letters};
use crate::random::below;

/// Random symbols: which one comes `ahead` steps later?
///
/// The symbols are independent and equally likely, so those read so far say nothing about the
/// answer: no network that reads in one direction can be right more often than 1 in `symbols`. A
/// bidirectional network can always be right, and so can one whose answers are
/// [delayed](SequenceBatch::delayed) by at least `ahead` steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookAhead {
    symbols: usize,
    ahead: usize,
    length: usize,
}

impl LookAhead {
    pub fn new(symbols: usize, ahead: usize, length: usize) -> Result<Self, TaskError> {
        if symbols < 2 {
            return Err(TaskError::TooFewSymbols { symbols });
        }
        if ahead >= length {
            return Err(TaskError::AheadTooFar { ahead, length });
        }
        Ok(Self { symbols, ahead, length })
    }
}

impl Task for LookAhead {
    fn vocabulary(&self) -> usize {
        self.symbols
    }

    fn outputs(&self) -> usize {
        self.symbols
    }

    fn length(&self) -> usize {
        self.length
    }

    fn symbols(&self) -> Vec<String> {
        letters('a', self.symbols)
    }

    fn answers(&self) -> Vec<String> {
        letters('a', self.symbols)
    }

    fn chance(&self) -> f64 {
        1.0 / self.symbols as f64
    }

    fn batch(&self, seed: u32, split: Split, step: u32, rows: usize) -> SequenceBatch {
        let mut rng = draws(Kind::LookAhead, seed, split, step);
        let mut batch = SequenceBatch::with_capacity(rows, self.length);
        for _ in 0..rows {
            let row: Vec<u32> =
                (0..self.length).map(|_| below(&mut rng, self.symbols) as u32).collect();
            for (step, &input) in row.iter().enumerate() {
                let later = row.get(step + self.ahead);
                batch.push(input, later.copied().unwrap_or(0), later.is_some());
            }
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_stands_ahead_and_a_delay_as_long_brings_it_here() {
        let task = LookAhead::new(4, 3, 12).unwrap();
        let batch = task.batch(1, Split::Training, 0, 10);
        for (inputs, (targets, weights)) in
            batch.inputs.chunks(12).zip(batch.targets.chunks(12).zip(batch.weights.chunks(12)))
        {
            assert_eq!(inputs[3..], targets[..9]);
            assert_eq!(weights.iter().sum::<f32>(), 9.0);
            assert_eq!(weights[9..], [0.0; 3]);
        }
        let delayed = batch.clone().delayed(3).unwrap();
        for (at, &weight) in delayed.weights.iter().enumerate() {
            assert!(weight == 0.0 || delayed.targets[at] == delayed.inputs[at]);
        }
    }
}
