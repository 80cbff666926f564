//! `cargo xtask bench`: figures of this machine, natively and in its browser.
//!
//! Each measuring program prints one JSON object a line: `{"name": .., "unit": .., "median": ..,
//! "min": .., "max": ..}`. All of them, with the command that made each, go into
//! `<target>/bench.json`.

use std::{fs, process::Command};

use crate::{
    Options, Result, build, dist, paths, setup,
    shell::{self, cargo},
};

pub fn run(arguments: &[String]) -> Result {
    let options = Options::parse(arguments, &[], &["--runs"], false)?;
    let runs: u32 = options.number("--runs", 5)?;
    setup::page()?;
    let browser = setup::browser_tests()?;
    let mut figures = Figures::default();

    let mut native = cargo();
    native.args(["run", "--release", "--locked", "-p", "unroll-model", "--example", "bench"]);
    figures.take(&mut native, "cargo run --release -p unroll-model --example bench")?;

    // The WebGPU engine has no part in these figures: there is no GPU to time it on in a headless
    // browser.
    let site = paths::site("bench");
    let _claim = build::site(&site, false)?;
    let sizes = dist::measure(&site)?;
    let sized = "cargo xtask dist";
    figures.add("size/until-usable-cpu", "bytes, brotli", dist::first_load(&sizes), sized);
    figures.add("size/app-wasm", "bytes, brotli", dist::app_wasm(&sizes), sized);

    let mut page = shell::command("node");
    page.arg(paths::tests().join("bench.mjs"))
        .arg(runs.to_string())
        .env("UNROLL_SITE", &site)
        .env("UNROLL_CHROME", &browser);
    figures.take(&mut page, "node tests/bench.mjs")?;

    figures.print();
    let path = paths::target().join("bench.json");
    fs::write(&path, format!("[\n{}\n]\n", figures.0.join(",\n")))
        .map_err(|error| format!("{} can't be written: {error}.", path.display()))?;
    println!("\nAlso in {}", path.display());
    Ok(())
}

/// The figures so far, each a JSON object.
#[derive(Default)]
struct Figures(Vec<String>);

impl Figures {
    /// Runs a measuring program and keeps its figures. `shown` is what a person types for it.
    fn take(&mut self, command: &mut Command, shown: &str) -> Result {
        let mut lines = Vec::new();
        shell::step(shown, || {
            shell::run_lines(command, |line| {
                println!("{line}");
                if line.starts_with('{') && field(line, "name").is_some() {
                    lines.push(line.trim_end().to_owned());
                }
            })
        })?;
        for line in lines {
            let line = line.strip_suffix('}').unwrap_or(&line);
            self.0.push(format!("{line}, \"command\": \"{shown}\"}}"));
        }
        Ok(())
    }

    fn add(&mut self, name: &str, unit: &str, value: u64, shown: &str) {
        self.0.push(format!(
            "{{\"name\": \"{name}\", \"unit\": \"{unit}\", \"median\": {value}, \"min\": {value}, \
             \"max\": {value}, \"command\": \"{shown}\"}}"
        ));
    }

    fn print(&self) {
        println!("\n{:<44} {:>12} {:>12} {:>12}  unit", "figure", "median", "min", "max");
        for figure in &self.0 {
            let text = |key| field(figure, key).unwrap_or("-");
            let number = |key| match text(key).parse::<f64>() {
                Ok(value) if value.abs() < 1000.0 => format!("{value:.2}"),
                Ok(value) => format!("{value:.0}"),
                Err(_) => text(key).to_owned(),
            };
            println!(
                "{:<44} {:>12} {:>12} {:>12}  {}",
                text("name"),
                number("median"),
                number("min"),
                number("max"),
                text("unit")
            );
        }
    }
}

/// The value of `key` in a flat JSON object whose texts hold no quotes.
fn field<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = json.split_once(&format!("\"{key}\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => rest.split([',', '}']).next().map(str::trim),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read() {
        let json = r#"{"name":"gpt/native-1","unit": "ms/step", "median" : 150.5,"max":151}"#;
        assert_eq!(field(json, "name"), Some("gpt/native-1"));
        assert_eq!(field(json, "unit"), Some("ms/step"));
        assert_eq!(field(json, "median"), Some("150.5"));
        assert_eq!(field(json, "max"), Some("151"));
        assert_eq!(field(json, "min"), None);
    }
}
