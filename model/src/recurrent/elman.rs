//! The simple recurrent network (Elman 1990).

use burn::tensor::Tensor;

use super::{Activation, Gate, State, Weights, watch::Watch};
use crate::fused::{
    product,
    recurrent::{sigmoid, tanh},
};

/// `s_t = f(W x_t + U s_(t-1) + b)`
pub(super) fn step(
    activation: Activation,
    weights: &Weights,
    input: Tensor<2>,
    state: State,
    watch: &mut Watch,
) -> State {
    let sum = watch.sum(input, product(state.hidden, weights.recurrent.clone()));
    let value = match activation {
        Activation::Tanh => tanh(sum),
        Activation::Sigmoid => sigmoid(sum),
    };
    let hidden = watch.gate(Gate::State, value);
    State { hidden: watch.hidden(hidden), cell: None }
}
