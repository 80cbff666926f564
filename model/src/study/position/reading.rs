//! What models do with a sequence.

use burn::tensor::{Int, Tensor, TensorData, activation::softmax};
use unroll_protocol::{
    Array, AttentionRow,
    architecture::Positions,
    study::position::{ModelReading, Reading, SYMBOLS, Scores},
};

use super::{super::Refusal, encodings::no_row, models::Models};
use crate::{
    attention::{AttentionTrace, Mask, attention_row},
    gpt::{Gpt, GptTrace},
    read_all,
    tasks::{NthSymbol, SequenceBatch, Task},
};

/// Number of tokens whose scores with each other are shown.
const SCORED: usize = 16;

/// Symbols, and the number that asks for one of them.
pub struct Sequence {
    tokens: Vec<u32>,
    names: Vec<String>,
    place: usize,
}

/// The name of a symbol.
pub fn symbol(index: u32) -> String {
    char::from_u32('a' as u32 + index).map_or(String::new(), |letter| letter.to_string())
}

impl Sequence {
    /// The first sequence of a batch, asking for number `n`.
    pub fn new(task: &NthSymbol, batch: &SequenceBatch, n: usize) -> Self {
        let length = batch.length() - 1;
        let mut tokens = batch.inputs[..length].to_vec();
        tokens.push(task.number(n));
        let symbols = task.symbols();
        let names = tokens.iter().map(|&token| symbols[token as usize].clone()).collect();
        Self { tokens, names, place: task.asked(n) }
    }

    fn tensor(&self, model: &Gpt) -> Tensor<2, Int> {
        rows(&self.tokens, 1, model)
    }

    /// The places of the first two symbols that differ; twice the first if all are alike.
    fn exchanged(&self) -> (usize, usize) {
        let symbols = &self.tokens[..self.tokens.len() - 1];
        (0, symbols.iter().position(|token| *token != symbols[0]).unwrap_or(0))
    }

    /// The same with these two exchanged.
    fn swapped(&self) -> Vec<u32> {
        let mut tokens = self.tokens.clone();
        let (first, other) = self.exchanged();
        tokens.swap(first, other);
        tokens
    }
}

fn rows(tokens: &[u32], rows: usize, model: &Gpt) -> Tensor<2, Int> {
    let ids: Vec<i32> = tokens.iter().map(|&token| token as i32).collect();
    Tensor::from_data(TensorData::new(ids, [rows, tokens.len() / rows]), &model.device())
}

/// Refuses sequences longer than learned positions allow.
///
/// # Errors
///
/// A sentence if learned positions end before the sequence does.
fn fits(model: &Gpt, length: usize) -> Result<(), Refusal> {
    match model.most_tokens() {
        Some(most) if length > most => Err(no_row(most as u32)),
        _ => Ok(()),
    }
}

/// The last layer's attention.
fn attention(trace: &GptTrace) -> Option<&AttentionTrace> {
    trace.layers.last()?.attention.as_ref()
}

/// See [`Reading`].
pub async fn reading(
    models: &Models,
    sequence: Sequence,
    counting: Vec<f32>,
) -> Result<Reading, Refusal> {
    let length = sequence.tokens.len();
    let mut readings = Vec::new();
    for (positions, learner) in models.all() {
        let reading = match learner {
            Ok(learner) => one(&learner.model, positions, &sequence).await,
            Err(refusal) => Err(Refusal(refusal.to_owned())),
        };
        readings.push(reading.unwrap_or_else(|refusal| ModelReading {
            positions,
            refusal: Some(refusal.0),
            answer: String::new(),
            probability: 0.0,
            weights: Array { shape: vec![0, length as u32], values: Vec::new() },
            swapped: 0.0,
            sums: Array { shape: vec![0, 0], values: Vec::new() },
        }));
    }
    let right = sequence.names[sequence.place].clone();
    let place = sequence.place as u32;
    let (first, other) = sequence.exchanged();
    let exchanged = (first as u32, other as u32);
    Ok(Reading { tokens: sequence.names, place, right, exchanged, models: readings, counting })
}

async fn one(
    model: &Gpt,
    positions: Positions,
    sequence: &Sequence,
) -> Result<ModelReading, Refusal> {
    let length = sequence.tokens.len();
    fits(model, length)?;
    let both = [sequence.tokens.clone(), sequence.swapped()].concat();
    let trace = model.forward_traced(rows(&both, 2, model), None);
    let Some(attention) = attention(&trace) else {
        return Err(Refusal("This model has no attention.".to_owned()));
    };
    let [_, heads, _, of_head] = attention.mixed.dims();
    let asked = [0..1, 0..heads, length - 1..length, 0..length];
    let asking = attention.weights.clone().slice(asked);
    let sums = attention.mixed.clone().narrow(2, length - 1, 1);
    let width = heads * of_head;
    let logits = trace.logits.narrow(1, length - 1, 1);
    let [_, _, vocabulary] = logits.dims();
    // Symbols only: numbers are never the answer.
    let symbols = SYMBOLS as usize;
    let read = read_all([
        softmax(logits.clone().reshape([2, vocabulary]), 1).reshape([2 * vocabulary]),
        logits.reshape([2 * vocabulary]),
        asking.reshape([heads * length]),
        sums.reshape([2 * width]),
    ]);
    let read = read.await?;
    let probabilities = &read[0][..symbols];
    let likeliest = probabilities.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let (answer, probability) = likeliest.map_or((0, 0.0), |(i, p)| (i, *p));
    let (before, after) = read[1].split_at(vocabulary);
    let swapped = before.iter().zip(after).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    Ok(ModelReading {
        positions,
        refusal: None,
        answer: symbol(answer as u32),
        probability,
        weights: Array { shape: vec![heads as u32, length as u32], values: read[2].clone() },
        swapped,
        sums: Array { shape: vec![2, width as u32], values: read[3].clone() },
    })
}

/// One row of the last layer's attention, `[head, query]` from 0.
pub async fn row(
    model: &Gpt,
    sequence: Sequence,
    [head, query]: [usize; 2],
) -> Result<AttentionRow, Refusal> {
    fits(model, sequence.tokens.len())?;
    let trace = model.forward_traced(sequence.tensor(model), None);
    let layer = trace.layers.len() - 1;
    let Some(attention) = &trace.layers[layer].attention else {
        return Err(Refusal("This model has no attention.".to_owned()));
    };
    let (rules, names) = (&trace.rules, &sequence.names);
    Ok(attention_row(attention, rules, [layer, head, query], names, names).await?)
}

/// See [`Scores`].
pub async fn scores(model: &Gpt, positions: Positions) -> Result<Scores, Refusal> {
    let length = model.most_tokens().map_or(SCORED, |most| most.min(SCORED));
    let everywhere = Some(Mask::full(length, length));
    let trace = model.forward_traced(rows(&vec![0; length], 1, model), everywhere);
    let Some(attention) = trace.layers.first().and_then(|layer| layer.attention.as_ref()) else {
        return Err(Refusal("This model has no attention.".to_owned()));
    };
    let [_, heads, _, _] = attention.scores.dims();
    let read = read_all([attention.scores.clone().reshape([heads * length * length])]).await?;
    let values = read.concat();
    let between = |least: f32, most: f32| if most >= least { most - least } else { 0.0 };
    let range = |values: &mut dyn Iterator<Item = f32>| {
        let (least, most) =
            values.fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        between(least, most)
    };
    let of_heads = |of: &dyn Fn(&[f32]) -> f32| -> Vec<f32> {
        values.chunks(length * length).map(of).collect()
    };
    let drift = of_heads(&|scores| {
        let along = |offset: isize| {
            let cell = |query: usize| {
                let key = query.checked_add_signed(offset).filter(|key| *key < length)?;
                Some(scores[query * length + key])
            };
            range(&mut (0..length).filter_map(cell))
        };
        let reach = length as isize - 1;
        (-reach..=reach).map(along).fold(0.0, f32::max)
    });
    let spread = of_heads(&|scores| range(&mut scores.iter().copied()));
    let shape = vec![heads as u32, length as u32, length as u32];
    Ok(Scores { positions, symbol: symbol(0), scores: Array { shape, values }, drift, spread })
}
