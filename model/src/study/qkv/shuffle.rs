//! How a model's outputs depend on the order of its tokens.

use burn::tensor::{Int, Tensor, TensorData};
use unroll_protocol::{
    Array,
    study::qkv::{Shuffle, WIDTH},
};

use super::{Refusal, Text};
use crate::{
    Dropout,
    data::token_tensor,
    random::{Purpose, below, stream},
    read_all,
};

/// Reads `sentence` in its order and shuffled, with the trained weights but positions and mask as
/// requested, and compares each token's output after the last block.
pub(super) async fn shuffle(
    text: &Text,
    sentence: &str,
    draw: u32,
    positions: bool,
    causal: bool,
) -> Result<Shuffle, Refusal> {
    let (tokens, _) = text.tokens(sentence)?;
    let order = permutation(draw, tokens.len());
    let moved: Vec<u32> = order.iter().map(|&from| tokens[from as usize]).collect();
    let before = outputs(text, &tokens, positions, causal);
    let after = outputs(text, &moved, positions, causal);
    let device = text.learner.model.device();
    let places: Vec<i32> = order.iter().map(|&from| from as i32).collect();
    let places: Tensor<1, Int> = Tensor::from_data(TensorData::new(places, [order.len()]), &device);
    let difference = after - before.clone().select(0, places);
    let largest = before.clone().abs().max();
    let read = read_all([difference.reshape([-1]), before.reshape([-1]), largest]).await?;
    let mut read = read.into_iter();
    let mut next = || read.next().unwrap_or_default();
    let shape = vec![order.len() as u32, WIDTH];
    Ok(Shuffle {
        positions,
        causal,
        tokens: text.names(&tokens),
        difference: Array { shape: shape.clone(), values: next() },
        before: Array { shape, values: next() },
        order,
        largest: next().first().copied().unwrap_or(0.0),
    })
}

/// The residual stream after the last block, `[T, WIDTH]`.
fn outputs(text: &Text, tokens: &[u32], positions: bool, causal: bool) -> Tensor<2> {
    let (model, length) = (&text.learner.model, tokens.len());
    let device = model.device();
    let rules = text.rules(length, causal);
    let (tokens, places) = model.embed_apart(token_tensor(tokens, 1, &device), 0);
    let start = match places {
        Some(places) if positions => tokens + places.unsqueeze::<3>(),
        _ => tokens,
    };
    let end = model
        .blocks
        .iter()
        .fold(start, |stream, block| block.forward(stream, &rules, &Dropout::off()));
    end.reshape([length, WIDTH as usize])
}

/// A Fisher-Yates shuffle of `0..length`; never the identity if there is another permutation.
fn permutation(draw: u32, length: usize) -> Vec<u32> {
    let mut rng = stream(0, Purpose::QkvShuffle, [draw, length as u32, 0]);
    let mut order: Vec<u32> = (0..length as u32).collect();
    for last in (1..length).rev() {
        order.swap(last, below(&mut rng, last + 1));
    }
    if length > 1 && order.iter().enumerate().all(|(place, from)| place == *from as usize) {
        order.swap(0, length - 1);
    }
    order
}
