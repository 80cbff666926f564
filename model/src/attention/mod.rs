//! Multi-head attention (Vaswani et al. 2017), written so that every intermediate result can be
//! shown.

mod mask;
mod rules;
mod statistics;
mod trace;

use burn::{
    module::{Module, Param},
    nn::Linear,
    tensor::{Device, Tensor, TensorData},
};

pub use mask::{EmptyRow, Mask};
pub use rules::AttentionRules;
pub use statistics::{head_statistics, statistics_of};
pub use trace::{AttentionTrace, RowError, attention_row};

use crate::{
    deviations::Deviations,
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
    pub deviations: Deviations,
}

/// `softmax(Q K^T / sqrt(d) + bias) V` in `heads` subspaces of width `d = width / heads` each,
/// followed by a projection back into the residual stream.
///
/// Queries and values have biases, keys have none: a key bias adds the same number to all of a
/// query's scores, and softmax is invariant to that. Its true gradient is 0, and AdamW, which
/// divides rounding noise by its own magnitude, would only make the parameter drift. (With rotary
/// positions a key bias does matter; models that use them go without it too.)
#[derive(Module, Debug)]
pub struct Attention {
    /// W_Q and b_Q, `[width, width]` and `[width]`.
    pub query: Linear,
    /// W_K, `[width, width]`, without bias.
    pub key: Linear,
    /// W_V and b_V, `[width, width]` and `[width]`.
    pub value: Linear,
    /// W_O and b_O, `[width, width]` and `[width]`: back into the residual stream.
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
        let Self { width, heads, scaled, deviations } = *self;
        assert!(width.is_multiple_of(heads), "{heads} heads do not divide a width of {width}");
        let shape = [width, width];
        let mut weight = |deviation| matrix(shape, deviation, draws, device);
        let inner = deviations.inner(shape);
        Attention {
            query: Linear { weight: weight(inner), bias: Some(bias(width, device)) },
            key: Linear { weight: weight(inner), bias: None },
            value: Linear { weight: weight(inner), bias: Some(bias(width, device)) },
            output: Linear {
                weight: weight(deviations.output(shape)),
                bias: Some(bias(width, device)),
            },
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
        self.run(input, None, rules, dropout)
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
        self.run(input, Some(memory), rules, dropout)
    }

    /// Like [`forward`](Self::forward), and returns the intermediate results.
    pub fn forward_traced(
        &self,
        input: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> (Tensor<3>, AttentionTrace) {
        self.run_traced(input, None, rules, dropout)
    }

    /// Like [`cross`](Self::cross), and returns the intermediate results.
    pub fn cross_traced(
        &self,
        input: Tensor<3>,
        memory: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> (Tensor<3>, AttentionTrace) {
        self.run_traced(input, Some(memory), rules, dropout)
    }

    /// Self-attention of one token more. Its query looks at the keys in `kept` and at its own, which
    /// is added to them, and so is its value. Returns the output, and the token's query, key, value
    /// (rotated by their position if positions are rotary) and weights.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, 1, width]`
    /// - kept: `[batch, heads, T - 1, d]` each
    /// - output: `[batch, 1, width]`
    /// - query, key and value: `[batch, heads, 1, d]`
    /// - weights: `[batch, heads, 1, T]`
    pub fn forward_next(
        &self,
        input: Tensor<3>,
        rules: &AttentionRules,
        kept: Option<&mut [Tensor<4>; 2]>,
    ) -> (Tensor<3>, [Tensor<4>; 4]) {
        let (factors, [query, key, value]) = self.project(input, None, rules, &Dropout::off());
        let all = match kept {
            Some(kept) => {
                for (kept, new) in kept.iter_mut().zip([&key, &value]) {
                    *kept = Tensor::cat(vec![kept.clone(), new.clone()], 2);
                }
                kept.clone()
            }
            None => [key.clone(), value.clone()],
        };
        let [keys, values] = all;
        let (weights, mixed) = factors.attend([query.clone(), keys, values]);
        (self.join(mixed), [query, key, value, weights])
    }

    /// Replaces the output of heads that are not `on` by 0, as the rows of W_O that read them.
    pub(crate) fn keep_heads(&mut self, on: &[bool]) {
        let weight = self.output.weight.val();
        let [width, _] = weight.dims();
        let rows = on
            .iter()
            .flat_map(|&on| core::iter::repeat_n(f32::from(u8::from(on)), width / self.heads));
        let data = TensorData::new(rows.collect::<Vec<f32>>(), [width, 1]);
        let rows = Tensor::<2>::from_data(data, &weight.device());
        self.output.weight = Param::initialized(self.output.weight.id, weight * rows);
    }

    /// Number of heads.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// What products of queries and keys are divided by in heads of width `head_width`.
    pub fn divisor(&self, head_width: usize) -> f64 {
        if self.scaled { (head_width as f64).sqrt() } else { 1.0 }
    }

    /// Runs the layer. Without `memory`, keys and values come from `input` too.
    fn run(
        &self,
        input: Tensor<3>,
        memory: Option<Tensor<3>>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> Tensor<3> {
        let output = if memory.is_none() && rules.are_of_scores_only() {
            self.run_fused(input, rules, dropout).output
        } else {
            let (factors, projected) = self.project(input, memory, rules, dropout);
            let (_, mixed) = factors.attend(projected);
            self.join(mixed)
        };
        dropout.apply(output, 1)
    }

    /// [`run`](Self::run) with its intermediate results. It holds on to tensors that `run` lets the
    /// next operation overwrite in place.
    fn run_traced(
        &self,
        input: Tensor<3>,
        memory: Option<Tensor<3>>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> (Tensor<3>, AttentionTrace) {
        let (output, [queries, keys, values], weights, mixed) =
            if memory.is_none() && rules.are_of_scores_only() {
                let found = self.run_fused(input, rules, dropout);
                let part = |which| found.projected.clone().narrow(2, which, 1).squeeze_dim(2);
                let projected = [0, 1, 2].map(|which| part(which).swap_dims(1, 2));
                (found.output, projected, found.weights, found.mixed.swap_dims(1, 2))
            } else {
                let (factors, projected) = self.project(input, memory, rules, dropout);
                let (weights, mixed) = factors.attend(projected.clone());
                (self.join(mixed.clone()), projected, weights, mixed)
            };
        let [_, _, _, head_width] = queries.dims();
        let divisor = self.divisor(head_width);
        let products = queries.clone().matmul(keys.clone().swap_dims(2, 3)) / divisor;
        let scores = rules.add_bias(products);
        let trace = AttentionTrace { queries, keys, values, scores, weights, mixed, divisor };
        (dropout.apply(output, 1), trace)
    }

    /// Self-attention as one operation.
    fn run_fused(
        &self,
        input: Tensor<3>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> fused::SelfAttention {
        let [batch, length, width] = input.dims();
        let Factors { bias, keep, scale } =
            self.factors([batch, length, length], width, rules, dropout, &input.device());
        let layers = [&self.query, &self.key, &self.value, &self.output];
        fused::self_attention(layers, self.heads, input, bias, keep, scale)
    }

    /// Queries, keys and values, `[batch, heads, T or S, d]`, and what attention with them needs.
    fn project(
        &self,
        input: Tensor<3>,
        memory: Option<Tensor<3>>,
        rules: &AttentionRules,
        dropout: &Dropout,
    ) -> (Factors, [Tensor<4>; 3]) {
        let [batch, length, width] = input.dims();
        let memory = memory.unwrap_or_else(|| input.clone());
        let shape = [batch, length, memory.dims()[1]];
        let factors = self.factors(shape, width, rules, dropout, &input.device());
        let split = |x: Tensor<3>| {
            let [_, length, _] = x.dims();
            x.reshape([batch, length, self.heads, width / self.heads]).swap_dims(1, 2)
        };
        let queries = rules.rotate(split(linear(&self.query, input)));
        let keys = rules.rotate(split(linear(&self.key, memory.clone())));
        let values = split(linear(&self.value, memory));
        (factors, [queries, keys, values])
    }

    /// What is added to and multiplied into the scores and weights, for `shape` = `[batch, T, S]`.
    fn factors(
        &self,
        [batch, length, keys]: [usize; 3],
        width: usize,
        rules: &AttentionRules,
        dropout: &Dropout,
        device: &Device,
    ) -> Factors {
        Factors {
            bias: rules.bias().cloned(),
            keep: dropout.mask([batch, self.heads, length, keys], 0, device),
            scale: (1.0 / self.divisor(width / self.heads)) as f32,
        }
    }

    /// Projects the mixed values of all heads back into the residual stream.
    fn join(&self, mixed: Tensor<4>) -> Tensor<3> {
        let [batch, heads, length, head_width] = mixed.dims();
        let joined = mixed.swap_dims(1, 2).reshape([batch, length, heads * head_width]);
        linear(&self.output, joined)
    }
}

/// What attention needs besides queries, keys and values.
struct Factors {
    /// Added to the scores.
    bias: Option<Tensor<4>>,
    /// Multiplies the weights: dropout.
    keep: Option<Tensor<4>>,
    /// Multiplies the products of queries and keys.
    scale: f32,
}

impl Factors {
    /// The weights and the mixed values.
    fn attend(self, [queries, keys, values]: [Tensor<4>; 3]) -> (Tensor<4>, Tensor<4>) {
        fused::attend(queries, keys, values, self.bias, self.keep, self.scale)
    }
}
