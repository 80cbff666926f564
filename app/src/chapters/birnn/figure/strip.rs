//! A vector of signed values as a small colored strip, cheap enough for many on a page.

use web_sys::CanvasRenderingContext2d;

use crate::figures::{ValueMap, theme::Colors};

/// A rectangle in the units its canvas is drawn in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Paints `values` side by side (or, `vertical`, one under the other) into `rect`, in the colors of `map`.
/// What is not finite is left as grey.
pub fn paint_strip(
    context: &CanvasRenderingContext2d,
    values: &[f32],
    rect: Rect,
    map: ValueMap,
    vertical: bool,
    colors: &Colors,
) {
    let length = if vertical { rect.height } else { rect.width };
    // Whole pixels: neighbors meet without a seam.
    let edge = |i: usize| (length * i as f64 / values.len() as f64).round();
    for (i, value) in values.iter().enumerate() {
        let color =
            if value.is_finite() { map.color(*value, colors) } else { colors.palette.blocked_line };
        context.set_fill_style_str(&color.css());
        let (from, size) = (edge(i), edge(i + 1) - edge(i));
        if vertical {
            context.fill_rect(rect.x, rect.y + from, rect.width, size);
        } else {
            context.fill_rect(rect.x + from, rect.y, size, rect.height);
        }
    }
}
