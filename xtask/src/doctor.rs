//! `cargo xtask doctor`: what is installed, what is missing, and which command installs it.

use std::process::Command;

use crate::{Options, Result, npm, paths, shell, stamp, tools};

/// The result of one check.
enum Finding {
    /// Present, in this version or place.
    There(String),
    /// Absent; our own commands install it.
    Later(String),
    /// Absent; a person must install it.
    Missing(String),
    /// Absent, but nothing requires it.
    Optional(String),
}

pub fn run(arguments: &[String]) -> Result {
    Options::parse(arguments, &[], &[], false)?;
    let mut missing = 0;
    for (name, finding) in findings()? {
        let (mark, text) = match finding {
            Finding::There(text) => ("there   ", text),
            Finding::Later(text) => ("later   ", text),
            Finding::Optional(text) => ("optional", text),
            Finding::Missing(text) => {
                missing += 1;
                ("MISSING ", text)
            }
        };
        println!("  {mark}  {name:<24} {text}");
    }
    if missing > 0 {
        return Err(format!("{missing} of the things above must be installed by hand."));
    }
    println!(
        "\nNothing stands in the way of `cargo xtask serve`. What says \"later\" it installs itself."
    );
    Ok(())
}

fn findings() -> Result<Vec<(&'static str, Finding)>> {
    let mut list = vec![
        ("Rust", version("rustc", "Install rustup from https://rustup.rs.")),
        ("C linker", linker()),
        ("git", version("git", "Install git.")),
        ("Node", npm::node().map_or_else(Finding::Missing, Finding::There)),
        ("npm", npm_version()),
        ("wasm target", wasm_target()),
    ];
    for tool in tools::all()? {
        list.push((
            tool.program,
            match tool.installed() {
                Some(version) if version == tool.version => {
                    Finding::There(format!("{version}, {}", tool.path().display()))
                }
                Some(version) => Finding::Later(format!("{version}, to be {}", tool.version)),
                None => Finding::Later(format!("{}: `cargo xtask serve` builds it", tool.version)),
            },
        ));
    }
    list.push((
        "npm packages of tests",
        if npm::packages_are_there() {
            Finding::There(paths::short(&paths::tests().join("node_modules")))
        } else {
            Finding::Later("`cargo xtask test` installs them".to_owned())
        },
    ));
    list.push(("browser for tests", browser()));
    list.push(("WebGPU engine", webgpu()));
    list.push(("rustfmt", component("rustfmt", "rustfmt")));
    list.push(("clippy", component("cargo-clippy", "clippy")));
    list.push(("target directory", Finding::There(paths::target().display().to_string())));
    Ok(list)
}

fn version(program: &str, advice: &str) -> Finding {
    match shell::output(Command::new(program).current_dir(paths::root()).arg("--version")) {
        Some(text) => Finding::There(text),
        None => Finding::Missing(advice.to_owned()),
    }
}

fn npm_version() -> Finding {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    version(program, "It comes with Node: install that from https://nodejs.org.")
}

/// This program was linked, so there was a linker; it may have been removed since.
fn linker() -> Finding {
    if cfg!(windows) {
        return Finding::There("the one Rust found".to_owned());
    }
    ["cc", "gcc", "clang"].iter().find_map(|name| shell::find_program(name)).map_or_else(
        || {
            Finding::Missing(
                "Install a C compiler: `apt install gcc`, `xcode-select --install`.".to_owned(),
            )
        },
        |path| Finding::There(path.display().to_string()),
    )
}

fn wasm_target() -> Finding {
    if tools::has_wasm_target() {
        Finding::There(tools::WASM.to_owned())
    } else if shell::find_program("rustup").is_some() {
        Finding::Later(format!("rustup target add {}", tools::WASM))
    } else {
        Finding::Missing("Install rustup from https://rustup.rs.".to_owned())
    }
}

fn component(program: &str, name: &str) -> Finding {
    match shell::output(Command::new(program).current_dir(paths::root()).arg("--version")) {
        Some(text) => Finding::There(text),
        None => Finding::Optional(format!("for `cargo xtask test`: rustup component add {name}")),
    }
}

fn browser() -> Finding {
    match npm::find_browser() {
        Some(path) if path.is_file() => Finding::There(path.display().to_string()),
        Some(path) => {
            Finding::Optional(format!("CHROME names {}, which is not a file", path.display()))
        }
        None => Finding::Later("`cargo xtask test` installs Chromium".to_owned()),
    }
}

fn webgpu() -> Finding {
    match stamp::webgpu_sources() {
        Some(sources) if stamp::sources().as_ref() == Ok(&sources) => {
            Finding::There(paths::webgpu().display().to_string())
        }
        Some(_) => Finding::Later("of older sources: `cargo xtask serve` builds it".to_owned()),
        None => Finding::Later("`cargo xtask serve` builds it behind the page".to_owned()),
    }
}
