//! `cargo xtask bench`: benchmarks on this machine, natively and in its browser, compared with
//! other libraries.
//!
//! Each benchmark program prints one JSON object per line:
//! `{"name": .., "unit": .., "median": .., "min": .., "max": ..}`. All of them, with the command
//! that produced each, are written to `<target>/bench.json`.

use std::{env, fs, path::PathBuf, process::Command};

use crate::{
    Options, Result, build, dist, npm, paths, setup,
    shell::{self, cargo},
};

/// The program that runs our native steps.
const NATIVE: &str = "bench_rounds";
/// The one that measures what it costs to record a run's moments.
const MOMENTS: &str = "bench_moments";

pub fn run(arguments: &[String]) -> Result {
    let valued = ["--runs", "--rounds", "--only", "--python"];
    let options = Options::parse(arguments, &["--quick"], &valued, false)?;
    let runs: u32 = options.number("--runs", 5)?;
    let rounds: u32 = options.number("--rounds", 3)?;
    let only: String = options.number("--only", String::new())?;
    let given: PathBuf = options
        .number("--python", PathBuf::from(env::var_os("UNROLL_PYTHON").unwrap_or_default()))?;
    let quick = options.has("--quick");
    setup::page()?;
    let browser = setup::browser_tests()?;
    if let Err(sentence) = npm::peers() {
        shell::say(&format!("without jax-js and TensorFlow.js: {sentence}"));
    }
    let mut figures = Figures::default();

    let built = format!("cargo build --release -p unroll-model --example {NATIVE}");
    shell::step(&built, || {
        let arguments = ["build", "--release", "--locked", "-p", "unroll-model", "--example"];
        shell::run(cargo().args(arguments).arg(NATIVE))
    })?;
    // The WebGPU engine is not measured: a headless browser has no GPU to time it on.
    let site = paths::site("bench");
    let _claim = build::site(&site, false)?;
    let node = |script: &str| {
        let mut command = shell::command("node");
        command
            .arg(paths::tests().join(script))
            .env("UNROLL_SITE", &site)
            .env("UNROLL_CHROME", &browser);
        command
    };

    let native = format!("release/examples/{NATIVE}{}", env::consts::EXE_SUFFIX);
    let mut training = node("bench-training.mjs");
    training
        .args(["--rounds", &rounds.to_string(), "--only", &only])
        .args(quick.then_some("--quick"))
        .env("UNROLL_NATIVE", paths::target().join(native))
        .env("UNROLL_PYTHON", torch(given).unwrap_or_default());
    let ratios = figures.take(&mut training, "node tests/bench-training.mjs")?;

    if !quick && only.is_empty() {
        let sizes = dist::measure(&site)?;
        let sized = "cargo xtask dist";
        let until_usable = dist::first_load(&sizes);
        figures.add("size/until-usable-cpu", "bytes, brotli", until_usable, sized);
        figures.add("size/app-wasm", "bytes, brotli", dist::app_wasm(&sizes), sized);
        let shown = format!("cargo run --release -p unroll-engine --example {MOMENTS}");
        let run = ["run", "--release", "--locked", "-p", "unroll-engine", "--example", MOMENTS];
        figures.take(cargo().args(run), &shown)?;
        let mut page = node("bench.mjs");
        figures.take(page.arg(runs.to_string()), "node tests/bench.mjs")?;
    }

    figures.print();
    for line in ratios {
        println!("{line}");
    }
    let path = paths::target().join("bench.json");
    fs::write(&path, format!("[\n{}\n]\n", figures.0.join(",\n")))
        .map_err(|error| format!("{} can't be written: {error}.", path.display()))?;
    println!("\nAlso in {}", path.display());
    Ok(())
}

/// The given Python, if it has PyTorch.
fn torch(python: PathBuf) -> Option<PathBuf> {
    if python.as_os_str().is_empty() {
        return None;
    }
    let found = shell::can_import(python.as_ref(), "torch");
    if !found {
        shell::say(&format!("without PyTorch: {} can't import torch", python.display()));
    }
    found.then_some(python)
}

/// The results so far, each a JSON object.
#[derive(Default)]
struct Figures(Vec<String>);

impl Figures {
    /// Runs a benchmark program and keeps its results. `shown` is the command a person would type.
    /// Returns everything else it printed.
    fn take(&mut self, command: &mut Command, shown: &str) -> Result<Vec<String>> {
        let (mut lines, mut rest) = (Vec::new(), Vec::new());
        shell::step(shown, || {
            shell::run_lines(command, |line| {
                if line.starts_with('{') && field(line, "name").is_some() {
                    println!("{line}");
                    lines.push(line.trim_end().to_owned());
                } else {
                    rest.push(line.to_owned());
                }
            })
        })?;
        for line in lines {
            let line = line.strip_suffix('}').unwrap_or(&line);
            self.0.push(format!("{line}, \"command\": \"{shown}\"}}"));
        }
        Ok(rest)
    }

    fn add(&mut self, name: &str, unit: &str, value: u64, shown: &str) {
        self.0.push(format!(
            "{{\"name\": \"{name}\", \"unit\": \"{unit}\", \"median\": {value}, \"min\": {value}, \
             \"max\": {value}, \"command\": \"{shown}\"}}"
        ));
    }

    fn print(&self) {
        println!("\n{:<44} {:>12} {:>12} {:>12}  unit", "figure", "median", "min", "max");
        // Ratios have a table of their own.
        for figure in self.0.iter().filter(|figure| field(figure, "unit") != Some("ratio")) {
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
