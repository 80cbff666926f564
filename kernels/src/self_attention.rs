//! A layer of self-attention (Vaswani et al. 2017, section 3.2.2) from its input to its output.
//!
//! Queries, keys and values are stored side by side, one row of three times the width per token.
//! Each kind of projection, its backward pass and its weights' gradient are then one product
//! instead of three, and heads are strided views of the rows.

use super::{
    attention::{Attend, Heads, PerPair, Rows},
    matmul::{Onto, View, product},
    rows::add_rows,
};

/// A layer's inputs, row-major.
#[derive(Clone, Copy, Debug)]
pub struct SelfAttention<'a> {
    /// `[batch, T, width]`
    pub input: &'a [f32],
    /// Batch, T and width.
    pub shape: [usize; 3],
    /// Number of heads; divides the width.
    pub heads: usize,
    /// Weights of queries, keys and values [side by side](side_by_side), `[width, 3 width]`.
    pub joined: &'a [f32],
    /// Weights of the output projection, `[width, width]`.
    pub output: &'a [f32],
    /// Added to the scores; minus infinity blocks a pair.
    pub bias: PerPair<'a>,
    /// Factors of the attention weights before they mix the values: dropout.
    pub keep: PerPair<'a>,
    /// Factor of the products of queries and keys.
    pub scale: f32,
}

/// What the forward pass computed.
#[derive(Clone, Debug)]
pub struct Found {
    /// Queries, keys and values, `[batch, T, 3, heads, d]`.
    pub projected: Vec<f32>,
    /// Before dropout, `[batch, heads, T, T]`.
    pub weights: Vec<f32>,
    /// `[batch, T, heads, d]`
    pub mixed: Vec<f32>,
    /// `[batch, T, width]`
    pub output: Vec<f32>,
}

/// Gradients with respect to a layer's inputs and parameters.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// `[batch, T, width]`
    pub input: Vec<f32>,
    /// With respect to the weights of queries, keys and values, `[width, width]` each.
    pub weights: [Vec<f32>; 3],
    /// With respect to their biases, one after the other, `[3 width]`.
    pub biases: Vec<f32>,
    /// `[width, width]`
    pub output: Vec<f32>,
    /// `[width]`
    pub output_bias: Vec<f32>,
}

/// Joins three matrices of `width` columns into one of `3 width` columns.
pub fn side_by_side(matrices: [&[f32]; 3], width: usize) -> Vec<f32> {
    let mut joined = Vec::with_capacity(matrices.iter().map(|matrix| matrix.len()).sum());
    let [first, second, third] = matrices.map(|matrix| matrix.chunks_exact(width));
    for ((first, second), third) in first.zip(second).zip(third) {
        joined.extend_from_slice(first);
        joined.extend_from_slice(second);
        joined.extend_from_slice(third);
    }
    joined
}

/// The inverse of [`side_by_side`].
fn split(joined: &[f32], width: usize) -> [Vec<f32>; 3] {
    core::array::from_fn(|which| {
        let rows = joined.chunks_exact(3 * width);
        rows.flat_map(|row| &row[which * width..][..width]).copied().collect()
    })
}

impl SelfAttention<'_> {
    /// Runs the layer. `biases` are those of queries, keys and values one after the other,
    /// `[3 width]`; `output_bias` is `[width]`.
    pub fn forward(&self, biases: &[f32], output_bias: &[f32]) -> Found {
        let [rows, width] = self.rows();
        let input = View::rows(self.input, [rows, width]);
        let joined = View::rows(self.joined, [width, 3 * width]);
        let mut projected = vec![0.0; rows * 3 * width];
        product(input, joined, 1.0, Onto::Row(biases), &mut projected, 3 * width);
        let (weights, mixed) = self.attend(&projected).forward();
        let mut output = vec![0.0; rows * width];
        let matrix = View::rows(self.output, [width, width]);
        let rows = View::rows(&mixed, [rows, width]);
        product(rows, matrix, 1.0, Onto::Row(output_bias), &mut output, width);
        Found { projected, weights, mixed, output }
    }

    /// Gradients given the one with respect to the output, `[batch, T, width]`, and what
    /// [`forward`](Self::forward) computed.
    pub fn backward(
        &self,
        projected: &[f32],
        weights: &[f32],
        mixed: &[f32],
        upstream: &[f32],
    ) -> Gradients {
        let [rows, width] = self.rows();
        let upstream_rows = View::rows(upstream, [rows, width]);

        let mut output_bias = vec![0.0; width];
        add_rows(upstream, &mut output_bias);
        let mut output = vec![0.0; width * width];
        let mixed = View::rows(mixed, [rows, width]).transposed();
        product(mixed, upstream_rows, 1.0, Onto::Zero, &mut output, width);
        let mut grad_mixed = vec![0.0; rows * width];
        let matrix = View::rows(self.output, [width, width]).transposed();
        product(upstream_rows, matrix, 1.0, Onto::Zero, &mut grad_mixed, width);

        let mut grad_projected = vec![0.0; rows * 3 * width];
        let places = [0, 1, 2].map(|which| Rows { start: which * width, stride: 3 * width });
        let grad_mixed = self.heads_of(&grad_mixed, width);
        self.attend(projected).backward(weights, grad_mixed, &mut grad_projected, places);

        let mut biases = vec![0.0; 3 * width];
        add_rows(&grad_projected, &mut biases);
        let grad_projected = View::rows(&grad_projected, [rows, 3 * width]);
        let mut joined = vec![0.0; width * 3 * width];
        let columns = View::rows(self.input, [rows, width]).transposed();
        product(columns, grad_projected, 1.0, Onto::Zero, &mut joined, 3 * width);
        let mut input = vec![0.0; rows * width];
        let matrix = View::rows(self.joined, [width, 3 * width]).transposed();
        product(grad_projected, matrix, 1.0, Onto::Zero, &mut input, width);
        Gradients { input, weights: split(&joined, width), biases, output, output_bias }
    }

    /// Number of tokens and width.
    fn rows(&self) -> [usize; 2] {
        let [batch, length, width] = self.shape;
        [batch * length, width]
    }

    /// A strided view of the heads in rows that start `stride` numbers apart, head after head.
    fn heads_of<'b>(&self, values: &'b [f32], stride: usize) -> Heads<'b> {
        let [batch, length, width] = self.shape;
        let d = width / self.heads;
        let shape = [batch, self.heads, length, d];
        Heads { values, shape, strides: [length * stride, d, stride, 1] }
    }

    fn attend<'b>(&'b self, projected: &'b [f32]) -> Attend<'b> {
        let width = self.shape[2];
        let part = |which: usize| self.heads_of(&projected[which * width..], 3 * width);
        Attend {
            queries: part(0),
            keys: part(1),
            values: part(2),
            bias: self.bias,
            keep: self.keep,
            scale: self.scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATCH: usize = 2;
    const LENGTH: usize = 5;
    const WIDTH: usize = 6;
    const HEADS: usize = 2;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 29 + seed * 17) % 53) as f32 / 26.0 - 1.0).collect()
    }

    fn wide(values: &[f32]) -> Vec<f64> {
        values.iter().map(|&x| f64::from(x)).collect()
    }

    /// `input · weights + bias`, row by row.
    fn linear(input: &[f64], weights: &[f64], bias: &[f64]) -> Vec<f64> {
        let rows = input.chunks_exact(WIDTH).flat_map(|row| {
            (0..WIDTH).map(move |j| {
                let sum: f64 = (0..WIDTH).map(|i| row[i] * weights[i * WIDTH + j]).sum();
                sum + bias[j]
            })
        });
        rows.collect()
    }

    /// `sum(upstream * output)` in f64, directly from the definition. The parts are the input, the
    /// four matrices (queries, keys, values, output) and their biases.
    fn objective(parts: &[Vec<f64>; 9], keep: &[f32], upstream: &[f32]) -> f64 {
        let [q, k, v] = [1, 2, 3].map(|which| linear(&parts[0], &parts[which], &parts[which + 4]));
        let d = WIDTH / HEADS;
        let mut mixed = vec![0.0; q.len()];
        for s in 0..BATCH {
            for h in 0..HEADS {
                let at = |t: usize, i: usize| (s * LENGTH + t) * WIDTH + h * d + i;
                for t in 0..LENGTH {
                    let score = |u: usize| (0..d).map(|i| q[at(t, i)] * k[at(u, i)]).sum::<f64>();
                    let raised: Vec<f64> = (0..=t).map(|u| (0.6 * score(u)).exp()).collect();
                    let sum: f64 = raised.iter().sum();
                    for (u, raised) in raised.iter().enumerate() {
                        let keep = keep[((s * HEADS + h) * LENGTH + t) * LENGTH + u];
                        for i in 0..d {
                            mixed[at(t, i)] += raised / sum * f64::from(keep) * v[at(u, i)];
                        }
                    }
                }
            }
        }
        let output = linear(&mixed, &parts[4], &parts[8]);
        output.iter().zip(upstream).map(|(y, &upstream)| y * f64::from(upstream)).sum()
    }

    #[test]
    fn gradients_are_the_derivatives() {
        let rows = BATCH * LENGTH;
        let input = numbers(rows * WIDTH, 1);
        let matrices = [2, 3, 4, 5].map(|seed| numbers(WIDTH * WIDTH, seed));
        let biases = [6, 7, 8, 9].map(|seed| numbers(WIDTH, seed));
        let upstream = numbers(rows * WIDTH, 10);
        let keep: Vec<f32> = (0..BATCH * HEADS * LENGTH * LENGTH)
            .map(|i| if i % 6 == 1 { 0.0 } else { 1.2 })
            .collect();
        let causal: Vec<f32> = (0..LENGTH * LENGTH)
            .map(|i| if i % LENGTH > i / LENGTH { f32::NEG_INFINITY } else { 0.0 })
            .collect();
        let [queries, keys, values, output] = matrices.each_ref().map(Vec::as_slice);
        let joined = side_by_side([queries, keys, values], WIDTH);
        let layer = SelfAttention {
            input: &input,
            shape: [BATCH, LENGTH, WIDTH],
            heads: HEADS,
            joined: &joined,
            output,
            bias: PerPair { values: &causal, shape: [1, 1, LENGTH, LENGTH] },
            keep: PerPair { values: &keep, shape: [BATCH, HEADS, LENGTH, LENGTH] },
            scale: 0.6,
        };
        let found = layer.forward(&biases[..3].concat(), &biases[3]);
        let mut parts: [Vec<f64>; 9] = core::array::from_fn(|_| Vec::new());
        parts[0] = wide(&input);
        for which in 0..4 {
            parts[1 + which] = wide(&matrices[which]);
            parts[5 + which] = wide(&biases[which]);
        }
        let of = |parts: &[Vec<f64>; 9]| objective(parts, &keep, &upstream);
        let sum: f32 = found.output.iter().zip(&upstream).map(|(y, upstream)| y * upstream).sum();
        assert!((f64::from(sum) - of(&parts)).abs() < 1e-4);

        let Gradients { input, weights, biases, output, output_bias } =
            layer.backward(&found.projected, &found.weights, &found.mixed, &upstream);
        let [queries, keys, values] = weights;
        let grad_biases = biases.chunks_exact(WIDTH).map(<[f32]>::to_vec);
        let mut gradients = vec![input, queries, keys, values, output];
        gradients.extend(grad_biases);
        gradients.push(output_bias);
        assert_eq!(gradients.len(), parts.len());
        for (which, gradient) in gradients.iter().enumerate() {
            assert_eq!(gradient.len(), parts[which].len());
            for (at, &found) in gradient.iter().enumerate() {
                let moved = |by: f64| {
                    let mut parts = parts.clone();
                    parts[which][at] += by;
                    of(&parts)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let off = (slope - f64::from(found)).abs();
                assert!(off < 2e-5, "part {which}, {at}: {found}, not {slope}");
            }
        }
    }
}
