//! Kernels over all parameters together.

#![allow(clippy::too_many_arguments, reason = "bindings and numbers of a program")]

use cubecl::prelude::*;

use super::{ALIGNMENT, UNITS, sum_of_cube};

/// The number at `at` of the flat buffer if it is in `source`, which begins at `start`; else
/// `otherwise`.
#[cube]
fn pick(source: &[f32], start: usize, at: usize, otherwise: f32) -> f32 {
    let mut value = otherwise;
    if at >= start && at < start + source.len() {
        value = source[at - start];
    }
    value
}

/// The offset of the next source in the flat buffer.
#[cube]
fn after(source: &[f32], start: usize) -> usize {
    start + (source.len() + comptime!(ALIGNMENT - 1)) / comptime!(ALIGNMENT) * comptime!(ALIGNMENT)
}

/// Concatenates sources, beginning at `start` and padded with zeros in between, `count` numbers in
/// all.
#[cube(launch)]
pub(crate) fn gather(
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

/// Each cube's partial sum of squares.
#[cube(launch)]
pub(crate) fn squares(values: &[f32], sums: &mut [f32], stride: usize) {
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

/// The square root of a sum, computed by one cube.
#[cube(launch)]
pub(crate) fn root_of_sum(sums: &[f32], root: &mut [f32]) {
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
pub(crate) fn adam(
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
