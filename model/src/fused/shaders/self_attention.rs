//! A layer of self-attention with its own backward pass. The products are CubeCL's. Their operands
//! are laid out so that it copies nothing: it would copy, twice, a factor whose row stride is
//! larger than its matrices.

use burn::{
    backend::wgpu::CubeTensor,
    nn::Linear,
    tensor::{DType, Shape, Tensor},
};
use burn_cubecl::kernel::matmul::{MatmulStrategy, matmul};
use cubecl::zspace::metadata::Metadata;

use super::{
    argument,
    differentiable::{Back, Weights, contiguous, finish, lifted, lowered, softmax_of},
    elementwise, empty,
    flat::view,
    kernels::{self, ALIGNMENT},
    of_rows, primitive, tensor,
};
use crate::fused::{SelfAttention, bias_of};

/// Sizes of a layer.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    batch: usize,
    length: usize,
    heads: usize,
    d: usize,
}

impl Sizes {
    fn rows(self) -> usize {
        self.batch * self.length
    }

    fn width(self) -> usize {
        self.heads * self.d
    }

    fn in_heads(self) -> [usize; 4] {
        [self.batch, self.heads, self.length, self.d]
    }

    /// The stride between two parts in head layout.
    fn stride(self) -> usize {
        (self.rows() * self.width()).next_multiple_of(ALIGNMENT)
    }

    /// The queries, keys or values of the three parts in head layout.
    fn part(self, in_heads: &CubeTensor, which: usize) -> CubeTensor {
        let numbers = self.rows() * self.width();
        seen_as(view(in_heads, which * self.stride(), numbers), self.in_heads(), None)
    }
}

/// The same numbers in another shape, contiguous or with these strides.
fn seen_as<const D: usize>(
    tensor: CubeTensor,
    shape: [usize; D],
    strides: Option<[usize; D]>,
) -> CubeTensor {
    let in_order = core::array::from_fn(|at| shape[at + 1..].iter().product());
    let meta = Metadata::new(Shape::new(shape), strides.unwrap_or(in_order));
    CubeTensor { meta: Box::new(meta), ..tensor }
}

/// The transposed matrices over the same numbers.
fn transposed(mut tensor: CubeTensor) -> CubeTensor {
    let last = tensor.meta.shape.len() - 1;
    tensor.meta.swap(last - 1, last);
    tensor
}

/// Writes matrix products to `output`.
fn multiply(left: CubeTensor, right: CubeTensor, output: CubeTensor) -> CubeTensor {
    matmul(left, right, Some(output), MatmulStrategy::default(), DType::F32).expect("shapes agree")
}

fn matrix(tensor: CubeTensor, shape: [usize; 2]) -> CubeTensor {
    seen_as(tensor, shape, None)
}

/// The elementwise product.
fn entrywise(left: &CubeTensor, right: &CubeTensor) -> CubeTensor {
    let output = empty(left, left.meta.shape.clone());
    let client = &left.client;
    let (cubes, cube) = elementwise(client, output.meta.num_elements());
    let [left, right] = [left, right].map(|tensor| argument(tensor.clone()));
    kernels::rows::multiply::launch(client, cubes, cube, left, right, argument(output.clone()));
    output
}

#[derive(Clone, Debug)]
struct Layer {
    sizes: Sizes,
    input: CubeTensor,
    joined: CubeTensor,
    in_heads: CubeTensor,
    weights: Weights,
    keep: Option<CubeTensor>,
    /// `[batch, T, heads, d]`
    mixed: CubeTensor,
    output: CubeTensor,
}

/// Weights after dropout.
fn kept(weights: &CubeTensor, keep: &Option<CubeTensor>) -> CubeTensor {
    match keep {
        Some(keep) => entrywise(weights, keep),
        None => weights.clone(),
    }
}

/// Column sums of `rows`: as many as `first` has, and as many again beginning at `second_from`.
fn sums(
    rows: &CubeTensor,
    [count, stride]: [usize; 2],
    width: usize,
    second_from: Option<usize>,
) -> [CubeTensor; 2] {
    let (first, second) = (empty(rows, [width]), empty(rows, [width]));
    let columns = if second_from.is_some() { 2 * width } else { width };
    let client = &rows.client;
    let (cubes, cube) = of_rows(client, columns);
    kernels::heads::sums_of_columns::launch(
        client,
        cubes,
        cube,
        argument(rows.clone()),
        argument(first.clone()),
        argument(second.clone()),
        count,
        stride,
        width,
        second_from.unwrap_or(0),
        columns,
    );
    [first, second]
}

impl Back<8> for Layer {
    fn back(self, upstream: CubeTensor) -> [CubeTensor; 8] {
        let Self { sizes, input, joined, in_heads, weights, keep, mixed, output } = self;
        let Sizes { batch, length, heads, d } = sizes;
        let (rows, width) = (sizes.rows(), sizes.width());
        let client = input.client.clone();
        let upstream = matrix(upstream, [rows, width]);
        let [of_output_bias, _] = sums(&upstream, [rows, width], width, None);
        let of_output = empty(&upstream, [width, width]);
        let mixed = transposed(matrix(mixed, [rows, width]));
        let of_output = multiply(mixed, upstream.clone(), of_output);

        // One product per head, so that the result is in head layout: `[heads, batch, length, d]`.
        let by_head = seen_as(output, [heads, width, d], Some([d * width, 1, width]));
        let of_mixed = empty(&upstream, [heads, rows, d]);
        let upstream = seen_as(upstream, [1, rows, width], None);
        let of_mixed = multiply(upstream, by_head, of_mixed);
        let strides = [length * d, rows * d, d, 1];
        let of_mixed = seen_as(of_mixed, sizes.in_heads(), Some(strides));

        let [queries, keys, values] = [0, 1, 2].map(|which| sizes.part(&in_heads, which));
        let of_heads = empty(&input, [3 * sizes.stride()]);
        let [of_queries, of_keys, of_values] = [0, 1, 2].map(|which| sizes.part(&of_heads, which));
        let mixing = transposed(kept(weights.numbers(), &keep));
        multiply(mixing, of_mixed.clone(), of_values);
        let of_weights = empty(&input, [batch, heads, length, length]);
        let of_weights = multiply(of_mixed, transposed(values), of_weights);
        let [of_scores] = weights.back(kept(&of_weights, &keep));
        multiply(of_scores.clone(), keys, of_queries);
        multiply(transposed(of_scores), queries, of_keys);

        let numbers = rows * 3 * width;
        let of_projected = empty(&input, [rows, 3 * width]);
        let (cubes, cube) = elementwise(&client, numbers);
        kernels::heads::to_rows::launch(
            &client,
            cubes,
            cube,
            argument(of_heads),
            argument(of_projected.clone()),
            numbers,
            width,
            sizes.stride(),
            heads,
            length,
        );
        let [of_query_bias, of_value_bias] =
            sums(&of_projected, [rows, 3 * width], width, Some(2 * width));
        let of_input = empty(&input, [batch, length, width]);
        let to = matrix(of_input.clone(), [rows, width]);
        multiply(of_projected.clone(), transposed(joined), to);
        let of_joined = empty(&input, [width, 3 * width]);
        let input = transposed(matrix(input, [rows, width]));
        let of_joined = multiply(input, of_projected, of_joined);
        let [of_query, of_key, of_value] = [(); 3].map(|()| empty(&of_joined, [width, width]));
        let (cubes, cube) = elementwise(&client, 3 * width * width);
        kernels::heads::split::launch(
            &client,
            cubes,
            cube,
            argument(of_joined),
            argument(of_query.clone()),
            argument(of_key.clone()),
            argument(of_value.clone()),
            3 * width * width,
            width,
        );
        [
            of_input,
            of_query,
            of_query_bias,
            of_key,
            of_value,
            of_value_bias,
            of_output,
            of_output_bias,
        ]
    }
}

/// See [`crate::fused::self_attention`].
pub(crate) fn self_attention(
    [query, key, value, output]: [&Linear; 4],
    heads: usize,
    input: Tensor<3>,
    bias: Option<Tensor<4>>,
    keep: Option<Tensor<4>>,
    scale: f32,
) -> SelfAttention {
    let [batch, length, width] = input.dims();
    let sizes = Sizes { batch, length, heads, d: width / heads };
    let rows = sizes.rows();
    let (input, autodiff) = lifted(input);
    let matrices = [query, key, value, output].map(|layer| lifted(layer.weight.val()).0);
    let biases = [query, value, output].map(|layer| lifted(bias_of(layer)).0);
    let numbers = contiguous(&input);
    let client = numbers.client.clone();
    let [query, key, value, output] = matrices.each_ref().map(contiguous);
    let [query_bias, value_bias, output_bias] = biases.each_ref().map(contiguous);

    let joined = empty(&numbers, [width, 3 * width]);
    let (cubes, cube) = elementwise(&client, 3 * width * width);
    kernels::heads::join::launch(
        &client,
        cubes,
        cube,
        argument(query),
        argument(key),
        argument(value),
        argument(joined.clone()),
        3 * width * width,
        width,
    );
    let projected = empty(&numbers, [rows, 3 * width]);
    let projected = multiply(matrix(numbers.clone(), [rows, width]), joined.clone(), projected);
    let in_heads = empty(&numbers, [3 * sizes.stride()]);
    let (cubes, cube) = elementwise(&client, rows * 3 * width);
    kernels::heads::to_heads::launch(
        &client,
        cubes,
        cube,
        argument(projected),
        argument(query_bias),
        argument(value_bias),
        argument(in_heads.clone()),
        rows * 3 * width,
        width,
        sizes.stride(),
        heads,
        length,
    );
    let [queries, keys, values] = [0, 1, 2].map(|which| sizes.part(&in_heads, which));
    let scores = empty(&numbers, [batch, heads, length, length]);
    let scores = multiply(queries, transposed(keys), scores);
    let weights = softmax_of(scores, bias, scale);
    let keep = keep.map(|keep| primitive(keep.inner()));
    // Heads side by side in each token's row.
    let mixed = empty(&numbers, [batch, length, heads, sizes.d]);
    let strides = [length * width, sizes.d, width, 1];
    let to = seen_as(mixed.clone(), sizes.in_heads(), Some(strides));
    multiply(kept(weights.numbers(), &keep), values, to);

    let result = empty(&numbers, [batch, length, width]);
    let rows_of = |tensor: &CubeTensor| matrix(tensor.clone(), [rows, width]);
    multiply(rows_of(&mixed), output.clone(), rows_of(&result));
    let (cubes, cube) = elementwise(&client, rows * width);
    kernels::heads::add_to_rows::launch(
        &client,
        cubes,
        cube,
        argument(result.clone()),
        argument(output_bias),
        rows * width,
        width,
    );

    let strides = [width * length, sizes.d, sizes.stride(), length * sizes.d, 1];
    let projected = seen_as(in_heads.clone(), [batch, length, 3, heads, sizes.d], Some(strides));
    let inside = (projected, weights.numbers().clone(), mixed.clone());
    let kept = Layer { sizes, input: numbers, joined, in_heads, weights, keep, mixed, output };
    let [query, key, value, output] = &matrices;
    let [query_bias, value_bias, output_bias] = &biases;
    let parents = [&input, query, query_bias, key, value, value_bias, output, output_bias];
    SelfAttention {
        output: lowered(finish(parents, kept, result), autodiff),
        projected: tensor(inside.0),
        weights: tensor(inside.1),
        mixed: tensor(inside.2),
    }
}
