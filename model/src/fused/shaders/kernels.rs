//! The programs that run on the GPU, in CubeCL.
//!
//! All tensors are f32 (targets i32) and lie row by row. A program "of rows" has one cube, that is
//! one WebGPU workgroup, of [`UNITS`] units for each row.

#![allow(unstable_name_collisions, reason = "`erf` is CubeCL's")]
#![allow(clippy::too_many_arguments, reason = "bindings and numbers of a program")]

use cubecl::prelude::*;

/// Units of the cube that works on a row: a wavefront of any GPU, and enough for widths of 16.
pub(super) const UNITS: usize = 64;
/// Where a part begins in a flat buffer is a multiple of this many numbers: 256 bytes, the most
/// that WebGPU may ask of where a binding begins.
pub(super) const ALIGNMENT: usize = 64;
/// Sources that [`gather`] reads at once. With what it writes and what CubeCL adds these are the
/// eight storage buffers that every WebGPU device has.
pub(super) const SOURCES: usize = 6;

/// The sum of what each unit of the cube brings, for all of them, in the same order on every
/// device.
#[cube]
fn sum_of_cube(own: f32) -> f32 {
    let mut shared = Shared::new_slice(comptime!(UNITS));
    shared[UNIT_POS as usize] = own;
    sync_cube();
    let mut sum = 0.0f32;
    for unit in 0..comptime!(UNITS) {
        sum += shared[unit];
    }
    sum
}

/// The largest of what each unit of the cube brings.
#[cube]
fn largest_of_cube(own: f32) -> f32 {
    let mut shared = Shared::new_slice(comptime!(UNITS));
    shared[UNIT_POS as usize] = own;
    sync_cube();
    let mut largest = shared[0];
    for unit in 1..comptime!(UNITS) {
        largest = max(largest, shared[unit]);
    }
    largest
}

/// What the buffer `source`, laid down from `start` on, has at `at`; `otherwise` beside it.
#[cube]
fn pick(source: &[f32], start: usize, at: usize, otherwise: f32) -> f32 {
    let mut value = otherwise;
    if at >= start && at < start + source.len() {
        value = source[at - start];
    }
    value
}

/// Where the next source begins in the flat buffer.
#[cube]
fn after(source: &[f32], start: usize) -> usize {
    start + (source.len() + comptime!(ALIGNMENT - 1)) / comptime!(ALIGNMENT) * comptime!(ALIGNMENT)
}

/// Lays sources down one after the other, from `start` on, zeros between them, `count` numbers in
/// all.
#[cube(launch)]
pub(super) fn gather(
    a: &[f32],
    b: &[f32],
    c: &[f32],
    d: &[f32],
    e: &[f32],
    f: &[f32],
    flat: &mut [f32],
    start: usize,
    count: usize,
) {
    let at = ABSOLUTE_POS;
    if at < count {
        let of_b = after(a, 0);
        let of_c = after(b, of_b);
        let of_d = after(c, of_c);
        let of_e = after(d, of_d);
        let of_f = after(e, of_e);
        let mut value = pick(a, 0, at, 0.0);
        value = pick(b, of_b, at, value);
        value = pick(c, of_c, at, value);
        value = pick(d, of_d, at, value);
        value = pick(e, of_e, at, value);
        value = pick(f, of_f, at, value);
        flat[start + at] = value;
    }
}

/// Each cube's share of the sum of squares.
#[cube(launch)]
pub(super) fn squares(values: &[f32], sums: &mut [f32], stride: usize) {
    let mut sum = 0.0f32;
    let mut at = ABSOLUTE_POS;
    while at < values.len() {
        let value = values[at];
        sum += value * value;
        at += stride;
    }
    let sum = sum_of_cube(sum);
    if UNIT_POS == 0 {
        sums[CUBE_POS] = sum;
    }
}

/// The square root of a sum, by one cube.
#[cube(launch)]
pub(super) fn root_of_sum(sums: &[f32], root: &mut [f32]) {
    let mut sum = 0.0f32;
    let mut at = UNIT_POS as usize;
    while at < sums.len() {
        sum += sums[at];
        at += comptime!(UNITS);
    }
    let sum = sum_of_cube(sum);
    if UNIT_POS == 0 {
        root[0] = f32::sqrt(sum);
    }
}

/// One step of AdamW for all parameters; see [`crate::optimizer`] for the rule. `state` is values,
/// then first, then second moments, each as long as `gradients`. `decays` is 1 for every
/// [`ALIGNMENT`] numbers of a parameter that decays, 0 for those of any other.
#[cube(launch)]
pub(super) fn adam(
    gradients: &[f32],
    values: &[f32],
    first: &[f32],
    second: &[f32],
    norm: &[f32],
    decays: &[f32],
    state: &mut [f32],
    largest_norm: f32,
    beta1: f32,
    rest1: f32,
    beta2: f32,
    rest2: f32,
    epsilon: f32,
    step_size: f32,
    second_scale: f32,
    decay: f32,
) {
    let at = ABSOLUTE_POS;
    let count = gradients.len();
    if at < count {
        let mut coefficient = 1.0f32;
        if largest_norm > 0.0 {
            coefficient = min(largest_norm / (norm[0] + 1e-6), 1.0);
        }
        let gradient = gradients[at] * coefficient;
        let m = first[at] * beta1 + gradient * rest1;
        let v = second[at] * beta2 + gradient * gradient * rest2;
        let mut value = values[at];
        if decays[at / comptime!(ALIGNMENT)] > 0.5 {
            value *= decay;
        }
        state[at] = value - m / (f32::sqrt(v) * second_scale + epsilon) * step_size;
        state[count + at] = m;
        state[2 * count + at] = v;
    }
}

/// Layer normalisation of rows, and of each row the mean and the reciprocal of the deviation.
#[cube(launch)]
pub(super) fn layer_norm(
    input: &[f32],
    gamma: &[f32],
    beta: &[f32],
    output: &mut [f32],
    statistics: &mut [f32],
    rows: usize,
    epsilon: f32,
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
        let mean = sum_of_cube(sum) / f32::cast_from(width as u32);
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            let apart = input[start + at] - mean;
            sum += apart * apart;
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

/// The gradient with respect to the rows that were normalised.
#[cube(launch)]
pub(super) fn layer_norm_rows_back(
    input: &[f32],
    statistics: &[f32],
    gamma: &[f32],
    upstream: &[f32],
    gradient: &mut [f32],
    rows: usize,
) {
    let row = CUBE_POS;
    if row < rows {
        let width = gamma.len();
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
        let sum = sum_of_cube(sum) / f32::cast_from(width as u32);
        let product = sum_of_cube(product) / f32::cast_from(width as u32);
        let mut at = UNIT_POS as usize;
        while at < width {
            let normal = (input[start + at] - mean) * scale;
            let slope = upstream[start + at] * gamma[at];
            gradient[start + at] = (slope - sum - normal * product) * scale;
            at += comptime!(UNITS);
        }
    }
}

/// The gradients with respect to γ and β, one cube for each column.
#[cube(launch)]
pub(super) fn layer_norm_columns_back(
    input: &[f32],
    statistics: &[f32],
    upstream: &[f32],
    of_gamma: &mut [f32],
    of_beta: &mut [f32],
    rows: usize,
) {
    let column = CUBE_POS;
    let width = of_gamma.len();
    if column < width {
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
            of_gamma[column] = gain;
            of_beta[column] = shift;
        }
    }
}

/// `x Φ(x)` and its derivative, `Φ(x) + x exp(-x²/2) / sqrt(2π)`.
#[cube(launch)]
pub(super) fn gelu(input: &[f32], output: &mut [f32], slopes: &mut [f32]) {
    let at = ABSOLUTE_POS;
    if at < input.len() {
        let x = input[at];
        let phi = (f32::erf(x * 0.707_106_77f32) + 1.0f32) * 0.5f32;
        output[at] = x * phi;
        slopes[at] = phi + x * f32::exp(x * x * f32::new(-0.5)) * 0.398_942_3f32;
    }
}

#[cube(launch)]
pub(super) fn multiply(left: &[f32], right: &[f32], output: &mut [f32]) {
    let at = ABSOLUTE_POS;
    if at < output.len() {
        output[at] = left[at] * right[at];
    }
}

/// The probabilities of rows of logits, and what each row's target costs, in nats.
#[cube(launch)]
pub(super) fn cross_entropy(
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

#[cube(launch)]
pub(super) fn cross_entropy_back(
    probabilities: &[f32],
    targets: &[i32],
    upstream: &[f32],
    gradient: &mut [f32],
    width: usize,
) {
    let at = ABSOLUTE_POS;
    if at < gradient.len() {
        let row = at / width;
        let mut apart = probabilities[at];
        if at == row * width + targets[row] as usize {
            apart -= 1.0;
        }
        gradient[at] = apart * upstream[row];
    }
}

/// `softmax(scale x + bias)` of rows, numbered batch by batch, head by head, query by query. The
/// bias may have one batch or one head for all.
#[cube(launch)]
pub(super) fn softmax(
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

#[cube(launch)]
pub(super) fn softmax_back(
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
            let apart = upstream[start + at] - sum;
            gradient[start + at] = weights[start + at] * apart * scale;
            at += comptime!(UNITS);
        }
    }
}
