//! Attention and blocks agree with PyTorch; `tests/golden/make_transformer.py` made the values.

mod support;

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Tensor, TensorData},
};
use serde::Deserialize;
use support::{device, relative_difference, values};
use unroll_model::{
    Attention, AttentionRules, Dropout, Gpt, GptConfig, GradientSum, Mask, Rotation,
    named_parameters,
};
use unroll_protocol::{
    Architecture, GptSpec, Initialization,
    architecture::{Activation, NormPlacement, Positions},
};

const TOLERANCE: f32 = 1e-5;

#[derive(Deserialize)]
struct Golden {
    attention: Vec<AttentionCase>,
    blocks: Vec<BlockCase>,
}

#[derive(Deserialize)]
struct AttentionCase {
    name: String,
    width: usize,
    heads: usize,
    batch: usize,
    queries: usize,
    /// Tokens of the memory; none in self-attention.
    keys: Option<usize>,
    /// `[batch, queries, keys]`
    allowed: Vec<u8>,
    positions: Positions,
    scaled: bool,
    tensors: Vec<Drawn>,
    output: Vec<f32>,
    weights: Option<Vec<f32>>,
}

#[derive(Deserialize)]
struct BlockCase {
    name: String,
    width: usize,
    heads: usize,
    batch: usize,
    length: usize,
    norm: NormPlacement,
    activation: Option<Activation>,
    residual: bool,
    attention: bool,
    tensors: Vec<Drawn>,
    output: Vec<f32>,
}

/// A parameter or an input, and its gradient.
#[derive(Deserialize)]
struct Drawn {
    name: String,
    seed: u32,
    scale: f32,
    offset: f32,
    gradient: Vec<f32>,
}

/// The script's generator.
fn drawn(seed: u32, count: usize, scale: f32, offset: f32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 20) as f32 / 2048.0 - 1.0) * scale + offset
    };
    (0..count).map(|_| next()).collect()
}

fn find<'a>(tensors: &'a [Drawn], name: &str) -> Option<&'a Drawn> {
    tensors.iter().find(|drawn| drawn.name == name)
}

fn given(tensors: &[Drawn], name: &str, shape: [usize; 3]) -> Option<Tensor<3>> {
    let Drawn { seed, scale, offset, .. } = find(tensors, name)?;
    let values = drawn(*seed, shape.iter().product(), *scale, *offset);
    let data = TensorData::new(values, shape);
    Some(Tensor::from_data(data, &device().autodiff()).require_grad())
}

/// `module` with the case's parameters: where it has none, projections are the identity.
fn load<M: Module>(module: M, tensors: &[Drawn]) -> M {
    struct Load<'a> {
        tensors: &'a [Drawn],
        names: std::vec::IntoIter<String>,
    }

    impl ModuleMapper for Load<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let found = find(self.tensors, &self.names.next().unwrap());
            param.map(|value| {
                let (dims, count) = (value.dims(), value.shape().num_elements());
                let values = match found {
                    Some(&Drawn { seed, scale, offset, .. }) => drawn(seed, count, scale, offset),
                    None => (0..count)
                        .map(|i| f32::from(D == 2 && i / dims[D - 1] == i % dims[D - 1]))
                        .collect(),
                };
                Tensor::from_data(TensorData::new(values, dims), &value.device())
            })
        }
    }

    let names: Vec<String> = named_parameters(&module).into_iter().map(|p| p.0).collect();
    module.map(&mut Load { tensors, names: names.into_iter() })
}

/// A model of one block.
fn model(width: usize, heads: usize, architecture: Architecture) -> Gpt {
    let spec = GptSpec {
        layers: 1,
        heads: heads as u32,
        width: width as u32,
        context: 64,
        dropout: 0.0,
        tied: false,
        architecture,
    };
    GptConfig { spec, vocabulary: 3, initialization: Initialization::Gpt2, seed: 1 }.init(&device())
}

fn close(case: &str, what: &str, expected: &[f32], found: &[f32]) {
    let difference = relative_difference(expected, found);
    assert!(difference <= TOLERANCE, "{case}: {what} is {difference} away from PyTorch's");
}

/// Compares the output and every gradient of `sum(output * probe)`.
fn agrees<M: Module>(
    case: &str,
    module: &M,
    tensors: &[Drawn],
    inputs: &[(&str, &Tensor<3>)],
    output: Tensor<3>,
    expected: &[f32],
) {
    close(case, "the output", expected, &values(output.clone()));
    let probe = drawn(999, expected.len(), 1.0, 0.0);
    let probe = Tensor::from_data(TensorData::new(probe, output.dims()), &output.device());
    let mut gradients = (output * probe).sum().backward();
    for (name, input) in inputs {
        let gradient = values(input.grad(&gradients).unwrap());
        close(case, name, &find(tensors, name).unwrap().gradient, &gradient);
    }
    let names = named_parameters(module);
    let mut sum = GradientSum::default();
    sum.add(module, &mut gradients);
    let mut compared = 0;
    for ((name, ..), gradient) in names.iter().zip(sum.finish()) {
        if let Some(drawn) = find(tensors, name) {
            close(case, &format!("the gradient of {name}"), &drawn.gradient, &values(gradient));
            compared += 1;
        }
    }
    assert_eq!(compared + inputs.len(), tensors.len(), "{case}: something was not compared");
}

#[test]
fn attention_is_pytorchs() {
    let golden: Golden =
        serde_json::from_str(include_str!("../../tests/golden/transformer.json")).unwrap();
    for case in golden.attention {
        let AttentionCase { width, heads, batch, queries, keys, .. } = case;
        let architecture = Architecture { scaled: case.scaled, ..Architecture::GPT2 };
        let mut blocks = model(width, heads, architecture).blocks;
        let attention: Attention = blocks.remove(0).attention.unwrap();
        let attention = load(attention, &case.tensors).train();
        let memory_length = keys.unwrap_or(queries);
        let masks: Vec<Mask> = (0..batch)
            .map(|b| {
                Mask::from_fn(queries, memory_length, |q, k| {
                    case.allowed[(b * queries + q) * memory_length + k] == 1
                })
            })
            .collect();
        let same = masks.iter().all(|mask| *mask == masks[0]);
        let rules = if same {
            AttentionRules::new(masks[0].clone(), &device())
        } else {
            AttentionRules::of_batch(&masks, &device())
        };
        let rules = match case.positions {
            Positions::Rotary => {
                rules.with_rotation(Rotation::new(queries, width / heads, &device()))
            }
            Positions::Alibi => rules.with_alibi(heads, 0, &device()),
            _ => rules,
        };
        let input = given(&case.tensors, "input", [batch, queries, width]).unwrap();
        let memory = given(&case.tensors, "memory", [batch, memory_length, width]);
        let off = Dropout::off();
        let (output, trace) = match &memory {
            Some(memory) => attention.cross_traced(input.clone(), memory.clone(), &rules, &off),
            None => attention.forward_traced(input.clone(), &rules, &off),
        };
        // Traced or not, to the last bit.
        let plain = match &memory {
            Some(memory) => attention.cross(input.clone(), memory.clone(), &rules, &off),
            None => attention.forward(input.clone(), &rules, &off),
        };
        assert_eq!(values(plain), values(output.clone()), "{}", case.name);
        let weights = values(trace.weights);
        if let Some(expected) = &case.weights {
            close(&case.name, "weights", expected, &weights);
        }
        for (cell, weight) in weights.iter().enumerate() {
            let (row, key) = (cell / memory_length, cell % memory_length);
            let (b, query) = (row / (heads * queries), row % queries);
            let allowed = case.allowed[(b * queries + query) * memory_length + key];
            assert!(allowed == 1 || *weight == 0.0, "{}: {weight} where blocked", case.name);
        }
        let mut inputs = vec![("input", &input)];
        inputs.extend(memory.as_ref().map(|memory| ("memory", memory)));
        agrees(&case.name, &attention, &case.tensors, &inputs, output, &case.output);
    }
}

#[test]
fn blocks_are_pytorchs() {
    let golden: Golden =
        serde_json::from_str(include_str!("../../tests/golden/transformer.json")).unwrap();
    for case in golden.blocks {
        let BlockCase { width, heads, batch, length, .. } = case;
        let architecture = Architecture {
            norm: case.norm,
            residual: case.residual,
            attention: case.attention,
            feed_forward: case.activation,
            ..Architecture::GPT2
        };
        let block = model(width, heads, architecture).blocks.remove(0);
        let block = load(block, &case.tensors).train();
        let rules = AttentionRules::new(Mask::causal(length), &device());
        let input = given(&case.tensors, "input", [batch, length, width]).unwrap();
        let output = block.forward(input.clone(), &rules, &Dropout::off());
        let traced = block.forward_traced(input.clone(), &rules, &Dropout::off());
        assert_eq!(values(output.clone()), values(traced.output), "{}", case.name);
        agrees(&case.name, &block, &case.tensors, &[("input", &input)], output, &case.output);
    }
}
