//! Where files are.

use std::{
    env,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use crate::tools::WASM;

/// The repository.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        // Cargo sets the variable when it runs this program; the compiled-in value is for running
        // the binary directly.
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        manifest.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
    });
    &ROOT
}

/// Cargo's target directory, which holds everything built here: `CARGO_TARGET_DIR`, else the one
/// this program was built into (a `config.toml` may have moved it), else `target`.
pub fn target() -> &'static Path {
    static TARGET: LazyLock<PathBuf> = LazyLock::new(|| {
        if let Some(given) = env::var_os("CARGO_TARGET_DIR").filter(|given| !given.is_empty()) {
            // Cargo resolves a relative path from the current directory.
            return std::path::absolute(&given).unwrap_or_else(|_| given.into());
        }
        env::current_exe()
            .ok()
            .and_then(|exe| exe.ancestors().nth(2).map(Path::to_path_buf))
            .filter(|dir| dir.join("CACHEDIR.TAG").is_file())
            .unwrap_or_else(|| root().join("target"))
    });
    &TARGET
}

/// Tools in the versions we need: the `bin` folder in here is on the PATH of every command.
pub fn tools() -> PathBuf {
    target().join("tools")
}

/// The files of the WebGPU engine, as they appear beside index.html.
pub const WEBGPU_FILES: [&str; 2] = ["engine_webgpu.js", "engine_webgpu_bg.wasm"];

/// The WebGPU engine in the form that browsers get.
pub fn webgpu() -> PathBuf {
    target().join("webgpu")
}

/// A CPU engine as the compiler wrote it, with function names.
pub fn compiled(engine: &str) -> PathBuf {
    target().join(WASM).join("engine").join(format!("{engine}.wasm"))
}

/// A built site. Each use has its own, so that testing does not replace the page that `serve`
/// shows.
pub fn site(name: &str) -> PathBuf {
    target().join("site").join(name)
}

/// The log file of a long step.
pub fn log(name: &str) -> PathBuf {
    target().join("logs").join(format!("{name}.log"))
}

/// The browser tests and their npm packages.
pub fn tests() -> PathBuf {
    root().join("tests")
}

/// `path` as a person in the repository's root would type it.
pub fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The version of `package` in Cargo.lock.
pub fn locked_version(package: &str) -> crate::Result<String> {
    let path = root().join("Cargo.lock");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        format!("Cargo.lock can't be read ({error}): `git checkout Cargo.lock` brings it back.")
    })?;
    find_locked(&text, package)
        .ok_or_else(|| format!("Cargo.lock has no package `{package}`: is it complete?"))
}

fn find_locked(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.next()?;
    let version = lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_by_whole_name() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.0.0\"\ndependencies = [\n \"a\",\n]\n\n\
                    [[package]]\nname = \"a\"\nversion = \"2.3.4\"\n";
        assert_eq!(find_locked(lock, "a").as_deref(), Some("2.3.4"));
        assert_eq!(find_locked(lock, "b"), None);
        assert!(locked_version("wasm-bindgen").unwrap().starts_with("0.2."));
    }

    #[test]
    fn the_root_is_the_workspace() {
        assert!(root().join("xtask").is_dir());
    }
}
