//! Batch and layer normalization: agreement with PyTorch (`tests/golden/make_norm.py` made the
//! values), and what must be true of them.

mod support;

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorData},
};
use serde::Deserialize;
use support::{device, relative_difference, values};
use unroll_model::{BatchNorm, BatchOfOne, LayerNorm, NormTrace, RunningStatistics};

const TOLERANCE: f32 = 1e-5;

#[derive(Deserialize)]
struct Golden {
    batch: Vec<BatchCase>,
    layer: Vec<LayerCase>,
}

#[derive(Deserialize)]
struct BatchCase {
    rows: usize,
    width: usize,
    gamma: Vec<f32>,
    beta: Vec<f32>,
    train: Vec<TrainStep>,
    eval: Pass,
}

#[derive(Deserialize)]
struct LayerCase {
    rows: usize,
    width: usize,
    gamma: Vec<f32>,
    beta: Vec<f32>,
    #[serde(flatten)]
    pass: Pass,
}

#[derive(Deserialize)]
struct TrainStep {
    running_mean: Vec<f32>,
    running_variance: Vec<f32>,
    #[serde(flatten)]
    pass: Pass,
}

#[derive(Deserialize)]
struct Pass {
    input: Vec<f32>,
    upstream: Vec<f32>,
    output: Vec<f32>,
    input_gradient: Vec<f32>,
    gamma_gradient: Vec<f32>,
    beta_gradient: Vec<f32>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../tests/golden/norm.json")).unwrap()
}

fn matrix(values: &[f32], rows: usize) -> Tensor<2> {
    let shape = [rows, values.len() / rows];
    Tensor::from_data(TensorData::new(values.to_vec(), shape), &device())
}

fn vector(values: &[f32]) -> Param<Tensor<1>> {
    Param::from_tensor(Tensor::from_floats(values, &device()))
}

fn close(what: &str, expected: &[f32], found: Vec<f32>) {
    let difference = relative_difference(expected, &found);
    assert!(difference <= TOLERANCE, "{what} is {difference} away from PyTorch's");
}

/// Compares output and gradients; returns the trace.
fn agrees(
    what: &str,
    pass: &Pass,
    rows: usize,
    (gamma, beta): (&Param<Tensor<1>>, &Param<Tensor<1>>),
    forward: impl Fn(Tensor<2>) -> (Tensor<2>, NormTrace),
) -> NormTrace {
    let input = matrix(&pass.input, rows).autodiff().require_grad();
    let (output, trace) = forward(input.clone());
    let gradients = (output.clone() * matrix(&pass.upstream, rows)).sum().backward();
    close(what, &pass.output, values(output));
    let what = &format!("a gradient of {what}");
    close(what, &pass.input_gradient, values(input.grad(&gradients).unwrap()));
    close(what, &pass.gamma_gradient, values(gamma.val().grad(&gradients).unwrap()));
    close(what, &pass.beta_gradient, values(beta.val().grad(&gradients).unwrap()));
    trace
}

#[test]
fn batch_norm_is_pytorchs() {
    for case in golden().batch {
        let norm = BatchNorm { gamma: vector(&case.gamma), beta: vector(&case.beta) }.train();
        let parameters = (&norm.gamma, &norm.beta);
        let mut running = RunningStatistics::new(case.width, &device());
        for step in &case.train {
            let forward = |input| norm.forward_batch(input).unwrap();
            let trace = agrees("training", &step.pass, case.rows, parameters, forward);
            assert_eq!(trace.mean.dims(), [1, case.width]);
            running.take(&trace, case.rows);
            close("the running mean", &step.running_mean, values(running.mean.clone()));
            close("the running variance", &step.running_variance, values(running.variance.clone()));
        }
        let forward = |input| norm.forward_running(input, &running);
        agrees("evaluation", &case.eval, case.rows, parameters, forward);
    }
}

#[test]
fn layer_norm_is_pytorchs() {
    for case in golden().layer {
        let norm = LayerNorm { gamma: vector(&case.gamma), beta: vector(&case.beta) }.train();
        let parameters = (&norm.gamma, &norm.beta);
        let trace = agrees("LayerNorm", &case.pass, case.rows, parameters, |x| norm.forward(x));
        assert_eq!(trace.mean.dims(), [case.rows, 1]);
        assert_eq!(trace.normalized.dims(), [case.rows, case.width]);
    }
}

/// A matrix and the same with its first row tripled.
fn two_inputs() -> [Tensor<2>; 2] {
    let mut input: Vec<f32> = (0..24).map(|i| ((i * 7) % 11) as f32 * 0.3 - 1.0).collect();
    let plain = matrix(&input, 4);
    input[..6].iter_mut().for_each(|x| *x *= 3.0);
    [plain, matrix(&input, 4)]
}

/// Most that any output of the rows after the first differs.
fn moved([before, after]: [Tensor<2>; 2]) -> f32 {
    let difference = |a: Vec<f32>, b: Vec<f32>| {
        a.iter().zip(&b).skip(6).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    difference(values(before), values(after))
}

#[test]
fn a_batch_couples_its_examples_and_a_layer_does_not() {
    let batch = BatchNorm::new(6, &device());
    assert!(moved(two_inputs().map(|x| batch.forward_batch(x).unwrap().0)) > 0.1);
    let running = RunningStatistics::new(6, &device());
    assert_eq!(moved(two_inputs().map(|x| batch.forward_running(x, &running).0)), 0.0);
    let layer = LayerNorm::new(6, &device());
    assert_eq!(moved(two_inputs().map(|x| layer.forward(x).0)), 0.0);
}

#[test]
fn a_batch_of_one_is_explained_where_it_can_not_be_normalized() {
    let one = matrix(&[0.5, -1.0, 2.0], 1);
    let batch = BatchNorm::new(3, &device());
    assert_eq!(batch.forward_batch(one.clone()).unwrap_err(), BatchOfOne);
    assert!(BatchOfOne.to_string().contains("variance is 0"));
    let running = RunningStatistics::new(3, &device());
    assert!(values(batch.forward_running(one.clone(), &running).0)[2] > 1.9);
    assert!(values(LayerNorm::new(3, &device()).forward(one).0)[2] > 1.0);
}
