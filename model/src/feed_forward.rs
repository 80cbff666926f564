//! The position-wise feed-forward layer (Vaswani et al. 2017).

use core::f64::consts::{FRAC_1_SQRT_2, PI};

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
    dropout::Dropout,
    parameters::{bias, matrix, project},
    random::Normals,
};

/// Configuration of a [`FeedForward`] layer.
#[derive(Clone, Copy, Debug)]
pub struct FeedForwardConfig {
    /// Width of the residual stream; the hidden layer is four times as wide.
    pub width: usize,
    pub activation: Activation,
    /// Standard deviation of the second layer's initial weights.
    pub output_deviation: f64,
}

/// `f(x W1 + b1) W2 + b2`, for each token by itself.
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
        let (width, hidden) = (self.width, 4 * self.width);
        FeedForward {
            hidden: Linear {
                weight: matrix([width, hidden], 0.02, draws, device),
                bias: Some(bias(hidden, device)),
            },
            output: Linear {
                weight: matrix([hidden, width], self.output_deviation, draws, device),
                bias: Some(bias(width, device)),
            },
            activation: self.activation,
        }
    }
}

impl FeedForward {
    /// # Shapes
    ///
    /// - input: `[batch, T, width]`
    /// - output: `[batch, T, width]`
    pub fn forward(&self, input: Tensor<3>, dropout: &Dropout) -> Tensor<3> {
        let hidden = self.neurons(input);
        dropout.apply(project(&self.output, hidden), 2)
    }

    /// What the hidden neurons put out.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, T, width]`
    /// - output: `[batch, T, 4 * width]`
    pub fn neurons(&self, input: Tensor<3>) -> Tensor<3> {
        activate(self.activation, project(&self.hidden, input))
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
    input * (inner.tanh() + 1.0) * 0.5
}

/// The exact Gaussian error linear unit, `x Φ(x)` with the normal distribution function `Φ`.
///
/// burn's own is not used for two reasons. On GPUs its derivative is that of the tanh
/// approximation, not of what it computed. And it evaluates the error function, by far the most
/// expensive part on a CPU, once more on the way back; here the derivative
/// `Φ(x) + x exp(-x²/2) / sqrt(2π)` is worked out while Φ is at hand, and attached to a term that
/// is exactly 0.
pub fn gelu<const D: usize>(input: Tensor<D>) -> Tensor<D> {
    let x = input.clone().inner();
    let phi = ((x.clone() * FRAC_1_SQRT_2).erf() + 1.0) * 0.5;
    if !input.is_tracked() {
        return x * phi;
    }
    let density = (x.clone() * x.clone() * -0.5).exp() * (1.0 / (2.0 * PI).sqrt());
    let derivative = density * x.clone() + phi.clone();
    let zero = input - x.clone();
    zero * derivative + x * phi
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Φ(x) by its defining integral, Simpson's rule in f64.
    fn distribution(x: f64) -> f64 {
        let intervals = 2000;
        let step = x / intervals as f64;
        let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * PI).sqrt();
        let inner: f64 = (1..intervals)
            .map(|i| density(i as f64 * step) * if i % 2 == 1 { 4.0 } else { 2.0 })
            .sum();
        0.5 + step / 3.0 * (density(0.0) + inner + density(x))
    }

    #[test]
    fn gelu_and_its_derivative_are_exact() {
        let points = [-5.0f32, -2.0, -0.7, -0.1, 0.0, 0.3, 1.0, 2.5, 6.0];
        let input = Tensor::<1>::from_floats(points, &Device::flex().autodiff()).require_grad();
        let output = gelu(input.clone());
        let plain: Vec<f32> = gelu(input.clone().inner()).into_data().try_into_vec().unwrap();
        let tracked: Vec<f32> = output.clone().into_data().try_into_vec().unwrap();
        assert_eq!(plain, tracked);
        let gradient = input.grad(&output.backward()).unwrap();
        let gradient: Vec<f32> = gradient.into_data().try_into_vec().unwrap();
        for ((x, y), slope) in points.iter().map(|&x| f64::from(x)).zip(plain).zip(gradient) {
            let phi = distribution(x);
            let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
            assert!((f64::from(y) - x * phi).abs() < 2e-7, "gelu({x}) = {y}");
            assert!((f64::from(slope) - (phi + x * density)).abs() < 3e-7, "gelu'({x}) = {slope}");
        }
    }
}
