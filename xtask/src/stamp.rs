//! `cargo xtask stamp`: the last step of each build of the site, run by Trunk (see Trunk.toml).
//!
//! Workers and texts are loaded under fixed names, so the page requests them with `?v=<build>`: a
//! short hash of them all, written into index.html. A browser can then cache them as long as they
//! are unchanged, and never mixes two releases. This step also adds the WebGPU engine if it was
//! built from the present sources, since an older one may not speak the page's protocol; splits the
//! app's wasm (see [`split`]); strips function names from all wasm, a fifth of the download; and
//! strips indentation and comments from scripts and style sheets (see [`lean`]).

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    Options, Result, lean,
    paths::{self, WEBGPU_FILES},
    shell, split, styles, wasm,
};

/// When set, the site is left without the WebGPU engine.
pub const NO_WEBGPU: &str = "UNROLL_NO_WEBGPU";

/// What the page requests by build: everything that workers load, and the texts.
const BUILD_FILES: [&str; 11] = [
    "worker.js",
    "native.js",
    "engine_cpu.js",
    "engine_cpu_bg.wasm",
    "engine_course.js",
    "engine_course_bg.wasm",
    "engine_given.js",
    "engine_given_bg.wasm",
    "corpora/tales.txt",
    "corpora/names.txt",
    "corpora/brackets.txt",
];

/// The place in index.html that names the build.
const META: &str = "<meta name=\"unroll-build\" content=\"";

/// Small scripts that wasm-bindgen writes for an engine that uses them.
const SNIPPETS: &str = "snippets";

pub fn run(arguments: &[String]) -> Result {
    let options = Options::parse(arguments, &[], &[], true)?;
    let folder = options.word.map(PathBuf::from);
    let folder = folder.or_else(|| env::var_os("TRUNK_STAGING_DIR").map(PathBuf::from)).ok_or(
        "It needs a folder with a built site. Trunk runs this by itself; there is rarely a need to.",
    )?;
    split::apply(&folder)?;
    apply(&folder).map(|_| ())
}

/// Completes the site in `folder`. Returns whether the WebGPU engine is included.
pub fn apply(folder: &Path) -> Result<bool> {
    let wanted = env::var_os(NO_WEBGPU).is_none_or(|value| value.is_empty());
    let webgpu = wanted && webgpu_is_fresh()?;
    if webgpu {
        let from = paths::webgpu();
        for name in WEBGPU_FILES {
            copy(&from.join(name), &folder.join(name))?;
        }
        if from.join(SNIPPETS).is_dir() {
            copy_folder(&from.join(SNIPPETS), &folder.join(SNIPPETS))?;
        }
    }
    remove_names(folder)?;
    lean::apply(folder)?;
    styles::apply(folder)?;
    let mut hash = Hash::new();
    for name in BUILD_FILES {
        hash.file(name, &folder.join(name))?;
    }
    if webgpu {
        for name in WEBGPU_FILES {
            hash.file(name, &folder.join(name))?;
        }
    }
    let index = folder.join("index.html");
    let html = with_build(&read_text(&index)?, &hash.text())
        .ok_or_else(|| format!("index.html needs exactly one `{META}...\">`."))?;
    write(&index, html.as_bytes())?;
    Ok(webgpu)
}

/// `html` with the build's name filled in, if there is exactly one place for it.
fn with_build(html: &str, build: &str) -> Option<String> {
    let (before, rest) = html.split_once(META)?;
    let (_, after) = rest.split_once('"')?;
    (!after.contains(META)).then(|| format!("{before}{META}{build}\"{after}"))
}

/// Strips every wasm file in `folder` of what browsers do not need. Trunk can't: only the linker
/// and wasm-bindgen can, the linker would also strip sections that wasm-bindgen reads, and Trunk
/// does not pass on wasm-bindgen's option.
fn remove_names(folder: &Path) -> Result {
    let mut files = Vec::new();
    list(folder, &mut files)?;
    // Such files are made of several parts, which have been stripped already.
    let shared = folder.join(split::SHARED);
    let is_shared =
        |file: &Path| file.to_string_lossy().starts_with(shared.to_string_lossy().as_ref());
    let is_wasm = |file: &Path| file.extension().is_some_and(|extension| extension == "wasm");
    for file in files.iter().filter(|file| is_wasm(file) && !is_shared(file)) {
        let wasm = fs::read(file)
            .map_err(|error| format!("{} can't be read: {error}.", paths::short(file)))?;
        let is_lab = file.file_name().is_some_and(|name| name == "engine_cpu_bg.wasm");
        let more: &[&str] = if is_lab { &wasm::CASTS } else { &[] };
        let small = wasm::without_unreached(&wasm, more)
            .and_then(|wasm| wasm::without_names(&wasm))
            .map_err(|error| format!("{} is no whole wasm file: {error}.", paths::short(file)))?;
        if small.len() < wasm.len() {
            write(file, &small)?;
        }
    }
    Ok(())
}

/// A hash of the engines' present sources.
pub fn sources() -> Result<String> {
    let mut hash = Hash::new();
    for name in ["Cargo.lock", "Cargo.toml", ".cargo/config.toml"] {
        hash.file(name, &paths::root().join(name))?;
    }
    for room in ["engine", "kernels", "model", "protocol"] {
        let manifest = format!("{room}/Cargo.toml");
        hash.file(&manifest, &paths::root().join(&manifest))?;
        let mut files = Vec::new();
        list(&paths::root().join(room).join("src"), &mut files)?;
        files.sort();
        for file in files {
            hash.file(&paths::short(&file).replace('\\', "/"), &file)?;
        }
    }
    Ok(hash.text())
}

/// The hash of the sources that the WebGPU engine of [`paths::webgpu`] was built from.
pub fn webgpu_sources() -> Option<String> {
    fs::read_to_string(paths::webgpu().join("sources")).ok()
}

/// Records what the WebGPU engine was built from.
pub fn mark_webgpu(sources: &str) -> Result {
    write(&paths::webgpu().join("sources"), sources.as_bytes())
}

fn webgpu_is_fresh() -> Result<bool> {
    Ok(webgpu_sources() == Some(sources()?))
}

pub fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result {
    let trouble = |error| format!("{} can't be read: {error}.", paths::short(folder));
    for entry in fs::read_dir(folder).map_err(trouble)? {
        let path = entry.map_err(trouble)?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result {
    let mut files = Vec::new();
    list(from, &mut files)?;
    for file in files {
        let target = to.join(file.strip_prefix(from).unwrap_or(&file));
        if let Some(folder) = target.parent() {
            shell::create_folder(folder)?;
        }
        copy(&file, &target)?;
    }
    Ok(())
}

/// Copies a file so that a server never sees half of it.
fn copy(from: &Path, to: &Path) -> Result {
    let part = to.with_extension("part");
    fs::copy(from, &part)
        .and_then(|_| fs::rename(&part, to))
        .map_err(|error| format!("{} can't be copied: {error}.", paths::short(from)))
}

/// Writes a file so that a server never sees half of it.
pub fn write(path: &Path, bytes: &[u8]) -> Result {
    let part = path.with_extension("part");
    fs::write(&part, bytes)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| format!("{} can't be written: {error}.", paths::short(path)))
}

fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path)
        .map_err(|error| format!("{} can't be read: {error}.", paths::short(path)))
}

/// 64-bit FNV-1a. It only has to distinguish builds.
pub struct Hash(u64);

impl Hash {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a file under `name`.
    pub fn file(&mut self, name: &str, path: &Path) -> Result {
        let content = fs::read(path)
            .map_err(|error| format!("{} can't be read: {error}.", paths::short(path)))?;
        self.part(name.as_bytes());
        self.part(&content);
        Ok(())
    }

    /// Adds one of several parts. Its length is hashed too, so that no two lists of parts are
    /// confused.
    pub fn part(&mut self, part: &[u8]) {
        self.bytes(&(part.len() as u64).to_le_bytes());
        self.bytes(part);
    }

    pub fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_is_written_where_the_page_looks() {
        let html = format!("<head>\n{META}dev\">\n</head>");
        let stamped = with_build(&html, "0123").unwrap();
        assert_eq!(stamped, format!("<head>\n{META}0123\">\n</head>"));
        assert_eq!(with_build(&stamped, "4567").unwrap(), html.replace("dev", "4567"));
        assert_eq!(with_build("<head></head>", "0123"), None);
        assert_eq!(with_build(&format!("{html}{html}"), "0123"), None);
    }

    #[test]
    fn the_page_has_the_place_for_it() {
        let html = fs::read_to_string(paths::root().join("index.html")).unwrap();
        assert!(with_build(&html, "0123").is_some());
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // From Landon Curt Noll's reference list.
        let of = |text: &str| {
            let mut hash = Hash::new();
            hash.bytes(text.as_bytes());
            hash.text()
        };
        assert_eq!(of(""), "cbf29ce484222325");
        assert_eq!(of("a"), "af63dc4c8601ec8c");
        assert_eq!(of("foobar"), "85944171f73967e8");
    }

    #[test]
    fn equal_sources_have_equal_names() {
        assert_eq!(sources().unwrap(), sources().unwrap());
    }
}
