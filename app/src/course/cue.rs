//! What the beat in focus asks to press is marked on the stage, so that it is the first thing one sees there.

use core::time::Duration;

use leptos::{ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::{Element, NodeList};

use crate::{
    controls::{Timer, use_timer},
    reactive::effect,
};

/// Views come and go with their buttons. Looking now and then costs less than being told of every change,
/// for pictures change with each step of training.
const AGAIN: Duration = Duration::from_millis(300);
/// The attribute of a marked button. No component writes it.
const MARK: &str = "data-cue";
/// What a text calls the button that trains, whatever it says at the time.
const TRAIN: &str = "Train";

/// Marks the buttons that the beat in focus names in quotes, or Train where it says so, until they are pressed.
pub fn use_cue(number: Memo<u32>) {
    let timer = use_timer();
    let pressed = StoredValue::new(Vec::<String>::new());
    effect(move || {
        number.track();
        pressed.set_value(vec![]);
        // The story puts the beat in focus meanwhile.
        timer.start(Duration::ZERO, move || look(timer, pressed));
    });
    let click = window_event_listener(ev::click, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let marked = target.and_then(|target| target.closest(&format!("[{MARK}]")).ok().flatten());
        if let Some(name) = marked.as_ref().and_then(|marked| marked.get_attribute(MARK)) {
            pressed.update_value(|pressed| pressed.push(name));
            look(timer, pressed);
        }
    });
    on_cleanup(move || click.remove());
}

fn look(timer: Timer, pressed: StoredValue<Vec<String>>) {
    let asked = document().query_selector(".beat-on .beat-do").ok().flatten();
    let mut names =
        asked.map(|asked| named(&asked.text_content().unwrap_or_default())).unwrap_or_default();
    pressed.with_value(|pressed| names.retain(|name| !pressed.contains(name)));
    let is_marked = document().query_selector(&format!(".stage [{MARK}]")).ok().flatten().is_some();
    // Most of the time there is nothing to mark and nothing marked.
    let buttons = (is_marked || !names.is_empty())
        .then(|| elements(document().query_selector_all(".stage button")));
    for button in buttons.into_iter().flatten() {
        let label = button.text_content().unwrap_or_default();
        // Each name is one button's, the first of all that it may be.
        let name = names.iter().position(|name| is_called(label.trim(), name));
        let name = name.map(|name| names.remove(name));
        match (button.get_attribute(MARK), name) {
            (marked, name) if marked == name => {}
            (_, Some(name)) => _ = button.set_attribute(MARK, &name),
            (_, None) => _ = button.remove_attribute(MARK),
        }
    }
    timer.start(AGAIN, move || look(timer, pressed));
}

fn elements(all: Result<NodeList, wasm_bindgen::JsValue>) -> impl Iterator<Item = Element> {
    let all = all.ok();
    let length = all.as_ref().map_or(0, NodeList::length);
    (0..length).filter_map(move |i| all.as_ref()?.item(i)?.dyn_into().ok())
}

/// The buttons that a text names.
fn named(asked: &str) -> Vec<String> {
    let quoted = asked.split('“').skip(1).filter_map(|rest| Some(rest.split_once('”')?.0));
    let mut names: Vec<String> =
        quoted.map(|name| name.trim_end_matches(['.', ',', '?']).to_owned()).collect();
    let words = asked.split(|letter: char| !letter.is_alphabetic());
    if words.clone().any(|word| matches!(word, "Train" | "train"))
        || asked.starts_with("Keep training")
    {
        names.push(TRAIN.to_owned());
    }
    names
}

/// Whether a button with this label is the one of that name: what it acts on may follow the name.
fn is_called(label: &str, name: &str) -> bool {
    label.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_buttons() {
        assert_eq!(named("Press “Fold back”: all this is one cell."), ["Fold back"]);
        assert_eq!(named("Press “Patch each token.” Which swaps help?"), ["Patch each token"]);
        assert_eq!(named("Press “One” or “Two.”"), ["One", "Two"]);
        assert_eq!(named("Make your guess. Then train all three."), [TRAIN]);
        assert_eq!(named("Keep training: which is ahead?"), [TRAIN]);
        assert!(named("Where is the training text’s curve lowest?").is_empty());
        assert!(is_called("Merge ‘a’ + ‘b’, 7 times", "Merge"));
        assert!(is_called("Fold back", "Fold back") && !is_called("Merges", "Merge"));
    }
}
