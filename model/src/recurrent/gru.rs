//! The gated recurrent unit, in PyTorch's form and in that of Cho et al. 2014.

use burn::tensor::Tensor;

use super::{Gate, State, Weights, watch::Watch};
use crate::fused::{
    product,
    recurrent::{sigmoid, tanh},
};

/// PyTorch's GRU: `n = tanh(W x + b_n + r * (U h + b_hn))`. The reset gate acts after the product,
/// so that all three blocks share one product.
pub(super) fn step(weights: &Weights, input: Tensor<2>, state: State, watch: &mut Watch) -> State {
    let [_, width] = input.dims();
    let hidden = width / 3;
    let from_state = product(state.hidden.clone(), weights.recurrent.clone());
    let sums = watch
        .sum(input.clone().narrow(1, 0, 2 * hidden), from_state.clone().narrow(1, 0, 2 * hidden));
    let (reset, update) = reset_and_update(sums, watch);
    let before_reset = from_state.narrow(1, 2 * hidden, hidden);
    let before_reset = match &weights.candidate_bias {
        Some(bias) => before_reset + bias.clone(),
        None => before_reset,
    };
    watch.before_reset(&before_reset);
    let sum = watch.sum(input.narrow(1, 2 * hidden, hidden), reset * before_reset);
    mix(sum, update, state, watch)
}

/// Cho's GRU: `n = tanh(W x + b_n + U (r * h))`. The reset gate must be known before the
/// candidate's product, so there are two products.
pub(super) fn cho_step(
    weights: &Weights,
    input: Tensor<2>,
    state: State,
    watch: &mut Watch,
) -> State {
    let [_, width] = input.dims();
    let hidden = width / 3;
    let sums = watch.sum(
        input.clone().narrow(1, 0, 2 * hidden),
        product(state.hidden.clone(), weights.recurrent.clone()),
    );
    let (reset, update) = reset_and_update(sums, watch);
    let candidate = weights.candidate.as_ref().expect("Cho's GRU has its candidate's U apart");
    let sum = watch.sum(
        input.narrow(1, 2 * hidden, hidden),
        product(reset * state.hidden.clone(), candidate.clone()),
    );
    mix(sum, update, state, watch)
}

fn reset_and_update(sums: Tensor<2>, watch: &mut Watch) -> (Tensor<2>, Tensor<2>) {
    let [_, width] = sums.dims();
    let hidden = width / 2;
    let opened = sigmoid(sums);
    let reset = watch.gate(Gate::Reset, opened.clone().narrow(1, 0, hidden));
    (reset, watch.gate(Gate::Update, opened.narrow(1, hidden, hidden)))
}

/// `h_t = (1 - z) * n + z * h_(t-1)`. This form keeps `h` to the last bit where z is 1, unlike the
/// cheaper `n + z * (h - n)`.
fn mix(sum: Tensor<2>, update: Tensor<2>, state: State, watch: &mut Watch) -> State {
    let candidate = watch.gate(Gate::Candidate, tanh(sum));
    let hidden = (update.clone().neg() + 1.0) * candidate + update * state.hidden;
    State { hidden: watch.hidden(hidden), cell: None }
}
