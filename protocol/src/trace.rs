//! A model's intermediate results on one sequence, as plain numbers.

use serde::{Deserialize, Serialize};

/// A dense row-major array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Array {
    pub shape: Vec<u32>,
    #[serde(with = "crate::floats")]
    pub values: Vec<f32>,
}

impl Array {
    /// Whether there are exactly as many values as the shape requires.
    pub fn is_consistent(&self) -> bool {
        let size = self.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d as usize));
        size == Some(self.values.len())
    }

    /// The value at `index`, or `None` outside the shape.
    pub fn get(&self, index: &[usize]) -> Option<f32> {
        if index.len() != self.shape.len() {
            return None;
        }
        let mut flat = 0;
        for (&i, &d) in index.iter().zip(&self.shape) {
            if i >= d as usize {
                return None;
            }
            flat = flat * d as usize + i;
        }
        self.values.get(flat).copied()
    }

    /// The contiguous block under the leading indices `prefix`, such as one head's `[T, T]` matrix.
    pub fn block(&self, prefix: &[usize]) -> Option<&[f32]> {
        if prefix.len() > self.shape.len() {
            return None;
        }
        let size: usize = self.shape[prefix.len()..].iter().map(|&d| d as usize).product();
        let mut flat = 0;
        for (&i, &d) in prefix.iter().zip(&self.shape) {
            if i >= d as usize {
                return None;
            }
            flat = flat * d as usize + i;
        }
        self.values.get(flat * size..(flat + 1) * size)
    }
}

/// What the model computed on one sequence of `T` tokens at one training step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Number of optimizer steps taken before this was computed.
    pub step: u32,
    /// The tokens as the model saw them; an unknown character is shown as `U+FFFD`.
    pub tokens: Vec<String>,
    /// Where each is in `vocabulary`, `T`.
    pub places: Vec<u32>,
    /// How many characters of the text begin before each token, and in all: `T + 1`.
    pub starts: Vec<u32>,
    /// How many leading tokens were left out because the context is shorter, or because there are too many
    /// weights to show.
    pub dropped: u32,
    /// The tokens of `probabilities`' last axis, in the order of their ids: the whole vocabulary or, where
    /// that is a large one, what is likely anywhere, and the text's own tokens.
    pub vocabulary: Vec<String>,
    /// Whether each query may attend to each key, `[T (query), T (key)]`, row-major.
    pub mask: Vec<bool>,
    /// Attention weights, `[layers, heads, T (query), T (key)]`; each row sums to 1. There are no
    /// layers if blocks have no attention.
    pub weights: Array,
    /// P(next token | tokens up to here), `[T, V]`.
    pub probabilities: Array,
}
