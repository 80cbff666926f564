//! `cargo xtask engine`: the engine outside the browser, and the page that talks to it.

use std::{fs, path::PathBuf, process::Command};

use crate::{
    Options, Result, build, paths, setup,
    shell::{self, cargo, say},
    stamp,
};

/// The cargo arguments of that engine.
pub const PACKAGE: &[&str] = &["--release", "--package", "unroll-native"];
/// What the page is made of besides the engines' sources.
const PAGE_FILES: [&str; 7] = [
    "app/Cargo.toml",
    "docs/train.py",
    "engine/native.js",
    "engine/worker.js",
    "index.html",
    "Trunk.toml",
    "xtask/Cargo.toml",
];
const PAGE_FOLDERS: [&str; 3] = ["app/src", "assets", "xtask/src"];

pub fn run(arguments: &[String]) -> Result {
    let options =
        Options::parse(arguments, &[], &["--port", "--threads", "--listen", "--device"], false)?;
    check_device(options.text("--device").unwrap_or("auto"))?;
    let port = options.number("--port", 8090_u16)?;
    say("the page and the engine are built first: up to 15 minutes the first time, seconds later");
    let site = page()?;
    let program = compile()?;
    let mut command = Command::new(program);
    command.arg("--site").arg(&site).args(["--port", &port.to_string()]);
    for name in ["--threads", "--listen"] {
        if let Some(value) = options.text(name) {
            command.args([name, value]);
        }
    }
    println!();
    shell::run(&mut command)
}

/// There is one device for now.
fn check_device(device: &str) -> Result {
    match device {
        "auto" | "cpu" => Ok(()),
        _ => Err(format!(
            "--device is auto or cpu, not `{device}`: this engine has no GPU backend yet. In the \
             browser, the page uses the GPU through WebGPU."
        )),
    }
}

/// Compiles the engine for this machine. Returns its program.
pub fn compile() -> Result<PathBuf> {
    shell::step("compiling the engine for this computer", || {
        shell::run(cargo().args(["build", "--locked"]).args(PACKAGE))
    })?;
    let name = format!("unroll-native{}", std::env::consts::EXE_SUFFIX);
    Ok(paths::target().join("release").join(name))
}

/// The page, built unless that was done from the same sources before.
fn page() -> Result<PathBuf> {
    let site = paths::site("native");
    let mark = site.with_extension("sources");
    let sources = sources()?;
    let built = fs::read_to_string(&mark).is_ok_and(|built| built == sources);
    if built && site.join("index.html").is_file() {
        return Ok(site);
    }
    setup::page()?;
    // Without the WebGPU engine: whoever wants that needs no native one.
    build::site(&site, false)?;
    fs::write(&mark, sources)
        .map_err(|error| format!("{} can't be written: {error}.", paths::short(&mark)))?;
    Ok(site)
}

/// A hash of everything the page is made from.
fn sources() -> Result<String> {
    let mut files: Vec<PathBuf> = PAGE_FILES.map(|name| paths::root().join(name)).into();
    for folder in PAGE_FOLDERS {
        stamp::list(&paths::root().join(folder), &mut files)?;
    }
    files.sort();
    let mut hash = stamp::Hash::new();
    for file in files {
        hash.file(&paths::short(&file).replace('\\', "/"), &file)?;
    }
    Ok(format!("{} {}", stamp::sources()?, hash.text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_named() {
        assert_eq!(check_device("cpu"), Ok(()));
        assert!(check_device("cuda").unwrap_err().contains("`cuda`"));
    }

    #[test]
    fn equal_sources_have_equal_names() {
        assert_eq!(sources().unwrap(), sources().unwrap());
    }
}
