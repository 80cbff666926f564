//! Operations with their own backward passes.

use burn::{
    backend::{
        Autodiff, TensorMetadata,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::NoCheckpointing},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        tensor::FloatTensor,
        wgpu::{CubeTensor, Wgpu},
    },
    tensor::{Int, Tensor},
};
use burn_cubecl::kernel::into_contiguous;

use super::{argument, elementwise, empty, kernels, of_rows, tensor};
use crate::{
    fused::{EPSILON, composed},
    norm::Norm,
};

type Tracking = Autodiff<Wgpu, NoCheckpointing>;
pub(super) type Tracked = FloatTensor<Tracking>;

/// The tensor as a contiguous, possibly tracked one, and whether it was on a device with autodiff.
pub(super) fn lifted<const D: usize>(tensor: Tensor<D>) -> (Tracked, bool) {
    match tensor.clone().try_into_primitive::<Tracking>() {
        Ok(tracked) => (tracked, true),
        Err(_) => (Tracked::new(super::primitive(tensor)), false),
    }
}

/// The inverse of [`lifted`].
pub(super) fn lowered<const D: usize>(tracked: Tracked, autodiff: bool) -> Tensor<D> {
    match autodiff {
        true => Tensor::from_primitive::<Tracking>(tracked),
        false => tensor(tracked.into_primitive()),
    }
}

/// The backward pass of an operation with `N` inputs, on the GPU.
pub(super) trait Back<const N: usize>:
    Clone + Send + Sync + core::fmt::Debug + 'static
{
    fn back(self, upstream: CubeTensor) -> [CubeTensor; N];
}

#[derive(Debug)]
struct Step<const N: usize, K>(core::marker::PhantomData<K>);

impl<const N: usize, K: Back<N>> Backward<Wgpu, N> for Step<N, K> {
    type State = K;

    fn backward(self, ops: Ops<K, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let upstream = into_contiguous(gradients.consume::<Wgpu>(&ops.node));
        for (parent, found) in ops.parents.into_iter().zip(ops.state.back(upstream)) {
            if let Some(parent) = parent {
                gradients.register::<Wgpu>(parent.id, found);
            }
        }
    }
}

/// The output of an operation, with its backward pass registered.
pub(super) fn finish<const N: usize, K: Back<N>>(
    inputs: [&Tracked; N],
    kept: K,
    output: CubeTensor,
) -> Tracked {
    let step = Step::<N, K>(core::marker::PhantomData);
    let nodes = inputs.map(|input| input.node());
    match step.prepare::<NoCheckpointing>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish(kept, output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    }
}

pub(super) fn contiguous(tracked: &Tracked) -> CubeTensor {
    into_contiguous(tracked.primitive().clone())
}

fn width(tensor: &CubeTensor) -> usize {
    *tensor.shape().iter().last().expect("a tensor has dimensions")
}

/// An empty tensor in the shape of `like`.
fn as_large(like: &CubeTensor) -> CubeTensor {
    empty(like, like.shape())
}

#[derive(Clone, Debug)]
struct Normalized {
    input: CubeTensor,
    statistics: CubeTensor,
    gamma: CubeTensor,
    centered: f32,
}

impl Back<3> for Normalized {
    fn back(self, upstream: CubeTensor) -> [CubeTensor; 3] {
        let Self { input, statistics, gamma, centered } = self;
        let width = width(&input);
        let rows = input.meta.num_elements() / width;
        let client = input.client.clone();
        let of_input = as_large(&input);
        let (of_gamma, of_beta) = (as_large(&gamma), as_large(&gamma));
        let (cubes, cube) = of_rows(&client, rows + width);
        kernels::rows::layer_norm_back::launch(
            &client,
            cubes,
            cube,
            argument(input),
            argument(statistics),
            argument(gamma),
            argument(upstream),
            argument(of_input.clone()),
            argument(of_gamma.clone()),
            argument(of_beta.clone()),
            rows,
            centered,
        );
        [of_input, of_gamma, of_beta]
    }
}

pub(crate) fn normalize<const D: usize>(layer: &Norm, input: Tensor<D>) -> Tensor<D> {
    let (input, autodiff) = lifted(input);
    let [gamma, beta] = layer.gain_and_bias().map(|vector| lifted(vector).0);
    let centered = if layer.is_centered() { 1.0 } else { 0.0 };
    let kept = contiguous(&input);
    let rows = kept.meta.num_elements() / width(&kept);
    let (output, statistics) = (as_large(&kept), empty(&kept, [2 * rows]));
    let client = kept.client.clone();
    let (cubes, cube) = of_rows(&client, rows);
    let scales = contiguous(&gamma);
    kernels::rows::layer_norm::launch(
        &client,
        cubes,
        cube,
        argument(kept.clone()),
        argument(scales.clone()),
        argument(contiguous(&beta)),
        argument(output.clone()),
        argument(statistics.clone()),
        rows,
        EPSILON,
        centered,
    );
    let kept = Normalized { input: kept, statistics, gamma: scales, centered };
    lowered(finish([&input, &gamma, &beta], kept, output), autodiff)
}

/// Multiplies the incoming gradient by stored factors.
#[derive(Clone, Debug)]
struct Slopes(CubeTensor);

impl Back<1> for Slopes {
    fn back(self, upstream: CubeTensor) -> [CubeTensor; 1] {
        let output = as_large(&upstream);
        let client = output.client.clone();
        let (cubes, cube) = elementwise(&client, output.meta.num_elements());
        kernels::rows::multiply::launch(
            &client,
            cubes,
            cube,
            argument(self.0),
            argument(upstream),
            argument(output.clone()),
        );
        [output]
    }
}

pub(crate) fn gelu<const D: usize>(input: Tensor<D>) -> Tensor<D> {
    let (input, autodiff) = lifted(input);
    let numbers = contiguous(&input);
    let (output, slopes) = (as_large(&numbers), as_large(&numbers));
    let client = numbers.client.clone();
    let (cubes, cube) = elementwise(&client, numbers.meta.num_elements());
    kernels::rows::gelu::launch(
        &client,
        cubes,
        cube,
        argument(numbers),
        argument(output.clone()),
        argument(slopes.clone()),
    );
    lowered(finish([&input], Slopes(slopes), output), autodiff)
}

#[derive(Clone, Debug)]
struct Surprise {
    probabilities: CubeTensor,
    targets: CubeTensor,
}

impl Back<1> for Surprise {
    fn back(self, upstream: CubeTensor) -> [CubeTensor; 1] {
        let gradient = as_large(&self.probabilities);
        let client = gradient.client.clone();
        let width = width(&gradient);
        let (cubes, cube) = elementwise(&client, gradient.meta.num_elements());
        kernels::rows::cross_entropy_back::launch(
            &client,
            cubes,
            cube,
            argument(self.probabilities),
            argument(self.targets),
            argument(upstream),
            argument(gradient.clone()),
            width,
        );
        [gradient]
    }
}

pub(crate) fn cross_entropy(logits: Tensor<2>, targets: Tensor<1, Int>) -> Tensor<1> {
    let [rows, width] = logits.dims();
    let (logits, autodiff) = lifted(logits);
    let targets = targets.inner().try_into_primitive::<Wgpu>().expect("targets beside the logits");
    let targets = into_contiguous(targets);
    let numbers = contiguous(&logits);
    let (losses, probabilities) = (empty(&numbers, [rows]), as_large(&numbers));
    let client = numbers.client.clone();
    let (cubes, cube) = of_rows(&client, rows);
    kernels::rows::cross_entropy::launch(
        &client,
        cubes,
        cube,
        argument(numbers),
        argument(targets.clone()),
        argument(losses.clone()),
        argument(probabilities.clone()),
        width,
    );
    lowered(finish([&logits], Surprise { probabilities, targets }, losses), autodiff)
}

#[derive(Clone, Debug)]
pub(super) struct Weights {
    weights: CubeTensor,
    scale: f32,
}

impl Weights {
    pub(super) fn numbers(&self) -> &CubeTensor {
        &self.weights
    }
}

impl Back<1> for Weights {
    fn back(self, upstream: CubeTensor) -> [CubeTensor; 1] {
        let gradient = as_large(&self.weights);
        let client = gradient.client.clone();
        let width = width(&gradient);
        let rows = gradient.meta.num_elements() / width;
        let (cubes, cube) = of_rows(&client, rows);
        kernels::rows::softmax_back::launch(
            &client,
            cubes,
            cube,
            argument(self.weights),
            argument(upstream),
            argument(gradient.clone()),
            self.scale,
            rows,
            width,
        );
        [gradient]
    }
}

/// `softmax(scale x + bias)` along the last dimension.
fn softmax(scores: Tensor<4>, bias: Option<Tensor<4>>, scale: f32) -> Tensor<4> {
    let (scores, autodiff) = lifted(scores);
    let kept = softmax_of(contiguous(&scores), bias, scale);
    let weights = kept.numbers().clone();
    lowered(finish([&scores], kept, weights), autodiff)
}

/// The same for contiguous row-major scores.
pub(super) fn softmax_of(numbers: CubeTensor, bias: Option<Tensor<4>>, scale: f32) -> Weights {
    let [batch, heads, queries, width] = numbers.shape().dims();
    let weights = as_large(&numbers);
    let client = numbers.client.clone();
    let [bias_batches, bias_heads] = bias.as_ref().map_or([1; 2], |bias| {
        let [batches, heads, _, _] = bias.dims();
        [batches, heads]
    });
    let biased = bias.is_some();
    let bias = match bias {
        Some(bias) => super::primitive(bias.inner()),
        None => empty(&numbers, [1]),
    };
    let rows = batch * heads * queries;
    let (cubes, cube) = of_rows(&client, rows);
    kernels::rows::softmax::launch(
        &client,
        cubes,
        cube,
        argument(numbers),
        argument(bias),
        argument(weights.clone()),
        scale,
        rows,
        width,
        queries,
        heads,
        bias_batches,
        bias_heads,
        biased,
    );
    Weights { weights, scale }
}

pub(crate) fn attend(
    queries: Tensor<4>,
    keys: Tensor<4>,
    values: Tensor<4>,
    bias: Option<Tensor<4>>,
    keep: Option<Tensor<4>>,
    scale: f32,
) -> (Tensor<4>, Tensor<4>) {
    let weights = softmax(queries.matmul(keys.swap_dims(2, 3)), bias, scale);
    let mixed = composed::mix(weights.clone(), keep, values);
    (weights, mixed)
}

/// A gradient that was computed elsewhere.
#[derive(Clone, Debug)]
struct Given(CubeTensor);

impl Back<1> for Given {
    fn back(self, _one: CubeTensor) -> [CubeTensor; 1] {
        [self.0]
    }
}

/// A tensor whose backward pass starts with `upstream` as the gradient with respect to `output`.
/// Its own value means nothing.
pub(crate) fn seed(output: Tensor<3>, upstream: Tensor<3>) -> Tensor<1> {
    let (output, autodiff) = lifted(output);
    let upstream = super::primitive(upstream);
    let nothing = empty(&upstream, [1]);
    lowered(finish([&output], Given(upstream), nothing), autodiff)
}
