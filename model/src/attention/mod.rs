//! Multi-head causal self-attention (Vaswani et al. 2017), written out so that every step of it
//! can be looked at.

mod mask;

use burn::{
    module::Module,
    nn::Linear,
    tensor::{Device, Tensor, activation::softmax},
};

pub use mask::CausalMask;

use crate::{
    dropout::Dropout,
    parameters::{bias, matrix, project},
    random::Normals,
};

/// Configuration of a [`CausalSelfAttention`] layer.
#[derive(Clone, Copy, Debug)]
pub struct CausalSelfAttentionConfig {
    /// Width of the residual stream.
    pub width: usize,
    /// Number of heads; divides `width`.
    pub heads: usize,
    /// Standard deviation of the output projection's initial weights.
    pub output_deviation: f64,
}

/// `softmax(Q K^T / sqrt(d) + mask) V` in `heads` subspaces of width `d = width / heads` each,
/// followed by a projection back into the residual stream.
///
/// Queries and values have biases, keys have none: a key bias adds the same number to a query's
/// score with every key, to which softmax is blind. Its true gradient is 0, and AdamW, dividing
/// rounding noise by its own size, would only make the parameter wander.
#[derive(Module, Debug)]
pub struct CausalSelfAttention {
    pub query: Linear,
    pub key: Linear,
    pub value: Linear,
    pub output: Linear,
    heads: usize,
}

/// What one attention layer computed, head by head.
#[derive(Clone, Debug)]
pub struct AttentionTrace {
    /// `[batch, heads, T, d]`
    pub queries: Tensor<4>,
    /// `[batch, heads, T, d]`
    pub keys: Tensor<4>,
    /// `[batch, heads, T, d]`
    pub values: Tensor<4>,
    /// Scaled and masked, `[batch, heads, T (query), T (key)]`; -inf where blocked.
    pub scores: Tensor<4>,
    /// `[batch, heads, T (query), T (key)]`; rows sum to 1.
    pub weights: Tensor<4>,
    /// Weighted values, `[batch, heads, T, d]`.
    pub mixed: Tensor<4>,
}

impl CausalSelfAttentionConfig {
    /// Draws the layer's weights.
    ///
    /// # Panics
    ///
    /// Panics if `heads` does not divide `width`.
    pub(crate) fn init(&self, draws: &mut Normals, device: &Device) -> CausalSelfAttention {
        let Self { width, heads, output_deviation } = *self;
        assert!(width.is_multiple_of(heads), "{heads} heads do not divide a width of {width}");
        let mut weight = |deviation| matrix([width, width], deviation, draws, device);
        CausalSelfAttention {
            query: Linear { weight: weight(0.02), bias: Some(bias(width, device)) },
            key: Linear { weight: weight(0.02), bias: None },
            value: Linear { weight: weight(0.02), bias: Some(bias(width, device)) },
            output: Linear { weight: weight(output_deviation), bias: Some(bias(width, device)) },
            heads,
        }
    }
}

impl CausalSelfAttention {
    /// # Shapes
    ///
    /// - input: `[batch, T, width]`
    /// - output: `[batch, T, width]`
    pub fn forward(&self, input: Tensor<3>, mask: &CausalMask, dropout: &Dropout) -> Tensor<3> {
        self.run(input, mask, dropout, false).0
    }

    /// Like [`forward`](Self::forward), keeping what was computed on the way.
    pub fn forward_traced(
        &self,
        input: Tensor<3>,
        mask: &CausalMask,
        dropout: &Dropout,
    ) -> (Tensor<3>, AttentionTrace) {
        let (output, trace) = self.run(input, mask, dropout, true);
        (output, trace.expect("a trace was asked for"))
    }

    /// Keeps clones only for a trace: a tensor that is held elsewhere can't be overwritten in
    /// place by the next operation.
    fn run(
        &self,
        input: Tensor<3>,
        mask: &CausalMask,
        dropout: &Dropout,
        traced: bool,
    ) -> (Tensor<3>, Option<AttentionTrace>) {
        let [batch, length, width] = input.dims();
        let head_width = width / self.heads;
        let split =
            |x: Tensor<3>| x.reshape([batch, length, self.heads, head_width]).swap_dims(1, 2);
        let queries = split(project(&self.query, input.clone()));
        let keys = split(project(&self.key, input.clone()));
        let values = split(project(&self.value, input));
        let kept = traced.then(|| (queries.clone(), keys.clone(), values.clone()));

        // Scaling the queries and not the scores touches T * width numbers instead of T * T * heads.
        let scale = 1.0 / (head_width as f64).sqrt();
        let scores = mask.apply((queries * scale).matmul(keys.swap_dims(2, 3)));
        let kept_scores = traced.then(|| scores.clone());
        let weights = softmax(scores, 3);
        let kept_weights = traced.then(|| weights.clone());
        let mixed = dropout.apply(weights, 0).matmul(values);
        let trace = kept.zip(kept_scores).zip(kept_weights).map(
            |(((queries, keys, values), scores), weights)| AttentionTrace {
                queries,
                keys,
                values,
                scores,
                weights,
                mixed: mixed.clone(),
            },
        );

        let joined = mixed.swap_dims(1, 2).reshape([batch, length, width]);
        (dropout.apply(project(&self.output, joined), 1), trace)
    }
}
