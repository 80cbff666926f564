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
    fused,
    parameters::{bias, matrix, project},
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
        self.run(input.clone(), input, rules, dropout, false).0
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
        self.run(input, memory, rules, dropout, false).0
    }

    /// Like [`forward`](Self::forward), keeping what was computed on the way.
    pub fn forward_traced(
        &self,
        input: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> (Tensor<3>, AttentionTrace) {
        self.cross_traced(input.clone(), input, rules, dropout)
    }

    /// Like [`cross`](Self::cross), keeping what was computed on the way.
    pub fn cross_traced(
        &self,
        input: Tensor<3>,
        memory: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> (Tensor<3>, AttentionTrace) {
        let (output, trace) = self.run(input, memory, rules, dropout, true);
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

    /// Keeps clones only for a trace: a tensor that is held elsewhere can't be overwritten in
    /// place by the next operation.
    fn run(
        &self,
        input: Tensor<3>,
        memory: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
        traced: bool,
    ) -> (Tensor<3>, Option<AttentionTrace>) {
        let [batch, length, width] = input.dims();
        let head_width = width / self.heads;
        let split = |x: Tensor<3>| {
            let [_, length, _] = x.dims();
            x.reshape([batch, length, self.heads, head_width]).swap_dims(1, 2)
        };
        let queries = rules.rotate(split(project(&self.query, input)));
        let keys = rules.rotate(split(project(&self.key, memory.clone())));
        let values = split(project(&self.value, memory));
        let kept = traced.then(|| (queries.clone(), keys.clone(), values.clone()));

        let divisor = self.divisor(head_width);
        let [_, _, kept_keys, _] = keys.dims();
        let keep = dropout.mask([batch, self.heads, length, kept_keys], 0, &queries.device());
        let bias = rules.bias().cloned();
        let (weights, mixed) =
            fused::attend(queries, keys, values, bias, keep, (1.0 / divisor) as f32);
        let mixed = rules.silence(mixed);
        let trace = kept.map(|(queries, keys, values)| {
            let products = queries.clone().matmul(keys.clone().swap_dims(2, 3)) / divisor;
            AttentionTrace {
                scores: rules.add_bias(products),
                queries,
                keys,
                values,
                weights,
                mixed: mixed.clone(),
                divisor,
            }
        });

        let joined = mixed.swap_dims(1, 2).reshape([batch, length, width]);
        (dropout.apply(project(&self.output, joined), 1), trace)
    }
}
