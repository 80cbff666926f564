//! Splits the app's wasm: what the first screen needs goes into one file, and parts that are
//! fetched later, such as most chapters, into files of their own.
//!
//! Trunk builds the app in one file. This step builds it once more from the same output of the
//! linker, in which app/build.rs has recorded which functions refer to which: `wasm-split-cli`
//! splits it where `part!` says so (see app/src/fetched.rs), then wasm-bindgen finishes the main
//! file. What several parts share comes out as one piece for each set of parts, hundreds of them.
//! They are concatenated into two files, which the browser splits again: one with what chapters need,
//! and one with the rest, so that a chapter does not wait for what it has no use for.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Result, paths, shell,
    stamp::{self, Hash},
    tools, wasm,
};

/// Trunk's name for the app's files, before a hash.
const APP: &str = "unroll-app";
/// The script that `wasm-split-cli` writes.
const SCRIPT: &str = "__wasm_split.js";
/// How that script loads a piece, around the piece's name.
const LOAD: (&str, &str) = (
    "makeLoad(() => {\n    const src = fetch(new URL(\"./",
    ".wasm\", import.meta.url));\n    src.catch(() => {});\n    \
     return async (imports) => (WebAssembly.instantiateStreaming(src, imports));\n}\n, ",
);
/// What it calls a piece that several parts share, before a number; and the short name here.
const CHUNK: (&str, &str) = ("__chunk_", "c");

/// The replacement: pieces are parts of files, and a host may serve wasm under any type.
/// How a piece is loaded is said once, for there are hundreds of them, and the first screen waits for
/// this script.
const LOADER: &str = r#"
/** A piece, with those it needs. */
function load(fetching, deps) {
  return makeLoad(() => {
    const fetched = fetching();
    fetched.catch(() => {});
    return async (imports) => WebAssembly.instantiate(await fetched, imports);
  }, deps);
}
const files = new Map();
/** What `read` makes of a file, which is fetched once. After a failure the next call tries again. */
function file(name, read) {
  if (!files.has(name)) {
    const file = fetch(new URL(name, import.meta.url)).then((response) => {
      if (response.ok) return read(response);
      throw new Error(`${response.status} for ${response.url}`);
    });
    file.catch(() => files.delete(name));
    files.set(name, file);
  }
  return files.get(name);
}
/** A file that is one piece, compiled while it comes where the host says that it is wasm. */
function whole(name) {
  return file(name, (response) => {
    const isWasm = response.headers.get("content-type") === "application/wasm";
    return isWasm ? WebAssembly.compileStreaming(response) : response.arrayBuffer();
  });
}
/** One of the pieces of a file of shared ones. */
function part(name, start, end) {
  return file(name, (response) => response.arrayBuffer()).then(
    (bytes) => new Uint8Array(bytes, start, end - start),
  );
}
"#;

/// The script that the app imports, before the functions it is asked for: what it takes to fetch parts
/// is itself fetched with the first of them. Browsers remember that a script could not be fetched, so
/// each try has an address of its own.
const FIRST: &str = r#"
let tries = 0;
let script;
function more(name) {
  return async (index, data) => {
    let all;
    try {
      all = await (script ??= import(PIECES + (tries ? "?" + tries : "")));
    } catch (error) {
      script = undefined;
      tries += 1;
      console.error(error);
      initSync(undefined, undefined).__indirect_function_table.get(index)(data, false);
      return;
    }
    await all[name](index, data);
  };
}
"#;
/// How the script of `wasm-split-cli` begins each function that loads a part.
const LOAD_PART: &str = "export const __wasm_split_load_";
/// The name, before a hash, of the script with all the pieces.
const PIECES: &str = "pieces";

/// Prefix of the names of files that hold a part of the page, and of the file that holds what
/// a chapter shares with other parts.
pub const PART: &str = "part-";
pub const SHARED: &str = "parts-";
/// Prefix of the name of the file that holds what other parts share and no chapter needs.
pub const OTHERS: &str = "parts-others-";

/// Splits the app of the site in `folder`, which Trunk has just built.
pub fn apply(folder: &Path) -> Result {
    let whole = paths::target().join(tools::WASM).join("page").join(format!("{APP}.wasm"));
    // Inside the site, since another site may be built at the same time; Trunk has emptied it.
    let rooms = folder.join(".split");
    let result = divide(folder, &whole, &rooms);
    let _ = fs::remove_dir_all(&rooms);
    result
}

/// Names and contents.
type Files = Vec<(String, Vec<u8>)>;

/// A piece as `wasm-split-cli` named it.
struct Piece {
    name: String,
    bytes: Vec<u8>,
}

fn divide(folder: &Path, whole: &Path, rooms: &Path) -> Result {
    let (divided, bound) = (rooms.join("divided"), rooms.join("bound"));
    let mut split = shell::command(&tools::program("wasm-split-cli"));
    shell::run(split.arg(whole).arg(&divided).args(["--out-name", APP]))?;
    let mut bindgen = shell::command(&tools::program("wasm-bindgen"));
    bindgen.args(["--target", "web", "--no-typescript", "--keep-lld-exports", "--no-demangle"]);
    let main = divided.join(format!("{APP}.wasm"));
    shell::run(bindgen.args(["--out-name", APP, "--out-dir"]).arg(&bound).arg(main))?;

    let script = read_text(&divided.join(SCRIPT))?;
    let bound_script = read_text(&bound.join(format!("{APP}.js")))?;
    let bound_wasm = read(&bound.join(format!("{APP}_bg.wasm")))?;
    let (bound_wasm, bound_script) =
        wasm::with_short_imports(&bound_wasm, &bound_script, &format!("./{APP}_bg.js"))
            .map_err(|error| format!("`wasm-bindgen` has left no whole app: {error}."))?;
    let pieces = pieces(&divided)?;

    // Only files of the same build fit together, so one hash names them all.
    let mut hash = Hash::new();
    let texts = [LOADER, &script, &bound_script].map(str::as_bytes);
    let wasm = std::iter::once(&bound_wasm).chain(pieces.iter().map(|piece| &piece.bytes));
    for bytes in texts.into_iter().chain(wasm.map(Vec::as_slice)) {
        hash.part(bytes);
    }
    let hash = hash.text();

    let chapters = chapters()?;
    let (script, files) = arrange(&script, &pieces, &hash, &chapters).ok_or(
        "`wasm-split-cli` writes another script than it did: xtask/src/split.rs must be adapted.",
    )?;
    for (name, bytes) in &files {
        stamp::write(&folder.join(name), bytes)?;
    }
    let (loader, all) = (format!("{SHARED}{hash}.js"), format!("{PART}{PIECES}-{hash}.js"));
    let script = script.replace(&format!("./{APP}.js"), &format!("./{APP}-{hash}.js"));
    stamp::write(&folder.join(&loader), first_script(&script, &all, &hash).as_bytes())?;
    stamp::write(&folder.join(&all), script.as_bytes())?;
    // The wasm still imports it under the old name, which is a property of an object in the script.
    let bound_script =
        bound_script.replace(&format!("from \"./{SCRIPT}\""), &format!("from \"./{loader}\""));
    stamp::write(&folder.join(format!("{APP}-{hash}.js")), bound_script.as_bytes())?;
    stamp::write(&folder.join(format!("{APP}-{hash}_bg.wasm")), &bound_wasm)?;
    take_trunks_place(folder, &hash, &loader)
}

/// The script that the app imports, which hands each call on to `script`, a file named `all`.
fn first_script(script: &str, all: &str, hash: &str) -> String {
    let name = |line: &str| Some(line.strip_prefix(LOAD_PART)?.split_once(' ')?.0.to_owned());
    let load = |part: String| format!("{LOAD_PART}{part} = more(\"__wasm_split_load_{part}\");\n");
    let loads: String = script.lines().filter_map(name).map(load).collect();
    format!(
        "import {{ initSync }} from \"./{APP}-{hash}.js\";\nconst PIECES = \"./{all}\";{FIRST}{loads}"
    )
}

/// The pieces in `folder`, ordered by name.
fn pieces(folder: &Path) -> Result<Vec<Piece>> {
    let mut files: Vec<PathBuf> = Vec::new();
    stamp::list(folder, &mut files)?;
    files.sort();
    let mut pieces = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name == APP || file.extension().is_none_or(|extension| extension != "wasm") {
            continue;
        }
        let bytes = wasm::without_names(&read(&file)?)
            .map_err(|error| format!("{} is no whole wasm file: {error}.", paths::short(&file)))?;
        pieces.push(Piece { name, bytes });
    }
    Ok(pieces)
}

/// The parts that are chapters: those with a style sheet of their own.
fn chapters() -> Result<Vec<String>> {
    let mut sheets = Vec::new();
    stamp::list(&paths::root().join("assets/styles/chapters"), &mut sheets)?;
    Ok(sheets.iter().filter_map(|sheet| chapter_of(sheet)).collect())
}

/// The chapter that a style sheet is about.
pub fn chapter_of(sheet: &Path) -> Option<String> {
    let name = sheet.file_stem()?.to_string_lossy();
    Some(name.strip_prefix("chapter-")?.to_owned())
}

/// Whether one of the `parts` that share a piece is a chapter. The script names them in a comment over
/// the piece.
fn is_chapters(script: &str, name: &str, chapters: &[String]) -> Option<bool> {
    let before = script.split_once(&format!("const __{name} = "))?.0.trim_end();
    let parts = before.strip_suffix("*/")?.rsplit_once("/*")?.1;
    Some(parts.split(',').any(|part| chapters.iter().any(|chapter| chapter == part.trim())))
}

/// The script of `wasm-split-cli` in its published form, and the wasm files it fetches: a piece
/// that only one part needs is a file of its own. Two files hold all others.
fn arrange(
    script: &str,
    pieces: &[Piece],
    hash: &str,
    chapters: &[String],
) -> Option<(String, Files)> {
    let given = script;
    let mut script = script.to_owned();
    let mut shared = [
        ("SHARED", format!("{SHARED}{hash}.wasm"), Vec::new()),
        ("OTHERS", format!("{OTHERS}{hash}.wasm"), Vec::new()),
    ];
    let mut files = Vec::new();
    for Piece { name, bytes } in pieces {
        let call = match name.strip_prefix("split_") {
            Some(part) => {
                let file = format!("{PART}{part}-{hash}.wasm");
                let call = format!("whole(\"./{file}\")");
                files.push((file, bytes.clone()));
                call
            }
            None => {
                let at = usize::from(!is_chapters(given, name, chapters)?);
                let (file, _, held) = &mut shared[at];
                let start = held.len();
                held.extend_from_slice(bytes);
                format!("part({file}, {start}, {})", held.len())
            }
        };
        let theirs = format!("{}{name}{}", LOAD.0, LOAD.1);
        if script.matches(&theirs).count() != 1 {
            return None;
        }
        script = script.replace(&theirs, &format!("load(() => {call}, "));
    }
    if script.contains("fetch(") {
        return None;
    }
    // A comment names the parts that share a piece.
    let is_comment = |line: &&str| line.starts_with("/*") && line.ends_with("*/");
    let lines: Vec<&str> = script.lines().filter(|line| !is_comment(line)).collect();
    let script = lines.join("\n").replace(CHUNK.0, CHUNK.1);
    let names: String =
        shared.iter().map(|(name, file, _)| format!("\nconst {name} = \"./{file}\";")).collect();
    let held = shared.into_iter().map(|(_, file, bytes)| (file, bytes));
    files.extend(held.filter(|(_, bytes)| !bytes.is_empty()));
    Some((script + &names + LOADER, files))
}

/// Replaces Trunk's app with the split one.
fn take_trunks_place(folder: &Path, hash: &str, loader: &str) -> Result {
    let mut files = Vec::new();
    stamp::list(folder, &mut files)?;
    let ours = format!("{APP}-{hash}");
    let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let trunks = files
        .iter()
        .filter(|file| file.parent() == Some(folder))
        .filter_map(|file| Some(name(file).strip_suffix("_bg.wasm")?.to_owned()))
        .find(|stem| stem.starts_with(APP) && *stem != ours)
        .ok_or("Trunk has left no wasm of the app: see the links in index.html.")?;
    let index = folder.join("index.html");
    let html = with_app(&read_text(&index)?, &trunks, &ours, loader)
        .ok_or("index.html does not load the app as Trunk writes it.")?;
    stamp::write(&index, html.as_bytes())?;
    for ending in [".js", "_bg.wasm"] {
        let file = folder.join(format!("{trunks}{ending}"));
        fs::remove_file(&file)
            .map_err(|error| format!("{} can't be removed: {error}.", paths::short(&file)))?;
    }
    Ok(())
}

/// `html` with the app's new file names. The browser is told to preload `loader`, because the app's
/// script, which imports it, arrives later.
fn with_app(html: &str, trunks: &str, ours: &str, loader: &str) -> Option<String> {
    if !html.contains(&format!("{trunks}.js")) || !html.contains(&format!("{trunks}_bg.wasm")) {
        return None;
    }
    let (before, after) = html.split_once("</head>")?;
    let html = format!(
        "{before}<link rel=\"modulepreload\" href=\"./{loader}\" crossorigin></head>{after}"
    );
    Some(
        html.replace(&format!("{trunks}.js"), &format!("{ours}.js"))
            .replace(&format!("{trunks}_bg.wasm"), &format!("{ours}_bg.wasm")),
    )
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).map_err(|error| format!("{} can't be read: {error}.", paths::short(file)))
}

fn read_text(file: &Path) -> Result<String> {
    fs::read_to_string(file)
        .map_err(|error| format!("{} can't be read: {error}.", paths::short(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(name: &str, bytes: &[u8]) -> Piece {
        Piece { name: name.to_owned(), bytes: bytes.to_vec() }
    }

    fn fetching(names: &[&str]) -> String {
        let one = |name: &&str| {
            let loading = format!("{}{name}{}[]);\n", LOAD.0, LOAD.1);
            if name.starts_with("chunk") {
                let parts = if *name == "chunk_3" { "twin, undo" } else { "rnn, undo" };
                format!("/* {parts} */\nconst __{name} = {loading}")
            } else {
                loading
            }
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn pieces_of_one_part_are_files_and_what_chapters_share_is_one() {
        let pieces = [
            piece("chunk_1", b"abc"),
            piece("chunk_2", b"de"),
            piece("chunk_3", b"gh"),
            piece("split_rnn", b"f"),
        ];
        let script = fetching(&["chunk_1", "chunk_2", "chunk_3", "split_rnn"]);
        let (script, files) = arrange(&script, &pieces, "9", &chapters().unwrap()).unwrap();
        assert_eq!(
            files,
            [
                ("part-rnn-9.wasm".to_owned(), b"f".to_vec()),
                ("parts-9.wasm".to_owned(), b"abcde".to_vec()),
                ("parts-others-9.wasm".to_owned(), b"gh".to_vec()),
            ]
        );
        for part in [
            "const c1 = load(() => part(SHARED, 0, 3), []);",
            "const c2 = load(() => part(SHARED, 3, 5), []);",
            "const c3 = load(() => part(OTHERS, 0, 2), []);",
            r#"load(() => whole("./part-rnn-9.wasm"), []);"#,
            r#"const SHARED = "./parts-9.wasm";"#,
        ] {
            assert_eq!(script.matches(part).count(), 1, "{part} in {script}");
        }
        assert!(!script.contains("rnn, undo"), "{script}");
    }

    #[test]
    fn the_app_imports_a_function_for_each_part() {
        let script = "const a = 1;\nexport const __wasm_split_load_rnn = wrapAsyncCb(a);\n";
        let first = first_script(script, "part-pieces-9.js", "9");
        let load = r#"export const __wasm_split_load_rnn = more("__wasm_split_load_rnn");"#;
        for line in [r#"const PIECES = "./part-pieces-9.js";"#, load] {
            assert_eq!(first.matches(line).count(), 1, "{line} in {first}");
        }
        assert!(first.starts_with(r#"import { initSync } from "./unroll-app-9.js";"#));
        assert!(!first.contains("wrapAsyncCb"));
    }

    #[test]
    fn another_script_is_refused() {
        let arranged = |script: &str| arrange(script, &[piece("split_rnn", b"f")], "9", &[]);
        assert!(arranged(&fetching(&["split_rnn"])).is_some());
        assert!(arranged(&fetching(&["split_rnn", "chunk_1"])).is_none());
        assert!(arranged(&fetching(&["split_gates"])).is_none());
        assert!(arranged("").is_none());
    }

    #[test]
    fn the_page_loads_the_divided_app() {
        let html = "<head>import init from './unroll-app-1.js'; './unroll-app-1_bg.wasm'</head>";
        let named = with_app(html, "unroll-app-1", "unroll-app-2", "parts-2.js").unwrap();
        assert_eq!(
            named,
            "<head>import init from './unroll-app-2.js'; './unroll-app-2_bg.wasm'\
             <link rel=\"modulepreload\" href=\"./parts-2.js\" crossorigin></head>"
        );
        assert_eq!(with_app(html, "unroll-app-3", "unroll-app-2", "parts-2.js"), None);
    }
}
