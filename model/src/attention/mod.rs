//! Multi-head attention (Vaswani et al. 2017), written out so that every step of it can be looked
//! at.

mod mask;
mod rules;
mod statistics;
mod trace;

use burn::{
    module::Module,
    nn::Linear,
    tensor::{Device, Tensor},
};

pub use mask::{EmptyRow, Mask};
pub use rules::AttentionRules;
pub use statistics::head_statistics;
pub use trace::{AttentionTrace, RowError, attention_row};

use crate::{
    dropout::Dropout,
    fused::{self, linear},
    parameters::{bias, matrix},
    random::Normals,
};

/// Configuration of an [`Attention`] layer.
#[derive(Clone, Copy, Debug)]
pub struct AttentionConfig {
    /// Width of the residual stream.
    pub width: usize,
    /// Number of heads; divides `width`.
    pub heads: usize,
    /// Whether scores are divided by the square root of the head's width.
    pub scaled: bool,
    /// Standard deviation of the output projection's initial weights.
    pub output_deviation: f64,
}

/// `softmax(Q K^T / sqrt(d) + bias) V` in `heads` subspaces of width `d = width / heads` each,
/// followed by a projection back into the residual stream.
///
/// Queries and values have biases, keys have none: a key bias adds the same number to a query's
/// score with every key, to which softmax is blind. Its true gradient is 0, and AdamW, dividing
/// rounding noise by its own size, would only make the parameter wander. (Rotary positions turn it
/// into something softmax does see; models that have them do without it, too.)
#[derive(Module, Debug)]
pub struct Attention {
    pub query: Linear,
    pub key: Linear,
    pub value: Linear,
    pub output: Linear,
    heads: usize,
    scaled: bool,
}

impl AttentionConfig {
    /// Draws the layer's weights.
    ///
    /// # Panics
    ///
    /// Panics if `heads` does not divide `width`.
    pub(crate) fn init(&self, draws: &mut Normals, device: &Device) -> Attention {
        let Self { width, heads, scaled, output_deviation } = *self;
        assert!(width.is_multiple_of(heads), "{heads} heads do not divide a width of {width}");
        let mut weight = |deviation| matrix([width, width], deviation, draws, device);
        Attention {
            query: Linear { weight: weight(0.02), bias: Some(bias(width, device)) },
            key: Linear { weight: weight(0.02), bias: None },
            value: Linear { weight: weight(0.02), bias: Some(bias(width, device)) },
            output: Linear { weight: weight(output_deviation), bias: Some(bias(width, device)) },
            heads,
            scaled,
        }
    }
}

impl Attention {
    /// Self-attention: queries, keys and values all come from `input`.
    ///
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
        self.run(input, None, rules, dropout, false).0
    }

    /// Cross-attention: queries come from `input`, keys and values from `memory`.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, T, width]`
    /// - memory: `[batch, S, width]`
    /// - output: `[batch, T, width]`
    pub fn cross(
        &self,
        input: Tensor<3>,
        memory: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> Tensor<3> {
        self.run(input, Some(memory), rules, dropout, false).0
    }

    /// Like [`forward`](Self::forward), keeping what was computed on the way.
    pub fn forward_traced(
        &self,
        input: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> (Tensor<3>, AttentionTrace) {
        let (output, trace) = self.run(input, None, rules, dropout, true);
        (output, trace.expect("a trace was asked for"))
    }

    /// Like [`cross`](Self::cross), keeping what was computed on the way.
    pub fn cross_traced(
        &self,
        input: Tensor<3>,
        memory: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> (Tensor<3>, AttentionTrace) {
        let (output, trace) = self.run(input, Some(memory), rules, dropout, true);
        (output, trace.expect("a trace was asked for"))
    }

    /// Number of heads.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// What products of queries and keys are divided by, for heads of width `head_width`.
    pub fn divisor(&self, head_width: usize) -> f64 {
        if self.scaled { (head_width as f64).sqrt() } else { 1.0 }
    }

    /// Without `memory`, keys and values come from `input`, too.
    fn run(
        &self,
        input: Tensor<3>,
        memory: Option<Tensor<3>>,
        rules: &AttentionRules,
        dropout: &Dropout,
        traced: bool,
    ) -> (Tensor<3>, Option<AttentionTrace>) {
        let [batch, length, width] = input.dims();
        let head_width = width / self.heads;
        let scale = (1.0 / self.divisor(head_width)) as f32;
        let keep =
            |keys: usize| dropout.mask([batch, self.heads, length, keys], 0, &input.device());
        let bias = rules.bias().cloned();
        let (output, found) = if memory.is_none() && rules.are_of_scores_only() {
            let layers = [&self.query, &self.key, &self.value, &self.output];
            let keep = keep(length);
            let found = fused::self_attention(layers, self.heads, input, bias, keep, scale);
            let part = |which: usize| found.projected.clone().narrow(2, which, 1).squeeze_dim(2);
            let parts = traced.then(|| {
                let [queries, keys, values] = [0, 1, 2].map(|which| part(which).swap_dims(1, 2));
                (queries, keys, values, found.weights, found.mixed.swap_dims(1, 2))
            });
            (found.output, parts)
        } else {
            let memory = memory.unwrap_or_else(|| input.clone());
            let keep = keep(memory.dims()[1]);
            let split = |x: Tensor<3>| {
                let [_, length, _] = x.dims();
                x.reshape([batch, length, self.heads, head_width]).swap_dims(1, 2)
            };
            let queries = rules.rotate(split(linear(&self.query, input)));
            let keys = rules.rotate(split(linear(&self.key, memory.clone())));
            let values = split(linear(&self.value, memory));
            // Clones only for a trace: a tensor that is held elsewhere can't be overwritten in
            // place by the next operation.
            let parts = traced.then(|| (queries.clone(), keys.clone(), values.clone()));
            let (weights, mixed) = fused::attend(queries, keys, values, bias, keep, scale);
            let mixed = rules.silence(mixed);
            let parts = parts
                .map(|(queries, keys, values)| (queries, keys, values, weights, mixed.clone()));
            let joined = mixed.swap_dims(1, 2).reshape([batch, length, width]);
            (linear(&self.output, joined), parts)
        };
        let trace = found.map(|(queries, keys, values, weights, mixed)| {
            let divisor = self.divisor(head_width);
            let products = queries.clone().matmul(keys.clone().swap_dims(2, 3)) / divisor;
            let scores = rules.add_bias(products);
            AttentionTrace { queries, keys, values, scores, weights, mixed, divisor }
        });
        (dropout.apply(output, 1), trace)
    }
}
