//! Statistics of what heads attend to and what they write.

use burn::tensor::{Device, Tensor, TensorData};
use unroll_protocol::study::heads::Statistics;

use super::{Attention, AttentionTrace};

/// Smaller than any weight that counts: `a ln a` is 0 there.
const LEAST: f32 = 1e-30;

/// Each head's entropy (in nats), mean distance (in tokens), weight on the first token and weight
/// on the token before the query, averaged over all sequences and all queries but the first, which
/// has nothing to choose from.
///
/// # Shapes
///
/// - weights: `[batch, heads, T (query), T (key)]`, causal
/// - output: `[heads, 4]`
///
/// # Panics
///
/// Panics if T is below 2.
pub fn head_statistics(weights: Tensor<4>) -> Tensor<2> {
    let [_, heads, length, keys] = weights.dims();
    assert!(length == keys && length > 1, "{length} queries, {keys} keys");
    let device = weights.device();
    let chosen = weights.narrow(2, 1, length - 1);
    // A weight's factor, by query and key.
    let table = |value: fn(usize, usize) -> f32| per_cell(length, value, &device);
    let mean = |each: Tensor<4>| {
        // A sum over keys, a mean over sequences and queries.
        each.sum_dim(3).mean_dim(2).mean_dim(0).reshape([heads, 1])
    };
    let entropy = chosen.clone() * chosen.clone().clamp_min(LEAST).log().neg();
    let distance = chosen.clone() * table(|query, key| query.saturating_sub(key) as f32);
    let first = chosen.clone() * table(|_, key| f32::from(u8::from(key == 0)));
    let previous = chosen * table(|query, key| f32::from(u8::from(key + 1 == query)));
    Tensor::cat(vec![mean(entropy), mean(distance), mean(first), mean(previous)], 1)
}

/// Parses rows as returned by [`head_statistics`].
pub fn statistics_of(read: &[f32]) -> Vec<Statistics> {
    let rows = read.chunks_exact(4);
    rows.map(|row| Statistics {
        entropy: row[0],
        distance: row[1],
        first: row[2],
        previous: row[3],
    })
    .collect()
}

/// `[1, 1, T - 1, T]`, for all queries but the first.
fn per_cell(length: usize, value: fn(usize, usize) -> f32, device: &Device) -> Tensor<4> {
    let cells = (1..length).flat_map(|query| (0..length).map(move |key| value(query, key)));
    let data = TensorData::new(cells.collect::<Vec<_>>(), [1, 1, length - 1, length]);
    Tensor::from_data(data, device)
}

impl Attention {
    /// What each head adds to the layer's output. Concatenating the heads and multiplying by W_O is
    /// the same as multiplying each head by its own d rows of W_O and summing. The sum over the
    /// heads plus the bias is the output.
    ///
    /// # Shapes
    ///
    /// - output: `[batch, heads, T, width]`
    pub fn contributions(&self, trace: &AttentionTrace) -> Tensor<4> {
        let [_, heads, _, head_width] = trace.mixed.dims();
        let weight = self.output.weight.val();
        let [_, width] = weight.dims();
        trace.mixed.clone().matmul(weight.reshape([1, heads, head_width, width]))
    }
}
