//! `cargo xtask screenshots`: pictures of every view, for review; with `--readme` those of README.

use crate::{Options, Result, build, npm, paths, setup, shell};

const README: &str = "--readme";

pub fn run(arguments: &[String]) -> Result {
    let options = Options::parse(arguments, &[README], &[], true)?;
    setup::page()?;
    let browser = setup::browser_tests()?;
    npm::node()?;
    // This is the site of `cargo xtask test`, so after a test it is already built. Headless
    // browsers have no GPU, so the WebGPU engine is not needed.
    let site = paths::site("test");
    let _claim = build::site(&site, false)?;
    let pictures = match options.has(README) {
        true => paths::root().join("assets/readme"),
        false => paths::target().join("screenshots"),
    };
    let mut command = shell::command("node");
    if options.has(README) {
        command.arg(paths::tests().join("readme.mjs"));
    } else {
        command.arg(paths::tests().join("views.mjs")).arg(&pictures).args(options.word);
    }
    command.env("UNROLL_SITE", &site).env("UNROLL_CHROME", &browser);
    shell::run(&mut command)?;
    shell::say(&format!("the pictures are in {}", paths::short(&pictures)));
    Ok(())
}
