//! `cargo xtask serve`: serves the page on this machine, and rebuilds it when its sources change.
//!
//! Trunk serves the app and the CPU engines, which is all a page needs. The WebGPU engine is
//! compiled in the background, and again whenever the engine's sources have been unchanged for a
//! while after an edit.

use std::{
    env,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    Options, Result, build, paths, setup,
    shell::{self, Background, duration, say},
    stamp,
    tools::{self, WASM},
};

/// How long sources must be unchanged before the WebGPU engine is built from them.
const REST: Duration = Duration::from_secs(5);

pub fn run(arguments: &[String]) -> Result {
    let start = Instant::now();
    let options = Options::parse(arguments, &["--no-open", "--no-webgpu"], &["--port"], false)?;
    let port = options.number("--port", 8080)?;
    let webgpu = !options.has("--no-webgpu");
    check_free(port)?;
    let cold = !tools::has_wasm_target() || !tools::missing()?.is_empty();
    setup::page()?;

    // One folder per port, so that two of these can run at once.
    let site = paths::site(&format!("serve-{port}"));
    shell::create_folder(&site)?;
    shell::catch_stop();
    let port_text = port.to_string();
    let mut command = build::trunk("serve", &site, webgpu);
    command.args(["--address", "127.0.0.1", "--port", &port_text, "--disable-address-lookup"]);
    let mut trunk = Background::spawn(&mut command)?;
    if !wait_for_page(&mut trunk, port)? {
        return Ok(());
    }
    let url = format!("http://127.0.0.1:{port}/");
    if !options.has("--no-open") {
        open(&url);
    }
    let kind = if cold { "cold start: page" } else { "page" };
    say(&format!("{kind} open after {} at {url} (Ctrl-C stops it)", duration(start.elapsed())));

    let mut engine = webgpu.then(WebGpu::new);
    while !shell::stop_requested() {
        if let Some(status) = trunk.ended() {
            return Err(format!("`trunk serve` ended ({status}); what it said is above."));
        }
        if let Some(engine) = &mut engine {
            engine.look(&site);
        }
        // React to Ctrl-C at once, but check the sources only about once a second.
        for _ in 0..10 {
            if !shell::stop_requested() {
                thread::sleep(Duration::from_millis(100));
            }
        }
    }
    say("stopping");
    Ok(())
}

/// Fails if something else already answers at `port`.
fn check_free(port: u16) -> Result {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(drop).map_err(|error| {
        format!("Port {port} can't be used ({error}). Choose another: `--port {}`.", port ^ 1)
    })
}

/// Waits until the page is served; returns false if it was stopped before.
fn wait_for_page(trunk: &mut Background, port: u16) -> Result<bool> {
    let mut told = false;
    while !shell::stop_requested() {
        if let Some(status) = trunk.ended() {
            return Err(format!("`trunk serve` ended ({status}); what it said is above."));
        }
        match get_page(port) {
            Some(answer) if answer.contains(" 200 ") && answer.contains("unroll-build") => {
                return Ok(true);
            }
            // Trunk starts to serve after its first build, even if that failed.
            Some(_) if !told => {
                told = true;
                say("the first build failed, see above; Trunk tries again when a file is saved");
            }
            _ => {}
        }
        thread::sleep(Duration::from_millis(150));
    }
    Ok(false)
}

/// The server's response to a browser's request, if there is one yet.
fn get_page(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let request = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    Some(String::from_utf8_lossy(&answer).into_owned())
}

/// Opens `url` in the person's browser, or asks them to.
fn open(url: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let url = url.to_owned();
    // Some openers keep running until the browser is closed.
    thread::spawn(move || {
        if !command.status().is_ok_and(|status| status.success()) {
            say(&format!("no browser could be started from here: open {url} yourself"));
        }
    });
}

/// The WebGPU engine, kept up to date with its sources.
struct WebGpu {
    /// Hash of the sources at the last check, and since when they have been unchanged.
    sources: String,
    since: Instant,
    /// The sources that did not compile: there is no second attempt before they change.
    failed: Option<String>,
    /// The build in progress.
    build: Option<Build>,
}

struct Build {
    program: Background,
    start: Instant,
    said: Instant,
    sources: String,
    crates: Option<usize>,
}

impl WebGpu {
    fn new() -> Self {
        let sources = stamp::sources().unwrap_or_default();
        let since = Instant::now().checked_sub(REST).unwrap_or_else(Instant::now);
        Self { sources, since, failed: None, build: None }
    }

    /// Starts, follows or ends a build, depending on the present state.
    fn look(&mut self, site: &Path) {
        // An unreadable file is one that is just being saved.
        let Ok(now) = stamp::sources() else { return };
        if now != self.sources {
            self.sources = now;
            self.since = Instant::now();
        }
        if let Some(mut build) = self.build.take() {
            if build.sources != self.sources {
                say(
                    "WebGPU engine: its sources changed; stopped, to start again with the new ones",
                );
            } else if let Some(status) = build.program.ended() {
                self.finish(&build, status.success(), site);
            } else {
                build.report();
                self.build = Some(build);
            }
        } else if stamp::webgpu_sources().as_ref() != Some(&self.sources)
            && self.failed.as_ref() != Some(&self.sources)
            && self.since.elapsed() >= REST
        {
            self.build = Build::start(&self.sources)
                .inspect_err(|sentence| {
                    say(&format!("WebGPU engine: {sentence}"));
                    self.failed = Some(self.sources.clone());
                })
                .ok();
        }
    }

    fn finish(&mut self, build: &Build, success: bool, site: &Path) {
        if !success {
            self.failed = Some(build.sources.clone());
            let sentence = "WebGPU engine: its build failed; the page works on the CPU. \
                            What it said is above.";
            say(&shell::with_tail(sentence, &log()));
            return;
        }
        match stamp::apply(site) {
            Ok(true) => say(&format!(
                "WebGPU engine: ready after {}; reload the page to use it",
                duration(build.start.elapsed())
            )),
            // Trunk is just installing a new build, and adds the engine itself.
            Ok(false) | Err(_) => say("WebGPU engine: ready; part of the page's next build"),
        }
    }
}

impl Build {
    fn start(sources: &str) -> Result<Self> {
        let program = env::current_exe()
            .map_err(|error| format!("this program can't find itself ({error})."))?;
        // The page, and the person trying it, have priority.
        let mut command = if shell::find_program("nice").is_some() {
            let mut command = shell::command("nice");
            command.args(["-n", "15"]).arg(program);
            command
        } else {
            shell::command(&program.to_string_lossy())
        };
        let program = Background::spawn_logged(command.arg("engine"), &log())?;
        let crates = count_crates();
        let expected = crates.map_or(String::new(), |n| format!(", about {n} crates"));
        say(&format!(
            "WebGPU engine: compiling it behind the page{expected} (log in {})",
            paths::short(&log())
        ));
        let start = Instant::now();
        Ok(Self { program, start, said: start, sources: sources.to_owned(), crates })
    }

    /// Prints progress every half minute.
    fn report(&mut self) {
        if self.said.elapsed() < Duration::from_secs(30) {
            return;
        }
        self.said = Instant::now();
        let text = std::fs::read_to_string(log()).unwrap_or_default();
        let done = text.lines().filter(|l| l.trim_start().starts_with("Compiling ")).count();
        let of = self.crates.map_or(String::new(), |n| format!(" of about {}", n.max(done)));
        let elapsed = duration(self.start.elapsed());
        say(&format!("WebGPU engine: {done}{of} crates begun after {elapsed}"));
    }
}

fn log() -> std::path::PathBuf {
    paths::log("webgpu")
}

/// Number of crates that the WebGPU engine consists of.
fn count_crates() -> Option<usize> {
    let mut command = shell::cargo();
    command.args(["tree", "--locked", "--target", WASM, "--edges", "normal,build"]);
    command.args(["--package", "unroll-engine", "--features", "webgpu", "--prefix", "none"]);
    let text = shell::output(&mut command)?;
    let crates: std::collections::HashSet<&str> =
        text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    Some(crates.len())
}
