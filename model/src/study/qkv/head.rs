//! One head of the model: its queries, keys, values and weights.

use burn::tensor::Tensor;
use unroll_protocol::{
    Array,
    study::qkv::{CONTEXT, Head, Memory},
};

use super::{Refusal, Text};
use crate::{
    AttentionRules, Dropout, Mask, attention::RowError, attention_row, data::token_tensor,
    fused::normalize, read_all,
};

/// `[layer, head, query]` count from 0; a query beyond the sentence means its last token.
pub(super) async fn head(
    text: &Text,
    sentence: &str,
    memory: Memory,
    causal: bool,
    [layer, head, query]: [usize; 3],
) -> Result<Head, Refusal> {
    let (tokens, dropped) = text.tokens(sentence)?;
    let names = text.names(&tokens);
    let own = input(text, &tokens, causal, layer)?;
    let (read, rules, memory_names) = match memory {
        Memory::Own => {
            let rules = text.rules(tokens.len(), causal);
            (own.clone(), rules, names.clone())
        }
        Memory::Other => {
            let other = &text.data.training[..CONTEXT as usize];
            let mask = Mask::full(tokens.len(), other.len());
            let rules = AttentionRules::new(mask, &text.learner.model.device());
            (input(text, other, causal, layer)?, rules, text.names(other))
        }
    };
    let block = &text.learner.model.blocks[layer];
    let Some(attention) = &block.attention else {
        return Err(Refusal("This block has no attention.".to_owned()));
    };
    let (_, trace) = attention.cross_traced(own, read, &rules, &Dropout::off());
    let [_, heads, length, width] = trace.queries.dims();
    if head >= heads {
        return Err(RowError::Outside { what: "head", asked: head, count: heads }.into());
    }
    let query = query.min(length - 1);
    let cell = [layer, head, query];
    let row = attention_row(&trace, &rules, cell, &names, &memory_names).await?;
    let of_head = |all: &Tensor<4>| {
        let [_, _, rows, columns] = all.dims();
        let one = all.clone().slice([0..1, head..head + 1, 0..rows, 0..columns]);
        one.reshape([rows * columns])
    };
    let all = [&trace.queries, &trace.keys, &trace.values, &trace.weights];
    let mut numbers = read_all(all.map(of_head)).await?.into_iter();
    let mut array = |rows: usize, columns: usize| Array {
        shape: vec![rows as u32, columns as u32],
        values: numbers.next().unwrap_or_default(),
    };
    let memory_length = memory_names.len();
    Ok(Head {
        memory,
        causal,
        layer: layer as u32,
        head: head as u32,
        dropped,
        queries: array(length, width),
        keys: array(memory_length, width),
        values: array(memory_length, width),
        weights: array(length, memory_length),
        mask: (0..length).flat_map(|query| rules.mask().row(query).to_vec()).collect(),
        tokens: names,
        memory_tokens: memory_names,
        row,
    })
}

/// The input of the attention in `layer`.
///
/// # Shapes
///
/// - output: `[1, T, WIDTH]`
fn input(text: &Text, tokens: &[u32], causal: bool, layer: usize) -> Result<Tensor<3>, Refusal> {
    let model = &text.learner.model;
    let Some(block) = model.blocks.get(layer) else {
        let count = model.blocks.len();
        return Err(RowError::Outside { what: "layer", asked: layer, count }.into());
    };
    let rules = text.rules(tokens.len(), causal);
    let start = model.embed(token_tensor(tokens, 1, &model.device()), &Dropout::off());
    let below = model.blocks[..layer].iter();
    let stream = below.fold(start, |stream, block| block.forward(stream, &rules, &Dropout::off()));
    Ok(match &block.attention_norm {
        Some(norm) => normalize(norm, stream),
        None => stream,
    })
}
