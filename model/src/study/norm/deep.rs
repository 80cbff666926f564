//! A deep multilayer perceptron that predicts the next character (like Bengio et al. 2003, with
//! more layers). Each hidden layer is normalized before its non-linearity, as in Ioffe and Szegedy
//! 2015.

use burn::{
    module::{Module, Param},
    nn::Linear,
    tensor::{Device, Int, Tensor, activation},
};
use unroll_protocol::study::norm::{Activation, FEATURES, LAYERS, READS, Version};

use crate::{
    fused::{self, recurrent::tanh},
    norm::{BatchNorm, BatchOfOne, LayerNorm, NormTrace, RunningStatistics},
    parameters::{bias, matrix},
    random::{Normals, Purpose, stream},
};

/// Width of a character's embedding.
const EMBEDDING: usize = 8;

/// What stands between a layer's sums and its non-linearity.
#[derive(Module, Debug)]
pub enum Between {
    /// A bias, nothing else.
    Plain(Param<Tensor<1>>),
    /// Both norms have their own bias β, so there is no other bias: a mean would remove it.
    Batch(BatchNorm),
    Layer(LayerNorm),
}

/// The network.
#[derive(Module, Debug)]
pub struct DeepNet {
    embedding: Param<Tensor<2>>,
    /// `[inputs, features]`
    weights: Vec<Param<Tensor<2>>>,
    pub between: Vec<Between>,
    head: Linear,
    #[module(skip)]
    activation: Activation,
}

/// What one hidden layer computed for B examples.
pub struct LayerPass {
    /// Before normalization, `[B, FEATURES]`.
    pub sums: Tensor<2>,
    /// `None` in the plain version.
    pub trace: Option<NormTrace>,
    /// After the non-linearity.
    pub output: Tensor<2>,
}

impl DeepNet {
    /// Draws the weights from N(0, `scale`² / inputs), the same for every version of one seed.
    pub fn new(
        version: Version,
        vocabulary: usize,
        activation: Activation,
        scale: f32,
        seed: u32,
        device: &Device,
    ) -> Self {
        let mut draws = Normals::new(stream(seed, Purpose::NormWeights, [0; 3]));
        let features = FEATURES as usize;
        let embedding = matrix([vocabulary, EMBEDDING], 1.0, &mut draws, device);
        let weights = (0..LAYERS).map(|layer| {
            let inputs = if layer == 0 { READS as usize * EMBEDDING } else { features };
            let deviation = f64::from(scale) / (inputs as f64).sqrt();
            matrix([inputs, features], deviation, &mut draws, device)
        });
        let weights = weights.collect();
        let head =
            matrix([features, vocabulary], 0.3 / (features as f64).sqrt(), &mut draws, device);
        let between = |_| match version {
            Version::Plain => Between::Plain(bias(features, device)),
            Version::Batch => Between::Batch(BatchNorm::new(features, device)),
            Version::Layer => Between::Layer(LayerNorm::new(features, device)),
        };
        Self {
            embedding,
            weights,
            between: (0..LAYERS).map(between).collect(),
            head: Linear { weight: head, bias: Some(bias(vocabulary, device)) },
            activation,
        }
    }

    /// Logits, and what every layer computed. BatchNorm uses the batch's statistics, or the
    /// `running` ones if given.
    ///
    /// # Shapes
    ///
    /// - tokens: `[B, READS]`
    /// - output: `[B, vocabulary]`
    pub fn forward(
        &self,
        tokens: Tensor<2, Int>,
        running: Option<&[RunningStatistics]>,
    ) -> Result<(Tensor<2>, Vec<LayerPass>), BatchOfOne> {
        let [rows, reads] = tokens.dims();
        let rows_of_table = self.embedding.val().select(0, tokens.reshape([rows * reads]));
        let mut stream = rows_of_table.reshape([rows, reads * EMBEDDING]);
        let mut layers = Vec::with_capacity(self.weights.len());
        for (index, (weight, between)) in self.weights.iter().zip(&self.between).enumerate() {
            let sums = fused::product(stream, weight.val());
            let (normalized, trace) = match between {
                Between::Plain(bias) => (sums.clone() + bias.val().unsqueeze(), None),
                Between::Batch(norm) => {
                    let (output, trace) = match running {
                        Some(running) => norm.forward_running(sums.clone(), &running[index]),
                        None => norm.forward_batch(sums.clone())?,
                    };
                    (output, Some(trace))
                }
                Between::Layer(norm) => {
                    let (output, trace) = norm.forward(sums.clone());
                    (output, Some(trace))
                }
            };
            stream = match self.activation {
                Activation::Tanh => tanh(normalized),
                Activation::Relu => activation::relu(normalized),
            };
            layers.push(LayerPass { sums, trace, output: stream.clone() });
        }
        Ok((fused::linear(&self.head, stream), layers))
    }
}
