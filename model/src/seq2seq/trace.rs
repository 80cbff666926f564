//! Intermediate results of an encoder-decoder.

use burn::tensor::Tensor;
use unroll_protocol::{
    Array,
    attention::{AttentionRow, Scoring},
};

use super::{DecoderState, Encoded, Seq2seq, decoder::Run};
use crate::read::{ReadError, read_all};

/// What a model computed in `T` steps on sources of at most `S` tokens.
#[derive(Clone, Debug)]
pub struct Seq2seqTrace {
    /// `h_j` as the decoder sees them, `[batch, S, E]`.
    pub states: Tensor<3>,
    /// c, the state after the last token, for each direction its own last token,
    /// `[batch, H or 2H]`.
    pub summary: Tensor<2>,
    /// `s_0`, `[batch, H]`.
    pub initial: Tensor<2>,
    /// `s_i`, `[batch, T, H]`.
    pub decoder: Tensor<3>,
    /// `c_i`, `[batch, T, E]`; without attention, the summary at every step.
    pub contexts: Tensor<3>,
    pub attention: Option<AlignmentTrace>,
    /// `[batch, T, targets]`
    pub logits: Tensor<3>,
}

/// What attention computed.
#[derive(Clone, Debug)]
pub struct AlignmentTrace {
    /// What the score uses of the decoder's states, `[batch, T, A or E]`: `W_s s` for additive and
    /// concat, `W_aᵀ s` for general, s for dot, with `s_(i-1)` in Bahdanau's attention and `s_i` in
    /// Luong's.
    pub queries: Tensor<3>,
    /// What it uses of the encoder's states, `[batch, S, A or E]`: `W_h h_j`, or `h_j`.
    pub keys: Tensor<3>,
    /// `[batch, T, S]`; -inf at padding.
    pub scores: Tensor<3>,
    /// `[batch, T, S]`; rows sum to 1, exactly 0 at padding.
    pub weights: Tensor<3>,
}

impl Seq2seqTrace {
    pub(super) fn new(model: &Seq2seq, encoded: Encoded, start: DecoderState, run: Run) -> Self {
        let [batch, steps, _] = run.states.dims();
        let summary = encoded.summary.inner();
        let [_, width] = summary.dims();
        let contexts = match &run.seen {
            Some(seen) => seen.contexts.clone().inner(),
            None => summary.clone().reshape([batch, 1, width]).repeat_dim(1, steps),
        };
        let attention = run.seen.zip(encoded.keys).map(|(seen, keys)| AlignmentTrace {
            queries: seen.queries.inner(),
            keys: keys.inner(),
            scores: seen.scores.inner(),
            weights: seen.weights.inner(),
        });
        debug_assert_eq!(attention.is_some(), model.attention.is_some());
        Self {
            states: encoded.states.inner(),
            summary,
            initial: start.hidden.inner(),
            decoder: run.states.inner(),
            contexts,
            attention,
            logits: run.logits.inner(),
        }
    }
}

impl Seq2seq {
    /// The attention of one step, for its arithmetic. `step` and `row` of the batch count from 0;
    /// `tokens` is the source as text, without padding. `None` without attention or without such a
    /// step.
    pub async fn attention_row(
        &self,
        trace: &Seq2seqTrace,
        step: usize,
        row: usize,
        query_token: &str,
        tokens: &[String],
    ) -> Result<Option<AttentionRow>, ReadError> {
        let ([batch, steps, _], Some(attention)) = (trace.decoder.dims(), &trace.attention) else {
            return Ok(None);
        };
        if row >= batch || step >= steps {
            return Ok(None);
        }
        let length = tokens.len();
        let one = |all: &Tensor<3>, count: usize| {
            let [_, _, width] = all.dims();
            let of_step = all.clone().narrow(0, row, 1).narrow(1, step, 1);
            of_step.narrow(2, 0, count.min(width)).reshape([-1])
        };
        let each =
            |all: &Tensor<3>| all.clone().narrow(0, row, 1).narrow(1, 0, length).reshape([-1]);
        let layer = self.attention.as_ref();
        let vector = layer.and_then(|layer| layer.vector.as_ref()).map(|vector| vector.val());
        let mut read = vec![
            one(&attention.queries, usize::MAX),
            each(&attention.keys),
            one(&attention.scores, length),
            one(&attention.weights, length),
            each(&trace.states),
            one(&trace.contexts, usize::MAX),
        ];
        read.extend(vector.clone());
        let mut read = read_all(read).await?.into_iter();
        let mut next = || read.next().unwrap_or_default();
        let array = |values: Vec<f32>| {
            let width = values.len() / length.max(1);
            Array { shape: vec![length as u32, width as u32], values }
        };
        let (query, keys) = (next(), array(next()));
        let (scores, weights, values, mixed) = (next(), next(), array(next()), next());
        let scoring = match vector {
            Some(_) => Scoring::Additive { from_query: query, from_keys: keys, vector: next() },
            None => Scoring::Product { query, keys, divisor: 1.0 },
        };
        Ok(Some(AttentionRow {
            layer: 0,
            head: 0,
            query: step as u32,
            query_token: query_token.to_owned(),
            tokens: tokens.to_vec(),
            scoring,
            bias: vec![0.0; length],
            allowed: vec![true; length],
            scores,
            weights,
            values,
            mixed,
        }))
    }
}
