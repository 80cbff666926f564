//! Long short-term memory as in Graves 2013, without peepholes, optionally with the projection of
//! Sak et al. 2014.

use burn::tensor::Tensor;

use super::{Gate, State, Weights, watch::Watch};
use crate::fused::{
    product,
    recurrent::{sigmoid, tanh},
};

/// `c_t = f * c_(t-1) + i * g`, `h_t = o * tanh(c_t)`; with a projection, `r_t = P h_t` replaces
/// `h_t`.
pub(super) fn step(weights: &Weights, input: Tensor<2>, state: State, watch: &mut Watch) -> State {
    let [input_gate, forget, candidate, output] = gates(weights, input, state.hidden, watch);
    let cell = state.cell.expect("an LSTM's state has a cell");
    let cell = watch.cell(forget * cell + input_gate * candidate);
    let value = output * tanh(cell.clone());
    let value = match &weights.projection {
        Some(projection) => {
            watch.unprojected(&value);
            product(value, projection.clone())
        }
        None => value,
    };
    State { hidden: watch.hidden(value), cell: Some(cell) }
}

/// i, f, g and o. `state` is `h_(t-1)`.
fn gates(
    weights: &Weights,
    input: Tensor<2>,
    state: Tensor<2>,
    watch: &mut Watch,
) -> [Tensor<2>; 4] {
    let sums = watch.sum(input, product(state, weights.recurrent.clone()));
    let [_, width] = sums.dims();
    let hidden = width / 4;
    // Two adjacent blocks with the same non-linearity: one operation for both.
    let opened = sigmoid(sums.clone().narrow(1, 0, 2 * hidden));
    let input_gate = watch.gate(Gate::Input, opened.clone().narrow(1, 0, hidden));
    let forget = watch.gate(Gate::Forget, opened.narrow(1, hidden, hidden));
    let candidate = watch.gate(Gate::Candidate, tanh(sums.clone().narrow(1, 2 * hidden, hidden)));
    let output = watch.gate(Gate::Output, sigmoid(sums.narrow(1, 3 * hidden, hidden)));
    [input_gate, forget, candidate, output]
}

/// `c_t` of all steps, `[T * batch, hidden]`, where `h_(t-1)` of all of them is known: the gates don't
/// depend on the cell, so only `f * c + i * g` goes step by step. `cell` is that before the first one.
pub(super) fn cells(
    weights: &Weights,
    input: Tensor<2>,
    previous: Tensor<2>,
    mut cell: Tensor<2>,
    backward: bool,
) -> Tensor<2> {
    let [input_gate, forget, candidate, _] = gates(weights, input, previous, &mut Watch::default());
    let ([rows, _], [batch, _]) = (forget.dims(), cell.dims());
    let written = input_gate * candidate;
    let mut cells = Vec::with_capacity(rows / batch);
    for count in 0..rows / batch {
        let at = if backward { rows - (count + 1) * batch } else { count * batch };
        let here = |all: &Tensor<2>| all.clone().narrow(0, at, batch);
        cell = here(&forget) * cell + here(&written);
        cells.push(cell.clone());
    }
    if backward {
        cells.reverse();
    }
    Tensor::cat(cells, 0)
}
