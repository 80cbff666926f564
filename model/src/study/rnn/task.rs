//! What the networks learn: the next character of a text, or whether brackets are balanced.

use burn::tensor::{Device, Int, Tensor};
use unroll_protocol::study::rnn::{MOST_COLUMNS, ReadoutChoice};

use super::Refusal;
use crate::{
    Brackets, CharTokenizer, Dataset, SequenceBatch, SequenceModel, Split, Task as _, Window,
    cross_entropy, masked_accuracy, masked_cross_entropy, token_tensor,
};

/// Characters of a training window, which is how far back the gradient goes.
const WINDOW: usize = 32;
/// Windows in a batch.
const ROWS: usize = 16;
/// Number of held-out windows measured.
const MEASURED: usize = 24;
/// Lengths of the bracket strings: 2, 4, ..., `LONGEST`.
pub const LONGEST: usize = 16;
/// Strings of each length in a batch.
const STRINGS: usize = 4;
/// Strings of each length measured.
const STRINGS_MEASURED: usize = 32;

/// A text to predict.
pub struct Text {
    pub tokenizer: CharTokenizer,
    pub dataset: Dataset,
    window: usize,
}

impl Text {
    /// The token of an odd character: the requested one, or the rarest of the training text.
    pub fn odd_letter(&self, asked: Option<char>) -> u32 {
        if let Some(letter) = asked {
            return self.tokenizer.id(letter);
        }
        let mut counts = vec![0u32; self.tokenizer.len()];
        for &token in &self.dataset.training {
            counts[token as usize] += 1;
        }
        let met = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        met.min_by_key(|(_, count)| **count).map_or(0, |(token, _)| token as u32)
    }
}

pub enum Task {
    Text(Box<Text>),
    Brackets,
}

/// The text or string on show.
pub struct Reading {
    pub ids: Vec<u32>,
    /// The token after the last of `ids`, if the text goes on.
    pub after: Option<u32>,
    /// Number of characters left out at the end.
    pub dropped: u32,
}

/// One step's sequences, on a device.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Batch {
    Text { inputs: Tensor<2, Int>, targets: Tensor<2, Int> },
    Brackets(crate::BatchTensors),
}

impl Batch {
    /// `[rows, T]`
    pub fn inputs(&self) -> Tensor<2, Int> {
        match self {
            Self::Text { inputs, .. } => inputs.clone(),
            Self::Brackets(batch) => batch.inputs.clone(),
        }
    }

    /// Mean cross-entropy of the requested answers, `[1]`, given logits `[rows, T, outputs]`.
    pub fn loss(&self, logits: Tensor<3>) -> Tensor<1> {
        match self {
            Self::Text { targets, .. } => cross_entropy(logits, targets.clone()),
            Self::Brackets(batch) => {
                masked_cross_entropy(logits, batch.targets.clone(), batch.weights.clone())
            }
        }
    }
}

impl Task {
    pub fn new(readout: ReadoutChoice, text: &str) -> Result<Self, Refusal> {
        if readout == ReadoutChoice::End {
            return Ok(Self::Brackets);
        }
        let tokenizer = CharTokenizer::from_text(text);
        let tokens = tokenizer.encode(text);
        // A text shorter than the window is learned in windows as long as possible.
        let window = WINDOW.min(tokens.len().saturating_sub(1)).max(1);
        let dataset = Dataset::new(tokens, window)?;
        Ok(Self::Text(Box::new(Text { tokenizer, dataset, window })))
    }

    /// The training text, or a refusal that names what can't be done without one.
    pub fn text(&self, does: &str) -> Result<&Text, Refusal> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Brackets => Err(Refusal(format!(
                "A network that is only asked at the end predicts no characters, so it {does} \
                 nothing: read out every step."
            ))),
        }
    }

    /// Number of tokens.
    pub fn vocabulary(&self) -> usize {
        match self {
            Self::Text(text) => text.tokenizer.len(),
            Self::Brackets => brackets(LONGEST).vocabulary(),
        }
    }

    /// Number of classes.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Text(text) => text.tokenizer.len(),
            Self::Brackets => brackets(LONGEST).outputs(),
        }
    }

    /// Every token as text.
    pub fn symbols(&self) -> Vec<String> {
        match self {
            Self::Text(text) => text.tokenizer.vocabulary(),
            Self::Brackets => brackets(LONGEST).symbols(),
        }
    }

    /// Every class as text.
    pub fn classes(&self) -> Vec<String> {
        match self {
            Self::Text(text) => text.tokenizer.vocabulary(),
            Self::Brackets => brackets(LONGEST).answers(),
        }
    }

    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Text(text) => text.dataset.notes.clone(),
            Self::Brackets => vec![format!(
                "Strings of 2 to {LONGEST} brackets, half of them balanced, drawn anew for every \
                 step."
            )],
        }
    }

    /// The batch after `step` steps.
    pub fn batch(&self, seed: u32, step: u32, device: &Device) -> Batch {
        match self {
            Self::Text(text) => {
                let batch = text.dataset.batch(seed, step, ROWS, text.window);
                Batch::Text {
                    inputs: token_tensor(&batch.inputs, ROWS, device),
                    targets: token_tensor(&batch.targets, ROWS, device),
                }
            }
            Self::Brackets => {
                Batch::Brackets(strings(seed, Split::Training, step, STRINGS).tensors(device))
            }
        }
    }

    /// The loss on held-out text, or the share of held-out bracket strings classified correctly,
    /// `[1]`. `None` if nothing is held out.
    pub fn measure(&self, model: &SequenceModel, seed: u32, device: &Device) -> Option<Tensor<1>> {
        match self {
            Self::Text(text) => {
                let windows = text.dataset.held_out_windows(MEASURED, text.window);
                if windows.is_empty() {
                    return None;
                }
                let logits = model.forward(Window::inputs_of(&windows, device));
                Some(cross_entropy(logits, Window::targets_of(&windows, device)))
            }
            Self::Brackets => {
                let batch = strings(seed, Split::HeldOut, 0, STRINGS_MEASURED).tensors(device);
                Some(masked_accuracy(model.forward(batch.inputs), batch.targets, batch.weights))
            }
        }
    }

    /// What is shown: the beginning of `text`, or the generated string `example` if the task is
    /// brackets and `text` does not consist of them.
    pub fn reading(&self, text: &str, example: u32, seed: u32) -> Result<Reading, Refusal> {
        let most = MOST_COLUMNS as usize;
        let mut ids = match self {
            Self::Text(own) => own.tokenizer.encode(text),
            Self::Brackets => {
                let symbols = self.symbols();
                let id = |c: char| symbols.iter().position(|symbol| symbol.chars().eq([c]));
                let own: Option<Vec<u32>> =
                    text.trim().chars().map(|c| id(c).map(|id| id as u32)).collect();
                own.filter(|ids| !ids.is_empty()).unwrap_or_else(|| string(seed, example))
            }
        };
        if ids.is_empty() {
            return Err(Refusal(
                "The sentence is empty, so there is no step to unroll: write a character or two."
                    .to_owned(),
            ));
        }
        let after = ids.get(most).copied();
        let dropped = ids.len().saturating_sub(most) as u32;
        ids.truncate(most);
        Ok(Reading { ids, after, dropped })
    }
}

/// The task for strings of one length.
fn brackets(length: usize) -> Brackets {
    Brackets::balanced(length).expect("an even length")
}

/// `count` strings of each length, each asked about at its own end. Shorter ones are padded with
/// something that is never asked about.
fn strings(seed: u32, split: Split, step: u32, count: usize) -> SequenceBatch {
    let mut all =
        SequenceBatch { rows: 0, inputs: Vec::new(), targets: Vec::new(), weights: Vec::new() };
    for length in (2..=LONGEST).step_by(2) {
        let batch = brackets(length).batch(seed, split, step, count);
        all.rows += count;
        for row in 0..count {
            let own = row * length..(row + 1) * length;
            let padding = LONGEST - length;
            all.inputs.extend(batch.inputs[own.clone()].iter().copied());
            all.inputs.extend(core::iter::repeat_n(0, padding));
            all.targets.extend(batch.targets[own.clone()].iter().copied());
            all.targets.extend(core::iter::repeat_n(0, padding));
            all.weights.extend(batch.weights[own].iter().copied());
            all.weights.extend(core::iter::repeat_n(0.0, padding));
        }
    }
    all
}

/// A held-out string, counted from 1, from the longer half of the lengths.
fn string(seed: u32, example: u32) -> Vec<u32> {
    let length = LONGEST - 2 * (example as usize % 4);
    brackets(length).batch(seed, Split::HeldOut, example, 1).inputs
}
