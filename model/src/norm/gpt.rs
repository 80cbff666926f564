//! The norms of a [`Gpt`](crate::Gpt).

use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};
use unroll_protocol::architecture::NormKind;

use crate::parameters::{bias, gain};

/// LayerNorm (Ba, Kiros and Hinton 2016) or, without a bias, RMSNorm (Zhang and Sennrich 2019).
#[derive(Module, Debug)]
pub struct Norm {
    /// γ, `[C]`
    pub gamma: Param<Tensor<1>>,
    /// β, `[C]`; `None` for RMSNorm.
    pub beta: Option<Param<Tensor<1>>>,
}

impl Norm {
    /// A norm for `width` features that starts with γ = 1 and β = 0.
    pub fn new(kind: NormKind, width: usize, device: &Device) -> Self {
        let beta = (kind == NormKind::Layer).then(|| bias(width, device));
        Self { gamma: gain(width, device), beta }
    }

    /// Whether the mean is subtracted.
    pub(crate) fn is_centered(&self) -> bool {
        self.beta.is_some()
    }

    /// γ and β, which is 0 where there is none.
    pub(crate) fn gain_and_bias(&self) -> [Tensor<1>; 2] {
        let gamma = self.gamma.val();
        let beta = self.beta.as_ref().map_or_else(|| gamma.zeros_like(), |beta| beta.val());
        [gamma, beta]
    }
}
