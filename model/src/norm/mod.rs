//! Normalization that exposes its statistics: over the batch (Ioffe and Szegedy 2015) and over the
//! features of one example (Ba, Kiros and Hinton 2016).
//!
//! Both compute `x̂ = (x - μ) / sqrt(σ² + ε)` and `y = γ x̂ + β`; they differ in the axis over
//! which μ and σ² are taken. burn's own layers hide those statistics, so the chapters that show
//! them use these. The norm of a GPT shows none, and is one of two kinds.

mod batch;
mod gpt;
mod layer;

pub use batch::{BatchNorm, BatchOfOne, RunningStatistics};
pub use gpt::Norm;
pub use layer::LayerNorm;

use burn::tensor::Tensor;

/// Added to every variance; PyTorch's default.
pub const NORM_EPSILON: f64 = 1e-5;

/// What one normalization computed on an input of shape `[B, C]`.
#[derive(Clone, Debug)]
pub struct NormTrace {
    /// One mean for each feature, `[1, C]`, or for each example, `[B, 1]`.
    pub mean: Tensor<2>,
    /// The variance used, of the same shape: biased, unless it is a running one.
    pub variance: Tensor<2>,
    /// x̂, before γ and β, `[B, C]`.
    pub normalized: Tensor<2>,
}

/// Mean and biased variance over the axis `over`, which is kept with length 1.
fn statistics(input: &Tensor<2>, over: usize) -> (Tensor<2>, Tensor<2>) {
    let mean = input.clone().mean_dim(over);
    let centered = input.clone() - mean.clone();
    (mean, (centered.clone() * centered).mean_dim(over))
}

/// `γ (x - μ) / sqrt(σ² + ε) + β`, and its intermediate results.
fn normalize(
    input: Tensor<2>,
    (mean, variance): (Tensor<2>, Tensor<2>),
    gamma: Tensor<1>,
    beta: Tensor<1>,
) -> (Tensor<2>, NormTrace) {
    let normalized = (input - mean.clone()) / (variance.clone() + NORM_EPSILON).sqrt();
    let output = normalized.clone() * gamma.unsqueeze() + beta.unsqueeze();
    (output, NormTrace { mean, variance, normalized })
}
