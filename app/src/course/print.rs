//! The story on paper: each beat with its view beneath it.
//!
//! Views are made only while they are on the stage, so they are gone through once, and what each
//! showed is copied into its beat. The browser's own menu can't wait for that: it prints the story with
//! the view that is on show, as it stands on the screen.

use core::pin::Pin;

use leptos::{ev, prelude::*, task::spawn_local};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlElement};

use super::story::Beats;
use crate::{
    fetched::{Fetch, part},
    figures::{motion, next_frame},
    store::Store,
};

/// Room of a picture on paper, in CSS pixels.
const PAPER: [f64; 2] = [660.0, 880.0];
/// Smaller than so, words can't be read. What would have to be prints as much as the stage shows.
const LEAST_ZOOM: f64 = 0.4;
/// Room that one part gets changes what the others need. It settles in fewer rounds.
const MOST_ROUNDS: u32 = 6;
/// A view that has not answered after so many frames is printed as it is.
const MOST_FRAMES: u32 = 240;
/// So many frames after the last answer each figure has asked for what it needs, and is painted.
const QUIET_FRAMES: u32 = 8;
/// Marks the copies and what stands in their place, and the page while they are there.
const COPY: &str = "beat-print";
const NO_COPY: &str = "beat-print-none";
const PRINTING: &str = "printing";
/// Said where a beat's figure is not.
const ELSEWHERE: &str =
    "The figure here is of another model. Open this part on the page to see it.";

/// Whether the story is gone through to be printed: what changes meanwhile comes back.
pub fn is_printing() -> bool {
    document().body().is_some_and(|body| body.class_list().contains(PRINTING))
}

/// Ctrl+P prints the story with its views. `behind` is whether a picture on show is of an earlier model.
pub fn use_print(store: Store, beats: Beats, behind: Signal<bool>) {
    let busy = StoredValue::new(false);
    let listener = window_event_listener(ev::keydown, move |event| {
        let print = (event.ctrl_key() || event.meta_key()) && event.key() == "p";
        if !print || busy.get_value() {
            return;
        }
        event.prevent_default();
        busy.set_value(true);
        spawn_local(async move {
            match PRINT().await {
                Ok(print) => print(store, beats, behind).await,
                // The story alone is better than nothing.
                Err(_) => drop(window().print()),
            }
            busy.try_set_value(false);
        });
    });
    // No observer runs while the browser prints: figures keep their size, and the stage has to.
    let menu = window_event_listener(ev::beforeprint, |_| {
        keep_size();
    });
    on_cleanup(move || {
        listener.remove();
        menu.remove();
    });
}

/// Says to the style sheet how large the stage and its view are on the screen.
fn keep_size() -> Option<()> {
    let stage = document().query_selector(".stage").ok()??;
    let view = stage.query_selector(".view").ok()??;
    let (width, height) = (stage.client_width(), view.scroll_height());
    stage.set_attribute("style", &format!("--width:{width};--height:{height}")).ok()
}

/// Ends when the paper has been handed over.
type Printing = Pin<Box<dyn Future<Output = ()>>>;

/// Prints the story; see [`use_print`].
type Print = fn(Store, Beats, Signal<bool>) -> Printing;

/// Most visits print nothing.
const PRINT: Fetch<Print> =
    part!(print: Print = |store, beats, behind| Box::pin(print_story(store, beats, behind)));

async fn print_story(store: Store, beats: Beats, behind: Signal<bool>) {
    let before = store.link.get_untracked();
    let copied = copy_views(beats, behind).await;
    store.link.try_set(before);
    if copied.is_some() {
        let _ = window().print();
    }
    remove_copies();
}

/// Goes through the beats and copies the view of each; `None` where the chapter was left meanwhile.
async fn copy_views(beats: Beats, behind: Signal<bool>) -> Option<()> {
    document().body()?.class_list().add_1(PRINTING).ok()?;
    motion::end();
    for number in 0..beats.count() {
        let beat = document().query_selector(&format!("[data-beat=\"{number}\"]")).ok()??;
        // A beat about another model would cost the learner the one in training.
        if !beats.keeps_model(number) {
            if beats.sets_stage(number) {
                let why = document().create_element("p").ok()?;
                why.set_class_name(NO_COPY);
                why.set_text_content(Some(ELSEWHERE));
                beat.append_child(&why).ok()?;
            }
            continue;
        }
        beats.show(number);
        let (mut frames, mut quiet) = (0, 0);
        loop {
            next_frame().await;
            frames += 1;
            let fetches = document().query_selector(".stage-view .fetching").ok()?.is_some();
            let waits = behind.try_get_untracked()? || fetches;
            quiet = if waits { 0 } else { quiet + 1 };
            if frames > MOST_FRAMES || quiet > QUIET_FRAMES {
                break;
            }
        }
        let view = document().query_selector(".stage-view > .view").ok()??;
        let view = view.unchecked_into();
        let sheet = copy(&view)?;
        beat.append_child(&sheet).ok()?;
        fit(&sheet, [view.client_width(), view.client_height()])?;
    }
    Some(())
}

/// A picture of the view: its elements, with what its canvases show.
fn copy(view: &HtmlElement) -> Option<Element> {
    let clone: Element = view.clone_node_with_deep(true).ok()?.unchecked_into();
    let (from, to) =
        (view.query_selector_all("canvas").ok()?, clone.query_selector_all("canvas").ok()?);
    for i in 0..from.length().min(to.length()) {
        let canvas: HtmlCanvasElement = from.get(i)?.unchecked_into();
        let place: HtmlCanvasElement = to.get(i)?.unchecked_into();
        let context: CanvasRenderingContext2d = place.get_context("2d").ok()??.unchecked_into();
        // An empty canvas has no picture to give.
        let _ = context.draw_image_with_html_canvas_element(&canvas, 0.0, 0.0);
    }
    // Each name stays with the one element that it is of. One choice of a name is made at a time: the copy
    // would take it from the page.
    for name in ["id", "name", "data-testid"] {
        let named = clone.query_selector_all(&format!("[{name}]")).ok()?;
        for i in 0..named.length() {
            named.get(i)?.unchecked_into::<Element>().remove_attribute(name).ok()?;
        }
    }
    let sheet = document().create_element("div").ok()?;
    sheet.set_class_name(COPY);
    sheet.set_attribute("aria-hidden", "true").ok()?;
    sheet.append_child(&clone).ok()?;
    Some(sheet)
}

/// Gives a copy of a view of this size the room that it needs where nothing scrolls, and the zoom that it
/// has on the paper then.
fn fit(sheet: &Element, stage: [i32; 2]) -> Option<()> {
    let mut size = stage;
    for _ in 0..MOST_ROUNDS {
        let [width, height] = size;
        let unseen = format!(
            "display:block;position:fixed;visibility:hidden;width:{width}px;height:{height}px"
        );
        sheet.set_attribute("style", &unseen).ok()?;
        let hidden = hidden(sheet)?;
        if hidden == [0, 0] {
            break;
        }
        size = [width + hidden[0], height + hidden[1]];
    }
    let zoom_of = |[width, height]: [i32; 2]| {
        (PAPER[0] / f64::from(width.max(1))).min(PAPER[1] / f64::from(height.max(1)))
    };
    if zoom_of(size) < LEAST_ZOOM {
        size = stage;
    }
    let ([width, height], zoom) = (size, zoom_of(size));
    sheet.set_attribute("style", &format!("width:{width}px;height:{height}px;zoom:{zoom:.3}")).ok()
}

/// How much of a copy one would have to scroll to, across and down.
fn hidden(sheet: &Element) -> Option<[i32; 2]> {
    let mut most = [0, 0];
    let parts = sheet.query_selector_all("*").ok()?;
    for i in 0..parts.length() {
        let part: Element = parts.get(i)?.unchecked_into();
        let (width, height) = (part.client_width(), part.client_height());
        let over = [part.scroll_width() - width, part.scroll_height() - height];
        // Sizes are rounded.
        if width == 0 || over.iter().all(|over| *over < 2) {
            continue;
        }
        let style = window().get_computed_style(&part).ok()??;
        let is_view = i == 0;
        for ((most, over), side) in most.iter_mut().zip(over).zip(["overflow-x", "overflow-y"]) {
            if over > 1 && (is_view || style.get_property_value(side).ok()? == "auto") {
                *most = over.max(*most);
            }
        }
    }
    Some(most)
}

fn remove_copies() {
    if let Some(body) = document().body() {
        let _ = body.class_list().remove_1(PRINTING);
    }
    let Ok(copies) = document().query_selector_all(&format!(".{COPY}, .{NO_COPY}")) else { return };
    for i in 0..copies.length() {
        if let Some(copy) = copies.get(i) {
            copy.unchecked_into::<Element>().remove();
        }
    }
}
