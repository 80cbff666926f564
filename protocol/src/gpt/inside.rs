//! What can be asked about the inside of a model: what its stream says after each block, what its heads look at,
//! how alike its positions are, and what happens where one text's stream is put in place of another's.

use serde::{Deserialize, Serialize};

use crate::{
    Array,
    study::heads::{HeadAt, Statistics},
};

/// Most tokens of a text whose stream is read after every block: the unembedding is the costly part.
pub const MOST_IN_LENS: usize = 32;
/// Most positions that are compared with each other.
pub const MOST_POSITIONS: usize = 64;
/// Most tokens of the two texts of a [`Patched`].
pub const MOST_PATCHED: usize = 32;
/// The names of [`HeadScores`], in order.
pub const HEAD_JOBS: [&str; 5] = ["previous", "first", "itself", "same", "induction"];

/// What the residual stream would say if the model ended there: the final norm and the unembedding of what it is
/// before the first block and after each of them (nostalgebraist 2020, "logit lens"). At some of the tokens, for the
/// unembedding takes long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lens {
    /// The text's last tokens, [`MOST_IN_LENS`] at most.
    pub tokens: Vec<String>,
    /// Number of tokens of the text before those.
    pub dropped: u32,
    /// The first of `tokens` that the rest is about.
    pub from: u32,
    /// The likeliest next token, `[blocks + 1, tokens from there on]`, row-major.
    pub best: Vec<String>,
    /// Its share, of the same shape.
    pub shares: Array,
    /// The share there of the token that is likeliest in the end, of the same shape.
    pub finally: Array,
}

/// How much each head looks at certain places, on average over a text of random tokens that comes twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadScores {
    /// Tokens before they are repeated.
    pub repeated: u32,
    /// `[jobs, layers, heads]`, with the jobs of [`HEAD_JOBS`]: the weight on the token before, on the first
    /// token, on the token itself; and in the second half on the same token in the first, and on the one after
    /// that (Olsson et al. 2022, "prefix matching").
    pub scores: Array,
    /// Mean surprise at the tokens of each half, in nats. The first of the second half, which nothing tells, does
    /// not count.
    pub losses: [f32; 2],
}

/// What every head does with a text, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Habits {
    /// Number of tokens that were read.
    pub tokens: u32,
    pub layers: u32,
    pub heads: u32,
    /// Head by head, layer by layer; empty if there is no query but the first.
    pub statistics: Vec<Statistics>,
}

impl Habits {
    /// What one head does; `None` if the model has no such head or the text is too short.
    pub fn of(&self, at: HeadAt) -> Option<Statistics> {
        self.statistics.get(at.place((self.layers, self.heads))?).copied()
    }
}

/// How alike the vectors are that a model learned for its positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alike {
    /// The positions that are compared, counted from 0: [`MOST_POSITIONS`] at most, evenly apart.
    pub positions: Vec<u32>,
    /// The cosine of the angle between the vectors of each two, `[positions, positions]`.
    pub cosines: Array,
}

/// How probable the model finds what it expects after a text, when it reads another text of as many tokens, with
/// one token's stream taken from the first (activation patching: Vig et al. 2020, Meng et al. 2022).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Patched {
    /// The tokens of the text that the stream is taken from, and of the one that it is put into.
    pub tokens: [Vec<String>; 2],
    /// What the model expects most after the first text, and after the second.
    pub best: [String; 2],
    /// The share of the first of these after each text as it is.
    pub shares: [f32; 2],
    /// The same with the token's stream after so many blocks from the first text, by token.
    pub patched: Vec<f32>,
}
