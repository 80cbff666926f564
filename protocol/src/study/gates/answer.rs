//! What the chapter's model answers.

use serde::{Deserialize, Serialize};

use super::{CellChoice, Quantity};
use crate::Array;

/// What is known at each step of a string without any model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Followed {
    /// How many brackets are open after the character.
    Depth,
    /// 1 inside a quotation, 0 outside.
    Quotation,
}

/// What the likeliest answer and the right one are thought to be after one character.
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
    /// Optimizer steps taken.
    pub step: u32,
    /// The characters read; one that the model never met is `U+FFFD`.
    pub tokens: Vec<String>,
    /// Characters left out at the end.
    pub dropped: u32,
    pub quantity: Quantity,
    pub values: Array,
    /// The two parts that make a value. Of a gate's sum `W x + b` and what the state adds to it; of
    /// c `i * g` and `f * c` before; of a GRU's h `(1 - z) * n` and `z * h` before; of an LSTM's h
    /// the factors o and tanh(c). A projected output has none.
    pub from_input: Option<Array>,
    pub from_state: Option<Array>,
    /// What remembers: c, or a GRU's h.
    pub memory: Array,
    /// The same without force, if any gate is held.
    pub free_memory: Option<Array>,
    /// What the answers are called.
    pub answers: Vec<String>,
    /// The right answer after each character, where there is one.
    pub right: Vec<Option<u32>>,
    pub guesses: Vec<Guess>,
    /// The same without force, if any gate is held.
    pub free_guesses: Option<Vec<Guess>>,
    /// Mean -ln p(right answer), if any is known.
    pub loss: Option<f32>,
    pub free_loss: Option<f32>,
    /// What a unit could follow on these characters, one number each.
    pub followed: Vec<(Followed, Vec<f32>)>,
    /// The cells of `values` that are held, unit and step from 0.
    pub held: Vec<(u32, u32)>,
    /// Why some of the gates asked for are not held, as sentences.
    pub left_out: Vec<String>,
}

/// One product of a sum: `weight * value`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The unit the value is of, from 0.
    pub unit: u32,
    pub weight: f32,
    pub value: f32,
}

/// A gate's sum, `W x + b + from_state`, and what it made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateSum {
    pub gate: Quantity,
    /// W's entry for the character: x is one-hot, so this is all of `W x`.
    pub weight: f32,
    pub bias: f32,
    /// The largest products of U h (in Cho's candidate of U (r * h)), largest first.
    pub terms: Vec<Term>,
    /// The sum of all other products, and how many they are.
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
    /// Of the projection, the largest products that make the output of the same number, the sum of
    /// all others, and the output itself; `None` without projection, or past its width.
    pub projected: Option<(Vec<Term>, f32, f32)>,
}

/// See [`ask::Units`](super::ask::Units). One number for each unit, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Units {
    pub cell: CellChoice,
    pub step: u32,
    /// Characters it was measured on.
    pub characters: u32,
    /// Correlation of the memory with each thing that varies on these characters; 0 for a unit
    /// that does not vary.
    pub follows: Vec<(Followed, Vec<f32>)>,
    /// Mean of each gate that opens and shuts.
    pub means: Vec<(Quantity, Vec<f32>)>,
    /// Steps until less than 1/e of a change of the unit's memory is left in it;
    /// [`longest`](Self::longest) for a unit that holds it longer.
    pub memory: Vec<f32>,
    pub longest: u32,
}

/// How well the predictions for one sentence do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Mean -ln p(right answer).
    pub loss: f32,
    /// Answers whose likeliest is the right one, of so many.
    pub right: u32,
    pub asked: u32,
}

/// See [`ask::Shut`](super::ask::Shut).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shut {
    pub step: u32,
    pub gate: Quantity,
    /// As asked for.
    pub units: Vec<u32>,
    /// With nothing shut.
    pub free: Outcome,
    /// With the gate of each of `units` shut.
    pub outcomes: Vec<Outcome>,
}
