//! The operations composed of burn's own, for devices without kernels.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

use super::{EPSILON, SelfAttention};
use crate::norm::Norm;
use burn::{
    nn::{Embedding, Linear},
    tensor::{
        Int, Tensor,
        activation::{log_softmax, softmax},
    },
};

pub(super) fn product(left: Tensor<2>, right: Tensor<2>) -> Tensor<2> {
    left.matmul(right)
}

pub(super) fn linear(layer: &Linear, input: Tensor<2>) -> Tensor<2> {
    layer.forward(input)
}

pub(super) fn attend(
    queries: Tensor<4>,
    keys: Tensor<4>,
    values: Tensor<4>,
    bias: Option<Tensor<4>>,
    keep: Option<Tensor<4>>,
    scale: f32,
) -> (Tensor<4>, Tensor<4>) {
    // Scaling the queries instead of the scores touches T * d numbers instead of T * S.
    let queries = if scale == 1.0 { queries } else { queries * scale };
    let scores = queries.matmul(keys.swap_dims(2, 3));
    let scores = match bias {
        Some(bias) => scores + bias,
        None => scores,
    };
    let weights = softmax(scores, 3);
    let mixed = mix(weights.clone(), keep, values);
    (weights, mixed)
}

/// Weighted sum of values; `keep` applies dropout to the weights.
pub(super) fn mix(weights: Tensor<4>, keep: Option<Tensor<4>>, values: Tensor<4>) -> Tensor<4> {
    let weights = match keep {
        Some(keep) => weights * keep,
        None => weights,
    };
    weights.matmul(values)
}

pub(super) fn self_attention(
    [query, key, value, output]: [&Linear; 4],
    heads: usize,
    input: Tensor<3>,
    bias: Option<Tensor<4>>,
    keep: Option<Tensor<4>>,
    scale: f32,
) -> SelfAttention {
    let [batch, length, width] = input.dims();
    let shape = [batch, length, heads, width / heads];
    let [queries, keys, values] =
        [query, key, value].map(|layer| layer.forward(input.clone()).reshape(shape));
    let projected = Tensor::stack(vec![queries.clone(), keys.clone(), values.clone()], 2);
    let [queries, keys, values] = [queries, keys, values].map(|part| part.swap_dims(1, 2));
    let (weights, mixed) = super::elsewhere::attend(queries, keys, values, bias, keep, scale);
    let mixed = mixed.swap_dims(1, 2);
    SelfAttention {
        output: output.forward(mixed.clone().reshape([batch, length, width])),
        projected,
        weights,
        mixed,
    }
}

/// A product with one-hot vectors: on a GPU, the backward pass of a lookup is a sequential loop
/// over the tokens.
pub(super) fn embed(layer: &Embedding, tokens: Tensor<2, Int>) -> Tensor<3> {
    let weight = layer.weight.val();
    let ([batch, length], [vocabulary, width]) = (tokens.dims(), weight.dims());
    let all = Tensor::<1, Int>::arange(0..vocabulary as i64, &tokens.device());
    let rows = batch * length;
    let one_hot = tokens.reshape([rows, 1]).expand([rows, vocabulary]);
    let one_hot = one_hot.equal(all.reshape([1, vocabulary]).expand([rows, vocabulary])).float();
    one_hot.matmul(weight).reshape([batch, length, width])
}

pub(super) fn normalize<const D: usize>(layer: &Norm, input: Tensor<D>) -> Tensor<D> {
    let input = match layer.is_centered() {
        true => input.clone() - input.mean_dim(D - 1),
        false => input,
    };
    let square = (input.clone() * input.clone()).mean_dim(D - 1);
    let [gamma, beta] = layer.gain_and_bias().map(Tensor::unsqueeze);
    input / (square + EPSILON).sqrt() * gamma + beta
}

/// burn's own GELU is not used for two reasons. On GPUs its derivative is that of the tanh
/// approximation, not of what it computed. And it evaluates the error function again in the
/// backward pass; here the derivative `Φ(x) + x exp(-x²/2) / sqrt(2π)` is computed while Φ is
/// available, and attached to a term that is exactly 0.
pub(super) fn gelu<const D: usize>(input: Tensor<D>) -> Tensor<D> {
    let x = input.clone().inner();
    let phi = ((x.clone() * FRAC_1_SQRT_2).erf() + 1.0) * 0.5;
    if !input.is_tracked() {
        return x * phi;
    }
    let density = (x.clone() * x.clone() * -0.5).exp() * (1.0 / (2.0 * PI).sqrt());
    let derivative = density * x.clone() + phi.clone();
    let zero = input - x.clone();
    zero * derivative + x * phi
}

pub(super) fn sum_of_squares(values: Tensor<1>) -> Tensor<1> {
    (values.clone() * values).sum()
}

pub(super) fn cross_entropy(logits: Tensor<2>, targets: Tensor<1, Int>) -> Tensor<1> {
    let [rows, _] = logits.dims();
    let likelihoods = log_softmax(logits, 1).gather(1, targets.reshape([rows, 1]));
    likelihoods.reshape([rows]).neg()
}
