//! `qkv`: queries, keys and values; why scores are scaled; what attention knows about order; its
//! cost.

use serde::{Deserialize, Serialize};

use crate::{
    Array, AttentionRow,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

/// Most tokens read from a sentence.
pub const CONTEXT: u32 = 24;
/// Attention layers of the model.
pub const LAYERS: u32 = 2;
/// Heads of each layer.
pub const HEADS: u32 = 2;
/// Width of the residual stream.
pub const WIDTH: u32 = 32;
/// Largest width of random queries and keys.
pub const MOST_DIMENSIONS: u32 = 256;
/// Keys for each random query.
pub const DRAWN_KEYS: u32 = 16;
/// Random queries.
pub const DRAWN_QUERIES: u32 = 64;
/// Bins of [`Scale::counts`].
pub const BINS: u32 = 40;
/// Letters of a word in the task that needs order; each occurs once in it.
pub const LETTERS: u32 = 8;
/// Lengths at which time is measured.
pub const LENGTHS: [u32; 7] = [16, 32, 64, 128, 256, 512, 1024];

choice! {
    /// The experiment on show.
    Experiment {
        /// The arithmetic of one cell.
        Cell = "cell", "One cell";
        /// Vaswani et al. 2017, section 3.2.1.
        Scale = "scale", "The square root";
        /// The tokens in another order.
        Shuffle = "shuffle", "Shuffle";
        /// A task that needs order.
        Order = "order", "Learn order";
        /// Time against length.
        Cost = "cost", "Cost";
    }
}

choice! {
    /// Where keys and values come from.
    Memory {
        /// Self-attention.
        Own = "own", "The same sentence";
        /// Cross-attention.
        Other = "other", "Another text";
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub experiment: Experiment,
    pub memory: Memory,
    /// Counted from 1, as are the others.
    pub layer: u32,
    pub head: u32,
    /// The cell whose arithmetic is shown; a query of 0 is none, a key of 0 leaves it to the page: a
    /// letter with a large share that is not the query's largest.
    pub query: u32,
    pub key: u32,
    /// Width of the random queries and keys.
    pub dimensions: u32,
    /// Which draw of them.
    pub draw: u32,
    /// Which shuffle.
    pub shuffle: u32,
    /// Whether the shuffled model adds positions.
    pub positions: bool,
    /// Whether the model has a causal mask, on the cell and in the shuffle.
    pub causal: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            experiment: Experiment::Cell,
            memory: Memory::Own,
            layer: 1,
            head: 2,
            query: 7,
            key: 0,
            dimensions: 64,
            draw: 1,
            shuffle: 1,
            positions: false,
            causal: true,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        let models =
            if self.experiment == Experiment::Order { Models::Order } else { Models::Text };
        Spec { seed, models }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Qkv, "qkv-experiment", "Experiment", qkv.experiment: Experiment,
        "Five looks at attention."),
    chosen!(of Qkv, "qkv-memory", "Keys and values from", qkv.memory: Memory,
        "The same sentence is self-attention, another text cross-attention."),
    plain!(of Qkv, "qkv-layer", "Layer", qkv.layer: Whole, Kind::Whole { min: 1, max: LAYERS },
        "Layer shown."),
    plain!(of Qkv, "qkv-head", "Head", qkv.head: Whole, Kind::Whole { min: 1, max: HEADS },
        "Head shown."),
    plain!(of Qkv, "qkv-query", "Query", qkv.query: Whole, Kind::Whole { min: 0, max: CONTEXT },
        "Row of the cell that is worked out; 0 is none."),
    plain!(of Qkv, "qkv-key", "Key", qkv.key: Whole, Kind::Whole { min: 0, max: CONTEXT },
        "Its column; 0 is the largest share on a letter that is not the row’s largest."),
    plain!(of Qkv, "qkv-dimensions", "Width dₖ", qkv.dimensions: Whole,
        Kind::Whole { min: 1, max: MOST_DIMENSIONS },
        "How many numbers a random query or key has."),
    plain!(of Qkv, "qkv-draw", "Draw", qkv.draw: Whole, Kind::Whole { min: 1, max: 1000 },
        "Which random queries and keys."),
    plain!(of Qkv, "qkv-shuffle", "Shuffle", qkv.shuffle: Whole, Kind::Whole { min: 1, max: 1000 },
        "Which order the tokens are put in."),
    plain!(of Qkv, "qkv-positions", "Positions", qkv.positions: Flag, Kind::Flag,
        "Whether each token is told where it stands."),
    plain!(of Qkv, "qkv-causal", "Causal mask", qkv.causal: Flag, Kind::Flag,
        "Whether each token sees only itself and those before it."),
];

/// What decides every number, with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub models: Models,
}

/// What is trained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Models {
    /// A small causal GPT on the text. Series: its loss.
    Text,
    /// One for each [`Reader`] on the same words. Series: their losses, then their accuracies.
    Order,
}

choice! {
    /// What a model of [`Models::Order`] can use to recognize order.
    Reader {
        /// No positions, no mask.
        Bag = "bag", "nothing";
        /// No positions, a causal mask.
        Causal = "causal", "causal mask";
        /// Learned positions, no mask.
        Positions = "positions", "positions";
    }
}

questions! {
    Qkv:
    /// For [`Models::Text`]: one head and one query's row in it, all counted from 0. With `causal`
    /// all of its layers have a causal mask, otherwise none.
    Head { text: String, memory: Memory, causal: bool, layer: u32, head: u32, query: u32 } -> Head,
    /// For [`Models::Text`]: the tokens in another order.
    Shuffle { text: String, draw: u32, positions: bool, causal: bool } -> Shuffle,
    /// For any models: random queries and keys.
    Scale { dimensions: u32, draw: u32 } -> Scale,
    /// For any models: how long it takes to read `length` vectors.
    Cost { length: u32, attention: bool, round: u32 } -> Cost,
    /// For [`Models::Order`]: every model's answers to one word.
    Word { draw: u32 } -> Word,
}

/// One head's queries, keys, values and weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    pub memory: Memory,
    /// The question's choice. Another text is never masked.
    pub causal: bool,
    /// Counted from 0.
    pub layer: u32,
    pub head: u32,
    /// The tokens of the queries, T.
    pub tokens: Vec<String>,
    /// Characters of the sentence that were left out at its beginning.
    pub dropped: u32,
    /// The tokens of keys and values, S.
    pub memory_tokens: Vec<String>,
    /// `[T, d_k]`
    pub queries: Array,
    /// `[S, d_k]`
    pub keys: Array,
    /// `[S, d_v]`
    pub values: Array,
    /// `[T, S]`
    pub weights: Array,
    /// Whether each query may attend to each key, `[T, S]`, row-major.
    pub mask: Vec<bool>,
    /// The requested row, or the last.
    pub row: AttentionRow,
}

/// How a model's outputs change when its tokens come in another order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shuffle {
    /// The question's choices.
    pub positions: bool,
    pub causal: bool,
    pub tokens: Vec<String>,
    /// For each new position, the old position of its token, counted from 0.
    pub order: Vec<u32>,
    /// Each token's output after the last block minus that before the shuffle, in the new order,
    /// `[T, WIDTH]`.
    pub difference: Array,
    /// Each token's output before the shuffle, `[T, WIDTH]`.
    pub before: Array,
    /// The largest number among the outputs, for comparison.
    pub largest: f32,
}

/// Random queries and keys of independent N(0, 1) numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    pub dimensions: u32,
    /// Number of products q · k in all, one for each query and each of its keys.
    pub products: u32,
    /// Variance of q · k; its mean is 0 by construction.
    pub variance: f32,
    /// The histograms' range, and their counts in [`BINS`] equal bins, for q · k and for q · k /
    /// √d_k.
    pub range: (f32, f32),
    pub counts: [Vec<f32>; 2],
    /// Products outside the range, below and above.
    pub beyond: [(f32, f32); 2],
    /// The first query's weights with q · k and with q · k / √d_k.
    pub weights: [Vec<f32>; 2],
    /// The same experiment at doubling widths, the last being [`MOST_DIMENSIONS`].
    pub curve: Vec<ScalePoint>,
    /// The result for the requested width.
    pub here: ScalePoint,
}

/// Means over the queries, first for q · k, then for q · k / √d_k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScalePoint {
    pub dimensions: u32,
    /// Variance of the products.
    pub variance: [f32; 2],
    /// Entropy of the weights, in nats.
    pub entropy: [f32; 2],
    /// Norm of the softmax's derivative: the Frobenius norm of diag(w) - w wᵀ.
    pub gradient: [f32; 2],
}

/// How long something took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    pub length: u32,
    pub attention: bool,
    pub round: u32,
    /// The fastest of the runs, in milliseconds.
    pub milliseconds: f32,
    pub runs: u32,
}

/// A word whose first letter is asked for after all of it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    pub letters: Vec<String>,
    /// For each [`Reader`], the probability that each letter of the alphabet was the first.
    pub probabilities: Vec<Vec<f32>>,
    pub alphabet: Vec<String>,
    /// Index of the word's first letter in the alphabet.
    pub target: u32,
}
