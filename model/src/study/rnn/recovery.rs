//! How long one odd character affects the loss.

use burn::tensor::{Tensor, activation::log_softmax};
use unroll_protocol::{Array, study::rnn::Recovery};

use super::{Refusal, task::Text};
use crate::{SequenceModel, Window, read_all, token_tensor};

/// Number of characters of true text before the odd one.
const BEFORE: usize = 24;
/// Number of positions after it that are measured.
const AFTER: usize = 24;
/// Most windows averaged.
const WINDOWS: usize = 64;

/// Reads held-out windows twice, unchanged and with the odd character inserted, and compares the
/// loss at each true character after it.
pub async fn recovery(
    models: [&SequenceModel; 2],
    text: &Text,
    letter: Option<char>,
) -> Result<Recovery, Refusal> {
    let letter = text.odd_letter(letter);
    let windows = text.dataset.held_out_windows(WINDOWS, BEFORE + AFTER);
    // Texts with less held-out text have shorter windows.
    let length = windows.first().map_or(0, |window| window.inputs.len());
    let before = length / 2;
    if before == 0 {
        return Err(Refusal(
            "Too little of the text is held out to measure recovery on: learn a longer text."
                .to_owned(),
        ));
    }
    let places = length - before;
    let mut tensors = Vec::new();
    for model in models {
        tensors.push(losses(model, &windows, before, None));
        tensors.push(losses(model, &windows, before, Some(letter)));
    }
    let read = read_all(tensors).await?;

    let mean = |losses: &[f32]| {
        let of_place = |place: usize| mean_and_error(losses.iter().skip(place).step_by(places)).0;
        (0..places).map(of_place).collect::<Vec<f32>>()
    };
    // The loss added by the odd character, window by window.
    let added: [Vec<f32>; 2] = [0, 1].map(|model| {
        let (plain, odd) = (&read[2 * model], &read[2 * model + 1]);
        odd.iter().zip(plain).map(|(odd, plain)| odd - plain).collect()
    });
    let errors = added.iter().flat_map(|added| {
        (0..places).map(|place| mean_and_error(added.iter().skip(place).step_by(places)).1)
    });
    let totals = added
        .each_ref()
        .map(|added| added.chunks(places).map(|window| window.iter().sum()).collect::<Vec<f32>>());
    let difference: Vec<f32> =
        totals[0].iter().zip(&totals[1]).map(|(elman, lstm)| lstm - elman).collect();
    let pair = |values: Vec<f32>| Array { shape: vec![2, places as u32], values };
    Ok(Recovery {
        letter: text.tokenizer.character(letter).to_string(),
        windows: windows.len() as u32,
        before: before as u32,
        plain: pair([mean(&read[0]), mean(&read[2])].concat()),
        odd: pair([mean(&read[1]), mean(&read[3])].concat()),
        error: pair(errors.collect()),
        total: totals.each_ref().map(|totals| mean_and_error(totals.iter())),
        difference: mean_and_error(difference.iter()),
    })
}

/// Loss at each of the true characters from `before` on, `[windows * places]`. `odd` is inserted
/// before them, and is never a target.
fn losses(model: &SequenceModel, windows: &[Window], before: usize, odd: Option<u32>) -> Tensor<1> {
    let device = model.device();
    let places = windows[0].inputs.len() - before;
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for window in windows {
        // The last character is only a target.
        let end = window.inputs.len() - 1;
        inputs.extend(&window.inputs[..before]);
        inputs.extend(odd);
        inputs.extend(&window.inputs[before..end]);
        targets.extend(&window.inputs[before..]);
    }
    let rows = windows.len();
    let logits = model.forward(token_tensor(&inputs, rows, &device));
    let [_, length, vocabulary] = logits.dims();
    let logits = logits.narrow(1, length - places, places);
    let log_probabilities = log_softmax(logits.reshape([rows * places, vocabulary]), 1);
    let targets = token_tensor(&targets, rows, &device).reshape([rows * places, 1]);
    log_probabilities.gather(1, targets).neg().reshape([-1])
}

/// The mean of a sample and its standard error; the error of a single value is 0.
fn mean_and_error<'a>(values: impl Iterator<Item = &'a f32> + Clone) -> (f32, f32) {
    let count = values.clone().count() as f64;
    let mean = values.clone().map(|&value| f64::from(value)).sum::<f64>() / count;
    let squares: f64 = values.map(|&value| (f64::from(value) - mean).powi(2)).sum();
    let error = if count > 1.0 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
    (mean as f32, error as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_comes_with_its_error() {
        assert_eq!(mean_and_error([1.0, 3.0].iter()), (2.0, 1.0));
        assert_eq!(mean_and_error([5.0].iter()), (5.0, 0.0));
    }
}
