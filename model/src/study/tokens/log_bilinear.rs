//! The smallest model with an embedding: log-bilinear (Mnih and Hinton 2007) with a context of one
//! token, `p(next | x) = softmax(E[x] R + b)`.

use burn::{
    module::Module,
    nn::{Embedding, Linear},
    tensor::{Device, Int, Tensor},
};

use crate::{
    fused::linear,
    parameters::{bias, matrix},
    random::{Normals, Purpose, stream},
};

/// Standard deviation of the initial weights.
const DEVIATION: f64 = 0.2;

/// An embedding with a linear readout.
#[derive(Module, Debug)]
pub struct LogBilinear {
    /// E, `[V, d]`
    pub embedding: Embedding,
    /// R and b, `[d, V]` and `[V]`
    pub readout: Linear,
}

impl LogBilinear {
    pub fn new(vocabulary: usize, width: usize, seed: u32, device: &Device) -> Self {
        let mut draws = Normals::new(stream(seed, Purpose::Weights, [0; 3]));
        Self {
            embedding: Embedding {
                weight: matrix([vocabulary, width], DEVIATION, &mut draws, device),
            },
            readout: Linear {
                weight: matrix([width, vocabulary], DEVIATION, &mut draws, device),
                bias: Some(bias(vocabulary, device)),
            },
        }
    }

    /// Logits of the next token at every position, `[batch, T]` to `[batch, T, V]`.
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        linear(&self.readout, self.embedding.forward(tokens))
    }
}
