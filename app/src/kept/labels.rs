//! What the learner calls kept runs, and which of them are on their way out. Both stand in the browser's
//! local storage: the file of a run may be large, and stays as it is.

use crate::course::storage;

/// File names and what their runs are called.
const NAMES: &str = "unroll-run-names";
/// Files that were deleted, and can still be brought back.
const LEAVING: &str = "unroll-runs-leaving";
/// Characters of a name.
pub const LONGEST: usize = 60;

fn read(key: &str) -> String {
    storage().and_then(|storage| storage.get_item(key).ok().flatten()).unwrap_or_default()
}

/// `false` where the browser keeps nothing.
fn write(key: &str, text: &str) -> bool {
    storage().is_some_and(|storage| match text.is_empty() {
        true => storage.remove_item(key).is_ok(),
        false => storage.set_item(key, text).is_ok(),
    })
}

/// A line for each name: the file, a tab, the name.
fn parse(kept: &str) -> Vec<(String, String)> {
    let pair = |line: &str| line.split_once('\t').map(|(a, b)| (a.to_owned(), b.to_owned()));
    kept.split('\n').filter_map(pair).collect()
}

fn print(names: &[(String, String)]) -> String {
    names.iter().map(|(file, name)| format!("{file}\t{name}\n")).collect()
}

/// A name as it is kept: one line of at most [`LONGEST`] characters.
fn tidy(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.trim().chars().take(LONGEST).collect::<String>().trim_end().to_owned()
}

/// `names` with this one for `file`; without one where it is empty.
fn named(mut names: Vec<(String, String)>, file: &str, name: &str) -> Vec<(String, String)> {
    names.retain(|(other, _)| other != file);
    let name = tidy(name);
    if !name.is_empty() {
        names.push((file.to_owned(), name));
    }
    names
}

/// What the learner calls the run in this file.
pub fn name_of(file: &str) -> Option<String> {
    parse(&read(NAMES)).into_iter().find(|(other, _)| other == file).map(|(_, name)| name)
}

/// Calls it so; nothing where the name is empty. `false` where the browser keeps nothing.
pub fn rename(file: &str, name: &str) -> bool {
    write(NAMES, &print(&named(parse(&read(NAMES)), file, name)))
}

/// The files that were deleted, and can still be brought back.
pub fn leaving() -> Vec<String> {
    read(LEAVING).split('\n').filter(|file| !file.is_empty()).map(str::to_owned).collect()
}

/// Replaces that list. `false` where the browser keeps nothing.
pub fn set_leaving(files: &[String]) -> bool {
    write(LEAVING, &files.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_line_by_line() {
        let mut names = named(Vec::new(), "run-1", "  two\theads\n");
        names = named(names, "run-2", "Ω of the \u{0} 𝒳");
        assert_eq!(parse(&print(&names)), names);
        assert_eq!(names[0], ("run-1".to_owned(), "two heads".to_owned()));
        names = named(names, "run-1", "three heads");
        assert_eq!(names.len(), 2);
        assert_eq!(names[1].1, "three heads");
        assert_eq!(named(names, "run-1", " \n").len(), 1, "an empty name is none");
        assert_eq!(tidy(&"é".repeat(100)).chars().count(), LONGEST);
        assert_eq!(parse("nonsense\n\nrun-3\ta\tb\n"), [("run-3".to_owned(), "a\tb".to_owned())]);
    }
}
