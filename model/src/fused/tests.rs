//! Compares kernels and reference implementations: values and gradients.

use core::f64::consts::PI;

use burn::{
    module::Param,
    nn::{EmbeddingConfig, LinearConfig},
    tensor::{Device, Int, Tensor, TensorData},
};
use unroll_protocol::architecture::NormKind;

use super::*;

pub(super) fn device() -> Device {
    Device::flex().autodiff()
}

pub(super) fn drawn<const D: usize>(shape: [usize; D], seed: usize) -> Tensor<D> {
    let numbers = (0..shape.iter().product::<usize>())
        .map(|i| ((i * 31 + seed * 19) % 47) as f32 / 23.0 - 1.0);
    Tensor::from_data(TensorData::new(numbers.collect::<Vec<_>>(), shape), &device())
}

pub(super) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.inner().into_data().try_into_vec().expect("f32")
}

pub(super) fn assert_near(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let off = (found - expected).abs();
        assert!(off <= 2e-6 * expected.abs().max(1.0), "{what}, {at}: {found}, not {expected}");
    }
}

/// Runs both with the same upstream gradient, and compares outputs and the gradients of all inputs.
pub(super) fn compare<const D: usize, const E: usize, const N: usize>(
    what: &str,
    inputs: [Tensor<D>; N],
    kernel: impl Fn([Tensor<D>; N]) -> Tensor<E>,
    composed: impl Fn([Tensor<D>; N]) -> Tensor<E>,
) {
    let run = |of: &dyn Fn([Tensor<D>; N]) -> Tensor<E>| {
        let inputs = inputs.clone().map(|input| input.require_grad());
        let output = of(inputs.clone());
        let upstream = drawn(output.dims(), 9);
        let mut gradients = (output.clone() * upstream).backward();
        let of_inputs =
            inputs.map(|input| numbers(input.grad_remove(&mut gradients).expect("one")));
        (numbers(output), of_inputs)
    };
    let ((found, found_of), (expected, expected_of)) = (run(&kernel), run(&composed));
    assert_near(what, &found, &expected);
    for (at, (found, expected)) in found_of.iter().zip(&expected_of).enumerate() {
        assert_near(&format!("{what}, gradient of input {at}"), found, expected);
    }
    // Without gradients, too.
    let plain = kernel(inputs.clone().map(Tensor::inner));
    assert_eq!(numbers(plain), found, "{what}");
}

#[test]
fn products_of_matrices_and_their_transposes() {
    compare(
        "product",
        [drawn([9, 20], 1), drawn([20, 33], 2)],
        |[a, b]| product(a, b),
        |[a, b]| composed::product(a, b),
    );
    compare(
        "transposed",
        [drawn([20, 9], 1), drawn([33, 20], 2)],
        |[a, b]| product(a.transpose(), b.transpose()),
        |[a, b]| composed::product(a.transpose(), b.transpose()),
    );
}

#[test]
fn linear_layers() {
    for bias in [true, false] {
        let layer = LinearConfig::new(12, 19).with_bias(bias).init(&device());
        compare(
            "linear",
            [drawn([7, 12], 3)],
            |[x]| linear(&layer, x),
            |[x]| composed::linear(&layer, x),
        );
        // Batches of sequences, also from tensors that are not contiguous.
        let turned = |x: Tensor<3>| x.swap_dims(0, 1);
        compare(
            "linear, of sequences",
            [drawn([3, 7, 12], 3)],
            |[x]| turned(linear(&layer, turned(x))),
            |[x]| layer.forward(x),
        );
        let gradient = |output: Tensor<2>| {
            let gradients = (output.clone() * drawn(output.dims(), 5)).backward();
            let weight = numbers(layer.weight.val().grad(&gradients).expect("one"));
            let bias = layer.bias.as_ref().map(|b| numbers(b.val().grad(&gradients).expect("one")));
            (weight, bias)
        };
        let found = gradient(linear(&layer, drawn([7, 12], 3)));
        let expected = gradient(composed::linear(&layer, drawn([7, 12], 3)));
        assert_near("weight", &found.0, &expected.0);
        assert_near("bias", &found.1.unwrap_or_default(), &expected.1.unwrap_or_default());
    }
}

#[test]
fn attention_in_the_layout_the_layers_have() {
    // Heads as views of rows, as a projection leaves them.
    let heads = |x: Tensor<3>| {
        let [batch, length, _] = x.dims();
        x.reshape([batch, length, 3, 5]).swap_dims(1, 2)
    };
    let plain = device().inner();
    let causal: Vec<f32> = (0..40 * 40)
        .map(|i| if i % 40 > i / 40 { f32::NEG_INFINITY } else { (i % 7) as f32 * -0.1 })
        .collect();
    let causal = Tensor::<4>::from_data(TensorData::new(causal, [1, 1, 40, 40]), &plain);
    let kept = drawn([2, 3, 40, 40], 6).inner();
    for bias in [None, Some(causal)] {
        for keep in [None, Some(kept.clone())] {
            let inputs = [1, 2, 3].map(|seed| drawn([2, 40, 15], seed) * 2.0);
            compare(
                "attention",
                inputs.clone(),
                |x| {
                    let [q, k, v] = x.map(heads);
                    attend(q, k, v, bias.clone(), keep.clone(), 0.7).1
                },
                |x| {
                    let [q, k, v] = x.map(heads);
                    composed::attend(q, k, v, bias.clone(), keep.clone(), 0.7).1
                },
            );
            let [q, k, v] = inputs.map(heads);
            let found = attend(q.clone(), k.clone(), v.clone(), bias.clone(), keep.clone(), 0.7).0;
            let expected = composed::attend(q, k, v, bias.clone(), keep.clone(), 0.7).0;
            assert_near("weights", &numbers(found), &numbers(expected));
        }
    }
    // Numbers of queries and keys that differ.
    compare(
        "cross-attention",
        [drawn([1, 2, 5, 4], 1), drawn([1, 2, 9, 4], 2), drawn([1, 2, 9, 4], 3)],
        |[q, k, v]| attend(q, k, v, None, None, 1.0).1,
        |[q, k, v]| composed::attend(q, k, v, None, None, 1.0).1,
    );
}

#[test]
fn whole_layers_of_self_attention() {
    let linear = |seed: usize, bias: bool| Linear {
        weight: Param::from_tensor(drawn([6, 6], seed)),
        bias: bias.then(|| Param::from_tensor(drawn([6], seed + 4))),
    };
    let layers = [(1, true), (2, false), (3, true), (4, true)].map(|(seed, b)| linear(seed, b));
    let plain = device().inner();
    let causal: Vec<f32> =
        (0..7 * 7).map(|i| if i % 7 > i / 7 { f32::NEG_INFINITY } else { 0.0 }).collect();
    let causal = Tensor::<4>::from_data(TensorData::new(causal, [1, 1, 7, 7]), &plain);
    let kept = drawn([2, 3, 7, 7], 6).inner();
    let run = |of: &dyn Fn([&Linear; 4], Tensor<3>) -> SelfAttention| {
        let input = drawn([2, 7, 6], 5).require_grad();
        let found = of(layers.each_ref(), input.clone());
        let mut gradients = (found.output.clone() * drawn([2, 7, 6], 9)).backward();
        let mut all = vec![numbers(input.grad_remove(&mut gradients).expect("one"))];
        for layer in &layers {
            all.push(numbers(layer.weight.val().grad_remove(&mut gradients).expect("one")));
            let bias = layer.bias.as_ref().map(|bias| bias.val().grad_remove(&mut gradients));
            all.extend(bias.map(|gradient| numbers(gradient.expect("one"))));
        }
        let SelfAttention { output, projected, weights, mixed } = found;
        let inside = [numbers(projected), numbers(weights), numbers(mixed)];
        (numbers(output), inside, all)
    };
    for bias in [None, Some(causal)] {
        for keep in [None, Some(kept.clone())] {
            let of = |layers: [&Linear; 4], input: Tensor<3>| {
                self_attention(layers, 3, input, bias.clone(), keep.clone(), 0.7)
            };
            let found = run(&of);
            let expected = run(&|layers, input| {
                composed::self_attention(layers, 3, input, bias.clone(), keep.clone(), 0.7)
            });
            assert_near("output", &found.0, &expected.0);
            for (found, expected) in found.1.iter().zip(&expected.1) {
                assert_near("inside", found, expected);
            }
            assert_eq!(found.2.len(), 8);
            for (at, (found, expected)) in found.2.iter().zip(&expected.2).enumerate() {
                assert_near(&format!("gradient {at}"), found, expected);
            }
            // The result without gradients equals that of separate operations to the last bit.
            let whole = of(layers.each_ref(), drawn([2, 7, 6], 5).inner());
            assert_eq!(numbers(whole.output), found.0);
            let heads = |layer: &Linear| {
                let rows = super::linear(layer, drawn([14, 6], 5));
                rows.reshape([2, 7, 3, 2]).swap_dims(1, 2)
            };
            let [q, k, v] = [0, 1, 2].map(|which: usize| heads(&layers[which]));
            let (weights, mixed) = attend(q, k, v, bias.clone(), keep.clone(), 0.7);
            let mixed = mixed.swap_dims(1, 2).reshape([14, 6]);
            assert_eq!(numbers(weights), found.1[1]);
            assert_eq!(numbers(super::linear(&layers[3], mixed)), found.0);
        }
    }
}

#[test]
fn embeddings() {
    let layer = EmbeddingConfig::new(7, 5).init(&device());
    let tokens = || Tensor::<2, Int>::from_ints([[3, 0, 6], [3, 3, 1]], &device());
    let run = |of: fn(&Embedding, Tensor<2, Int>) -> Tensor<3>| {
        let output = of(&layer, tokens());
        let gradients = (output.clone() * drawn(output.dims(), 5)).backward();
        (numbers(output), numbers(layer.weight.val().grad(&gradients).expect("one")))
    };
    let (found, expected) = (run(embed), run(composed::embed));
    assert_near("embeddings", &found.0, &expected.0);
    assert_near("their gradient", &found.1, &expected.1);
}

#[test]
fn norms() {
    for &kind in NormKind::ALL {
        let layer = Norm::new(kind, 21, &device());
        compare(
            kind.label(),
            [drawn([2, 5, 21], 4) + 0.7],
            |[x]| normalize(&layer, x),
            |[x]| composed::normalize(&layer, x),
        );
        let gradients = |output: Tensor<3>| {
            let gradients = (output.clone() * drawn(output.dims(), 5)).backward();
            let parameters = [Some(&layer.gamma), layer.beta.as_ref()].into_iter().flatten();
            let of = |p: &Param<Tensor<1>>| numbers(p.val().grad(&gradients).expect("one"));
            parameters.map(of).collect::<Vec<_>>()
        };
        let found = gradients(normalize(&layer, drawn([2, 5, 21], 4)));
        let expected = gradients(composed::normalize(&layer, drawn([2, 5, 21], 4)));
        assert_eq!(found.len() as u64, kind.parameters());
        for (found, expected) in found.iter().zip(&expected) {
            assert_near("parameter", found, expected);
        }
    }
}

#[test]
fn gelus() {
    compare("GELU", [drawn([3, 50], 7) * 4.0], |[x]| gelu(x), |[x]| composed::gelu(x));
}

#[test]
fn sums_of_squares_of_parts_of_a_tensor() {
    let all = drawn([3000], 4).inner();
    for (start, length) in [(0, 3000), (7, 1), (100, 2500)] {
        let part = all.clone().narrow(0, start, length);
        let found = numbers(sum_of_squares(&part));
        assert_near("squares", &found, &numbers(composed::sum_of_squares(part)));
    }
}

#[test]
fn cross_entropies() {
    let targets = || Tensor::<1, Int>::from_ints([3, 0, 10, 5], &device());
    compare(
        "cross-entropy",
        [drawn([4, 11], 8) * 3.0],
        |[x]| cross_entropy(x, targets()),
        |[x]| composed::cross_entropy(x, targets()),
    );
}

#[test]
fn shared_tensors_are_not_overwritten() {
    let plain = device().inner();
    let value = Tensor::<1>::ones([5], &plain);
    let held = value.clone();
    let step = AdamStep {
        beta1: 0.9,
        beta2: 0.99,
        epsilon: 1e-8,
        step_size: 0.1,
        second_scale: 1.0,
        decay: 1.0,
    };
    let zeros = || Tensor::<1>::zeros([5], &plain);
    let one = Tensor::<1>::ones([1], &plain);
    let [moved, first, _] = adam(step, &one, &held, [value, zeros(), zeros()]);
    assert_eq!(numbers(held), [1.0; 5]);
    assert_near("first moment", &numbers(first), &[0.1; 5]);
    assert_near("value", &numbers(moved), &[0.9; 5]);
}

/// Φ(x) by its defining integral, Simpson's rule in f64.
fn distribution(x: f64) -> f64 {
    let intervals = 2000;
    let step = x / intervals as f64;
    let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * PI).sqrt();
    let inner: f64 =
        (1..intervals).map(|i| density(i as f64 * step) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    0.5 + step / 3.0 * (density(0.0) + inner + density(x))
}

#[test]
fn gelu_and_its_derivative_are_exact_both_ways() {
    let points = [-5.0f32, -2.0, -0.7, -0.1, 0.0, 0.3, 1.0, 2.5, 6.0];
    for gelu in [gelu::<1>, composed::gelu::<1>] {
        let input = Tensor::<1>::from_floats(points, &device()).require_grad();
        let output = gelu(input.clone());
        let plain = numbers(gelu(input.clone().inner()));
        assert_eq!(plain, numbers(output.clone()));
        let gradient = numbers(input.grad(&output.backward()).expect("one"));
        for ((x, y), slope) in points.iter().map(|&x| f64::from(x)).zip(plain).zip(gradient) {
            let phi = distribution(x);
            let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
            assert!((f64::from(y) - x * phi).abs() < 4e-7, "gelu({x}) = {y}");
            assert!((f64::from(slope) - (phi + x * density)).abs() < 4e-7, "gelu'({x}) = {slope}");
        }
    }
}
