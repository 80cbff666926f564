//! The two models, and the loss of a batch.

use burn::tensor::Device;
use unroll_protocol::{
    OptimizerSpec,
    study::rnn::{CellChoice, Spec},
};

use super::{
    super::learner::{self, Gradients, steady},
    task::{Batch, Task},
};
use crate::{CellKind, Initialization, SequenceConfig, SequenceModel};

/// How both models are trained.
pub const OPTIMIZER: OptimizerSpec = steady(8e-3);

type Learner = learner::Learner<SequenceModel>;

pub fn learner(kind: CellKind, spec: &Spec, task: &Task, device: &Device) -> Learner {
    let mut model = SequenceConfig {
        vocabulary: task.vocabulary(),
        outputs: task.outputs(),
        embedding: None,
        kind,
        hidden: spec.hidden as usize,
        layers: 1,
        bidirectional: false,
        initialization: Initialization::Uniform,
        seed: spec.seed,
    }
    .init(device);
    if spec.cell == CellChoice::Sigmoid && kind == CellKind::MIKOLOV {
        // Equation 3 of the paper has no c either.
        model.readout.bias = None;
    }
    Learner::new(model, &OPTIMIZER)
}

pub fn gradients(learner: &Learner, batch: &Batch) -> Gradients {
    let tracked = learner.tracked();
    let loss = batch.loss(tracked.forward(batch.inputs()));
    Gradients::of(&tracked, loss)
}
