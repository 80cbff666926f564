//! The browser side of setup: the tests' npm packages, and Chromium.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use crate::{Result, paths, setup, shell};

/// The oldest Node whose test runner and module loading the tests use.
const NODE: u32 = 20;

/// The name by which npm is started on this system.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Node's version, or what to do if it is missing.
pub fn node() -> Result<String> {
    let version = shell::output(shell::command("node").arg("--version"))
        .ok_or("Node is not on the PATH. Install Node 20 or newer from https://nodejs.org.")?;
    let major = version.trim_start_matches('v').split('.').next().and_then(|m| m.parse().ok());
    if major.is_some_and(|major: u32| major < NODE) {
        return Err(format!("Node {version} is too old: the tests need Node {NODE} or newer."));
    }
    Ok(version)
}

/// Whether `npm ci` has run in `tests/` since its package-lock.json changed.
pub fn packages_are_there() -> bool {
    are_there(&paths::tests())
}

fn are_there(folder: &Path) -> bool {
    // A link points to another folder (that of a second worktree, say), which `npm ci` would empty.
    if folder.join("node_modules").is_symlink() {
        return true;
    }
    let changed = |path: &Path| -> Option<SystemTime> { path.metadata().ok()?.modified().ok() };
    // npm writes this file last.
    let installed = changed(&folder.join("node_modules/.package-lock.json"));
    installed.is_some() && installed >= changed(&folder.join("package-lock.json"))
}

/// Installs the npm packages of the tests if they are missing or outdated.
pub fn packages() -> Result {
    install(&paths::tests(), "npm")
}

/// Installs the libraries that the benchmark compares with, likewise.
pub fn peers() -> Result {
    install(&paths::tests().join("peers"), "npm-peers")
}

fn install(folder: &Path, log: &str) -> Result {
    node()?;
    if are_there(folder) {
        return Ok(());
    }
    shell::step(&format!("npm ci in {}", paths::short(folder)), || {
        let mut command = shell::command(NPM);
        command.current_dir(folder).args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
        shell::run_logged(&mut command, &paths::log(log))
    })
}

/// Debian's package for tests, and its program.
const DEBIAN: &str = "chromium-headless-shell";

/// A Chromium that is already installed.
pub fn find_browser() -> Option<PathBuf> {
    if let Some(given) = env::var_os("CHROME").filter(|given| !given.is_empty()) {
        return Some(PathBuf::from(given));
    }
    // Debian's Chromium without a window's interface draws the same pages with an eighth less work.
    let names =
        [DEBIAN, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let known = [
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    ];
    names
        .iter()
        .find_map(|name| shell::find_program(name))
        .or_else(|| known.iter().map(PathBuf::from).find(|path| path.is_file()))
        .or_else(playwright_browser)
}

/// The Chromium that Playwright installed, if any.
fn playwright_browser() -> Option<PathBuf> {
    let script = "console.log(require('playwright-core').chromium.executablePath())";
    let mut command = Command::new("node");
    let path = shell::output(command.current_dir(paths::tests()).args(["-e", script]))?;
    Some(PathBuf::from(path)).filter(|path| path.is_file())
}

/// The browser for the tests, which is installed if there is none.
pub fn browser() -> Result<PathBuf> {
    if let Some(path) = find_browser() {
        if !path.is_file() {
            return Err(format!(
                "CHROME names {}, which is not a file. Set it to a Chromium or Chrome program, or \
                 unset it.",
                path.display()
            ));
        }
        return Ok(path);
    }
    let root = setup::is_root();
    if root && is_debian() {
        match setup::apt_get(DEBIAN) {
            Ok(()) => {
                if let Some(path) = find_browser() {
                    return Ok(path);
                }
            }
            Err(sentence) => eprintln!("{sentence}\nTrying Playwright's own download instead."),
        }
    }
    shell::step("npx playwright-core install chromium", || {
        let npx = if cfg!(windows) { "npx.cmd" } else { "npx" };
        let mut command = shell::command(npx);
        command.current_dir(paths::tests()).args(["playwright-core", "install"]);
        if root {
            // Also installs the libraries that Chromium links to, with the system's package
            // manager.
            command.arg("--with-deps");
        }
        shell::run_logged(command.arg("chromium"), &paths::log("playwright"))
    })
    .map_err(|sentence| {
        format!("{sentence}\nInstall Chromium or Chrome yourself, or set CHROME to its program.")
    })?;
    find_browser().ok_or_else(|| {
        "Playwright reported success, but there is still no browser. Install Chromium or Chrome \
         yourself, or set CHROME to its program."
            .to_owned()
    })
}

/// Whether this is Debian itself: Ubuntu's package of that name is a snap, which can't run in
/// containers.
fn is_debian() -> bool {
    fs::read_to_string("/etc/os-release")
        .is_ok_and(|text| text.lines().any(|line| line == "ID=debian"))
        && shell::find_program("apt-get").is_some()
}
