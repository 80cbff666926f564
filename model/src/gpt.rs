//! A decoder-only transformer as in GPT-2 (Radford et al. 2019).

use burn::{
    module::Module,
    nn::{Embedding, LayerNorm, LayerNormConfig, Linear},
    tensor::{Device, Int, Tensor},
};
use unroll_protocol::GptSpec;

use crate::{
    attention::CausalMask,
    block::{Block, BlockConfig, LayerTrace},
    dropout::Dropout,
    parameters::{matrix, project},
    random::{Normals, Purpose, stream},
};

/// Configuration of a [`Gpt`].
#[derive(Clone, Copy, Debug)]
pub struct GptConfig {
    /// Shape of the model.
    pub spec: GptSpec,
    /// Number of tokens it knows.
    pub vocabulary: usize,
    /// Decides every initial weight.
    pub seed: u32,
}

/// Token and position embeddings, pre-norm blocks, a last norm and a head without bias, which is
/// either a matrix of its own or, tied, the token embedding (Press and Wolf 2017).
#[derive(Module, Debug)]
pub struct Gpt {
    pub token_embedding: Embedding,
    pub position_embedding: Embedding,
    pub blocks: Vec<Block>,
    pub final_norm: LayerNorm,
    /// `None` if tied.
    pub head: Option<Linear>,
}

/// What a model computed on its way to the logits.
#[derive(Clone, Debug)]
pub struct GptTrace {
    /// Sum of token and position embeddings, `[batch, T, width]`.
    pub embeddings: Tensor<3>,
    /// One for each block.
    pub layers: Vec<LayerTrace>,
    /// What the head reads, `[batch, T, width]`.
    pub final_norm: Tensor<3>,
    /// `[batch, T, vocabulary]`
    pub logits: Tensor<3>,
}

impl GptConfig {
    /// Draws the initial weights as GPT-2 does: N(0, 0.02²), in the layers that write into the
    /// residual stream scaled down by `sqrt(2 * layers)`, since so many of them add up in it;
    /// biases 0, norms the identity. The draws are the same on every device.
    ///
    /// # Panics
    ///
    /// Panics if the heads do not divide the width; [`GptSpec::validate`] tells.
    pub fn init(&self, device: &Device) -> Gpt {
        let GptSpec { layers, heads, width, context, tied, .. } = self.spec;
        let (width, heads) = (width as usize, heads as usize);
        let mut draws = Normals::new(stream(self.seed, Purpose::Weights, [0; 3]));
        let output_deviation = 0.02 / f64::from(2 * layers).sqrt();
        let block = BlockConfig { width, heads, output_deviation };
        let vocabulary = self.vocabulary;
        Gpt {
            token_embedding: Embedding {
                weight: matrix([vocabulary, width], 0.02, &mut draws, device),
            },
            position_embedding: Embedding {
                weight: matrix([context as usize, width], 0.02, &mut draws, device),
            },
            blocks: (0..layers).map(|_| block.init(&mut draws, device)).collect(),
            final_norm: LayerNormConfig::new(width).init(device),
            head: (!tied).then(|| Linear {
                weight: matrix([width, vocabulary], 0.02, &mut draws, device),
                bias: None,
            }),
        }
    }
}

impl Gpt {
    /// Logits of the token after each token.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    /// - output: `[batch, T, vocabulary]`
    ///
    /// # Panics
    ///
    /// Panics if T is longer than the context.
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        self.logits(self.stream(tokens))
    }

    /// Logits of the token after the last one only.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    /// - output: `[batch, 1, vocabulary]`
    ///
    /// # Panics
    ///
    /// Panics if T is longer than the context.
    pub fn forward_last(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [_, length] = tokens.dims();
        self.logits(self.stream(tokens).narrow(1, length - 1, 1))
    }

    /// Like [`forward`](Self::forward), keeping what was computed on the way. The logits are the
    /// same to the last bit.
    pub fn forward_traced(&self, tokens: Tensor<2, Int>) -> GptTrace {
        let [_, length] = tokens.dims();
        let mask = CausalMask::new(length, &tokens.device());
        let embeddings = self.embed(tokens, &Dropout::off());
        let mut layers: Vec<LayerTrace> = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let input = layers.last().map_or(&embeddings, |layer| &layer.output).clone();
            layers.push(block.forward_traced(input, &mask, &Dropout::off()));
        }
        let stream = layers.last().map_or(&embeddings, |layer| &layer.output).clone();
        let final_norm = self.final_norm.forward(stream);
        let logits = self.head(final_norm.clone());
        GptTrace { embeddings, layers, final_norm, logits }
    }

    /// The residual stream before the first block.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    /// - output: `[batch, T, width]`
    ///
    /// # Panics
    ///
    /// Panics if T is longer than the context.
    pub fn embed(&self, tokens: Tensor<2, Int>, dropout: &Dropout) -> Tensor<3> {
        let [_, length] = tokens.dims();
        let [context, _] = self.position_embedding.weight.dims();
        assert!(length <= context, "{length} tokens are longer than the context of {context}");
        let positions = self.position_embedding.weight.val().narrow(0, 0, length);
        dropout.apply(self.token_embedding.forward(tokens) + positions.unsqueeze::<3>(), 0)
    }

    /// Logits from the residual stream after the last block.
    ///
    /// # Shapes
    ///
    /// - stream: `[batch, T, width]`
    /// - output: `[batch, T, vocabulary]`
    pub fn logits(&self, stream: Tensor<3>) -> Tensor<3> {
        self.head(self.final_norm.forward(stream))
    }

    fn head(&self, normed: Tensor<3>) -> Tensor<3> {
        match &self.head {
            Some(head) => project(head, normed),
            None => {
                let weight = self.token_embedding.weight.val();
                let [vocabulary, width] = weight.dims();
                let [batch, length, _] = normed.dims();
                let rows = normed.reshape([batch * length, width]).matmul(weight.transpose());
                rows.reshape([batch, length, vocabulary])
            }
        }
    }

    fn stream(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [_, length] = tokens.dims();
        let mask = CausalMask::new(length, &tokens.device());
        let embeddings = self.embed(tokens, &Dropout::off());
        self.blocks
            .iter()
            .fold(embeddings, |stream, block| block.forward(stream, &mask, &Dropout::off()))
    }

    /// The device the weights live on.
    pub fn device(&self) -> Device {
        self.token_embedding.weight.device().inner()
    }
}
