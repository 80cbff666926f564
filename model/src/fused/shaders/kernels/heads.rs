//! Kernels between row layout and head layout.
//!
//! A row of width `3 width` holds a token's queries, keys and values one after another, each head
//! after head. The head layout consists of three parts, `stride` numbers apart, each
//! `[batch, heads, length, d]`.

#![allow(clippy::too_many_arguments, reason = "bindings and numbers of a program")]

use cubecl::prelude::*;

use super::{UNITS, sum_of_cube};

/// The index, within its own matrix, of the number at index `at` of three matrices side by side.
#[cube]
fn in_own_matrix(at: usize, width: usize) -> usize {
    at / (3 * width) * width + at % width
}

/// Joins three matrices of `width` columns into one of `3 width` columns.
#[cube(launch)]
pub(crate) fn join(
    first: &[f32],
    second: &[f32],
    third: &[f32],
    joined: &mut [f32],
    numbers: usize,
    width: usize,
) {
    let at = ABSOLUTE_POS;
    if at < numbers {
        let column = at % (3 * width);
        let from = in_own_matrix(at, width);
        let mut value = first[from];
        if column >= width {
            value = second[from];
        }
        if column >= 2 * width {
            value = third[from];
        }
        joined[at] = value;
    }
}

/// The inverse of [`join`].
#[cube(launch)]
pub(crate) fn split(
    joined: &[f32],
    first: &mut [f32],
    second: &mut [f32],
    third: &mut [f32],
    numbers: usize,
    width: usize,
) {
    let at = ABSOLUTE_POS;
    if at < numbers {
        let column = at % (3 * width);
        let to = in_own_matrix(at, width);
        if column < width {
            first[to] = joined[at];
        } else if column < 2 * width {
            second[to] = joined[at];
        } else {
            third[to] = joined[at];
        }
    }
}

/// The index in head layout of the number at index `at` in row layout.
#[cube]
fn in_head_order(at: usize, width: usize, stride: usize, heads: usize, length: usize) -> usize {
    let d = width / heads;
    let token = at / (3 * width);
    let column = at % (3 * width);
    let inside = column % width;
    let row = (token / length * heads + inside / d) * length + token % length;
    column / width * stride + row * d + inside % d
}

/// Converts rows to head layout and adds the biases of queries and values.
#[cube(launch)]
pub(crate) fn to_heads(
    rows: &[f32],
    query_bias: &[f32],
    value_bias: &[f32],
    in_heads: &mut [f32],
    numbers: usize,
    width: usize,
    stride: usize,
    heads: usize,
    length: usize,
) {
    let at = ABSOLUTE_POS;
    if at < numbers {
        let column = at % (3 * width);
        let mut value = rows[at];
        if column < width {
            value += query_bias[column];
        }
        if column >= 2 * width {
            value += value_bias[column - 2 * width];
        }
        in_heads[in_head_order(at, width, stride, heads, length)] = value;
    }
}

/// Converts head layout to rows.
#[cube(launch)]
pub(crate) fn to_rows(
    in_heads: &[f32],
    rows: &mut [f32],
    numbers: usize,
    width: usize,
    stride: usize,
    heads: usize,
    length: usize,
) {
    let at = ABSOLUTE_POS;
    if at < numbers {
        rows[at] = in_heads[in_head_order(at, width, stride, heads, length)];
    }
}

/// Adds the same row to every row.
#[cube(launch)]
pub(crate) fn add_to_rows(rows: &mut [f32], bias: &[f32], numbers: usize, width: usize) {
    let at = ABSOLUTE_POS;
    if at < numbers {
        rows[at] += bias[at % width];
    }
}

/// Column sums, one cube per column: `first` receives the first `width` columns, `second` as many
/// beginning at `second_from`.
#[cube(launch)]
pub(crate) fn sums_of_columns(
    rows: &[f32],
    first: &mut [f32],
    second: &mut [f32],
    count: usize,
    stride: usize,
    width: usize,
    second_from: usize,
    columns: usize,
) {
    let which = CUBE_POS;
    if which < columns {
        let mut column = which;
        if which >= width {
            column = second_from + which - width;
        }
        let mut sum = 0.0f32;
        let mut row = UNIT_POS as usize;
        while row < count {
            sum += rows[row * stride + column];
            row += comptime!(UNITS);
        }
        let sum = sum_of_cube(sum);
        if UNIT_POS == 0 {
            if which < width {
                first[which] = sum;
            } else {
                second[which - width] = sum;
            }
        }
    }
}
