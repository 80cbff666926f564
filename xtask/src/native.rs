//! `cargo xtask engine`: the engine outside the browser, and the page that talks to it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Options, Result, build, paths, setup,
    shell::{self, cargo, say},
    stamp,
};

/// The cargo arguments of that engine.
pub const PACKAGE: &[&str] = &["--release", "--package", "unroll-native"];
/// Those that add its code for GPUs.
pub const WITH_GPU: &[&str] = &["--features", "gpu"];
/// Where drivers for Vulkan say that they are there, below the root of Linux.
const DRIVERS: [&str; 4] = [
    "etc/vulkan/icd.d",
    "usr/share/vulkan/icd.d",
    "usr/local/share/vulkan/icd.d",
    "run/opengl-driver/share/vulkan/icd.d",
];
/// Parts of the names of those that compute on the CPU.
const SOFTWARE: [&str; 2] = ["lvp", "swiftshader"];
/// What the page is made of besides the engines' sources.
const PAGE_FILES: [&str; 8] = [
    "app/Cargo.toml",
    "docs/train.py",
    "engine/native.js",
    "engine/worker.js",
    "index.html",
    "model-file/Cargo.toml",
    "Trunk.toml",
    "xtask/Cargo.toml",
];
const PAGE_FOLDERS: [&str; 4] = ["app/src", "assets", "model-file/src", "xtask/src"];

pub fn run(arguments: &[String]) -> Result {
    let valued = ["--port", "--threads", "--listen", "--device", "--adapter", "--keep"];
    let options = Options::parse(arguments, &[], &valued, false)?;
    let adapter = options.text("--adapter");
    // The code for GPUs takes long to compile, and small models may be slower there.
    let usual = if adapter.is_some() { "auto" } else { "cpu" };
    let device = options.text("--device").unwrap_or(usual);
    let (device, gpu) = choose(device, adapter.is_some(), in_sight(Path::new("/")))?;
    let port = options.number("--port", 8090_u16)?;
    say("the page and the engine are built first: up to 15 minutes the first time, seconds later");
    let site = page()?;
    let program = compile(gpu)?;
    let mut command = Command::new(program);
    command.arg("--site").arg(&site).args(["--port", &port.to_string(), "--device", device]);
    for name in ["--threads", "--listen", "--adapter", "--keep"] {
        if let Some(value) = options.text(name) {
            command.args([name, value]);
        }
    }
    println!();
    take_over(command)
}

/// Runs the engine in place of this process: the terminal then waits for what it has to keep after Ctrl-C.
#[cfg(unix)]
fn take_over(mut command: Command) -> Result {
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    Err(format!("the engine can't be started: {error}."))
}

#[cfg(not(unix))]
fn take_over(mut command: Command) -> Result {
    shell::run(&mut command)
}

/// The device that the engine is asked for, and whether its code for GPUs is compiled, if the option is
/// `device`, a GPU is named or not, and one is in sight or not.
fn choose(device: &str, named: bool, in_sight: bool) -> Result<(&str, bool)> {
    match device {
        "auto" if named => Ok(("auto", true)),
        "auto" if in_sight => {
            say("a GPU may be here: the engine is built with its code for GPUs (not with --device cpu)");
            Ok(("auto", true))
        }
        "auto" => {
            say("no GPU with a driver is in sight: the engine computes on the CPU");
            Ok(("cpu", false))
        }
        "cpu" if named => Err("--adapter names a GPU, and --device cpu wants none.".to_owned()),
        "cpu" => Ok(("cpu", false)),
        "metal" if !cfg!(target_os = "macos") => {
            Err("Metal is there on macOS only. Here, GPUs are reached by --device vulkan.".to_owned())
        }
        "vulkan" | "metal" => {
            if !in_sight {
                say("no GPU with a driver is in sight; the engine looks again when it is compiled");
            }
            Ok((device, true))
        }
        "cuda" => Err("--device cuda is not there: while it compiles, burn’s code for CUDA downloads \
                       a compiler (LLVM) from GitHub, which the machines that build and test Unroll \
                       can’t reach, so nobody has seen it work. NVIDIA’s GPUs are reached by \
                       --device vulkan."
            .to_owned()),
        _ => Err(format!("--device is auto, vulkan, metal or cpu, not `{device}`.")),
    }
}

/// Whether a GPU that the engine can use may be here, by what files there are below `root`: nothing has to be
/// compiled to know.
fn in_sight(root: &Path) -> bool {
    if cfg!(target_os = "macos") {
        // Metal is a part of it.
        return true;
    }
    if cfg!(windows) {
        // Drivers bring it.
        let system = std::env::var_os("SystemRoot").map(PathBuf::from);
        return system.is_some_and(|system| system.join("System32/vulkan-1.dll").is_file());
    }
    let has_device = names(root, "dev/dri").any(|name| name.starts_with("renderD"))
        || ["dev/nvidia0", "dev/dxg"].iter().any(|path| root.join(path).exists());
    let is_software = |name: &String| SOFTWARE.iter().any(|software| name.contains(software));
    has_device && drivers(root).any(|name| !is_software(&name))
}

/// Whether Linux has any driver for Vulkan, if only one that computes on the CPU.
pub fn has_driver(root: &Path) -> bool {
    drivers(root).next().is_some()
}

fn drivers(root: &Path) -> impl Iterator<Item = String> {
    DRIVERS.into_iter().flat_map(move |folder| names(root, folder))
}

/// The names of what is in a folder below `root`.
fn names(root: &Path, folder: &str) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

/// Compiles the engine for this machine. Returns its program.
pub fn compile(gpu: bool) -> Result<PathBuf> {
    let what = match gpu {
        false => "compiling the engine for this computer",
        true => "compiling the engine for this computer and its GPU (many minutes the first time)",
    };
    shell::step(what, || {
        let features = if gpu { WITH_GPU } else { &[] };
        shell::run(cargo().args(["build", "--locked"]).args(PACKAGE).args(features))
    })?;
    let name = format!("unroll-native{}", std::env::consts::EXE_SUFFIX);
    Ok(paths::target().join("release").join(name))
}

/// The page, built unless that was done from the same sources before.
fn page() -> Result<PathBuf> {
    let site = paths::site("native");
    let mark = site.with_extension("sources");
    let sources = sources()?;
    let built = fs::read_to_string(&mark).is_ok_and(|built| built == sources);
    if built && site.join("index.html").is_file() {
        return Ok(site);
    }
    setup::page()?;
    // Without the WebGPU engine: whoever wants that needs no native one.
    build::site(&site, false)?;
    fs::write(&mark, sources)
        .map_err(|error| format!("{} can't be written: {error}.", paths::short(&mark)))?;
    Ok(site)
}

/// A hash of everything the page is made from.
fn sources() -> Result<String> {
    let mut files: Vec<PathBuf> = PAGE_FILES.map(|name| paths::root().join(name)).into();
    for folder in PAGE_FOLDERS {
        stamp::list(&paths::root().join(folder), &mut files)?;
    }
    files.sort();
    let mut hash = stamp::Hash::new();
    for file in files {
        hash.file(&paths::short(&file).replace('\\', "/"), &file)?;
    }
    Ok(format!("{} {}", stamp::sources()?, hash.text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_for_gpus_is_compiled_only_where_one_may_be_used() {
        assert_eq!(choose("cpu", false, true), Ok(("cpu", false)));
        assert_eq!(choose("auto", false, false), Ok(("cpu", false)));
        assert_eq!(choose("auto", false, true), Ok(("auto", true)));
        // Whoever names a GPU knows that there is one.
        assert_eq!(choose("auto", true, false), Ok(("auto", true)));
        assert_eq!(choose("vulkan", false, false), Ok(("vulkan", true)));
        assert_eq!(choose("metal", false, true).is_ok(), cfg!(target_os = "macos"));
        for (device, named, reason) in
            [("cuda", false, "LLVM"), ("cpu", true, "--adapter"), ("opencl", false, "`opencl`")]
        {
            assert!(choose(device, named, true).unwrap_err().contains(reason), "{device}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_gpu_is_in_sight_by_its_device_and_its_driver() {
        let root = std::env::temp_dir().join(format!("unroll-in-sight-{}", std::process::id()));
        let make = |path: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        assert!(!in_sight(&root) && !has_driver(&root));
        make("usr/share/vulkan/icd.d/lvp_icd.x86_64.json");
        make("dev/dri/renderD128");
        assert!(!in_sight(&root), "only software");
        assert!(has_driver(&root));
        make("usr/share/vulkan/icd.d/radeon_icd.x86_64.json");
        assert!(in_sight(&root));
        fs::remove_file(root.join("dev/dri/renderD128")).unwrap();
        assert!(!in_sight(&root), "a driver, and nothing to drive");
        make("dev/nvidia0");
        assert!(in_sight(&root));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn equal_sources_have_equal_names() {
        assert_eq!(sources().unwrap(), sources().unwrap());
    }
}
