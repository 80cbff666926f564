//! A model's computation on one text, as plain numbers.

use core::fmt;

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{Array, AttentionRow, Trace};

use crate::{
    attention::{RowError, attention_row},
    data::token_tensor,
    gpt::{Gpt, Intervention},
    read::{ReadError, read_all},
    tokenizer::{Sentence, Tokenizer},
};

/// Why a text could not be traced. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceError {
    Empty,
    Read(ReadError),
    /// There is no such row.
    Row(RowError),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "There is no text to look at: write at least one character."),
            Self::Read(error) => error.fmt(f),
            Self::Row(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TraceError {}

/// Runs the last characters of `text` that fit the context through `model`.
///
/// `step` is copied to the trace.
pub async fn trace(
    model: &Gpt,
    tokenizer: &Tokenizer,
    text: &str,
    step: u32,
) -> Result<Trace, TraceError> {
    let Read { tokens, starts, dropped } = last_tokens(model, tokenizer, text)?;
    let (length, vocabulary) = (tokens.len(), tokenizer.len());

    let computed =
        model.forward_traced(token_tensor(&tokens, 1, &model.device()), &Intervention::default());
    let mask = model.mask(length);
    let weights: Vec<Tensor<4>> =
        computed.layers.into_iter().filter_map(|layer| Some(layer.attention?.weights)).collect();
    // Blocks may have no attention at all.
    let layers = weights.len();
    let heads = weights.first().map_or(0, |weights| weights.dims()[1]);
    let mut tensors = vec![softmax(computed.logits, 2).reshape([-1])];
    tensors.extend((layers > 0).then(|| Tensor::cat(weights, 0).reshape([-1])));
    let read = read_all(tensors).await;
    let mut read = read.map_err(TraceError::Read)?.into_iter();
    let mut array = |shape: &[usize]| Array {
        shape: shape.iter().map(|&size| size as u32).collect(),
        values: read.next().unwrap_or_default(),
    };
    let probabilities = array(&[length, vocabulary]);
    Ok(Trace {
        step,
        tokens: as_text(tokenizer, &tokens),
        ids: tokens,
        starts,
        dropped,
        vocabulary: tokenizer.vocabulary(),
        mask: (0..length).flat_map(|query| mask.row(query).to_vec()).collect(),
        weights: array(&[layers, heads, length, length]),
        probabilities,
    })
}

/// One query's row of one head, `[layer, head, query]` counted from 0, in the same pass as
/// [`trace`].
pub async fn inspect(
    model: &Gpt,
    tokenizer: &Tokenizer,
    text: &str,
    [layer, head, query]: [usize; 3],
) -> Result<AttentionRow, TraceError> {
    let tokens = last_tokens(model, tokenizer, text)?.tokens;
    let tensor = token_tensor(&tokens, 1, &model.device());
    let computed = model.forward_traced(tensor, &Intervention::default());
    let of_layer = computed.layers.get(layer).and_then(|layer| layer.attention.as_ref());
    let (Some(attention), Some(rules)) = (of_layer, computed.rules.get(layer)) else {
        let count = computed.layers.len();
        return Err(TraceError::Row(RowError::Outside { what: "layer", asked: layer, count }));
    };
    let names = as_text(tokenizer, &tokens);
    let row = attention_row(attention, rules, [layer, head, query], &names, &names);
    row.await.map_err(TraceError::Row)
}

/// What a model reads of a text.
pub(crate) struct Read {
    pub tokens: Vec<u32>,
    /// See [`Sentence::starts`](crate::tokenizer::Sentence).
    pub starts: Vec<u32>,
    /// Tokens that were left out at the beginning.
    pub dropped: u32,
}

/// The last tokens of `text` that fit the context.
pub(crate) fn last_tokens(
    model: &Gpt,
    tokenizer: &Tokenizer,
    text: &str,
) -> Result<Read, TraceError> {
    let Sentence { mut tokens, mut starts } = tokenizer.read(text);
    if tokens.is_empty() {
        return Err(TraceError::Empty);
    }
    let dropped = tokens.len().saturating_sub(model.context());
    let (tokens, starts) = (tokens.split_off(dropped), starts.split_off(dropped));
    Ok(Read { tokens, starts, dropped: dropped as u32 })
}

pub(crate) fn as_text(tokenizer: &Tokenizer, tokens: &[u32]) -> Vec<String> {
    tokens.iter().map(|&token| tokenizer.label(token)).collect()
}
