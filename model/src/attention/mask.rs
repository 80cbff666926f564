//! What a token may not look at.

use burn::tensor::{Device, Tensor, TensorData};

/// Keeps every token from attending to later ones.
///
/// It is added to the scores: 0 where attention is allowed and -inf where it is not, so that a
/// blocked weight is `exp(-inf)`, exactly 0, and never merely small. Adding, unlike filling, costs
/// the backward pass nothing.
#[derive(Clone, Debug)]
pub struct CausalMask {
    bias: Tensor<2>,
}

impl CausalMask {
    /// The mask of sequences of `length` tokens.
    pub fn new(length: usize, device: &Device) -> Self {
        let mut bias = vec![0.0; length * length];
        for (query, row) in bias.chunks_exact_mut(length).enumerate() {
            row[query + 1..].fill(f32::NEG_INFINITY);
        }
        let device = device.clone().inner();
        Self { bias: Tensor::from_data(TensorData::new(bias, [length, length]), &device) }
    }

    /// # Shapes
    ///
    /// - scores: `[batch, heads, T (query), T (key)]`
    /// - output: the same
    pub fn apply(&self, scores: Tensor<4>) -> Tensor<4> {
        scores + self.bias.clone().unsqueeze::<4>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_exactly_the_future() {
        let device = Device::flex();
        let masked = CausalMask::new(3, &device).apply(Tensor::ones([1, 1, 3, 3], &device));
        let values: Vec<f32> = masked.into_data().try_into_vec().unwrap();
        let inf = f32::NEG_INFINITY;
        assert_eq!(values, [1.0, inf, inf, 1.0, 1.0, inf, 1.0, 1.0, 1.0]);
    }
}
