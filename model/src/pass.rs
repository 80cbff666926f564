//! One forward pass of a model, every stage of it, as plain numbers.

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{
    Array,
    gpt::{AttentionDetail, BlockSizes, Detail, FeedForwardDetail, MOST_ROWS, Pass, Sizes},
};

use crate::{
    attention::{AttentionTrace, RowError},
    data::token_tensor,
    gpt::Gpt,
    parameters::parameter_count,
    read::read_all,
    tokenizer::Tokenizer,
    trace::{Read, TraceError, as_text, last_tokens},
};

/// Runs the last `rows` tokens of `text` through `model`, the block counted from 0 in detail: as
/// many as fit the context and [`MOST_ROWS`], and at least one.
///
/// `step` is copied to the result.
///
/// # Errors
///
/// Where there is no text, no such block, or the device returns nothing.
pub async fn pass(
    model: &Gpt,
    tokenizer: &Tokenizer,
    text: &str,
    block: u32,
    rows: u32,
    step: u32,
) -> Result<Pass, TraceError> {
    let Read { tokens: mut ids, mut dropped, .. } = last_tokens(model, tokenizer, text)?;
    let beyond = ids.len().saturating_sub((rows as usize).clamp(1, MOST_ROWS));
    ids.drain(..beyond);
    dropped += beyond as u32;
    let (length, count) = (ids.len(), model.blocks.len());
    let device = model.device();
    let computed = model.forward_traced(token_tensor(&ids, 1, &device), None);
    let Some(layer) = computed.layers.get(block as usize) else {
        let asked = block as usize;
        return Err(TraceError::Row(RowError::Outside { what: "layer", asked, count }));
    };

    // What is read, in the order in which it is taken up below.
    let mut wanted = Wanted::default();
    wanted.push(computed.tokens, &[length]);
    if let Some(positions) = computed.positions.clone() {
        wanted.push(positions, &[length]);
    }
    let mut stream = vec![computed.embeddings.clone()];
    stream.extend(computed.layers.iter().map(|layer| layer.output.clone()));
    wanted.push(Tensor::cat(stream, 0), &[count + 1, length]);
    let weights: Vec<Tensor<4>> = computed
        .layers
        .iter()
        .filter_map(|layer| Some(layer.attention.as_ref()?.weights.clone()))
        .collect();
    let attending = weights.len();
    let heads = weights.first().map_or(0, |weights| weights.dims()[1]);
    if attending > 0 {
        wanted.push(Tensor::cat(weights, 0), &[attending, heads, length]);
    }
    if let (Some(attention), Some(output)) = (&layer.attention, &layer.attention_output) {
        let AttentionTrace { queries, keys, values, mixed, .. } = attention.clone();
        for each in [queries, keys, values, mixed] {
            wanted.push(each, &[heads, length]);
        }
        wanted.push(output.clone(), &[length]);
    }
    if let (Some(neurons), Some(output)) = (&layer.neurons, &layer.feed_forward_output) {
        wanted.push(neurons.clone(), &[length]);
        wanted.push(output.clone(), &[length]);
    }
    wanted.push(computed.final_norm, &[length]);
    wanted.push(softmax(computed.logits, 2), &[length]);

    let mask = model.mask(length);
    let (has_attention, has_neurons) = (layer.attention.is_some(), layer.neurons.is_some());
    let mut read = wanted.read().await?.into_iter();
    // As many as were pushed.
    let mut next = || read.next().unwrap_or_default();
    Ok(Pass {
        step,
        text: text.to_owned(),
        tokens: as_text(tokenizer, &ids),
        ids,
        dropped,
        vocabulary: tokenizer.vocabulary(),
        mask: (0..length).flat_map(|query| mask.row(query).to_vec()).collect(),
        embeddings: next(),
        positions: computed.positions.is_some().then(&mut next),
        stream: next(),
        weights: if attending > 0 { next() } else { Array::default() },
        detail: Detail {
            block,
            attention: has_attention.then(|| AttentionDetail {
                queries: next(),
                keys: next(),
                values: next(),
                mixed: next(),
                output: next(),
            }),
            feed_forward: has_neurons.then(|| FeedForwardDetail { hidden: next(), output: next() }),
        },
        final_norm: next(),
        probabilities: next(),
        sizes: sizes(model),
    })
}

/// Tensors that are read together, each with its shape but for the last axis.
#[derive(Default)]
struct Wanted {
    tensors: Vec<Tensor<1>>,
    shapes: Vec<Vec<u32>>,
}

impl Wanted {
    fn push<const D: usize>(&mut self, tensor: Tensor<D>, leading: &[usize]) {
        let last = tensor.dims()[D - 1];
        let shape = leading.iter().chain([&last]).map(|&size| size as u32);
        self.shapes.push(shape.collect());
        self.tensors.push(tensor.reshape([-1]));
    }

    async fn read(self) -> Result<Vec<Array>, TraceError> {
        let read = read_all(self.tensors).await.map_err(TraceError::Read)?;
        let arrays = self.shapes.into_iter().zip(read);
        Ok(arrays.map(|(shape, values)| Array { shape, values }).collect())
    }
}

fn sizes(model: &Gpt) -> Sizes {
    let blocks = model.blocks.iter().map(|block| {
        let norms = [&block.attention_norm, &block.feed_forward_norm];
        BlockSizes {
            norms: norms.into_iter().flatten().map(parameter_count).sum(),
            attention: block.attention.as_ref().map_or(0, parameter_count),
            feed_forward: block.feed_forward.as_ref().map_or(0, parameter_count),
        }
    });
    Sizes {
        tokens: parameter_count(&model.token_embedding),
        positions: model.position_embedding.as_ref().map_or(0, parameter_count),
        blocks: blocks.collect(),
        final_norm: model.final_norm.as_ref().map_or(0, parameter_count),
        head: model.head.as_ref().map_or(0, parameter_count),
    }
}
