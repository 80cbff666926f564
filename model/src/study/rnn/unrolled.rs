//! What the Elman network does with a text, step by step.

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{
    Array,
    study::rnn::{CellChoice, Edit, ReadoutChoice, Run, Spec, Unrolled},
};

use super::{
    Refusal,
    task::{Reading, Task},
};
use crate::{RunOptions, SequenceModel, read_all, token_tensor};

/// The question.
pub struct Asked<'a> {
    pub task: &'a Task,
    pub spec: &'a Spec,
    pub reading: Reading,
    pub edit: Option<Edit>,
}

/// The weights, the run over the text, and the run over the edited text.
pub async fn unrolled(model: &SequenceModel, asked: Asked<'_>) -> Result<Unrolled, Refusal> {
    let Asked { task, spec, reading, edit } = asked;
    let end_only = spec.readout == ReadoutChoice::End;
    let symbols = task.symbols();
    let edited = edit.filter(|edit| (edit.position as usize) < reading.ids.len()).map(|edit| {
        let mut ids = reading.ids.clone();
        let letter = edit.letter.to_string();
        let id = symbols.iter().position(|symbol| *symbol == letter);
        ids[edit.position as usize] = id.unwrap_or(0) as u32;
        (edit.position, ids)
    });
    if end_only
        && let Some(edit) = edit
        && edited.is_some()
        && !symbols.contains(&edit.letter.to_string())
    {
        let known = symbols.join(" and ");
        return Err(Refusal(format!("This network has only seen {known}: put in one of them.")));
    }

    let cell = &model.recurrent.layers[0].forward;
    let (hidden, vocabulary, outputs) = (cell.hidden(), task.vocabulary(), task.outputs());
    let weights = [
        cell.input_weight.val().swap_dims(0, 1).reshape([-1]),
        cell.recurrent_weight.val().swap_dims(0, 1).reshape([-1]),
        model.readout.weight.val().swap_dims(0, 1).reshape([-1]),
    ];
    let biases = [cell.bias.as_ref(), model.readout.bias.as_ref()];
    let biases = biases.into_iter().flatten().map(|bias| bias.val());
    // Two runs of one row each instead of one run of two: a row's numbers then depend on nothing
    // but its own past, to the last bit.
    let texts = [Some(&reading.ids), edited.as_ref().map(|edited| &edited.1)];
    let runs: Vec<[Tensor<1>; 3]> =
        texts.into_iter().flatten().map(|ids| run(model, ids, end_only)).collect();
    let tensors = weights.into_iter().chain(biases).chain(runs.iter().flatten().cloned());
    let mut read = read_all(tensors).await?.into_iter();
    let mut next = || read.next().unwrap_or_default();

    let matrix = |values: Vec<f32>, rows: usize, columns: usize| Array {
        shape: vec![rows as u32, columns as u32],
        values,
    };
    let w = matrix(next(), hidden, vocabulary);
    let u = matrix(next(), hidden, hidden);
    let v = matrix(next(), outputs, hidden);
    let b = if cell.bias.is_some() { next() } else { Vec::new() };
    let c = if model.readout.bias.is_some() { next() } else { Vec::new() };
    let mut finished = |ids: Vec<u32>| {
        let length = ids.len();
        let (sums, states, probabilities) = (next(), next(), next());
        Run {
            targets: targets(&ids, reading.after, end_only),
            ids,
            sums: matrix(sums, length, hidden),
            states: matrix(states, length, hidden),
            probabilities: matrix(probabilities, if end_only { 1 } else { length }, outputs),
        }
    };
    let run = finished(reading.ids.clone());
    let edited = edited.map(|(position, ids)| (position, finished(ids)));
    Ok(Unrolled {
        tokens: symbols,
        classes: task.classes(),
        w,
        u,
        b,
        v,
        c,
        end_only,
        tanh: spec.cell == CellChoice::Tanh,
        run,
        edited,
        dropped: reading.dropped,
    })
}

/// Sums `[T * H]`, states `[T * H]` and probabilities `[T * C]`, or `[C]` for the last step alone.
fn run(model: &SequenceModel, ids: &[u32], end_only: bool) -> [Tensor<1>; 3] {
    let tokens = token_tensor(ids, 1, &model.device());
    let output = model.forward_traced(tokens, &RunOptions::default());
    let trace = &output.layers[0].forward;
    let logits = if end_only { output.logits.narrow(1, ids.len() - 1, 1) } else { output.logits };
    [
        trace.sums.clone().reshape([-1]),
        trace.hidden.clone().reshape([-1]),
        softmax(logits, 2).reshape([-1]),
    ]
}

/// The correct answer at each readout.
fn targets(ids: &[u32], after: Option<u32>, end_only: bool) -> Vec<Option<u32>> {
    if end_only {
        // Token 0 opens and token 1 closes; class 1 is balanced.
        let mut depth = 0i64;
        let mut least = 0;
        for id in ids {
            depth += if *id == 0 { 1 } else { -1 };
            least = least.min(depth);
        }
        return vec![Some(u32::from(depth == 0 && least == 0))];
    }
    ids.iter().skip(1).copied().map(Some).chain([after]).collect()
}
