//! The style sheets that the page begins with, as one file: compressed together they are a sixth smaller.

use std::{fs, path::Path};

use crate::{Result, paths, stamp};

/// How Trunk writes a link to a style sheet.
const LINK: [&str; 2] = ["<link rel=\"stylesheet\" href=\"./", "\"/>"];

/// Joins the style sheets in `folder` that its page links first, one after the other. Those that are fetched
/// later stand in a template, and stay as they are.
pub fn apply(folder: &Path) -> Result {
    let trouble = |path: &Path, error| format!("{} can't be read: {error}.", paths::short(path));
    let index = folder.join("index.html");
    let html = fs::read_to_string(&index).map_err(|error| trouble(&index, error))?;
    let names = first(&html);
    if names.len() < 2 {
        return Ok(());
    }
    let mut all = String::new();
    for name in &names {
        let path = folder.join(name);
        all += &fs::read_to_string(&path).map_err(|error| trouble(&path, error))?;
    }
    let mut hash = stamp::Hash::new();
    hash.bytes(all.as_bytes());
    let joined = format!("styles-{}.css", hash.text());
    stamp::write(&folder.join(&joined), all.as_bytes())?;
    stamp::write(&index, with(&html, &names, &joined).as_bytes())?;
    for name in names {
        let path = folder.join(name);
        fs::remove_file(&path)
            .map_err(|error| format!("{} can't be removed: {error}.", paths::short(&path)))?;
    }
    Ok(())
}

fn name(line: &str) -> Option<&str> {
    line.trim().strip_prefix(LINK[0])?.strip_suffix(LINK[1])
}

/// The names of the style sheets in the first lines that link one.
fn first(html: &str) -> Vec<&str> {
    html.lines().skip_while(|line| name(line).is_none()).map_while(name).collect()
}

/// `html` with a link to `joined` in place of those to `names`.
fn with(html: &str, names: &[&str], joined: &str) -> String {
    let mut link = Some(LINK.join(joined));
    let lines = html.lines().filter_map(|line| match name(line) {
        Some(name) if names.contains(&name) => link.take(),
        _ => Some(line.to_owned()),
    });
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_style_sheets_become_one_and_later_ones_stay() {
        let link = |name: &str| format!("{}\n", LINK.join(name));
        let later = format!("<template>\n{}{}</template>\n", link("c-1.css"), link("d-1.css"));
        let html = format!("<head>\n{}{}{later}", link("a-1.css"), link("b-1.css"));
        assert_eq!(first(&html), ["a-1.css", "b-1.css"]);
        let joined = with(&html, &first(&html), "styles-2.css");
        assert_eq!(joined, format!("<head>\n{}{later}", link("styles-2.css")));
        // Done a second time, nothing changes.
        assert_eq!(first(&joined).len(), 1);
    }
}
