//! A vector of signed values as a small coloured strip, cheap enough for many on a page.

use leptos::{html, prelude::*};
use web_sys::CanvasRenderingContext2d;

use super::{
    canvas::{prepare, use_latest, use_size, use_visible},
    theme::{Colors, use_colors},
};

/// A rectangle in the units its canvas is drawn in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Paints `values` side by side (or, `vertical`, one under the other) into `rect`, in the signed
/// map's colours from `-limit` to `limit`. What is not finite is left as grey.
pub fn paint_strip(
    context: &CanvasRenderingContext2d,
    values: &[f32],
    rect: Rect,
    limit: f32,
    vertical: bool,
    colors: &Colors,
) {
    let length = if vertical { rect.height } else { rect.width };
    // Whole pixels: neighbours meet without a seam.
    let edge = |i: usize| (length * i as f64 / values.len() as f64).round();
    for (i, value) in values.iter().enumerate() {
        let color = if value.is_finite() {
            colors.signed.at(value / limit)
        } else {
            colors.palette.blocked_line
        };
        context.set_fill_style_str(&color.css());
        let (from, size) = (edge(i), edge(i + 1) - edge(i));
        if vertical {
            context.fill_rect(rect.x, rect.y + from, rect.width, size);
        } else {
            context.fill_rect(rect.x + from, rect.y, size, rect.height);
        }
    }
}

/// A strip that fills its box, which CSS sizes. `label` says what it is, for eyes and ears.
#[component]
pub fn Strip(
    #[prop(into)] values: Signal<Vec<f32>>,
    #[prop(into)] label: Signal<String>,
    #[prop(default = 1.0)] limit: f32,
    #[prop(optional)] vertical: bool,
) -> impl IntoView {
    let canvas = NodeRef::<html::Canvas>::new();
    let size = use_size(canvas);
    let colors = use_colors();
    let shown = use_latest(values, use_visible(canvas));
    Effect::new(move |_| {
        let (Some(canvas), size) = (canvas.get(), size.get()) else { return };
        let Some(context) = prepare(&canvas, size) else { return };
        let rect = Rect {
            width: f64::from(canvas.width()),
            height: f64::from(canvas.height()),
            ..Rect::default()
        };
        colors.with(|colors| paint_strip(&context, &shown.get(), rect, limit, vertical, colors));
    });
    view! {
        <canvas
            class="strip"
            class:strip-vertical=vertical
            node_ref=canvas
            role="img"
            aria-label=label
            title=label
        ></canvas>
    }
}
