//! Recurrent networks as few operations: whole sequences, a decoder with attention, and the
//! building blocks of the step-by-step version.
//!
//! Whole sequences exist only on devices with [kernels](has_kernels); elsewhere, and where steps
//! are changed or have gradients of their own, [`crate::recurrent`] and [`crate::seq2seq`] go step by step.

#![allow(
    clippy::too_many_arguments,
    reason = "operations on primitives take every tensor by itself"
)]

mod autodiff;
mod flex;
#[cfg(test)]
mod tests;

use burn::{
    backend::{
        Backend, Dispatch, backend_extension,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{Int, Tensor, activation},
};

use unroll_kernels::squash::Squash;

use super::has_kernels;
pub use unroll_kernels::recurrent::{Rule, Sequence};

/// The operations on burn's backend primitives. Shapes are those of the functions of this module.
#[backend_extension(Flex, Autodiff)]
trait Recurrent: Backend {
    fn squash(function: Squash, input: FloatTensor<Self>) -> FloatTensor<Self>;

    fn look_up(table: FloatTensor<Self>, rows: IntTensor<Self>) -> FloatTensor<Self>;

    fn sequence(
        sequence: Sequence,
        input: FloatTensor<Self>,
        recurrent: FloatTensor<Self>,
        candidate_bias: FloatTensor<Self>,
        projection: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        initial_cell: FloatTensor<Self>,
    ) -> FloatTensor<Self>;

    fn additive(
        queries: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        vector: FloatTensor<Self>,
        values: FloatTensor<Self>,
        padding: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);

    fn decode(
        input: FloatTensor<Self>,
        context_weight: FloatTensor<Self>,
        recurrent: FloatTensor<Self>,
        candidate_bias: FloatTensor<Self>,
        query_weight: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        vector: FloatTensor<Self>,
        values: FloatTensor<Self>,
        padding: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

/// `1 / (1 + exp(-x))`, with the derivative `y (1 - y)`.
pub fn sigmoid<const D: usize>(input: Tensor<D>) -> Tensor<D> {
    if !has_kernels(input.device()) {
        return with_derivative(input, activation::sigmoid, |y| y.clone() - y.clone() * y);
    }
    let output = <Dispatch as Recurrent>::squash(Squash::Sigmoid, input.into_dispatch());
    Tensor::from_dispatch(output)
}

/// The hyperbolic tangent, with the derivative `1 - y²`.
pub fn tanh<const D: usize>(input: Tensor<D>) -> Tensor<D> {
    if !has_kernels(input.device()) {
        return with_derivative(input, activation::tanh, |y| (y.clone() * y).neg() + 1.0);
    }
    Tensor::from_dispatch(<Dispatch as Recurrent>::squash(Squash::Tanh, input.into_dispatch()))
}

/// burn evaluates sigmoid and tanh again in the backward pass. Here the derivative is computed
/// while the value is available, and attached to a term that is exactly 0.
fn with_derivative<const D: usize>(
    input: Tensor<D>,
    function: fn(Tensor<D>) -> Tensor<D>,
    derivative: fn(Tensor<D>) -> Tensor<D>,
) -> Tensor<D> {
    if !input.is_tracked() {
        return function(input);
    }
    let x = input.clone().inner();
    let y = function(x.clone());
    let slope = derivative(y.clone());
    (input - x) * slope + y
}

/// Rows of a table.
///
/// # Shapes
///
/// - table: `[n, width]`
/// - rows: `[k]`
/// - output: `[k, width]`
///
/// # Panics
///
/// On the CPU, panics if there is no such row.
pub fn look_up(table: Tensor<2>, rows: Tensor<1, Int>) -> Tensor<2> {
    if !has_kernels(table.device()) {
        return table.select(0, rows);
    }
    let (table, rows) = (table.into_dispatch(), rows.into_dispatch());
    Tensor::from_dispatch(<Dispatch as Recurrent>::look_up(table, rows))
}

/// Inputs of a sequence besides `W x + b`; see the fields of [`Cell`](crate::recurrent::Cell).
pub struct Cells {
    /// U, `[output, gates * H]`.
    pub recurrent: Tensor<2>,
    /// `b_hn` of PyTorch's GRU, `[H]`.
    pub candidate_bias: Option<Tensor<1>>,
    /// P of an LSTM, `[H, output]`.
    pub projection: Option<Tensor<2>>,
    /// `[batch, output]`
    pub initial: Tensor<2>,
    /// c of an LSTM, `[batch, H]`.
    pub initial_cell: Option<Tensor<2>>,
}

/// Runs a cell over a whole sequence. Returns the states of all steps and the last `c_t` of an
/// LSTM. Works only on devices with [kernels](has_kernels).
///
/// # Shapes
///
/// - input, `W x + b`: `[T * batch, gates * H]`, the rows of a step together, in the order of
///   positions
/// - outputs: `[T * batch, output]` likewise, and `[batch, H]`
pub fn sequence(
    sequence: Sequence,
    input: Tensor<2>,
    cells: Cells,
) -> (Tensor<2>, Option<Tensor<2>>) {
    let Sequence { rule, batch, steps, hidden, output, .. } = sequence;
    assert_eq!(input.dims(), [steps * batch, rule.gates() * hidden], "a row for each sequence");
    assert_eq!(cells.recurrent.dims(), [output, rule.gates() * hidden], "U for all gates");
    assert_eq!(cells.initial.dims(), [batch, output], "a state for each sequence");
    let none = || Tensor::<1>::zeros([1], &input.device().inner());
    let candidate_bias = cells.candidate_bias.unwrap_or_else(none);
    let projection = cells.projection.unwrap_or_else(|| none().unsqueeze());
    let initial_cell = cells.initial_cell.unwrap_or_else(|| none().unsqueeze());
    let all = <Dispatch as Recurrent>::sequence(
        sequence,
        input.into_dispatch(),
        cells.recurrent.into_dispatch(),
        candidate_bias.into_dispatch(),
        projection.into_dispatch(),
        cells.initial.into_dispatch(),
        initial_cell.into_dispatch(),
    );
    let all = Tensor::<1>::from_dispatch(all);
    let states = steps * batch * output;
    if rule != Rule::Lstm {
        return (all.reshape([steps * batch, output]), None);
    }
    let cell = all.clone().narrow(0, states, batch * hidden).reshape([batch, hidden]);
    (all.narrow(0, 0, states).reshape([steps * batch, output]), Some(cell))
}

/// The result of additive attention. No gradient flows through scores and weights.
pub struct Additive {
    /// `[batch, T, E]`
    pub contexts: Tensor<3>,
    /// -inf at padding, `[batch, T, S]`.
    pub scores: Tensor<3>,
    /// `[batch, T, S]`
    pub weights: Tensor<3>,
}

/// Computes the scores `vᵀ tanh(q + k_j)`, their softmax over the source, and the mix of its
/// values. Works only on devices with [kernels](has_kernels).
///
/// # Shapes
///
/// - queries: `[batch, T, A]`
/// - keys: `[batch, S, A]`
/// - vector: `[A]`
/// - values: `[batch, S, E]`
/// - padding: `[batch, S]`, 0 or -inf
pub fn additive(
    queries: Tensor<3>,
    keys: Tensor<3>,
    vector: Tensor<1>,
    values: Tensor<3>,
    padding: Option<Tensor<2>>,
) -> Additive {
    let padding = padding_of(&keys, padding);
    let (contexts, scores, weights) = <Dispatch as Recurrent>::additive(
        queries.into_dispatch(),
        keys.into_dispatch(),
        vector.into_dispatch(),
        values.into_dispatch(),
        padding.into_dispatch(),
    );
    Additive {
        contexts: Tensor::from_dispatch(contexts),
        scores: Tensor::from_dispatch(scores),
        weights: Tensor::from_dispatch(weights),
    }
}

fn padding_of(keys: &Tensor<3>, padding: Option<Tensor<2>>) -> Tensor<2> {
    let [batch, length, _] = keys.dims();
    let padding = padding.unwrap_or_else(|| Tensor::zeros([batch, length], &keys.device().inner()));
    assert_eq!(padding.dims(), [batch, length], "whether each state is padding");
    padding
}

/// A GRU that attends to its source before every step. Works only on devices with
/// [kernels](has_kernels).
pub struct Decoder {
    /// `W_y y_(i-1) + b`, `[T * batch, 3H]`, the rows of a step together.
    pub input: Tensor<2>,
    /// `W_c`, `[E, 3H]`.
    pub context_weight: Tensor<2>,
    /// U, `[H, 3H]`.
    pub recurrent: Tensor<2>,
    /// `b_hn`, `[H]`.
    pub candidate_bias: Tensor<1>,
    /// `W_s`, `[H, A]`.
    pub query_weight: Tensor<2>,
    /// `s_0`, `[batch, H]`.
    pub initial: Tensor<2>,
    /// `W_h h_j`, `[batch, S, A]`.
    pub keys: Tensor<3>,
    /// v, `[A]`.
    pub vector: Tensor<1>,
    /// `h_j`, `[batch, S, E]`.
    pub values: Tensor<3>,
    /// 0 or -inf, `[batch, S]`.
    pub padding: Option<Tensor<2>>,
}

/// What a [`Decoder`] computed. No gradient flows through queries, scores and weights.
pub struct Decoded {
    /// `s_i` and `c_i` side by side, `[T * batch, H + E]`.
    pub both: Tensor<2>,
    /// `W_s s_(i-1)`, `[T * batch, A]`.
    pub queries: Tensor<2>,
    /// -inf at padding, `[T * batch, S]`.
    pub scores: Tensor<2>,
    /// `[T * batch, S]`
    pub weights: Tensor<2>,
}

impl Decoder {
    pub fn run(self) -> Decoded {
        let padding = padding_of(&self.keys, self.padding);
        let (both, queries, scores, weights) = <Dispatch as Recurrent>::decode(
            self.input.into_dispatch(),
            self.context_weight.into_dispatch(),
            self.recurrent.into_dispatch(),
            self.candidate_bias.into_dispatch(),
            self.query_weight.into_dispatch(),
            self.initial.into_dispatch(),
            self.keys.into_dispatch(),
            self.vector.into_dispatch(),
            self.values.into_dispatch(),
            padding.into_dispatch(),
        );
        Decoded {
            both: Tensor::from_dispatch(both),
            queries: Tensor::from_dispatch(queries),
            scores: Tensor::from_dispatch(scores),
            weights: Tensor::from_dispatch(weights),
        }
    }
}
