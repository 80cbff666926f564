//! Guess the letters that are missing from a text.

use super::{Kind, SequenceBatch, Split, Task, TaskError, draws};
use crate::{
    random::{below, unit},
    tokenizer::CharTokenizer,
};

/// Passages of a text in which some characters are replaced by a mask, a token after those of the
/// tokenizer. The question is which character stood there, asked at masked positions only.
#[derive(Clone, Debug, PartialEq)]
pub struct FillIn {
    training: Vec<u32>,
    held_out: Vec<u32>,
    symbols: Vec<String>,
    length: usize,
    share: f64,
}

impl FillIn {
    /// Masks about `share` of the characters, at least one in each passage. The last tenth of the
    /// text is held out, or a little more if no passage would fit into it.
    pub fn new(
        tokenizer: &CharTokenizer,
        text: &str,
        length: usize,
        share: f64,
    ) -> Result<Self, TaskError> {
        if length == 0 {
            return Err(TaskError::TooShort { length, least: 1 });
        }
        if !(share > 0.0 && share <= 1.0) {
            return Err(TaskError::ShareOutOfRange { share });
        }
        let mut training = tokenizer.encode(text);
        let (characters, needed) = (training.len(), length.saturating_mul(2));
        if characters < needed {
            return Err(TaskError::TextTooShort { characters, needed });
        }
        let held_out = training.split_off(characters - (characters / 10).max(length));
        let symbols = tokenizer.vocabulary();
        Ok(Self { training, held_out, symbols, length, share })
    }

    /// The token that stands for a missing character.
    pub fn mask(&self) -> u32 {
        self.symbols.len() as u32
    }
}

impl Task for FillIn {
    fn vocabulary(&self) -> usize {
        self.symbols.len() + 1
    }

    fn outputs(&self) -> usize {
        self.symbols.len()
    }

    fn length(&self) -> usize {
        self.length
    }

    fn symbols(&self) -> Vec<String> {
        let mut symbols = self.symbols.clone();
        symbols.push("▢".to_owned());
        symbols
    }

    fn answers(&self) -> Vec<String> {
        self.symbols.clone()
    }

    fn batch(&self, seed: u32, split: Split, step: u32, rows: usize) -> SequenceBatch {
        let mut rng = draws(Kind::FillIn, seed, split, step);
        let text = match split {
            Split::Training => &self.training,
            Split::HeldOut => &self.held_out,
        };
        let mut batch = SequenceBatch::with_capacity(rows, self.length);
        for _ in 0..rows {
            let start = below(&mut rng, text.len() - self.length + 1);
            let certain = below(&mut rng, self.length);
            for (step, &token) in text[start..start + self.length].iter().enumerate() {
                let masked = unit(&mut rng) < self.share || step == certain;
                batch.push(if masked { self.mask() } else { token }, token, masked);
            }
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_masked_characters_are_asked_for() {
        let text = "abcdefghij".repeat(30);
        let tokenizer = CharTokenizer::from_text(&text);
        let task = FillIn::new(&tokenizer, &text, 20, 0.2).unwrap();
        let batch = task.batch(1, Split::Training, 0, 100);
        let mut masked = 0;
        for ((&input, &target), &weight) in
            batch.inputs.iter().zip(&batch.targets).zip(&batch.weights)
        {
            assert_eq!(input == task.mask(), weight == 1.0);
            assert!(weight == 1.0 || input == target);
            masked += usize::from(weight == 1.0);
        }
        // 0.2 of 2000, plus 0.8 for each of the 100 that are certain.
        assert!((400..560).contains(&masked), "{masked}");
        for row in batch.targets.chunks(20) {
            assert!(row.windows(2).all(|pair| pair[1] == pair[0] % 10 + 1));
        }
    }
}
