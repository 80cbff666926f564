//! The GPU kernels, in CubeCL.
//!
//! All tensors are contiguous row-major f32 (targets are i32). A kernel "of rows" launches one
//! cube, that is one WebGPU workgroup, of [`UNITS`] units per row.

pub(super) mod flat;
pub(super) mod heads;
pub(super) mod rows;

use cubecl::prelude::*;

/// Units of a cube that works on a row: a wavefront of any GPU, and enough for widths of 16.
pub(crate) const UNITS: usize = 64;
/// Alignment of parts in a flat buffer, in numbers: 256 bytes, the largest offset alignment that
/// WebGPU may require of a binding.
pub(crate) const ALIGNMENT: usize = 64;
/// Number of sources that [`gather`] reads at once. Together with its output and what CubeCL adds,
/// these are the eight storage buffers that every WebGPU device supports.
pub(crate) const SOURCES: usize = 6;

/// The sum of one value per unit of the cube, returned to all units, in the same order on every
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

/// The largest of one value per unit of the cube.
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
