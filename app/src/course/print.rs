//! The story on paper: each beat with its view beneath it.
//!
//! Views are made only while they are on the stage, so they are gone through once, and what each
//! showed is copied into its beat. The browser's own menu can't wait for that: it prints the story with
//! the view that is on show.

use core::pin::Pin;

use leptos::{ev, prelude::*, task::spawn_local};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlCanvasElement, HtmlElement, Node};

use super::story::Beats;
use crate::{
    fetched::{Fetch, part},
    figures::{motion, next_frame},
    store::Store,
};

/// Width of a picture on paper, in CSS pixels.
const PAPER: f64 = 660.0;
/// A view that has not answered after so many frames is printed as it is.
const MOST_FRAMES: u32 = 240;
/// Marks the copies, and the page while they are there.
const COPY: &str = "beat-print";
const PRINTING: &str = "printing";

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
    on_cleanup(move || listener.remove());
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
        // A beat about another model would cost the learner the one in training.
        if !beats.keeps_model(number) {
            continue;
        }
        beats.show(number);
        let mut frames = 0;
        loop {
            next_frame().await;
            frames += 1;
            let fetches = document().query_selector(".stage-view .fetching").ok()?.is_some();
            let waits = behind.try_get_untracked()? || fetches;
            if frames > MOST_FRAMES || (frames > 3 && !waits) {
                break;
            }
        }
        let beat = document().query_selector(&format!("[data-beat=\"{number}\"]")).ok()??;
        let view = document().query_selector(".stage-view > .view").ok()??;
        beat.append_child(&copy(&view.unchecked_into())?).ok()?;
    }
    Some(())
}

/// A picture of the view: its elements, with canvases as images.
fn copy(view: &HtmlElement) -> Option<Node> {
    let clone: HtmlElement = view.clone_node_with_deep(true).ok()?.unchecked_into();
    let (from, to) =
        (view.query_selector_all("canvas").ok()?, clone.query_selector_all("canvas").ok()?);
    for i in 0..from.length().min(to.length()) {
        let canvas: HtmlCanvasElement = from.get(i)?.unchecked_into();
        let place: HtmlElement = to.get(i)?.unchecked_into();
        let image: HtmlElement = document().create_element("img").ok()?.unchecked_into();
        // An empty canvas has no picture to give.
        let picture = canvas.to_data_url().unwrap_or_default();
        image.set_attribute("src", &picture).ok()?;
        image.set_attribute("alt", "").ok()?;
        image.set_class_name(&place.class_name());
        let style = place.get_attribute("style").unwrap_or_default();
        let (width, height) = (canvas.client_width(), canvas.client_height());
        image.set_attribute("style", &format!("{style};width:{width}px;height:{height}px")).ok()?;
        place.replace_with_with_node_1(&image).ok()?;
    }
    // Each name stays with the one element that it is of.
    let named = clone.query_selector_all("[id], [data-testid]").ok()?;
    for i in 0..named.length() {
        let element: Element = named.get(i)?.unchecked_into();
        element.remove_attribute("id").ok()?;
        element.remove_attribute("data-testid").ok()?;
    }
    let (width, height) = (view.client_width(), view.client_height());
    let zoom = PAPER / f64::from(width.max(1));
    clone
        .set_attribute("style", &format!("width:{width}px;height:{height}px;zoom:{zoom:.3}"))
        .ok()?;
    let sheet = document().create_element("div").ok()?;
    sheet.set_class_name(COPY);
    sheet.set_attribute("aria-hidden", "true").ok()?;
    sheet.append_child(&clone).ok()?;
    Some(sheet.unchecked_into())
}

fn remove_copies() {
    if let Some(body) = document().body() {
        let _ = body.class_list().remove_1(PRINTING);
    }
    let Ok(copies) = document().query_selector_all(&format!(".{COPY}")) else { return };
    for i in 0..copies.length() {
        if let Some(copy) = copies.get(i) {
            copy.unchecked_into::<Element>().remove();
        }
    }
}
