//! How the gradient flows back through the networks.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorData},
};
use unroll_protocol::{
    Array,
    study::bptt::{BATCH, Flow, LossKind, Network, Rescaled, Weights, ask},
};

use super::Study;
use crate::{
    CellKind, Gate, Refusal, RunOptions, SequenceBatch, SequenceModel, masked_cross_entropy,
    norm_per_step, read_all, rescale_to_radius, spectral_radius,
};

/// One network's pass, still on the device. Every tensor is `[T]` or `[1]`.
struct Pass {
    loss: Tensor<1>,
    hidden: Tensor<1>,
    memory: Option<Tensor<1>>,
    kept: Tensor<1>,
    stored: usize,
    weights: Option<WeightPass>,
}

struct WeightPass {
    /// `[H * H]`
    whole: Tensor<1>,
    norms: Tensor<1>,
    terms: Tensor<1>,
}

/// The selected weight, by units counted from 0.
#[derive(Clone, Copy)]
struct Chosen {
    from: usize,
    to: usize,
}

fn flat<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    tensor.reshape([-1])
}

/// Answers [`ask::Flow`].
pub async fn answer(study: &Study, question: &ask::Flow) -> Result<Flow, Refusal> {
    let &ask::Flow { loss, radius, cell, from, to } = question;
    let units = study.spec.hidden as usize;
    let chosen = Chosen { from: study.unit(from)?, to: study.unit(to)? };
    let (mut batch, position) = study.gaps.probe(BATCH as usize);
    if loss == LossKind::Every {
        ask_from(&mut batch, position);
    }
    let options = RunOptions { probes: true, ..study.options() };
    let rnn = &study.networks[0].learner.model;
    let matrix = rnn.recurrent.layers[0].forward.recurrent_weight.val();
    let matrix = read_all([flat(matrix)]).await?.remove(0);

    let passes = study.networks.iter().map(|network| {
        let wanted = (network.cell == cell).then_some(chosen);
        pass(&network.learner.model, &batch, &options, wanted)
    });
    let mut passes: Vec<Pass> = passes.collect();
    let mut reached = None;
    if let Some(radius) = radius {
        let rescaled = rescale_to_radius(&matrix, units, f64::from(radius))?;
        reached = Some(spectral_radius(&rescaled, units) as f32);
        passes.push(pass(&with_recurrent(rnn, rescaled, units), &batch, &options, None));
    }

    let mut values = read_all(passes.iter().flat_map(Pass::tensors)).await?.into_iter();
    let mut next = || values.next().expect("one for each tensor of the passes");
    let mut networks = Vec::new();
    let mut weights = None;
    let mut rescaled = None;
    for (index, pass) in passes.iter().enumerate() {
        let cell = study.networks.get(index).map(|network| network.cell);
        let (loss, hidden) = (next()[0], next());
        let memory = pass.memory.as_ref().map(|_| next());
        let kept = next()[0];
        if pass.weights.is_some() {
            let (whole, norms, terms) = (next(), next(), next());
            let whole = Array { shape: vec![units as u32; 2], values: whole };
            weights = cell.map(|cell| Weights { cell, whole, norms, terms, from, to });
        }
        let stored = pass.stored as u32;
        match cell {
            Some(cell) => networks.push(Network { cell, loss, hidden, memory, kept, stored }),
            None => {
                rescaled = radius.zip(reached).map(|(asked, radius)| Rescaled {
                    asked,
                    radius,
                    hidden,
                    kept,
                    loss,
                });
            }
        }
    }
    Ok(Flow {
        step: study.step,
        loss,
        symbol_at: position as u32 + 1,
        networks,
        radius: spectral_radius(&matrix, units) as f32,
        rescaled,
        weights: weights.expect("one of the networks is of the cell asked for"),
        accuracy: study.accuracy.clone(),
    })
}

/// Asks for the answer at every step from the symbol on.
fn ask_from(batch: &mut SequenceBatch, position: usize) {
    let length = batch.length();
    for row in batch.weights.chunks_mut(length) {
        row[position..].fill(1.0);
    }
}

/// The model with another recurrent matrix, `[units, units]`.
fn with_recurrent(model: &SequenceModel, values: Vec<f32>, units: usize) -> SequenceModel {
    let mut model = model.clone();
    let data = TensorData::new(values, [units, units]);
    let matrix = Tensor::<2>::from_data(data, &model.device());
    let weight = &mut model.recurrent.layers[0].forward.recurrent_weight;
    *weight = Param::initialized(weight.id, matrix).set_require_grad(true);
    model
}

/// Runs the forward and backward pass on the batch.
fn pass(
    model: &SequenceModel,
    batch: &SequenceBatch,
    options: &RunOptions,
    chosen: Option<Chosen>,
) -> Pass {
    let batch = batch.tensors(&model.device());
    let tracked = model.clone().train();
    let run = tracked.forward_traced(batch.inputs, options);
    let loss = masked_cross_entropy(run.logits, batch.targets, batch.weights);
    let trace = &run.layers[0].forward;
    let backward = loss.backward();
    let gradients = trace.gradients(&backward);
    let width = |tensor: &Tensor<3>| tensor.dims()[2];
    // An RNN's state is its only gate, which is counted already.
    let state = if matches!(trace.kind, CellKind::Elman { .. }) { 0 } else { width(&trace.hidden) };
    let parts = [&trace.cell, &trace.before_reset];
    let stored =
        width(&trace.gates) + state + parts.into_iter().flatten().map(width).sum::<usize>();
    let (kept, block) = match trace.kind {
        CellKind::Lstm { .. } => (trace.gate(Gate::Forget).value, Gate::Candidate),
        CellKind::Gru | CellKind::ChoGru => (trace.gate(Gate::Update).value, Gate::Candidate),
        CellKind::Elman { .. } => {
            let state = trace.hidden.clone();
            (state.clone() * state * -1.0 + 1.0, Gate::State)
        }
    };
    let weights = chosen.map(|Chosen { from, to }| {
        let cell = &tracked.recurrent.layers[0].forward;
        let units = cell.hidden();
        let gate = trace.kind.gates().iter().position(|&gate| gate == block);
        let start = units * gate.expect("a gate of this kind");
        let parts = gradients.contributions(trace).recurrent_weight.narrow(2, start, units);
        let length = parts.dims()[0];
        let squares = (parts.clone() * parts.clone()).sum_dim(2).sum_dim(1);
        let whole = cell.recurrent_weight.val().grad(&backward);
        let whole = whole.expect("the last step reads the recurrent matrix");
        WeightPass {
            whole: flat(whole.narrow(1, start, units)),
            norms: squares.reshape([length]).sqrt(),
            terms: flat(parts.narrow(1, from, 1).narrow(2, to, 1)),
        }
    });
    Pass {
        loss: loss.inner(),
        hidden: norm_per_step(&gradients.hidden),
        memory: gradients.cell.as_ref().map(norm_per_step),
        kept: kept.mean(),
        stored,
        weights,
    }
}

impl Pass {
    /// The tensors to read back, in order.
    fn tensors(&self) -> Vec<Tensor<1>> {
        let mut all = vec![self.loss.clone(), self.hidden.clone()];
        all.extend(self.memory.clone());
        all.push(self.kept.clone());
        if let Some(weights) = &self.weights {
            let WeightPass { whole, norms, terms } = weights;
            all.extend([whole, norms, terms].map(Tensor::clone));
        }
        all
    }
}
