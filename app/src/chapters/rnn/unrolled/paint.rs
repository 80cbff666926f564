//! States as colored strips: one canvas pixel a unit, enlarged by the style sheet. Painting all of
//! a long sentence is one call.

use web_sys::HtmlCanvasElement;

use super::data::{Column, Diagram};
use crate::figures::{canvas::put_pixels, theme::Colors};

/// Pixels across a column: one empty, two of the strip, one empty, as the layout has it. Of the
/// strip, the left one is the state before an edit.
const ACROSS: usize = 4;

/// The strips of all unrolled columns, and that of the loop.
pub fn paint_strips(canvas: &HtmlCanvasElement, diagram: &Diagram, colors: &Colors) -> Option<()> {
    let last = diagram.columns.last().filter(|_| diagram.folded());
    let shown: Vec<&Column> = diagram.columns[..diagram.unrolled].iter().chain(last).collect();
    let (columns, map) = (shown.len() * ACROSS, diagram.state_map());
    let mut pixels = vec![0; columns * diagram.hidden * 4];
    for (c, column) in shown.iter().enumerate() {
        for unit in 0..diagram.hidden {
            let now = column.states[unit];
            let before = column.before.as_ref().map_or(now, |before| before[unit]);
            for (x, value) in [(1, before), (2, now)] {
                let at = 4 * (unit * columns + c * ACROSS + x);
                let color = map.color(value, colors);
                pixels[at..at + 4].copy_from_slice(&color.pixel(255));
            }
        }
    }
    put_pixels(canvas, &pixels, columns as u32)
}

/// The states of the whole sentence side by side; what is not unrolled is faint.
pub fn paint_overview(
    canvas: &HtmlCanvasElement,
    diagram: &Diagram,
    colors: &Colors,
) -> Option<()> {
    let (columns, map) = (diagram.length(), diagram.state_map());
    let mut pixels = vec![0; columns * diagram.hidden * 4];
    for (c, column) in diagram.columns.iter().enumerate() {
        let opacity = if c < diagram.unrolled { 255 } else { 70 };
        for (unit, value) in column.states.iter().enumerate() {
            let at = 4 * (unit * columns + c);
            let color = map.color(*value, colors);
            pixels[at..at + 4].copy_from_slice(&color.pixel(opacity));
        }
    }
    put_pixels(canvas, &pixels, columns as u32)
}
