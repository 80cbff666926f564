//! Installs what a verb needs, in the order that takes least time.

use std::{path::PathBuf, process::Command, thread};

use crate::{Result, build, npm, paths, shell, tools};

/// Everything that building the page needs.
///
/// The tools take minutes to build and are needed only after the page's own code is compiled, so on
/// a first run both are built in parallel.
pub fn page() -> Result {
    tools::wasm_target()?;
    let missing = tools::missing()?;
    if missing.is_empty() {
        return Ok(());
    }
    thread::scope(|scope| {
        let installing = scope.spawn(|| tools::install(&missing));
        // Trunk will report an error in the page's code in a moment.
        if let Err(sentence) = build::compile() {
            eprintln!("{sentence}");
        } else if !installing.is_finished() {
            shell::say("the page's code is compiled; waiting for the tools …");
        }
        installing.join().unwrap_or_else(|_| Err("installing the tools panicked.".to_owned()))
    })
}

/// Everything the browser tests need. Returns the browser's executable.
pub fn browser_tests() -> Result<PathBuf> {
    npm::packages()?;
    npm::browser()
}

/// Installs a package of Debian or Ubuntu, which only root may.
pub fn apt_get(package: &str) -> Result {
    shell::step(&format!("apt-get install {package}"), || {
        let log = paths::log("apt");
        let mut update = shell::command("apt-get");
        shell::run_logged(update.arg("update"), &log)?;
        let mut install = shell::command("apt-get");
        install
            .args(["install", "--yes", "--no-install-recommends", package])
            .env("DEBIAN_FRONTEND", "noninteractive");
        shell::run_logged(&mut install, &log)
    })
}

pub fn is_root() -> bool {
    shell::output(Command::new("id").arg("-u")).as_deref() == Some("0")
}
