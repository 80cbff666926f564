//! The Rust side of set-up: the wasm target, Trunk, and the wasm-bindgen of Cargo.lock.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, paths, shell};

pub const WASM: &str = "wasm32-unknown-unknown";

/// The last Trunk whose dependencies build with the Rust of this workspace.
const TRUNK: &str = "0.21.14";

/// A program this workspace builds for itself, in exactly one version.
pub struct Tool {
    pub program: &'static str,
    package: &'static str,
    pub version: String,
    /// With the versions its authors locked. wasm-bindgen-cli's lock file does not build.
    locked: bool,
}

/// Everything the page's build calls.
pub fn all() -> Result<[Tool; 2]> {
    Ok([
        Tool {
            program: "wasm-bindgen",
            package: "wasm-bindgen-cli",
            // Its output and the crate's must be of one version.
            version: paths::locked_version("wasm-bindgen")?,
            locked: false,
        },
        Tool { program: "trunk", package: "trunk", version: TRUNK.to_owned(), locked: true },
    ])
}

impl Tool {
    pub fn path(&self) -> PathBuf {
        let file = format!("{}{}", self.program, std::env::consts::EXE_SUFFIX);
        paths::tools().join("bin").join(file)
    }

    /// The version that lies under the target directory, if it runs.
    pub fn installed(&self) -> Option<String> {
        let path = self.path();
        if !path.is_file() {
            return None;
        }
        let text = shell::output(Command::new(path).arg("--version"))?;
        Some(text.split_whitespace().nth(1)?.to_owned())
    }

    pub fn is_there(&self) -> bool {
        self.installed().as_deref() == Some(&self.version)
    }

    fn log(&self) -> PathBuf {
        paths::log(&format!("install-{}", self.program))
    }

    /// Builds it. The output goes to a file, as other steps run meanwhile.
    fn install(&self) -> Result {
        let mut command = shell::cargo();
        command
            .args(["install", self.package, "--version", &self.version, "--force", "--debug"])
            .arg("--root")
            .arg(paths::tools())
            .arg("--target-dir")
            .arg(paths::target().join("tools-build"))
            // Built to be there soon, not to be debugged.
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        if self.locked {
            command.arg("--locked");
        }
        shell::run_logged(&mut command, &self.log())
    }
}

/// The tools that must still be built.
pub fn missing() -> Result<Vec<Tool>> {
    Ok(all()?.into_iter().filter(|tool| !tool.is_there()).collect())
}

/// Builds `tools`, one after the other.
pub fn install(tools: &[Tool]) -> Result {
    for tool in tools {
        let what = format!(
            "{} {}: building it under {} (once; log in {})",
            tool.program,
            tool.version,
            paths::short(&paths::tools()),
            paths::short(&tool.log())
        );
        shell::step(&what, || tool.install())?;
    }
    Ok(())
}

/// Whether this Rust can build for browsers.
pub fn has_wasm_target() -> bool {
    shell::output(Command::new("rustc").current_dir(paths::root()).args(["--print", "sysroot"]))
        .is_some_and(|sysroot| Path::new(&sysroot).join("lib/rustlib").join(WASM).is_dir())
}

/// Adds the wasm target to the Rust in use, if it lacks it.
pub fn wasm_target() -> Result {
    if has_wasm_target() {
        return Ok(());
    }
    if shell::find_program("rustup").is_none() {
        return Err(format!(
            "This Rust has no {WASM} target and there is no rustup to add it with. Install rustup \
             from https://rustup.rs, or your system's package of that target."
        ));
    }
    shell::step(&format!("rustup target add {WASM}"), || {
        shell::run(shell::command("rustup").args(["target", "add", WASM]))
    })
}
