//! `tokens`: how text becomes ids, and ids become rows of a table that is trained.
//!
//! A *document* is a line of the text that is not blank; line breaks become the end token. The
//! model guesses each token from the one before it alone.

use serde::{Deserialize, Serialize};

use crate::{
    Array,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

choice! {
    /// What counts as one token.
    Scheme {
        Characters = "characters", "Characters";
        Bytes = "bytes", "Bytes";
        /// Bytes, the most frequent pairs of them merged.
        Pairs = "pairs", "Byte pairs";
    }
}

/// Most merges that are learnt.
pub const MAX_MERGES: u32 = 300;

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What the model reads.
    pub scheme: Scheme,
    /// Merges of the byte pairs.
    pub merges: u32,
    /// Whether merges stay within words.
    pub words: bool,
    /// Numbers in a token's row (d).
    pub width: u32,
    /// Tokens in a row of training examples (T).
    pub window: u32,
    /// Where the window on show begins, in tokens of the text.
    pub at: u32,
    /// Id of the token whose row is on show, counted from 1; 0 is the sentence's first.
    pub token: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            scheme: Scheme::Characters,
            merges: 5,
            words: true,
            width: 8,
            window: 8,
            at: 0,
            token: 0,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        let pairs = self.scheme == Scheme::Pairs;
        Spec {
            seed,
            scheme: self.scheme,
            // Merging pairs does not touch a model that reads characters.
            merges: if pairs { self.merges } else { 0 },
            words: !pairs || self.words,
            width: self.width,
            window: self.window,
        }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Tokens, "tokens-scheme", "The model reads", tokens.scheme: Scheme,
        "What counts as one token for the model."),
    plain!(of Tokens, "tokens-merges", "Merges", tokens.merges: Whole,
        Kind::Whole { min: 0, max: MAX_MERGES },
        "How often the most frequent pair of the text became one token."),
    plain!(of Tokens, "tokens-words", "Merge within words only", tokens.words: Flag, Kind::Flag,
        "Whether a pair may only be merged inside a word (a space counts to the word after it)."),
    plain!(of Tokens, "tokens-width", "Numbers in a row", tokens.width: Whole,
        Kind::Whole { min: 2, max: 16 },
        "The width d of the embedding: how many numbers stand for a token."),
    plain!(of Tokens, "tokens-window", "Window", tokens.window: Whole,
        Kind::Whole { min: 1, max: 16 },
        "Tokens in one row of training examples."),
    plain!(of Tokens, "tokens-at", "Window begins at", tokens.at: Whole,
        Kind::Whole { min: 0, max: 5_000_000 },
        "Token of the text at which the window on show begins."),
    plain!(of Tokens, "tokens-token", "Token shown", tokens.token: Whole,
        Kind::Whole { min: 0, max: 1000 },
        "Id, counted from 1, of the token whose row is on show; 0 is the sentence's first."),
];

/// What decides every number, with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub scheme: Scheme,
    /// Merges of the byte pairs; 0 where the scheme has none.
    pub merges: u32,
    pub words: bool,
    /// Width of the embedding (d).
    pub width: u32,
    /// Tokens in each row of a batch (T).
    pub window: u32,
}

questions! {
    Tokens:
    /// A sentence in all schemes, the byte pairs after `merges` merges.
    Levels { sentence: String, merges: u32, words: bool } -> Levels,
    /// The embedding, and the row of one token looked up and multiplied out.
    Embedding { token: u32 } -> Embedding,
    /// `around` tokens of the text from `first` on, and the examples of the window at `at`.
    Window { at: u32, first: u32, around: u32 } -> Window,
    /// What the model makes of a sentence, token by token.
    Chain { sentence: String } -> Chain,
}

/// One token of a piece of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    pub id: u32,
    /// What is written for it. A byte that is no character on its own is written `⟨C3⟩`.
    pub text: String,
    /// Bytes of the text it covers; 0 for the end token.
    pub bytes: u32,
    /// Whether it is the end token.
    pub end: bool,
    /// The character the vocabulary lacks, where it stands for one.
    pub unknown: Option<char>,
}

/// A sentence in one scheme.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// An end token after each line.
    pub pieces: Vec<Piece>,
    /// Size of the vocabulary (V), the end token included.
    pub vocabulary: u32,
    /// Tokens of the whole text, its end tokens included.
    pub text_tokens: u64,
    /// The sentence put together again from its tokens alone.
    pub decoded: String,
}

/// A pair of tokens that is one token from then on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Merge {
    /// Id of the new token.
    pub id: u32,
    pub left: String,
    pub right: String,
    /// How often the pair was merged in the text: the text has so many tokens less.
    pub count: u64,
}

/// A sentence in all schemes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    pub characters: Level,
    pub bytes: Level,
    pub pairs: Level,
    /// The merges made, in order.
    pub merges: Vec<Merge>,
    /// The merge that comes next; `None` where no pair occurs twice, or at the last one.
    pub next: Option<Merge>,
    /// Tokens the sentence will have after it, its end tokens included.
    pub sentence_next: u32,
    /// Bytes of the text the merges are learnt from.
    pub text_bytes: u64,
}

/// The trained table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// Every token as text, by id.
    pub vocabulary: Vec<String>,
    /// How often each occurs in the text.
    pub counts: Vec<u32>,
    /// The token asked about, or the nearest there is.
    pub token: u32,
    /// E, `[V, d]`.
    pub table: Array,
    /// Row `token` of E, picked.
    pub row: Vec<f32>,
    /// One-hot vector of `token` times E, multiplied out.
    pub product: Vec<f32>,
    /// The rows in the plane that keeps most of their spread, `[V, 2]`.
    pub map: Array,
    /// Share of the spread that the plane's two axes keep.
    pub share: [f32; 2],
}

/// A stretch of the text with a window on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The stretch, from token `first` of the text on.
    pub pieces: Vec<Piece>,
    pub first: u32,
    /// Where the window begins; at most `last`.
    pub at: u32,
    /// The last place it can begin.
    pub last: u32,
    /// Tokens in the window (T).
    pub length: u32,
    /// The window's inputs and the one token after them, T + 1 in all.
    pub row: Vec<Piece>,
    /// P(target | input) of each of the T examples, by the model as it is.
    pub probabilities: Vec<f32>,
    /// Rows of one training step.
    pub rows: u32,
}

/// A sentence as a product of probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// x_0 (the end token before it), x_1, ..., the last an end token.
    pub pieces: Vec<Piece>,
    /// ln p(x_t | x_(t-1)) for t = 1, 2, ...
    pub log_probabilities: Vec<f32>,
    /// Size of the vocabulary (V).
    pub vocabulary: u32,
    /// Characters of the sentence, line breaks aside.
    pub characters: u32,
}
