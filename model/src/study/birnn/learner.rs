//! One model in training, and the direction it reads in.

use burn::tensor::Device;
use unroll_protocol::{
    OptimizerSpec,
    study::birnn::{CellChoice, Reader, Spec},
};

use super::{
    super::learner::{Gradients, Learner, steady},
    task::{Batch, Task},
};
use crate::{CellKind, Initialization, SequenceConfig, SequenceModel};

/// How all models are trained.
pub const OPTIMIZER: OptimizerSpec = steady(1e-2);

/// A model in training, and the order in which it reads.
#[derive(Clone, Copy)]
pub struct Model<'a> {
    pub reader: Reader,
    pub learner: &'a Learner<SequenceModel>,
}

fn config(reader: Reader, spec: &Spec, task: &Task, hidden: usize) -> SequenceConfig {
    SequenceConfig {
        vocabulary: task.vocabulary(),
        outputs: task.groups() * task.answers().len(),
        embedding: None,
        kind: match spec.cell {
            CellChoice::Elman => CellKind::RNN,
            CellChoice::Gru => CellKind::Gru,
            // The usual initialization (Gers et al. 2000): the LSTM remembers before it has learned
            // to.
            CellChoice::Lstm => CellKind::Lstm { projection: None, forget_bias: 1.0 },
        },
        hidden,
        layers: 1,
        bidirectional: reader == Reader::Both,
        // An Elman state then starts with a memory of several steps; gated cells have memory
        // anyway.
        initialization: match spec.cell {
            CellChoice::Elman => Initialization::Orthogonal,
            CellChoice::Gru | CellChoice::Lstm => Initialization::Uniform,
        },
        seed: spec.seed,
    }
}

/// Number of parameters of the model that `config` describes.
fn parameters(config: &SequenceConfig) -> u64 {
    let blocks = config.kind.gates().len();
    let (inputs, hidden) = (config.vocabulary, config.hidden);
    // PyTorch's GRU has a second bias in its candidate.
    let second = if config.kind == CellKind::Gru { hidden } else { 0 };
    let cell = blocks * hidden * (inputs + hidden + 1) + second;
    let directions = if config.bidirectional { 2 } else { 1 };
    (directions * cell + (directions * hidden + 1) * config.outputs) as u64
}

/// Units of a one-way model that has at least as many parameters as the bidirectional one.
fn one_way_units(spec: &Spec, task: &Task) -> usize {
    let units = spec.hidden as usize;
    let wanted = parameters(&config(Reader::Both, spec, task, units));
    let enough = |&units: &usize| parameters(&config(Reader::Forward, spec, task, units)) >= wanted;
    // Twice the units have four times the recurrent weights.
    (units..2 * units).find(enough).unwrap_or(2 * units)
}

pub fn learner(
    reader: Reader,
    spec: &Spec,
    task: &Task,
    device: &Device,
) -> Learner<SequenceModel> {
    let units = match reader {
        Reader::Both => spec.hidden as usize,
        _ => one_way_units(spec, task),
    };
    Learner::new(config(reader, spec, task, units).init(device), &OPTIMIZER)
}

impl Model<'_> {
    pub fn gradients(&self, batch: &Batch) -> Gradients {
        let tracked = self.learner.tracked();
        let loss = batch.loss(&tracked.forward(batch.inputs.clone()));
        Gradients::of(&tracked, loss)
    }
}
