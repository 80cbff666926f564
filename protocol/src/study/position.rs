//! `position`: how a model learns the positions of tokens.

use serde::{Deserialize, Serialize};

use crate::{
    Array, AttentionRow,
    architecture::Positions,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

/// Number of distinct symbols of the task.
pub const SYMBOLS: u32 = 8;
/// Shortest sequences trained on, in symbols.
pub const SHORTEST: u32 = 4;
/// Longest sequences trained on, in symbols, and the largest number.
pub const LONGEST: u32 = 8;
/// Tokens of the longest training sequence: its symbols and the number token. Learned positions
/// have this many rows.
pub const CONTEXT: u32 = LONGEST + 1;
/// Longest sequence on show, in symbols.
pub const MOST_SHOWN: u32 = 24;
/// Lengths at which models are measured, in symbols.
pub const MEASURED: [u32; 9] = [2, 4, 6, 8, 10, 12, 16, 20, 24];
/// Number of positions in the heatmap.
pub const DRAWN: u32 = 24;
/// Number of positions at which two symbols are compared.
pub const COMPARED: u32 = 32;
/// `M_k` is tried at every position up to this one.
pub const TRIED: u32 = 4096;
/// Largest position and shift in a link.
pub const FARTHEST: u32 = 1_000_000;
/// Largest offset, in both directions, at which encodings are compared.
pub const OFFSETS: u32 = 24;

choice! {
    /// From which end the task counts.
    CountFrom {
        /// The first symbol is number 1.
        Start = "start", "From the start";
        /// The last symbol is number 1.
        End = "end", "Back from the end";
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The encoding on show.
    pub encoding: Positions,
    pub from: CountFrom,
    /// Whether tokens attend only to themselves and to those before them.
    pub causal: bool,
    pub layers: u32,
    /// Width of the models.
    pub width: u32,
    /// The selected position, from 0.
    pub at: u32,
    /// How far it is shifted.
    pub k: u32,
    /// The selected pair of dimensions, from 1.
    pub pair: u32,
    /// Which generated sequence is read.
    pub example: u32,
    /// Number of its symbols.
    pub length: u32,
    /// The requested number.
    pub number: u32,
    /// Head, query and key of the open attention cell, from 1; a head of 0 is none.
    pub head: u32,
    pub query: u32,
    pub key: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            encoding: Positions::Sinusoidal,
            from: CountFrom::Start,
            causal: false,
            layers: 1,
            width: 32,
            at: 5,
            k: 3,
            pair: 3,
            example: 1,
            length: 8,
            number: 3,
            head: 0,
            query: 1,
            key: 1,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed, from: self.from, causal: self.causal, layers: self.layers, width: self.width }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Position, "position-encoding", "Encoding", position.encoding: Positions,
        "The encoding shown."),
    chosen!(of Position, "position-from", "Count", position.from: CountFrom,
        "From which end the models are to count. Restarts training."),
    plain!(of Position, "position-causal", "See the past only", position.causal: Flag, Kind::Flag,
        "Tokens look at themselves and those before them. Restarts training."),
    plain!(of Position, "position-layers", "Layers", position.layers: Whole,
        Kind::Whole { min: 1, max: 3 }, "Blocks of each model. Restarts training."),
    plain!(of Position, "position-width", "Width", position.width: Whole,
        Kind::Whole { min: 2, max: 64 },
        "Dimensions of each model: two heads, or one if odd. Restarts training."),
    plain!(of Position, "position-at", "Position", position.at: Whole,
        Kind::Whole { min: 0, max: FARTHEST }, "The position shown, from 0."),
    plain!(of Position, "position-k", "Shift k", position.k: Whole,
        Kind::Whole { min: 0, max: FARTHEST }, "How many positions farther on."),
    plain!(of Position, "position-pair", "Hand", position.pair: Whole,
        Kind::Whole { min: 1, max: 32 }, "The pair of dimensions that is lit, from 1."),
    plain!(of Position, "position-example", "Sequence", position.example: Whole,
        Kind::Whole { min: 1, max: 200 }, "Which made-up sequence is read. None is trained on."),
    plain!(of Position, "position-length", "Symbols", position.length: Whole,
        Kind::Whole { min: 2, max: MOST_SHOWN }, "Length of the sequence shown. Trained: 4 to 8."),
    plain!(of Position, "position-number", "Number asked", position.number: Whole,
        Kind::Whole { min: 1, max: LONGEST }, "Which symbol is asked for."),
    plain!(of Position, "position-head", "Open head", position.head: Whole,
        Kind::Whole { min: 0, max: 2 }, "The head whose arithmetic is open; 0 is none."),
    plain!(of Position, "position-query", "Open query", position.query: Whole,
        Kind::Whole { min: 1, max: MOST_SHOWN + 1 }, "Its query, from 1."),
    plain!(of Position, "position-key", "Open key", position.key: Whole,
        Kind::Whole { min: 1, max: MOST_SHOWN + 1 }, "Its key, from 1."),
];

/// What determines every number the chapter trains: one model for each encoding, otherwise alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub from: CountFrom,
    pub causal: bool,
    pub layers: u32,
    pub width: u32,
}

impl Spec {
    /// Heads of each model.
    pub fn heads(&self) -> u32 {
        if self.width.is_multiple_of(2) { 2 } else { 1 }
    }
}

/// Name of the series with a model's loss.
pub fn loss_series(positions: Positions) -> String {
    // Short, because the bar above the figure shows the first three.
    match positions {
        Positions::Sinusoidal => "Sinus. loss".to_owned(),
        other => format!("{} loss", other.label()),
    }
}

/// Name of the series with the accuracy on sequences of `length` symbols, none of which was trained
/// on.
pub fn accuracy_series(positions: Positions, length: u32) -> String {
    format!("{}, {length} symbols", positions.label())
}

questions! {
    Position:
    /// An encoding, position by position.
    Encoding { positions: Positions } -> Encoding,
    /// One position of the sinusoidal encoding and its shift by `k`, in f64.
    Clock { at: u32, k: u32 } -> Clock,
    /// Dot products of an encoding's vectors with those of position `at`.
    Products { positions: Positions, at: u32 } -> Products,
    /// The scores of one symbol with itself at every pair of positions, in the first layer.
    Scores { positions: Positions } -> Scores,
    /// How similar two symbols are after adding their position and normalizing.
    Swamping {} -> Swamping,
    /// What every model does with one sequence.
    Reading { asked: Asked } -> Reading,
    /// One row of attention in the last layer, everything counted from 0.
    Row { positions: Positions, asked: Asked, head: u32, query: u32 } -> AttentionRow,
}

/// A sequence and the question about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub example: u32,
    /// Symbols.
    pub length: u32,
    /// From 1.
    pub number: u32,
}

/// An encoding at the first [`DRAWN`] positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoding {
    pub positions: Positions,
    /// `[DRAWN, columns]`; NaN where there is nothing. The columns are the dimensions of the added
    /// vectors; for rotary positions, the pairs of a head's dimensions, with their angle in (-π,
    /// π]; for ALiBi, the heads, with what is added to a score at that distance.
    pub values: Array,
}

/// The sinusoidal encoding at one position and shifted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    pub at: u32,
    pub k: u32,
    /// Angle in radians by which each pair advances from one position to the next.
    pub frequencies: Vec<f64>,
    /// `PE(at)`
    pub here: Vec<f64>,
    /// `M_k PE(at)`
    pub turned: Vec<f64>,
    /// `PE(at + k)`
    pub there: Vec<f64>,
    /// `M_k`, `[width, width]`, with the rotation of each pair on its diagonal.
    pub matrix: Array,
    /// Largest difference between the last two vectors.
    pub difference: f64,
    /// The same over all positions up to [`TRIED`].
    pub largest: f64,
    /// The position at which it is that large.
    pub largest_at: u32,
}

/// Dot products `PE(p) · PE(p + offset)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Products {
    pub positions: Positions,
    /// For each position `p`, pairs of an offset and the product.
    pub lines: Vec<(u32, Vec<(i32, f64)>)>,
}

/// Scores of one symbol with itself, before softmax and without a mask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    pub positions: Positions,
    pub symbol: String,
    /// `[heads, T (query), T (key)]`
    pub scores: Array,
    /// For each head, the largest difference of two scores at the same offset.
    pub drift: Vec<f32>,
    /// For each head, the largest difference of any two scores.
    pub spread: Vec<f32>,
}

/// Cosine of the angle between two symbols' vectors, normalized as the first layer reads them, at
/// the first [`COMPARED`] positions, with the present embeddings of each model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Swamping {
    pub symbols: [String; 2],
    /// Names, with one cosine for each position.
    pub lines: Vec<(String, Vec<f32>)>,
    /// The integer encoding at the largest of these positions: how far LayerNorm's output for a
    /// symbol moves, at most, when the position is added to every dimension, and when it is added
    /// to a single one.
    pub moved_by_all: f32,
    pub moved_by_one: f32,
}

/// What every model does with one sequence of `T` tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The symbols and the number token.
    pub tokens: Vec<String>,
    /// Position of the requested symbol, from 0.
    pub place: u32,
    /// The right answer.
    pub right: String,
    /// Positions, from 0, of the first two symbols that differ, which are exchanged for
    /// [`ModelReading::swapped`]; twice the same if all are alike.
    pub exchanged: (u32, u32),
    /// In the order of [`Positions::ALL`].
    pub models: Vec<ModelReading>,
    /// The best accuracy at each of [`MEASURED`] for those who know how often each symbol occurs
    /// but nothing about order.
    pub counting: Vec<f32>,
}

/// What one model does with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelReading {
    pub positions: Positions,
    /// Why there is nothing to show.
    pub refusal: Option<String>,
    /// Its answer and the answer's probability.
    pub answer: String,
    pub probability: f32,
    /// What the number token attends to in the last layer, `[heads, T]`.
    pub weights: Array,
    /// The largest change of its logits when the two symbols are exchanged.
    pub swapped: f32,
    /// What the last layer's attention adds up for the number token, head after head: as it is,
    /// and with the two symbols exchanged, `[2, width]`.
    pub sums: Array,
}
