//! `rnn`: one cell used at every step, folded and unrolled.

use serde::{Deserialize, Serialize};

use crate::{
    Array,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

/// Most columns of the unrolled diagram, and most characters it reads from a sentence.
pub const MOST_COLUMNS: u32 = 64;
/// Most characters a model is asked to generate.
pub const MOST_WRITTEN: u32 = 120;

choice! {
    /// The non-linearity of the Elman network, and whether its sums have biases.
    CellChoice {
        /// PyTorch's `nn.RNN`.
        Tanh = "tanh", "PyTorch: tanh, biases";
        /// Mikolov et al. 2010.
        Sigmoid = "sigmoid", "Mikolov 2010: sigmoid";
    }
}

choice! {
    /// Where the network is asked for an answer.
    ReadoutChoice {
        /// The next character.
        Every = "every", "At every step";
        /// One of two classes.
        End = "end", "At the end only";
    }
}

choice! {
    /// Which weight matrix is open.
    MatrixChoice {
        None = "none", "None";
        W = "w", "W, from the input";
        U = "u", "U, from the state before";
        V = "v", "V, to the output";
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Number of unrolled columns; 0 is folded.
    pub columns: u32,
    /// The pinned column, counted from 1; 0 is none.
    pub at: u32,
    /// The unit whose arithmetic is open, counted from 1.
    pub unit: u32,
    pub matrix: MatrixChoice,
    pub cell: CellChoice,
    pub readout: ReadoutChoice,
    pub hidden: u32,
    /// The edited position, counted from 1; 0 is none.
    pub edit: u32,
    /// Code point of the character put there.
    pub letter: u32,
    pub temperature: f32,
    /// The position in the generated text at which an odd character is forced, counted from 1; 0 is
    /// none.
    pub odd: u32,
    /// Its code point; 0 is the rarest character of the training text.
    pub odd_letter: u32,
    /// Which generated string is read if only the end is asked for.
    pub example: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            columns: 0,
            at: 0,
            unit: 1,
            matrix: MatrixChoice::None,
            cell: CellChoice::Tanh,
            readout: ReadoutChoice::Every,
            hidden: 32,
            edit: 0,
            letter: 'x' as u32,
            temperature: 0.8,
            odd: 0,
            odd_letter: 0,
            example: 1,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed, cell: self.cell, readout: self.readout, hidden: self.hidden }
    }
}

/// The largest code point of a `char`.
const LAST: u32 = char::MAX as u32;

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    plain!(of Rnn, "rnn-columns", "Columns", rnn.columns: Whole,
        Kind::Whole { min: 0, max: MOST_COLUMNS },
        "How many steps of the loop are unrolled; 0 is folded."),
    plain!(of Rnn, "rnn-at", "Pinned column", rnn.at: Whole,
        Kind::Whole { min: 0, max: MOST_COLUMNS },
        "The step whose arithmetic is open, counted from 1; 0 is none."),
    plain!(of Rnn, "rnn-unit", "Unit", rnn.unit: Whole, Kind::Whole { min: 1, max: 64 },
        "The unit of the state whose arithmetic is open."),
    chosen!(of Rnn, "rnn-matrix", "Matrix", rnn.matrix: MatrixChoice,
        "The weight matrix that is opened."),
    chosen!(of Rnn, "rnn-cell", "Cell", rnn.cell: CellChoice,
        "tanh with biases, or sigmoid without any. Rebuilds the model."),
    chosen!(of Rnn, "rnn-readout", "Readout", rnn.readout: ReadoutChoice,
        "Asked for the next character at every step, or only at the end whether brackets are \
         balanced. Rebuilds the model."),
    plain!(of Rnn, "rnn-hidden", "Hidden units", rnn.hidden: Whole, Kind::Whole { min: 2, max: 64 },
        "Numbers in the state. Rebuilds the model."),
    plain!(of Rnn, "rnn-edit", "Edited step", rnn.edit: Whole,
        Kind::Whole { min: 0, max: MOST_COLUMNS },
        "The step whose input character is replaced, counted from 1; 0 is none."),
    plain!(of Rnn, "rnn-letter", "New character", rnn.letter: Whole,
        Kind::Whole { min: 1, max: LAST },
        "The character put there, as its Unicode code point."),
    plain!(of Rnn, "rnn-temperature", "Temperature", rnn.temperature: Real,
        Kind::Real { min: 0.0, max: 5.0 },
        "How boldly the models write: 0 always takes the likeliest character."),
    plain!(of Rnn, "rnn-odd", "Odd character at", rnn.odd: Whole,
        Kind::Whole { min: 0, max: MOST_WRITTEN },
        "The place in the writing where one odd character is forced; 0 is none."),
    plain!(of Rnn, "rnn-odd-letter", "Odd character", rnn.odd_letter: Whole,
        Kind::Whole { min: 0, max: LAST },
        "That character's Unicode code point; 0 is the rarest character of the text."),
    plain!(of Rnn, "rnn-example", "String", rnn.example: Whole, Kind::Whole { min: 1, max: 200 },
        "Which generated bracket string is read."),
];

/// What decides every number, with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub cell: CellChoice,
    pub readout: ReadoutChoice,
    pub hidden: u32,
}

questions! {
    Rnn:
    /// What the Elman network does with a text, step by step.
    Unrolled {
        /// Its first [`MOST_COLUMNS`] characters are read. If only the end is asked for, a text
        /// that does not consist of brackets is replaced by the generated string `example`.
        text: String,
        edit: Option<Edit>,
        example: u32,
    } -> Unrolled,
    /// Both models continue a text, with the spec's seed.
    Writing { prompt: String, length: u32, temperature: f32, odd: Option<Odd> } -> Writing,
    /// The losses of both models on held-out text after an odd character, compared with none.
    Recovery {
        /// As in [`Odd`].
        letter: Option<char>,
    } -> Recovery,
}

/// One input character replaced by another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// Counted from 0. Beyond the end of the text nothing is replaced.
    pub position: u32,
    pub letter: char,
}

/// One character of the generated text replaced by another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Odd {
    /// From 0.
    pub position: u32,
    /// `None` is the rarest character of the training text.
    pub letter: Option<char>,
}

/// The weights, and what they made of a text of `T` tokens. `H` units, `V` tokens, `C` classes:
/// the tokens again where every step is read out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Unrolled {
    /// Every token as text, by id.
    pub tokens: Vec<String>,
    /// Every class as text, by id.
    pub classes: Vec<String>,
    /// The input weights, `[H, V]`: x_t is one-hot, so `W x_t` is the column of its token.
    pub w: Array,
    /// The recurrent weights, `[H, H]`.
    pub u: Array,
    /// `[H]`; empty without biases.
    pub b: Vec<f32>,
    /// The output weights, `[C, H]`.
    pub v: Array,
    /// `[C]`; empty without biases.
    pub c: Vec<f32>,
    /// Whether only the last step is read out.
    pub end_only: bool,
    /// Whether f is tanh; else it is sigmoid.
    pub tanh: bool,
    /// The run over the unchanged text.
    pub run: Run,
    /// The run with one character replaced, and the character's position, from 0.
    pub edited: Option<(u32, Run)>,
    /// How many characters beyond [`MOST_COLUMNS`] were left out.
    pub dropped: u32,
}

/// One pass over a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Tokens read, `T`; 0 is the unknown character.
    pub ids: Vec<u32>,
    /// The right answer at each readout, one for each row of `probabilities`; `None` where the text
    /// ends.
    pub targets: Vec<Option<u32>>,
    /// `W x_t + U s_(t-1) + b`, `[T, H]`.
    pub sums: Array,
    /// `s_t = f(sum)`, `[T, H]`.
    pub states: Array,
    /// `softmax(V s_t + c)`, `[T, C]`, or `[1, C]` where only the end is read out.
    pub probabilities: Array,
}

/// What two models generated from the same prompt with the same draws: the Elman network, then the
/// LSTM.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Writing {
    pub models: [Written; 2],
    /// The odd character, where one was forced.
    pub letter: Option<String>,
}

/// One model's generated text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    pub plain: Vec<Character>,
    /// With the odd character; empty if there is none.
    pub odd: Vec<Character>,
}

/// One generated character.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Character {
    pub token: String,
    /// `-ln p` of it, by the model that generated it, at temperature 1.
    pub surprise: f32,
}

/// Mean cross-entropy in nats at each position after an odd character was inserted into true
/// held-out text, averaged over windows. The first of each pair is the Elman network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// The odd character.
    pub letter: String,
    /// Windows averaged.
    pub windows: u32,
    /// Characters of true text read before the odd one.
    pub before: u32,
    /// Without the odd character, `[2, K]`.
    pub plain: Array,
    /// With it, `[2, K]`, for the same targets.
    pub odd: Array,
    /// Standard error over the windows of `odd - plain`, `[2, K]`.
    pub error: Array,
    /// `odd - plain` summed over the K positions: mean over the windows and its standard error.
    pub total: [(f32, f32); 2],
    /// The LSTM's total minus the Elman network's, window by window: mean and standard error.
    pub difference: (f32, f32),
}
