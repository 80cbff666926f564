//! Scaled dot-product attention (Vaswani et al. 2017, equation 1), forward and backward, one head
//! after the other: its scores stay in the first cache from their computation to their use.

use super::{
    matmul::{Onto, View, product},
    rows::{dot, softmax},
};

/// Queries worked on together. Keys that none of them may look at are left out, so fewer would
/// compute less, but gather each key more often.
const BLOCK: usize = 32;

/// Numbers of shape `[batch, heads, T, d]`, in any order in which the last dimension is a run.
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

/// Numbers of shape `[1 or batch, 1 or heads, T, S]`, or just one number for all.
#[derive(Clone, Copy, Debug)]
pub struct PerPair<'a> {
    pub values: &'a [f32],
    pub shape: [usize; 4],
}

impl<'a> PerPair<'a> {
    /// Those of the pairs of one query, or the one for all.
    fn row(self, sequence: usize, head: usize, query: usize) -> Result<&'a [f32], f32> {
        let [sequences, heads, queries, keys] = self.shape;
        if self.values.len() == 1 {
            return Err(self.values[0]);
        }
        let sequence = if sequences == 1 { 0 } else { sequence };
        let head = if heads == 1 { 0 } else { head };
        let start = ((sequence * heads + head) * queries + query) * keys;
        Ok(&self.values[start..start + keys])
    }
}

/// Where numbers of layout `[batch, T, heads, d]` lie in a slice.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Where the first token's begin.
    pub start: usize,
    /// How far the next token's are from there.
    pub apart: usize,
}

impl Rows {
    /// Where the rows of one head, `d` numbers each, start.
    fn of(self, [sequence, head, row]: [usize; 3], length: usize, d: usize) -> usize {
        self.start + (sequence * length + row) * self.apart + head * d
    }
}

/// What one pass is about.
#[derive(Clone, Copy, Debug)]
pub struct Attend<'a> {
    pub queries: Heads<'a>,
    pub keys: Heads<'a>,
    pub values: Heads<'a>,
    /// Added to the scores; minus infinity blocks.
    pub bias: PerPair<'a>,
    /// What the weights are multiplied by before they mix: dropout.
    pub keep: PerPair<'a>,
    /// What products of queries and keys are multiplied by.
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
        let rows = Rows { start: 0, apart: heads * d };
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
                    // One number for all scores would change no weight.
                    if let Ok(bias) = self.bias.row(sequence, head, from + row) {
                        weights.iter_mut().zip(bias).for_each(|(weight, bias)| *weight += bias);
                    }
                    softmax(weights);
                }
                let mixing = self.kept(weights, [sequence, head, from], &mut kept);
                let mixing = View::rows(mixing, [count, keys]).first_columns(seen);
                let mixed = &mut mixed[rows.of([sequence, head, from], length, d)..];
                product(mixing, value.some_rows(0, seen), 1.0, Onto::Zero, mixed, rows.apart);
            }
        }
        (weights, mixed)
    }

    /// Gradients with respect to queries, keys and values, each laid out `[batch, T, heads, d]` where
    /// `places` says, from that with respect to the mixed values and the weights of
    /// [`forward`](Self::forward). Those of keys and values are added to what is there.
    pub fn backward(
        &self,
        weights: &[f32],
        upstream: Heads,
        gradients: &mut [f32],
        [of_queries, of_keys, of_values]: [Rows; 3],
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
                // A weight of 0 has no part in any gradient.
                let ends = weights.chunks_exact(keys);
                let ends =
                    ends.map(|row| row.iter().rposition(|&w| w != 0.0).map_or(0, |at| at + 1));
                let seen = ends.max().unwrap_or(0);
                let upstream = upstream.some_rows(from, count);

                let mixing = self.kept(weights, [sequence, head, from], &mut kept);
                let mixing = View::rows(mixing, [count, keys]).first_columns(seen);
                let result = &mut gradients[of_values.of([sequence, head, 0], keys, value_width)..];
                let apart = of_values.apart;
                product(mixing.transposed(), upstream, 1.0, Onto::Result, result, apart);

                let read = value.some_rows(0, seen).transposed();
                product(upstream, read, 1.0, Onto::Zero, slopes, keys);
                let rows = slopes.chunks_exact_mut(keys).zip(weights.chunks_exact(keys));
                for (row, (slopes, weights)) in rows.enumerate() {
                    let (slopes, weights) = (&mut slopes[..seen], &weights[..seen]);
                    match self.keep.row(sequence, head, from + row) {
                        Ok(keep) => slopes.iter_mut().zip(keep).for_each(|(s, keep)| *s *= keep),
                        Err(1.0) => {}
                        Err(keep) => slopes.iter_mut().for_each(|s| *s *= keep),
                    }
                    let mean = dot(slopes, weights);
                    for (slope, weight) in slopes.iter_mut().zip(weights) {
                        *slope = weight * (*slope - mean);
                    }
                }

                let slopes = View::rows(slopes, [count, keys]).first_columns(seen);
                let (key, query) = (key.some_rows(0, seen), query.some_rows(from, count));
                let result = &mut gradients[of_queries.of([sequence, head, from], length, d)..];
                product(slopes, key, self.scale, Onto::Zero, result, of_queries.apart);
                let result = &mut gradients[of_keys.of([sequence, head, 0], keys, d)..];
                let slopes = slopes.transposed();
                product(slopes, query, self.scale, Onto::Result, result, of_keys.apart);
            }
        }
    }

    /// How many keys, counted from the first, reach to the last one a query may look at.
    fn seen(&self, sequence: usize, head: usize, query: usize, keys: usize) -> usize {
        match self.bias.row(sequence, head, query) {
            Ok(bias) => {
                bias.iter().rposition(|&b| b != f32::NEG_INFINITY).map_or(0, |last| last + 1)
            }
            Err(_) => keys,
        }
    }

    /// The weights of some queries after dropout, in `room` if there is any.
    fn kept<'b>(
        &self,
        weights: &'b [f32],
        [sequence, head, from]: [usize; 3],
        room: &'b mut Vec<f32>,
    ) -> &'b [f32] {
        if self.keep.values == [1.0] {
            return weights;
        }
        let keys = self.keys.shape[2];
        room.clear();
        for (row, weights) in weights.chunks_exact(keys).enumerate() {
            match self.keep.row(sequence, head, from + row) {
                Ok(keep) => room.extend(weights.iter().zip(keep).map(|(w, keep)| w * keep)),
                Err(keep) => room.extend(weights.iter().map(|w| w * keep)),
            }
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 29 + seed * 17) % 53) as f32 / 26.0 - 1.0).collect()
    }

    /// `sum(upstream * mixed)` in f64, straight from the definition.
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
        // One after the other, with room between tokens that is left alone.
        let apart = heads * d + 2;
        let [of_queries, of_keys] = [length, keys].map(|n| batch * n * apart);
        let starts = [0, of_queries, of_queries + of_keys];
        let places = starts.map(|start| Rows { start, apart });
        let mut gradients = vec![0.0; starts[2] + of_keys];
        attend.backward(&weights, view(&upstream, length), &mut gradients, places);
        let beside = gradients.chunks_exact(apart).all(|row| row[heads * d..] == [0.0; 2]);
        assert!(beside, "what lies between rows is left alone");
        for which in 0..3 {
            for at in (0..inputs[which].len()).step_by(11) {
                let moved = |by: f64| {
                    let mut inputs = inputs.clone();
                    inputs[which][at] += by;
                    of(&inputs)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let (row, column) = (at / (heads * d), at % (heads * d));
                let found = f64::from(gradients[starts[which] + row * apart + column]);
                assert!((slope - found).abs() < 1e-5, "input {which}, {at}: {found}, not {slope}");
            }
        }
    }
}
