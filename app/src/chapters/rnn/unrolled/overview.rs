//! The whole sentence in one strip, with the part in view: drag it to scroll.

use std::sync::Arc;

use leptos::{ev, html, prelude::*};

use super::{
    data::Diagram,
    layout::{Layout, NAMES},
    paint::paint_overview,
};
use crate::figures::{canvas::Size, drag::dragging, theme::use_colors};
use crate::reactive::{effect, memo};

/// For eyes and pointers only: keys move along the diagram itself.
#[component]
pub fn Overview(
    diagram: Memo<Arc<Diagram>>,
    layout: Memo<Layout>,
    scroller: NodeRef<html::Div>,
    /// How far the diagram is scrolled, in pixels.
    scrolled: Signal<f64>,
    /// Of the scroller.
    size: Signal<Size>,
) -> impl IntoView {
    let strip = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let colors = use_colors();
    effect(move || {
        let Some(canvas) = canvas.get() else { return };
        colors.with(|colors| diagram.with(|diagram| paint_overview(&canvas, diagram, colors)));
    });
    // The part of the steps that is in view, in shares of all.
    let view = memo(move || {
        let (unrolled, length) = diagram.with(|d| (d.unrolled as f64, d.length().max(1) as f64));
        let l = layout.get();
        // What the names hide is not in view.
        let first = ((scrolled.get() + NAMES - l.left) / l.column).clamp(0.0, unrolled);
        let last = ((scrolled.get() + size.get().width - l.left) / l.column).clamp(first, unrolled);
        (first / length, last / length)
    });
    let scroll = move |e: &ev::PointerEvent| {
        let (strip, scroller) = (strip.get_untracked()?, scroller.get_untracked()?);
        let rect = strip.get_bounding_client_rect();
        let share =
            ((f64::from(e.client_x()) - rect.left()) / rect.width().max(1.0)).clamp(0.0, 1.0);
        let length = diagram.with_untracked(|d| d.length());
        let l = layout.get_untracked();
        let middle = l.left + l.column * share * length as f64;
        let seen = (f64::from(scroller.client_width()) + NAMES) / 2.0;
        scroller.set_scroll_left((middle - seen) as i32);
        Some(())
    };
    let drag = dragging(RwSignal::new(None), scroll, move |e, ()| _ = scroll(e));
    // Where everything is in view it would only take room.
    let needed = memo(move || layout.get().width() > size.get().width + 1.0);
    view! {
        <div {..drag} class="rnn-overview" class:rnn-needless=move || !needed.get() node_ref=strip aria-hidden="true" data-testid="rnn-overview"
            title="The whole sentence: drag to scroll">
            <canvas node_ref=canvas></canvas>
            <div class="rnn-window" style=move || {
                let (first, last) = view.get();
                format!("left:{:.2}%;width:{:.2}%", first * 100.0, (last - first) * 100.0)
            }></div>
        </div>
    }
    .into_any()
}
