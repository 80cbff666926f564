//! `birnn`: reading in both directions.

use serde::{Deserialize, Serialize};

use crate::{
    Array,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

/// Symbols of the symbol task; chance is 1 divided by this.
pub const SYMBOLS: u32 = 4;
/// Tokens of one sequence of the symbol task.
pub const LENGTH: u32 = 16;
/// How far ahead the symbol task asks: 1, 2, ... up to this, all at every position.
pub const MOST_AHEAD: u32 = 5;
/// Characters of one training passage of the fill-in task.
pub const PASSAGE: u32 = 24;
/// Most characters read from a sentence: each has a column.
pub const MOST_COLUMNS: u32 = 40;
/// Longest delay a link can ask for.
pub const MOST_DELAY: u32 = 24;

choice! {
    /// What the models learn.
    TaskChoice {
        /// Random symbols: which one comes k steps later?
        Look = "look", "Symbols ahead";
        /// A text with letters missing: what stood there?
        Fill = "fill", "Missing letters";
    }
}

choice! {
    /// The cells of the networks.
    CellChoice {
        Elman = "elman", "Elman";
        Gru = "gru", "GRU";
        Lstm = "lstm", "LSTM";
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub task: TaskChoice,
    /// Which of the symbol task's answers is shown.
    pub ahead: u32,
    /// Number of steps by which the delayed model answers later; with 0 there is no such model.
    pub delay: u32,
    pub cell: CellChoice,
    /// Units in each direction of the bidirectional model.
    pub hidden: u32,
    /// The selected position, counted from 1: its arithmetic is open, and in the fill-in task its
    /// letter is hidden. 0 is none.
    pub at: u32,
    /// The answer whose logit is decomposed, as its id plus 1; 0 is the right one.
    pub answer: u32,
    /// Which generated sequence is read in the symbol task.
    pub example: u32,
    /// Whether clicks and keys change the input.
    pub editing: bool,
    /// The changed position, counted from 1; 0 is none.
    pub edit: u32,
    /// Code point of the replacement; 0 is the next character of the vocabulary.
    pub letter: u32,
    /// Which held-out passage the learner guesses at.
    pub passage: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            task: TaskChoice::Look,
            ahead: 3,
            delay: 2,
            cell: CellChoice::Elman,
            hidden: 24,
            at: 11,
            answer: 0,
            example: 1,
            editing: false,
            edit: 0,
            letter: 0,
            passage: 1,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed, task: self.task, delay: self.delay, cell: self.cell, hidden: self.hidden }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Birnn, "birnn-task", "Task", birnn.task: TaskChoice,
        "Made-up symbols, of which one is asked before it comes, or your text with letters missing. \
         Rebuilds the models."),
    plain!(of Birnn, "birnn-ahead", "How far ahead the answer lies", birnn.ahead: Whole,
        Kind::Whole { min: 1, max: MOST_AHEAD },
        "Which answer is shown: the symbol this many steps later. The models learn all of them."),
    plain!(of Birnn, "birnn-delay", "Delay d", birnn.delay: Whole,
        Kind::Whole { min: 0, max: MOST_DELAY },
        "A second one-way model may answer this many steps late; 0 leaves it out. Rebuilds the models."),
    chosen!(of Birnn, "birnn-cell", "Cell", birnn.cell: CellChoice,
        "What the networks are built from. Rebuilds them."),
    plain!(of Birnn, "birnn-hidden", "Units in each direction", birnn.hidden: Whole,
        Kind::Whole { min: 2, max: 64 },
        "Numbers in each of the two states of the model that reads both ways. One-way models get \
         more, so that they have at least as many parameters. Rebuilds the models."),
    plain!(of Birnn, "birnn-at", "Chosen position", birnn.at: Whole,
        Kind::Whole { min: 0, max: MOST_COLUMNS },
        "The position whose answer is taken apart, counted from 1; among missing letters the one \
         that is hidden. 0 is none."),
    plain!(of Birnn, "birnn-answer", "Answer taken apart", birnn.answer: Whole,
        Kind::Whole { min: 0, max: 512 },
        "The answer whose logit is taken apart, as its id plus 1; 0 is the right one."),
    plain!(of Birnn, "birnn-example", "Sequence", birnn.example: Whole,
        Kind::Whole { min: 1, max: 200 },
        "Which of the made-up sequences is read. None of them is trained on."),
    plain!(of Birnn, "birnn-editing", "Change the input", birnn.editing: Flag, Kind::Flag,
        "Click a position and type: see what else changes."),
    plain!(of Birnn, "birnn-edit", "Changed position", birnn.edit: Whole,
        Kind::Whole { min: 0, max: MOST_COLUMNS },
        "The position whose character is replaced, counted from 1; 0 is none."),
    plain!(of Birnn, "birnn-letter", "New character", birnn.letter: Whole,
        Kind::Whole { min: 0, max: char::MAX as u32 },
        "The character put there, as its Unicode code point; 0 is the next of the vocabulary."),
    plain!(of Birnn, "birnn-passage", "Passage", birnn.passage: Whole,
        Kind::Whole { min: 1, max: 200 },
        "Which held-out passage to guess a letter of."),
];

/// What determines every number, together with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub task: TaskChoice,
    pub delay: u32,
    pub cell: CellChoice,
    pub hidden: u32,
}

/// The order in which a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reader {
    /// From the first token to the last.
    Forward,
    /// From the first token to the last, answering about each position this many steps later.
    Delayed(u32),
    /// From the last token to the first.
    Backward,
    /// From both ends, with one network each (Schuster and Paliwal 1997).
    Both,
}

impl Reader {
    /// Its name on the page and in the measured series.
    pub fn name(self) -> String {
        match self {
            Self::Forward => "forward".to_owned(),
            Self::Delayed(by) => format!("forward, {by} late"),
            Self::Backward => "backward".to_owned(),
            Self::Both => "both ways".to_owned(),
        }
    }

    /// Whether the token at `input` can affect the answer about `position`, both from 0.
    pub fn sees(self, position: usize, input: usize) -> bool {
        match self {
            Self::Forward => input <= position,
            Self::Delayed(by) => input <= position + by as usize,
            Self::Backward => input >= position,
            Self::Both => true,
        }
    }
}

impl Spec {
    /// The trained models, in the order of every list of them.
    pub fn readers(&self) -> Vec<Reader> {
        let delayed = (self.delay > 0).then_some(Reader::Delayed(self.delay));
        // In the symbol task a backward model would do as well as a bidirectional one: all answers
        // lie ahead.
        let backward = (self.task == TaskChoice::Fill).then_some(Reader::Backward);
        [Some(Reader::Forward), Some(Reader::Both), delayed, backward]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Name of the series with the accuracy of `reader` on held-out data; in the symbol task for the
/// answer `ahead` steps later.
pub fn accuracy_series(reader: Reader, ahead: Option<u32>) -> String {
    match ahead {
        None => format!("{}, right", reader.name()),
        Some(ahead) => format!("{}, right {ahead} ahead", reader.name()),
    }
}

questions! {
    Birnn:
    /// What every model does with one sequence.
    Reading {
        /// In the fill-in task, the text, of which the first [`MOST_COLUMNS`] characters are read.
        text: String,
        /// In the symbol task, which generated sequence is read, and which of its answers is shown.
        example: u32,
        ahead: u32,
        /// The position, from 0, that is hidden in the fill-in task while the states are computed.
        hidden: Option<u32>,
        edit: Option<Edit>,
    } -> Reading,
    /// A held-out passage with one letter missing, in the fill-in task.
    Passage { number: u32 } -> Passage,
}

/// One input character replaced by another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// Counted from 0. Beyond the end nothing is replaced.
    pub position: u32,
    /// `None` is the token after the present one, in the vocabulary's order.
    pub letter: Option<char>,
}

/// What every model did with a sequence of `T` tokens, choosing among `K` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Every token as text, by id; in the fill-in task the last one is the mask.
    pub symbols: Vec<String>,
    /// Every answer as text, by id.
    pub answers: Vec<String>,
    pub readouts: Vec<Readout>,
    pub run: Run,
    /// The run with one character replaced, and the character's position, from 0.
    pub edited: Option<(u32, Run)>,
    /// How many characters beyond [`MOST_COLUMNS`] were left out.
    pub dropped: u32,
    /// The accuracy of always giving the same answer.
    pub chance: f32,
}

/// One model's readout, `logits = V_f h_f + V_b h_b + c`, with `H` units in each direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Readout {
    pub reader: Reader,
    /// Parameters of the whole model.
    pub parameters: u64,
    /// `V_f`, `[K, H]`; `[K, 0]` where nothing is read forward.
    pub forward: Array,
    /// `V_b`, `[K, H]`; `[K, 0]` where nothing is read backward.
    pub backward: Array,
    /// `c`, `[K]`.
    pub bias: Vec<f32>,
}

/// One pass of all models over a sequence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The tokens, with none of them hidden, `T`.
    pub ids: Vec<u32>,
    /// The right answer about each position; `None` where nothing is asked.
    pub targets: Vec<Option<u32>>,
    /// One for each of [`Reading::readouts`].
    pub models: Vec<ModelRun>,
}

/// What one model computed for the sequence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelRun {
    /// The state after reading each position from the left, `[T, H]`, with the hidden position
    /// masked; `[T, 0]` if nothing is read forward.
    pub forward: Array,
    /// The state after reading each position from the right, `[T, H]`; `[T, 0]` if nothing is.
    pub backward: Array,
    /// The logits of the answer about each position, `[T, K]`; in the fill-in task each is computed
    /// with only its own position masked. A delayed model has no row for the last positions.
    pub logits: Array,
}

/// A passage no model was trained on, with one letter missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    pub number: u32,
    pub tokens: Vec<String>,
    /// The missing position, from 0.
    pub missing: u32,
    /// What stood there, by id.
    pub right: u32,
    /// Every answer as text, by id.
    pub answers: Vec<String>,
    /// What each model that can answer predicts, with its probabilities `[K]`.
    pub models: Vec<(Reader, Vec<f32>)>,
}
