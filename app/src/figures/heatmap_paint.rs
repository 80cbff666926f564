//! Where the heatmap's cells are, and how they are painted.

use std::sync::Arc;

use unroll_protocol::Trace;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::{
    canvas::{self, Size},
    color::Palette,
    select::Cell,
    theme::Colors,
    token,
    view::HeadView,
};

/// Longest label on an axis, in characters.
pub const LABEL: usize = 4;
/// Room for an axis title, in CSS pixels.
const TITLE: f64 = 22.0;
/// Sizes of the labels' font.
const SMALLEST_FONT: f64 = 12.0;
const LARGEST_FONT: f64 = 18.0;
/// Right and below, so that the outer line is not cut.
const EDGE: f64 = 2.0;

/// Where the cells are, in CSS pixels within the canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Geometry {
    /// Left of the first key and top of the first query: the cells' square starts here.
    pub origin: f64,
    pub cell: f64,
    /// T
    pub count: usize,
    /// Size of the labels' font.
    pub font: f64,
    /// Every n-th token is labelled.
    pub every: usize,
}

impl Geometry {
    /// For `count` tokens, the longest of `label` characters, on a square canvas of `width`.
    pub fn new(width: f64, scale: f64, count: usize, label: usize) -> Self {
        if count == 0 || width <= 0.0 {
            return Self::default();
        }
        let origin = TITLE + 12.0 + 9.0 * label.min(LABEL) as f64;
        let mut cell = ((width - origin - EDGE) / count as f64).max(0.1);
        // Cells of 1 or 2 pixels must all be the same size, or the eye sees stripes.
        let device = cell * scale;
        if (1.0..4.0).contains(&device) {
            cell = device.floor() / scale;
        }
        let font = (cell * 0.85).clamp(SMALLEST_FONT, (width / 45.0).clamp(14.0, LARGEST_FONT));
        let every = (font * 1.05 / cell).ceil().max(1.0) as usize;
        Self { origin, cell, count, font, every }
    }

    pub fn side(&self) -> f64 {
        self.cell * self.count as f64
    }

    /// Left or top of the token at `position`.
    pub fn start(&self, position: usize) -> f64 {
        self.origin + self.cell * position as f64
    }

    /// What lies at `x`, `y`: a cell, or a whole query left of the cells.
    pub fn hit(&self, x: f64, y: f64) -> Option<Cell> {
        if self.count == 0 {
            return None;
        }
        let index = |v: f64| {
            let i = (v - self.origin) / self.cell;
            (i >= 0.0 && i < self.count as f64).then_some(i as usize)
        };
        let query = index(y)?;
        if x < self.origin {
            return (x >= TITLE).then_some(Cell { query, key: None });
        }
        Some(Cell { query, key: Some(index(x)?) })
    }
}

/// All that a painting shows but the weights.
pub struct Ground {
    size: Size,
    geometry: Geometry,
    palette: &'static Palette,
    /// Whose tokens and mask are shown.
    trace: Option<Arc<Trace>>,
}

impl PartialEq for Ground {
    fn eq(&self, other: &Self) -> bool {
        let alike = |a: &Arc<Trace>, b: &Arc<Trace>| {
            Arc::ptr_eq(a, b) || (a.tokens == b.tokens && a.mask == b.mask)
        };
        let traces_are_alike = match (&self.trace, &other.trace) {
            (Some(a), Some(b)) => alike(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        traces_are_alike
            && (self.size, self.geometry, self.palette)
                == (other.size, other.geometry, other.palette)
    }
}

/// Paints one head. `cells` is a canvas nobody sees that holds one pixel for each cell; it is kept
/// between calls. Where `canvas` has the same ground from the call before, only the cells are
/// painted. Returns what is to be given as `before` next time; `None` if the browser refuses a
/// canvas.
pub fn paint(
    canvas: &HtmlCanvasElement,
    cells: &HtmlCanvasElement,
    size: Size,
    geometry: Geometry,
    view: Option<&HeadView>,
    colors: &Colors,
    before: Option<Ground>,
) -> Option<Ground> {
    let view = view.filter(|v| v.size() == geometry.count);
    let trace = view.map(|v| v.trace().clone());
    let ground = Ground { size, geometry, palette: colors.palette, trace };
    // Several cells to a pixel are averaged, which leaves the outermost half transparent: those
    // cannot be painted over. One cell to several pixels stays sharp and covers what was there.
    let averaged = geometry.cell * size.scale < 1.0;
    let context = if averaged || before.as_ref() != Some(&ground) {
        let context = canvas::prepare(canvas, size)?;
        context.scale(size.scale, size.scale).ok()?;
        if let Some(view) = view {
            paint_blocked(&context, geometry, colors);
            paint_labels(&context, geometry, view, colors)?;
        }
        context.set_transform(size.scale, 0.0, 0.0, size.scale, 0.0, 0.0).ok()?;
        paint_frame(&context, size, geometry, colors)?;
        // The context keeps its transform; the next painting starts from none.
        context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok()?;
        context
    } else {
        canvas.get_context("2d").ok()??.unchecked_into()
    };
    if let Some(view) = view {
        canvas::put_pixels(cells, &pixels(view, colors), geometry.count as u32)?;
        context.set_image_smoothing_enabled(averaged);
        let (o, side) = (geometry.origin * size.scale, geometry.side() * size.scale);
        context.draw_image_with_html_canvas_element_and_dw_and_dh(cells, o, o, side, side).ok()?;
    }
    Some(ground)
}

/// One RGBA pixel a cell, `[T (query), T (key)]`; blocked cells stay transparent.
fn pixels(view: &HeadView, colors: &Colors) -> Vec<u8> {
    let t = view.size();
    let mut pixels = vec![0; t * t * 4];
    let cells = view.matrix().iter().zip(&view.trace().mask);
    for (pixel, (&weight, _)) in pixels.chunks_exact_mut(4).zip(cells).filter(|cell| *cell.1.1) {
        let color = colors.ramp.at(weight);
        pixel.copy_from_slice(&[color.0, color.1, color.2, 255]);
    }
    pixels
}

/// Hatches the ground on which the cells are painted: what a query may not see stays hatched, for
/// no colour of the map stands for "not there".
fn paint_blocked(context: &CanvasRenderingContext2d, geometry: Geometry, colors: &Colors) {
    let (start, end) = (geometry.origin, geometry.origin + geometry.side());
    context.save();
    context.begin_path();
    context.rect(start, start, geometry.side(), geometry.side());
    context.clip();
    context.set_fill_style_str(&colors.palette.blocked.css());
    context.fill_rect(start, start, geometry.side(), geometry.side());
    context.set_stroke_style_str(&colors.palette.blocked_line.css());
    context.set_line_width(1.0);
    context.begin_path();
    let mut x = start;
    while x < end + geometry.side() {
        context.move_to(x, start);
        context.line_to(x - geometry.side(), end);
        x += 8.0;
    }
    context.stroke();
    context.restore();
}

fn paint_labels(
    context: &CanvasRenderingContext2d,
    geometry: Geometry,
    view: &HeadView,
    colors: &Colors,
) -> Option<()> {
    context.set_fill_style_str(&colors.palette.ink.css());
    context.set_font(&format!("{}px ui-monospace, monospace", geometry.font));
    context.set_text_baseline("middle");
    let upright = view.trace().tokens.iter().all(|t| t.chars().count() == 1);
    let edge = geometry.origin - 6.0;
    for position in (0..geometry.count).step_by(geometry.every) {
        let label = token::short_mark(view.token(position), LABEL);
        let middle = geometry.start(position) + geometry.cell / 2.0;
        context.set_text_align("right");
        context.fill_text(&label, edge, middle).ok()?;
        if upright {
            context.set_text_align("center");
            context.fill_text(&label, middle, edge - geometry.font / 2.0 + 2.0).ok()?;
        } else {
            context.save();
            context.translate(middle, edge).ok()?;
            context.rotate(-std::f64::consts::FRAC_PI_2).ok()?;
            context.set_text_align("left");
            context.fill_text(&label, 0.0, 0.0).ok()?;
            context.restore();
        }
    }
    Some(())
}

/// The outer line and the names of the axes, there before any trace is.
fn paint_frame(
    context: &CanvasRenderingContext2d,
    size: Size,
    geometry: Geometry,
    colors: &Colors,
) -> Option<()> {
    let origin = if geometry.count > 0 { geometry.origin } else { TITLE + 18.0 };
    let side = if geometry.count > 0 { geometry.side() } else { size.width - origin - EDGE };
    context.set_stroke_style_str(&colors.palette.line.css());
    context.set_line_width(1.0);
    context.stroke_rect(origin - 0.5, origin - 0.5, side + 1.0, side + 1.0);
    context.set_font("14px system-ui, sans-serif");
    context.set_text_baseline("top");
    context.set_text_align("center");
    let middle = origin + side / 2.0;
    context.set_fill_style_str(&colors.palette.key.css());
    // A small picture has no room for more than the names.
    let short = side < 200.0;
    let key = if short { "key →" } else { "key: the token looked at →" };
    context.fill_text(key, middle, 2.0).ok()?;
    context.translate(2.0, middle).ok()?;
    context.rotate(-std::f64::consts::FRAC_PI_2).ok()?;
    context.set_fill_style_str(&colors.palette.query.css());
    let query = if short { "← query" } else { "← query: the token that looks" };
    context.fill_text(query, 0.0, 0.0).ok()
}

/// A canvas that is part of no page.
pub fn hidden_canvas() -> Option<HtmlCanvasElement> {
    let canvas = leptos::prelude::document().create_element("canvas").ok()?;
    Some(canvas.unchecked_into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_cell_under_the_pointer() {
        let g = Geometry::new(400.0, 1.0, 10, 1);
        assert!(g.origin + g.side() <= 400.0);
        let cell = |q, k| Some(Cell { query: q, key: Some(k) });
        assert_eq!(g.hit(g.start(3) + 1.0, g.start(7) + 1.0), cell(7, 3));
        assert_eq!(g.hit(g.start(9) + g.cell - 0.1, g.origin), cell(0, 9));
        assert_eq!(g.hit(TITLE + 2.0, g.start(4) + 1.0), Some(Cell { query: 4, key: None }));
        assert_eq!(g.hit(399.9, 399.9), None);
        assert_eq!(g.hit(100.0, 2.0), None);
        assert_eq!(Geometry::default().hit(1.0, 1.0), None);
    }

    #[test]
    fn small_cells_are_alike_and_labels_thin_out() {
        let g = Geometry::new(640.0, 1.0, 512, 1);
        assert_eq!((g.cell, g.every > 5), (1.0, true));
        let g = Geometry::new(640.0, 2.0, 64, 1);
        assert!(g.every <= 2 && g.cell > 9.0);
    }
}
