//! What the layer learns, what it is shown, and what is known of a string without any model.

use burn::tensor::{Device, Tensor};
use unroll_protocol::study::gates::{Followed, MOST_CHARACTERS, Sentence, TaskChoice};

use super::Refusal;
use crate::{
    BatchTensors, Brackets, CharTokenizer, Dataset, Quotes, SequenceModel, Split, Task as _,
    Window, cross_entropy, masked_accuracy, token_tensor,
};

/// Characters of a training string, which is how far back the gradient goes.
const LENGTH: usize = 32;
/// Strings in a batch.
const ROWS: usize = 16;
/// Number of strings that accuracy is measured on.
const MEASURED: usize = 24;
/// Number of strings of text on which units are measured.
const STUDIED: usize = 16;
/// Deepest nesting of brackets in a generated string.
const DEEPEST: usize = 4;

/// A text to predict.
pub struct Text {
    tokenizer: CharTokenizer,
    dataset: Dataset,
    window: usize,
}

pub enum Task {
    Brackets(Brackets),
    Quotes(Quotes),
    Text(Box<Text>),
}

/// The string that is shown.
pub struct Reading {
    pub ids: Vec<u32>,
    /// The characters as they were written.
    pub tokens: Vec<String>,
    /// Number of characters left out at the end.
    pub dropped: u32,
    /// The right answer after each character, where there is one.
    pub right: Vec<Option<u32>>,
    pub followed: Vec<(Followed, Vec<f32>)>,
}

/// Held-out strings of one length, row-major.
pub struct Strings {
    pub ids: Vec<u32>,
    pub rows: usize,
    pub followed: Vec<(Followed, Vec<f32>)>,
}

/// How a character changes the depth; 0 if it is no bracket.
fn turn(character: char) -> f32 {
    match character {
        '(' | '[' | '{' => 1.0,
        ')' | ']' | '}' => -1.0,
        _ => 0.0,
    }
}

/// How many brackets are open after each character. A closing bracket without an opening one is
/// ignored.
fn depths(characters: impl Iterator<Item = char>) -> Vec<f32> {
    let count = |depth: &mut f32, character| {
        *depth = (*depth + turn(character)).max(0.0);
        Some(*depth)
    };
    characters.scan(0.0, count).collect()
}

/// 1 inside a quotation and 0 outside; as in the task, an opening mark counts as inside. A mark
/// that is the same at both ends toggles.
fn quotations(characters: impl Iterator<Item = char>) -> Vec<f32> {
    let change = |inside: &mut f32, character| {
        *inside = match character {
            '"' => 1.0 - *inside,
            '“' | '„' | '«' => 1.0,
            '”' | '»' => 0.0,
            _ => *inside,
        };
        Some(*inside)
    };
    characters.scan(0.0, change).collect()
}

impl Task {
    pub fn new(choice: TaskChoice, text: &str) -> Result<Self, Refusal> {
        Ok(match choice {
            TaskChoice::Brackets => Self::Brackets(Brackets::depth(LENGTH, DEEPEST)?),
            TaskChoice::Quotes => Self::Quotes(Quotes::new(LENGTH)?),
            TaskChoice::Text => {
                let tokenizer = CharTokenizer::from_text(text);
                let tokens = tokenizer.encode(text);
                // A text shorter than the window is learned in windows as long as possible.
                let window = LENGTH.min(tokens.len().saturating_sub(1)).max(1);
                let dataset = Dataset::new(tokens, window)?;
                Self::Text(Box::new(Text { tokenizer, dataset, window }))
            }
        })
    }

    fn generated(&self) -> Option<&dyn crate::Task> {
        match self {
            Self::Brackets(task) => Some(task),
            Self::Quotes(task) => Some(task),
            Self::Text(_) => None,
        }
    }

    pub fn vocabulary(&self) -> usize {
        match self {
            Self::Text(text) => text.tokenizer.len(),
            Self::Brackets(task) => task.vocabulary(),
            Self::Quotes(task) => task.vocabulary(),
        }
    }

    /// Number of answers.
    pub fn outputs(&self) -> usize {
        self.answers().len()
    }

    /// The name of each answer.
    pub fn answers(&self) -> Vec<String> {
        match self {
            Self::Text(text) => text.tokenizer.vocabulary(),
            Self::Brackets(task) => task.answers(),
            Self::Quotes(task) => task.answers(),
        }
    }

    /// The unknown character and every known one; empty if the task gives every character a
    /// meaning.
    pub fn known(&self) -> Vec<String> {
        match self {
            Self::Text(text) => text.tokenizer.vocabulary(),
            Self::Brackets(_) | Self::Quotes(_) => Vec::new(),
        }
    }

    /// Name of the second series.
    pub fn measured(&self) -> &'static str {
        if self.generated().is_some() { "share right" } else { "held out" }
    }

    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Text(text) => text.dataset.notes.clone(),
            Self::Brackets(_) => vec![format!(
                "Strings of {LENGTH} brackets and letters, at most {DEEPEST} deep, drawn anew for \
                 every step."
            )],
            Self::Quotes(_) => vec![format!(
                "Strings of {LENGTH} letters and quotation marks, drawn anew for every step."
            )],
        }
    }

    /// The batch after `step` steps. In a text, every next character is asked for.
    pub fn batch(&self, seed: u32, step: u32, device: &Device) -> BatchTensors {
        match self {
            Self::Text(text) => {
                let batch = text.dataset.batch(seed, step, ROWS, text.window);
                BatchTensors {
                    inputs: token_tensor(&batch.inputs, ROWS, device),
                    targets: token_tensor(&batch.targets, ROWS, device),
                    weights: Tensor::ones([ROWS, text.window], device),
                }
            }
            Self::Brackets(task) => task.batch(seed, Split::Training, step, ROWS).tensors(device),
            Self::Quotes(task) => task.batch(seed, Split::Training, step, ROWS).tensors(device),
        }
    }

    /// The share of right answers, or the loss on held-out text, `[1]`. `None` if nothing is held
    /// out.
    pub fn measure(&self, model: &SequenceModel, seed: u32, device: &Device) -> Option<Tensor<1>> {
        if let Some(task) = self.generated() {
            let batch = task.batch(seed, Split::HeldOut, 0, MEASURED).tensors(device);
            return Some(masked_accuracy(
                model.forward(batch.inputs),
                batch.targets,
                batch.weights,
            ));
        }
        let Self::Text(text) = self else { return None };
        let windows = text.dataset.held_out_windows(MEASURED, text.window);
        if windows.is_empty() {
            return None;
        }
        let logits = model.forward(Window::inputs_of(&windows, device));
        Some(cross_entropy(logits, Window::targets_of(&windows, device)))
    }

    /// The token of a character. In a generated task every character has a meaning: what is neither
    /// bracket nor quotation mark is one of its letters.
    fn id(&self, character: char) -> u32 {
        match self {
            Self::Text(text) => text.tokenizer.id(character),
            Self::Brackets(_) => match turn(character) {
                1.0 => 0,
                -1.0 => 1,
                _ => 2,
            },
            Self::Quotes(task) => match character {
                '"' | '“' | '„' | '«' | '”' | '»' => 0,
                letter => 1 + letter as u32 % (task.vocabulary() as u32 - 1),
            },
        }
    }

    /// The reading for `sentence`.
    pub fn reading(&self, sentence: &Sentence, seed: u32) -> Result<Reading, Refusal> {
        let (mut ids, mut characters) = match sentence {
            Sentence::Given(text) => {
                let characters: Vec<char> = text.chars().collect();
                (characters.iter().map(|&c| self.id(c)).collect(), characters)
            }
            Sentence::Drawn(sample) => self.drawn(*sample, seed)?,
        };
        if ids.is_empty() {
            return Err(Refusal(
                "The sentence is empty, so no gate has anything to do: write a character or two."
                    .to_owned(),
            ));
        }
        let most = MOST_CHARACTERS as usize;
        let after = ids.get(most).copied();
        let dropped = ids.len().saturating_sub(most) as u32;
        ids.truncate(most);
        characters.truncate(most);
        let depth = depths(characters.iter().copied());
        let quotation = quotations(characters.iter().copied());
        let right = match self {
            Self::Text(_) => {
                let next = ids.iter().skip(1).copied().map(Some);
                next.chain([after]).collect()
            }
            Self::Brackets(_) => {
                let answer = |&depth: &f32| Some(depth as u32).filter(|&d| d <= DEEPEST as u32);
                depth.iter().map(answer).collect()
            }
            Self::Quotes(_) => quotation.iter().map(|&inside| Some(inside as u32)).collect(),
        };
        let known = |index: usize| match self {
            Self::Text(text) => text.tokenizer.character(ids[index]).to_string(),
            _ => characters[index].to_string(),
        };
        Ok(Reading {
            tokens: (0..ids.len()).map(known).collect(),
            dropped,
            right,
            followed: self.varying([(Followed::Depth, depth), (Followed::Quotation, quotation)]),
            ids,
        })
    }

    /// A held-out string, counted from 1.
    fn drawn(&self, sample: u32, seed: u32) -> Result<(Vec<u32>, Vec<char>), Refusal> {
        if let Some(task) = self.generated() {
            let ids = task.batch(seed, Split::HeldOut, sample.max(1), 1).inputs;
            let symbols = task.symbols();
            let character = |&id: &u32| symbols[id as usize].chars().next().unwrap_or('?');
            let characters = ids.iter().map(character).collect();
            return Ok((ids, characters));
        }
        let Self::Text(text) = self else { unreachable!("generated tasks have returned") };
        let held_out = &text.dataset.held_out;
        let most = MOST_CHARACTERS as usize;
        let last = held_out.len().saturating_sub(most);
        let from = (sample.max(1) as usize - 1) * most % (last + 1);
        let ids: Vec<u32> = held_out.iter().skip(from).take(most).copied().collect();
        if ids.is_empty() {
            return Err(Refusal(
                "The text is too short to hold any of it out: show your sentence instead."
                    .to_owned(),
            ));
        }
        let characters = ids.iter().map(|&id| text.tokenizer.character(id)).collect();
        Ok((ids, characters))
    }

    /// Held-out strings, with what a unit could follow on them.
    pub fn strings(&self, seed: u32) -> Result<Strings, Refusal> {
        if let Some(task) = self.generated() {
            let batch = task.batch(seed, Split::HeldOut, 0, STUDIED);
            let values = batch.targets.iter().map(|&target| target as f32).collect();
            let what = match self {
                Self::Brackets(_) => Followed::Depth,
                _ => Followed::Quotation,
            };
            return Ok(Strings {
                ids: batch.inputs,
                rows: STUDIED,
                followed: vec![(what, values)],
            });
        }
        let Self::Text(text) = self else { unreachable!("generated tasks have returned") };
        let held_out = &text.dataset.held_out;
        let all = if held_out.is_empty() { &text.dataset.training } else { held_out };
        // What is open at a window's start was opened in the text before it.
        let characters = || all.iter().map(|&id| text.tokenizer.character(id));
        let tracks = [
            (Followed::Depth, depths(characters())),
            (Followed::Quotation, quotations(characters())),
        ];
        let length = LENGTH.min(all.len());
        let rows = (all.len() / length).min(STUDIED);
        let start = |row: usize| row * (all.len() - length) / rows.max(2).saturating_sub(1);
        let cut = |values: &[f32]| -> Vec<f32> {
            (0..rows).flat_map(|row| &values[start(row)..start(row) + length]).copied().collect()
        };
        let ids =
            (0..rows).flat_map(|row| &all[start(row)..start(row) + length]).copied().collect();
        let tracks = tracks.map(|(what, values)| (what, cut(&values)));
        Ok(Strings { ids, rows, followed: self.varying(tracks) })
    }

    /// The tracks that vary: there is nothing to follow in the others.
    fn varying(&self, tracks: [(Followed, Vec<f32>); 2]) -> Vec<(Followed, Vec<f32>)> {
        let varies = |values: &[f32]| values.iter().any(|value| *value != values[0]);
        tracks.into_iter().filter(|(_, values)| varies(values)).collect()
    }
}
