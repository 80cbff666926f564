//! One model with its optimizer.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use unroll_protocol::{
    OptimizerSpec,
    study::birnn::{CellChoice, Reader, Spec},
};

use super::task::{Batch, Task};
use crate::{
    AdamW, CellKind, GradientSum, Initialization, SequenceConfig, SequenceModel, global_norm,
    named_parameters,
};

/// How all models are trained. The rate does not change by itself.
pub const OPTIMIZER: OptimizerSpec = OptimizerSpec {
    learning_rate: 1e-2,
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
    pub reader: Reader,
    pub model: SequenceModel,
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

fn config(reader: Reader, spec: &Spec, task: &Task, hidden: usize) -> SequenceConfig {
    SequenceConfig {
        vocabulary: task.vocabulary(),
        outputs: task.groups() * task.answers().len(),
        embedding: None,
        kind: match spec.cell {
            CellChoice::Elman => CellKind::RNN,
            CellChoice::Gru => CellKind::Gru,
            // The usual start (Gers et al. 2000): an LSTM that remembers before it has learnt to.
            CellChoice::Lstm => CellKind::Lstm { projection: None, forget_bias: 1.0 },
        },
        hidden,
        layers: 1,
        bidirectional: reader == Reader::Both,
        // An Elman state then starts as a memory of some steps; the gates have memory anyway.
        initialization: match spec.cell {
            CellChoice::Elman => Initialization::Orthogonal,
            CellChoice::Gru | CellChoice::Lstm => Initialization::Uniform,
        },
        seed: spec.seed,
    }
}

/// Parameters of the model that `config` describes.
fn parameters(config: &SequenceConfig) -> u64 {
    let blocks = config.kind.gates().len();
    let (inputs, hidden) = (config.vocabulary, config.hidden);
    // PyTorch's GRU has a second bias in its candidate.
    let second = if config.kind == CellKind::Gru { hidden } else { 0 };
    let cell = blocks * hidden * (inputs + hidden + 1) + second;
    let directions = if config.bidirectional { 2 } else { 1 };
    (directions * cell + (directions * hidden + 1) * config.outputs) as u64
}

/// Units of a one-way model with at least as many parameters as the one that reads both ways.
fn one_way_units(spec: &Spec, task: &Task) -> usize {
    let units = spec.hidden as usize;
    let wanted = parameters(&config(Reader::Both, spec, task, units));
    let enough = |&units: &usize| parameters(&config(Reader::Forward, spec, task, units)) >= wanted;
    // Twice the units have four times the recurrent weights.
    (units..2 * units).find(enough).unwrap_or(2 * units)
}

impl Learner {
    pub fn new(reader: Reader, spec: &Spec, task: &Task, device: &Device) -> Self {
        let units = match reader {
            Reader::Both => spec.hidden as usize,
            _ => one_way_units(spec, task),
        };
        let model = config(reader, spec, task, units).init(device);
        let optimizer = AdamW::new(&OPTIMIZER, &model);
        Self { reader, model, optimizer }
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
        let loss = batch.loss(&tracked.forward(batch.inputs.clone()));
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
