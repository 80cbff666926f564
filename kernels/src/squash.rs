//! Non-linearities whose derivative comes from what they returned.

use super::math::{sigmoid, tanh};

/// A non-linearity whose derivative comes from what it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Squash {
    Tanh,
    Sigmoid,
}

impl Squash {
    /// Replaces every number by its image.
    pub fn apply(self, values: &mut [f32]) {
        match self {
            Self::Tanh => values.iter_mut().for_each(|value| *value = tanh(*value)),
            Self::Sigmoid => values.iter_mut().for_each(|value| *value = sigmoid(*value)),
        }
    }

    /// The gradient by the input, from what [`Self::apply`] left.
    pub fn backward(self, output: &[f32], upstream: &[f32]) -> Vec<f32> {
        let each = upstream.iter().zip(output);
        match self {
            Self::Tanh => each.map(|(upstream, y)| upstream * (1.0 - y * y)).collect(),
            Self::Sigmoid => each.map(|(upstream, y)| upstream * (y - y * y)).collect(),
        }
    }
}
