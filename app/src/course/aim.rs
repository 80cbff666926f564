//! What a beat speaks of is brought into sight where the view scrolls, as on phones.

use core::time::Duration;

use leptos::{ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::{
    controls::{Timer, use_timer},
    figures::scroll::{self, Land, place_in},
    reactive::effect,
};

/// The view comes on show first, and its figures once the model has answered.
const AGAIN: Duration = Duration::from_millis(150);
/// So often it is looked for.
const TRIES: u32 = 200;
/// So often it is brought into sight once it and all around it are there.
const SETTLES: u32 = 6;
/// At least as wide as the edges at which rows that scroll fade out, see teaching.css.
const FADED: f64 = 44.0;

/// Brings into sight what the beat in focus speaks of: `aims` are the test ids of elements in the view.
/// Again in a window of another size, such as that of a phone that is turned. Not against the learner: it ends when
/// something is pressed or scrolled on the stage.
pub fn use_aim(number: Memo<u32>, aims: Vec<Option<&'static str>>) {
    let timer = use_timer();
    let aim = StoredValue::new(None::<&'static str>);
    effect(move || {
        let id = aims.get(number.get() as usize).copied().flatten();
        aim.set_value(id);
        match id {
            Some(id) => seek(timer, id, TRIES),
            None => timer.stop(),
        }
    });
    let stop = move |event: &web_sys::Event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if target.is_some_and(|target| target.closest(".stage").ok().flatten().is_some()) {
            aim.set_value(None);
            timer.stop();
        }
    };
    let turned = window_event_listener(ev::resize, move |_| {
        if let Some(id) = aim.get_value() {
            seek(timer, id, TRIES);
        }
    });
    let pressed = window_event_listener(ev::pointerdown, move |event| stop(&event));
    let wheeled = window_event_listener(ev::wheel, move |event| stop(&event));
    on_cleanup(move || {
        turned.remove();
        pressed.remove();
        wheeled.remove();
    });
}

fn seek(timer: Timer, id: &'static str, left: u32) {
    timer.start(AGAIN, move || {
        let selector = format!("#stage-view [data-testid=\"{id}\"]");
        let found = document().query_selector(&selector).ok().flatten();
        if let Some(element) = &found {
            bring_into_sight(element);
        }
        let is_behind =
            document().query_selector("[data-answers=\"behind\"]").ok().flatten().is_some();
        let left = if found.is_some() && !is_behind { left.min(SETTLES) } else { left };
        if left > 0 {
            seek(timer, id, left - 1);
        }
    });
}

/// Scrolls whatever is between the stage and the element as far as it takes to see it; what is larger than
/// there is room is seen from its start.
pub fn bring_into_sight(element: &Element) {
    for room in rooms(element) {
        let [across, down] = place_in(&room, element);
        scroll::down(&room, down, Land::AtEdge(0.0));
        scroll::across(&room, across, Land::AtEdge(0.0));
    }
}

/// The same sideways alone: how far down a view is scrolled is for what the beat speaks of.
pub fn bring_across(element: &Element) {
    for room in rooms(element) {
        let [across, _] = place_in(&room, element);
        scroll::across(&room, across, Land::AtEdge(FADED));
    }
}

/// What is between the stage and the element.
fn rooms(element: &Element) -> impl Iterator<Item = Element> {
    let around = core::iter::successors(element.parent_element(), |room| room.parent_element());
    around.take_while(|room| room.id() != "stage-view")
}

/// The view from its start: nothing of it is scrolled.
pub fn from_the_start(view: &Element) {
    let pages = view.query_selector_all(".view-split, .view-side").ok();
    let pages =
        pages.into_iter().flat_map(|pages| (0..pages.length()).filter_map(move |i| pages.item(i)));
    let pages = pages.filter_map(|page| page.dyn_into::<Element>().ok());
    for room in [view.clone()].into_iter().chain(pages) {
        room.set_scroll_top(0);
        room.set_scroll_left(0);
    }
}
