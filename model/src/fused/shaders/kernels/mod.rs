//! The programs that run on the GPU, in CubeCL.
//!
//! All tensors are f32 (targets i32) and lie row by row. A program "of rows" has one cube, that is
//! one WebGPU workgroup, of [`UNITS`] units for each row.

pub(super) mod flat;
pub(super) mod heads;
pub(super) mod rows;

use cubecl::prelude::*;

/// Units of the cube that works on a row: a wavefront of any GPU, and enough for widths of 16.
pub(crate) const UNITS: usize = 64;
/// Where a part begins in a flat buffer is a multiple of this many numbers: 256 bytes, the most
/// that WebGPU may ask of where a binding begins.
pub(crate) const ALIGNMENT: usize = 64;
/// Sources that [`gather`] reads at once. With what it writes and what CubeCL adds these are the
/// eight storage buffers that every WebGPU device has.
pub(crate) const SOURCES: usize = 6;

/// The sum of what each unit of the cube brings, for all of them, in the same order on every
/// device.
#[cube]
pub(crate) fn sum_of_cube(own: f32) -> f32 {
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
pub(crate) fn largest_of_cube(own: f32) -> f32 {
    let mut shared = Shared::new_slice(comptime!(UNITS));
    shared[UNIT_POS as usize] = own;
    sync_cube();
    let mut largest = shared[0];
    for unit in 1..comptime!(UNITS) {
        largest = max(largest, shared[unit]);
    }
    largest
}
