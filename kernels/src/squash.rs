//! Non-linearities whose derivative follows from their output.

use super::math::{sigmoid, tanh};

/// A non-linearity whose derivative follows from its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Squash {
    Tanh,
    Sigmoid,
}

impl Squash {
    /// Applies it to every number in place.
    pub fn apply(self, values: &mut [f32]) {
        match self {
            Self::Tanh => values.iter_mut().for_each(|value| *value = tanh(*value)),
            Self::Sigmoid => values.iter_mut().for_each(|value| *value = sigmoid(*value)),
        }
    }

    /// The gradient with respect to the input, given the output of [`Self::apply`].
    pub fn backward(self, output: &[f32], upstream: &[f32]) -> Vec<f32> {
        let each = upstream.iter().zip(output);
        match self {
            Self::Tanh => each.map(|(upstream, y)| upstream * (1.0 - y * y)).collect(),
            Self::Sigmoid => each.map(|(upstream, y)| upstream * (y - y * y)).collect(),
        }
    }
}
