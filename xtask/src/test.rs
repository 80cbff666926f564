//! `cargo xtask test`: everything that must pass before a change is kept.
//!
//! What runs on this machine is checked beside the building of the page, and every check runs even
//! if one fails. The browser tests come last: their summary ends the output.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Instant,
};

use crate::{
    Options, Result, build, native, npm, paths, setup,
    shell::{self, cargo, duration, say},
    tools::WASM,
    vectors, vulkan,
};

/// What is run, and its arguments.
type Runs = &'static [(&'static str, &'static [&'static str])];

/// What clippy checks: native code with its tests. The profiles are those of the builds, so that
/// both share what they compile for this machine.
const CLIPPY_NATIVE: Runs = &[
    (
        "clippy, native",
        &[
            "--release",
            "-p",
            "unroll-protocol",
            "-p",
            "unroll-kernels",
            "-p",
            "unroll-model",
            "-p",
            "unroll-model-file",
            "-p",
            "xtask",
            "--all-targets",
        ],
    ),
    (
        "clippy, native engine",
        &["--release", "-p", "unroll-engine", "--lib", "--tests", "--features", "cpu"],
    ),
    ("clippy, engine outside the browser", &["--release", "-p", "unroll-native", "--all-targets"]),
    ("clippy, native app", &["-p", "unroll-app", "--tests"]),
];

/// The same for what browsers run.
const CLIPPY_WASM: Runs = &[
    ("clippy, wasm app", &["--profile", "page", "-p", "unroll-app", "--target", WASM]),
    (
        "clippy, wasm CPU engine",
        &[
            "--profile",
            "engine",
            "-p",
            "unroll-engine",
            "--lib",
            "--bins",
            "--features",
            "cpu",
            "--target",
            WASM,
        ],
    ),
];

/// The same for the WebGPU engine, which takes minutes on a first run because of its many crates.
const CLIPPY_WEBGPU: Runs = &[(
    "clippy, wasm WebGPU engine",
    &[
        "--release",
        "-p",
        "unroll-engine",
        "--lib",
        "--bins",
        "--features",
        "webgpu",
        "--target",
        WASM,
    ],
)];

/// The native tests, as arguments of `cargo test`. Those of the app compute very little, and
/// compile much faster without optimization.
const NATIVE: Runs = &[
    (
        "tests of kernels, protocol, model, model-file, xtask",
        &[
            "--release",
            "-p",
            "unroll-kernels",
            "-p",
            "unroll-protocol",
            "-p",
            "unroll-model",
            "-p",
            "unroll-model-file",
            "-p",
            "xtask",
        ],
    ),
    (
        "tests of the engine",
        &["--release", "-p", "unroll-engine", "--lib", "--tests", "--features", "cpu"],
    ),
    ("tests of the engine outside the browser", &["--release", "-p", "unroll-native"]),
    ("tests of the app", &["-p", "unroll-app"]),
];

/// The phases so far.
#[derive(Default)]
struct Phases(Vec<(String, f64, Option<String>)>);

impl Phases {
    /// Runs a phase; returns false if it failed.
    fn run(&mut self, name: &str, work: impl FnOnce() -> Result) -> bool {
        say(name);
        let start = Instant::now();
        let failure = work().err();
        let elapsed = start.elapsed();
        if let Some(sentence) = &failure {
            eprintln!("{sentence}");
        }
        let outcome = if failure.is_none() { "passed in" } else { "FAILED after" };
        say(&format!("{name}: {outcome} {}", duration(elapsed)));
        let good = failure.is_none();
        self.0.push((name.to_owned(), elapsed.as_secs_f64(), failure));
        good
    }

    fn clippy(&mut self, runs: Runs) {
        for (name, arguments) in runs {
            self.run(name, || {
                let mut command = cargo();
                command.args(["clippy", "--locked"]).args(*arguments);
                shell::run(command.args(["--", "-D", "warnings"]))
            });
        }
    }

    fn print(&self) {
        println!();
        for (name, seconds, failure) in &self.0 {
            let outcome = if failure.is_none() { "passed" } else { "FAILED" };
            println!("  {outcome}  {seconds:>7.1} s  {name}");
        }
        println!();
    }

    /// The failed phases, as the error of the whole run.
    fn result(&self) -> Result {
        let failed: Vec<&str> =
            self.0.iter().filter(|phase| phase.2.is_some()).map(|phase| phase.0.as_str()).collect();
        if failed.is_empty() {
            return Ok(());
        }
        Err(format!("failed: {}.", failed.join("; ")))
    }
}

pub fn run(arguments: &[String]) -> Result {
    let options = Options::parse(arguments, &["--no-webgpu"], &[], true)?;
    let webgpu = !options.has("--no-webgpu");
    let filter = options.word.as_deref();
    if filter == Some("vulkan") {
        return vulkan::run();
    }

    let mut browser = None;
    let mut phases = Phases::default();
    let ready = phases.run("set-up", || {
        setup::page()?;
        browser = Some(setup::browser_tests()?);
        Ok(())
    });
    if !ready {
        return phases.result();
    }
    let site = paths::site("test");
    // Compiling the page keeps one core busy for minutes. What runs on this machine goes on beside
    // it: cargo locks each target's and profile's folder by itself, and the two lanes share none
    // for long. The browser tests wait for both, so that nothing slows them.
    let (page, native) = thread::scope(|scope| {
        let page = scope.spawn(|| page_lane(&site, webgpu, filter));
        let native = native_lane(webgpu, filter);
        (page.join().unwrap_or_default(), native)
    });
    phases.0.extend(native.phases.0);
    phases.0.extend(page.phases.0);
    phases.print();
    let Some(browser) = browser.filter(|_| page.made.is_some()) else { return phases.result() };
    say("tests in the browser");
    // Nothing is printed after Node's summary if everything passed: CI reads the last lines.
    let passed = browser_tests(&site, &browser, native.made.as_deref(), webgpu, filter);
    phases.result().and(passed)
}

/// What ran in one of the lanes, and what it made, unless that failed.
struct Lane<T> {
    phases: Phases,
    made: Option<T>,
}

impl<T> Default for Lane<T> {
    /// A lane that panicked.
    fn default() -> Self {
        let failure = Some("A part of `cargo xtask test` panicked.".to_owned());
        Self { phases: Phases(vec![("the site".to_owned(), 0.0, failure)]), made: None }
    }
}

/// What browsers run: checked, and built into `site`. No other run changes the site while the file
/// is open.
fn page_lane(site: &Path, webgpu: bool, filter: Option<&str>) -> Lane<File> {
    let mut lane = Lane { phases: Phases::default(), made: None };
    if filter.is_none() {
        lane.phases.clippy(CLIPPY_WASM);
    }
    lane.phases.run("site", || {
        lane.made = Some(build::site(site, webgpu)?);
        Ok(())
    });
    if lane.made.is_some() {
        lane.phases
            .run("vector instructions", || vectors::check(&paths::compiled("engine_course")));
    }
    lane
}

/// What this machine runs: checked, tested, and the engine outside the browser built.
fn native_lane(webgpu: bool, filter: Option<&str>) -> Lane<PathBuf> {
    let mut lane = Lane { phases: Phases::default(), made: None };
    let phases = &mut lane.phases;
    if filter.is_none() {
        phases.run("rustfmt", || shell::run(cargo().args(["fmt", "--all", "--check"])));
        phases.clippy(CLIPPY_NATIVE);
        // In this lane because its build scripts are compiled into the same folder.
        phases.clippy(if webgpu { CLIPPY_WEBGPU } else { &[] });
    }
    for (name, arguments) in NATIVE {
        phases.run(name, || {
            let mut command = cargo();
            command.args(["test", "--locked"]).args(*arguments);
            shell::run(command.args(filter))
        });
    }
    if filter.is_none() {
        python_checks(phases);
    }
    phases.run("engine outside the browser", || {
        lane.made = Some(native::compile(false)?);
        Ok(())
    });
    lane
}

/// An empty folder for what Python is to check: what is made no more must not be checked.
fn fresh(name: &str) -> Result<PathBuf> {
    let folder = paths::target().join(name);
    let _ = fs::remove_dir_all(&folder);
    shell::create_folder(&folder)?;
    Ok(folder)
}

/// Runs the course's own Python where there is a PyTorch to run it.
fn python_checks(phases: &mut Phases) {
    let python = env::var_os("UNROLL_PYTHON").unwrap_or_else(|| "python3".into());
    if !shell::can_import(&python, "torch") {
        say(&format!(
            "code, notebooks, train.py and model files: skipped, {} can't import torch",
            python.display()
        ));
        return;
    }
    let script = |name: &str| {
        let mut command = Command::new(&python);
        command.arg(paths::tests().join("golden").join(name));
        command
    };
    phases.run("code beside the formulas", || shell::run(&mut script("check_code.py")));
    let app_tests = |tests: &str, variable: &str, folder: &Path| {
        let mut command = cargo();
        command.args(["test", "--locked", "-p", "unroll-app", tests]);
        shell::run(command.env(variable, folder))
    };
    // Tests of the app write files where this variable says, and a script looks at them.
    let written = |folder: &str, tests: &str, variable: &str, checker: &str| -> Result<PathBuf> {
        let folder = fresh(folder)?;
        app_tests(tests, variable, &folder)?;
        shell::run(script(checker).arg(&folder))?;
        Ok(folder)
    };
    phases.run("notebooks", || {
        written("notebooks", "notebook", "UNROLL_NOTEBOOKS", "check_notebooks.py").map(drop)
    });
    if shell::can_import(&python, "safetensors, tokenizers") {
        phases.run("a run taken to PyTorch", || {
            let variable = "UNROLL_RUNS";
            let folder = written("runs", "runs_for_pytorch", variable, "check_train.py")?;
            // And back: what the script wrote is opened.
            app_tests("runs_from_pytorch", variable, &folder)
        });
    } else {
        say(&format!(
            "train.py: skipped, {} can't import safetensors and tokenizers",
            python.display()
        ));
    }
    if !shell::can_import(&python, "transformers, safetensors") {
        say(&format!(
            "model files: skipped, {} can't import transformers and safetensors",
            python.display()
        ));
        return;
    }
    phases.run("model files", || {
        let tests = "model_files_for_pytorch";
        written("model-files", tests, "UNROLL_MODEL_FILES", "check_model_file.py").map(drop)
    });
}

/// Runs tests/*.test.mjs, two files at once, each a process of Node's test runner. A filter that is
/// part of a file name selects that file; any other filter is a pattern for the names of tests.
fn browser_tests(
    site: &Path,
    browser: &Path,
    engine: Option<&Path>,
    webgpu: bool,
    filter: Option<&str>,
) -> Result {
    let mut files = test_files()?;
    let mut command = shell::command("node");
    command
        .arg("in-order.mjs")
        .current_dir(paths::tests())
        .env("UNROLL_SITE", site)
        .env("UNROLL_CHROME", browser)
        .env("UNROLL_ENGINE", engine.unwrap_or_else(|| Path::new("")))
        .env("UNROLL_WEBGPU", if webgpu { "1" } else { "" })
        // Who runs a part of them is at work on it, and wants to see what fails, however seldom.
        .env("UNROLL_SECOND_TRY", if filter.is_none() { "1" } else { "" });
    if let Some(filter) = filter {
        if files.iter().any(|file| file.contains(filter)) {
            files.retain(|file| file.contains(filter));
        } else {
            command.arg(format!("--test-name-pattern={filter}"));
        }
    }
    npm::node()?;
    shell::run(command.args(files))
}

/// The files that begin first: those that leave a core partly idle, then the longest. At the end they
/// would run alone.
const FIRST: &[&str] = &["webgpu", "run_folder", "stage", "course"];

/// The browser tests, as they begin.
fn test_files() -> Result<Vec<String>> {
    let trouble = |error| format!("tests/ can't be read: {error}.");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(paths::tests()).map_err(trouble)? {
        let name = entry.map_err(trouble)?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".test.mjs") {
            files.push(name);
        }
    }
    files.sort_by_key(|name| {
        let first = FIRST.iter().position(|first| name.starts_with(first));
        (first.unwrap_or(FIRST.len()), name.clone())
    });
    Ok(files)
}
