//! How many places name every chapter: what adding one takes, held to what README says.

use std::{collections::BTreeSet, fs, process::Command};

use crate::paths;

/// The shared files in which a chapter is entered by hand, as README's recipe lists them, and what
/// lists the chapters for readers.
const PLACES: [&str; 7] = [
    "README.md",
    "SETTINGS.md",
    "app/src/chapters/mod.rs",
    "index.html",
    "model/src/study.rs",
    "protocol/src/chapters.rs",
    "protocol/src/study.rs",
];
/// Also names them all: what each chapter's views ask is known by its test alone.
const TEST: &str = "tests/sight.test.mjs";

/// The ids in the list of chapters.
fn ids(list: &str) -> Vec<&str> {
    list.lines()
        .filter_map(|line| {
            let line = line.trim();
            let named = line.starts_with(char::is_uppercase) && line.ends_with("\",");
            named.then(|| line.split('"').nth(1)).flatten()
        })
        .collect()
}

/// Whether `text` has `word` with nothing of a word before or after it.
fn names(text: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word)
    })
}

#[test]
fn a_chapter_is_entered_where_the_readme_says() {
    let read = |path: &str| fs::read_to_string(paths::root().join(path));
    let list = read("protocol/src/chapters.rs").expect("the list of chapters");
    let ids = ids(&list);
    assert_eq!(ids.len(), 14, "{ids:?}");
    let tracked = Command::new("git").arg("ls-files").current_dir(paths::root()).output();
    let tracked = String::from_utf8(tracked.expect("git").stdout).expect("paths are text");
    let found: BTreeSet<&str> = tracked
        .lines()
        // Binary files, and those that are gone, name nobody.
        .filter(|path| read(path).is_ok_and(|text| ids.iter().all(|id| names(&text, id))))
        .collect();
    let expected: BTreeSet<&str> = PLACES.into_iter().chain([TEST]).collect();
    assert_eq!(found, expected);
    let readme = read("README.md").expect("README");
    let (_, recipe) = readme.split_once("A chapter: ").expect("the recipe");
    let (recipe, _) = recipe.split_once("\n\n").expect("its end");
    for place in PLACES {
        assert!(place == "README.md" || recipe.contains(place), "{place} is not in the recipe");
    }
}
