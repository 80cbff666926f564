//! A model's computation on one text, as plain numbers.

use core::fmt;

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{Array, Trace};

use crate::{
    data::token_tensor,
    gpt::{Gpt, Intervention},
    read::{ReadError, read_all},
    tokenizer::CharTokenizer,
};

/// Why a text could not be traced. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceError {
    Empty,
    Read(ReadError),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "There is no text to look at: write at least one character."),
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TraceError {}

/// Runs the last characters of `text` that fit the context through `model`.
///
/// `id` and `step` are handed through to the trace.
pub async fn trace(
    model: &Gpt,
    tokenizer: &CharTokenizer,
    text: &str,
    id: u32,
    step: u32,
) -> Result<Trace, TraceError> {
    let tokens = tokenizer.encode(text);
    if tokens.is_empty() {
        return Err(TraceError::Empty);
    }
    let dropped = tokens.len().saturating_sub(model.context());
    let tokens = &tokens[dropped..];
    let (length, vocabulary) = (tokens.len(), tokenizer.len());

    let computed =
        model.forward_traced(token_tensor(tokens, 1, &model.device()), &Intervention::default());
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
        id,
        step,
        tokens: tokens.iter().map(|&token| tokenizer.character(token).to_string()).collect(),
        dropped: dropped as u32,
        vocabulary: tokenizer.vocabulary(),
        weights: array(&[layers, heads, length, length]),
        probabilities,
    })
}
