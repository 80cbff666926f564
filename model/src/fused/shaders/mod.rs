//! The operations on a GPU. Those that would take many calls if composed of burn's operations have
//! kernels of our own: in a small model's step, calls are what takes time.

mod differentiable;
mod flat;
mod kernels;
mod self_attention;

use burn::{
    backend::wgpu::{CubeTensor, Wgpu},
    tensor::{DType, Shape, Tensor},
};
use burn_cubecl::{kernel::into_contiguous, ops::numeric::empty_device_contiguous_dtype};
use cubecl::{
    calculate_cube_count_elemwise,
    client::Client,
    prelude::{BufferArg, CubeCount, CubeDim},
};

pub(super) use super::composed::{embed, linear, product, sum_of_squares};
pub(crate) use differentiable::{attend, cross_entropy, gelu, normalize, seed};
pub(crate) use flat::{Step, adam, decay_map, joined, laid_flat, norm};
use kernels::UNITS;
pub(crate) use self_attention::self_attention;

/// Units of a cube in elementwise kernels.
const EACH: u32 = 256;

/// The tensor as CubeCL's primitive, contiguous and row-major.
///
/// # Panics
///
/// Panics if it is on another device, or tracked.
fn primitive<const D: usize>(tensor: Tensor<D>) -> CubeTensor {
    into_contiguous(tensor.try_into_primitive::<Wgpu>().expect("a plain tensor of the GPU"))
}

fn tensor<const D: usize>(primitive: CubeTensor) -> Tensor<D> {
    Tensor::from_primitive::<Wgpu>(primitive)
}

/// An uninitialized tensor on the device of `like`.
fn empty(like: &CubeTensor, shape: impl Into<Shape>) -> CubeTensor {
    let (client, device) = (like.client.clone(), like.device.clone());
    empty_device_contiguous_dtype(client, device, shape.into(), DType::F32)
}

fn argument(tensor: CubeTensor) -> BufferArg {
    tensor.into_tensor_arg().into_buffer_arg()
}

/// The number of cubes for one unit per number.
fn elementwise(client: &Client, numbers: usize) -> (CubeCount, CubeDim) {
    let cube = CubeDim::new_1d(EACH);
    (calculate_cube_count_elemwise(client, numbers, cube), cube)
}

/// One cube per row.
fn of_rows(client: &Client, rows: usize) -> (CubeCount, CubeDim) {
    let cube = CubeDim::new_1d(UNITS as u32);
    (calculate_cube_count_elemwise(client, rows * UNITS, cube), cube)
}
