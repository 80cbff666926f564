//! What the learner calls kept runs. Names are in the browser's local storage: the file of a run may be
//! large, and stays as it is.

use crate::course::storage;

/// File names and what their runs are called.
const NAMES: &str = "unroll-run-names";
/// Characters of a name.
pub const LONGEST: usize = 60;

fn read() -> Vec<(String, String)> {
    let kept = storage().and_then(|storage| storage.get_item(NAMES).ok().flatten());
    parse(&kept.unwrap_or_default())
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
    read().into_iter().find(|(other, _)| other == file).map(|(_, name)| name)
}

/// Calls it so; nothing where the name is empty. `false` where the browser keeps nothing.
pub fn rename(file: &str, name: &str) -> bool {
    let names = print(&named(read(), file, name));
    storage().is_some_and(|storage| storage.set_item(NAMES, &names).is_ok())
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
