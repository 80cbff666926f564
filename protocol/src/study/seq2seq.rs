//! `seq2seq`: the whole source in one vector.

use serde::{Deserialize, Serialize};

use crate::{
    Array, PairTask,
    link::{
        Kind, TableRow,
        rows::{chosen, plain},
    },
    question::questions,
    transduction::{Candidate, MOST_BEAM, Search},
};

/// Most characters read from a source: each has a column.
pub const MOST_SOURCE: u32 = 40;
/// Measured strings exceed the longest trained on by up to this many letters.
pub const BEYOND: u32 = 4;

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub task: PairTask,
    /// Length of the longest string trained on.
    pub longest: u32,
    /// Width of the vector.
    pub hidden: u32,
    /// Whether the source is read from its end.
    pub backwards: bool,
    /// Which held-out source is on show; 0 is the learner's own.
    pub example: u32,
    /// Number of shown output characters; 0 is all of them.
    pub at: u32,
    /// Number of sequences that beam search keeps.
    pub beam: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            task: PairTask::Reverse,
            longest: 10,
            hidden: 32,
            backwards: false,
            example: 1,
            at: 0,
            beam: 3,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        let Self { task, longest, hidden, backwards, .. } = *self;
        Spec { seed, task, longest, hidden, backwards }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Seq2seq, "seq2seq-task", "Task", seq2seq.task: PairTask,
        "What is learned. Rebuilds the model."),
    plain!(of Seq2seq, "seq2seq-longest", "Longest string trained on", seq2seq.longest: Whole,
        Kind::Whole { min: 2, max: 20 },
        "Does not apply to dates. Rebuilds the model."),
    plain!(of Seq2seq, "seq2seq-hidden", "Numbers in the vector", seq2seq.hidden: Whole,
        Kind::Whole { min: 2, max: 128 },
        "Units of encoder and decoder. Rebuilds the model."),
    plain!(of Seq2seq, "seq2seq-backwards", "Read from the end", seq2seq.backwards: Flag,
        Kind::Flag, "Reads the source from its last character to its first, as in Sutskever et al. 2014. \
                     Rebuilds the model."),
    plain!(of Seq2seq, "seq2seq-example", "Held-out source", seq2seq.example: Whole,
        Kind::Whole { min: 0, max: 200 }, "Which one is read; 0 is your own."),
    plain!(of Seq2seq, "seq2seq-at", "Characters written", seq2seq.at: Whole,
        Kind::Whole { min: 0, max: 60 }, "How many of the decoder's steps are shown; 0 is all."),
    plain!(of Seq2seq, "seq2seq-beam", "Beam width", seq2seq.beam: Whole,
        Kind::Whole { min: 1, max: MOST_BEAM }, "Beginnings that beam search keeps."),
];

/// What decides every number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub task: PairTask,
    pub longest: u32,
    pub hidden: u32,
    pub backwards: bool,
}

impl Spec {
    /// Ranges of source lengths, inclusive, for which accuracy is measured.
    pub fn bins(&self) -> Vec<(u32, u32)> {
        match self.task {
            PairTask::Dates => vec![(8, 10), (11, 13), (14, 16), (17, 19), (20, 22), (23, 27)],
            _ => (1..=self.longest + BEYOND).map(|length| (length, length)).collect(),
        }
    }
}

/// Name of the series with the accuracy on all held-out sources that are no longer than those
/// trained on.
pub const RIGHT: &str = "right";

/// Name of the series with the accuracy on held-out sources of these lengths.
pub fn length_series((from, to): (u32, u32)) -> String {
    if from == to {
        format!("right, length {from}")
    } else {
        format!("right, length {from} to {to}")
    }
}

questions! {
    Seq2seq:
    /// What the model does with one source.
    Reading {
        /// `None` for a held-out one.
        text: Option<String>,
        example: u32,
        beam: u32,
    } -> Reading,
    /// The probabilities of the right answers to four held-out sources.
    Odds { number: u32 } -> Vec<Odds>,
}

/// A source of `S` characters, read with `H` units, and the `T` steps of greedy decoding with `K`
/// target tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// As it was written.
    pub source: String,
    /// Its characters in the order in which they are read.
    pub tokens: Vec<String>,
    /// What the encoder reads, in that order, by id.
    pub ids: Vec<u32>,
    /// How many of them are unknown to the task.
    pub unknown: u32,
    /// How many beyond [`MOST_SOURCE`] were left out.
    pub dropped: u32,
    /// The right answer, if there is one.
    pub right: Option<String>,
    /// Length of the longest source trained on.
    pub longest: u32,
    /// `h_j`, `[S, H]`.
    pub states: Array,
    /// The vector c, `h_S`.
    pub summary: Vec<f32>,
    /// `s_i`, `[T, H]`.
    pub decoder: Array,
    /// Every target token as text, by id; the end token first.
    pub symbols: Vec<String>,
    /// The token chosen at each step, `T`; the end token last, if it was reached.
    pub written: Vec<u32>,
    /// `[T, K]`
    pub probabilities: Array,
    /// What beam search found, likeliest first.
    pub beam: Vec<Candidate>,
    /// What is written from the state after each character, `S`.
    pub prefixes: Vec<Prefix>,
}

impl Reading {
    /// The greedy output, without the end token.
    pub fn greedy(&self) -> String {
        let written = self.written.iter().filter(|&&id| id != 0);
        written.filter_map(|&id| self.symbols.get(id as usize).map(String::as_str)).collect()
    }

    /// What beam search found, beside it.
    pub fn search(&self) -> Search {
        let chosen = self
            .written
            .iter()
            .enumerate()
            .filter_map(|(step, &id)| self.probabilities.block(&[step])?.get(id as usize));
        Search {
            source: self.source.clone(),
            right: self.right.clone(),
            greedy: Candidate {
                text: self.greedy(),
                log_probability: chosen.map(|probability| probability.ln()).sum(),
                ended: self.written.last() == Some(&0),
            },
            found: self.beam.clone(),
        }
    }
}

/// What the vector still holds of the first characters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prefix {
    pub written: String,
    pub right: Option<String>,
}

/// A source and the probability of its right answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Odds {
    pub source: String,
    pub right: String,
    pub log_probability: f32,
}
