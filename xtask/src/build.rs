//! Builds the page and its three engines.
//!
//! Trunk builds the app and the two CPU engines, one for the GPT lab and one for the chapters (see
//! index.html). The WebGPU engine takes far longer to compile, and not every browser can use it: it
//! is built here, and [`stamp`] adds it to a site if it was made from the present sources.

use std::{
    fs::{self, File, TryLockError},
    path::Path,
};

use crate::{
    Options, Result, paths,
    shell::{self, cargo},
    stamp,
    tools::{self, WASM},
};

/// The cargo arguments of the app. Trunk's build chooses the same profile, package and features
/// (see index.html), so that it finds its crates compiled.
const APP: &[&str] = &["--profile", "page", "--package", "unroll-app"];
/// The same for the CPU engines.
const CPU: &[&str] = &[
    "--profile",
    "engine",
    "--package",
    "unroll-engine",
    "--bin",
    "engine_cpu",
    "--bin",
    "engine_course",
    "--bin",
    "engine_given",
    "--features",
    "cpu",
];
/// The same for the WebGPU engine.
const WEBGPU: &[&str] =
    &["--release", "--package", "unroll-engine", "--bin", "engine_webgpu", "--features", "webgpu"];

const WASM_BUILD: &[&str] = &["build", "--locked", "--target", WASM];

/// Compiles the app and the CPU engines, without Trunk.
pub fn compile() -> Result {
    // The app first: it ends with a minute of linking on one core, during which the tools can
    // build.
    shell::step("compiling the app", || shell::run(cargo().args(WASM_BUILD).args(APP)))?;
    shell::step("compiling the CPU engines", || shell::run(cargo().args(WASM_BUILD).args(CPU)))
}

/// A `trunk` command that puts the site into `folder`.
pub fn trunk(verb: &str, folder: &Path, webgpu: bool) -> std::process::Command {
    let mut command = shell::command("trunk");
    command
        .args([verb, "--release", "--locked", "--skip-version-check", "--dist"])
        .arg(folder)
        // A backtrace of Trunk itself would bury the actual error.
        .env("RUST_BACKTRACE", "0")
        .env(stamp::NO_WEBGPU, if webgpu { "" } else { "1" });
    command
}

/// Builds the site into `folder`, including the WebGPU engine if `webgpu` is true. No other
/// `cargo xtask` changes that site while the returned file is open.
pub fn site(folder: &Path, webgpu: bool) -> Result<File> {
    let claim = claim(folder)?;
    if webgpu {
        self::webgpu()?;
    }
    shell::step("building the site", || shell::run(trunk("build", folder, webgpu).arg("--quiet")))?;
    Ok(claim)
}

/// Waits until no other process builds or uses the site in `folder`.
fn claim(folder: &Path) -> Result<File> {
    shell::create_folder(folder)?;
    // The lock is beside the folder because Trunk empties the folder.
    let path = folder.with_extension("lock");
    let trouble = |error| format!("{} can't be locked: {error}.", paths::short(&path));
    let file = File::create(&path).map_err(trouble)?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        shell::say(&format!("waiting for another `cargo xtask` that uses {}", folder.display()));
        file.lock().map_err(trouble)?;
    }
    Ok(file)
}

/// Builds the WebGPU engine into [`paths::webgpu`], where [`stamp`] finds it.
pub fn webgpu() -> Result {
    let sources = stamp::sources()?;
    // A target folder of its own, so that rebuilding the page while `serve` compiles this does not
    // wait for cargo's lock for a quarter of an hour.
    let own_target = paths::target().join("webgpu-build");
    shell::step("compiling the WebGPU engine (a first time takes 10 to 20 minutes)", || {
        let mut command = cargo();
        command.args(WASM_BUILD).args(WEBGPU).arg("--target-dir").arg(&own_target);
        // These flags replace those in .cargo/config.toml, which also holds flags for the page:
        // changing one of them must not cost a quarter of an hour here.
        command.env("CARGO_ENCODED_RUSTFLAGS", "-C\x1ftarget-feature=+simd128");
        shell::run(&mut command)
    })?;
    let wasm = own_target.join(WASM).join("release/engine_webgpu.wasm");
    let folder = paths::webgpu();
    if !is_newer(&folder.join(paths::WEBGPU_FILES[1]), &wasm) {
        shell::step("wasm-bindgen for the WebGPU engine", || {
            let mut command = shell::command(&tools::program("wasm-bindgen"));
            command.args(["--target", "web", "--no-typescript", "--out-dir"]);
            shell::run(command.arg(&folder).arg(&wasm))
        })?;
    }
    stamp::mark_webgpu(&sources)
}

/// Whether `made` exists and was written after `source`.
fn is_newer(made: &Path, source: &Path) -> bool {
    let written = |path| fs::metadata(path).and_then(|data| data.modified());
    matches!((written(made), written(source)), (Ok(made), Ok(source)) if made > source)
}

/// `cargo xtask webgpu`.
pub fn webgpu_verb(arguments: &[String]) -> Result {
    Options::parse(arguments, &[], &[], false)?;
    tools::wasm_target()?;
    tools::install(&tools::missing()?)?;
    webgpu()
}
