//! Compares kernels and reference implementations: values and gradients.

use burn::tensor::{
    Int, Tensor, TensorData,
    activation::{self, softmax},
};

use super::*;
use crate::fused::tests::{assert_near, compare, device, drawn, numbers};

#[test]
fn sigmoids_and_tanhs() {
    let input = || [drawn([3, 50], 7) * 4.0];
    compare("sigmoid", input(), |[x]| sigmoid(x), |[x]| activation::sigmoid(x));
    compare("tanh", input(), |[x]| tanh(x), |[x]| activation::tanh(x));
    // The version for devices without kernels.
    let slopes =
        |[x]: [Tensor<2>; 1]| with_derivative(x, activation::tanh, |y| (y.clone() * y).neg() + 1.0);
    compare("tanh", input(), |[x]| tanh(x), slopes);
}

#[test]
fn rows_of_a_table_that_is_read_several_times() {
    let rows = |tensor: &Tensor<2>| Tensor::<1, Int>::from_ints([3, 0, 3, 5, 3], &tensor.device());
    compare(
        "rows",
        [drawn([6, 7], 1)],
        |[table]| look_up(table.clone(), rows(&table)),
        |[table]| table.clone().select(0, rows(&table)),
    );
}

#[test]
fn additive_attention() {
    let low = f32::NEG_INFINITY;
    let padding = TensorData::new(vec![0.0, 0.0, 0.0, 0.0, 0.0, low, 0.0, low, low], [3, 3]);
    let padding = Tensor::<2>::from_data(padding, &device().inner());
    for padding in [None, Some(padding)] {
        // Queries, keys, v and values.
        let inputs =
            || [drawn([3, 2, 5], 1), drawn([3, 3, 5], 2), drawn([1, 1, 5], 3), drawn([3, 3, 4], 4)];
        let kernel = |[queries, keys, vector, values]: [Tensor<3>; 4]| {
            additive(queries, keys, vector.reshape([5]), values, padding.clone())
        };
        let composed = |[queries, keys, vector, values]: [Tensor<3>; 4]| {
            let sums = queries.reshape([3, 2, 1, 5]) + keys.reshape([3, 1, 3, 5]);
            let scores = (sums.tanh() * vector.reshape([1, 1, 1, 5])).sum_dim(3);
            let scores = scores.reshape([3, 2, 3]);
            let scores = match &padding {
                Some(padding) => scores + padding.clone().reshape([3, 1, 3]),
                None => scores,
            };
            let weights = softmax(scores.clone(), 2);
            (weights.clone().matmul(values), scores, weights)
        };
        compare("contexts", inputs(), |x| kernel(x).contexts, |x| composed(x).0);
        let (found, expected) = (kernel(inputs()), composed(inputs()));
        assert_near("weights", &numbers(found.weights), &numbers(expected.2));
        let least = |x: Tensor<3>| numbers(x.clamp_min(-1e9));
        assert_near("scores", &least(found.scores), &least(expected.1));
    }
}
