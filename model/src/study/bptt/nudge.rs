//! What one number of the state does to the loss, measured by running the network forward again.

use burn::{
    module::Module,
    tensor::{Tensor, TensorData},
};
use unroll_protocol::{
    Array,
    study::bptt::{Nudged, ask},
};

use super::Study;
use crate::{
    LayerStates, Refusal, RunOptions, SequenceBatch, SequenceModel, State, fused::linear,
    masked_cross_entropy, read_all, token_tensor,
};

/// Runs at once: row 0 without the nudge, row 1 with it.
const ROWS: usize = 2;

/// Answers [`ask::Nudge`].
///
/// The slope is a difference on one side, `(L(s + d) - L(s)) / d`, so that a learner can work it out
/// from the two losses on show. What it misses grows with the nudge: that is what a large nudge is to
/// show, and what a difference on both sides would hide. Both losses come from runs of the model in
/// its own arithmetic, as two rows of one batch, but are computed from the logits in 64 bits: a
/// 32-bit loss near 3 would swallow any change below 2e-7. What is left is the rounding of 32-bit
/// states and logits, divided by the nudge; see [`Nudged::rounding`].
pub async fn answer(study: &Study, question: &ask::Nudge) -> Result<Nudged, Refusal> {
    let &ask::Nudge { cell, step, unit, size } = question;
    let (steps, units) = (study.spec.length as usize, study.spec.hidden as usize);
    if !(1..=steps).contains(&(step as usize)) {
        return Err(Refusal(format!(
            "There is no step {step}: a sequence has {steps}. Choose a step from 1 to {steps}."
        )));
    }
    let (at, nudged) = (step as usize - 1, study.unit(unit)?);
    if size == 0.0 || !size.is_finite() {
        return Err(Refusal(format!(
            "A nudge of {size} measures nothing: use a number that is not 0."
        )));
    }
    let network = study.networks.iter().find(|network| network.cell == cell);
    let model = &network.expect("one network of each cell").learner.model;
    let (batch, symbol) = study.gaps.probe(1);
    let answer = batch.targets[steps - 1] as usize;

    let options = RunOptions { probes: true, ..study.options() };
    let (state, sweep) = sweep(model, &batch, &options, at);
    let (states, logits) = forward(model, &batch.inputs[at + 1..], state, nudged, size);
    let flat = [states.reshape([-1]), logits.reshape([-1]), sweep.reshape([-1])];
    let [states, logits, sweep] =
        <[Vec<f32>; 3]>::try_from(read_all(flat).await?).expect("as many as were read");

    let (free, moved) = states.split_at(states.len() / ROWS);
    // Not quite `size`: the sum is rounded to 32 bits.
    let size = f64::from(moved[nudged]) - f64::from(free[nudged]);
    if size == 0.0 {
        return Err(Refusal(format!(
            "A nudge of {} is lost in rounding: use a larger one.",
            question.size
        )));
    }
    let ripple = moved
        .iter()
        .zip(free)
        .map(|(&to, &from)| ((f64::from(to) - f64::from(from)) / size) as f32);
    let most = logits.iter().fold(1f32, |most, logit| most.max(logit.abs()));
    let (without, with) = logits.split_at(logits.len() / ROWS);
    let [before, after] = [without, with].map(|logits| loss(logits, answer));
    // The slopes of the loss by the logits add up to twice the probability of all wrong answers, and
    // each logit is rounded by half a step of its last digit.
    let rounding = -libm::expm1(-before) * f64::from(f32::EPSILON * most) / size.abs();
    let array = |values: Vec<f32>| Array {
        shape: vec![(values.len() / units) as u32, units as u32],
        values,
    };
    Ok(Nudged {
        trained: study.step,
        cell,
        step,
        unit,
        symbol_at: symbol as u32 + 1,
        size,
        before,
        after,
        rounding,
        ripple: array(ripple.collect()),
        sweep: array(sweep),
        answer: answer as u32,
        ids: batch.inputs,
        cut: options.truncation.is_some_and(|every| at / every != (steps - 1) / every),
    })
}

/// One pass forward and back: the state after the step `at`, and the gradient of the loss with
/// respect to all states, `[1, T, units]`.
fn sweep(
    model: &SequenceModel,
    batch: &SequenceBatch,
    options: &RunOptions,
    at: usize,
) -> (State, Tensor<3>) {
    let batch = batch.tensors(&model.device());
    let run = model.clone().train().forward_traced(batch.inputs, options);
    let loss = masked_cross_entropy(run.logits, batch.targets, batch.weights);
    let trace = &run.layers[0].forward;
    let after = |all: &Tensor<3>| all.clone().narrow(1, at, 1).squeeze_dim::<2>(1);
    let state = State { hidden: after(&trace.hidden), cell: trace.cell.as_ref().map(after) };
    (state, trace.gradients(&loss.backward()).hidden)
}

/// Runs on from `state`, without and with the nudge. The states from there to the last step,
/// `[2, steps, units]`, and the last step's logits, `[2, 1, outputs]`.
fn forward(
    model: &SequenceModel,
    rest: &[u32],
    state: State,
    unit: usize,
    size: f32,
) -> (Tensor<3>, Tensor<3>) {
    let device = model.device();
    let [_, units] = state.hidden.dims();
    let mut nudge = vec![0.0; ROWS * units];
    nudge[units + unit] = size;
    let nudge = Tensor::<2>::from_data(TensorData::new(nudge, [ROWS, units]), &device);
    let twice = |state: Tensor<2>| state.repeat_dim(0, ROWS);
    // Of an LSTM only h is nudged: that is what the gradient beside it is of.
    let start = State { hidden: twice(state.hidden) + nudge, cell: state.cell.map(twice) };
    let mut states = start.hidden.clone().unsqueeze_dim::<3>(1);
    if !rest.is_empty() {
        let options = RunOptions {
            initial: Some(vec![LayerStates { forward: start, backward: None }]),
            ..RunOptions::default()
        };
        let run = model.forward_traced(token_tensor(&rest.repeat(ROWS), ROWS, &device), &options);
        states = Tensor::cat(vec![states, run.layers[0].forward.hidden.clone()], 1);
    }
    let last = states.clone().narrow(1, rest.len(), 1);
    (states, linear(&model.readout, last))
}

/// Cross-entropy of one answer, in nats.
fn loss(logits: &[f32], answer: usize) -> f64 {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let away = |logit: f32| f64::from(logit) - f64::from(most);
    let total: f64 = logits.iter().map(|&logit| libm::exp(away(logit))).sum();
    libm::log(total) - away(logits[answer])
}
