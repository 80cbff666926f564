//! Many tensors as one: what runs once per parameter costs a GPU one call for each, and calls
//! dominate a small model's step.

use burn::tensor::{Shape, Tensor, TensorData};
use burn_cubecl::tensor::CubeTensor;
use cubecl::{
    prelude::{CubeCount, CubeDim},
    server::Handle,
};

use super::{
    argument, elementwise, empty,
    kernels::{self, ALIGNMENT, SOURCES, UNITS},
    primitive, tensor,
};
use crate::fused::AdamStep;

/// Most cubes that compute partial sums.
const MOST_SUMS: usize = 256;

/// The offset of each part in a flat buffer, in numbers, and the offset after the last.
struct Layout {
    starts: Vec<usize>,
    end: usize,
}

impl Layout {
    fn of(parts: &[CubeTensor]) -> Self {
        let mut end = 0;
        let starts = parts.iter().map(|part| {
            let start = end;
            end += length(part).next_multiple_of(ALIGNMENT);
            start
        });
        Self { starts: starts.collect(), end }
    }
}

fn length(part: &CubeTensor) -> usize {
    part.meta.num_elements()
}

/// A tensor that shares `count` numbers of a buffer, beginning at `start`.
pub(super) fn view(buffer: &CubeTensor, start: usize, count: usize) -> CubeTensor {
    let size = |numbers: usize| (numbers * size_of::<f32>()) as u64;
    let all = length(buffer);
    let handle = buffer.handle.clone().offset_start(size(start));
    flat_tensor(buffer, handle.offset_end(size(all - start - count)), count)
}

/// `count` numbers behind a handle, on the device and of the type of `like`.
fn flat_tensor(like: &CubeTensor, handle: Handle, count: usize) -> CubeTensor {
    let (client, device) = (like.client.clone(), like.device.clone());
    CubeTensor::new_contiguous(client, device, Shape::new([count]), handle, like.dtype)
}

/// The parts one after another in one buffer. They are copied unless they are already laid out this
/// way, like what this module has made.
fn flatten(parts: &[CubeTensor]) -> (CubeTensor, Layout) {
    let layout = Layout::of(parts);
    if let Some(flat) = lying_flat(parts, &layout) {
        return (flat, layout);
    }
    let first = &parts[0];
    let flat = empty(first, [layout.end]);
    let groups = parts.chunks(SOURCES).zip(layout.starts.chunks(SOURCES));
    let ends = layout.starts.iter().step_by(SOURCES).skip(1).copied().chain([layout.end]);
    for ((sources, starts), end) in groups.zip(ends) {
        // A buffer may be bound only once: missing sources are filled up with buffers that are not
        // read.
        let mut sources =
            sources.iter().cloned().chain(core::iter::repeat_with(|| empty(first, [1])));
        let mut next = || argument(sources.next().expect("without end"));
        let count = end - starts[0];
        let (cubes, cube) = elementwise(&first.client, count);
        kernels::flat::gather::launch(
            &first.client,
            cubes,
            cube,
            next(),
            next(),
            next(),
            next(),
            next(),
            next(),
            argument(flat.clone()),
            starts[0],
            count,
        );
    }
    (flat, layout)
}

/// The buffer that already holds exactly these parts in this order.
fn lying_flat(parts: &[CubeTensor], layout: &Layout) -> Option<CubeTensor> {
    let first = &parts[0].handle;
    let base = first.offset_start.unwrap_or(0);
    let begins = |start: usize| base + (start * size_of::<f32>()) as u64;
    let same = parts.iter().zip(&layout.starts).all(|(part, &start)| {
        part.handle.memory.descriptor() == first.memory.descriptor()
            && part.handle.offset_start.unwrap_or(0) == begins(start)
    });
    let end = begins(layout.end);
    if !same || end > first.size() {
        return None;
    }
    let mut handle = first.clone();
    handle.offset_end = Some(first.size() - end);
    Some(flat_tensor(&parts[0], handle, layout.end))
}

fn primitives(tensors: Vec<Tensor<1>>) -> Vec<CubeTensor> {
    tensors.into_iter().map(primitive).collect()
}

/// The same tensors, stored one after another in one buffer.
pub(crate) fn laid_flat(tensors: Vec<Tensor<1>>) -> Vec<Tensor<1>> {
    let parts = primitives(tensors);
    if parts.is_empty() {
        return Vec::new();
    }
    let (flat, layout) = flatten(&parts);
    let views = parts.iter().zip(&layout.starts);
    views.map(|(part, &start)| tensor(view(&flat, start, length(part)))).collect()
}

/// The tensors as one, and the offset of each.
pub(crate) fn joined(tensors: Vec<Tensor<1>>) -> (Tensor<1>, Vec<usize>) {
    let (flat, layout) = flatten(&primitives(tensors));
    (tensor(flat), layout.starts)
}

/// The Euclidean norm of all tensors taken together.
///
/// # Shapes
///
/// - output: `[1]`
pub(crate) fn norm(tensors: &[Tensor<1>]) -> Tensor<1> {
    let (flat, _) = flatten(&primitives(tensors.to_vec()));
    let count = length(&flat).div_ceil(UNITS).min(MOST_SUMS);
    let (sums, root) = (empty(&flat, [count]), empty(&flat, [1]));
    let client = flat.client.clone();
    let cube = CubeDim::new_1d(UNITS as u32);
    kernels::flat::squares::launch(
        &client,
        CubeCount::Static(count as u32, 1, 1),
        cube,
        argument(flat),
        argument(sums.clone()),
        count * UNITS,
    );
    kernels::flat::root_of_sum::launch(
        &client,
        CubeCount::Static(1, 1, 1),
        cube,
        argument(sums),
        argument(root.clone()),
    );
    tensor(root)
}

/// Which parameters decay, in the form that [`adam`] takes.
pub(crate) fn decay_map(decays: &[bool], gradients: &[Tensor<1>]) -> Tensor<1> {
    let blocks = decays.iter().zip(gradients).flat_map(|(&decays, gradient)| {
        let blocks = gradient.dims()[0].div_ceil(ALIGNMENT);
        core::iter::repeat_n(if decays { 1.0f32 } else { 0.0 }, blocks)
    });
    let blocks: Vec<f32> = blocks.collect();
    let count = blocks.len();
    Tensor::from_data(TensorData::new(blocks, [count]), &gradients[0].device())
}

/// Parameters of one AdamW step besides the tensors.
pub(crate) struct Step {
    pub adam: AdamStep,
    /// What the gradients' global norm is clipped to; 0 disables clipping.
    pub largest_norm: f32,
    /// `1 - β1` and `1 - β2`, computed in f64 and then rounded.
    pub rest: [f32; 2],
}

/// One step of AdamW for all parameters at once: new values, first and second moments, flat, given
/// the old ones and the gradients, whose global norm is `norm`. `decays` comes from [`decay_map`].
pub(crate) fn adam(
    step: &Step,
    gradients: Vec<Tensor<1>>,
    norm: Tensor<1>,
    decays: Tensor<1>,
    before: [Vec<Tensor<1>>; 3],
) -> [Vec<Tensor<1>>; 3] {
    let parts = primitives(gradients);
    let (gradients, layout) = flatten(&parts);
    let [values, first, second] = before.map(|parts| flatten(&primitives(parts)).0);
    let state = empty(&gradients, [3 * layout.end]);
    let client = gradients.client.clone();
    let (cubes, cube) = elementwise(&client, layout.end);
    let AdamStep { beta1, beta2, epsilon, step_size, second_scale, decay } = step.adam;
    kernels::flat::adam::launch(
        &client,
        cubes,
        cube,
        argument(gradients),
        argument(values),
        argument(first),
        argument(second),
        argument(primitive(norm)),
        argument(primitive(decays)),
        argument(state.clone()),
        step.largest_norm,
        beta1,
        step.rest[0],
        beta2,
        step.rest[1],
        epsilon,
        step_size,
        second_scale,
        decay,
    );
    core::array::from_fn(|which| {
        let base = which * layout.end;
        let views = parts.iter().zip(&layout.starts);
        views.map(|(part, &start)| tensor(view(&state, base + start, length(part)))).collect()
    })
}
