//! GPUs outside the browser, which wgpu reaches through Vulkan and Metal.

use core::fmt;
use std::sync::LazyLock;

use burn::tensor::Device;
use burn_wgpu::{
    WgpuSetup,
    wgpu::{self, AdapterInfo, Backend, Backends, DeviceType, Features},
};
use unroll_protocol::SelfCheck;

use super::{COMMANDS, compared_with_cpu, not_set_up};

/// What our kernels and the library's need of a device. Every WebGPU device has it, but a driver behind
/// Vulkan may have less.
const NEEDED: [(&str, Limit, u64); 3] = [
    ("buffers in a kernel", |limits| limits.max_storage_buffers_per_shader_stage.into(), 8),
    ("threads in a workgroup", |limits| limits.max_compute_invocations_per_workgroup.into(), 256),
    (
        "bytes that a workgroup shares",
        |limits| limits.max_compute_workgroup_storage_size.into(),
        16_384,
    ),
];

/// One of a device's limits.
type Limit = fn(&wgpu::Limits) -> u64;

/// Kept for as long as the process: Vulkan loaders crash when instances come and go on several threads.
static INSTANCE: LazyLock<wgpu::Instance> = LazyLock::new(|| {
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    let backends = Backends::VULKAN | Backends::METAL;
    wgpu::Instance::new(wgpu::InstanceDescriptor { backends, ..descriptor })
});

/// The interface to GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The system's own: Metal on a Mac, Vulkan elsewhere.
    System,
    Vulkan,
    Metal,
}

impl Interface {
    fn backends(self) -> Backends {
        match self {
            Self::System if cfg!(target_vendor = "apple") => Backends::METAL,
            Self::System | Self::Vulkan => Backends::VULKAN,
            Self::Metal => Backends::METAL,
        }
    }
}

/// A GPU as a driver offers it, or a program that computes like one.
#[derive(Clone, Debug)]
pub struct Adapter {
    adapter: wgpu::Adapter,
    about: About,
}

/// What a driver says of an adapter. `Display` is its line in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    name: String,
    interface: Backend,
    kind: DeviceType,
}

impl From<AdapterInfo> for About {
    fn from(info: AdapterInfo) -> Self {
        Self { name: info.name, interface: info.backend, kind: info.device_type }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interface = match self.interface {
            Backend::Vulkan => "Vulkan",
            Backend::Metal => "Metal",
            _ => "another interface",
        };
        let software = if self.is_software() { ", software on the CPU" } else { "" };
        write!(f, "{} through {interface}{software}", self.name)
    }
}

impl About {
    /// Whether this is a program on the CPU, such as Mesa's llvmpipe: right, and far slower than an engine
    /// for the CPU.
    pub fn is_software(&self) -> bool {
        // Some say that they are a GPU of another kind.
        let named = |name| self.name.to_lowercase().contains(name);
        self.kind == DeviceType::Cpu || ["llvmpipe", "lavapipe", "swiftshader"].iter().any(named)
    }

    /// The quickest have the lowest: what a browser is asked for as the preference for high performance.
    fn rank(&self) -> u8 {
        match self.kind {
            _ if self.is_software() => 4,
            DeviceType::DiscreteGpu => 0,
            DeviceType::IntegratedGpu => 1,
            DeviceType::VirtualGpu => 2,
            DeviceType::Other | DeviceType::Cpu => 3,
        }
    }
}

/// Which of these adapters is taken: the quickest, or the quickest of those that `wanted` names by its number
/// in the list, counted from 1, or by a part of its name. Unless `wanted` names it or `software` allows it,
/// that is never a program on the CPU.
///
/// # Errors
///
/// A sentence, if there is none like that.
pub fn choose<'a>(
    adapters: impl IntoIterator<Item = &'a About>,
    wanted: Option<&str>,
    software: bool,
) -> Result<usize, String> {
    let all: Vec<(usize, &About)> = adapters.into_iter().enumerate().collect();
    // A longer number is of a name, as in “RTX 4090”, where a short one stands by chance.
    let number: Option<usize> =
        wanted.filter(|wanted| wanted.len() < 3).and_then(|wanted| wanted.parse().ok());
    let part = wanted.map(str::to_lowercase);
    let fits = |(at, about): &&(usize, &About)| match (number, &part) {
        (Some(number), _) => at + 1 == number,
        (None, Some(part)) => about.name.to_lowercase().contains(&**part),
        (None, None) => software || !about.is_software(),
    };
    // The first of equals.
    let best = all.iter().filter(fits).min_by_key(|(_, about)| about.rank());
    best.map(|(at, _)| *at).ok_or_else(|| match (wanted, all.is_empty()) {
        (Some(wanted), false) => {
            format!("No GPU has the number “{wanted}” or has that in its name.")
        }
        (None, false) => {
            "There is no GPU here, only a program that computes like one on the CPU.".to_owned()
        }
        (_, true) => "No driver here offers a GPU.".to_owned(),
    })
}

impl Adapter {
    /// All that can be reached through this interface, in the order that drivers give them.
    pub async fn all(interface: Interface) -> Vec<Self> {
        let adapters = INSTANCE.enumerate_adapters(interface.backends()).await;
        let own = |adapter: wgpu::Adapter| {
            let about = adapter.get_info().into();
            Self { adapter, about }
        };
        adapters.into_iter().map(own).collect()
    }

    pub fn about(&self) -> &About {
        &self.about
    }

    /// All of the adapter's limits. CubeCL plans kernels with the adapter's, whatever its device was given,
    /// and the size of a buffer decides how large a model may be.
    fn limits(&self) -> Result<wgpu::Limits, String> {
        let limits = self.adapter.limits();
        let lacking = NEEDED.iter().find(|(_, limit, needed)| limit(&limits) < *needed);
        match lacking {
            None => Ok(limits),
            Some((what, limit, needed)) => Err(format!(
                "the GPU’s driver allows {} {what}, and {needed} are needed",
                limit(&limits)
            )),
        }
    }

    /// Sets it up and compares it with the CPU. Nothing computed on it must be shown unless the check
    /// [passes](SelfCheck::passes).
    ///
    /// # Errors
    ///
    /// If it can't be used, or did not finish the self-check: why, as the rest of a sentence.
    pub async fn open(self) -> Result<(Device, SelfCheck), String> {
        let descriptor = wgpu::DeviceDescriptor {
            label: None,
            // CubeCL plans with all that the adapter has. What is experimental no kernel in WGSL uses, and a
            // buffer that is read from both sides is slow on a GPU with memory of its own.
            required_features: self.adapter.features().difference(
                Features::MAPPABLE_PRIMARY_BUFFERS.union(Features::all_experimental_mask()),
            ),
            required_limits: self.limits()?,
            // It takes memory in large pieces and divides them itself.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            trace: wgpu::Trace::Off,
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
        };
        let opened = self.adapter.request_device(&descriptor).await;
        let (device, queue) = opened.map_err(|error| not_set_up(&error))?;
        let Self { adapter, about } = self;
        let (instance, backend) = (INSTANCE.clone(), about.interface);
        let setup = WgpuSetup { instance, adapter, device, queue, backend };
        let options = Device::wgpu_options().tasks_max(COMMANDS).setup(setup);
        let device = options.init().map_err(|error| not_set_up(&error))?;
        let check = compared_with_cpu(&device).await?;
        Ok((device, check))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(name: &str, kind: DeviceType) -> About {
        About { name: name.to_owned(), interface: Backend::Vulkan, kind }
    }

    fn desk() -> Vec<About> {
        vec![
            about("llvmpipe (LLVM 15.0.6, 256 bits)", DeviceType::Cpu),
            about("Intel(R) UHD Graphics 770", DeviceType::IntegratedGpu),
            about("NVIDIA GeForce RTX 3060", DeviceType::DiscreteGpu),
            about("NVIDIA GeForce RTX 4090", DeviceType::DiscreteGpu),
        ]
    }

    #[test]
    fn the_quickest_is_taken_unless_another_is_named() {
        let desk = desk();
        let taken = |wanted| choose(&desk, wanted, false);
        assert_eq!(taken(None), Ok(2));
        assert_eq!(taken(Some("2")), Ok(1));
        assert_eq!(taken(Some("intel")), Ok(1));
        assert_eq!(taken(Some("4090")), Ok(3));
        assert_eq!(taken(Some("nvidia")), Ok(2));
        for wrong in ["0", "5", "radeon", "-1"] {
            assert!(taken(Some(wrong)).unwrap_err().contains(wrong), "{wrong}");
        }
        assert!(choose(&[], Some("1"), true).is_err());
    }

    #[test]
    fn software_is_taken_only_where_it_is_meant() {
        let desk = desk();
        let only = &desk[..1];
        assert!(choose(only, None, false).unwrap_err().contains("only a program"));
        assert_eq!(choose(only, None, true), Ok(0));
        assert_eq!(choose(&desk, None, true), Ok(2));
        assert_eq!(choose(&desk, Some("llvmpipe"), false), Ok(0));
        // However it calls itself.
        let disguised = [about("SwiftShader Device (LLVM 10.0.0)", DeviceType::DiscreteGpu)];
        assert!(disguised[0].is_software());
        assert!(choose(&disguised, None, false).is_err());
    }
}
