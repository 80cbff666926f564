//! What must be installed before a verb can work, in the order that takes least time.

use std::{path::PathBuf, thread};

use crate::{Result, build, npm, shell, tools};

/// Everything that building the page needs.
///
/// The tools take minutes to build and are called only after the page's own code is compiled:
/// on a first run both are built side by side.
pub fn page() -> Result {
    tools::wasm_target()?;
    let missing = tools::missing()?;
    if missing.is_empty() {
        return Ok(());
    }
    thread::scope(|scope| {
        let installing = scope.spawn(|| tools::install(&missing));
        // A mistake in the page's code is Trunk's to report, in a moment.
        if let Err(sentence) = build::compile() {
            eprintln!("{sentence}");
        } else if !installing.is_finished() {
            shell::say("the page's code is compiled; waiting for the tools …");
        }
        installing.join().unwrap_or_else(|_| Err("installing the tools panicked.".to_owned()))
    })
}

/// Everything the browser tests need: the program of the browser.
pub fn browser_tests() -> Result<PathBuf> {
    npm::packages()?;
    npm::browser()
}
