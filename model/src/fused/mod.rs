//! The heaviest operations of a training step as single operations of burn, with their own backward
//! passes.
//!
//! On the CPU (burn's Flex) they run on [`unroll_kernels`], on a GPU on the kernels of `shaders`;
//! on any other device they are composed of burn's operations, as their documentation says. All
//! versions agree up to rounding: tests compare CPU and composed, gradients included, and the GPU
//! engine compares GPU and CPU whenever it starts. Registered through burn's feature `extension`.

mod autodiff;
#[cfg_attr(feature = "webgpu", allow(dead_code, reason = "where there are shaders, they run"))]
mod composed;
mod flex;
pub(crate) mod recurrent;
mod self_attention;
#[cfg(feature = "webgpu")]
pub(crate) mod shaders;
#[cfg(test)]
mod tests;

use burn::{
    backend::{
        Backend, Dispatch, backend_extension,
        tensor::{FloatTensor, IntTensor},
    },
    nn::{Embedding, Linear},
    tensor::{Device, Gradients, Int, Tensor},
};

use crate::norm::Norm;

#[cfg(not(feature = "webgpu"))]
use composed as elsewhere;
#[cfg(feature = "webgpu")]
use shaders as elsewhere;

pub use self_attention::{SelfAttention, self_attention};
pub use unroll_kernels::rows::AdamStep;

/// What a norm adds to a variance or to a mean square (Ba, Kiros and Hinton 2016 leave it open).
const EPSILON: f32 = 1e-5;

/// The operations on burn's backend primitives. Shapes are those of the functions of this module.
#[backend_extension(Flex, Autodiff)]
trait Fused: Backend {
    fn product(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self>;

    fn linear(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
    ) -> FloatTensor<Self>;

    fn attend(
        queries: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        values: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        keep: FloatTensor<Self>,
        scale: f32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);

    fn layer_norm(
        input: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        is_centered: bool,
    ) -> FloatTensor<Self>;

    fn gelu(input: FloatTensor<Self>) -> FloatTensor<Self>;

    fn cross_entropy(logits: FloatTensor<Self>, targets: IntTensor<Self>) -> FloatTensor<Self>;

    fn sum_of_squares(values: FloatTensor<Self>) -> FloatTensor<Self>;

    fn adam(
        step: AdamStep,
        coefficient: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        value: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

/// Whether the kernels support this device.
pub(crate) fn has_kernels(device: Device) -> bool {
    device.inner() == Device::flex()
}

/// Whether the tensors are on a device that can process many of them in one call, and there are
/// any.
#[cfg(feature = "webgpu")]
pub(crate) fn go_together(tensors: &[Tensor<1>]) -> bool {
    tensors.first().is_some_and(|tensor| !has_kernels(tensor.device()))
}

/// The product of two matrices.
///
/// # Shapes
///
/// - left: `[m, k]`
/// - right: `[k, n]`
/// - output: `[m, n]`
pub fn product(left: Tensor<2>, right: Tensor<2>) -> Tensor<2> {
    if !has_kernels(left.device()) {
        return elsewhere::product(left, right);
    }
    let output = <Dispatch as Fused>::product(left.into_dispatch(), right.into_dispatch());
    Tensor::from_dispatch(output)
}

/// A linear layer, `x W + b`, as one matrix product. burn itself would multiply sequence by
/// sequence, and pack the weights again for each.
///
/// # Shapes
///
/// - input: `[.., in]`
/// - output: `[.., out]`
pub fn linear<const D: usize>(layer: &Linear, input: Tensor<D>) -> Tensor<D> {
    let Some(bias) = layer.bias.as_ref().filter(|_| has_kernels(input.device())) else {
        return linear_of_rows(layer, input);
    };
    let (weight, bias) = (layer.weight.val().into_dispatch(), bias.val().into_dispatch());
    Tensor::from_dispatch(<Dispatch as Fused>::linear(input.into_dispatch(), weight, bias))
}

/// [`linear`] for devices on which it is not a single operation.
fn linear_of_rows<const D: usize>(layer: &Linear, input: Tensor<D>) -> Tensor<D> {
    let mut shape = input.dims();
    let [width, out] = layer.weight.dims();
    let rows = input.reshape([-1, width as i64]);
    shape[D - 1] = out;
    let output = match has_kernels(rows.device()) {
        true => product(rows, layer.weight.val()),
        false => elsewhere::linear(layer, rows),
    };
    output.reshape(shape)
}

/// `softmax(scale Q K^T + bias)` and its product with V, for each head. `bias` and `keep` are
/// constants; `keep` multiplies the weights before they mix the values, but not the weights
/// returned as first output, through which no gradient flows.
///
/// # Shapes
///
/// - queries: `[batch, heads, T, d]`
/// - keys, values: `[batch, heads, S, d]`
/// - bias: `[1 or batch, 1 or heads, T, S]`, 0 where there is none
/// - keep: `[batch, heads, T, S]`, 1 where there is none
/// - outputs: weights `[batch, heads, T, S]` and mixed values `[batch, heads, T, d]`
pub fn attend(
    queries: Tensor<4>,
    keys: Tensor<4>,
    values: Tensor<4>,
    bias: Option<Tensor<4>>,
    keep: Option<Tensor<4>>,
    scale: f32,
) -> (Tensor<4>, Tensor<4>) {
    if !has_kernels(queries.device()) {
        return elsewhere::attend(queries, keys, values, bias, keep, scale);
    }
    let device = queries.device().inner();
    let bias = one_for_all(bias, 0.0, &device);
    let keep = one_for_all(keep, 1.0, &device);
    let (weights, mixed) = <Dispatch as Fused>::attend(
        queries.into_dispatch(),
        keys.into_dispatch(),
        values.into_dispatch(),
        bias.into_dispatch(),
        keep.into_dispatch(),
        scale,
    );
    (Tensor::from_dispatch(weights), Tensor::from_dispatch(mixed))
}

/// The bias of a layer that has one.
fn bias_of(layer: &Linear) -> Tensor<1> {
    layer.bias.as_ref().expect("the layer has a bias").val()
}

/// Numbers for pairs of queries and keys, or `value` for all of them.
fn one_for_all(numbers: Option<Tensor<4>>, value: f32, device: &Device) -> Tensor<4> {
    numbers.unwrap_or_else(|| Tensor::full([1; 4], value, device))
}

/// The embeddings of tokens.
///
/// # Shapes
///
/// - tokens: `[batch, T]`
/// - output: `[batch, T, width]`
pub fn embed(layer: &Embedding, tokens: Tensor<2, Int>) -> Tensor<3> {
    match has_kernels(tokens.device()) {
        true => layer.forward(tokens),
        false => elsewhere::embed(layer, tokens),
    }
}

/// LayerNorm or RMSNorm over the last dimension: the second is the first without the mean, and with
/// a β of 0 that nobody trains.
pub fn normalize<const D: usize>(layer: &Norm, input: Tensor<D>) -> Tensor<D> {
    if !has_kernels(input.device()) {
        return elsewhere::normalize(layer, input);
    }
    let [gamma, beta] = layer.gain_and_bias().map(Tensor::into_dispatch);
    let input = input.into_dispatch();
    Tensor::from_dispatch(<Dispatch as Fused>::layer_norm(input, gamma, beta, layer.is_centered()))
}

/// The exact Gaussian error linear unit, `x Φ(x)` with the normal distribution function `Φ`
/// (Hendrycks and Gimpel 2016).
pub fn gelu<const D: usize>(input: Tensor<D>) -> Tensor<D> {
    if !has_kernels(input.device()) {
        return elsewhere::gelu(input);
    }
    Tensor::from_dispatch(<Dispatch as Fused>::gelu(input.into_dispatch()))
}

/// Cross-entropy of every row, in nats.
///
/// # Shapes
///
/// - logits: `[rows, outputs]`
/// - targets: `[rows]`
/// - output: `[rows]`
pub fn cross_entropy(logits: Tensor<2>, targets: Tensor<1, Int>) -> Tensor<1> {
    if !has_kernels(logits.device()) {
        return elsewhere::cross_entropy(logits, targets);
    }
    let (logits, targets) = (logits.into_dispatch(), targets.into_dispatch());
    Tensor::from_dispatch(<Dispatch as Fused>::cross_entropy(logits, targets))
}

/// The sum of the squares of all numbers, `[1]`, without autodiff.
pub fn sum_of_squares(values: &Tensor<1>) -> Tensor<1> {
    if !has_kernels(values.device()) {
        return elsewhere::sum_of_squares(values.clone());
    }
    let values = values.clone().into_dispatch();
    Tensor::from_dispatch(<Dispatch as Fused>::sum_of_squares(values))
}

/// One step of AdamW for a parameter: value and both moments, flat, given the gradient, which is
/// multiplied by `coefficient`, `[1]`. Works only on devices with [kernels](has_kernels), and
/// without autodiff.
pub fn adam(
    step: AdamStep,
    coefficient: &Tensor<1>,
    gradient: &Tensor<1>,
    [value, first, second]: [Tensor<1>; 3],
) -> [Tensor<1>; 3] {
    let (value, first, second) = <Dispatch as Fused>::adam(
        step,
        coefficient.clone().into_dispatch(),
        gradient.clone().into_dispatch(),
        value.into_dispatch(),
        first.into_dispatch(),
        second.into_dispatch(),
    );
    [value, first, second].map(Tensor::from_dispatch)
}

/// Runs the backward pass starting at `output`, whose gradient is `upstream`.
pub fn backward_from(output: Tensor<3>, upstream: Tensor<3>) -> Gradients {
    #[cfg(feature = "webgpu")]
    if !has_kernels(output.device()) {
        return shaders::seed(output, upstream).backward();
    }
    // The gradient of this sum of products with respect to the output is `upstream`.
    (output * upstream).backward()
}
