//! One transformer block.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use unroll_protocol::architecture::{Architecture, NormPlacement};

use crate::{
    attention::{Attention, AttentionConfig, AttentionRules, AttentionTrace},
    deviations::Deviations,
    dropout::Dropout,
    feed_forward::{FeedForward, FeedForwardConfig},
    fused::normalize,
    norm::Norm,
    random::Normals,
};

/// Configuration of a [`Block`].
#[derive(Clone, Copy, Debug)]
pub struct BlockConfig {
    /// Width of the residual stream.
    pub width: usize,
    /// Attention heads; divides `width`.
    pub heads: usize,
    pub architecture: Architecture,
    pub deviations: Deviations,
}

/// Attention, then a feed-forward layer, each around a residual connection: `x + f(norm(x))` with
/// norms before (GPT-2), `norm(x + f(x))` with norms after (Vaswani et al. 2017), `x + f(x)`
/// without norms; or the same without `x +`. A layer that was left out is `None`, and so is its
/// norm.
#[derive(Module, Debug)]
pub struct Block {
    pub attention_norm: Option<Norm>,
    pub attention: Option<Attention>,
    pub feed_forward_norm: Option<Norm>,
    pub feed_forward: Option<FeedForward>,
    #[module(skip)]
    norm: NormPlacement,
    residual: bool,
}

/// What one block computed.
#[derive(Clone, Debug)]
pub struct LayerTrace {
    /// What the attention layer computed, head by head.
    pub attention: Option<AttentionTrace>,
    /// What attention adds to the residual stream, `[batch, T, width]`.
    pub attention_output: Option<Tensor<3>>,
    /// The residual stream between the two layers, `[batch, T, width]`.
    pub between: Tensor<3>,
    /// The feed-forward layer's hidden neurons, `[batch, T, 4 * width]`.
    pub neurons: Option<Tensor<3>>,
    /// What the feed-forward layer adds to it, `[batch, T, width]`.
    pub feed_forward_output: Option<Tensor<3>>,
    /// The residual stream after the block, `[batch, T, width]`.
    pub output: Tensor<3>,
}

impl BlockConfig {
    /// Draws the block's weights.
    pub(crate) fn init(&self, draws: &mut Normals, device: &Device) -> Block {
        let Self { width, heads, architecture, deviations } = *self;
        let Architecture { norm, norm_kind, residual, scaled, .. } = architecture;
        let norm_if = |there: bool| {
            let there = there && norm != NormPlacement::None;
            there.then(|| Norm::new(norm_kind, width, device))
        };
        let attention = architecture
            .attention
            .then(|| AttentionConfig { width, heads, scaled, deviations }.init(draws, device));
        let feed_forward = architecture.feed_forward.map(|activation| {
            FeedForwardConfig { width, activation, deviations }.init(draws, device)
        });
        Block {
            attention_norm: norm_if(attention.is_some()),
            attention,
            feed_forward_norm: norm_if(feed_forward.is_some()),
            feed_forward,
            norm,
            residual,
        }
    }
}

impl Block {
    /// # Shapes
    ///
    /// - input: `[batch, T, width]`
    /// - output: `[batch, T, width]`
    pub fn forward(
        &self,
        input: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> Tensor<3> {
        let mut stream = input;
        if let Some(attention) = &self.attention {
            let output =
                attention.forward(self.read(&self.attention_norm, &stream), rules, dropout);
            stream = self.write(&self.attention_norm, stream, output);
        }
        if let Some(feed_forward) = &self.feed_forward {
            let output = feed_forward.forward(self.read(&self.feed_forward_norm, &stream), dropout);
            stream = self.write(&self.feed_forward_norm, stream, output);
        }
        stream
    }

    /// Like [`forward`](Self::forward), and returns the intermediate results.
    pub fn forward_traced(
        &self,
        input: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> LayerTrace {
        let (mut stream, mut attention_trace) = (input, None);
        let attention_output = self.attention.as_ref().map(|attention| {
            let input = self.read(&self.attention_norm, &stream);
            let (output, trace) = attention.forward_traced(input, rules, dropout);
            attention_trace = Some(trace);
            stream = self.write(&self.attention_norm, stream.clone(), output.clone());
            output
        });
        let between = stream.clone();
        let mut neurons = None;
        let feed_forward_output = self.feed_forward.as_ref().map(|feed_forward| {
            let hidden = feed_forward.neurons(self.read(&self.feed_forward_norm, &stream));
            neurons = Some(hidden.clone());
            let output = feed_forward.project(hidden, dropout);
            stream = self.write(&self.feed_forward_norm, stream.clone(), output.clone());
            output
        });
        LayerTrace {
            attention: attention_trace,
            attention_output,
            between,
            neurons,
            feed_forward_output,
            output: stream,
        }
    }

    /// Like [`forward`](Self::forward) for one token more, with the keys and values of those before
    /// it in `kept`, to which its own are added. Returns its query, key, value and weights too, where
    /// there is attention: see [`Attention::forward_next`].
    #[allow(clippy::type_complexity, reason = "a row of attention has no other name")]
    pub fn forward_next(
        &self,
        input: Tensor<3>,
        rules: &AttentionRules,
        kept: Option<&mut [Tensor<4>; 2]>,
    ) -> (Tensor<3>, Option<[Tensor<4>; 4]>) {
        let (mut stream, mut row) = (input, None);
        if let Some(attention) = &self.attention {
            let read = self.read(&self.attention_norm, &stream);
            let (output, computed) = attention.forward_next(read, rules, kept);
            row = Some(computed);
            stream = self.write(&self.attention_norm, stream, output);
        }
        if let Some(feed_forward) = &self.feed_forward {
            let read = self.read(&self.feed_forward_norm, &stream);
            let output = feed_forward.forward(read, &Dropout::off());
            stream = self.write(&self.feed_forward_norm, stream, output);
        }
        (stream, row)
    }

    /// What a layer reads from the residual stream.
    fn read(&self, norm: &Option<Norm>, stream: &Tensor<3>) -> Tensor<3> {
        match norm {
            Some(norm) if self.norm == NormPlacement::Pre => normalize(norm, stream.clone()),
            _ => stream.clone(),
        }
    }

    /// The residual stream after a layer's output.
    fn write(&self, norm: &Option<Norm>, stream: Tensor<3>, output: Tensor<3>) -> Tensor<3> {
        let stream = if self.residual { stream + output } else { output };
        match norm {
            Some(norm) if self.norm == NormPlacement::Post => normalize(norm, stream),
            _ => stream,
        }
    }
}
