//! What a step of training learns from, token by token.

use burn::tensor::Tensor;
use unroll_protocol::{
    Array,
    gpt::{Batch, MOST_LEARNED},
};

use crate::{
    data::{Window, token_tensor},
    gpt::Gpt,
    loss::cross_entropy_each,
    read::{ReadError, read_all},
    trace::as_text,
    training::Trainer,
};

/// Most stretches of held-out text over which losses are averaged.
const MOST_WINDOWS: usize = 32;

/// The batch from which the step after `step` steps learns, and the losses of `model` on it: the
/// trainer's as it was then. As many of its sequences are read as have [`MOST_LEARNED`] tokens
/// together, at least one.
///
/// # Errors
///
/// Where the device returns nothing.
pub async fn next_batch(trainer: &Trainer, model: &Gpt, step: u32) -> Result<Batch, ReadError> {
    let spec = trainer.spec();
    let (size, context) = (spec.batch as usize, spec.gpt.context as usize);
    let drawn = trainer.dataset().batch(spec.seed, step, size, context);
    let count = (MOST_LEARNED / context).clamp(1, size);
    let device = model.device();
    let tokens = |all: &[u32]| token_tensor(&all[..count * context], count, &device);
    let losses = cross_entropy_each(model.forward(tokens(&drawn.inputs)), tokens(&drawn.targets));

    let most = (2 * MOST_LEARNED / context).clamp(1, MOST_WINDOWS);
    let windows = trainer.dataset().held_out_windows(most, context);
    let by_position = (!windows.is_empty()).then(|| -> Tensor<1> {
        let logits = model.forward(Window::inputs_of(&windows, &device));
        cross_entropy_each(logits, Window::targets_of(&windows, &device)).mean_dim(0).reshape([-1])
    });
    let wanted = [losses.reshape([-1])].into_iter().chain(by_position);
    let mut read = read_all(wanted).await?.into_iter();
    let shape = vec![count as u32, context as u32];
    let losses = Array { shape, values: read.next().unwrap_or_default() };

    let pairs = drawn.inputs.chunks(context).zip(drawn.targets.chunks(context)).take(count);
    let row = |(inputs, targets): (&[u32], &[u32])| {
        let last = targets.last().copied();
        let tokens: Vec<u32> = inputs.iter().copied().chain(last).collect();
        as_text(trainer.tokenizer(), &tokens)
    };
    Ok(Batch {
        step: step + 1,
        rows: pairs.map(row).collect(),
        size: spec.batch,
        losses,
        held_out: read.next().unwrap_or_default(),
    })
}
