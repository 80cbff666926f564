//! `bigram`: predicting the next character by counting pairs and by training a table of logits.

use serde::{Deserialize, Serialize};

use crate::{
    Array,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

/// Most tokens along a side of the matrix.
pub const MOST_SHOWN: u32 = 60;
/// Most characters drawn.
pub const MOST_DRAWN: u32 = 60;
/// Most pairs of a sentence that are scored one by one.
pub const MOST_TERMS: usize = 120;
/// Largest constant that smoothing may add to every count.
pub const MOST_ADDED: f32 = 10_000.0;
/// In [`Settings::row`] and [`Settings::next`]: nothing is selected.
pub const NONE: u32 = 0;

choice! {
    /// What the matrix shows of each pair.
    View {
        Counts = "counts", "Counted";
        Smoothed = "smoothed", "Smoothed";
        Trained = "trained", "Trained";
        /// Trained minus counted.
        Difference = "difference", "Trained − counted";
    }
}

choice! {
    /// The order of the tokens along both sides of the matrix.
    Order {
        Frequent = "frequent", "Frequent first";
        Alphabetical = "alphabetical", "Alphabetical";
    }
}

choice! {
    /// One of the three estimates of P(next | current).
    Estimate {
        Counts = "counts", "Raw counts";
        Smoothed = "smoothed", "Smoothed counts";
        Trained = "trained", "Trained table";
    }
}

choice! {
    /// Which text is scored pair by pair.
    Scored {
        Sentence = "sentence", "My sentence";
        Written = "written", "What was drawn";
    }
}

/// What a link says about the chapter. Tokens are named by the code point of their character, so
/// that a selection means the same for any text.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub view: View,
    pub order: Order,
    /// Tokens along a side of the matrix.
    pub shown: u32,
    /// Added to every count.
    pub k: f32,
    /// The token whose row is pinned; with [`NONE`] the page chooses an informative one.
    pub row: u32,
    /// The token whose arithmetic in the pinned row is spelled out; [`NONE`] is the likeliest.
    pub next: u32,
    /// The estimate that letters are drawn from.
    pub from: Estimate,
    /// Letters drawn so far.
    pub drawn: u32,
    /// Seed of the numbers that choose the letters; the model has its own seed.
    pub dice: u32,
    pub scored: Scored,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            view: View::Counts,
            order: Order::Frequent,
            shown: MOST_SHOWN,
            k: 1.0,
            row: NONE,
            next: NONE,
            from: Estimate::Counts,
            drawn: 0,
            dice: 1,
            scored: Scored::Sentence,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed }
    }
}

/// The last code point there is.
const LAST_CODE_POINT: u32 = char::MAX as u32;

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Bigram, "bigram-view", "Matrix shows", bigram.view: View,
        "Which estimate of “what comes next” the matrix shows."),
    chosen!(of Bigram, "bigram-order", "Order", bigram.order: Order,
        "The order of the characters along both sides."),
    plain!(of Bigram, "bigram-shown", "Characters shown", bigram.shown: Whole,
        Kind::Whole { min: 2, max: MOST_SHOWN },
        "How many characters the matrix has room for: the most frequent ones."),
    plain!(of Bigram, "bigram-k", "Smoothing k", bigram.k: Real,
        Kind::Real { min: 0.0, max: MOST_ADDED },
        "Added to every count before dividing: as if each pair had been seen k times more."),
    plain!(of Bigram, "bigram-row", "Row pinned", bigram.row: Whole,
        Kind::Whole { min: NONE, max: LAST_CODE_POINT },
        "The character whose followers are listed, by its code point; 0 leaves it to the page."),
    plain!(of Bigram, "bigram-next", "Cell pinned", bigram.next: Whole,
        Kind::Whole { min: NONE, max: LAST_CODE_POINT },
        "The following character whose arithmetic is spelled out, by its code point; 0 is the \
         likeliest."),
    chosen!(of Bigram, "bigram-from", "Draw from", bigram.from: Estimate,
        "Whose probabilities the next letter is drawn with."),
    plain!(of Bigram, "bigram-drawn", "Letters drawn", bigram.drawn: Whole,
        Kind::Whole { min: 0, max: MOST_DRAWN },
        "How many letters have been drawn."),
    plain!(of Bigram, "bigram-dice", "Seed of the draws", bigram.dice: Whole,
        Kind::Whole { min: 0, max: u32::MAX },
        "Start of the random numbers that choose the letters: the same seed draws the same."),
    chosen!(of Bigram, "bigram-scored", "Score", bigram.scored: Scored,
        "The text whose surprise is spelled out pair by pair."),
];

/// What determines every number, together with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Seed of the table's initial logits.
    pub seed: u32,
}

/// P(next | current) by counting, `(count + k) / (total + k V)`: k = 0 is the observed share, k = 1
/// Laplace's rule of succession. `None` is 0 / 0: k = 0 and a token that nothing ever followed.
pub fn smoothed(count: u32, total: u32, k: f64, vocabulary: usize) -> Option<f64> {
    let whole = f64::from(total) + k * vocabulary as f64;
    (whole > 0.0).then(|| (f64::from(count) + k) / whole)
}

questions! {
    Bigram:
    /// The `most` most frequent tokens against each other.
    Matrix { order: Order, most: u32 } -> Matrix,
    /// All that may follow the token with this code point, or, for [`NONE`] and for characters the
    /// text lacks, a token that is followed by few others.
    Row { character: u32 } -> Row,
    /// The mean surprise of each estimate.
    Scores { k: f32 } -> Scores,
    /// The surprise of smoothed counts as a function of k.
    Curve {} -> Curve,
    /// A text scored pair by pair.
    Sentence { text: String, k: f32 } -> Sentence,
    /// The text after `drawn` draws, and the next draw.
    Writing { from: Estimate, k: f32, dice: u32, drawn: u32 } -> Writing,
}

/// A block of the table for n tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// Ids of the tokens along both sides, `[n]`.
    pub ids: Vec<u32>,
    /// How often the column's token followed the row's, `[n, n]`.
    pub counts: Vec<u32>,
    /// How often anything, including tokens not shown, followed the row's token, `[n]`.
    pub totals: Vec<u32>,
    /// Softmax of the trained logits over the whole vocabulary, `[n, n]`.
    pub trained: Array,
}

/// One row of the table, over the whole vocabulary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub id: u32,
    /// How often anything followed it.
    pub total: u32,
    /// Pairs in the training text.
    pub pairs: u64,
    /// How often each token followed it, `[V]`.
    pub counts: Vec<u32>,
    /// The trained table's row, `[V]`.
    pub logits: Vec<f32>,
    /// Its softmax, `[V]`.
    pub trained: Vec<f32>,
}

/// Mean surprise on two texts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub training: f64,
    /// Infinite where a pair has probability 0; `None` if nothing is held out.
    pub held_out: Option<f64>,
}

/// A pair of the held-out text that never occurs in the training text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    pub previous: u32,
    pub next: u32,
    /// How often it occurs in the held-out text.
    pub count: u32,
}

/// The distance between the trained table and the observed shares, over all rows that have one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// Largest absolute difference of two probabilities, and its pair.
    pub largest: f64,
    pub previous: u32,
    pub next: u32,
    /// Mean absolute difference.
    pub mean: f64,
    /// Mean Kullback-Leibler divergence of the trained row from the observed one, each row weighted
    /// by how often it occurs: the trained table's training loss exceeds the counts' by this much.
    pub divergence: f64,
    /// The lowest logit of a pair that was never seen, and the pair; 0 if every pair was seen. It
    /// keeps falling: its gradient is its probability, which is never 0.
    pub lowest: f64,
    pub lowest_previous: u32,
    pub lowest_next: u32,
}

/// The mean surprise of each estimate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// ln V.
    pub uniform: f64,
    pub counts: Score,
    pub smoothed: Score,
    pub trained: Score,
    pub gap: Gap,
    pub training_pairs: u64,
    pub held_out_pairs: u64,
    /// Number of distinct held-out pairs never seen in training; the most frequent are listed
    /// below.
    pub unseen_kinds: u32,
    /// Number of held-out pairs that are among those.
    pub unseen_pairs: u64,
    pub unseen: Vec<Unseen>,
}

/// Mean surprise of smoothed counts at one k.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    pub k: f64,
    pub training: f64,
    /// `None` if nothing is held out.
    pub held_out: Option<f64>,
}

/// Mean surprise as a function of k.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// k = 0: the raw counts.
    pub raw: CurvePoint,
    /// Ascending in k, about evenly spaced on a logarithmic axis.
    pub points: Vec<CurvePoint>,
    /// The k with the least surprise on held-out text, if there is any.
    pub best: Option<CurvePoint>,
}

/// One pair of a text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    pub previous: u32,
    pub next: u32,
    pub count: u32,
    pub total: u32,
    /// The three probabilities; 0 if nothing ever followed `previous`.
    pub counts: f64,
    pub smoothed: f64,
    pub trained: f64,
}

/// A text, pair by pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sentence {
    /// At most [`MOST_TERMS`].
    pub terms: Vec<Term>,
    /// Number of pairs beyond those.
    pub left_out: u32,
    /// Characters that the training text lacks, each once.
    pub unknown: Vec<String>,
    /// Mean surprise over the terms.
    pub counts: f64,
    pub smoothed: f64,
    pub trained: f64,
    /// ln V.
    pub uniform: f64,
}

/// A token with its segment of the interval from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    pub id: u32,
    /// Sum of the probabilities before it.
    pub from: f64,
    /// The same including its own.
    pub to: f64,
}

/// One draw.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    pub previous: u32,
    /// Uniform on 0 to 1; depends on the seed and the position alone.
    pub number: f64,
    /// The segment that contains it, whose token is written.
    pub segment: Segment,
}

/// A text being drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Writing {
    /// The token before the first draw, not written.
    pub start: u32,
    /// What was drawn so far, in order.
    pub draws: Vec<Draw>,
    /// The next draw; `None` if nothing ever followed the present token, so that raw counts can't
    /// continue.
    pub next: Option<Draw>,
    /// The distribution it is drawn from, likeliest first, without tokens of probability 0.
    pub segments: Vec<Segment>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_is_add_k() {
        assert_eq!(smoothed(96, 97, 0.0, 50), Some(96.0 / 97.0));
        assert_eq!(smoothed(96, 97, 1.0, 50), Some(97.0 / 147.0));
        assert_eq!(smoothed(0, 0, 0.0, 50), None);
        assert_eq!(smoothed(0, 0, 0.5, 50), Some(0.02));
        let row = [3, 0, 7, 1];
        let sum: f64 = row.iter().map(|&c| smoothed(c, 11, 0.3, 4).unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}
