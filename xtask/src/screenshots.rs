//! `cargo xtask screenshots`: pictures of every view, for review.

use crate::{Options, Result, build, npm, paths, setup, shell};

pub fn run(arguments: &[String]) -> Result {
    let options = Options::parse(arguments, &[], &[], true)?;
    setup::page()?;
    let browser = setup::browser_tests()?;
    npm::node()?;
    // This is the site of `cargo xtask test`, so after a test it is already built. Headless
    // browsers have no GPU, so the WebGPU engine is not needed.
    let site = paths::site("test");
    let _claim = build::site(&site, false)?;
    let pictures = paths::target().join("screenshots");
    let mut command = shell::command("node");
    command
        .arg(paths::tests().join("views.mjs"))
        .arg(&pictures)
        .args(options.word)
        .env("UNROLL_SITE", &site)
        .env("UNROLL_CHROME", &browser);
    shell::run(&mut command)?;
    shell::say(&format!("the pictures are in {}", paths::short(&pictures)));
    Ok(())
}
