//! Drawings fade from what they showed to what a beat of the story shows. What is made of cells, lines or
//! bars moves (see [`super::motion`]); a drawing's parts come and go, so its old picture is laid over the
//! new one and fades. Only the picture: what is read and exported is what is there.

use core::time::Duration;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlElement, NodeList};

/// The drawings on the stage. Bars move, and so do unrolled columns.
const DRAWINGS: &str = ".view .figure-box:not(.bars-room, .rnn-scroller)";
const CLASS: &str = "fading";
/// After so long a copy has faded (see figures.css).
const FADED: Duration = Duration::from_millis(400);

/// Lays a copy of every drawing over it, which fades away.
pub fn fade() {
    let Ok(drawings) = document().query_selector_all(DRAWINGS) else { return };
    for drawing in elements::<HtmlElement>(&drawings) {
        // One beat after the other: what fades already goes on.
        let fades = drawing.next_element_sibling().is_some_and(|e| e.class_list().contains(CLASS));
        if !fades && drawing.client_width() > 0 && lay_over(&drawing).is_none() {
            // Without its copy it jumps.
            leptos::logging::debug_warn!("a drawing could not be copied");
        }
    }
}

fn elements<E: JsCast>(list: &NodeList) -> impl Iterator<Item = E> {
    (0..list.length()).filter_map(|i| list.get(i)?.dyn_into().ok())
}

fn lay_over(drawing: &HtmlElement) -> Option<()> {
    let copy: HtmlElement = drawing.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
    let canvases = |of: &HtmlElement| of.query_selector_all("canvas").ok();
    let (from, to) = (canvases(drawing)?, canvases(&copy)?);
    for (from, to) in elements::<HtmlCanvasElement>(&from).zip(elements::<HtmlCanvasElement>(&to)) {
        let context: CanvasRenderingContext2d = to.get_context("2d").ok()??.dyn_into().ok()?;
        // An empty one has no picture to give.
        let _ = context.draw_image_with_html_canvas_element(&from, 0.0, 0.0);
    }
    // Each name stays with the one element that it is of.
    nameless(&copy);
    for named in elements::<Element>(&copy.query_selector_all("[id], [data-testid]").ok()?) {
        nameless(&named);
    }
    copy.class_list().add_1(CLASS).ok()?;
    copy.set_attribute("aria-hidden", "true").ok()?;
    copy.set_attribute("inert", "").ok()?;
    let there = drawing.get_bounding_client_rect();
    let size = format!("width:{}px;height:{}px", there.width(), there.height());
    copy.set_attribute("style", &size).ok()?;
    drawing.after_with_node_1(&copy).ok()?;
    copy.set_scroll_left(drawing.scroll_left());
    copy.set_scroll_top(drawing.scroll_top());
    let here = copy.get_bounding_client_rect();
    let (x, y) = (there.x() - here.x(), there.y() - here.y());
    copy.set_attribute("style", &format!("{size};translate:{x}px {y}px")).ok()?;
    set_timeout(move || copy.remove(), FADED);
    Some(())
}

fn nameless(element: &Element) {
    // Neither fails.
    let _ = element.remove_attribute("id");
    let _ = element.remove_attribute("data-testid");
}
