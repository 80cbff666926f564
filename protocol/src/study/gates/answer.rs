//! Answers of the chapter's model.

use serde::{Deserialize, Serialize};

use super::{CellChoice, Quantity};
use crate::Array;

/// What is known at each step of a string without a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Followed {
    /// The number of open brackets after the character.
    Depth,
    /// 1 inside a quotation, 0 outside.
    Quotation,
}

/// Probabilities of the likeliest and the right answer after one character.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guess {
    pub likeliest: u32,
    pub probability: f32,
    /// Probability of the right answer, if there is one.
    pub right: Option<f32>,
}

/// See [`ask::Seen`](super::ask::Seen). Arrays are `[units, T]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub cell: CellChoice,
    /// Number of optimizer steps taken.
    pub step: u32,
    /// The characters read; an unknown one is `U+FFFD`.
    pub tokens: Vec<String>,
    /// Their ids, by which W has its columns.
    pub ids: Vec<u32>,
    /// Characters left out at the end.
    pub dropped: u32,
    pub quantity: Quantity,
    pub values: Array,
    /// The two parts of a value: `W x + b` and what the state adds to it for a gate's sum; `i * g`
    /// and `f * c` (previous c) for c; `(1 - z) * n` and `z * h` (previous h) for a GRU's h; the
    /// factors o and tanh(c) for an LSTM's h. A projected output has none.
    pub from_input: Option<Array>,
    pub from_state: Option<Array>,
    /// The state that remembers: c, or a GRU's h.
    pub memory: Array,
    /// The same with no gate held, if any is.
    pub free_memory: Option<Array>,
    /// The name of each answer.
    pub answers: Vec<String>,
    /// The right answer after each character, where there is one.
    pub right: Vec<Option<u32>>,
    pub guesses: Vec<Guess>,
    /// The same with no gate held, if any is.
    pub free_guesses: Option<Vec<Guess>>,
    /// Mean -ln p(right answer), if any is known.
    pub loss: Option<f32>,
    pub free_loss: Option<f32>,
    /// What a unit could follow on these characters, one number for each character.
    pub followed: Vec<(Followed, Vec<f32>)>,
    /// The cells of `values` that are held: unit and step, from 0.
    pub held: Vec<(u32, u32)>,
    /// Why some of the requested gates are not held, as sentences.
    pub left_out: Vec<String>,
}

/// One product of a sum: `weight * value`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The unit whose value it is, from 0.
    pub unit: u32,
    pub weight: f32,
    pub value: f32,
}

/// A gate's sum, `W x + b + from_state`, and its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateSum {
    pub gate: Quantity,
    /// W's entry for the character: x is one-hot, so this is all of `W x`.
    pub weight: f32,
    pub bias: f32,
    /// The largest products of U h (in Cho's candidate of U (r * h)), largest first.
    pub terms: Vec<Term>,
    /// The sum of all other products, and their number.
    pub rest: f32,
    pub others: u32,
    /// b_hn of PyTorch's candidate, added to U h.
    pub state_bias: Option<f32>,
    /// r of PyTorch's candidate, which multiplies U h + b_hn.
    pub reset: Option<f32>,
    pub from_state: f32,
    pub sum: f32,
    /// After the non-linearity, or as held.
    pub value: f32,
    pub held: bool,
}

/// See [`ask::Sums`](super::ask::Sums).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    pub cell: CellChoice,
    pub token: String,
    pub unit: u32,
    pub at: u32,
    /// In the order of [`CellChoice::quantities`].
    pub gates: Vec<GateSum>,
    /// c, or a GRU's h, before and after the step.
    pub before: f32,
    pub after: f32,
    /// o * tanh(c) of an LSTM.
    pub hidden: Option<f32>,
    /// For a projection: the largest products that make up the output of the same number, the sum
    /// of all others, and the output itself. `None` without a projection, or beyond its width.
    pub projected: Option<(Vec<Term>, f32, f32)>,
}

/// See [`ask::Units`](super::ask::Units). One number for each unit, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Units {
    pub cell: CellChoice,
    pub step: u32,
    /// Number of characters it was measured on.
    pub characters: u32,
    /// Correlation of the memory with everything that varies on these characters; 0 for a unit that
    /// does not vary.
    pub follows: Vec<(Followed, Vec<f32>)>,
    /// Mean of each gate that opens and shuts.
    pub means: Vec<(Quantity, Vec<f32>)>,
    /// Steps until less than 1/e of a change of the unit's memory is left;
    /// [`longest`](Self::longest) for a unit that holds it longer.
    pub memory: Vec<f32>,
    pub longest: u32,
}

/// How good the predictions for one sentence are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Mean -ln p(right answer).
    pub loss: f32,
    /// How many likeliest answers are right, and how many answers there are.
    pub right: u32,
    pub asked: u32,
}

/// See [`ask::Shut`](super::ask::Shut).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shut {
    pub step: u32,
    pub gate: Quantity,
    /// The requested units.
    pub units: Vec<u32>,
    /// With nothing shut.
    pub free: Outcome,
    /// With the gate of each of `units` shut.
    pub outcomes: Vec<Outcome>,
}
