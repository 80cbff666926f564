//! States as colored strips: one canvas pixel high a unit, enlarged by the style sheet. Painting all of
//! a long sentence is one call.

use web_sys::HtmlCanvasElement;

use super::{
    data::{Column, Diagram},
    layout::{Layout, Places},
};
use crate::figures::{canvas::put_pixels, theme::Colors};

/// The strips of all unrolled columns, and that of the loop, where they are now: of its step `lap`, or
/// its first; and beside it what the lap has read.
pub fn paint_strips(
    canvas: &HtmlCanvasElement,
    diagram: &Diagram,
    lap: Option<usize>,
    layout: &Layout,
    places: &Places,
    colors: &Colors,
) -> Option<()> {
    let shown = diagram.columns.iter().zip(&places.columns);
    let in_loop = diagram.columns.get(diagram.loop_step(lap));
    let of_loop = in_loop.zip(places.rest.as_ref()).filter(|_| layout.folded);
    let of_whole = |(column, x): (_, &f64)| (column, x + layout.strip_x(), layout.strip_width());
    let ahead = read(diagram, lap, layout).filter(|_| !layout.banded);
    let mut strips = shown.chain(of_loop).map(of_whole).chain(ahead);
    paint(canvas, diagram, layout, &mut strips, colors)
}

/// What a lap has read, where that is a band of its own.
pub fn paint_band(
    canvas: &HtmlCanvasElement,
    diagram: &Diagram,
    lap: Option<usize>,
    layout: &Layout,
    colors: &Colors,
) -> Option<()> {
    paint(canvas, diagram, layout, &mut read(diagram, lap, layout), colors)
}

/// What a lap has read, each in its place: column, left edge and width.
fn read<'a>(
    diagram: &'a Diagram,
    lap: Option<usize>,
    layout: &'a Layout,
) -> impl Iterator<Item = (&'a Column, f64, f64)> {
    let read = diagram.columns.iter().take(lap.map_or(0, |t| t + 1)).skip(layout.first_ahead());
    read.zip(layout.strips_ahead()).map(|(column, x)| (column, x, layout.width_ahead()))
}

/// The left half of a strip is the state before an edit.
fn paint(
    canvas: &HtmlCanvasElement,
    diagram: &Diagram,
    layout: &Layout,
    strips: &mut dyn Iterator<Item = (&Column, f64, f64)>,
    colors: &Colors,
) -> Option<()> {
    let map = diagram.state_map();
    let width = layout.width() as usize;
    let mut pixels = vec![0; width * diagram.hidden * 4];
    for (column, x, whole) in strips {
        let half = |halves: f64| {
            let edge = x + halves * whole / 2.0;
            (edge.round() as usize).min(width)
        };
        for unit in 0..diagram.hidden {
            let now = column.states[unit];
            let before = column.before.as_ref().map_or(now, |before| before[unit]);
            for (from, to, value) in [(half(0.0), half(1.0), before), (half(1.0), half(2.0), now)] {
                let color = map.color(value, colors).pixel(255);
                let row = 4 * unit * width;
                for pixel in pixels[row + 4 * from..row + 4 * to].chunks_exact_mut(4) {
                    pixel.copy_from_slice(&color);
                }
            }
        }
    }
    put_pixels(canvas, &pixels, width as u32)
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
