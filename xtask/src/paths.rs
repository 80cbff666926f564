//! Where things lie.

use std::{
    env,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use crate::tools::WASM;

/// The repository.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        // Cargo sets the variable when it runs this; the compiled-in value serves the binary
        // started by hand.
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        manifest.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
    });
    &ROOT
}

/// Cargo's target directory, in which everything made here lies: `CARGO_TARGET_DIR`, else the one
/// this program was built into (a `config.toml` may have moved it), else `target`.
pub fn target() -> &'static Path {
    static TARGET: LazyLock<PathBuf> = LazyLock::new(|| {
        if let Some(given) = env::var_os("CARGO_TARGET_DIR").filter(|given| !given.is_empty()) {
            // Cargo takes a relative one from the current directory.
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

/// Programs of our own versions: `bin` of this goes on the PATH of whatever is run here.
pub fn tools() -> PathBuf {
    target().join("tools")
}

/// The WebGPU engine's files, as they lie beside index.html.
pub const WEBGPU_FILES: [&str; 2] = ["engine_webgpu.js", "engine_webgpu_bg.wasm"];

/// The WebGPU engine as the browser gets it.
pub fn webgpu() -> PathBuf {
    target().join("webgpu")
}

/// A CPU engine as the compiler leaves it, with the names of its functions.
pub fn compiled(engine: &str) -> PathBuf {
    target().join(WASM).join("engine").join(format!("{engine}.wasm"))
}

/// A built site; each use has its own, so that testing does not pull the page from under `serve`.
pub fn site(name: &str) -> PathBuf {
    target().join("site").join(name)
}

/// What the long steps said.
pub fn log(name: &str) -> PathBuf {
    target().join("logs").join(format!("{name}.log"))
}

/// The browser tests and their npm packages.
pub fn tests() -> PathBuf {
    root().join("tests")
}

/// `path` as a person at the repository's root would type it.
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
