//! Agreement with PyTorch; `tests/golden/make_gpt.py` made the values.

mod support;

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Tensor, TensorData},
};
use serde::Deserialize;
use support::{device, relative_difference, values};
use unroll_model::{
    AdamW, Gpt, GptConfig, GradientSum, cross_entropy, global_norm, named_parameters, token_tensor,
};
use unroll_protocol::{GptSpec, LearningRateSchedule, OptimizerSpec};

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
        struct Load<'a> {
            golden: &'a Golden,
            names: std::vec::IntoIter<String>,
        }

        impl ModuleMapper for Load<'_> {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                let initial = &self.golden.parameter(&self.names.next().unwrap()).initial;
                param.map(|value| {
                    let data = TensorData::new(initial.clone(), value.shape());
                    Tensor::from_data(data, &value.device())
                })
            }
        }

        let config = GptConfig { spec: self.spec, vocabulary: self.vocabulary, seed: 0 };
        let model = config.init(&device());
        let names: Vec<String> = named_parameters(&model).into_iter().map(|p| p.0).collect();
        assert_eq!(names.len(), self.parameters.len());
        model.map(&mut Load { golden: self, names: names.into_iter() })
    }

    /// Logits, loss and gradients of one batch.
    fn pass(&self, model: &Gpt, tokens: &[u32]) -> (Vec<f32>, f32, Vec<Tensor<1>>) {
        let rows = || tokens.chunks(tokens.len() / self.batch);
        let inputs: Vec<u32> = rows().flat_map(|row| &row[..row.len() - 1]).copied().collect();
        let targets: Vec<u32> = rows().flat_map(|row| &row[1..]).copied().collect();
        let model = model.clone().train();
        let logits = model.forward(token_tensor(&inputs, self.batch, &device()));
        let loss = cross_entropy(logits.clone(), token_tensor(&targets, self.batch, &device()));
        let mut sum = GradientSum::default();
        sum.add(&model, &mut loss.backward());
        (values(logits), values(loss)[0], sum.finish())
    }
}

fn close(what: &str, expected: &[f32], found: &[f32]) {
    let difference = relative_difference(expected, found);
    assert!(difference <= TOLERANCE, "{what} is {difference} away from PyTorch's");
}

fn agrees(json: &str) {
    let golden: Golden = serde_json::from_str(json).unwrap();
    let mut model = golden.model();
    let (logits, loss, gradients) = golden.pass(&model, &golden.tokens[0]);
    close("the logits", &golden.logits, &logits);
    close("the loss", &[golden.loss], &[loss]);
    for ((name, ..), gradient) in named_parameters(&model).iter().zip(gradients) {
        let expected = &golden.parameter(name).gradient;
        close(&format!("the gradient of {name}"), expected, &values(gradient));
    }

    let mut optimizer = AdamW::new(&golden.optimizer, &model);
    let schedule = LearningRateSchedule::new(&golden.optimizer);
    for (index, tokens) in golden.tokens.iter().enumerate() {
        let (_, loss, gradients) = golden.pass(&model, tokens);
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
    agrees(include_str!("../../tests/golden/gpt_untied.json"));
}

#[test]
fn a_tied_gpt_with_a_short_sequence_trains_as_in_pytorch() {
    agrees(include_str!("../../tests/golden/gpt_tied.json"));
}
