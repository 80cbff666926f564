//! Splits the app's wasm: what the first screen needs goes into one file, and parts that are
//! fetched later, such as most chapters, into files of their own.
//!
//! Trunk builds the app in one file. This step builds it once more from the same output of the
//! linker, in which app/build.rs has recorded which functions refer to which: `wasm-split-cli`
//! splits it where `part!` says so (see app/src/fetched.rs), then wasm-bindgen finishes the main
//! file. What several parts share comes out as one piece for each set of parts, a thousand of them. They go
//! into files: one with what many chapters need; one for each chapter with what it shares with few others,
//! so that no chapter waits for what it has no use for, and such a piece is in several files; and one with
//! what is needed outside the chapters. Pieces that are in the same files are made one, and the browser
//! divides a file into these again.

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
/// In its place for a piece that was joined to another.
const JOINED: &str = "load(joined, ";
/// What it calls a piece that only one part needs, before the part's name.
const WHOLE: &str = "split_";
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
/** The contents of one of the `FILES` with shared pieces. */
function bytes(name) {
  return file(name, (response) => response.arrayBuffer());
}
/**
 * A shared piece. `places` says where it is: which file, its beginning there and its end; then the next
 * such three. It comes from the first of these files that is fetched anyway, or else from the last.
 */
function part(...places) {
  let at = 0;
  while (at + 3 < places.length && !files.has(FILES[places[at]])) at += 3;
  const [name, start, end] = places.slice(at, at + 3);
  return bytes(FILES[name]).then((bytes) => new Uint8Array(bytes, start, end - start));
}
/** Begins to fetch what this chapter shares with few others. */
export function want(part) {
  const name = FILES.find((name) => name.startsWith(`./${PARTS}${part}-`));
  if (name) bytes(name);
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
    all.want(name);
    await all["__wasm_split_load_" + name](index, data);
  };
}
"#;
/// How the script of `wasm-split-cli` begins each function that loads a part.
const LOAD_PART: &str = "export const __wasm_split_load_";
/// What many chapters share, at least so many of them, is in one file.
const MANY: usize = 6;
/// In the place of the hash, until it is known.
const HASH: &str = "{hash}";
/// The name, before a hash, of the script with all the pieces.
const PIECES: &str = "pieces";

/// Prefix of the names of files that hold a part of the page, and of those that hold what parts share:
/// many chapters, or, with a name before the hash, one chapter with few others.
pub const PART: &str = "part-";
pub const SHARED: &str = "parts-";
/// The name in that of the file for what is needed outside the chapters.
const OTHERS: &str = "others";

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

    let (script, files) = arrange(&script, &pieces, HASH, &chapters()?)?;
    let first = first_script(&script);

    // Only files of the same build fit together, so one hash names them all.
    let mut hash = Hash::new();
    let texts = [&script, &first, &bound_script].map(|text| text.as_bytes());
    let wasm = files.iter().map(|(_, bytes)| bytes).chain([&bound_wasm]);
    for bytes in texts.into_iter().chain(wasm.map(Vec::as_slice)) {
        hash.part(bytes);
    }
    let hash = hash.text();
    let with_hash = |text: &str| text.replace(HASH, &hash);

    for (name, bytes) in &files {
        stamp::write(&folder.join(with_hash(name)), bytes)?;
    }
    let (loader, all) = (format!("{SHARED}{hash}.js"), format!("{PART}{PIECES}-{hash}.js"));
    let script = with_hash(&script).replace(&format!("./{APP}.js"), &format!("./{APP}-{hash}.js"));
    stamp::write(&folder.join(&loader), with_hash(&first).as_bytes())?;
    stamp::write(&folder.join(&all), script.as_bytes())?;
    // The wasm still imports it under the old name, which is a property of an object in the script.
    let bound_script =
        bound_script.replace(&format!("from \"./{SCRIPT}\""), &format!("from \"./{loader}\""));
    stamp::write(&folder.join(format!("{APP}-{hash}.js")), bound_script.as_bytes())?;
    stamp::write(&folder.join(format!("{APP}-{hash}_bg.wasm")), &bound_wasm)?;
    take_trunks_place(folder, &hash, &loader)
}

/// The script that the app imports, which hands each call on to `script`.
fn first_script(script: &str) -> String {
    let name = |line: &str| Some(line.strip_prefix(LOAD_PART)?.split_once(' ')?.0.to_owned());
    let load = |part: String| format!("{LOAD_PART}{part} = more(\"{part}\");\n");
    let loads: String = script.lines().filter_map(name).map(load).collect();
    format!(
        "import {{ initSync }} from \"./{APP}-{HASH}.js\";\n\
         const PIECES = \"./{PART}{PIECES}-{HASH}.js\";{FIRST}{loads}"
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
        pieces.push(Piece { name, bytes: read(&file)? });
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

/// The parts that share a piece. The script names them in a comment over the piece.
fn users<'a>(script: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let before = script.split_once(&format!("const __{name} = "))?.0.trim_end();
    let parts = before.strip_suffix("*/")?.rsplit_once("/*")?.1;
    Some(parts.split(',').map(str::trim).collect())
}

/// A file of shared pieces: what is in its name between the prefix and the hash, and its contents.
struct Shared {
    name: String,
    bytes: Vec<u8>,
}

impl Shared {
    fn file(&self, hash: &str) -> String {
        match self.name.as_str() {
            "" => format!("{SHARED}{hash}.wasm"),
            name => format!("{SHARED}{name}-{hash}.wasm"),
        }
    }
}

/// The pieces that are in the same files: where these are in the list of files, and the pieces' names and
/// contents.
type Group<'a> = (Vec<usize>, Vec<&'a Piece>);

/// The shared pieces as they are arranged. Files are numbered: what many chapters share, each chapter,
/// others. `None` where the script doesn't say who shares a piece.
fn groups<'a>(script: &str, pieces: &'a [Piece], chapters: &[String]) -> Option<Vec<Group<'a>>> {
    let mut groups: Vec<Group> = Vec::new();
    for piece in pieces.iter().filter(|piece| !piece.name.starts_with(WHOLE)) {
        let users = users(script, &piece.name)?;
        let mut held: Vec<usize> =
            (1..=chapters.len()).filter(|&at| users.contains(&chapters[at - 1].as_str())).collect();
        if held.len() >= MANY {
            held = vec![0];
        } else if held.len() < users.len() {
            held.push(chapters.len() + 1);
        }
        match groups.iter_mut().find(|(files, _)| *files == held) {
            Some((_, pieces)) => pieces.push(piece),
            None => groups.push((held, vec![piece])),
        }
    }
    Some(groups)
}

/// `line`, which loads a part, with each piece that it needs first replaced by the first of its group.
fn with_groups(line: &str, groups: &[Group]) -> Option<String> {
    let (before, rest) = line.rsplit_once('[')?;
    let (needed, after) = rest.split_once(']')?;
    let mut firsts: Vec<&str> = Vec::new();
    for name in needed.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let name = name.strip_prefix("__")?;
        let of_name = |(_, pieces): &&Group| pieces.iter().any(|piece| piece.name == name);
        let first = &groups.iter().find(of_name)?.1[0].name;
        if !firsts.contains(&first.as_str()) {
            firsts.push(first);
        }
    }
    let firsts: Vec<String> = firsts.into_iter().map(|name| format!("__{name}")).collect();
    Some(format!("{before}[{}]{after}", firsts.join(", ")))
}

/// The script of `wasm-split-cli` in its published form, and the wasm files it fetches: a piece
/// that only one part needs is a file of its own. The others are in files of shared pieces.
fn arrange(
    script: &str,
    pieces: &[Piece],
    hash: &str,
    chapters: &[String],
) -> std::result::Result<(String, Files), Trouble> {
    let groups = groups(script, pieces, chapters).ok_or(Trouble::Script)?;
    let mut files = Vec::new();
    // How each piece is loaded; one that is in another, not at all.
    let mut calls: Vec<(&str, Option<String>)> = Vec::new();
    for piece in pieces {
        let Some(part) = piece.name.strip_prefix(WHOLE) else { continue };
        let file = format!("{PART}{part}-{hash}.wasm");
        calls.push((&piece.name, Some(format!("whole(\"./{file}\")"))));
        files.push((file, joined(&[piece])?));
    }
    let names = [""].into_iter().chain(chapters.iter().map(String::as_str)).chain([OTHERS]);
    let mut shared: Vec<Shared> =
        names.map(|name| Shared { name: name.to_owned(), bytes: Vec::new() }).collect();
    for (held, pieces) in &groups {
        let bytes = joined(pieces)?;
        let places: Vec<String> = held
            .iter()
            .map(|&at| {
                let start = shared[at].bytes.len();
                shared[at].bytes.extend_from_slice(&bytes);
                format!("{at}, {start}, {}", shared[at].bytes.len())
            })
            .collect();
        calls.push((&pieces[0].name, Some(format!("part({})", places.join(", ")))));
        calls.extend(pieces[1..].iter().map(|piece| (piece.name.as_str(), None)));
    }
    let mut script = script.to_owned();
    for (name, call) in calls {
        let theirs = format!("{}{name}{}", LOAD.0, LOAD.1);
        if script.matches(&theirs).count() != 1 {
            return Err(Trouble::Script);
        }
        let ours = call.map_or_else(|| JOINED.to_owned(), |call| format!("load(() => {call}, "));
        script = script.replace(&theirs, &ours);
    }
    let mut lines = Vec::new();
    for line in script.lines() {
        let is_chunk = line.starts_with(&format!("const {}", CHUNK.0));
        if line.starts_with(LOAD_PART) {
            lines.push(with_groups(line, &groups).ok_or(Trouble::Script)?);
        } else if is_chunk && line.contains(JOINED) {
            // Its group is loaded in its place.
        } else if line.contains("fetch(")
            || line.contains(JOINED)
            || is_chunk && !line.ends_with(", []);")
        {
            // It is loaded in another way, or needs other pieces.
            return Err(Trouble::Script);
        } else if !(line.starts_with("/*") && line.ends_with("*/")) {
            // Such a comment names the parts that share a piece.
            lines.push(line.to_owned());
        }
    }
    let script = lines.join("\n").replace(CHUNK.0, CHUNK.1);
    // Where a file would be empty, nothing names it by its place; the places of the others stay.
    let listed: String = shared
        .iter()
        .map(|file| match file.bytes.is_empty() {
            true => "  \"\",\n".to_owned(),
            false => format!("  \"./{}\",\n", file.file(hash)),
        })
        .collect();
    let names = format!("\nconst PARTS = \"{SHARED}\";\nconst FILES = [\n{listed}];");
    let full = shared.into_iter().filter(|file| !file.bytes.is_empty());
    files.extend(full.map(|file| (file.file(hash), file.bytes)));
    Ok((script + &names + LOADER, files))
}

fn joined(pieces: &[&Piece]) -> std::result::Result<Vec<u8>, Trouble> {
    let pieces: Vec<(&str, &[u8])> =
        pieces.iter().map(|piece| (piece.name.as_str(), piece.bytes.as_slice())).collect();
    wasm::joined(&pieces).map_err(Trouble::Piece)
}

/// Why the output of `wasm-split-cli` can't be arranged.
#[derive(Debug, PartialEq)]
enum Trouble {
    /// Its script is not what it was.
    Script,
    /// A piece can't be joined, for this reason.
    Piece(String),
}

impl From<Trouble> for String {
    fn from(trouble: Trouble) -> Self {
        let found = match trouble {
            Trouble::Script => "another script than it did".to_owned(),
            Trouble::Piece(reason) => format!("wasm that can't be joined ({reason})"),
        };
        format!("`wasm-split-cli` writes {found}; xtask/src/split.rs must be adapted.")
    }
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
    use wasm_encoder::{
        CodeSection, ConstExpr, DataCountSection, DataSection, ElementSection, FunctionSection,
        ImportSection, Module, TypeSection,
    };

    use super::*;

    /// A piece that writes these bytes into memory.
    fn wasm(data: &[u8]) -> Vec<u8> {
        let mut all = DataSection::new();
        for at in data {
            all.active(0, &ConstExpr::i32_const(i32::from(*at)), [*at]);
        }
        let mut module = Module::new();
        module.section(&TypeSection::new()).section(&ImportSection::new());
        module.section(&FunctionSection::new()).section(&ElementSection::new());
        module.section(&DataCountSection { count: all.len() });
        module.section(&CodeSection::new()).section(&all);
        module.finish()
    }

    fn piece(name: &str, data: &[u8]) -> Piece {
        Piece { name: name.to_owned(), bytes: wasm(data) }
    }

    /// A script that loads pieces, each a name and who shares it, and parts that need some of them.
    fn fetching(pieces: &[(&str, &str)], parts: &[(&str, &str)]) -> String {
        let piece = |(name, users): &(&str, &str)| {
            format!("/* {users} */\nconst __{name} = {}{name}{}[]);\n", LOAD.0, LOAD.1)
        };
        let part = |(name, needed): &(&str, &str)| {
            let (before, after) = LOAD;
            format!("{LOAD_PART}{name} = wrapAsyncCb({before}split_{name}{after}[{needed}]));\n")
        };
        pieces.iter().map(piece).chain(parts.iter().map(part)).collect()
    }

    fn arranged(script: &str, pieces: &[Piece]) -> std::result::Result<(String, Files), Trouble> {
        let chapters = ["bptt", "gates", "mask", "norm", "qkv", "rnn"].map(String::from);
        arrange(script, pieces, "9", &chapters)
    }

    #[test]
    fn pieces_of_one_part_are_files_and_shared_ones_are_where_they_are_needed() {
        let pieces = [
            piece("chunk_1", b"abc"),
            piece("chunk_2", b"de"),
            piece("chunk_3", b"gh"),
            piece("chunk_4", b"i"),
            piece("chunk_5", b"j"),
            piece("chunk_6", b"k"),
            piece("split_rnn", b"f"),
        ];
        let script = fetching(
            &[
                ("chunk_1", "bptt, gates, mask, norm, qkv, rnn, undo"),
                ("chunk_2", "gates, rnn"),
                ("chunk_3", "twin, undo"),
                ("chunk_4", "rnn, undo"),
                ("chunk_5", "rnn, twin"),
                ("chunk_6", "rnn, twin, undo"),
            ],
            &[("rnn", "__chunk_1, __chunk_2, __chunk_4, __chunk_5, __chunk_6")],
        );
        let (script, files) = arranged(&script, &pieces).unwrap();
        // Pieces whose users differ only outside the chapters are joined.
        let (of_two, of_three) = (wasm(b"de"), wasm(b"ijk"));
        let expected = [
            ("part-rnn-9.wasm", wasm(b"f")),
            ("parts-9.wasm", wasm(b"abc")),
            ("parts-gates-9.wasm", of_two.clone()),
            ("parts-rnn-9.wasm", [of_two.clone(), of_three.clone()].concat()),
            ("parts-others-9.wasm", [wasm(b"gh"), of_three.clone()].concat()),
        ];
        assert_eq!(files, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
        let [two, end] = [of_two.len(), of_two.len() + of_three.len()];
        let [all, others] = [wasm(b"abc").len(), wasm(b"gh").len()];
        let both = others + of_three.len();
        for part in [
            format!("const c1 = load(() => part(0, 0, {all}), []);\n"),
            format!("const c2 = load(() => part(2, 0, {two}, 6, 0, {two}), []);\n"),
            format!("const c3 = load(() => part(7, 0, {others}), []);\n"),
            format!("const c4 = load(() => part(6, {two}, {end}, 7, {others}, {both}), []);\n"),
            r#"load(() => whole("./part-rnn-9.wasm"), [c1, c2, c4]));"#.to_owned(),
            r#"const PARTS = "parts-";"#.to_owned(),
        ] {
            assert_eq!(script.matches(&part).count(), 1, "{part} in {script}");
        }
        let listed = script.split_once("const FILES = [").unwrap().1.split_once(']').unwrap().0;
        let listed: Vec<&str> =
            listed.split(',').map(|name| name.trim().trim_matches('"')).collect();
        let full: Vec<(usize, &&str)> =
            listed.iter().enumerate().filter(|(_, name)| !name.is_empty()).collect();
        assert_eq!(
            full,
            [
                (0, &"./parts-9.wasm"),
                (2, &"./parts-gates-9.wasm"),
                (6, &"./parts-rnn-9.wasm"),
                (7, &"./parts-others-9.wasm"),
            ]
        );
        for gone in ["rnn, undo", "c5", "c6", "chunk"] {
            assert!(!script.contains(gone), "{gone} in {script}");
        }
    }

    #[test]
    fn the_app_imports_a_function_for_each_part() {
        let script = "const a = 1;\nexport const __wasm_split_load_rnn = wrapAsyncCb(a);\n";
        let first = first_script(script).replace(HASH, "9");
        let load = r#"export const __wasm_split_load_rnn = more("rnn");"#;
        for line in [r#"const PIECES = "./part-pieces-9.js";"#, load] {
            assert_eq!(first.matches(line).count(), 1, "{line} in {first}");
        }
        assert!(first.starts_with(r#"import { initSync } from "./unroll-app-9.js";"#));
        assert!(!first.contains("wrapAsyncCb"));
    }

    #[test]
    fn another_script_or_piece_is_refused() {
        let rnn = fetching(&[], &[("rnn", "")]);
        let refused = |script: &str, pieces: &[Piece]| arranged(script, pieces).unwrap_err();
        let split = || piece("split_rnn", b"f");
        let chunk = || piece("chunk_1", b"a");
        assert!(arranged(&rnn, &[split()]).is_ok());
        // A file that nothing loads, or that is loaded and not there.
        assert_eq!(refused("", &[split()]), Trouble::Script);
        assert_eq!(refused(&rnn, &[split(), chunk()]), Trouble::Script);
        let two = fetching(&[], &[("rnn", ""), ("gates", "")]);
        assert_eq!(refused(&two, &[split()]), Trouble::Script);
        // A needed piece that isn't there, and a shared one that needs another.
        let needed = fetching(&[], &[("rnn", "__chunk_1")]);
        assert_eq!(refused(&needed, &[split()]), Trouble::Script);
        let shared = fetching(&[("chunk_1", "rnn, undo")], &[("rnn", "__chunk_1")]);
        assert!(arranged(&shared, &[split(), chunk()]).is_ok());
        let needing = shared.replacen("[]);", "[__chunk_2]);", 1);
        assert_eq!(refused(&needing, &[split(), chunk()]), Trouble::Script);

        let no_wasm = Piece { name: "split_rnn".to_owned(), bytes: b"f".to_vec() };
        assert!(matches!(refused(&rnn, &[no_wasm]), Trouble::Piece(_)));
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
