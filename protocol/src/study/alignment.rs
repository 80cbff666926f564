//! `alignment`: a decoder with attention to its source, beside one without.

use serde::{Deserialize, Serialize};

use crate::{
    Array, AttentionRow,
    link::{
        Kind, TableRow,
        rows::{chosen, plain},
    },
    question::questions,
    transduction::{AttentionKind, MOST_BEAM, PairTask, Search},
};

/// Most characters read from a source: each has a column.
pub const MOST_SOURCE: u32 = 40;
/// Longest training sources a link can ask for, in the tasks on strings.
pub const MOST_LENGTH: u32 = 16;
/// Highest number of a held-out example.
pub const MOST_EXAMPLES: u32 = 200;

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub task: PairTask,
    /// The first model's attention.
    pub attention: AttentionKind,
    /// The second model's attention. If it is the same as the first, there is no second model.
    pub beside: AttentionKind,
    /// Longest source trained on, in the tasks on strings.
    pub length: u32,
    /// Units of the decoder, and of each of the encoder's directions.
    pub hidden: u32,
    /// Which held-out source is read; 0 is the learner's own.
    pub example: u32,
    /// Characters the decoder has produced so far; 0 means all.
    pub steps: u32,
    /// The selected output character, from 1; 0 is none.
    pub at: u32,
    /// The source character whose weight is taken apart, from 1; 0 is none.
    pub key: u32,
    /// The model that this weight belongs to: 1 or 2.
    pub model: u32,
    /// Number of sequences that beam search keeps.
    pub beam: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            task: PairTask::Reverse,
            attention: AttentionKind::Additive,
            beside: AttentionKind::None,
            length: 8,
            hidden: 32,
            example: 1,
            steps: 0,
            at: 3,
            key: 0,
            model: 1,
            beam: 3,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec {
            seed,
            task: self.task,
            attention: self.attention,
            beside: self.beside,
            // The lengths of dates are what they are.
            length: if self.task == PairTask::Dates { 0 } else { self.length },
            hidden: self.hidden,
        }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Alignment, "alignment-task", "Task", alignment.task: PairTask,
        "What the models learn. Rebuilds them."),
    chosen!(of Alignment, "alignment-attention", "Attention", alignment.attention: AttentionKind,
        "How the first model looks back at its source. Rebuilds the models."),
    chosen!(of Alignment, "alignment-beside", "Beside it", alignment.beside: AttentionKind,
        "The second model: same task, seed, batches and steps. Rebuilds the models."),
    plain!(of Alignment, "alignment-length", "Longest source", alignment.length: Whole,
        Kind::Whole { min: 2, max: MOST_LENGTH },
        "Characters of the longest string trained on. Rebuilds the models."),
    plain!(of Alignment, "alignment-hidden", "Units", alignment.hidden: Whole,
        Kind::Whole { min: 4, max: 64 },
        "Numbers in the decoder's state and in each of the encoder's two. Rebuilds the models."),
    plain!(of Alignment, "alignment-example", "Source", alignment.example: Whole,
        Kind::Whole { min: 0, max: MOST_EXAMPLES },
        "Which held-out source is read; 0 is your own."),
    plain!(of Alignment, "alignment-steps", "Produced so far", alignment.steps: Whole,
        Kind::Whole { min: 0, max: 64 },
        "Characters the decoder has produced; 0 is all."),
    plain!(of Alignment, "alignment-at", "Produced character", alignment.at: Whole,
        Kind::Whole { min: 0, max: 64 },
        "The produced character that is shown, from 1; 0 is none."),
    plain!(of Alignment, "alignment-key", "Source character", alignment.key: Whole,
        Kind::Whole { min: 0, max: MOST_SOURCE },
        "The source character whose weight is taken apart, from 1; 0 is none."),
    plain!(of Alignment, "alignment-model", "Model taken apart", alignment.model: Whole,
        Kind::Whole { min: 1, max: 2 },
        "The model whose weight is taken apart."),
    plain!(of Alignment, "alignment-beam", "Beam width", alignment.beam: Whole,
        Kind::Whole { min: 1, max: MOST_BEAM }, "Beginnings that beam search keeps."),
];

/// What decides every number the chapter trains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub task: PairTask,
    pub attention: AttentionKind,
    pub beside: AttentionKind,
    /// Longest source trained on; ignored for dates.
    pub length: u32,
    pub hidden: u32,
}

impl Spec {
    /// The attention of each trained model, in the order of every list of models.
    pub fn kinds(&self) -> Vec<AttentionKind> {
        let mut kinds = vec![self.attention, self.beside];
        kinds.dedup();
        kinds
    }
}

/// The name of a model with this attention.
pub fn name(kind: AttentionKind) -> &'static str {
    match kind {
        AttentionKind::None => "no attention",
        AttentionKind::Additive => "Bahdanau",
        AttentionKind::Dot => "Luong dot",
        AttentionKind::General => "Luong general",
        AttentionKind::Concat => "Luong concat",
    }
}

/// Name of the series with the training loss of the model with this attention.
pub fn loss_series(kind: AttentionKind) -> String {
    format!("{} loss", name(kind))
}

/// Name of the series with the share of held-out sources that the model answers without a mistake.
pub fn exact_series(kind: AttentionKind) -> String {
    format!("{}, right", name(kind))
}

/// A source to read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Source {
    /// A held-out one by number, from 1.
    Example(u32),
    /// The learner's own.
    Own(String),
}

questions! {
    Alignment:
    /// What the models make of a source, each reading its own output back.
    Reading { source: Source } -> Reading,
    /// One row of the alignment of model `model` (from 0): produced character `at`, from 0.
    Row { source: Source, model: u32, at: u32 } -> AttentionRow,
    /// Accuracy at the last measurement, by the source's length.
    Lengths {} -> Lengths,
    /// What beam search with this width finds with the first model, beside the greedy choice.
    Beam { source: Source, width: u32 } -> Search,
}

/// What the models made of a source of `S` characters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// `S` characters.
    pub source: Vec<String>,
    /// The right output including the end token, if it is known.
    pub wanted: Option<Vec<String>>,
    /// Every character a decoder can produce, `K`.
    pub symbols: Vec<String>,
    /// One for each of [`Spec::kinds`].
    pub outputs: Vec<Output>,
    /// Characters of the longest source trained on.
    pub longest_trained: u32,
    /// How many characters beyond [`MOST_SOURCE`] were left out.
    pub dropped: u32,
    /// Characters of the source that are unknown to the models.
    pub unknown: Vec<char>,
}

/// What one model produced: `T` characters, including the end token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    pub kind: AttentionKind,
    pub tokens: Vec<String>,
    /// The decoder's prediction at each step, `[T, K]`.
    pub probabilities: Array,
    /// The attention weights over the source, `[T, S]`; rows sum to 1. `None` without attention.
    pub weights: Option<Array>,
    /// Whether it ended its output by itself.
    pub ended: bool,
}

impl Output {
    /// Whether it equals `wanted`, character for character.
    pub fn is(&self, wanted: &[String]) -> bool {
        self.ended && self.tokens == wanted
    }
}

/// Shares of held-out sources answered without a mistake.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Steps taken when it was measured.
    pub step: u32,
    pub bins: Vec<LengthBin>,
}

/// Sources of similar length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LengthBin {
    /// Lengths in characters of the shortest and the longest.
    pub from: u32,
    pub to: u32,
    /// Number of sources measured.
    pub count: u32,
    /// Whether sources of these lengths are trained on.
    pub trained: bool,
    /// The share answered correctly by each of [`Spec::kinds`].
    pub right: Vec<f32>,
}
