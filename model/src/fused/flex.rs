//! The operations on burn's CPU tensors.

use burn::{
    backend::{Flex, TensorMetadata, tensor::FloatTensor},
    tensor::TensorData,
};

use super::{AdamStep, EPSILON, Fused};
use unroll_kernels::{
    attention::{Attend, Heads, PerPair, Rows},
    matmul::{self, Onto, View},
    rows,
};

/// burn's CPU tensor of any rank.
pub(super) type FlexTensor = FloatTensor<Flex>;

/// A tensor of these numbers.
pub(super) fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

/// A contiguous row-major tensor of the same numbers.
pub(super) fn in_order(tensor: FlexTensor) -> FlexTensor {
    if tensor.is_contiguous() { tensor } else { tensor.to_contiguous() }
}

/// The numbers of a contiguous tensor.
pub(super) fn numbers(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("f32, in order")
}

fn shape<const D: usize>(tensor: &FlexTensor) -> [usize; D] {
    tensor.shape().dims()
}

/// A tensor with non-negative strides: one that has others is made contiguous first.
fn forwards(tensor: FlexTensor) -> FlexTensor {
    if tensor.layout().has_positive_strides() { tensor } else { tensor.to_contiguous() }
}

fn strides<const D: usize>(tensor: &FlexTensor) -> [usize; D] {
    let strides = tensor.layout().strides();
    core::array::from_fn(|dimension| strides[dimension].unsigned_abs())
}

fn from_start(tensor: &FlexTensor) -> &[f32] {
    &tensor.storage()[tensor.layout().start_offset()..]
}

fn view(tensor: &FlexTensor) -> View<'_> {
    View { values: from_start(tensor), shape: shape(tensor), strides: strides(tensor) }
}

fn heads(tensor: &FlexTensor) -> Heads<'_> {
    Heads { values: from_start(tensor), shape: shape(tensor), strides: strides(tensor) }
}

pub(super) fn per_pair(tensor: &FlexTensor) -> PerPair<'_> {
    PerPair { values: numbers(tensor), shape: shape(tensor) }
}

/// `onto + left · right`.
pub(super) fn multiply(left: FlexTensor, right: FlexTensor, onto: Onto) -> FlexTensor {
    let (left, right) = (forwards(left), forwards(right));
    let (left, right) = (view(&left), view(&right));
    let shape = [left.shape[0], right.shape[1]];
    let mut result = vec![0.0; shape[0] * shape[1]];
    matmul::product(left, right, 1.0, onto, &mut result, shape[1]);
    tensor(result, shape)
}

/// A tensor as a matrix of its last dimension's width.
pub(super) fn in_rows(tensor: FlexTensor) -> FlexTensor {
    let dims = tensor.shape();
    if dims.num_dims() == 2 {
        return tensor;
    }
    let width = dims[dims.num_dims() - 1];
    in_order(tensor).reshape([dims.num_elements() / width.max(1), width].into())
}

/// The sum of all rows.
pub(super) fn sum_of_rows(rows: FlexTensor) -> FlexTensor {
    let [_, width] = shape(&rows);
    let mut sums = vec![0.0; width];
    rows::add_rows(numbers(&in_order(rows)), &mut sums);
    tensor(sums, [width])
}

/// The operands of attention.
#[derive(Clone, Debug)]
pub(super) struct Attention {
    queries: FlexTensor,
    keys: FlexTensor,
    values: FlexTensor,
    bias: FlexTensor,
    keep: FlexTensor,
    scale: f32,
}

impl Attention {
    pub(super) fn new(
        [queries, keys, values]: [FlexTensor; 3],
        bias: FlexTensor,
        keep: FlexTensor,
        scale: f32,
    ) -> Self {
        let [queries, keys, values] = [queries, keys, values].map(forwards);
        Self { queries, keys, values, bias: in_order(bias), keep: in_order(keep), scale }
    }

    fn operands(&self) -> Attend<'_> {
        Attend {
            queries: heads(&self.queries),
            keys: heads(&self.keys),
            values: heads(&self.values),
            bias: per_pair(&self.bias),
            keep: per_pair(&self.keep),
            scale: self.scale,
        }
    }

    pub(super) fn forward(&self) -> (FlexTensor, FlexTensor) {
        let (weights, mixed) = self.operands().forward();
        let [batch, heads, length, _] = shape(&self.queries);
        let [_, _, keys, width] = shape(&self.values);
        let mixed = tensor(mixed, [batch, length, heads, width]).transpose(1, 2);
        (tensor(weights, [batch, heads, length, keys]), mixed)
    }

    pub(super) fn backward(&self, weights: &FlexTensor, upstream: FlexTensor) -> [FlexTensor; 3] {
        let upstream = forwards(upstream);
        let inputs = [&self.queries, &self.keys, &self.values].map(shape::<4>);
        // Gradients are parts of one tensor.
        let mut end = 0;
        let places = inputs.map(|[batch, heads, length, width]| {
            let place = Rows { start: end, stride: heads * width };
            end += batch * length * heads * width;
            place
        });
        let mut gradients = vec![0.0; end];
        let upstream = heads(&upstream);
        self.operands().backward(numbers(weights), upstream, &mut gradients, places);
        let gradients = tensor(gradients, [end]);
        core::array::from_fn(|which| {
            let [batch, heads, length, width] = inputs[which];
            let (start, shape) = (places[which].start, [batch, length, heads, width]);
            let part = gradients.narrow(0, start, shape.iter().product());
            part.reshape(shape.into()).transpose(1, 2)
        })
    }
}

/// Normalized rows, and the statistics of each, two numbers a row.
pub(super) fn layer_norm(
    input: &FlexTensor,
    gamma: &FlexTensor,
    beta: &FlexTensor,
    is_centered: bool,
) -> (FlexTensor, Vec<[f32; 2]>) {
    let (gamma, beta, input_rows) = (numbers(gamma), numbers(beta), numbers(input));
    let width = gamma.len();
    let mut output = vec![0.0; input_rows.len()];
    let pairs = input_rows.chunks_exact(width).zip(output.chunks_exact_mut(width));
    let statistics = pairs.map(|(row, output)| {
        let statistics = rows::layer_statistics(row, EPSILON, is_centered);
        rows::layer_norm(row, statistics, gamma, beta, output);
        statistics
    });
    let statistics = statistics.collect();
    (FlexTensor::from_data(TensorData::new(output, input.shape())), statistics)
}

/// Gradients with respect to input, γ and β.
pub(super) fn layer_norm_backward(
    input: &FlexTensor,
    statistics: &[[f32; 2]],
    is_centered: bool,
    gamma: &FlexTensor,
    upstream: FlexTensor,
) -> [FlexTensor; 3] {
    let upstream = in_order(upstream);
    let gamma = numbers(gamma);
    let width = gamma.len();
    let (mut of_gamma, mut of_beta) = (vec![0.0; width], vec![0.0; width]);
    let mut of_input = vec![0.0; numbers(input).len()];
    let each = numbers(input).chunks_exact(width).zip(statistics);
    let each = each.zip(numbers(&upstream).chunks_exact(width));
    for (((row, statistics), upstream), result) in each.zip(of_input.chunks_exact_mut(width)) {
        let sums = (&mut of_gamma[..], &mut of_beta[..]);
        rows::layer_norm_backward(
            row,
            *statistics,
            is_centered,
            gamma,
            upstream,
            result,
            sums.0,
            sums.1,
        );
    }
    let of_input = FlexTensor::from_data(TensorData::new(of_input, input.shape()));
    [of_input, tensor(of_gamma, [width]), tensor(of_beta, [width])]
}

/// GELU, with its derivatives if asked for.
pub(super) fn gelu(input: FlexTensor, with_slopes: bool) -> (FlexTensor, Option<FlexTensor>) {
    let input = in_order(input);
    let mut values = numbers(&input).to_vec();
    let mut slopes = with_slopes.then(|| vec![0.0; values.len()]);
    rows::gelu(&mut values, slopes.as_deref_mut());
    let of = |values| FlexTensor::from_data(TensorData::new(values, input.shape()));
    (of(values), slopes.map(of))
}

/// The loss of each row, and its probabilities.
pub(super) fn cross_entropy(logits: FlexTensor, targets: &[i32]) -> (FlexTensor, Vec<f32>) {
    let [count, width] = shape(&logits);
    let mut probabilities = numbers(&in_order(logits)).to_vec();
    let rows = probabilities.chunks_exact_mut(width).zip(targets);
    let losses = rows.map(|(row, &target)| rows::cross_entropy(row, target as usize));
    (tensor(losses.collect(), [count]), probabilities)
}

/// Target tokens as a slice.
pub(super) fn integers(tensor: &FlexTensor) -> Vec<i32> {
    let tensor = in_order(tensor.clone());
    match tensor.as_slice::<i32>() {
        Some(values) => values.to_vec(),
        None => tensor.into_data().convert::<i32>().try_into_vec().expect("integers"),
    }
}

impl Fused for Flex {
    fn product(left: FlexTensor, right: FlexTensor) -> FlexTensor {
        multiply(left, right, Onto::Zero)
    }

    fn linear(input: FlexTensor, weight: FlexTensor, bias: FlexTensor) -> FlexTensor {
        let mut dims = input.shape().to_vec();
        let output = multiply(in_rows(input), weight, Onto::Row(numbers(&in_order(bias))));
        *dims.last_mut().expect("a tensor has dimensions") = shape::<2>(&output)[1];
        output.reshape(dims.into())
    }

    fn attend(
        queries: FlexTensor,
        keys: FlexTensor,
        values: FlexTensor,
        bias: FlexTensor,
        keep: FlexTensor,
        scale: f32,
    ) -> (FlexTensor, FlexTensor) {
        Attention::new([queries, keys, values], bias, keep, scale).forward()
    }

    fn layer_norm(
        input: FlexTensor,
        gamma: FlexTensor,
        beta: FlexTensor,
        is_centered: bool,
    ) -> FlexTensor {
        layer_norm(&in_order(input), &in_order(gamma), &in_order(beta), is_centered).0
    }

    fn gelu(input: FlexTensor) -> FlexTensor {
        gelu(input, false).0
    }

    fn cross_entropy(logits: FlexTensor, targets: FlexTensor) -> FlexTensor {
        cross_entropy(logits, &integers(&targets)).0
    }

    fn sum_of_squares(values: FlexTensor) -> FlexTensor {
        tensor(vec![rows::sum_of_squares(numbers(&in_order(values)))], [1])
    }

    fn adam(
        step: AdamStep,
        coefficient: FlexTensor,
        gradient: FlexTensor,
        value: FlexTensor,
        first: FlexTensor,
        second: FlexTensor,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        let (coefficient, gradient) = (in_order(coefficient), in_order(gradient));
        let [mut value, mut first, mut second] = [value, first, second].map(in_order);
        let range = |tensor: &FlexTensor| {
            let start = tensor.layout().start_offset();
            start..start + tensor.layout().num_elements()
        };
        let ranges = [range(&value), range(&first), range(&second)];
        let [of_value, of_first, of_second] = ranges;
        rows::adam(
            step,
            numbers(&coefficient)[0],
            numbers(&gradient),
            &mut value.storage_mut()[of_value],
            &mut first.storage_mut()[of_first],
            &mut second.storage_mut()[of_second],
        );
        (value, first, second)
    }
}
