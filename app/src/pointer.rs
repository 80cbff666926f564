//! What the page is pointed with, and the words for that.

use std::borrow::Cow;

use leptos::prelude::window;

/// Whether it is a finger, which points at nothing before it taps.
pub fn is_coarse() -> bool {
    let query = window().match_media("(pointer: coarse)").ok().flatten();
    query.is_some_and(|query| query.matches())
}

/// A text that says what to point at and click, as the reader does that.
pub fn worded(text: &str) -> Cow<'_, str> {
    let names_mouse = ["oint at", "lick", TRAIN].iter().any(|words| text.contains(words));
    if names_mouse && is_coarse() { for_fingers(text).into() } else { text.into() }
}

/// On a phone the button has no room for its word.
const TRAIN: &str = "ress Train";

fn for_fingers(text: &str) -> String {
    let words = [
        ("Point at", "Tap"),
        ("point at", "tap"),
        ("Click", "Tap"),
        ("click", "tap"),
        (TRAIN, "ress ▶ Train"),
    ];
    words.iter().fold(text.to_owned(), |text, (mouse, finger)| text.replace(mouse, finger))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingers_tap() {
        assert_eq!(
            for_fingers("Point at a cell. Click it, then point at it. Press Train."),
            "Tap a cell. Tap it, then tap it. Press ▶ Train."
        );
    }
}
