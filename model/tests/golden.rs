//! Agreement with PyTorch; `tests/golden/make_gpt.py` made the values.

mod support;

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Tensor, TensorData},
};
use serde::Deserialize;
use support::{device, relative_difference, values};
use unroll_model::{
    Gpt, GptConfig, GradientSum, Optimizer, cross_entropy, global_norm, named_parameters,
    token_tensor,
};
use unroll_protocol::{
    GptSpec, Initialization, LearningRateSchedule, OptimizerKind, OptimizerSpec,
    architecture::NormKind,
};

const TOLERANCE: f32 = 1e-5;

#[derive(Deserialize)]
struct Golden {
    spec: GptSpec,
    optimizer: OptimizerSpec,
    vocabulary: usize,
    batch: usize,
    /// Three batches; each sequence has one more token than the model reads.
    tokens: Vec<Vec<u32>>,
    logits: Vec<f32>,
    loss: f32,
    step_losses: Vec<f32>,
    step_norms: Vec<f32>,
    parameters: Vec<GoldenParameter>,
}

#[derive(Deserialize)]
struct GoldenParameter {
    name: String,
    initial: Vec<f32>,
    gradient: Vec<f32>,
    r#final: Vec<f32>,
    first_moment: Vec<f32>,
    second_moment: Vec<f32>,
}

impl Golden {
    fn parameter(&self, name: &str) -> &GoldenParameter {
        let found = self.parameters.iter().find(|parameter| parameter.name == name);
        found.unwrap_or_else(|| panic!("PyTorch's model has no parameter {name}"))
    }

    fn model(&self) -> Gpt {
        let initial = |name: &str| self.parameter(name).initial.clone();
        loaded(self.spec, self.vocabulary, self.parameters.len(), &initial)
    }
}

/// A GPT with these weights, by their names.
fn loaded(
    spec: GptSpec,
    vocabulary: usize,
    count: usize,
    initial: &dyn Fn(&str) -> Vec<f32>,
) -> Gpt {
    struct Load<'a> {
        initial: &'a dyn Fn(&str) -> Vec<f32>,
        names: std::vec::IntoIter<String>,
    }

    impl ModuleMapper for Load<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let initial = (self.initial)(&self.names.next().unwrap());
            param.map(|value| {
                Tensor::from_data(TensorData::new(initial, value.shape()), &value.device())
            })
        }
    }

    let initialization = Initialization::Gpt2;
    let model = GptConfig { spec, vocabulary, initialization, seed: 0 }.init(&device());
    let names: Vec<String> = named_parameters(&model).into_iter().map(|p| p.0).collect();
    assert_eq!(names.len(), count);
    model.map(&mut Load { initial, names: names.into_iter() })
}

/// Logits, loss and gradients of one batch.
fn pass(model: &Gpt, batch: usize, tokens: &[u32]) -> (Vec<f32>, f32, Vec<Tensor<1>>) {
    let rows = || tokens.chunks(tokens.len() / batch);
    let inputs: Vec<u32> = rows().flat_map(|row| &row[..row.len() - 1]).copied().collect();
    let targets: Vec<u32> = rows().flat_map(|row| &row[1..]).copied().collect();
    let model = model.clone().train();
    let logits = model.forward(token_tensor(&inputs, batch, &device()));
    let loss = cross_entropy(logits.clone(), token_tensor(&targets, batch, &device()));
    let mut sum = GradientSum::default();
    sum.add(&model, &mut loss.backward());
    (values(logits), values(loss)[0], sum.finish())
}

fn close(what: &str, expected: &[f32], found: &[f32]) {
    within(TOLERANCE, what, expected, found);
}

fn within(tolerance: f32, what: &str, expected: &[f32], found: &[f32]) {
    let difference = relative_difference(expected, found);
    assert!(difference <= tolerance, "{what} is {difference} away from PyTorch's");
}

fn agrees(json: &str, norms: NormKind) {
    let mut golden: Golden = serde_json::from_str(json).unwrap();
    golden.spec.architecture.norm_kind = norms;
    let mut model = golden.model();
    let (logits, loss, gradients) = pass(&model, golden.batch, &golden.tokens[0]);
    close("the logits", &golden.logits, &logits);
    close("the loss", &[golden.loss], &[loss]);
    for ((name, ..), gradient) in named_parameters(&model).iter().zip(gradients) {
        let expected = &golden.parameter(name).gradient;
        close(&format!("the gradient of {name}"), expected, &values(gradient));
    }

    let mut optimizer = Optimizer::new(&golden.optimizer, &model);
    let schedule = LearningRateSchedule::new(&golden.optimizer);
    for (index, tokens) in golden.tokens.iter().enumerate() {
        let (_, loss, gradients) = pass(&model, golden.batch, tokens);
        let norm = global_norm(&gradients);
        close("a step's loss", &[golden.step_losses[index]], &[loss]);
        close("a step's norm", &[golden.step_norms[index]], &values(norm.clone()));
        assert!(golden.step_norms[index] > golden.optimizer.clip_norm);
        let rate = schedule.at(index as u32 + 1);
        model = optimizer.update(model, gradients, &norm, rate);
    }
    for ((name, _, value), moments) in named_parameters(&model).into_iter().zip(optimizer.moments())
    {
        let expected = golden.parameter(&name);
        close(&name, &expected.r#final, &values(value));
        let (first, second) = (moments.first.clone(), moments.second.clone());
        close(&format!("the first moment of {name}"), &expected.first_moment, &values(first));
        close(&format!("the second moment of {name}"), &expected.second_moment, &values(second));
    }
}

#[test]
fn an_untied_gpt_trains_as_in_pytorch() {
    agrees(include_str!("../../tests/golden/gpt_untied.json"), NormKind::Layer);
}

#[test]
fn a_tied_gpt_with_a_short_sequence_trains_as_in_pytorch() {
    agrees(include_str!("../../tests/golden/gpt_tied.json"), NormKind::Layer);
}

#[test]
fn a_gpt_with_rms_norms_trains_as_in_pytorch() {
    agrees(include_str!("../../tests/golden/gpt_rms.json"), NormKind::Rms);
}

#[derive(Deserialize)]
struct GoldenOptimizers {
    spec: GptSpec,
    vocabulary: usize,
    batch: usize,
    /// A batch for each step.
    tokens: Vec<Vec<u32>>,
    initial: Vec<Named>,
    runs: Vec<GoldenRun>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    values: Vec<f32>,
}

#[derive(Deserialize)]
struct GoldenRun {
    optimizer: OptimizerSpec,
    losses: Vec<f32>,
    r#final: Vec<Named>,
}

/// Twenty steps on the warm-up, the cosine and its floor. PyTorch computed in f64.
#[test]
fn every_optimizer_takes_pytorchs_steps() {
    let golden: GoldenOptimizers =
        serde_json::from_str(include_str!("../../tests/golden/optimizers.json")).unwrap();
    let find = |all: &[Named], name: &str| -> Vec<f32> {
        all.iter().find(|one| one.name == name).unwrap().values.clone()
    };
    let kinds: Vec<OptimizerKind> = golden.runs.iter().map(|run| run.optimizer.kind).collect();
    assert_eq!(kinds, OptimizerKind::ALL);
    for run in &golden.runs {
        let initial = |name: &str| find(&golden.initial, name);
        let mut model = loaded(golden.spec, golden.vocabulary, golden.initial.len(), &initial);
        let mut optimizer = Optimizer::new(&run.optimizer, &model);
        let schedule = LearningRateSchedule::new(&run.optimizer);
        let kind = run.optimizer.kind.label();
        // Where a gradient is 0 in some direction but for rounding, as a key's is in one, Muon makes
        // the rounding 485 times as large, step after step.
        let tolerance = match run.optimizer.kind {
            OptimizerKind::Muon => 2e-3,
            _ => TOLERANCE,
        };
        for (index, tokens) in golden.tokens.iter().enumerate() {
            let (_, loss, gradients) = pass(&model, golden.batch, tokens);
            within(tolerance, &format!("{kind}'s loss at {index}"), &[run.losses[index]], &[loss]);
            let norm = global_norm(&gradients);
            model = optimizer.update(model, gradients, &norm, schedule.at(index as u32 + 1));
        }
        for (name, _, value) in named_parameters(&model) {
            within(
                tolerance,
                &format!("{kind}'s {name}"),
                &find(&run.r#final, &name),
                &values(value),
            );
        }
    }
}
