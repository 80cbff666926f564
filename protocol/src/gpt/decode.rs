//! What can be asked about choosing the next token.

use serde::{Deserialize, Serialize};

use crate::Array;

/// Most endings of one question.
pub const MOST_ENDINGS: usize = 48;
/// Most continuations that beam search keeps.
pub const MOST_BEAMS: u32 = 6;
/// Most tokens that beam search goes.
pub const MOST_PLIES: u32 = 24;
/// Most tokens of a text whose surprise is measured.
pub const MOST_READ: usize = 1000;

/// Logits of the next token after several texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct After {
    pub text: String,
    pub endings: Vec<Vec<u32>>,
    /// Every token as text, by id.
    pub vocabulary: Vec<String>,
    /// `[endings, vocabulary]`
    pub logits: Array,
}

/// A continuation that beam search kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beam {
    /// The continuation, which begins with one that was kept a token before.
    pub tokens: Vec<u32>,
    /// The same as text.
    pub text: String,
    /// The logarithm of its probability: the sum over its tokens.
    pub log_probability: f64,
}

/// What beam search kept after each token, the likeliest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beams {
    pub kept: Vec<Vec<Beam>>,
}

impl Beams {
    /// The likeliest of what it kept at last.
    pub fn best(&self) -> Option<&Beam> {
        self.kept.last()?.first()
    }
}

/// What may follow a text, and what two searches find of it: all by the same weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grown {
    /// Of the open nodes; the first is the text itself.
    pub after: After,
    pub beams: Beams,
    /// With one beam.
    pub greedy: Beams,
}

/// How surprising the model finds each token of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surprise {
    /// The tokens that were read, as text.
    pub tokens: Vec<String>,
    /// Number of tokens of the text after those.
    pub dropped: u32,
    /// Minus the logarithm of the share of each token but the first, in nats.
    pub surprises: Vec<f32>,
    /// Number of characters that these tokens hold.
    pub characters: u32,
    /// The token that had the largest share in place of each, and that share.
    pub expected: Vec<(String, f32)>,
    /// The fewest tokens before it that the model could see, once so many are there.
    pub seen: u32,
}

/// A token that was read alone, with what a cache holds of those before it. `S` counts them all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cached {
    /// The tokens that the model sees, as text; the last is the one that was read.
    pub tokens: Vec<String>,
    /// Number of tokens before those, which no longer fit.
    pub dropped: u32,
    /// Blocks that have attention.
    pub blocks: u32,
    /// The new token's queries, `[blocks, heads, d]`.
    pub queries: Array,
    /// All keys, the new token's last, `[blocks, heads, S, d]`.
    pub keys: Array,
    /// All values, likewise.
    pub values: Array,
    /// The new token's row of attention weights, `[blocks, heads, S]`.
    pub weights: Array,
    /// Every token of the vocabulary as text, by id.
    pub vocabulary: Vec<String>,
    /// Shares of the next token, computed with the cache.
    pub shares: Vec<f32>,
    /// The largest difference of a logit from the one computed without a cache.
    pub difference: f32,
    /// Multiplications with the cache and without.
    pub products: [u64; 2],
}

/// How fast the model writes, in tokens a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Race {
    pub cached: f32,
    pub uncached: f32,
    /// How many of the tokens came when the context was full, so that the cache had to be filled
    /// anew.
    pub refilled: u32,
}
