//! Remember whether a quotation is open.

use super::{Kind, SequenceBatch, Split, Task, TaskError, draws, letters};
use crate::random::below;

const QUOTE: u32 = 0;
const LETTERS: usize = 4;

/// Letters and quotation marks: is the text inside a quotation after each character? An opening
/// mark counts as inside, a closing one as outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotes {
    length: usize,
}

impl Quotes {
    pub fn new(length: usize) -> Result<Self, TaskError> {
        if length < 2 {
            return Err(TaskError::TooShort { length, least: 2 });
        }
        Ok(Self { length })
    }
}

impl Task for Quotes {
    fn vocabulary(&self) -> usize {
        LETTERS + 1
    }

    fn outputs(&self) -> usize {
        2
    }

    fn length(&self) -> usize {
        self.length
    }

    fn symbols(&self) -> Vec<String> {
        let mut symbols = vec!["\"".to_owned()];
        symbols.extend(letters('a', LETTERS));
        symbols
    }

    fn answers(&self) -> Vec<String> {
        vec!["outside".to_owned(), "inside".to_owned()]
    }

    fn batch(&self, seed: u32, split: Split, step: u32, rows: usize) -> SequenceBatch {
        let mut rng = draws(Kind::Quotes, seed, split, step);
        let mut batch = SequenceBatch::with_capacity(rows, self.length);
        for _ in 0..rows {
            let mut inside = 0;
            for _ in 0..self.length {
                // A mark every eighth character on average, far enough apart that it must be
                // remembered.
                let token = match below(&mut rng, 8) {
                    0 => QUOTE,
                    _ => 1 + below(&mut rng, LETTERS) as u32,
                };
                if token == QUOTE {
                    inside = 1 - inside;
                }
                batch.push(token, inside, true);
            }
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_changes_sides() {
        let batch = Quotes::new(50).unwrap().batch(1, Split::Training, 0, 20);
        for (inputs, targets) in batch.inputs.chunks(50).zip(batch.targets.chunks(50)) {
            for step in 0..50 {
                let marks = inputs[..=step].iter().filter(|&&token| token == QUOTE).count();
                assert_eq!(targets[step] as usize, marks % 2);
            }
        }
    }
}
