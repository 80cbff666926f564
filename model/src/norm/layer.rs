//! Layer normalization (Ba, Kiros and Hinton 2016).

use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};

use super::{NormTrace, normalize, statistics};
use crate::parameters::{bias, gain};

/// Normalizes every example by the mean and variance of its own features: the same in training and
/// inference, and independent of the rest of the batch.
#[derive(Module, Debug)]
pub struct LayerNorm {
    /// γ, `[C]`
    pub gamma: Param<Tensor<1>>,
    /// β, `[C]`
    pub beta: Param<Tensor<1>>,
}

impl LayerNorm {
    /// A layer for `width` features that starts as the identity after normalization: γ = 1, β = 0.
    pub fn new(width: usize, device: &Device) -> Self {
        Self { gamma: gain(width, device), beta: bias(width, device) }
    }

    /// Normalizes each row.
    ///
    /// # Shapes
    ///
    /// - input: `[B, C]`
    /// - output: `[B, C]`; the trace's statistics `[B, 1]`
    pub fn forward(&self, input: Tensor<2>) -> (Tensor<2>, NormTrace) {
        let statistics = statistics(&input, 1);
        normalize(input, statistics, self.gamma.val(), self.beta.val())
    }
}
