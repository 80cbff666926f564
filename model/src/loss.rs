//! How surprised a model is by what comes next.

use burn::tensor::{Int, Tensor, activation::log_softmax};

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
    let [batch, length, vocabulary] = logits.dims();
    assert_eq!(targets.dims(), [batch, length], "one target for each row of logits");
    let tokens = batch * length;
    let log_probabilities = log_softmax(logits.reshape([tokens, vocabulary]), 1);
    log_probabilities.gather(1, targets.reshape([tokens, 1])).mean().neg()
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
    fn huge_logits_stay_finite() {
        assert_eq!(loss(vec![1e30, 0.0, 0.0, 1e30], 2, vec![0, 1]), 0.0);
        assert!((loss(vec![0.0, 1e4], 2, vec![0]) - 1e4).abs() < 1e-2);
    }
}
