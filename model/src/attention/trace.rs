//! The intermediate results of an attention layer.

use core::fmt;

use burn::tensor::Tensor;
use unroll_protocol::{
    Array,
    attention::{AttentionRow, Scoring},
};

use super::AttentionRules;
use crate::read::{ReadError, read_all};

/// What one attention layer computed, head by head. In cross-attention, keys and values have the
/// memory's length S; otherwise S is T.
#[derive(Clone, Debug)]
pub struct AttentionTrace {
    /// `[batch, heads, T, d]`, rotated by their position if positions are rotary.
    pub queries: Tensor<4>,
    /// `[batch, heads, S, d]`, likewise.
    pub keys: Tensor<4>,
    /// `[batch, heads, S, d]`
    pub values: Tensor<4>,
    /// Scaled, with ALiBi and mask, `[batch, heads, T (query), S (key)]`; -inf where blocked.
    pub scores: Tensor<4>,
    /// `[batch, heads, T (query), S (key)]`; rows sum to 1.
    pub weights: Tensor<4>,
    /// Weighted values, `[batch, heads, T, d]`.
    pub mixed: Tensor<4>,
    /// What products of queries and keys were divided by.
    pub divisor: f64,
}

/// Why a row can't be shown. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum RowError {
    /// There is no such cell. All numbers count from 0 and are those the model has.
    Outside {
        what: &'static str,
        asked: usize,
        count: usize,
    },
    Read(ReadError),
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside { what, asked, count } => {
                write!(f, "There is no {what} {}: this model has {count} here.", asked + 1)
            }
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for RowError {}

/// One query's row of one head of the first sequence in the batch. `layer` is copied to the result;
/// `queries` and `keys` are the tokens as text.
pub async fn attention_row(
    trace: &AttentionTrace,
    rules: &AttentionRules,
    [layer, head, query]: [usize; 3],
    queries: &[String],
    keys: &[String],
) -> Result<AttentionRow, RowError> {
    let [_, heads, count, width] = trace.queries.dims();
    let [_, _, length, _] = trace.keys.dims();
    for (what, asked, count) in [("head", head, heads), ("query", query, count)] {
        if asked >= count {
            return Err(RowError::Outside { what, asked, count });
        }
    }
    let row = |all: &Tensor<4>| {
        let [_, _, _, size] = all.dims();
        let one = all.clone().slice([0..1, head..head + 1, query..query + 1, 0..size]);
        one.reshape([size])
    };
    let rows = |all: &Tensor<4>| {
        let one = all.clone().slice([0..1, head..head + 1, 0..length, 0..width]);
        one.reshape([length * width])
    };
    let read = read_all([
        row(&trace.queries),
        rows(&trace.keys),
        rows(&trace.values),
        row(&trace.scores),
        row(&trace.weights),
        row(&trace.mixed),
    ]);
    let mut read = read.await.map_err(RowError::Read)?.into_iter();
    let mut next = || read.next().unwrap_or_default();
    let array = |values| Array { shape: vec![length as u32, width as u32], values };
    let (query_vector, key_vectors) = (next(), array(next()));
    Ok(AttentionRow {
        layer: layer as u32,
        head: head as u32,
        query: query as u32,
        query_token: queries.get(query).cloned().unwrap_or_default(),
        tokens: keys.to_vec(),
        scoring: Scoring::Product {
            query: query_vector,
            keys: key_vectors,
            divisor: trace.divisor as f32,
        },
        bias: (0..length).map(|key| rules.alibi(head, query, key)).collect(),
        allowed: rules.mask().row(query).to_vec(),
        values: array(next()),
        scores: next(),
        weights: next(),
        mixed: next(),
    })
}
