//! Scaled dot-product attention (Vaswani et al. 2017, equation 1), forward and backward, one head
//! at a time, so that a head's scores are still in the first-level cache when they are used.

use super::{
    matmul::{Onto, View, product},
    rows::{dot, softmax},
};

/// Number of queries processed together. Keys that none of them may attend to are skipped, so a
/// smaller block would compute less, but pack each key more often.
const BLOCK: usize = 32;

/// Strided numbers of shape `[batch, heads, T, d]` whose last dimension is contiguous.
#[derive(Clone, Copy, Debug)]
pub struct Heads<'a> {
    pub values: &'a [f32],
    pub shape: [usize; 4],
    pub strides: [usize; 4],
}

impl<'a> Heads<'a> {
    fn of(self, sequence: usize, head: usize) -> View<'a> {
        let start = sequence * self.strides[0] + head * self.strides[1];
        View {
            values: &self.values[start..],
            shape: [self.shape[2], self.shape[3]],
            strides: [self.strides[2], self.strides[3]],
        }
    }
}

/// Contiguous numbers of shape `[1 or batch, 1 or heads, T, S]`, or a single number for all pairs.
#[derive(Clone, Copy, Debug)]
pub struct PerPair<'a> {
    pub values: &'a [f32],
    pub shape: [usize; 4],
}

/// What [`PerPair`] holds for the pairs of one query with all keys.
enum PairRow<'a> {
    /// A number for each key.
    Each(&'a [f32]),
    /// The same number for every key.
    Same(f32),
}

impl<'a> PerPair<'a> {
    fn row(self, sequence: usize, head: usize, query: usize) -> PairRow<'a> {
        let [sequences, heads, queries, keys] = self.shape;
        if self.values.len() == 1 {
            return PairRow::Same(self.values[0]);
        }
        let sequence = if sequences == 1 { 0 } else { sequence };
        let head = if heads == 1 { 0 } else { head };
        let start = ((sequence * heads + head) * queries + query) * keys;
        PairRow::Each(&self.values[start..start + keys])
    }
}

/// Location of a `[batch, T, heads, d]` array within a slice.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Index of the first token's row.
    pub start: usize,
    /// Distance between the rows of consecutive tokens.
    pub stride: usize,
}

impl Rows {
    /// Index of the `d` numbers of one head of one token.
    fn of(self, [sequence, head, row]: [usize; 3], length: usize, d: usize) -> usize {
        self.start + (sequence * length + row) * self.stride + head * d
    }
}

/// Inputs of an attention layer's core.
#[derive(Clone, Copy, Debug)]
pub struct Attend<'a> {
    pub queries: Heads<'a>,
    pub keys: Heads<'a>,
    pub values: Heads<'a>,
    /// Added to the scores; minus infinity blocks a pair.
    pub bias: PerPair<'a>,
    /// Factors of the weights before they mix the values: dropout.
    pub keep: PerPair<'a>,
    /// Factor of the products of queries and keys.
    pub scale: f32,
}

impl Attend<'_> {
    /// The weights before dropout, `[batch, heads, T, S]`, and the mixed values,
    /// `[batch, T, heads, d]`.
    pub fn forward(&self) -> (Vec<f32>, Vec<f32>) {
        let [batch, heads, length, _] = self.queries.shape;
        let [_, _, keys, d] = self.values.shape;
        let mut weights = vec![0.0; batch * heads * length * keys];
        let mut mixed = vec![0.0; batch * length * heads * d];
        let mut kept = Vec::new();
        let rows = Rows { start: 0, stride: heads * d };
        let each = (0..batch).flat_map(|sequence| (0..heads).map(move |head| (sequence, head)));
        for ((sequence, head), weights) in each.zip(weights.chunks_exact_mut(length * keys)) {
            let query = self.queries.of(sequence, head);
            let key = self.keys.of(sequence, head);
            let value = self.values.of(sequence, head);
            for from in (0..length).step_by(BLOCK) {
                let count = BLOCK.min(length - from);
                let weights = &mut weights[from * keys..][..count * keys];
                let seen = (from..from + count).map(|row| self.seen(sequence, head, row, keys));
                let seen = seen.max().unwrap_or(0);
                let read = key.some_rows(0, seen).transposed();
                product(query.some_rows(from, count), read, self.scale, Onto::Zero, weights, keys);
                for (row, weights) in weights.chunks_exact_mut(keys).enumerate() {
                    let weights = &mut weights[..seen];
                    // Adding the same number to all scores would change no weight.
                    if let PairRow::Each(bias) = self.bias.row(sequence, head, from + row) {
                        weights.iter_mut().zip(bias).for_each(|(weight, bias)| *weight += bias);
                    }
                    softmax(weights);
                }
                let mixing = self.kept(weights, [sequence, head, from], &mut kept);
                let mixing = View::rows(mixing, [count, keys]).first_columns(seen);
                let mixed = &mut mixed[rows.of([sequence, head, from], length, d)..];
                product(mixing, value.some_rows(0, seen), 1.0, Onto::Zero, mixed, rows.stride);
            }
        }
        (weights, mixed)
    }

    /// Computes the gradients with respect to queries, keys and values, given `upstream`, the one
    /// with respect to the mixed values, and the weights that [`forward`](Self::forward) returned.
    /// Each is `[batch, T, heads, d]` at its place in `gradients`; those of keys and values are
    /// added to what is there.
    pub fn backward(
        &self,
        weights: &[f32],
        upstream: Heads,
        gradients: &mut [f32],
        [query_rows, key_rows, value_rows]: [Rows; 3],
    ) {
        let [batch, heads, length, d] = self.queries.shape;
        let [_, _, keys, value_width] = self.values.shape;
        let mut slopes = vec![0.0; BLOCK * keys];
        let mut kept = Vec::new();
        let each = (0..batch).flat_map(|sequence| (0..heads).map(move |head| (sequence, head)));
        for ((sequence, head), weights) in each.zip(weights.chunks_exact(length * keys)) {
            let query = self.queries.of(sequence, head);
            let key = self.keys.of(sequence, head);
            let value = self.values.of(sequence, head);
            let upstream = upstream.of(sequence, head);
            for from in (0..length).step_by(BLOCK) {
                let count = BLOCK.min(length - from);
                let weights = &weights[from * keys..][..count * keys];
                let slopes = &mut slopes[..count * keys];
                // A weight of 0 contributes to no gradient.
                let ends = weights.chunks_exact(keys);
                let ends =
                    ends.map(|row| row.iter().rposition(|&w| w != 0.0).map_or(0, |at| at + 1));
                let seen = ends.max().unwrap_or(0);
                let upstream = upstream.some_rows(from, count);

                let mixing = self.kept(weights, [sequence, head, from], &mut kept);
                let mixing = View::rows(mixing, [count, keys]).first_columns(seen);
                let result =
                    &mut gradients[value_rows.of([sequence, head, 0], keys, value_width)..];
                let stride = value_rows.stride;
                product(mixing.transposed(), upstream, 1.0, Onto::Result, result, stride);

                let read = value.some_rows(0, seen).transposed();
                product(upstream, read, 1.0, Onto::Zero, slopes, keys);
                let rows = slopes.chunks_exact_mut(keys).zip(weights.chunks_exact(keys));
                for (row, (slopes, weights)) in rows.enumerate() {
                    let (slopes, weights) = (&mut slopes[..seen], &weights[..seen]);
                    match self.keep.row(sequence, head, from + row) {
                        PairRow::Each(keep) => {
                            slopes.iter_mut().zip(keep).for_each(|(s, keep)| *s *= keep)
                        }
                        PairRow::Same(1.0) => {}
                        PairRow::Same(keep) => slopes.iter_mut().for_each(|s| *s *= keep),
                    }
                    let mean = dot(slopes, weights);
                    for (slope, weight) in slopes.iter_mut().zip(weights) {
                        *slope = weight * (*slope - mean);
                    }
                }

                let slopes = View::rows(slopes, [count, keys]).first_columns(seen);
                let (key, query) = (key.some_rows(0, seen), query.some_rows(from, count));
                let result = &mut gradients[query_rows.of([sequence, head, from], length, d)..];
                product(slopes, key, self.scale, Onto::Zero, result, query_rows.stride);
                let result = &mut gradients[key_rows.of([sequence, head, 0], keys, d)..];
                let slopes = slopes.transposed();
                product(slopes, query, self.scale, Onto::Result, result, key_rows.stride);
            }
        }
    }

    /// One more than the index of the last key that a query may attend to.
    fn seen(&self, sequence: usize, head: usize, query: usize, keys: usize) -> usize {
        match self.bias.row(sequence, head, query) {
            PairRow::Each(bias) => {
                bias.iter().rposition(|&b| b != f32::NEG_INFINITY).map_or(0, |last| last + 1)
            }
            PairRow::Same(_) => keys,
        }
    }

    /// The weights of some queries after dropout, written to `scratch` if dropout is on.
    fn kept<'b>(
        &self,
        weights: &'b [f32],
        [sequence, head, from]: [usize; 3],
        scratch: &'b mut Vec<f32>,
    ) -> &'b [f32] {
        if self.keep.values == [1.0] {
            return weights;
        }
        let keys = self.keys.shape[2];
        scratch.clear();
        for (row, weights) in weights.chunks_exact(keys).enumerate() {
            match self.keep.row(sequence, head, from + row) {
                PairRow::Each(keep) => {
                    scratch.extend(weights.iter().zip(keep).map(|(w, keep)| w * keep))
                }
                PairRow::Same(keep) => scratch.extend(weights.iter().map(|w| w * keep)),
            }
        }
        scratch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 29 + seed * 17) % 53) as f32 / 26.0 - 1.0).collect()
    }

    /// `sum(upstream * mixed)` in f64, directly from the definition.
    fn objective(
        numbers: [&[f64]; 3],
        shape: [usize; 5],
        blocked: &[bool],
        keep: &[f32],
        upstream: &[f32],
    ) -> f64 {
        let [batch, heads, length, keys, d] = shape;
        let [q, k, v] = numbers;
        let at =
            |s: usize, n: usize, t: usize, h: usize, i: usize| ((s * n + t) * heads + h) * d + i;
        let mut objective = 0.0;
        for s in 0..batch {
            for h in 0..heads {
                for t in 0..length {
                    let score = |u: usize| {
                        (0..d)
                            .map(|i| q[at(s, length, t, h, i)] * k[at(s, keys, u, h, i)])
                            .sum::<f64>()
                    };
                    let weight =
                        |u: usize| if blocked[t * keys + u] { 0.0 } else { (0.5 * score(u)).exp() };
                    let sum: f64 = (0..keys).map(weight).sum();
                    for u in 0..keys {
                        let keep = f64::from(keep[((s * heads + h) * length + t) * keys + u]);
                        let mix = |i: usize| {
                            v[at(s, keys, u, h, i)] * f64::from(upstream[at(s, length, t, h, i)])
                        };
                        objective += weight(u) / sum * keep * (0..d).map(mix).sum::<f64>();
                    }
                }
            }
        }
        objective
    }

    #[test]
    fn gradients_are_the_derivatives_with_masks_and_dropout() {
        let [batch, heads, length, keys, d] = [2, 2, 35, 34, 3];
        let shape = [batch, heads, length, keys, d];
        let layout = |n: usize| ([batch, heads, n, d], [n * heads * d, d, heads * d, 1]);
        let q = numbers(batch * heads * length * d, 1);
        let k = numbers(batch * heads * keys * d, 2);
        let v = numbers(batch * heads * keys * d, 3);
        let upstream = numbers(q.len(), 4);
        let blocked: Vec<bool> = (0..length * keys)
            .map(|i| i % keys > i / keys || (i % 7 == 0 && i % keys != 0))
            .collect();
        let bias: Vec<f32> =
            blocked.iter().map(|&b| if b { f32::NEG_INFINITY } else { 0.0 }).collect();
        let keep: Vec<f32> = (0..batch * heads * length * keys)
            .map(|i| if i % 5 == 0 { 0.0 } else { 1.25 })
            .collect();
        let view = |values, n| {
            let (shape, strides) = layout(n);
            Heads { values, shape, strides }
        };
        let attend = Attend {
            queries: view(&q, length),
            keys: view(&k, keys),
            values: view(&v, keys),
            bias: PerPair { values: &bias, shape: [1, 1, length, keys] },
            keep: PerPair { values: &keep, shape: [batch, heads, length, keys] },
            scale: 0.5,
        };
        let (weights, mixed) = attend.forward();
        for (row, weights) in weights.chunks_exact(keys).enumerate() {
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            for (u, weight) in weights.iter().enumerate() {
                assert_eq!(*weight == 0.0, blocked[row % length * keys + u]);
            }
        }
        let wide = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let inputs = [wide(&q), wide(&k), wide(&v)];
        let of = |inputs: &[Vec<f64>; 3]| {
            objective([&inputs[0], &inputs[1], &inputs[2]], shape, &blocked, &keep, &upstream)
        };
        let found: f32 = mixed.iter().zip(&upstream).map(|(m, u)| m * u).sum();
        assert!((f64::from(found) - of(&inputs)).abs() < 1e-4);
        // The gradients one after another, with padding between tokens that must stay untouched.
        let stride = heads * d + 2;
        let [of_queries, of_keys] = [length, keys].map(|n| batch * n * stride);
        let starts = [0, of_queries, of_queries + of_keys];
        let places = starts.map(|start| Rows { start, stride });
        let mut gradients = vec![0.0; starts[2] + of_keys];
        attend.backward(&weights, view(&upstream, length), &mut gradients, places);
        let untouched = gradients.chunks_exact(stride).all(|row| row[heads * d..] == [0.0; 2]);
        assert!(untouched, "padding between rows is left untouched");
        for which in 0..3 {
            for at in (0..inputs[which].len()).step_by(11) {
                let moved = |by: f64| {
                    let mut inputs = inputs.clone();
                    inputs[which][at] += by;
                    of(&inputs)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let (row, column) = (at / (heads * d), at % (heads * d));
                let found = f64::from(gradients[starts[which] + row * stride + column]);
                assert!((slope - found).abs() < 1e-5, "input {which}, {at}: {found}, not {slope}");
            }
        }
    }
}
