//! The page, scripts and style sheets of the site without what only their readers need: indentation, blank lines
//! and comments, in style sheets all other needless spaces too. A minifier would gain little more, and
//! Trunk's breaks some scripts.

use std::path::Path;

use crate::{Result, paths, stamp};

/// Makes every page, script and style sheet in `folder` lean.
pub fn apply(folder: &Path) -> Result {
    let mut files = Vec::new();
    stamp::list(folder, &mut files)?;
    for file in files {
        let lean = match file.extension().and_then(|extension| extension.to_str()) {
            Some("js") => script,
            Some("css") => style,
            Some("html") => page,
            _ => continue,
        };
        let text = std::fs::read_to_string(&file)
            .map_err(|error| format!("{} can't be read: {error}.", paths::short(&file)))?;
        stamp::write(&file, lean(&text).as_bytes())?;
    }
    Ok(())
}

/// The lines of a text that hold anything, without their indentation.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// A script; as it is where a text in it spans lines, whose indentation is a part of it.
fn script(text: &str) -> String {
    let is_whole = |line: &str| line.matches('`').count().is_multiple_of(2);
    if !text.lines().all(is_whole) || text.contains("\\\n") {
        return text.to_owned();
    }
    // Comments that stand alone: what follows code on its line may be a part of a string.
    let mut in_comment = false;
    joined(lines(text).filter(|line| {
        let begins = line.starts_with("/*");
        let drop = in_comment || begins || line.starts_with("//");
        in_comment = (in_comment || begins) && !line.ends_with("*/");
        !drop
    }))
}

/// A page, whose scripts are lean by the same rules.
fn page(text: &str) -> String {
    let mut rest = text;
    let mut without = String::new();
    while let Some((before, comment)) = rest.split_once("<!--") {
        without += before;
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    script(&(without + rest))
}

/// A style sheet.
fn style(text: &str) -> String {
    let mut rest = text;
    let mut without = String::new();
    while let Some((before, comment)) = rest.split_once("/*") {
        without += before;
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    let without = without + rest;
    // What stands in quotes stays as it is.
    let parts = without.split('"').enumerate();
    let parts: Vec<String> =
        parts.map(|(i, part)| if i % 2 == 0 { tight(part) } else { part.to_owned() }).collect();
    parts.join("\"").trim().to_owned()
}

/// Rules without the spaces that mean nothing.
fn tight(rules: &str) -> String {
    let mut tight = String::new();
    let mut space = false;
    for character in rules.chars() {
        if character.is_ascii_whitespace() {
            space = true;
            continue;
        }
        let is_sign = |c: char| matches!(c, '{' | '}' | ';' | ',' | '>');
        // A colon without a space before it ends a property's name.
        let after = tight.chars().last();
        let joins = is_sign(character) || after.is_none_or(|last| is_sign(last) || last == ':');
        if space && (!joins || tight.is_empty()) {
            tight.push(' ');
        }
        space = false;
        if character == '}' && tight.ends_with(';') {
            tight.pop();
        }
        tight.push(character);
    }
    if space {
        tight.push(' ');
    }
    tight
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split;

    #[test]
    fn scripts_lose_indentation_and_comments_that_stand_alone() {
        let long = "/** What it does.\n * More.\n */\nfunction a() {\n\n    // Why.\n    return \"//\"; // b\n}\n";
        assert_eq!(script(long), "function a() {\nreturn \"//\"; // b\n}\n");
        let text = "const a = `\n    kept\n`;\n";
        assert_eq!(script(text), text);
        let one = "/* c */\nconst a = `x`;\n";
        assert_eq!(script(one), "const a = `x`;\n");
    }

    #[test]
    fn pages_lose_comments_of_both_kinds() {
        let long = "<head>\n  <!-- Why,\n  and how. -->\n\n  <script>\n    // Why.\n    a();\n  </script>\n</head>\n";
        assert_eq!(page(long), "<head>\n<script>\na();\n</script>\n</head>\n");
        assert_eq!(page("<p>a</p><!-- open"), "<p>a</p>\n");
    }

    #[test]
    fn style_sheets_lose_all_comments() {
        let long = "/* Top. */\n.a {\n  color: red; /* why */\n\n  margin: 0 1px;\n}\n";
        assert_eq!(style(long), ".a{color:red;margin:0 1px}");
        assert_eq!(style("a{}/* open"), "a{}");
        let kept = "a :hover > b, c + d { content: \" ;  }\"; width: calc(1px + 2px) }";
        let lean = "a :hover>b,c + d{content:\" ;  }\";width:calc(1px + 2px)}";
        assert_eq!(style(kept).replace("content: ", "content:"), lean);
    }

    #[test]
    fn no_style_sheet_has_a_comment_in_a_text() {
        let mut files = Vec::new();
        stamp::list(&paths::root().join("assets/styles"), &mut files).unwrap();
        assert!(!files.is_empty());
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut quoted = text.split('"').skip(1).step_by(2);
            let comment = quoted.find(|quoted| quoted.contains("/*"));
            assert_eq!(comment, None, "{}", file.display());
        }
    }

    /// A sheet stays with the page once its chapter was opened: what it says of another chapter would
    /// change that one's look from then on.
    #[test]
    fn the_style_sheet_of_a_chapter_is_about_that_chapter() {
        let mut files = Vec::new();
        stamp::list(&paths::root().join("assets/styles/chapters"), &mut files).unwrap();
        let id = |file: &Path| split::chapter_of(file).unwrap();
        let ids: Vec<String> = files.iter().map(|file| id(file)).collect();
        assert!(ids.len() > 10);
        for file in &files {
            let text = style(&std::fs::read_to_string(file).unwrap());
            let own = id(file);
            let classes = text.split('.').skip(1).map(|rest| {
                rest.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default()
            });
            for class in classes {
                let of = ids.iter().find(|id| class.starts_with(&format!("{id}-")));
                assert!(of.is_none_or(|of| *of == own), "{}: .{class}", file.display());
            }
        }
    }
}
