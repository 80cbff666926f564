//! Text as chapters write it: whole sentences in one string, with a few marks.
//!
//! `**bold**`, `*emphasis*` and `` `code` ``; `[shown](word)` opens the note of that word of the
//! glossary, `[shown](#part role)` lights a part of the figure in its role's color, `{name}` stands
//! for something live. `[shown](>id)` in what is asked is plain text, and marks what has that test id on the
//! stage; `[shown](@view)` opens that view. An empty line begins a paragraph; one that holds nothing but
//! something live is that. A paragraph that begins with `! ` asks for something to be done. One that begins with `+ ` is the label
//! of a fold, and what follows is folded away under it. `@ ` begins a first paragraph that is not shown: it names
//! what of the view the text speaks of, by its test id, which a view that scrolls brings into sight.
//! Sentences stay whole in the page, so that a browser can translate them.

use leptos::prelude::*;

use crate::{course::opener, pointer::worded};

#[cfg(test)]
use super::{Hue, Word};

/// Something live in a text, by the name that the text has for it.
pub type Live = (&'static str, ViewFn);

/// A number or a few words that follow the model. A browser that translates would freeze it.
pub fn live(name: &'static str, says: impl Fn() -> String + Send + Sync + Clone + 'static) -> Live {
    (name, ViewFn::from(move || live_words(says.clone())))
}

/// The number or the words alone.
pub fn live_words(says: impl Fn() -> String + Send + Sync + 'static) -> impl IntoView {
    view! { <span class="live" translate="no">{says}</span> }
}

/// A stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Plain(&'static str),
    Bold(&'static str),
    Emphasis(&'static str),
    Code(&'static str),
    /// Shown, and the word's name in the glossary.
    Term(&'static str, &'static str),
    /// Shown, the part, and its role.
    Part(&'static str, &'static str, &'static str),
    /// Shown, and the test id of what it asks the learner to use.
    Asked(&'static str, &'static str),
    /// Shown, and the view that it opens.
    View(&'static str, &'static str),
    Live(&'static str),
}

/// The pieces of one paragraph. A mark that is not closed stands for itself.
fn pieces(text: &'static str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut rest, mut plain) = (text, 0);
    while let Some(mark) = rest.get(plain..).and_then(|rest| rest.find(['*', '`', '[', '{'])) {
        let at = plain + mark;
        let Some((piece, length)) = marked(&rest[at..]) else {
            plain = at + 1;
            continue;
        };
        if at > 0 {
            pieces.push(Piece::Plain(&rest[..at]));
        }
        pieces.push(piece);
        (rest, plain) = (&rest[at + length..], 0);
    }
    if !rest.is_empty() {
        pieces.push(Piece::Plain(rest));
    }
    pieces
}

/// The piece that begins with the mark at the start of `text`, and its length.
fn marked(text: &'static str) -> Option<(Piece, usize)> {
    let between = |open: &str, close: &str| {
        let inner = text.strip_prefix(open)?;
        let end = inner.find(close).filter(|end| *end > 0)?;
        Some((&inner[..end], open.len() + end + close.len()))
    };
    if let Some((inner, length)) = between("**", "**") {
        return Some((Piece::Bold(inner), length));
    }
    if let Some((inner, length)) = between("*", "*") {
        return Some((Piece::Emphasis(inner), length));
    }
    if let Some((inner, length)) = between("`", "`") {
        return Some((Piece::Code(inner), length));
    }
    if let Some((inner, length)) = between("{", "}") {
        return Some((Piece::Live(inner), length));
    }
    let (inner, length) = between("[", ")")?;
    let (shown, of) = inner.split_once("](")?;
    let piece = match of.split_at_checked(1) {
        Some(("#", of)) => {
            let (part, role) = of.split_once(' ')?;
            Piece::Part(shown, part, role)
        }
        Some((">", id)) => Piece::Asked(shown, id),
        Some(("@", view)) => Piece::View(shown, view),
        _ => Piece::Term(shown, of),
    };
    Some((piece, length))
}

/// The text, with what is live in it.
pub fn prose(text: &'static str, live: &[Live]) -> AnyView {
    let paragraphs = |text: &'static str| {
        text.split("\n\n").map(|paragraph| one(paragraph, live)).collect_view()
    };
    let (shown, folded) = fold(text);
    let folded = folded.map(|(label, text)| {
        view! {
            <details class="disclosure aside">
                <summary>{label}</summary>
                {paragraphs(text)}
            </details>
        }
    });
    view! { {paragraphs(shown)} {folded} }.into_any()
}

/// The test id of what a beat's text speaks of, where it names one, and the text without that.
pub fn aim(text: &'static str) -> (Option<&'static str>, &'static str) {
    match text.strip_prefix("@ ").and_then(|named| named.split_once("\n\n")) {
        Some((id, text)) => (Some(id), text),
        None => (None, text),
    }
}

/// What is shown at once, and the label and the text of what is folded away.
pub fn fold(text: &'static str) -> (&'static str, Option<(&'static str, &'static str)>) {
    let (_, text) = aim(text);
    match text.split_once("\n\n+ ") {
        Some((shown, folded)) => (shown, folded.split_once("\n\n")),
        None => (text, None),
    }
}

/// What stands on the line of the word before it.
const CLOSING: [char; 8] = [',', '.', ';', ':', '?', '!', ')', '”'];

/// Each piece, with the punctuation that stays on its line where it is a button.
fn together(pieces: Vec<Piece>) -> Vec<(Piece, &'static str)> {
    let mut all: Vec<(Piece, &'static str)> = Vec::new();
    for piece in pieces {
        let piece = match (all.last_mut(), piece) {
            (
                Some((Piece::Term(..) | Piece::Part(..) | Piece::View(..), after)),
                Piece::Plain(text),
            ) => {
                let end = text.find(|c| !CLOSING.contains(&c)).unwrap_or(text.len());
                *after = &text[..end];
                Piece::Plain(&text[end..])
            }
            (_, piece) => piece,
        };
        all.push((piece, ""));
    }
    all
}

fn one(paragraph: &'static str, live: &[Live]) -> AnyView {
    let of = |name: &str| live.iter().find(|live| live.0 == name).map(|live| live.1.run());
    let (asks, paragraph) = asks(paragraph);
    let pieces = pieces(paragraph);
    if let ([Piece::Live(name)], false) = (&pieces[..], asks) {
        return of(name).into_any();
    }
    // What is live, or opens a view, parts the paragraph into stretches of plain markup.
    let mut shown = Vec::new();
    let mut markup = String::new();
    for (piece, after) in together(pieces) {
        match piece {
            Piece::Live(name) => {
                shown.push(stretch(core::mem::take(&mut markup)));
                shown.push(of(name).into_any());
            }
            Piece::View(words, view) => {
                shown.push(stretch(core::mem::take(&mut markup)));
                let words = opener(worded(words).into_owned(), view);
                shown.push(view! { <span class="unbroken">{words}{after}</span> }.into_any());
            }
            other if after.is_empty() => write(other, &mut markup),
            // A browser may break the line after a button.
            other => {
                markup.push_str(r#"<span class="unbroken">"#);
                write(other, &mut markup);
                write(Piece::Plain(after), &mut markup);
                markup.push_str("</span>");
            }
        }
    }
    shown.push(stretch(markup));
    view! { <p class:beat-do=asks>{shown}</p> }.into_any()
}

/// Whether a paragraph asks for something to be done, and its text.
fn asks(paragraph: &'static str) -> (bool, &'static str) {
    match paragraph.strip_prefix("! ") {
        Some(text) => (true, text),
        None => (false, paragraph),
    }
}

fn stretch(markup: String) -> AnyView {
    view! { <span inner_html=markup></span> }.into_any()
}

/// Adds a piece that is not live, as markup. The texts are ours, but may hold a `<`.
fn write(piece: Piece, markup: &mut String) {
    let (before, text, after) = match piece {
        Piece::Plain(text) | Piece::Live(text) | Piece::View(text, _) => (String::new(), text, ""),
        Piece::Bold(text) => ("<strong>".into(), text, "</strong>"),
        Piece::Emphasis(text) => ("<em>".into(), text, "</em>"),
        Piece::Code(text) => (r#"<code translate="no">"#.into(), text, "</code>"),
        Piece::Term(text, word) => (
            format!(
                r#"<button type="button" class="term" data-word="{word}" data-testid="term-{word}" popovertarget="note">"#
            ),
            text,
            "</button>",
        ),
        Piece::Part(text, part, role) => (
            format!(
                r#"<button type="button" class="sym role-{role}" data-part="{part}" aria-pressed="false">"#
            ),
            text,
            "</button>",
        ),
        Piece::Asked(text, id) => (format!(r#"<span data-asked="{id}">"#), text, "</span>"),
    };
    markup.push_str(&before);
    for c in worded(text).chars() {
        match c {
            '<' => markup.push_str("&lt;"),
            '&' => markup.push_str("&amp;"),
            other => markup.push(other),
        }
    }
    markup.push_str(after);
}

/// The text as it is read, and the glossary's words in it. What is live is a number.
#[cfg(test)]
pub fn plain(text: &'static str) -> (String, Vec<Word>) {
    let (mut read, mut words) = (String::new(), Vec::new());
    let (shown, folded) = fold(text);
    let texts =
        [shown].into_iter().chain(folded.into_iter().flat_map(|(label, text)| [label, text]));
    let paragraphs = texts.flat_map(|text| text.split("\n\n")).map(|paragraph| asks(paragraph).1);
    for piece in paragraphs.flat_map(|p| pieces(p).into_iter().chain([Piece::Plain("\n")])) {
        match piece {
            Piece::Plain(text) => {
                assert!(!text.contains(['*', '`', '[', ']', '{', '}']), "a stray mark: {text}");
                read.push_str(text);
            }
            Piece::Bold(text) | Piece::Emphasis(text) | Piece::Code(text) => read.push_str(text),
            Piece::Live(_) => read.push('0'),
            Piece::Term(text, word) => {
                words.push(Word::named(word).unwrap_or_else(|| panic!("no word {word}: {text}")));
                read.push_str(text);
            }
            Piece::Part(text, _, role) => {
                assert!(Hue::named(role).is_some(), "no role {role}: {text}");
                read.push_str(text);
            }
            Piece::Asked(text, _) | Piece::View(text, _) => read.push_str(text),
        }
    }
    (read, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_stays_with_its_button() {
        use Piece::*;
        assert_eq!(
            together(pieces("An [RNN](rnn), [U](#u weight) and **so**, [on](on).")),
            [
                (Plain("An "), ""),
                (Term("RNN", "rnn"), ","),
                (Plain(" "), ""),
                (Part("U", "u", "weight"), ""),
                (Plain(" and "), ""),
                (Bold("so"), ""),
                (Plain(", "), ""),
                (Term("on", "on"), "."),
                (Plain(""), ""),
            ]
        );
    }

    #[test]
    fn marks_are_read_and_others_stand_for_themselves() {
        use Piece::*;
        assert_eq!(
            pieces("An [RNN](rnn) has a **state** `s`, [U](#u weight) and {n} units."),
            [
                Plain("An "),
                Term("RNN", "rnn"),
                Plain(" has a "),
                Bold("state"),
                Plain(" "),
                Code("s"),
                Plain(", "),
                Part("U", "u", "weight"),
                Plain(" and "),
                Live("n"),
                Plain(" units."),
            ]
        );
        assert_eq!(pieces("[Drag](>plane) it."), [Asked("Drag", "plane"), Plain(" it.")]);
        assert_eq!(
            together(pieces("[Open it](@heads). Go.")),
            [(View("Open it", "heads"), "."), (Plain(" Go."), "")]
        );
        assert_eq!(pieces("2 * 3 [see"), [Plain("2 * 3 [see")]);
        assert_eq!(pieces("*not* {"), [Emphasis("not"), Plain(" {")]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn what_is_folded_away_has_a_label() {
        assert_eq!(fold("One.\n\nTwo."), ("One.\n\nTwo.", None));
        assert_eq!(aim("@ figure-loss\n\nOne.\n\nTwo."), (Some("figure-loss"), "One.\n\nTwo."));
        assert_eq!((aim("One."), fold("@ it\n\nOne.")), ((None, "One."), ("One.", None)));
        assert_eq!(
            fold("One.\n\n+ Why?\n\nTwo.\n\nThree."),
            ("One.", Some(("Why?", "Two.\n\nThree.")))
        );
        let (read, words) = plain("One.\n\n+ Why?\n\nThe [loss](loss).");
        assert_eq!(read, "One.\nWhy?\nThe loss.\n");
        assert_eq!(words, [Word::Loss]);
    }

    #[test]
    fn reads_as_a_sentence() {
        let (read, words) = plain("The [loss](loss) is {loss}.\n\n! Lower is *better*.");
        assert_eq!(read, "The loss is 0.\nLower is better.\n");
        assert_eq!(words, [Word::Loss]);
    }
}
