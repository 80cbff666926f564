//! Heads on the learner's sentence.

use std::sync::Arc;

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{
    Array, Trace,
    attention::AttentionRow,
    study::heads::{HeadAt, Seen, Written},
};

use super::Refusal;
use crate::{
    attention::{Attention, AttentionTrace, attention_row, head_statistics, statistics_of},
    data::token_tensor,
    gpt::{Gpt, GptTrace},
    read::read_all,
    tokenizer::CharTokenizer,
    trace::TraceError,
};

/// One pass of a sentence through the model.
pub struct Pass<'a> {
    /// Without the heads that are off.
    model: Gpt,
    tokenizer: &'a CharTokenizer,
    ids: Vec<u32>,
    tokens: Vec<String>,
    /// Number of characters before them that did not fit.
    dropped: u32,
    trace: GptTrace,
}

impl<'a> Pass<'a> {
    /// Runs the last characters of `text` that fit the context through `model`.
    pub fn new(
        model: &Gpt,
        tokenizer: &'a CharTokenizer,
        text: &str,
        off: &[HeadAt],
    ) -> Result<Self, Refusal> {
        let ids = tokenizer.encode(text);
        if ids.is_empty() {
            return Err(TraceError::Empty.into());
        }
        let dropped = ids.len().saturating_sub(model.context());
        let ids = &ids[dropped..];
        let model = model.clone().without_heads(off);
        let trace = model.forward_traced(token_tensor(ids, 1, &model.device()), None);
        let tokens = ids.iter().map(|&id| tokenizer.character(id).to_string()).collect();
        Ok(Self { model, tokenizer, ids: ids.to_vec(), tokens, dropped: dropped as u32, trace })
    }

    /// Each layer's attention with what it computed.
    fn layers(&self) -> impl Iterator<Item = (&Attention, &AttentionTrace)> {
        let blocks = self.model.blocks.iter().zip(&self.trace.layers);
        blocks.filter_map(|(block, layer)| block.attention.as_ref().zip(layer.attention.as_ref()))
    }

    pub async fn seen(
        self,
        step: u32,
        off: Vec<HeadAt>,
        row: Option<(HeadAt, u32)>,
    ) -> Result<Seen, Refusal> {
        let row = match row {
            Some((at, query)) => self.row(at, query as usize).await,
            None => None,
        };
        let length = self.tokens.len();
        let mask = self.model.mask(length);
        let (mut weights, mut statistics, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for (attention, trace) in self.layers() {
            weights.push(trace.weights.clone());
            if length > 1 {
                statistics.push(head_statistics(trace.weights.clone()));
            }
            let squares = attention.contributions(trace).powf_scalar(2.0).sum_dim(3);
            written.push(squares.sqrt().mean_dim(2));
        }
        let (layers, [_, heads, _, _]) = (weights.len(), weights[0].dims());
        let flat = |all: Vec<Tensor<4>>| Tensor::cat(all, 0).reshape([-1]);
        let probabilities = softmax(self.trace.logits, 2).reshape([-1]);
        let mut parts = vec![flat(weights), probabilities, flat(written)];
        if !statistics.is_empty() {
            parts.push(Tensor::cat(statistics, 0).reshape([-1]));
        }
        let mut read = read_all(parts).await?.into_iter();
        let mut array = |shape: &[usize]| Array {
            shape: shape.iter().map(|&size| size as u32).collect(),
            values: read.next().unwrap_or_default(),
        };
        let trace = Trace {
            step,
            starts: (self.dropped..=self.dropped + length as u32).collect(),
            places: self.ids,
            dropped: self.dropped,
            vocabulary: self.tokenizer.vocabulary(),
            mask: (0..length).flat_map(|query| mask.row(query).to_vec()).collect(),
            weights: array(&[layers, heads, length, length]),
            probabilities: array(&[length, self.tokenizer.len()]),
            tokens: self.tokens,
        };
        let written = array(&[layers, heads]);
        let statistics = statistics_of(&read.next().unwrap_or_default());
        Ok(Seen { trace: Arc::new(trace), off, statistics, written, row })
    }

    /// A row of a head that there is, if the text has it.
    async fn row(&self, at: HeadAt, query: usize) -> Option<AttentionRow> {
        let layer = at.layer as usize - 1;
        let traced = self.trace.layers[layer].attention.as_ref()?;
        let place = [layer, at.head as usize - 1, query];
        attention_row(traced, &self.trace.rules, place, &self.tokens, &self.tokens).await.ok()
    }

    /// What the heads of `layer`, from 1, write at `query`, from 0.
    pub async fn written(self, layer: u32, query: u32) -> Result<Written, Refusal> {
        let (at, length) = (query as usize, self.tokens.len());
        if at >= length {
            return Err(Refusal(format!(
                "There is no token {}: the sentence has {length}.",
                at + 1
            )));
        }
        let index = layer as usize - 1;
        let found =
            self.layers().nth(index).zip(self.trace.layers[index].attention_output.as_ref());
        let ((attention, trace), output) =
            found.ok_or_else(|| Refusal("This layer has no attention.".to_owned()))?;
        let heads = attention.contributions(trace);
        let [_, count, _, width] = heads.dims();
        let bias = match &attention.output.bias {
            Some(bias) => bias.val(),
            None => Tensor::zeros([width], &self.model.device()),
        };
        let read = read_all([
            heads.narrow(2, at, 1).reshape([-1]),
            bias,
            output.clone().narrow(1, at, 1).reshape([-1]),
        ]);
        let mut read = read.await?.into_iter();
        let mut next = || read.next().unwrap_or_default();
        Ok(Written {
            layer,
            query,
            heads: Array { shape: vec![count as u32, width as u32], values: next() },
            bias: next(),
            output: next(),
        })
    }
}
