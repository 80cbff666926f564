//! Where an engine computes: on the processor, or on a GPU that was compared with it.

use burn::tensor::Device;
use unroll_protocol::{DeviceKind, DeviceReport, SelfCheck, pool::MOST_WORKERS};

#[cfg(feature = "gpu")]
use crate::say;

/// What an engine is to compute on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// A GPU if there is one, else the processor.
    #[default]
    Auto,
    Cpu,
    /// What Vulkan reaches, also a program on the processor.
    Vulkan,
    /// What Metal reaches.
    Metal,
}

impl Wanted {
    /// By its name in `--device`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "cpu" => Some(Self::Cpu),
            "vulkan" => Some(Self::Vulkan),
            "metal" => Some(Self::Metal),
            _ => None,
        }
    }
}

/// What an engine computes on.
pub(crate) struct Place {
    pub device: Device,
    /// Threads that may share a step.
    pub threads: u32,
    /// What a page is told of it.
    pub report: DeviceReport,
}

impl Place {
    /// The processor.
    fn cpu(threads: u32) -> Self {
        let up_to = match threads.min(MOST_WORKERS) {
            1 => "1 thread".to_owned(),
            threads => format!("up to {threads} threads"),
        };
        let name = format!("CPU, native engine on this computer, {up_to}");
        Self { device: Device::flex(), threads, report: report(name, None) }
    }

    /// What `wanted` says, with `adapter` naming a GPU among several by its number or a part of its name. A
    /// GPU that can't be used is replaced by the processor, after a sentence on the terminal.
    ///
    /// # Errors
    ///
    /// A sentence, if `adapter` names none, or this program was built without what `wanted` takes.
    pub fn find(wanted: Wanted, adapter: Option<&str>, threads: u32) -> Result<Self, String> {
        match (wanted, adapter) {
            (Wanted::Cpu, Some(_)) => {
                Err("--adapter names a GPU, and --device cpu wants none.".to_owned())
            }
            (Wanted::Cpu, None) => Ok(Self::cpu(threads)),
            _ => on_gpu(wanted, adapter, threads),
        }
    }
}

fn report(name: String, self_check: Option<SelfCheck>) -> DeviceReport {
    DeviceReport { kind: DeviceKind::Native, name, self_check }
}

#[cfg(not(feature = "gpu"))]
fn on_gpu(wanted: Wanted, adapter: Option<&str>, threads: u32) -> Result<Place, String> {
    match (wanted, adapter) {
        (Wanted::Auto, None) => Ok(Place::cpu(threads)),
        _ => Err("This engine was built without its code for GPUs. `cargo xtask engine --device \
                  vulkan` builds it with that."
            .to_owned()),
    }
}

#[cfg(feature = "gpu")]
fn on_gpu(wanted: Wanted, adapter: Option<&str>, threads: u32) -> Result<Place, String> {
    use unroll_engine::device::{Adapter, Interface, choose};

    let interface = match wanted {
        Wanted::Vulkan => Interface::Vulkan,
        Wanted::Metal => Interface::Metal,
        Wanted::Auto | Wanted::Cpu => Interface::System,
    };
    // Loading a driver runs much code that is not ours.
    let found = guarded(move || Ok(pollster::block_on(Adapter::all(interface))));
    let mut adapters = match found {
        Ok(adapters) => adapters,
        Err(reason) => return Ok(instead(&reason, threads)),
    };
    for (at, adapter) in adapters.iter().enumerate() {
        say(&format!("GPU {}: {}", at + 1, adapter.about()));
    }
    let software = wanted != Wanted::Auto;
    let chosen = choose(adapters.iter().map(Adapter::about), adapter, software);
    let chosen = match chosen {
        Ok(chosen) => adapters.swap_remove(chosen),
        Err(sentence) if adapter.is_some() => return Err(sentence),
        Err(sentence) => {
            say(&format!("{sentence} The engine computes on the CPU."));
            return Ok(Place::cpu(threads));
        }
    };
    let about = chosen.about().clone();
    say(&format!("The engine takes {about}, if it computes what the CPU computes …"));
    match guarded(move || pollster::block_on(chosen.open())) {
        Ok((device, check)) if check.passes() => {
            if about.is_software() {
                say("It does. A program that computes like a GPU is far slower than --device cpu.");
            } else {
                say("It does.");
            }
            let name = format!("GPU, native engine on this computer: {about}");
            // Threads would wait for the one GPU.
            Ok(Place { device, threads: 1, report: report(name, Some(check)) })
        }
        Ok((_, SelfCheck { logits, loss, gradients })) => {
            let reason = format!(
                "it computed wrong numbers in the self-check: of the CPU’s, logits are {logits:.0e} \
                 apart, the loss {loss:.0e} and gradients {gradients:.0e}, and {:.0e} is allowed",
                SelfCheck::TOLERANCE
            );
            Ok(instead(&reason, threads))
        }
        Err(reason) => Ok(instead(&reason, threads)),
    }
}

/// The processor in place of a GPU that failed.
#[cfg(feature = "gpu")]
fn instead(reason: &str, threads: u32) -> Place {
    say(&format!("The GPU is not used: {reason}. The engine computes on the CPU."));
    Place::cpu(threads)
}

/// What `work` returns. That it panics is an error: drivers and the libraries above them do.
#[cfg(feature = "gpu")]
fn guarded<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    std::thread::spawn(work)
        .join()
        .unwrap_or_else(|_| Err("its driver failed, as is said above".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_named_as_they_are_used() {
        let name = |threads| Place::cpu(threads).report.name;
        assert!(name(1).ends_with("1 thread"), "{}", name(1));
        assert!(name(64).ends_with(&format!("up to {MOST_WORKERS} threads")), "{}", name(64));
    }

    #[test]
    fn an_adapter_is_for_a_gpu() {
        let refused = Place::find(Wanted::Cpu, Some("1"), 1).err();
        assert!(refused.is_some_and(|sentence| sentence.contains("--adapter")));
    }

    #[cfg(not(feature = "gpu"))]
    #[test]
    fn a_gpu_that_was_not_built_in_is_not_promised() {
        for wanted in [Wanted::Vulkan, Wanted::Metal] {
            let refused = Place::find(wanted, None, 1).err();
            assert!(refused.is_some_and(|sentence| sentence.contains("cargo xtask engine")));
        }
        assert!(Place::find(Wanted::Auto, None, 2).is_ok_and(|place| place.threads == 2));
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_panic_of_a_driver_is_an_error() {
        assert_eq!(guarded(|| Ok(7)), Ok(7));
        assert!(guarded::<u8>(|| panic!("a driver that fails, on purpose")).is_err());
    }
}
