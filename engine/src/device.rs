//! The devices an engine can start on. Which GPU is taken of several, for how much power, and with which
//! limits is decided here, for browsers and outside them.

#[cfg(any(feature = "webgpu", target_arch = "wasm32"))]
use burn::tensor::Device;
#[cfg(feature = "webgpu")]
use unroll_protocol::SelfCheck;
#[cfg(target_arch = "wasm32")]
use unroll_protocol::{DeviceKind, DeviceReport};

#[cfg(all(feature = "webgpu", not(target_arch = "wasm32")))]
mod gpu;
#[cfg(all(feature = "webgpu", not(target_arch = "wasm32")))]
pub use gpu::*;

/// How many commands are queued before they are submitted: a small model's kernels are far shorter than a
/// submission.
#[cfg(feature = "webgpu")]
const COMMANDS: usize = 256;

/// The CPU of a worker, through burn's Flex backend.
#[cfg(target_arch = "wasm32")]
pub fn cpu() -> (Device, DeviceReport) {
    let name = "CPU, 128-bit SIMD".to_owned();
    (Device::flex(), DeviceReport { kind: DeviceKind::Cpu, name, self_check: None })
}

/// The browser's GPU, after a self-check that the page judges.
///
/// # Errors
///
/// If there is none, or it can't be used, or did not finish the self-check: why, for the page.
#[cfg(all(feature = "webgpu", target_arch = "wasm32"))]
pub async fn webgpu() -> Result<(Device, DeviceReport), String> {
    use burn::tensor::DeviceKind as Adapter;

    let device = Device::wgpu_options()
        // Browsers give one adapter. This asks for the quickest, and for all that it allows, as `Adapter::open`
        // does outside them. That way of setting up a device needs `GPUDevice.adapterInfo`, which is younger
        // than WebGPU.
        .device_kind(Adapter::DefaultDevice)
        .tasks_max(COMMANDS)
        .init_async()
        .await
        .map_err(|error| not_set_up(&error))?;
    let check = compared_with_cpu(&device).await?;
    let name = "GPU through WebGPU".to_owned();
    Ok((device, DeviceReport { kind: DeviceKind::WebGpu, name, self_check: Some(check) }))
}

/// Has the device compute a tiny model, as the CPU does: a failing shader can leave stale numbers that look
/// plausible (cubecl issue 1641).
#[cfg(feature = "webgpu")]
async fn compared_with_cpu(device: &Device) -> Result<SelfCheck, String> {
    let check = unroll_model::self_check(&Device::flex(), device).await;
    check.map_err(|error| format!("the GPU did not finish the self-check ({error})"))
}

#[cfg(feature = "webgpu")]
fn not_set_up(error: &dyn core::fmt::Display) -> String {
    format!("the GPU could not be set up ({error})")
}
