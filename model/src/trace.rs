//! A model's computation on one text, as plain numbers.

use core::fmt;

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{Array, AttentionRow, Trace};

use crate::{
    attention::{RowError, attention_row},
    data::token_tensor,
    gpt::Gpt,
    read::{ReadError, read_all},
    tokenizer::{Sentence, Tokenizer},
};

/// Why a text could not be traced. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceError {
    Empty,
    /// The model's context can't hold two tokens twice.
    ShortContext,
    /// The model learned none.
    NoPositions,
    Read(ReadError),
    /// There is no such row.
    Row(RowError),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "There is no text to look at: write at least one character."),
            Self::ShortContext => write!(f, "This model’s context is too short for this test."),
            Self::NoPositions => write!(f, "This model has no learned positions."),
            Self::Read(error) => error.fmt(f),
            Self::Row(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TraceError {}

/// One forward pass of a model over the last tokens of a text that fit its context. Several questions about the
/// text can be answered from it.
#[derive(Clone, Debug)]
pub struct Reading {
    pub(crate) read: Read,
    /// Of each block that has attention, `[1, heads, T, T]`.
    pub(crate) weights: Vec<Tensor<4>>,
    /// Before the first block and after each of them, `[1, T, width]`.
    pub(crate) streams: Vec<Tensor<3>>,
}

impl Reading {
    /// # Errors
    ///
    /// Where there is no text.
    pub fn of(model: &Gpt, tokenizer: &Tokenizer, text: &str) -> Result<Self, TraceError> {
        let read = last_tokens(model, tokenizer, text)?;
        let (weights, streams) =
            model.weights_and_streams(token_tensor(&read.tokens, 1, &model.device()));
        Ok(Self { read, weights, streams })
    }

    /// What `model`, whose reading it is, computes, as plain numbers. `step` is copied to the trace.
    ///
    /// # Errors
    ///
    /// Where the device returns nothing.
    pub async fn trace(
        &self,
        model: &Gpt,
        tokenizer: &Tokenizer,
        step: u32,
    ) -> Result<Trace, TraceError> {
        let Read { ref tokens, ref starts, dropped } = self.read;
        let (length, vocabulary) = (tokens.len(), tokenizer.len());
        let last = self.streams.last().expect("one for the embeddings").clone();
        let mask = model.mask(length);
        // Blocks may have no attention at all.
        let layers = self.weights.len();
        let heads = self.weights.first().map_or(0, |weights| weights.dims()[1]);
        let mut tensors = vec![softmax(model.logits(last), 2).reshape([-1])];
        tensors.extend((layers > 0).then(|| Tensor::cat(self.weights.clone(), 0).reshape([-1])));
        let read = read_all(tensors).await;
        let mut read = read.map_err(TraceError::Read)?.into_iter();
        let mut array = |shape: &[usize]| Array {
            shape: shape.iter().map(|&size| size as u32).collect(),
            values: read.next().unwrap_or_default(),
        };
        let probabilities = array(&[length, vocabulary]);
        Ok(Trace {
            step,
            tokens: as_text(tokenizer, tokens),
            places: tokens.clone(),
            starts: starts.clone(),
            dropped,
            vocabulary: tokenizer.vocabulary(),
            mask: (0..length).flat_map(|query| mask.row(query).to_vec()).collect(),
            weights: array(&[layers, heads, length, length]),
            probabilities,
        })
    }
}

/// A [`Reading`] of `text` as plain numbers. `step` is copied to the trace.
///
/// # Errors
///
/// Where there is no text, or the device returns nothing.
pub async fn trace(
    model: &Gpt,
    tokenizer: &Tokenizer,
    text: &str,
    step: u32,
) -> Result<Trace, TraceError> {
    Reading::of(model, tokenizer, text)?.trace(model, tokenizer, step).await
}

/// Of a large vocabulary, how many of the likeliest tokens are told for each position.
const LIKELIEST: usize = 10;

/// Has `vocabulary` and the probabilities `[T, V]` of its tokens hold those alone that are among the
/// likeliest anywhere, and those at `places`, which are changed to where they then are.
pub fn keep_likeliest(vocabulary: &mut Vec<String>, probabilities: &mut Array, places: &mut [u32]) {
    let rows = || probabilities.values.chunks(vocabulary.len().max(1));
    let mut is_kept = vec![false; vocabulary.len()];
    places.iter().for_each(|id| is_kept[*id as usize] = true);
    for row in rows() {
        let mut likeliest: Vec<usize> = Vec::with_capacity(LIKELIEST + 1);
        for (id, share) in row.iter().enumerate() {
            if likeliest.len() < LIKELIEST
                || likeliest.last().is_some_and(|&last| *share > row[last])
            {
                likeliest.insert(likeliest.partition_point(|&other| row[other] >= *share), id);
                likeliest.truncate(LIKELIEST);
            }
        }
        likeliest.into_iter().for_each(|id| is_kept[id] = true);
    }
    let ids: Vec<usize> = (0..vocabulary.len()).filter(|id| is_kept[*id]).collect();
    let values: Vec<f32> = rows().flat_map(|row| ids.iter().map(|id| row[*id])).collect();
    let shape = vec![(values.len() / ids.len().max(1)) as u32, ids.len() as u32];
    for place in places {
        *place = ids.partition_point(|id| id < &(*place as usize)) as u32;
    }
    *probabilities = Array { shape, values };
    *vocabulary = ids.into_iter().map(|id| core::mem::take(&mut vocabulary[id])).collect();
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
    let Some(attention) = model.attention_of(tensor, layer) else {
        let count = model.blocks.len();
        return Err(TraceError::Row(RowError::Outside { what: "layer", asked: layer, count }));
    };
    let names = as_text(tokenizer, &tokens);
    let rules = model.attention_rules(tokens.len());
    let row = attention_row(&attention, &rules, [layer, head, query], &names, &names);
    row.await.map_err(TraceError::Row)
}

/// What a model reads of a text.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub tokens: Vec<u32>,
    /// See [`Sentence::starts`](crate::tokenizer::Sentence).
    pub starts: Vec<u32>,
    /// Tokens that were left out at the beginning.
    pub dropped: u32,
}

/// Most attention weights of one text, those of all heads together: 32 MB.
const MOST_WEIGHTS: usize = 1 << 23;

/// The last tokens of `text` that fit the context, and whose weights can all be shown.
pub(crate) fn last_tokens(
    model: &Gpt,
    tokenizer: &Tokenizer,
    text: &str,
) -> Result<Read, TraceError> {
    let Sentence { mut tokens, mut starts } = tokenizer.read(text);
    if tokens.is_empty() {
        return Err(TraceError::Empty);
    }
    let matrices = (model.blocks.len() * model.heads()).max(1);
    let most = model.context().min(((MOST_WEIGHTS / matrices) as f64).sqrt() as usize);
    let dropped = tokens.len().saturating_sub(most);
    let (tokens, starts) = (tokens.split_off(dropped), starts.split_off(dropped));
    Ok(Read { tokens, starts, dropped: dropped as u32 })
}

pub(crate) fn as_text(tokenizer: &Tokenizer, tokens: &[u32]) -> Vec<String> {
    tokens.iter().map(|&token| tokenizer.label(token)).collect()
}
