//! The code beside the formulas, held to its form. That it computes what it should is checked by
//! tests/golden/check_code.py.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::teaching::{Names, Piece, pieces, shown};

/// Formulas that code does not follow at once, by the start of their label: these four are on the
/// stage, too, and More adds their code to them.
const APART: &[&str] =
    &["The gradient at step t", "D at step t", "J at step k", "The derivative of the cell state"];

/// Makes [`NAMES`] from the list of chapters: one without names does not compile.
macro_rules! names {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        /// Every chapter's names in code.
        const NAMES: &[(&str, Names)] =
            &[("start", super::start::NAMES), ("decode", super::decode::NAMES), ("gpt", super::gpt::NAMES), $((stringify!($module), super::$module::NAMES),)+];
    };
}

unroll_protocol::with_chapters!(names);

/// The files under the chapters' folder that end so.
fn files(ending: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/chapters")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Every snippet: its path, and the lines it shows.
fn snippets() -> Vec<(PathBuf, &'static str)> {
    let read = |path: PathBuf| {
        let text: &'static str = fs::read_to_string(&path).unwrap().leak();
        let shown = shown(text).unwrap_or_else(|| panic!("{}: three sections", path.display()));
        (path, shown)
    };
    files(".py").into_iter().map(read).collect()
}

#[test]
fn snippets_are_short() {
    for (path, shown) in snippets() {
        let count = shown.lines().filter(|line| !line.is_empty()).count();
        assert!((5..=12).contains(&count), "{}: {count} lines", path.display());
        for line in fs::read_to_string(&path).unwrap().lines() {
            assert!(line.chars().count() <= 88, "{}: {line}", path.display());
        }
    }
}

#[test]
fn names_in_code_are_names_of_the_chapter() {
    let snippets = snippets();
    for (chapter, names) in NAMES {
        let of_chapter = snippets.iter().filter(|(path, _)| {
            path.components().any(|part| part.as_os_str().to_str() == Some(chapter))
        });
        let said: BTreeSet<&str> = of_chapter
            .flat_map(|(_, shown)| pieces(shown))
            .filter_map(|piece| match piece {
                Piece::Name(name) => Some(name),
                Piece::Comment(_) | Piece::Other(_) => None,
            })
            .collect();
        for (name, part, role) in *names {
            assert!(said.contains(name), "{chapter}: no snippet says {name}");
            assert!(!part.is_empty() && !role.class().is_empty(), "{chapter}: {name}");
        }
    }
}

#[test]
fn every_formula_has_its_code() {
    let mut used = BTreeSet::new();
    let mut missing = Vec::new();
    for path in files(".rs") {
        let source = fs::read_to_string(&path).unwrap();
        for formula in source.split("<Formula label=\"").skip(1) {
            let label = formula.split('"').next().unwrap();
            let after = formula.split_once("</Formula>").map_or("", |(_, after)| after);
            if !after.trim_start().starts_with("<Snippet")
                && !APART.iter().any(|start| label.starts_with(start))
            {
                missing.push(label.to_owned());
            }
        }
        for file in source.split("include_str!(\"code/").skip(1) {
            let name = file.split('"').next().unwrap();
            used.insert(path.parent().unwrap().join("code").join(name));
        }
    }
    assert!(missing.is_empty(), "without code: {missing:#?}");
    let there: BTreeSet<PathBuf> = files(".py").into_iter().collect();
    assert_eq!(there, used);
}
