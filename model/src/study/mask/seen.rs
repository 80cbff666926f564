//! What a model makes of a sentence under a mask.

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{
    Array,
    study::mask::{CONTEXT, HEADS, LAYERS, Leak, Seen, ask},
};

use super::{Refusal, averages::averages};
use crate::{
    CharTokenizer, Gpt, Mask, attention::attention_row, gpt::GptTrace, read_all, token_tensor,
};

/// Answers [`unroll_protocol::study::mask::ask::Look`].
pub(super) async fn seen(
    model: &Gpt,
    tokenizer: &CharTokenizer,
    look: &ask::Look,
) -> Result<Seen, Refusal> {
    let mut ids = tokenizer.encode(&look.text);
    if ids.is_empty() {
        return Err(Refusal(
            "There is no text to look at: write at least one character.".to_owned(),
        ));
    }
    if look.layer >= LAYERS || look.head >= HEADS {
        return Err(Refusal(format!(
            "There is no head {} in layer {}: the models have {LAYERS} layers of {HEADS} heads.",
            look.head + 1,
            look.layer + 1
        )));
    }
    let dropped = ids.len().saturating_sub(CONTEXT as usize);
    ids.truncate(CONTEXT as usize);
    let length = ids.len();
    let allowed = look.pattern.cells(&look.drawn, length);
    let mask = Mask::from_fn(length, length, |query, key| allowed[query * length + key]);
    mask.check()?;

    let tokens: Vec<String> = ids.iter().map(|&id| tokenizer.character(id).to_string()).collect();
    let under = |mask: Option<&Mask>, ids: &[u32]| {
        model.forward_traced(token_tensor(ids, 1, &model.device()), mask.cloned())
    };
    let trace = under(Some(&mask), &ids);
    let usual = under(None, &ids);
    let outputs = |trace: &GptTrace| trace.final_norm.clone().reshape([-1]);
    let probabilities = |trace: &GptTrace| softmax(trace.logits.clone(), 2).reshape([-1]);
    let changed = look.change.filter(|change| (change.position as usize) < length);
    let mut read =
        vec![outputs(&trace), probabilities(&trace), outputs(&usual), probabilities(&usual)];
    let mut letter = String::new();
    if let Some(change) = changed {
        let mut other = ids.clone();
        let id = &mut other[change.position as usize];
        *id = match change.letter {
            Some(letter) => tokenizer.id(letter),
            None => (*id + 1) % tokenizer.len() as u32,
        };
        letter = tokenizer.character(*id).to_string();
        let full = Mask::full(length, length);
        read.push(outputs(&under(Some(&mask), &other)));
        read.push(outputs(&under(Some(&full), &ids)));
        read.push(outputs(&under(Some(&full), &other)));
    }
    let layers = trace.layers.iter().filter_map(|layer| layer.attention.as_ref());
    let layers: Vec<_> = layers.collect();
    read.extend(layers.iter().map(|layer| layer.weights.clone().reshape([-1])));
    let mut read = read_all(read).await?.into_iter();
    let mut next = || read.next().unwrap_or_default();
    let array = |rows: usize, values: Vec<f32>| Array {
        shape: vec![rows as u32, (values.len() / rows) as u32],
        values,
    };
    let [outputs, probabilities, usual_outputs, usual_probabilities] =
        [(); 4].map(|()| array(length, next()));
    let leak = changed.map(|change| {
        let masked = moved(length, &outputs.values, &next());
        let unmasked = moved(length, &next(), &next());
        Leak { position: change.position, letter, masked, unmasked }
    });
    let weights: Vec<Vec<f32>> = (0..layers.len()).map(|_| next()).collect();
    let blocked = weights.iter().flat_map(|layer| layer.iter().zip(allowed.iter().cycle()));
    let most_blocked =
        blocked.filter(|(_, allowed)| !**allowed).fold(0.0f32, |most, (&w, _)| most.max(w));
    let (layer, head) = (look.layer as usize, look.head as usize);
    let cells = length * length;
    let weights = weights[layer][head * cells..][..cells].to_vec();

    let row = look.row.map_or(length - 1, |row| (row as usize).min(length - 1));
    let attention = layers[layer];
    let place = [layer, head, row];
    let arithmetic = attention_row(attention, &trace.rules, place, &tokens, &tokens).await?;
    let of_head = |all: &Tensor<4>| {
        let [_, _, _, width] = all.dims();
        all.clone().narrow(1, head, 1).reshape([length, width])
    };
    let averages = averages(&mask, of_head(&attention.values), of_head(&attention.mixed)).await?;
    Ok(Seen {
        tokens,
        dropped: dropped as u32,
        vocabulary: tokenizer.vocabulary(),
        allowed,
        weights: array(length, weights),
        most_blocked,
        outputs,
        probabilities,
        usual_outputs,
        usual_probabilities,
        row: row as u32,
        arithmetic,
        averages,
        leak,
    })
}

/// The largest difference between two outputs at each position.
fn moved(length: usize, before: &[f32], after: &[f32]) -> Vec<f32> {
    let width = before.len() / length;
    let rows = before.chunks_exact(width).zip(after.chunks_exact(width));
    rows.map(|(a, b)| a.iter().zip(b).fold(0.0f32, |most, (a, b)| most.max((a - b).abs())))
        .collect()
}
