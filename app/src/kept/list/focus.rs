//! Where the keyboard’s focus goes when the list is drawn anew.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// The button that takes a deletion back.
pub(super) const UNDO: &str = "kept-undo";
/// The button that deletes all.
pub(super) const ALL: &str = "kept-all";
pub(super) const HEADING: &str = "kept-heading";
/// Frames in which the focus is passed on.
const FRAMES: u32 = 10;
/// What can be done with a run. Whoever was on one that is gone is on the first that is there.
pub(super) const ACTIONS: [&str; 4] = ["continue", "rename", "duplicate", "delete"];

/// The id of a button of a run's.
pub(super) fn id(action: &str, file: &str) -> String {
    format!("kept-{action}-{file}")
}

/// Where the focus goes when a run's button or the list's is gone that had it: to another of that run, or
/// to what takes the deletion back.
pub(super) fn instead_of(focused: &str) -> Vec<String> {
    let of_run = ACTIONS.iter().find_map(|action| focused.strip_prefix(&id(action, "")));
    let mut to = vec![focused.to_owned()];
    to.extend(of_run.into_iter().flat_map(|file| ACTIONS.map(|action| id(action, file))));
    to.push(UNDO.to_owned());
    to
}

/// Puts the focus on the first of these that is there, if it is nowhere, or still on what had it: a list
/// that is drawn anew uses the elements of one run for another.
pub(super) fn focus_one_of(to: Vec<String>, had: Option<Element>) {
    focus_within(FRAMES, to, had);
}

/// The same within so many frames, for what is to have the focus may not be drawn yet. A focus that is
/// nowhere by then goes to the list's heading, until there is something better.
fn focus_within(frames: u32, to: Vec<String>, had: Option<Element>) {
    request_animation_frame(move || {
        let page = document();
        let focused = page.active_element().filter(|element| element.tag_name() != "BODY");
        let is_nowhere = focused.as_ref().is_none_or(|element| element.id() == HEADING);
        if !is_nowhere && focused != had {
            return;
        }
        let find = |id: &str| page.get_element_by_id(id);
        let found = to.iter().find_map(|id| find(id));
        if found.is_none() && frames > 1 {
            return focus_within(frames - 1, to, had);
        }
        if let Some(element) = found.or_else(|| find(HEADING).filter(|_| is_nowhere)) {
            _ = element.unchecked_into::<HtmlElement>().focus();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_focus_stays_with_its_run() {
        let to = instead_of("kept-continue-run-1-00ff");
        assert_eq!(to[0], "kept-continue-run-1-00ff");
        assert!(to.contains(&id("delete", "run-1-00ff")), "{to:?}");
        assert_eq!(to[to.len() - 1], UNDO);
        assert_eq!(instead_of(ALL), [ALL, UNDO]);
    }
}
