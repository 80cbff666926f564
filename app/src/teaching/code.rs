//! A formula in PyTorch: code that was run, in the formula's colors.

use leptos::{prelude::*, task::spawn_local};

use super::Hue;
use crate::controls::to_clipboard;

/// Names in code that a formula has too: each with its part of the figure and its color.
pub type Names = &'static [(&'static str, &'static str, Hue)];

/// Begins a section of a snippet's file.
const SECTION: &str = "# ---";

/// A file's sections, each with its title; the first has none.
pub fn sections(file: &'static str) -> Vec<(&'static str, &'static str)> {
    let titled = |section: &'static str| section.split_once('\n').unwrap_or((section, ""));
    let mut parts = file.split(SECTION);
    let setup = parts.next().map(|setup| ("", setup));
    let sections = setup.into_iter().chain(parts.map(titled));
    sections.map(|(title, code)| (title.trim(), code.trim())).collect()
}

/// The lines of a file that are shown: those between what sets them up and what checks them.
pub fn shown(file: &'static str) -> Option<&'static str> {
    sections(file).get(1).map(|(_, code)| *code)
}

/// What is copied: all that runs without a model's numbers.
fn copied(file: &'static str) -> &'static str {
    let live = file.match_indices(SECTION).nth(2).map_or(file.len(), |(at, _)| at);
    file[..live].trim_end()
}

/// A stretch of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Name(&'static str),
    Comment(&'static str),
    Other(&'static str),
}

/// Takes code apart. What stands after a dot is no name: `x.T` has nothing to do with a T.
pub fn pieces(code: &'static str) -> Vec<Piece> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut pieces = Vec::new();
    let mut rest = code;
    let mut after_dot = false;
    while let Some(first) = rest.chars().next() {
        let end = |stops: &dyn Fn(char) -> bool| rest.find(stops).unwrap_or(rest.len());
        let length = if first == '#' {
            end(&|c| c == '\n')
        } else if is_word(first) {
            end(&|c| !is_word(c))
        } else {
            end(&|c| is_word(c) || c == '#')
        };
        let (piece, further) = rest.split_at(length);
        pieces.push(match first {
            '#' => Piece::Comment(piece),
            _ if is_word(first) && !after_dot => Piece::Name(piece),
            _ => Piece::Other(piece),
        });
        after_dot = piece.ends_with('.');
        rest = further;
    }
    pieces
}

/// A formula's code, folded away under it. The file has three sections: what sets up, what is
/// shown, and what checks it. Two more make a notebook of it: see `course/notebook.rs`.
/// tests/golden/check_code.py runs them all.
#[component]
pub fn Snippet(
    /// The whole file, which is what is copied: it runs as it is.
    of: &'static str,
    names: Names,
    /// The sizes of the model on show, as a sentence.
    #[prop(into, optional)]
    sizes: MaybeProp<String>,
    /// The button that opens the code as a notebook.
    #[prop(optional)]
    notebook: Option<fn() -> AnyView>,
) -> impl IntoView {
    let opened = RwSignal::new(false);
    view! {
        <details class="disclosure snippet" data-testid="snippet" on:toggle=move |_| opened.set(true)>
            <summary>"In PyTorch"</summary>
            {move || opened.get().then(|| body(of, names, sizes, notebook))}
        </details>
    }
    .into_any()
}

fn body(
    of: &'static str,
    names: Names,
    sizes: MaybeProp<String>,
    notebook: Option<fn() -> AnyView>,
) -> AnyView {
    let says = RwSignal::new("");
    let copy = move |_| {
        spawn_local(async move {
            let result = if to_clipboard(copied(of)).await {
                "Copied, along with its setup and a check."
            } else {
                "Your browser did not allow copying. Select the lines and copy them."
            };
            says.try_set(result);
        });
    };
    let parts = pieces(shown(of).unwrap_or(of)).into_iter().map(|piece| match piece {
        Piece::Comment(text) => view! { <span class="hint">{text}</span> }.into_any(),
        Piece::Other(text) => text.into_any(),
        Piece::Name(text) => match names.iter().find(|(name, _, _)| *name == text) {
            Some((_, part, role)) => {
                view! { <span class=role.class() data-part=*part>{text}</span> }.into_any()
            }
            None => text.into_any(),
        },
    });
    view! {
        <pre tabindex="0" role="group" aria-label="Code" translate="no">
            {parts.collect_view()}
        </pre>
        {move || sizes.get().map(|sizes| view! { <p>{sizes}</p> })}
        <div class="button-row">
            <button type="button" class="button" data-testid="snippet-copy" on:click=copy>"Copy"</button>
            <span class="hint" role="status">{says}</span>
            {notebook.map(|notebook| notebook())}
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "import torch\n# --- one\nq = x @ W_q  # [T, d]\nq.q\n# --- two\nassert q\n";

    #[test]
    fn the_middle_is_shown() {
        assert_eq!(shown(FILE), Some("q = x @ W_q  # [T, d]\nq.q"));
        assert_eq!(shown("q = 1"), None);
    }

    #[test]
    fn pieces_are_names_comments_and_what_is_between() {
        use Piece::{Comment, Name, Other};
        let pieces = pieces(shown(FILE).unwrap());
        let expected = [
            Name("q"),
            Other(" = "),
            Name("x"),
            Other(" @ "),
            Name("W_q"),
            Other("  "),
            Comment("# [T, d]"),
            Other("\n"),
            Name("q"),
            Other("."),
            Other("q"),
        ];
        assert_eq!(pieces, expected);
    }
}
