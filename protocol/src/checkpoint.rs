//! A training state that is complete enough to resume exactly.

use serde::{Deserialize, Serialize};

use crate::{ExperimentSpec, trace::Array};

/// One parameter with AdamW's running means of its gradient and of its squared gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedParameter {
    /// Path in the model, e.g. `blocks.0.attention.query.weight`.
    pub name: String,
    pub value: Array,
    #[serde(with = "crate::floats")]
    pub first_moment: Vec<f32>,
    #[serde(with = "crate::floats")]
    pub second_moment: Vec<f32>,
}

/// Everything but the text: weights, optimizer state, step and vocabulary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub spec: ExperimentSpec,
    /// Number of optimizer steps taken.
    pub step: u32,
    /// The characters of ids 1, 2, ...; id 0 is the unknown character. None where tokens are bytes or
    /// pairs of them.
    pub vocabulary: Vec<char>,
    /// The ids that became one token, two by two in the order in which they were merged: bytes are their
    /// own ids, merges are numbered from 256.
    pub merges: Vec<u32>,
    pub parameters: Vec<SavedParameter>,
}

impl Checkpoint {
    /// Names the run that an engine outside the browser has already, see [`native`](crate::native). No
    /// engine builds a model from it: it has no parameters.
    pub fn of_present(spec: ExperimentSpec, step: u32) -> Self {
        Self { spec, step, vocabulary: Vec::new(), merges: Vec::new(), parameters: Vec::new() }
    }

    /// Whether it is that.
    pub fn is_of_present(&self) -> bool {
        self.parameters.is_empty()
    }
}

/// Everything but the text of a chapter's models and what they were built by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyCheckpoint {
    /// Number of optimizer steps taken.
    pub step: u32,
    /// What tells one text from another to the models: every token, by id. Empty where there is no text.
    pub vocabulary: Vec<String>,
    /// Of all models, `<model>.<path in the model>`, in the study's own order. What no optimizer moves
    /// has empty moments.
    pub parameters: Vec<SavedParameter>,
}
