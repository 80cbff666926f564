//! `tokens`: how text becomes ids, and how ids select rows of a trained table.
//!
//! A *document* is a non-blank line of the text; line breaks become the end token. The model
//! predicts each token from the previous one alone.

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
        /// Bytes with their most frequent pairs merged.
        Pairs = "pairs", "Byte pairs";
    }
}

/// Most merges that are learned.
pub const MAX_MERGES: u32 = 300;

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The tokenization that the model reads.
    pub scheme: Scheme,
    /// Number of merges of byte pairs.
    pub merges: u32,
    /// Whether merges stay within words.
    pub words: bool,
    /// Width of a token's row (d).
    pub width: u32,
    /// Tokens in a row of training examples (T).
    pub window: u32,
    /// Where the shown window begins, in tokens of the text.
    pub at: u32,
    /// Id of the token whose row is shown, counted from 1; 0 is the sentence's first.
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
            // Merges do not affect a model that reads characters.
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
        "Token of the text at which the window shown begins."),
    plain!(of Tokens, "tokens-token", "Token shown", tokens.token: Whole,
        Kind::Whole { min: 0, max: 1000 },
        "Id, counted from 1, of the token whose row is shown; 0 is the sentence's first."),
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
    /// A sentence in all tokenizations, with byte pairs after `merges` merges.
    Levels { sentence: String, merges: u32, words: bool } -> Levels,
    /// The embedding, and the row of one token, looked up and multiplied out.
    Embedding { token: u32 } -> Embedding,
    /// `around` tokens of the text beginning at `first`, and the examples of the window at `at`.
    Window { at: u32, first: u32, around: u32 } -> Window,
    /// The model's predictions for a sentence, token by token.
    Chain { sentence: String } -> Chain,
}

/// One token of a piece of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    pub id: u32,
    /// Its written form. A byte that is not a character by itself is written as `⟨C3⟩`.
    pub text: String,
    /// Bytes of the text it covers; 0 for the end token.
    pub bytes: u32,
    /// Whether it is the end token.
    pub end: bool,
    /// The character it stands for, if the vocabulary lacks that character.
    pub unknown: Option<char>,
}

/// A sentence in one tokenization.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The tokens, with an end token after each line.
    pub pieces: Vec<Piece>,
    /// Size of the vocabulary (V), the end token included.
    pub vocabulary: u32,
    /// Number of tokens of the whole text, including end tokens.
    pub text_tokens: u64,
    /// The sentence decoded from its tokens.
    pub decoded: String,
}

/// A pair of tokens that is merged into one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Merge {
    /// Id of the new token.
    pub id: u32,
    pub left: String,
    pub right: String,
    /// How often the pair was merged in the text, which is the number of tokens saved.
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
    /// The next merge; `None` if no pair occurs twice, or after the last one.
    pub next: Option<Merge>,
    /// Number of the sentence's tokens after that merge, including end tokens.
    pub sentence_next: u32,
    /// Bytes of the text the merges are learned from.
    pub text_bytes: u64,
}

/// The trained table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// Every token as text, by id.
    pub vocabulary: Vec<String>,
    /// How often each occurs in the text.
    pub counts: Vec<u32>,
    /// The requested token, or the nearest there is.
    pub token: u32,
    /// E, `[V, d]`.
    pub table: Array,
    /// Row `token` of E, looked up.
    pub row: Vec<f32>,
    /// One-hot vector of `token` times E, multiplied out.
    pub product: Vec<f32>,
    /// The rows projected onto the plane that preserves most of their variance, `[V, 2]`.
    pub map: Array,
    /// Share of the variance along each of the plane's two axes.
    pub share: [f32; 2],
}

/// A stretch of the text with a window in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The stretch, beginning at token `first` of the text.
    pub pieces: Vec<Piece>,
    pub first: u32,
    /// Where the window begins; at most `last`.
    pub at: u32,
    /// The last position at which it can begin.
    pub last: u32,
    /// Tokens in the window (T).
    pub length: u32,
    /// The window's inputs and the one token after them, T + 1 in all.
    pub row: Vec<Piece>,
    /// P(target | input) of each of the T examples, by the present model.
    pub probabilities: Vec<f32>,
    /// Number of rows in one training step.
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
