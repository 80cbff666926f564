//! Losses and accuracies.

use burn::tensor::{Int, Tensor};

use crate::fused;

/// Mean cross-entropy in nats per token.
///
/// # Shapes
///
/// - logits: `[batch, T, vocabulary]`
/// - targets: `[batch, T]`
/// - output: `[1]`
///
/// # Panics
///
/// Panics if the shapes do not agree.
pub fn cross_entropy(logits: Tensor<3>, targets: Tensor<2, Int>) -> Tensor<1> {
    let [batch, length, _] = logits.dims();
    cross_entropy_each(logits, targets).reshape([batch * length]).mean()
}

/// Cross-entropy of every token, in nats.
///
/// # Shapes
///
/// - logits: `[batch, T, vocabulary]`
/// - targets: `[batch, T]`
/// - output: `[batch, T]`
///
/// # Panics
///
/// Panics if the shapes do not agree.
pub fn cross_entropy_each(logits: Tensor<3>, targets: Tensor<2, Int>) -> Tensor<2> {
    let [batch, length, vocabulary] = logits.dims();
    assert_eq!(targets.dims(), [batch, length], "one target for each row of logits");
    let tokens = batch * length;
    let losses =
        fused::cross_entropy(logits.reshape([tokens, vocabulary]), targets.reshape([tokens]));
    losses.reshape([batch, length])
}

/// Weighted mean cross-entropy in nats over the requested answers: each counts by its weight, and
/// one of weight 0 not at all.
///
/// # Shapes
///
/// - logits: `[batch, T, outputs]`
/// - targets: `[batch, T]`
/// - weights: `[batch, T]`, not all of them 0
/// - output: `[1]`
///
/// # Panics
///
/// Panics if the shapes do not agree.
pub fn masked_cross_entropy(
    logits: Tensor<3>,
    targets: Tensor<2, Int>,
    weights: Tensor<2>,
) -> Tensor<1> {
    let [batch, length, _] = logits.dims();
    assert_eq!(weights.dims(), [batch, length], "one weight for each row of logits");
    let losses = cross_entropy_each(logits, targets);
    (losses * weights.clone()).sum() / weights.sum()
}

/// Weighted share of the requested answers in which the likeliest answer is right.
///
/// # Shapes
///
/// - logits: `[batch, T, outputs]`
/// - targets: `[batch, T]`
/// - weights: `[batch, T]`, not all of them 0
/// - output: `[1]`
///
/// # Panics
///
/// Panics if the shapes do not agree.
pub fn masked_accuracy(
    logits: Tensor<3>,
    targets: Tensor<2, Int>,
    weights: Tensor<2>,
) -> Tensor<1> {
    let [batch, length, _] = logits.dims();
    assert_eq!(targets.dims(), [batch, length], "one target for each row of logits");
    let right = logits.argmax(2).reshape([batch, length]).equal(targets).float();
    (right * weights.clone()).sum() / weights.sum()
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;

    fn loss(logits: Vec<f32>, vocabulary: usize, targets: Vec<i32>) -> f32 {
        let device = Device::flex();
        let length = targets.len();
        let logits = Tensor::from_data(TensorData::new(logits, [1, length, vocabulary]), &device);
        let targets = Tensor::from_data(TensorData::new(targets, [1, length]), &device);
        cross_entropy(logits, targets).into_scalar()
    }

    #[test]
    fn uniform_logits_cost_the_logarithm_of_the_vocabulary() {
        assert!((loss(vec![0.5; 12], 4, vec![0, 1, 3]) - 4f32.ln()).abs() < 1e-6);
    }

    #[test]
    fn only_what_is_asked_for_counts() {
        let device = Device::flex();
        let logits = || Tensor::<3>::from_floats([[[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]], &device);
        let targets = || Tensor::<2, Int>::from_ints([[0, 1, 1]], &device);
        let weighted = |weights: [f32; 3]| {
            let weights = Tensor::<2>::from_floats([weights], &device);
            let loss = masked_cross_entropy(logits(), targets(), weights.clone());
            (loss.into_scalar::<f32>(), masked_accuracy(logits(), targets(), weights).into_scalar())
        };
        let (loss, accuracy): (f32, f32) = weighted([1.0, 0.0, 0.0]);
        assert!((loss - 2f32.ln()).abs() < 1e-6);
        assert_eq!(accuracy, 1.0);
        let (loss, accuracy) = weighted([0.0, 1.0, 1.0]);
        assert!((loss - 4.5).abs() < 1e-3, "{loss}");
        assert_eq!(accuracy, 0.5);
        let (loss, _) = weighted([1.0; 3]);
        let plain: f32 = cross_entropy(logits(), targets()).into_scalar();
        assert!((loss - plain).abs() < 1e-6);
    }

    #[test]
    fn huge_logits_stay_finite() {
        assert_eq!(loss(vec![1e30, 0.0, 0.0, 1e30], 2, vec![0, 1]), 0.0);
        assert!((loss(vec![0.0, 1e4], 2, vec![0]) - 1e4).abs() < 1e-2);
    }
}
