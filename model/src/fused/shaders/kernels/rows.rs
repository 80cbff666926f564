//! Kernels over activations, most of them row by row.
//!
//! Unless said otherwise buffers are `[rows, width]`; γ, β and their gradients are `[width]`,
//! targets and losses `[rows]`. `upstream` is the gradient with respect to the output.

#![allow(unstable_name_collisions, reason = "`erf` is CubeCL's")]
#![allow(clippy::too_many_arguments, reason = "bindings and numbers of a program")]

use cubecl::prelude::*;

use super::{UNITS, largest_of_cube, sum_of_cube};

/// Layer normalization of rows. `statistics`, `[rows, 2]`, receives the mean and the reciprocal
/// standard deviation of each row. `centered` multiplies the mean: 1, or 0 for RMSNorm.
#[cube(launch)]
pub(crate) fn layer_norm(
    input: &[f32],
    gamma: &[f32],
    beta: &[f32],
    output: &mut [f32],
    statistics: &mut [f32],
    rows: usize,
    epsilon: f32,
    centered: f32,
) {
    let row = CUBE_POS;
    if row < rows {
        let width = gamma.len();
        let start = row * width;
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            sum += input[start + at];
            at += comptime!(UNITS);
        }
        let mean = sum_of_cube(sum) / f32::cast_from(width as u32) * centered;
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            let beyond = input[start + at] - mean;
            sum += beyond * beyond;
            at += comptime!(UNITS);
        }
        let variance = sum_of_cube(sum) / f32::cast_from(width as u32);
        let scale = 1.0 / f32::sqrt(variance + epsilon);
        let mut at = UNIT_POS as usize;
        while at < width {
            output[start + at] = (input[start + at] - mean) * scale * gamma[at] + beta[at];
            at += comptime!(UNITS);
        }
        if UNIT_POS == 0 {
            statistics[2 * row] = mean;
            statistics[2 * row + 1] = scale;
        }
    }
}

/// The backward pass of [`layer_norm`]. The first `rows` cubes work on a row of the gradient with
/// respect to the input each, the `width` cubes after them on a column of γ and β each.
#[cube(launch)]
pub(crate) fn layer_norm_back(
    input: &[f32],
    statistics: &[f32],
    gamma: &[f32],
    upstream: &[f32],
    gradient: &mut [f32],
    grad_gamma: &mut [f32],
    grad_beta: &mut [f32],
    rows: usize,
    centered: f32,
) {
    let width = gamma.len();
    if CUBE_POS < rows {
        let row = CUBE_POS;
        let start = row * width;
        let mean = statistics[2 * row];
        let scale = statistics[2 * row + 1];
        let mut sum = 0.0f32;
        let mut product = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            let slope = upstream[start + at] * gamma[at];
            sum += slope;
            product += slope * (input[start + at] - mean) * scale;
            at += comptime!(UNITS);
        }
        let sum = sum_of_cube(sum) / f32::cast_from(width as u32) * centered;
        let product = sum_of_cube(product) / f32::cast_from(width as u32);
        let mut at = UNIT_POS as usize;
        while at < width {
            let normal = (input[start + at] - mean) * scale;
            let slope = upstream[start + at] * gamma[at];
            gradient[start + at] = (slope - sum - normal * product) * scale;
            at += comptime!(UNITS);
        }
    } else if CUBE_POS < rows + width {
        let column = CUBE_POS - rows;
        let mut gain = 0.0f32;
        let mut shift = 0.0f32;
        let mut row = UNIT_POS as usize;
        while row < rows {
            let at = row * width + column;
            let normal = (input[at] - statistics[2 * row]) * statistics[2 * row + 1];
            gain += upstream[at] * normal;
            shift += upstream[at];
            row += comptime!(UNITS);
        }
        let gain = sum_of_cube(gain);
        let shift = sum_of_cube(shift);
        if UNIT_POS == 0 {
            grad_gamma[column] = gain;
            grad_beta[column] = shift;
        }
    }
}

/// `x Φ(x)` and its derivative, `Φ(x) + x exp(-x²/2) / sqrt(2π)`, elementwise.
#[cube(launch)]
pub(crate) fn gelu(input: &[f32], output: &mut [f32], slopes: &mut [f32]) {
    let at = ABSOLUTE_POS;
    if at < input.len() {
        let x = input[at];
        let phi = (f32::erf(x * 0.707_106_77f32) + 1.0f32) * 0.5f32;
        output[at] = x * phi;
        slopes[at] = phi + x * f32::exp(x * x * f32::new(-0.5)) * 0.398_942_3f32;
    }
}

/// The elementwise product.
#[cube(launch)]
pub(crate) fn multiply(left: &[f32], right: &[f32], output: &mut [f32]) {
    let at = ABSOLUTE_POS;
    if at < output.len() {
        output[at] = left[at] * right[at];
    }
}

/// The softmax of rows of logits, and the cross-entropy of each row's target in nats.
#[cube(launch)]
pub(crate) fn cross_entropy(
    logits: &[f32],
    targets: &[i32],
    losses: &mut [f32],
    probabilities: &mut [f32],
    width: usize,
) {
    let row = CUBE_POS;
    if row < losses.len() {
        let start = row * width;
        let mut most = logits[start];
        let mut at = UNIT_POS as usize;
        while at < width {
            most = max(most, logits[start + at]);
            at += comptime!(UNITS);
        }
        let most = largest_of_cube(most);
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            let value = f32::exp(logits[start + at] - most);
            probabilities[start + at] = value;
            sum += value;
            at += comptime!(UNITS);
        }
        let sum = sum_of_cube(sum);
        let mut at = UNIT_POS as usize;
        while at < width {
            probabilities[start + at] /= sum;
            at += comptime!(UNITS);
        }
        if UNIT_POS == 0 {
            let target = targets[row] as usize;
            losses[row] = f32::ln(sum) - (logits[start + target] - most);
        }
    }
}

/// The backward pass of [`cross_entropy`]; `upstream` is `[rows]`.
#[cube(launch)]
pub(crate) fn cross_entropy_back(
    probabilities: &[f32],
    targets: &[i32],
    upstream: &[f32],
    gradient: &mut [f32],
    width: usize,
) {
    let at = ABSOLUTE_POS;
    if at < gradient.len() {
        let row = at / width;
        let mut slope = probabilities[at];
        if at == row * width + targets[row] as usize {
            slope -= 1.0;
        }
        gradient[at] = slope * upstream[row];
    }
}

/// `softmax(scale x + bias)` of the rows of `[batch, heads, queries, width]`. The bias is
/// `[bias_batches, bias_heads, queries, width]`, where 1 batch or 1 head serves all.
#[cube(launch)]
pub(crate) fn softmax(
    scores: &[f32],
    bias: &[f32],
    weights: &mut [f32],
    scale: f32,
    rows: usize,
    width: usize,
    queries: usize,
    heads: usize,
    bias_batches: usize,
    bias_heads: usize,
    #[comptime] biased: bool,
) {
    let row = CUBE_POS;
    if row < rows {
        let start = row * width;
        let query = row % queries;
        let head = row / queries % heads;
        let batch = row / queries / heads;
        let from =
            ((batch % bias_batches * bias_heads + head % bias_heads) * queries + query) * width;
        let mut most = f32::new(-3.0e38);
        let mut at = UNIT_POS as usize;
        while at < width {
            let mut score = scores[start + at] * scale;
            if comptime!(biased) {
                score += bias[from + at];
            }
            weights[start + at] = score;
            most = max(most, score);
            at += comptime!(UNITS);
        }
        let most = largest_of_cube(most);
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            let value = f32::exp(weights[start + at] - most);
            weights[start + at] = value;
            sum += value;
            at += comptime!(UNITS);
        }
        let sum = sum_of_cube(sum);
        let mut at = UNIT_POS as usize;
        while at < width {
            weights[start + at] /= sum;
            at += comptime!(UNITS);
        }
    }
}

/// The backward pass of [`softmax`].
#[cube(launch)]
pub(crate) fn softmax_back(
    weights: &[f32],
    upstream: &[f32],
    gradient: &mut [f32],
    scale: f32,
    rows: usize,
    width: usize,
) {
    let row = CUBE_POS;
    if row < rows {
        let start = row * width;
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            sum += weights[start + at] * upstream[start + at];
            at += comptime!(UNITS);
        }
        let sum = sum_of_cube(sum);
        let mut at = UNIT_POS as usize;
        while at < width {
            let centered = upstream[start + at] - sum;
            gradient[start + at] = weights[start + at] * centered * scale;
            at += comptime!(UNITS);
        }
    }
}
