//! One transformer block.

use burn::{
    module::Module,
    nn::{LayerNorm, LayerNormConfig},
    tensor::{Device, Tensor},
};

use crate::{
    attention::{AttentionTrace, CausalMask, CausalSelfAttention, CausalSelfAttentionConfig},
    dropout::Dropout,
    feed_forward::{FeedForward, FeedForwardConfig},
    random::Normals,
};

/// Configuration of a [`Block`].
#[derive(Clone, Copy, Debug)]
pub struct BlockConfig {
    /// Width of the residual stream.
    pub width: usize,
    /// Attention heads; divides `width`.
    pub heads: usize,
    /// Standard deviation of the initial weights of what is added to the residual stream.
    pub output_deviation: f64,
}

/// A pre-norm block as in GPT-2: `x + attention(norm(x))`, then `x + feed_forward(norm(x))`.
#[derive(Module, Debug)]
pub struct Block {
    pub attention_norm: LayerNorm,
    pub attention: CausalSelfAttention,
    pub feed_forward_norm: LayerNorm,
    pub feed_forward: FeedForward,
}

/// What one block computed.
#[derive(Clone, Debug)]
pub struct LayerTrace {
    /// Inside the attention, head by head.
    pub attention: AttentionTrace,
    /// What attention adds to the residual stream, `[batch, T, width]`.
    pub attention_output: Tensor<3>,
    /// What the feed-forward layer adds to it, `[batch, T, width]`.
    pub feed_forward_output: Tensor<3>,
    /// The residual stream after the block, `[batch, T, width]`.
    pub output: Tensor<3>,
}

impl BlockConfig {
    /// Draws the block's weights.
    pub(crate) fn init(&self, draws: &mut Normals, device: &Device) -> Block {
        let Self { width, heads, output_deviation } = *self;
        Block {
            attention_norm: LayerNormConfig::new(width).init(device),
            attention: CausalSelfAttentionConfig { width, heads, output_deviation }
                .init(draws, device),
            feed_forward_norm: LayerNormConfig::new(width).init(device),
            feed_forward: FeedForwardConfig { width, output_deviation }.init(draws, device),
        }
    }
}

impl Block {
    /// # Shapes
    ///
    /// - input: `[batch, T, width]`
    /// - output: `[batch, T, width]`
    pub fn forward(&self, input: Tensor<3>, mask: &CausalMask, dropout: &Dropout) -> Tensor<3> {
        let normed = self.attention_norm.forward(input.clone());
        let stream = input + self.attention.forward(normed, mask, dropout);
        let normed = self.feed_forward_norm.forward(stream.clone());
        stream + self.feed_forward.forward(normed, dropout)
    }

    /// Like [`forward`](Self::forward), keeping what was computed on the way.
    pub fn forward_traced(
        &self,
        input: Tensor<3>,
        mask: &CausalMask,
        dropout: &Dropout,
    ) -> LayerTrace {
        let normed = self.attention_norm.forward(input.clone());
        let (attention_output, attention) = self.attention.forward_traced(normed, mask, dropout);
        let stream = input + attention_output.clone();
        let normed = self.feed_forward_norm.forward(stream.clone());
        let feed_forward_output = self.feed_forward.forward(normed, dropout);
        let output = stream + feed_forward_output.clone();
        LayerTrace { attention, attention_output, feed_forward_output, output }
    }
}
