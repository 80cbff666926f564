//! Sequence-to-sequence tasks, and how a decoder attends to its source.

use serde::{Deserialize, Serialize};

use crate::link::rows::choice;

/// Widest beam.
pub const MOST_BEAM: u32 = 8;

choice! {
    /// What turns one text into another.
    PairTask {
        /// A string of letters, written backwards.
        Reverse = "reverse", "Reverse a string";
        /// A date as people write it, to ISO 8601.
        Dates = "dates", "Human date to ISO date";
        /// A string of letters, unchanged.
        Copy = "copy", "Copy a string";
        /// A string of letters, in alphabetical order.
        Sort = "sort", "Sort a string";
    }
}

choice! {
    /// How a decoder's steps attend to the encoder's states.
    AttentionKind {
        /// No attention: one vector for the whole source (Cho et al. 2014).
        None = "none", "No attention";
        /// `v · tanh(W_s s_(i-1) + W_h h_j)`, before the step (Bahdanau et al. 2015).
        Additive = "additive", "Bahdanau (additive)";
        /// `s_i · h_j`, after the step (Luong et al. 2015).
        Dot = "dot", "Luong dot";
        /// `s_iᵀ W_a h_j`, after the step.
        General = "general", "Luong general";
        /// `v · tanh(W_s s_i + W_h h_j)`, after the step.
        Concat = "concat", "Luong concat";
    }
}

/// A sequence with its probability.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub text: String,
    /// Natural logarithm.
    pub log_probability: f32,
    /// Whether it ended with the end token.
    pub ended: bool,
}

/// What beam search found for a source, beside the greedy choice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Search {
    pub source: String,
    /// The right answer, if there is one.
    pub right: Option<String>,
    pub greedy: Candidate,
    /// Likeliest first.
    pub found: Vec<Candidate>,
}
