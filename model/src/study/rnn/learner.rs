//! One model with its optimizer.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use unroll_protocol::{
    OptimizerSpec,
    study::rnn::{CellChoice, Spec},
};

use super::task::{Batch, Task};
use crate::{
    AdamW, CellKind, GradientSum, Initialization, SequenceConfig, SequenceModel, global_norm,
    named_parameters,
};

/// How both models are trained. The rate does not change by itself.
pub const OPTIMIZER: OptimizerSpec = OptimizerSpec {
    learning_rate: 8e-3,
    warmup_steps: 0,
    decay_steps: 0,
    weight_decay: 0.0,
    beta1: 0.9,
    beta2: 0.99,
    epsilon: 1e-8,
    clip_norm: 1.0,
};

/// A model in training. Cheap to clone: tensors are shared until an update replaces them.
#[derive(Clone)]
pub struct Learner {
    model: SequenceModel,
    optimizer: AdamW,
}

/// What one batch says.
pub struct Gradients {
    /// `[1]`
    pub loss: Tensor<1>,
    /// Global norm before clipping, `[1]`.
    pub norm: Tensor<1>,
    gradients: Vec<Tensor<1>>,
}

impl Learner {
    pub fn new(kind: CellKind, spec: &Spec, task: &Task, device: &Device) -> Self {
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
        let optimizer = AdamW::new(&OPTIMIZER, &model);
        Self { model, optimizer }
    }

    pub fn model(&self) -> &SequenceModel {
        &self.model
    }

    /// Optimizer steps taken.
    pub fn steps(&self) -> u32 {
        self.optimizer.steps()
    }

    pub fn parameters(&self) -> u64 {
        named_parameters(&self.model).iter().map(|p| p.1.iter().product::<usize>() as u64).sum()
    }

    pub fn gradients(&self, batch: &Batch) -> Gradients {
        let tracked = self.model.clone().train();
        let loss = batch.loss(tracked.forward(batch.inputs()));
        let mut sum = GradientSum::default();
        sum.add(&tracked, &mut loss.backward());
        let gradients = sum.finish();
        Gradients { loss: loss.inner(), norm: global_norm(&gradients), gradients }
    }

    pub fn update(&mut self, gradients: Gradients, rate: f64) {
        let Gradients { norm, gradients, .. } = gradients;
        self.model = self.optimizer.update(self.model.clone(), gradients, &norm, rate);
    }
}
