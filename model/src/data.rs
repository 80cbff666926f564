//! A text as training batches and held-out windows.

use core::fmt;

use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::random::{Purpose, below, stream};

/// A text as tokens, whose end is held out to measure loss on text the model never saw.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Tokens the model learns from.
    pub training: Vec<u32>,
    /// The last tenth; fewer tokens if the rest would be too short to train on.
    pub held_out: Vec<u32>,
    /// Remarks about the text, as sentences.
    pub notes: Vec<String>,
}

/// Why a text can't be trained on. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataError {
    Empty,
    /// It has so many tokens, which are called `unit`.
    TooShort {
        tokens: usize,
        unit: &'static str,
        context: usize,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "There is no text to learn from: write or paste some."),
            Self::TooShort { tokens, unit, context } => write!(
                f,
                "The text has {tokens} {unit}{}, but a context of {context} needs at least \
                 {}: use a longer text or a shorter context.",
                if *tokens == 1 { "" } else { "s" },
                context + 1
            ),
        }
    }
}

impl DataError {
    /// The same about tokens that are called `unit`.
    pub fn of(self, unit: &'static str) -> Self {
        match self {
            Self::TooShort { tokens, context, .. } => Self::TooShort { tokens, unit, context },
            Self::Empty => self,
        }
    }
}

impl std::error::Error for DataError {}

/// Sequences for one training step, row-major: `targets` are `inputs` shifted by one token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub inputs: Vec<u32>,
    pub targets: Vec<u32>,
}

/// One held-out sequence with the token that follows each of its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub inputs: Vec<u32>,
    pub targets: Vec<u32>,
}

impl Window {
    /// The inputs of all `windows`, which have the same length T: `[windows, T]`.
    ///
    /// # Panics
    ///
    /// Panics if there are none, or if they differ in length.
    pub fn inputs_of(windows: &[Self], device: &Device) -> Tensor<2, Int> {
        Self::gather(windows, |window| &window.inputs, device)
    }

    /// The targets of all windows, in the order of [`Self::inputs_of`] and under the same
    /// conditions.
    pub fn targets_of(windows: &[Self], device: &Device) -> Tensor<2, Int> {
        Self::gather(windows, |window| &window.targets, device)
    }

    fn gather(windows: &[Self], part: fn(&Self) -> &Vec<u32>, device: &Device) -> Tensor<2, Int> {
        let tokens: Vec<u32> = windows.iter().flat_map(part).copied().collect();
        token_tensor(&tokens, windows.len(), device)
    }
}

impl Dataset {
    /// Splits `tokens` for a model with this context.
    pub fn new(tokens: Vec<u32>, context: usize) -> Result<Self, DataError> {
        let characters = tokens.len();
        if characters == 0 {
            return Err(DataError::Empty);
        }
        let needed = context + 1;
        if characters < needed {
            let (tokens, unit) = (characters, "character");
            return Err(DataError::TooShort { tokens, unit, context });
        }
        let mut notes = Vec::new();
        if tokens.iter().all(|token| *token == tokens[0]) {
            notes.push(
                "The text repeats one single character, so there is nothing to predict: the loss \
                 falls to 0 at once."
                    .to_owned(),
            );
        }
        let mut training = tokens;
        let mut held_out =
            training.split_off(characters - (characters / 10).min(characters - needed));
        if held_out.len() < 2 {
            training.append(&mut held_out);
            notes.push(
                "The text is too short to hold any of it out, so there is no held-out loss."
                    .to_owned(),
            );
        }
        Ok(Self { training, held_out, notes })
    }

    /// The batch of one step: windows at random places, which depend on `seed` and `step` only.
    pub fn batch(&self, seed: u32, step: u32, batch: usize, context: usize) -> Batch {
        let mut rng = stream(seed, Purpose::Batch, [step, 0, 0]);
        let mut drawn = Batch {
            inputs: Vec::with_capacity(batch * context),
            targets: Vec::with_capacity(batch * context),
        };
        for _ in 0..batch {
            let start = below(&mut rng, self.training.len() - context);
            drawn.inputs.extend(&self.training[start..start + context]);
            drawn.targets.extend(&self.training[start + 1..start + 1 + context]);
        }
        drawn
    }

    /// At most `most` held-out windows of equal length, evenly spaced; none if nothing is held out.
    /// They are shorter than the context if the held-out text is.
    pub fn held_out_windows(&self, most: usize, context: usize) -> Vec<Window> {
        let Some(pairs) = self.held_out.len().checked_sub(1).filter(|&pairs| pairs > 0) else {
            return Vec::new();
        };
        let length = context.min(pairs);
        let count = (pairs / length).min(most);
        (0..count)
            .map(|index| {
                let start = if count > 1 { index * (pairs - length) / (count - 1) } else { 0 };
                Window {
                    inputs: self.held_out[start..start + length].to_vec(),
                    targets: self.held_out[start + 1..start + 1 + length].to_vec(),
                }
            })
            .collect()
    }
}

/// Token ids as a tensor.
///
/// # Shapes
///
/// - output: `[rows, tokens.len() / rows]`
///
/// # Panics
///
/// Panics if the tokens do not divide evenly into the rows.
pub fn token_tensor(tokens: &[u32], rows: usize, device: &Device) -> Tensor<2, Int> {
    assert_eq!(tokens.len() % rows, 0, "{} tokens do not fill {rows} rows", tokens.len());
    let values: Vec<i32> = tokens.iter().map(|&token| token as i32).collect();
    Tensor::from_data(TensorData::new(values, [rows, tokens.len() / rows]), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_tenth_is_held_out() {
        let data = Dataset::new((0..200).collect(), 8).unwrap();
        assert_eq!(data.training, (0..180).collect::<Vec<_>>());
        assert_eq!(data.held_out, (180..200).collect::<Vec<_>>());
        assert!(data.notes.is_empty());
    }

    #[test]
    fn short_texts_keep_enough_to_train_on() {
        let data = Dataset::new((0..30).collect(), 26).unwrap();
        assert_eq!((data.training.len(), data.held_out.len()), (27, 3));
        let data = Dataset::new((0..30).collect(), 28).unwrap();
        assert_eq!((data.training.len(), data.held_out.len()), (30, 0));
        assert_eq!(data.notes.len(), 1);
        assert!(data.held_out_windows(8, 28).is_empty());
        let error = Dataset::new((0..30).collect(), 30).unwrap_err();
        assert_eq!(
            error.to_string(),
            "The text has 30 characters, but a context of 30 needs at least 31: use a longer text \
             or a shorter context."
        );
        assert_eq!(Dataset::new(Vec::new(), 4).unwrap_err(), DataError::Empty);
    }

    #[test]
    fn one_repeated_character_is_noted() {
        let data = Dataset::new(vec![3; 100], 8).unwrap();
        assert!(data.notes[0].contains("nothing to predict"));
    }

    #[test]
    fn batches_are_windows_and_depend_on_seed_and_step_only() {
        let data = Dataset::new((0..500).collect(), 8).unwrap();
        let batch = data.batch(7, 3, 5, 8);
        assert_eq!(batch.inputs.len(), 40);
        for (input, target) in batch.inputs.iter().zip(&batch.targets) {
            assert_eq!(input + 1, *target);
        }
        for row in batch.inputs.chunks(8) {
            assert!(row.windows(2).all(|pair| pair[0] + 1 == pair[1]));
        }
        assert_eq!(batch, data.batch(7, 3, 5, 8));
        assert_ne!(batch, data.batch(7, 4, 5, 8));
        assert_ne!(batch, data.batch(8, 3, 5, 8));
        assert!((0..200).any(|step| data.batch(1, step, 5, 8).targets.contains(&449)));
    }

    #[test]
    fn held_out_windows_are_spread_over_the_whole_held_out_part() {
        let data = Dataset::new((0..1000).collect(), 10).unwrap();
        let windows = data.held_out_windows(8, 10);
        assert_eq!(windows.len(), 8);
        assert_eq!(windows[0].inputs[0], 900);
        assert_eq!(*windows[7].targets.last().unwrap(), 999);
        let data = Dataset::new((0..100).collect(), 60).unwrap();
        let windows = data.held_out_windows(8, 60);
        assert_eq!((windows.len(), windows[0].inputs.len()), (1, 9));
    }
}
