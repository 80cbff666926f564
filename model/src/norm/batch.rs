//! Batch normalization (Ioffe and Szegedy 2015).

use core::fmt;

use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};

use super::{NormTrace, normalize, statistics};
use crate::parameters::{bias, gain};

/// Normalizes every feature by its mean and variance over the batch, so that the output for one
/// example depends on the others.
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// γ, `[C]`
    pub gamma: Param<Tensor<1>>,
    /// β, `[C]`
    pub beta: Param<Tensor<1>>,
}

/// A batch of one example can't be normalized by its own statistics. `Display` is the sentence the
/// page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchOfOne;

impl fmt::Display for BatchOfOne {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "With one example in the batch, every feature's mean is that example's own value and \
             its variance is 0: x − μ is 0 whatever x was, so BatchNorm would wipe the example \
             out. It can't train on a batch of 1 (PyTorch refuses, too). Take a batch of at least \
             2, or use the running statistics.",
        )
    }
}

impl core::error::Error for BatchOfOne {}

impl BatchNorm {
    /// A layer for `width` features that starts as the identity after normalization: γ = 1, β = 0.
    pub fn new(width: usize, device: &Device) -> Self {
        Self { gamma: gain(width, device), beta: bias(width, device) }
    }

    /// Training mode: uses the statistics of `input` itself, with the biased variance. The gradient
    /// flows through mean and variance.
    ///
    /// # Shapes
    ///
    /// - input: `[B, C]`
    /// - output: `[B, C]`; the trace's statistics `[1, C]`
    ///
    /// # Errors
    ///
    /// [`BatchOfOne`] if B is 1.
    pub fn forward_batch(&self, input: Tensor<2>) -> Result<(Tensor<2>, NormTrace), BatchOfOne> {
        if input.dims()[0] < 2 {
            return Err(BatchOfOne);
        }
        let statistics = statistics(&input, 0);
        Ok(normalize(input, statistics, self.gamma.val(), self.beta.val()))
    }

    /// Inference mode: uses running statistics, so that every example is independent of the others.
    ///
    /// # Shapes
    ///
    /// - input: `[B, C]`
    /// - output: `[B, C]`; the trace's statistics `[1, C]`
    pub fn forward_running(
        &self,
        input: Tensor<2>,
        running: &RunningStatistics,
    ) -> (Tensor<2>, NormTrace) {
        let statistics = (running.mean.clone().unsqueeze(), running.variance.clone().unsqueeze());
        normalize(input, statistics, self.gamma.val(), self.beta.val())
    }
}

/// Exponential moving averages of a layer's batch statistics. They are not trained, and therefore
/// not part of the module.
#[derive(Clone, Debug)]
pub struct RunningStatistics {
    /// `[C]`
    pub mean: Tensor<1>,
    /// `[C]`, the average of the unbiased variances.
    pub variance: Tensor<1>,
}

impl RunningStatistics {
    /// Weight of the newest batch in the averages, PyTorch's `momentum`.
    pub const MOMENTUM: f64 = 0.1;

    /// Mean 0 and variance 1, as PyTorch starts.
    pub fn new(width: usize, device: &Device) -> Self {
        Self { mean: Tensor::zeros([width], device), variance: Tensor::ones([width], device) }
    }

    /// Updates the averages with the statistics of a batch of `examples`. The batch was normalized
    /// by its biased variance `σ²`; the average takes the unbiased one, `σ² B / (B - 1)`, which
    /// estimates the variance of all data.
    ///
    /// # Panics
    ///
    /// Panics if `examples` is below 2.
    pub fn take(&mut self, batch: &NormTrace, examples: usize) {
        assert!(examples > 1, "a batch of one has no variance");
        let unbiased = examples as f64 / (examples - 1) as f64;
        let new = |old: &Tensor<1>, batch: &Tensor<2>, factor: f64| {
            let batch = batch.clone().inner().squeeze_dim::<1>(0);
            old.clone() * (1.0 - Self::MOMENTUM) + batch * (Self::MOMENTUM * factor)
        };
        self.mean = new(&self.mean, &batch.mean, 1.0);
        self.variance = new(&self.variance, &batch.variance, unbiased);
    }
}
