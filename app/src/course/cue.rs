//! What the beat in focus asks to use is marked on the stage, so that it is the first thing one sees there.

use core::time::Duration;

use leptos::{ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, KeyboardEvent, NodeList};

use super::aim::bring_across;
use crate::{
    controls::{Timer, use_timer},
    reactive::effect,
};

/// Views come and go with their buttons. Looking now and then costs less than being told of every change,
/// for pictures change with each step of training.
const AGAIN: Duration = Duration::from_millis(300);
/// The attribute of what is marked: how the beat names it. No component writes it.
const MARK: &str = "data-cue";
/// On a stretch of a text: the test id of what it asks to use.
const ASKED: &str = "data-asked";
/// What a text calls the button that trains, whatever it says at the time.
const TRAIN: &str = "Train";

/// Marks what the beat in focus asks for, until it is used: buttons by the names that it has in quotes, Train where
/// it says so, and what else it names by its test id.
pub fn use_cue(number: Memo<u32>) {
    let timer = use_timer();
    let used = StoredValue::new(Vec::<String>::new());
    effect(move || {
        number.track();
        used.set_value(vec![]);
        // The story puts the beat in focus meanwhile.
        timer.start(Duration::ZERO, move || look(timer, used));
    });
    let heard = move |event: &Event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let marked = target.and_then(|target| target.closest(&format!("[{MARK}]")).ok().flatten());
        if let Some(name) =
            marked.filter(|marked| is_use(event, marked)).and_then(|it| it.get_attribute(MARK))
        {
            used.update_value(|used| used.push(name));
            look(timer, used);
        }
    };
    let listeners = [
        window_event_listener(ev::click, move |event| heard(&event)),
        window_event_listener(ev::input, move |event| heard(&event)),
        window_event_listener(ev::keydown, move |event| heard(&event)),
        window_event_listener(ev::pointerdown, move |event| heard(&event)),
        window_event_listener(ev::pointerover, move |event| heard(&event)),
    ];
    on_cleanup(move || listeners.into_iter().for_each(|listener| listener.remove()));
}

/// Whether what happens to something marked is what was asked for. A button is pressed, also by keys; a figure or a
/// field is used with its first touch, and one that is to be pointed at as soon as the pointer is there.
fn is_use(event: &Event, marked: &Element) -> bool {
    match event.type_().as_str() {
        "click" => true,
        _ if marked.tag_name() == "BUTTON" => false,
        "keydown" => event.unchecked_ref::<KeyboardEvent>().key() != "Tab",
        "pointerover" => marked.get_attribute(MARK).is_some_and(|id| {
            let asked =
                document().query_selector(&format!(".beat-on [{ASKED}=\"{id}\"]")).ok().flatten();
            asked
                .and_then(|asked| asked.text_content())
                .is_some_and(|text| text.starts_with("Point"))
        }),
        _ => true,
    }
}

fn look(timer: Timer, used: StoredValue<Vec<String>>) {
    let is_used = |name: &String| used.with_value(|used| used.contains(name));
    let asked = document().query_selector(".beat-on .beat-do").ok().flatten();
    let mut names =
        asked.map(|asked| named(&asked.text_content().unwrap_or_default())).unwrap_or_default();
    names.retain(|name| !is_used(name));
    let parts = elements(document().query_selector_all(&format!(".beat-on [{ASKED}]")));
    let ids = parts.filter_map(|part| part.get_attribute(ASKED)).filter(|id| !is_used(id));
    let mut wanted: Vec<(Element, String)> = ids
        .filter_map(|id| {
            let found =
                document().query_selector(&format!(".stage [data-testid=\"{id}\"]")).ok().flatten();
            Some((found?, id))
        })
        .collect();
    if !names.is_empty() {
        for button in elements(document().query_selector_all(".stage button")) {
            let label = button.text_content().unwrap_or_default();
            // Each name is one button's, the first of all that it may be.
            if let Some(at) = names.iter().position(|name| is_called(label.trim(), name)) {
                wanted.push((button, names.remove(at)));
            }
        }
    }
    for marked in elements(document().query_selector_all(&format!(".stage [{MARK}]"))) {
        if !wanted.iter().any(|(element, _)| *element == marked) {
            let _ = marked.remove_attribute(MARK);
        }
    }
    for (element, name) in wanted {
        if element.get_attribute(MARK).as_ref() != Some(&name) {
            let _ = element.set_attribute(MARK, &name);
            // In a row that scrolls it may be out of sight.
            if element.matches("#stage-view button").unwrap_or_default() {
                bring_across(&element);
            }
        }
    }
    timer.start(AGAIN, move || look(timer, used));
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
