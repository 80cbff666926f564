//! A whole layer of self-attention as one operation. In a small model it would otherwise be twenty,
//! each of them cheap and none of them free.

#![allow(
    clippy::too_many_arguments,
    reason = "operations on primitives take every tensor by itself"
)]

use burn::{
    backend::{
        Autodiff, Backend, Dispatch, Flex, TensorMetadata,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        backend_extension,
        tensor::FloatTensor,
    },
    nn::Linear,
    tensor::Tensor,
};
use unroll_kernels::self_attention::{self as kernel, side_by_side};

use super::{
    autodiff::backward,
    elsewhere,
    flex::{FlexTensor, in_order, numbers, per_pair, tensor},
    has_kernels, one_for_all,
};

/// What a layer of self-attention computed. Gradients flow through the output only.
#[derive(Clone, Debug)]
pub struct SelfAttention {
    /// `[batch, T, width]`
    pub output: Tensor<3>,
    /// Queries, keys and values, `[batch, T, 3, heads, d]`.
    pub projected: Tensor<5>,
    /// The attention weights before dropout, `[batch, heads, T, T]`.
    pub weights: Tensor<4>,
    /// `[batch, T, heads, d]`
    pub mixed: Tensor<4>,
}

#[backend_extension(Flex, Autodiff)]
trait Layers: Backend {
    fn self_attention(
        heads: usize,
        scale: f32,
        input: FloatTensor<Self>,
        query: FloatTensor<Self>,
        query_bias: FloatTensor<Self>,
        key: FloatTensor<Self>,
        value: FloatTensor<Self>,
        value_bias: FloatTensor<Self>,
        output: FloatTensor<Self>,
        output_bias: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        keep: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

/// Projects `input` to queries, keys and values, [attends](super::attend) with them and projects
/// the mixed values. `layers` are those of queries, keys, values and output.
///
/// # Shapes
///
/// - input: `[batch, T, width]`
/// - bias: `[1 or batch, 1 or heads, T, T]`
/// - keep: `[batch, heads, T, T]`
///
/// # Panics
///
/// Panics unless all layers but that of the keys have biases, and `heads` divides the width.
pub fn self_attention(
    layers: [&Linear; 4],
    heads: usize,
    input: Tensor<3>,
    bias: Option<Tensor<4>>,
    keep: Option<Tensor<4>>,
    scale: f32,
) -> SelfAttention {
    let [query, key, value, output] = layers;
    assert!(key.bias.is_none(), "keys have no bias");
    if !has_kernels(input.device()) {
        return elsewhere::self_attention(layers, heads, input, bias, keep, scale);
    }
    let device = input.device().inner();
    let weight_of = |layer: &Linear| layer.weight.val().into_dispatch();
    let bias_of = |layer: &Linear| super::bias_of(layer).into_dispatch();
    let (output, projected, weights, mixed) = <Dispatch as Layers>::self_attention(
        heads,
        scale,
        input.into_dispatch(),
        weight_of(query),
        bias_of(query),
        weight_of(key),
        weight_of(value),
        bias_of(value),
        weight_of(output),
        bias_of(output),
        one_for_all(bias, 0.0, &device).into_dispatch(),
        one_for_all(keep, 1.0, &device).into_dispatch(),
    );
    SelfAttention {
        output: Tensor::from_dispatch(output),
        projected: Tensor::from_dispatch(projected),
        weights: Tensor::from_dispatch(weights),
        mixed: Tensor::from_dispatch(mixed),
    }
}

/// The operands of both the forward and the backward pass.
#[derive(Clone, Debug)]
struct Operands {
    heads: usize,
    scale: f32,
    input: FlexTensor,
    /// Weights of queries, keys and values side by side.
    joined: Vec<f32>,
    output: FlexTensor,
    bias: FlexTensor,
    keep: FlexTensor,
}

/// Results of the forward pass that the backward pass needs.
#[derive(Clone, Debug)]
struct Kept {
    projected: FlexTensor,
    weights: FlexTensor,
    mixed: FlexTensor,
}

impl Operands {
    fn new(
        heads: usize,
        scale: f32,
        input: FlexTensor,
        projections: [FlexTensor; 3],
        output: FlexTensor,
        [bias, keep]: [FlexTensor; 2],
    ) -> Self {
        let [width] = output.shape().dims::<2>()[1..] else { unreachable!("two dimensions") };
        let projections = projections.map(in_order);
        let joined = side_by_side(projections.each_ref().map(numbers), width);
        let [input, output, bias, keep] = [input, output, bias, keep].map(in_order);
        Self { heads, scale, input, joined, output, bias, keep }
    }

    fn layer(&self) -> kernel::SelfAttention<'_> {
        kernel::SelfAttention {
            input: numbers(&self.input),
            shape: self.input.shape().dims(),
            heads: self.heads,
            joined: &self.joined,
            output: numbers(&self.output),
            bias: per_pair(&self.bias),
            keep: per_pair(&self.keep),
            scale: self.scale,
        }
    }

    /// The output, and what the backward pass needs.
    fn forward(&self, [query, value, output]: [FlexTensor; 3]) -> (FlexTensor, Kept) {
        let [batch, length, width] = self.input.shape().dims();
        let (heads, d) = (self.heads, width / self.heads);
        let [query, value, output] = [query, value, output].map(in_order);
        let mut biases = numbers(&query).to_vec();
        biases.resize(2 * width, 0.0);
        biases.extend_from_slice(numbers(&value));
        let found = self.layer().forward(&biases, numbers(&output));
        let kept = Kept {
            projected: tensor(found.projected, [batch, length, 3, heads, d]),
            weights: tensor(found.weights, [batch, heads, length, length]),
            mixed: tensor(found.mixed, [batch, length, heads, d]),
        };
        (tensor(found.output, [batch, length, width]), kept)
    }

    /// Gradients with respect to the input; the weights and biases of queries; the weights of keys;
    /// the weights and biases of values and of the output.
    fn backward(&self, kept: &Kept, upstream: FlexTensor) -> [FlexTensor; 8] {
        let shape @ [_, _, width] = self.input.shape().dims();
        let upstream = in_order(upstream);
        let [projected, weights, mixed] =
            [&kept.projected, &kept.weights, &kept.mixed].map(numbers);
        let gradients = self.layer().backward(projected, weights, mixed, numbers(&upstream));
        let matrix = |values| tensor(values, [width, width]);
        let [query, key, value] = gradients.weights.map(matrix);
        let bias = |at: usize| tensor(gradients.biases[at * width..][..width].to_vec(), [width]);
        [
            tensor(gradients.input, shape),
            query,
            bias(0),
            key,
            value,
            bias(2),
            matrix(gradients.output),
            tensor(gradients.output_bias, [width]),
        ]
    }
}

backward!(Attending, 8, (Operands, Kept), |(operands, kept), upstream, _wanted| {
    operands.backward(&kept, upstream).map(Some)
});

impl Layers for Flex {
    fn self_attention(
        heads: usize,
        scale: f32,
        input: FlexTensor,
        query: FlexTensor,
        query_bias: FlexTensor,
        key: FlexTensor,
        value: FlexTensor,
        value_bias: FlexTensor,
        output: FlexTensor,
        output_bias: FlexTensor,
        bias: FlexTensor,
        keep: FlexTensor,
    ) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
        let projections = [query, key, value];
        let operands = Operands::new(heads, scale, input, projections, output, [bias, keep]);
        let (output, kept) = operands.forward([query_bias, value_bias, output_bias]);
        (output, kept.projected, kept.weights, kept.mixed)
    }
}

type Float<C> = FloatTensor<Autodiff<Flex, C>>;

impl<C: CheckpointStrategy> Layers for Autodiff<Flex, C> {
    fn self_attention(
        heads: usize,
        scale: f32,
        input: Float<C>,
        query: Float<C>,
        query_bias: Float<C>,
        key: Float<C>,
        value: Float<C>,
        value_bias: Float<C>,
        output: Float<C>,
        output_bias: Float<C>,
        bias: Float<C>,
        keep: Float<C>,
    ) -> (Float<C>, Float<C>, Float<C>, Float<C>) {
        let tensors = [input, query, query_bias, key, value, value_bias, output, output_bias];
        let nodes = tensors.each_ref().map(|tensor| tensor.node());
        let [input, query, query_bias, key, value, value_bias, output, output_bias] =
            tensors.map(|tensor| tensor.into_primitive());
        let per_pair = [bias, keep].map(|tensor| tensor.into_primitive());
        let operands = Operands::new(heads, scale, input, [query, key, value], output, per_pair);
        let (output, kept) = operands.forward([query_bias, value_bias, output_bias]);
        let Kept { projected, weights, mixed } = kept.clone();
        let output = match Attending.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((operands, kept), output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        };
        let [projected, weights, mixed] = [projected, weights, mixed].map(Float::<C>::new);
        (output, projected, weights, mixed)
    }
}
