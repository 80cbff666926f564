//! A recurrent cell over a whole sequence, forwards, and backwards through time.
//!
//! All rows of a step lie together, step by step in the order of positions, whichever way the cell
//! goes: `[T * batch, width]`. Forwards there is one product with U for each step, backwards one
//! with its transpose; the gradient of U is one product over all steps at the end.

mod backward;
mod forward;
#[cfg(test)]
mod tests;

use super::matmul::View;

pub(super) use forward::gru_row;

/// What a cell computes; `unroll_model::CellKind` has the formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    ElmanTanh,
    ElmanSigmoid,
    Lstm,
    Gru,
    ChoGru,
}

impl Rule {
    pub fn gates(self) -> usize {
        match self {
            Self::ElmanTanh | Self::ElmanSigmoid => 1,
            Self::Gru | Self::ChoGru => 3,
            Self::Lstm => 4,
        }
    }
}

/// A sequence and how to go through it.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    pub rule: Rule,
    pub batch: usize,
    pub steps: usize,
    /// Units, H.
    pub hidden: usize,
    /// Width of what is put out and fed back: that of an LSTM's projection if it has one, or H.
    pub output: usize,
    /// From the end to the start.
    pub backward: bool,
    /// Of an LSTM.
    pub projected: bool,
    /// No gradient goes back from one so many steps to those before.
    pub truncation: Option<usize>,
}

/// What a sequence is computed from. What a rule does not have is empty.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `W x + b`, `[T * batch, gates * H]`.
    pub input: &'a [f32],
    /// U, `[output, gates * H]`.
    pub recurrent: &'a [f32],
    /// `b_hn` of PyTorch's GRU, `[H]`.
    pub candidate_bias: &'a [f32],
    /// `[H, output]`
    pub projection: &'a [f32],
    /// `[batch, output]`
    pub initial: &'a [f32],
    /// `[batch, H]`
    pub initial_cell: &'a [f32],
}

/// What the way back needs besides the states, for each step.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// `[T * batch, gates * H]`, but for Elman's cells, whose state is their gate.
    gates: Vec<f32>,
    /// `c_t` and its tanh, `[T * batch, H]`.
    cells: Vec<f32>,
    squashed: Vec<f32>,
    /// `o * tanh(c_t)` before a projection, `[T * batch, H]`.
    unprojected: Vec<f32>,
    /// `U h + b_hn` of PyTorch's GRU, or `r * h` of Cho's, `[T * batch, H]`.
    reset: Vec<f32>,
}

/// Derivatives, as long as what they are by.
#[derive(Clone, Debug)]
pub struct Gradients {
    pub input: Vec<f32>,
    pub recurrent: Vec<f32>,
    pub candidate_bias: Vec<f32>,
    pub projection: Vec<f32>,
    pub initial: Vec<f32>,
    pub initial_cell: Vec<f32>,
}

impl Sequence {
    /// The position the step after `count` others is at.
    fn place(&self, count: usize) -> usize {
        if self.backward { self.steps - 1 - count } else { count }
    }

    /// The position before that, in the order of going; none before the first.
    fn place_before(&self, count: usize) -> Option<usize> {
        count.checked_sub(1).map(|count| self.place(count))
    }

    /// U as a rule multiplies it at once: all of it, or of Cho's GRU r's and z's columns.
    fn at_once<'a>(&self, recurrent: &'a [f32]) -> View<'a> {
        let columns = self.rule.gates() * self.hidden;
        let all = View::rows(recurrent, [self.output, columns]);
        if self.rule == Rule::ChoGru { all.first_columns(2 * self.hidden) } else { all }
    }

    /// The candidate's columns of Cho's U.
    fn candidate<'a>(&self, recurrent: &'a [f32]) -> View<'a> {
        let columns = 3 * self.hidden;
        View {
            values: &recurrent[2 * self.hidden..],
            shape: [self.hidden, self.hidden],
            strides: [columns, 1],
        }
    }
}
