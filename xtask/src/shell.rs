//! Running other programs, and reporting what is being done and how long it took.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{Result, paths};

/// A command that runs in the repository's root, finds our tools first and uses our target folder.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(paths::root())
        .env("CARGO_TARGET_DIR", paths::target())
        .env("PATH", search_path());
    if env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        // Trunk 0.21 rejects `NO_COLOR=1`: it requires the word.
        command.env("NO_COLOR", "true");
    }
    command
}

/// [`command`] for the cargo that runs this program.
pub fn cargo() -> Command {
    command(&env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
}

fn search_path() -> OsString {
    let own = paths::tools().join("bin");
    let rest = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(own).chain(env::split_paths(&rest))).unwrap_or(rest)
}

/// The file that `name` starts, found on the PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&search_path()).map(|dir| dir.join(&file)).find(|path| path.is_file())
}

/// Whether this Python has these modules, such as `torch`.
pub fn can_import(python: &OsStr, modules: &str) -> bool {
    output(Command::new(python).args(["-c", &format!("import {modules}")])).is_some()
}

/// Prints what is about to be done.
pub fn say(what: &str) {
    println!("── {what}");
}

/// Runs `work`, printing what it is and, when it is done, how long it took.
pub fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    say(&format!("{what} …"));
    let start = Instant::now();
    let result = work();
    let outcome = if result.is_ok() { "done in" } else { "failed after" };
    say(&format!("{what}: {outcome} {}", duration(start.elapsed())));
    result
}

/// Runs `command` with its output on the terminal; anything but success is an error.
pub fn run(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    succeeded(command, status)
}

/// Runs `command` with its output in the file `log`; on failure, prints the end of the log.
pub fn run_logged(command: &mut Command, log: &Path) -> Result {
    let mut child = spawn_logged(command, log)?;
    let status = child.wait().map_err(|error| cannot_start(command, &error))?;
    succeeded(command, status).map_err(|sentence| with_tail(&sentence, log))
}

/// Starts `command` with its output in the file `log`.
pub fn spawn_logged(command: &mut Command, log: &Path) -> Result<Child> {
    if let Some(folder) = log.parent() {
        create_folder(folder)?;
    }
    let trouble = |error| format!("{} can't be written: {error}.", paths::short(log));
    let file = File::create(log).map_err(trouble)?;
    let copy = file.try_clone().map_err(trouble)?;
    command.stdin(Stdio::null()).stdout(file).stderr(copy);
    command.spawn().map_err(|error| cannot_start(command, &error))
}

/// What `command` printed, if it succeeded.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs `command` and passes each line it prints to `line`.
pub fn run_lines(command: &mut Command, mut line: impl FnMut(&str)) -> Result {
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|error| cannot_start(command, &error))?;
    if let Some(stdout) = child.stdout.take() {
        for text in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
            line(&text);
        }
    }
    let status = child.wait().map_err(|error| cannot_start(command, &error))?;
    succeeded(command, status)
}

pub fn succeeded(command: &Command, status: ExitStatus) -> Result {
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` failed ({status}); what it said is above.", describe(command)))
}

/// `sentence` followed by the end of the file `log`, for output that was not shown on the terminal.
pub fn with_tail(sentence: &str, log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(25)..].join("\n    ");
    let sentence = sentence.replace("what it said is above", "the end of its output follows");
    format!("{sentence}\n    {tail}\n  All of it: {}", paths::short(log))
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!(
        "`{}` can't be started: {error}. `cargo xtask doctor` says what is missing.",
        command.get_program().to_string_lossy()
    )
}

fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut text = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

pub fn create_folder(folder: &Path) -> Result {
    fs::create_dir_all(folder)
        .map_err(|error| format!("The folder {} can't be made: {error}.", folder.display()))
}

/// A duration in words.
pub fn duration(d: Duration) -> String {
    let seconds = d.as_secs_f64();
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    format!("{} min {} s", whole / 60, whole % 60)
}

/// A program that is stopped, together with its children, when this value is dropped.
pub struct Background {
    child: Child,
}

impl Background {
    /// Starts `command` as the leader of its own process group. The terminal's Ctrl-C does not
    /// reach that group: whoever holds this value decides (see [`stop_requested`]).
    pub fn spawn(command: &mut Command) -> Result<Self> {
        own_group(command);
        let child =
            command.stdin(Stdio::null()).spawn().map_err(|error| cannot_start(command, &error))?;
        Ok(Self { child })
    }

    /// [`Self::spawn`] with the output in the file `log`.
    pub fn spawn_logged(command: &mut Command, log: &Path) -> Result<Self> {
        own_group(command);
        Ok(Self { child: spawn_logged(command, log)? })
    }

    /// Its exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        for ending in [Ending::Asked, Ending::Forced] {
            end_group(&mut self.child, ending);
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(3) {
                if self.ended().is_some() {
                    // The leader is gone; kill the members that ignored the signal.
                    end_group(&mut self.child, Ending::Forced);
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

static STOP: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was pressed, or this program was asked to terminate, since [`catch_stop`].
pub fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

#[cfg(unix)]
mod posix {
    //! The two functions of the C library that the standard library does not provide.
    unsafe extern "C" {
        pub fn signal(number: i32, handler: usize) -> usize;
        pub fn kill(pid: i32, number: i32) -> i32;
    }
    pub const SIGHUP: i32 = 1;
    pub const SIGINT: i32 = 2;
    pub const SIGKILL: i32 = 9;
    pub const SIGTERM: i32 = 15;
}

/// From now on Ctrl-C only sets [`stop_requested`], so that the children can be ended first.
pub fn catch_stop() {
    #[cfg(unix)]
    {
        extern "C" fn note(_: i32) {
            STOP.store(true, Ordering::Relaxed);
        }
        for number in [posix::SIGHUP, posix::SIGINT, posix::SIGTERM] {
            // SAFETY: the handler only stores to an atomic, which a signal handler may do.
            unsafe { posix::signal(number, note as *const () as usize) };
        }
    }
}

fn own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    // Elsewhere Ctrl-C reaches every program of the console, which is what we want.
    #[cfg(not(unix))]
    let _ = command;
}

/// Whether a program may clean up before it ends.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Asked,
    Forced,
}

/// Ends a program and its group.
fn end_group(child: &mut Child, ending: Ending) {
    #[cfg(unix)]
    {
        let number = match ending {
            Ending::Asked => posix::SIGTERM,
            Ending::Forced => posix::SIGKILL,
        };
        // SAFETY: a plain system call; the group is the one `own_group` made for this child.
        unsafe { posix::kill(-(child.id() as i32), number) };
    }
    #[cfg(not(unix))]
    if ending == Ending::Forced {
        let _ = child.kill();
    } else {
        let id = child.id().to_string();
        let _ = output(Command::new("taskkill").args(["/T", "/F", "/PID", &id]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        let text = |s| duration(Duration::from_secs_f64(s));
        assert_eq!(text(0.04), "0.0 s");
        assert_eq!(text(59.9), "59.9 s");
        assert_eq!(text(59.96), "1 min 0 s");
        assert_eq!(text(125.4), "2 min 5 s");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_dropped_background_program_takes_its_children_along() {
        let marker = env::temp_dir().join(format!("unroll-xtask-{}", std::process::id()));
        let script = format!("sleep 60 & echo $! > {}; wait", marker.display());
        let background = Background::spawn(command("sh").args(["-c", &script])).unwrap();
        let pid = loop {
            match fs::read_to_string(&marker) {
                Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
                _ => thread::sleep(Duration::from_millis(10)),
            }
        };
        // Running or sleeping; `Z` is a process that has ended and waits to be collected.
        let alive = || {
            fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|stat| !stat.contains(") Z") && stat.contains("(sleep)"))
        };
        let wait = |until: bool, what: &str| {
            let start = Instant::now();
            while alive() != until {
                assert!(start.elapsed() < Duration::from_secs(20), "{what}");
                thread::sleep(Duration::from_millis(10));
            }
        };
        // The shell is still itself for a moment after it has split.
        wait(true, "sleep never began");
        drop(background);
        wait(false, "sleep survived");
        fs::remove_file(marker).unwrap();
    }
}
