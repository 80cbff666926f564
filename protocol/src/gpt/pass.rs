//! One forward pass of the lab's model, from the tokens to the next one.

use serde::{Deserialize, Serialize};

use crate::Array;

/// Most tokens of a [`Pass`]: more rows are no longer one picture.
pub const MOST_ROWS: usize = 64;

/// What a model of width `C` with `h` heads computes on `T` tokens, one of its blocks in detail.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Number of optimizer steps taken before this was computed.
    pub step: u32,
    /// What was asked about.
    pub text: String,
    /// The tokens as the model saw them; an unknown character is shown as `U+FFFD`.
    pub tokens: Vec<String>,
    /// Their ids, `T`.
    pub ids: Vec<u32>,
    /// How many leading tokens were left out.
    pub dropped: u32,
    /// The tokens of `probabilities`' last axis, as in [`Trace`](crate::Trace).
    pub vocabulary: Vec<String>,
    /// Whether each query may attend to each key, `[T (query), T (key)]`, row-major.
    pub mask: Vec<bool>,
    /// The rows of the token embedding, `[T, C]`.
    pub embeddings: Array,
    /// What is added for the positions, `[T, C]`, if anything is.
    pub positions: Option<Array>,
    /// The residual stream before each block and after the last one, `[layers + 1, T, C]`.
    pub stream: Array,
    /// Attention weights, `[layers, h, T (query), T (key)]`; no layers where blocks have no
    /// attention.
    pub weights: Array,
    /// The block that was asked for.
    pub detail: Detail,
    /// What the head reads, `[T, C]`.
    pub final_norm: Array,
    /// P(next token | tokens up to here), `[T, V]`.
    pub probabilities: Array,
    pub sizes: Sizes,
}

/// What one block computes; a layer it does not have is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// Which block, counted from 0.
    pub block: u32,
    pub attention: Option<AttentionDetail>,
    pub feed_forward: Option<FeedForwardDetail>,
}

/// What attention computes; `d = C / h`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AttentionDetail {
    /// `[h, T, d]`, rotated by their position if positions are rotary.
    pub queries: Array,
    /// `[h, T, d]`, likewise.
    pub keys: Array,
    /// `[h, T, d]`
    pub values: Array,
    /// Each head's sum of values by its weights, `[h, T, d]`.
    pub mixed: Array,
    /// What the heads together add to the stream, `[T, C]`.
    pub output: Array,
}

/// What the feed-forward layer computes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeedForwardDetail {
    /// The hidden neurons, `[T, 4 C]`.
    pub hidden: Array,
    /// What it adds to the stream, `[T, C]`.
    pub output: Array,
}

/// How many parameters each part of a model has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    pub tokens: u64,
    pub positions: u64,
    pub blocks: Vec<BlockSizes>,
    pub final_norm: u64,
    /// 0 if tied to the token embedding.
    pub head: u64,
}

/// How many parameters each part of a block has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSizes {
    /// Both norms together.
    pub norms: u64,
    pub attention: u64,
    pub feed_forward: u64,
}

impl BlockSizes {
    pub fn total(self) -> u64 {
        self.norms + self.attention + self.feed_forward
    }
}

impl Sizes {
    /// All parameters of the model.
    pub fn total(&self) -> u64 {
        let blocks: u64 = self.blocks.iter().map(|block| block.total()).sum();
        self.tokens + self.positions + blocks + self.final_norm + self.head
    }
}

impl Pass {
    /// The attention weights of one head of one block, `[T, T]`, counted from 0.
    pub fn head(&self, block: usize, head: usize) -> Option<&[f32]> {
        self.weights.block(&[block, head])
    }

    /// Layers and heads of the attention weights.
    pub fn heads(&self) -> (usize, usize) {
        match *self.weights.shape.as_slice() {
            [layers, heads, ..] => (layers as usize, heads as usize),
            _ => (0, 0),
        }
    }

    /// Width of the residual stream.
    pub fn width(&self) -> usize {
        self.embeddings.shape.last().map_or(0, |&width| width as usize)
    }
}
