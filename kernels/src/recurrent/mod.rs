//! A recurrent cell over a whole sequence: forward, and backpropagation through time.
//!
//! All rows of a step are stored together, in the order of positions even if the cell reads
//! backward: `[T * batch, width]`. The forward pass takes one product with U per step, the backward
//! pass one with its transpose; the gradient with respect to U is a single product over all steps
//! at the end.

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

/// The shape of a sequence and how to read it.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    pub rule: Rule,
    pub batch: usize,
    pub steps: usize,
    /// Units, H.
    pub hidden: usize,
    /// Width of the output that is fed back: the projection's width for an LSTM that has one, else
    /// H.
    pub output: usize,
    /// Whether the cell reads from the end to the start.
    pub backward: bool,
    /// Whether an LSTM projects its output.
    pub projected: bool,
    /// The gradient is cut every so many steps (truncated backpropagation through time).
    pub truncation: Option<usize>,
}

/// Inputs of a sequence. Those that the rule does not use are empty.
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

/// What the backward pass needs besides the states, for each step.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// `[T * batch, gates * H]`; empty for Elman's cells, whose state is their only gate.
    gates: Vec<f32>,
    /// `c_t` and its tanh, `[T * batch, H]`.
    cells: Vec<f32>,
    squashed: Vec<f32>,
    /// `o * tanh(c_t)` before a projection, `[T * batch, H]`.
    unprojected: Vec<f32>,
    /// `U h + b_hn` of PyTorch's GRU, or `r * h` of Cho's, `[T * batch, H]`.
    reset: Vec<f32>,
}

/// Gradients with respect to the inputs, each of its input's length.
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
    /// The position that is read after `count` others.
    fn place(&self, count: usize) -> usize {
        if self.backward { self.steps - 1 - count } else { count }
    }

    /// The position read before that one; `None` for the first.
    fn place_before(&self, count: usize) -> Option<usize> {
        count.checked_sub(1).map(|count| self.place(count))
    }

    /// The columns of U that multiply the state in one product: all of them, or r's and z's in
    /// Cho's GRU.
    fn at_once<'a>(&self, recurrent: &'a [f32]) -> View<'a> {
        let columns = self.rule.gates() * self.hidden;
        let all = View::rows(recurrent, [self.output, columns]);
        if self.rule == Rule::ChoGru { all.first_columns(2 * self.hidden) } else { all }
    }

    /// The candidate's columns of U in Cho's GRU.
    fn candidate<'a>(&self, recurrent: &'a [f32]) -> View<'a> {
        let columns = 3 * self.hidden;
        View {
            values: &recurrent[2 * self.hidden..],
            shape: [self.hidden, self.hidden],
            strides: [columns, 1],
        }
    }
}
