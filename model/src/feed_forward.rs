//! The position-wise feed-forward layer (Vaswani et al. 2017).

use core::f64::consts::PI;

use burn::{
    module::Module,
    nn::Linear,
    tensor::{
        Device, Tensor,
        activation::{relu, softmax},
    },
};
use unroll_protocol::architecture::Activation;

use crate::{
    deviations::Deviations,
    dropout::Dropout,
    fused::{gelu, linear, recurrent::tanh},
    parameters::{bias, matrix},
    random::Normals,
};

/// Configuration of a [`FeedForward`] layer.
#[derive(Clone, Copy, Debug)]
pub struct FeedForwardConfig {
    /// Width of the residual stream; the hidden layer is four times as wide.
    pub width: usize,
    pub activation: Activation,
    pub deviations: Deviations,
}

/// `f(x W1 + b1) W2 + b2`, for each token independently.
#[derive(Module, Debug)]
pub struct FeedForward {
    pub hidden: Linear,
    pub output: Linear,
    #[module(skip)]
    activation: Activation,
}

impl FeedForwardConfig {
    /// Draws the layer's weights.
    pub(crate) fn init(&self, draws: &mut Normals, device: &Device) -> FeedForward {
        let Self { width, activation, deviations } = *self;
        let hidden = 4 * width;
        let [shape, back] = [[width, hidden], [hidden, width]];
        FeedForward {
            hidden: Linear {
                weight: matrix(shape, deviations.inner(shape), draws, device),
                bias: Some(bias(hidden, device)),
            },
            output: Linear {
                weight: matrix(back, deviations.output(back), draws, device),
                bias: Some(bias(width, device)),
            },
            activation,
        }
    }
}

impl FeedForward {
    /// # Shapes
    ///
    /// - input: `[batch, T, width]`
    /// - output: `[batch, T, width]`
    pub fn forward(&self, input: Tensor<3>, dropout: &Dropout) -> Tensor<3> {
        self.project(self.neurons(input), dropout)
    }

    /// What the layer makes of its hidden neurons.
    ///
    /// # Shapes
    ///
    /// - hidden: `[batch, T, 4 * width]`
    /// - output: `[batch, T, width]`
    pub fn project(&self, hidden: Tensor<3>, dropout: &Dropout) -> Tensor<3> {
        dropout.apply(linear(&self.output, hidden), 2)
    }

    /// The activations of the hidden neurons.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, T, width]`
    /// - output: `[batch, T, 4 * width]`
    pub fn neurons(&self, input: Tensor<3>) -> Tensor<3> {
        activate(self.activation, linear(&self.hidden, input))
    }
}

/// The non-linearity of a feed-forward layer; SoLU takes its softmax over the last dimension.
pub fn activate<const D: usize>(activation: Activation, input: Tensor<D>) -> Tensor<D> {
    match activation {
        Activation::Relu => relu(input),
        Activation::Gelu => gelu(input),
        Activation::GeluTanh => gelu_tanh(input),
        Activation::Solu => input.clone() * softmax(input, D - 1),
    }
}

/// `x (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) / 2` (Hendrycks and Gimpel 2016, section 2).
fn gelu_tanh<const D: usize>(input: Tensor<D>) -> Tensor<D> {
    let cube = input.clone() * input.clone() * input.clone();
    let inner = (input.clone() + cube * 0.044715) * (2.0 / PI).sqrt();
    input * (tanh(inner) + 1.0) * 0.5
}
