//! What README and docs/ list, held to the code.

use std::{collections::BTreeSet, fs, process::Command};

use crate::paths;

/// The shared files in which a chapter is entered by hand, as the recipe lists them, and what
/// lists the chapters for readers.
const PLACES: [&str; 8] = [
    "README.md",
    "SETTINGS.md",
    "app/src/chapters/mod.rs",
    "docs/model-files.md",
    "index.html",
    "model/src/study.rs",
    "protocol/src/chapters.rs",
    "protocol/src/study.rs",
];
/// Also name them all: what each chapter is asked is known by these tests alone.
const TESTS: [&str; 2] = ["model/tests/moments.rs", "tests/sight.test.mjs"];

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

fn read(path: &str) -> Option<String> {
    fs::read_to_string(paths::root().join(path)).ok()
}

#[test]
fn a_chapter_is_entered_where_the_recipe_says() {
    let list = read("protocol/src/chapters.rs").expect("the list of chapters");
    let ids = ids(&list);
    assert_eq!(ids.len(), 14, "{ids:?}");
    let tracked = Command::new("git").arg("ls-files").current_dir(paths::root()).output();
    let tracked = String::from_utf8(tracked.expect("git").stdout).expect("paths are text");
    let found: BTreeSet<&str> = tracked
        .lines()
        // Binary files, and those that are gone, name nobody.
        .filter(|path| read(path).is_some_and(|text| ids.iter().all(|id| names(&text, id))))
        .collect();
    let expected: BTreeSet<&str> = PLACES.into_iter().chain(TESTS).collect();
    assert_eq!(found, expected);
    let guide = read("docs/adding-a-chapter.md").expect("the guide");
    let (_, recipe) = guide.split_once("A chapter: ").expect("the recipe");
    let (recipe, _) = recipe.split_once("## What a chapter says").expect("its end");
    for place in PLACES {
        let name = place.strip_suffix(".md").unwrap_or(place);
        assert!(recipe.contains(name), "{place} is not in the recipe");
    }
}

/// The first cells of a table's rows, out of their backquotes.
fn first_cells<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
    let (_, table) = text.split_once(head).unwrap_or_else(|| panic!("no table {head}"));
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| row.split('`').nth(1)).collect()
}

#[test]
fn the_rooms_are_the_workspace_and_may_use_what_they_use() {
    let text = read("docs/architecture.md").expect("the architecture");
    let head = "| room |";
    let mut rooms: Vec<&str> =
        first_cells(&text, head).into_iter().map(|room| room.trim_end_matches('/')).collect();
    let manifest = read("Cargo.toml").expect("the manifest");
    for room in &rooms {
        assert!(manifest.contains(&format!("\"{room}\"")), "{room} is not in the workspace");
        let manifest = read(&format!("{room}/Cargo.toml")).expect("a room's manifest");
        let (ordinary, _) = manifest.split_once("[dev-dependencies]").unwrap_or((&manifest, ""));
        let row = text.lines().find(|line| line.starts_with(&format!("| `{room}/`"))).unwrap();
        let may = row.rsplit('|').nth(1).expect("its last cell");
        for other in ["kernels", "model", "model-file", "protocol", "engine", "native", "app"] {
            let uses = ordinary.contains(&format!("unroll-{other}."))
                || ordinary.contains(&format!("unroll-{other} "));
            assert_eq!(uses, may.contains(&format!("`{other}`")), "{room} and {other}");
        }
    }
    rooms.sort_unstable();
    assert_eq!(
        rooms,
        ["app", "engine", "kernels", "model", "model-file", "native", "protocol", "xtask"]
    );
}

#[test]
fn the_messages_of_an_embedded_figure_are_those_of_the_code() {
    let text = read("docs/embedding.md").expect("the guide to embedding");
    let sent = read("app/src/embed/post.rs").expect("what is sent");
    let heard = read("app/src/embed/request.rs").expect("what is heard");
    let names = first_cells(&text, "| you send |");
    let (last, others) = names.split_last().expect("messages");
    // What the frame answers to any other type.
    let all = format!("there are {} and {last}.", others.join(", "));
    assert!(heard.contains(&all), "{all}");
    for name in first_cells(&text, "| the frame sends |") {
        let types = [format!("\"{name}\""), format!("\"type\":\"{name}\"")];
        assert!(types.iter().any(|named| sent.contains(named)), "{name} is not sent");
    }
}

#[test]
fn the_marks_of_a_text_are_those_that_are_read() {
    let guide = read("docs/adding-a-chapter.md").expect("the guide");
    let prose = read("app/src/teaching/prose.rs").expect("the reader");
    for mark in
        ["**bold**", "*emphasis*", "`code`", "[shown](word)", "[shown](#part role)", "{name}"]
    {
        assert!(guide.contains(mark) && prose.contains(mark), "{mark}");
    }
}
