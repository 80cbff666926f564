//! Agreement with PyTorch; `tests/golden/make_recurrent.py` made the values.

mod support;

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Tensor, TensorData},
};
use serde::Deserialize;
use support::{device, relative_difference, values};
use unroll_model::{
    CellKind, Initialization, LayerStates, Recurrent, RunOptions, SequenceConfig, SequenceInput,
    State, named_parameters,
};

const TOLERANCE: f32 = 1e-5;

#[derive(Deserialize)]
struct Golden {
    kind: String,
    batch: usize,
    length: usize,
    inputs: usize,
    hidden: usize,
    layers: usize,
    both: bool,
    projection: Option<usize>,
    input: Vec<f32>,
    input_gradient: Vec<f32>,
    initial_hidden: Vec<f32>,
    initial_hidden_gradient: Vec<f32>,
    /// The initial cell state of an LSTM; else empty.
    initial_cell: Vec<f32>,
    initial_cell_gradient: Vec<f32>,
    /// The loss is the weighted sum of the outputs and then the final states.
    loss_weights: Vec<Vec<f32>>,
    outputs: Vec<f32>,
    finals: Vec<Vec<f32>>,
    parameters: Vec<GoldenParameter>,
    /// Inner activations of the cell, where the script computes them step by step; else empty.
    #[serde(default)]
    sums: Vec<f32>,
    #[serde(default)]
    hidden_gradients: Vec<f32>,
    #[serde(default)]
    cell_gradients: Vec<f32>,
    #[serde(default)]
    sum_gradients: Vec<f32>,
}

#[derive(Deserialize)]
struct GoldenParameter {
    name: String,
    value: Vec<f32>,
    gradient: Vec<f32>,
}

fn tracked<const D: usize>(values: &[f32], shape: [usize; D]) -> Tensor<D> {
    let data = TensorData::new(values.to_vec(), shape);
    Tensor::from_data(data, &device().autodiff()).require_grad()
}

impl Golden {
    fn kind(&self) -> CellKind {
        match self.kind.as_str() {
            "rnn" => CellKind::RNN,
            "mikolov" => CellKind::MIKOLOV,
            "lstm" => CellKind::Lstm { projection: self.projection, forget_bias: 0.0 },
            "gru" => CellKind::Gru,
            "cho" => CellKind::ChoGru,
            other => panic!("no cell is called {other}"),
        }
    }

    fn parameter(&self, name: &str) -> &GoldenParameter {
        let found = self.parameters.iter().find(|parameter| parameter.name == name);
        found.unwrap_or_else(|| panic!("PyTorch's network has no parameter {name}"))
    }

    fn network(&self) -> Recurrent {
        struct Load<'a> {
            golden: &'a Golden,
            names: std::vec::IntoIter<String>,
        }

        impl ModuleMapper for Load<'_> {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                let value = &self.golden.parameter(&self.names.next().unwrap()).value;
                param.map(|old| {
                    let data = TensorData::new(value.clone(), old.shape());
                    Tensor::from_data(data, &old.device())
                })
            }
        }

        let config = SequenceConfig {
            vocabulary: self.inputs,
            outputs: 1,
            embedding: None,
            kind: self.kind(),
            hidden: self.hidden,
            layers: self.layers,
            bidirectional: self.both,
            initialization: Initialization::Uniform,
            seed: 0,
        };
        let network = config.init(&device()).recurrent;
        let names: Vec<String> = named_parameters(&network).into_iter().map(|p| p.0).collect();
        assert_eq!(names.len(), self.parameters.len());
        network.map(&mut Load { golden: self, names: names.into_iter() }).train()
    }

    /// PyTorch concatenates the states of all layers and directions.
    fn states(&self, hidden: &Tensor<3>, cell: Option<&Tensor<3>>) -> Vec<LayerStates> {
        let directions = if self.both { 2 } else { 1 };
        let state = |index: usize| {
            let part = |all: &Tensor<3>| all.clone().narrow(0, index, 1).squeeze_dim::<2>(0);
            State { hidden: part(hidden), cell: cell.map(part) }
        };
        let layer = |layer: usize| LayerStates {
            forward: state(layer * directions),
            backward: self.both.then(|| state(layer * directions + 1)),
        };
        (0..self.layers).map(layer).collect()
    }
}

fn flat(states: &[LayerStates], part: fn(&State) -> &Tensor<2>) -> Tensor<3> {
    let cells = states.iter().flat_map(|s| [Some(&s.forward), s.backward.as_ref()]);
    Tensor::stack(cells.flatten().map(|state| part(state).clone()).collect(), 0)
}

fn agrees(golden: &Golden, index: usize) {
    let close = |what: &str, expected: &[f32], found: &[f32]| {
        let difference = relative_difference(expected, found);
        let kind = &golden.kind;
        assert!(
            difference <= TOLERANCE,
            "case {index}, {kind}: {what} is {difference} away from PyTorch's"
        );
    };
    let network = golden.network();
    let states = golden.layers * if golden.both { 2 } else { 1 };
    let output = golden.kind().output_width(golden.hidden);
    let input = tracked(&golden.input, [golden.batch, golden.length, golden.inputs]);
    let hidden = tracked(&golden.initial_hidden, [states, golden.batch, output]);
    let cell = (!golden.initial_cell.is_empty())
        .then(|| tracked(&golden.initial_cell, [states, golden.batch, golden.hidden]));
    let initial = Some(golden.states(&hidden, cell.as_ref()));
    let inside = !golden.sums.is_empty();
    let options = RunOptions { initial, probes: inside, ..RunOptions::default() };
    let vectors = SequenceInput::Vectors(input.clone());
    let (found, traces) = if inside {
        network.forward_traced(vectors, &options)
    } else {
        (network.forward(vectors, &options), Vec::new())
    };
    close("the outputs", &golden.outputs, &values(found.outputs.clone()));

    let mut parts = vec![found.outputs];
    if !golden.finals.is_empty() {
        parts.push(flat(&found.finals, |state| &state.hidden));
        if cell.is_some() {
            parts.push(flat(&found.finals, |state| state.cell.as_ref().unwrap()));
        }
        assert_eq!(golden.finals.len(), parts.len() - 1);
    }
    for (expected, found) in golden.finals.iter().zip(&parts[1..]) {
        close("a final state", expected, &values(found.clone()));
    }
    assert_eq!(parts.len(), golden.loss_weights.len());
    let weighted = parts.into_iter().zip(&golden.loss_weights).map(|(part, weights)| {
        let weights = TensorData::new(weights.clone(), part.shape());
        let weights = Tensor::<3>::from_data(weights, &part.device());
        (part * weights).sum()
    });
    let gradients = weighted.reduce(|a, b| a + b).unwrap().backward();

    let gradient = |tensor: &Tensor<3>| values(tensor.grad(&gradients).unwrap());
    close("the input's gradient", &golden.input_gradient, &gradient(&input));
    close("the first state's gradient", &golden.initial_hidden_gradient, &gradient(&hidden));
    if let Some(cell) = cell.filter(|_| !golden.initial_cell_gradient.is_empty()) {
        close("the first cell's gradient", &golden.initial_cell_gradient, &gradient(&cell));
    }
    let mut sum = unroll_model::GradientSum::default();
    if inside {
        let trace = &traces[0].forward;
        let inner = trace.gradients(&gradients);
        close("a sum", &golden.sums, &values(trace.sums.clone()));
        close("dL/dh", &golden.hidden_gradients, &values(inner.hidden));
        close("dL/dsum", &golden.sum_gradients, &values(inner.sums));
        if let Some(cell) = inner.cell {
            close("dL/dc", &golden.cell_gradients, &values(cell));
        }
    }
    let mut gradients = gradients;
    sum.add(&network, &mut gradients);
    for ((name, ..), found) in named_parameters(&network).iter().zip(sum.finish()) {
        let expected = &golden.parameter(name).gradient;
        close(&format!("the gradient of {name}"), expected, &values(found));
    }
}

#[test]
fn networks_are_pytorchs_modules() {
    let json = include_str!("../../tests/golden/recurrent_modules.json");
    let cases: Vec<Golden> = serde_json::from_str(json).unwrap();
    assert_eq!(cases.len(), 9);
    cases.iter().enumerate().for_each(|(index, golden)| agrees(golden, index));
}

#[test]
fn cells_are_as_written_out_in_pytorch_inside_and_out() {
    let json = include_str!("../../tests/golden/recurrent_steps.json");
    let cases: Vec<Golden> = serde_json::from_str(json).unwrap();
    assert_eq!(cases.len(), 8);
    cases.iter().enumerate().for_each(|(index, golden)| agrees(golden, index));
}
