//! `mask`: which tokens may attend to which.

mod pattern;

pub use pattern::{Combine, Drawn, Pattern, Preset};

use serde::{Deserialize, Serialize};

use crate::{
    Array,
    attention::AttentionRow,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

/// Tokens of a training sequence, and the most tokens read from a sentence.
pub const CONTEXT: u32 = 32;
/// Blocks of each model.
pub const LAYERS: u32 = 2;
/// Heads of each block.
pub const HEADS: u32 = 2;
/// Width of the residual stream.
pub const WIDTH: u32 = 32;
/// Most characters a model writes at a time.
pub const MOST_WRITTEN: u32 = 64;

choice! {
    /// Which of the two models is shown, by the mask it is trained with.
    Trained {
        Causal = "causal", "causal mask";
        Unmasked = "unmasked", "no mask";
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub pattern: Pattern,
    /// Cells set by hand. In a link it is part of the fragment.
    pub drawn: Drawn,
    /// Whether clicks and keys edit the mask.
    pub editing: bool,
    pub model: Trained,
    /// The selected layer and head, counted from 1.
    pub layer: u32,
    pub head: u32,
    /// The selected row, counted from 1; 0 is the last.
    pub row: u32,
    /// The key of the cell in that row whose arithmetic is open, counted from 1; 0 is none.
    pub cell: u32,
    /// The token that the leak test changes, counted from 1; 0 is none.
    pub change: u32,
    /// Code point of the replacement; 0 is the next character of the vocabulary.
    pub letter: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            pattern: Pattern::default(),
            drawn: Drawn::default(),
            editing: false,
            model: Trained::Causal,
            layer: 1,
            head: 1,
            row: 8,
            cell: 0,
            change: 12,
            letter: 0,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Mask, "mask-base", "Mask", mask.pattern.base: Preset,
        "Who may look at whom, before cells are set by hand."),
    chosen!(of Mask, "mask-combine", "Combined with", mask.pattern.combine: Combine,
        "Whether a second mask narrows the first or widens it."),
    chosen!(of Mask, "mask-other", "Second mask", mask.pattern.other: Preset,
        "What the first mask is combined with."),
    plain!(of Mask, "mask-band", "Width of the band", mask.pattern.band: Whole,
        Kind::Whole { min: 1, max: 512 },
        "Tokens fewer than this many places away may be looked at."),
    plain!(of Mask, "mask-padding", "Padding", mask.pattern.padding: Whole,
        Kind::Whole { min: 0, max: 512 },
        "Tokens at the end that are padding: nobody looks at them."),
    plain!(of Mask, "mask-editing", "Edit the mask", mask.editing: Flag, Kind::Flag,
        "Clicks, drags and Space change cells."),
    chosen!(of Mask, "mask-model", "Model trained with", mask.model: Trained,
        "Which of the two models is shown."),
    plain!(of Mask, "mask-layer", "Layer", mask.layer: Whole,
        Kind::Whole { min: 1, max: LAYERS }, "Layer shown."),
    plain!(of Mask, "mask-head", "Head", mask.head: Whole,
        Kind::Whole { min: 1, max: HEADS }, "Head shown."),
    plain!(of Mask, "mask-row", "Row", mask.row: Whole,
        Kind::Whole { min: 0, max: CONTEXT },
        "The token whose row is followed up, counted from 1; 0 is the last."),
    plain!(of Mask, "mask-cell", "Cell taken apart", mask.cell: Whole,
        Kind::Whole { min: 0, max: CONTEXT },
        "The key whose cell in that row is worked out, counted from 1; 0 is none."),
    plain!(of Mask, "mask-change", "Changed token", mask.change: Whole,
        Kind::Whole { min: 0, max: CONTEXT },
        "The token that the leak test changes, counted from 1; 0 is none."),
    plain!(of Mask, "mask-letter", "New character", mask.letter: Whole,
        Kind::Whole { min: 0, max: char::MAX as u32 },
        "The character put there, as its code point; 0 is the next of the vocabulary."),
];

/// What decides every number the chapter trains, with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
}

/// Names of the series, in the order of [`Trained::ALL`]: the training loss, and the loss on
/// held-out characters that are not in sight.
pub const SERIES: [&str; 4] = ["causal loss", "unmasked loss", "causal unseen", "unmasked unseen"];

questions! {
    Mask:
    /// What a model makes of a sentence under a mask. Positions count from 0.
    Look {
        /// Its first [`CONTEXT`] characters are read.
        text: String,
        pattern: Pattern,
        drawn: Drawn,
        model: Trained,
        layer: u32,
        head: u32,
        /// The selected row; `None`, or a row beyond the end, is the last.
        row: Option<u32>,
        /// What the leak test changes; beyond the end, nothing.
        change: Option<Change>,
    } -> Seen,
    /// What a model generates after a sentence.
    Writing { model: Trained, prompt: String, length: u32 } -> Writing,
}

/// One token replaced by another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub position: u32,
    /// `None` is the token after the present one, in the vocabulary's order.
    pub letter: Option<char>,
}

/// What a model made of a sentence of T tokens. Outputs are what the head reads, after the final
/// norm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The tokens as text, T.
    pub tokens: Vec<String>,
    /// How many characters beyond [`CONTEXT`] were left out.
    pub dropped: u32,
    /// Every token as text, V.
    pub vocabulary: Vec<String>,
    /// Whether each query (row) may attend to each key (column), `T * T`, row-major.
    pub allowed: Vec<bool>,
    /// Weights of the selected head, `[T, T]`.
    pub weights: Array,
    /// Largest weight of a blocked cell in any layer and head; 0 where none is blocked.
    pub most_blocked: f32,
    /// `[T, WIDTH]`
    pub outputs: Array,
    /// Probabilities of the next token, `[T, V]`.
    pub probabilities: Array,
    /// Outputs and probabilities under the mask the model is trained with.
    pub usual_outputs: Array,
    pub usual_probabilities: Array,
    /// The selected row.
    pub row: u32,
    /// Its arithmetic in the selected head.
    pub arithmetic: AttentionRow,
    pub averages: Averages,
    pub leak: Option<Leak>,
}

/// The values of the selected head, averaged over what the mask allows in three equivalent ways,
/// and with the data-dependent attention weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Averages {
    /// By a loop that sums the values and divides, `[T, d]`.
    pub looped: Array,
    /// A matrix of 0 and 1 / count, times the values, `[T, d]`.
    pub product: Array,
    /// That matrix, `[T, T]`.
    pub matrix: Array,
    /// A softmax of 0 and -inf, times the values, `[T, d]`.
    pub softmax: Array,
    /// That softmax, `[T, T]`.
    pub softened: Array,
    /// With the attention's own weights, `[T, d]`.
    pub attended: Array,
}

/// What changes when one token is replaced by another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Leak {
    pub position: u32,
    /// What is put there.
    pub letter: String,
    /// At each position the largest change of any number of the output, `T`: under the shown mask,
    /// and without any mask.
    pub masked: Vec<f32>,
    pub unmasked: Vec<f32>,
}

/// What a model generated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Writing {
    /// The end of the prompt, as far as it was read.
    pub prompt: String,
    pub text: String,
}
