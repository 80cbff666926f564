//! The devices an engine can start on.

use burn::tensor::Device;
use unroll_protocol::{DeviceKind, DeviceReport};

/// The CPU, through burn's Flex backend.
pub fn cpu() -> (Device, DeviceReport) {
    let name = "CPU, 128-bit SIMD".to_owned();
    (Device::flex(), DeviceReport { kind: DeviceKind::Cpu, name, self_check: None })
}

/// The browser's GPU. It is compared with the CPU on a tiny model before anything computed on it is
/// shown: a failing shader can leave stale numbers that look plausible (cubecl issue 1641).
#[cfg(feature = "webgpu")]
pub async fn webgpu() -> Result<(Device, DeviceReport), String> {
    use burn::tensor::Device as AnyDevice;

    let device = AnyDevice::wgpu_options()
        // How many commands are queued before they are submitted: a small model's kernels are far
        // shorter than a submission.
        .tasks_max(256)
        .init_async()
        .await
        .map_err(|error| format!("the GPU could not be set up ({error})"))?;
    let check = unroll_model::self_check(&Device::flex(), &device)
        .await
        .map_err(|error| format!("the GPU did not finish the self-check ({error})"))?;
    let name = "GPU through WebGPU".to_owned();
    Ok((device, DeviceReport { kind: DeviceKind::WebGpu, name, self_check: Some(check) }))
}
