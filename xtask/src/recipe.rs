//! The recipe for a new chapter (docs/adding-a-chapter.md), followed step by step: an empty chapter
//! is added to a copy of the sources, and the compiler is asked.

use std::{collections::HashSet, fs, path::Path, process::Command};

use crate::{paths, shell, stamp};

/// What is written anew.
const FILES: [(&str, &str); 4] = [
    ("protocol/src/study/empty.rs", include_str!("recipe/protocol.rs")),
    ("model/src/study/empty.rs", include_str!("recipe/model.rs")),
    ("app/src/chapters/empty.rs", include_str!("recipe/app.rs")),
    ("assets/styles/chapters/chapter-empty.css", ".figure-empty {\n  margin: 0;\n}\n"),
];
/// The shared files that are edited: what stands there, and what becomes of it.
const EDITS: [(&str, &str, &str); 7] = [
    (
        "protocol/src/chapters.rs",
        "            Tokens tokens",
        "            Empty empty empty \"empty\" \"Nothing yet\",\n            Tokens tokens",
    ),
    ("protocol/src/study.rs", "pub mod gates;", "pub mod empty;\npub mod gates;"),
    ("model/src/study.rs", "mod gates;", "mod empty;\nmod gates;"),
    ("app/src/chapters/mod.rs", "mod gates;", "mod empty;\nmod gates;"),
    (
        "app/src/course/machine_map.rs",
        "        Chapter::Norm =>",
        "        Chapter::Empty => (\"nothing yet\", None),\n        Chapter::Norm =>",
    ),
    (
        "index.html",
        "      <link data-trunk rel=\"css\" href=\"assets/styles/chapters/chapter-tokens.css\" />",
        "      <link data-trunk rel=\"css\" href=\"assets/styles/chapters/chapter-empty.css\" />\n      \
         <link data-trunk rel=\"css\" href=\"assets/styles/chapters/chapter-tokens.css\" />",
    ),
    ("protocol/src/wire.rs", "pub const VERSION: u8 = ", "pub const VERSION: u8 = 1"),
];

/// Writes a file unless it is there already: what is unchanged is not compiled again.
fn write(path: &Path, content: &[u8]) {
    if fs::read(path).is_ok_and(|there| there == content) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
    fs::write(path, content).expect("a file can be written");
}

#[test]
fn an_empty_chapter_compiles() {
    let copy = paths::target().join("recipe");
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(paths::root())
        .output();
    let listed = String::from_utf8(listed.expect("git").stdout).expect("paths are text");
    let mut kept = HashSet::from(FILES.map(|(path, _)| copy.join(path)));
    for path in listed.lines() {
        // One that is gone but not yet committed.
        let Ok(mut content) = fs::read(paths::root().join(path)) else { continue };
        for (_, before, after) in EDITS.iter().filter(|edit| edit.0 == path) {
            let text = String::from_utf8(content).expect("a text");
            assert_eq!(text.matches(before).count(), 1, "{path} has {before} not once");
            content = text.replace(before, after).into_bytes();
        }
        write(&copy.join(path), &content);
        kept.insert(copy.join(path));
    }
    // A copy that an earlier run left must not compile with a file that the sources no longer have.
    let mut there = Vec::new();
    stamp::list(&copy, &mut there).expect("the copy can be read");
    for file in there.iter().filter(|file| !kept.contains(*file)) {
        fs::remove_file(file).expect("a file can be deleted");
    }
    for (path, content) in FILES {
        write(&copy.join(path), content.as_bytes());
    }
    let guide =
        fs::read_to_string(paths::root().join("docs/adding-a-chapter.md")).expect("the guide");
    for (path, ..) in EDITS {
        let named = path == "protocol/src/wire.rs" && guide.contains("wire::VERSION");
        assert!(named || guide.contains(path), "{path} is not in the recipe");
    }
    let checked = shell::cargo()
        .args([
            "check",
            "--quiet",
            "--locked",
            "--offline",
            "-p",
            "unroll-app",
            "-p",
            "unroll-model",
        ])
        // Its own: cargo takes a copy's crates for those of the workspace, and either's for the other's.
        .env("CARGO_TARGET_DIR", paths::target().join("recipe-build"))
        .current_dir(&copy)
        .output()
        .expect("cargo");
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "an empty chapter does not compile:\n{said}");
    println!(
        "an empty chapter: {} files, {} edits in as many shared ones",
        FILES.len(),
        EDITS.len()
    );
}
