//! What can be asked of the GPT lab's model.

use serde::{Deserialize, Serialize};

use crate::{AttentionRow, Trace, question::questions};

questions! {
    Gpt:
    /// What the model computes on a text, of which it reads the end if its context is shorter.
    Trace { text: String } -> Trace,
    /// One query's row of one head with its arithmetic, all counted from 0, of the text as
    /// [`ask::Trace`] sees it.
    Row { text: String, layer: u32, head: u32, query: u32 } -> AttentionRow,
    /// What the model writes, in place of what it was writing. Answered again and again until it is
    /// [`Written::done`].
    Writing { sample: SampleSpec } -> Written,
}

/// How to choose the next token, again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSpec {
    pub prompt: String,
    /// Tokens to write.
    pub length: u32,
    /// Divides the logits; 0 is greedy.
    pub temperature: f32,
    /// Keeps the k likeliest tokens; 0 keeps all.
    pub top_k: u32,
    pub seed: u32,
}

/// What the model has written so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The prompt is not part of it.
    pub text: String,
    /// Whether this is all of it.
    pub done: bool,
}
