//! The Rust side of setup: the wasm target, Trunk, the wasm-bindgen of Cargo.lock, and the tool
//! that splits the app's wasm.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, paths, shell};

pub const WASM: &str = "wasm32-unknown-unknown";

/// The last Trunk whose dependencies build with this workspace's Rust version.
const TRUNK: &str = "0.21.14";

/// It must understand the markers of `wasm_split_helpers` in Cargo.lock.
const WASM_SPLIT: &str = "0.2.4";

/// A program that this workspace builds for itself, in exactly one version.
pub struct Tool {
    pub program: &'static str,
    package: &'static str,
    pub version: String,
    /// Whether to use the versions its authors locked. wasm-bindgen-cli's lock file does not build.
    locked: bool,
    features: &'static [&'static str],
}

/// Everything the page's build calls.
pub fn all() -> Result<[Tool; 3]> {
    Ok([
        Tool {
            program: "wasm-bindgen",
            package: "wasm-bindgen-cli",
            // Its version must be the same as the crate's.
            version: paths::locked_version("wasm-bindgen")?,
            locked: false,
            features: &[],
        },
        Tool {
            program: "wasm-split-cli",
            package: "wasm_split_cli_support",
            version: WASM_SPLIT.to_owned(),
            locked: true,
            features: &["build-binary"],
        },
        Tool {
            program: "trunk",
            package: "trunk",
            version: TRUNK.to_owned(),
            locked: true,
            features: &[],
        },
    ])
}

/// The path of a tool's executable.
fn file(program: &str) -> PathBuf {
    paths::tools().join("bin").join(format!("{program}{}", std::env::consts::EXE_SUFFIX))
}

/// The command that starts a tool.
pub fn program(program: &str) -> String {
    file(program).to_string_lossy().into_owned()
}

impl Tool {
    pub fn path(&self) -> PathBuf {
        file(self.program)
    }

    /// The version installed under the target directory, if it runs.
    pub fn installed(&self) -> Option<String> {
        let path = self.path();
        if !path.is_file() {
            return None;
        }
        if let Some(text) = shell::output(Command::new(path).arg("--version")) {
            return Some(text.split_whitespace().nth(1)?.to_owned());
        }
        // Not all of them report their version; cargo recorded what it installed.
        let notes = fs::read_to_string(paths::tools().join(".crates.toml")).ok()?;
        Some(noted_version(&notes, self.package)?.to_owned())
    }

    pub fn is_there(&self) -> bool {
        self.installed().as_deref() == Some(&self.version)
    }

    fn log(&self) -> PathBuf {
        paths::log(&format!("install-{}", self.program))
    }

    /// Builds it. The output goes to a file because other steps run meanwhile.
    fn install(&self) -> Result {
        let mut command = shell::cargo();
        command
            .args(["install", self.package, "--version", &self.version, "--force", "--debug"])
            .arg("--root")
            .arg(paths::tools())
            .arg("--target-dir")
            .arg(paths::target().join("tools-build"))
            // Optimized for a short build, since nobody debugs it.
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        if self.locked {
            command.arg("--locked");
        }
        if !self.features.is_empty() {
            command.arg("--features").arg(self.features.join(","));
        }
        shell::run_logged(&mut command, &self.log())
    }
}

/// The version of `package` in cargo's record of what it installed.
fn noted_version<'a>(notes: &'a str, package: &str) -> Option<&'a str> {
    let start = format!("\"{package} ");
    notes.lines().find_map(|line| line.strip_prefix(&start)?.split(' ').next())
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

/// Whether this Rust installation can build for browsers.
pub fn has_wasm_target() -> bool {
    shell::output(Command::new("rustc").current_dir(paths::root()).args(["--print", "sysroot"]))
        .is_some_and(|sysroot| Path::new(&sysroot).join("lib/rustlib").join(WASM).is_dir())
}

/// Adds the wasm target to the active toolchain, if it is missing.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_notes_tell_versions() {
        let notes = "[v1]\n\"trunk-x 1.0.0 (registry+https://x)\" = [\"trunk-x\"]\n\
                     \"trunk 0.21.14 (registry+https://x)\" = [\"trunk\"]\n";
        assert_eq!(noted_version(notes, "trunk"), Some("0.21.14"));
        assert_eq!(noted_version(notes, "wasm"), None);
    }
}
