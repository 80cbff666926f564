//! Dragging: the primary button or a finger takes hold of something, which follows it, also beyond
//! the edge, until it is let go.
//!
//! Two gestures stay what they are: in tokens text is selected, by entering one after the other, and
//! in the mask editor a press is a click until it reaches a second cell.

use leptos::{attr::Attribute, ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::Element;

/// For the element within which something is dragged. `take` says what a press takes hold of; that
/// is `held` until the pointer lets go, and `drag` hears of every move with it.
pub fn dragging<H: Copy + Send + Sync + 'static>(
    held: RwSignal<Option<H>>,
    take: impl Fn(&ev::PointerEvent) -> Option<H> + 'static,
    drag: impl Fn(&ev::PointerEvent, H) + 'static,
) -> impl Attribute {
    let on_down = move |e: ev::PointerEvent| {
        let Some(taken) = (e.button() == 0).then(|| take(&e)).flatten() else { return };
        held.set(Some(taken));
        if let Some(element) = e.current_target() {
            // A pointer that is gone captures nothing.
            let _ = element.unchecked_into::<Element>().set_pointer_capture(e.pointer_id());
        }
    };
    let on_move = move |e: ev::PointerEvent| {
        if let Some(held) = held.get_untracked() {
            drag(&e, held);
        }
    };
    let drop = move |_: ev::PointerEvent| held.set(None);
    (
        ev::on(ev::pointerdown, on_down),
        ev::on(ev::pointermove, on_move),
        ev::on(ev::pointerup, drop),
        ev::on(ev::pointercancel, drop),
    )
}
