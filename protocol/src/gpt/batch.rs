//! What one step of training learns from.

use serde::{Deserialize, Serialize};

use crate::Array;

/// Most tokens of a batch whose losses one question is answered with; of held-out text twice as many.
pub const MOST_LEARNED: usize = 1024;

/// The batch of the next step, and how well the model guesses each of its tokens before it takes that
/// step. `T` is the context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The step that learns from it, counted from 1.
    pub step: u32,
    /// The sequences that were read, as the text of their `T + 1` tokens: each token but the first is
    /// what the model has to guess from those before it.
    pub rows: Vec<Vec<String>>,
    /// Sequences of the whole batch: more than were read where they are too long.
    pub size: u32,
    /// Cross-entropy of every guess in nats, without dropout, `[rows, T]`.
    pub losses: Array,
    /// The same by position, averaged over stretches of held-out text. Shorter than `T` if that text
    /// is; empty if there is none.
    pub held_out: Vec<f32>,
}
