//! `cargo xtask test vulkan`: training on a GPU beside training on the CPU, outside the browser.
//!
//! It is no part of `cargo xtask test`, since the engine's code for GPUs takes many minutes to compile.

use std::path::Path;

use crate::{
    Result, native, setup,
    shell::{self, cargo},
};

/// Mesa's drivers. One of them, lavapipe, computes on the CPU.
const PACKAGE: &str = "mesa-vulkan-drivers";

pub fn run() -> Result {
    if cfg!(target_os = "linux") && !native::has_driver(Path::new("/")) {
        install()?;
    }
    let mut command = cargo();
    command.arg("test").args(native::PACKAGE).args(native::WITH_GPU);
    command.args(["--locked", "--test", "gpu", "--", "--nocapture"]);
    // With it, the tests fail where no driver offers anything.
    shell::run(command.env("UNROLL_VULKAN", "1"))
}

fn install() -> Result {
    if !setup::is_root() || shell::find_program("apt-get").is_none() {
        return Err(format!(
            "There is no driver for Vulkan here. Mesa's is enough: it also computes on the CPU. Debian and Ubuntu \
             have it as {PACKAGE}."
        ));
    }
    shell::say(
        "there is no driver for Vulkan here: Mesa's is installed, which also computes on the CPU",
    );
    setup::apt_get(PACKAGE)
}
