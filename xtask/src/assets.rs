//! `cargo xtask corpora`: writes the generated files in assets/.

use std::{fs, path::PathBuf};

use crate::{Options, Result, corpora, paths, shell};

/// Where the generated texts are committed.
fn folder() -> PathBuf {
    paths::root().join("assets/corpora")
}

pub fn run(arguments: &[String]) -> Result {
    Options::parse(arguments, &[], &[], false)?;
    shell::create_folder(&folder())?;
    for (name, generate) in corpora::FILES {
        let path = folder().join(name);
        let text = generate();
        let old = fs::read_to_string(&path).ok();
        let outcome = if old.as_ref() == Some(&text) { "unchanged" } else { "written" };
        fs::write(&path, &text)
            .map_err(|error| format!("{} can't be written: {error}.", paths::short(&path)))?;
        println!("{:<28} {:>7} bytes, {outcome}", paths::short(&path), text.len());
    }
    Ok(())
}
