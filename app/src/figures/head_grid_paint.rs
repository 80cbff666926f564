//! The small pictures of all heads, painted on one canvas that lies over their buttons.
//!
//! They are not small [`super::MatrixFigure`]s. Those are images of one pixel a cell, which the browser
//! scales and averages where several cells share a pixel. Here each pixel shows its largest number,
//! and all heads are written into one image, so that a hundred of them are one call.

use core::ops::Range;

use leptos::{html, prelude::*};
use web_sys::{HtmlCanvasElement, HtmlDivElement};

use super::{
    canvas::{
        NextFrame, Size, clock, put_pixels, time_frame, use_next_frame, use_size, wait_for_frame,
    },
    theme::{Colors, use_colors},
    view::HeadView,
};
use crate::reactive::{effect, memo};

/// Painting goes on in the next frame after this many milliseconds.
const SLICE: f64 = 4.0;
/// Of a head that is switched off, a quarter.
const FAINT: u8 = 64;

/// The canvas's pixels and where each head's are among them.
#[derive(Default)]
struct Sheet {
    /// Left and top of each head's picture in device pixels, layer by layer.
    slots: Vec<(usize, usize)>,
    /// Device pixels along a picture's side.
    side: usize,
    /// Device pixels across.
    width: usize,
    /// RGBA, transparent between the slots; kept from one painting to the next.
    pixels: Vec<u8>,
    /// What is being painted, and how many heads of it are.
    current: Option<(HeadView, usize)>,
}

/// Paints all heads whenever the trace, the theme, the size or what is switched off changes, never
/// longer than a slice at a time, and shows them together. What changes meanwhile is painted
/// afterwards, so that however fast it changes, pictures appear. Returns the step that they are of.
///
/// Each child of `grid` is a head's button, layer by layer, whose first child keeps its picture's
/// room; `off` are those switched off, counted from 1.
pub fn use_pictures(
    view: Memo<Option<HeadView>>,
    off: Memo<Vec<(u32, u32)>>,
    grid: NodeRef<html::Div>,
    canvas: NodeRef<html::Canvas>,
) -> RwSignal<Option<u32>> {
    let painter = Painter {
        // Choosing another head changes no picture here.
        view: memo(move || view.get().map(|v| v.of(1, 1))),
        colors: use_colors(),
        off,
        size: use_size(grid),
        grid,
        canvas,
        sheet: StoredValue::new_local(Sheet::default()),
        stale: StoredValue::new(false),
        next: use_next_frame(),
        painted: RwSignal::new(None),
    };
    effect(move || {
        painter.size.track();
        off.track();
        // What is off has a longer name, which may need another line.
        painter.sheet.update_value(|sheet| sheet.slots.clear());
    });
    effect(move || {
        painter.view.track();
        painter.colors.track();
        off.track();
        if painter.size.get().width == 0.0 {
            return;
        }
        painter.stale.set_value(true);
        // Not in the frame that takes the trace over: there is enough to draw in that.
        if !painter.next.is_asked() {
            painter.go_on();
        }
    });
    painter.painted
}

#[derive(Clone, Copy)]
struct Painter {
    view: Memo<Option<HeadView>>,
    colors: Memo<Colors>,
    off: Memo<Vec<(u32, u32)>>,
    /// Of the grid.
    size: Signal<Size>,
    grid: NodeRef<html::Div>,
    canvas: NodeRef<html::Canvas>,
    sheet: StoredValue<Sheet, LocalStorage>,
    /// Whether something changed since the present painting began.
    stale: StoredValue<bool>,
    next: NextFrame,
    painted: RwSignal<Option<u32>>,
}

impl Painter {
    /// Paints a slice in the next frame that is not full. The trace was taken over after the rest.
    fn go_on(self) {
        wait_for_frame(self.next, true, move || {
            time_frame();
            self.paint_slice();
        });
    }

    fn paint_slice(self) {
        let (Some(grid), Some(canvas)) = (self.grid.get_untracked(), self.canvas.get_untracked())
        else {
            return;
        };
        let step = self.sheet.try_update_value(|sheet| {
            if sheet.current.is_none() {
                self.stale.set_value(false);
                if sheet.slots.is_empty() {
                    sheet.measure(&grid, &canvas, self.size.get_untracked().scale);
                }
                sheet.current = Some((self.view.get_untracked()?, 0));
            }
            if !sheet.paint_slice(&self.colors.get_untracked(), &self.off.get_untracked()) {
                return None;
            }
            let (view, _) = sheet.current.take()?;
            put_pixels(&canvas, &sheet.pixels, sheet.width as u32);
            Some(view.trace().step)
        });
        if let Some(Some(step)) = step {
            self.painted.set(Some(step));
        }
        let is_open = self.sheet.with_value(|sheet| sheet.current.is_some());
        if is_open || self.stale.get_value() {
            self.go_on();
        }
    }
}

impl Sheet {
    /// Asks the page where the pictures' rooms are, and has the canvas cover them, `scale` device
    /// pixels to each of the page's.
    fn measure(&mut self, grid: &HtmlDivElement, canvas: &HtmlCanvasElement, scale: f64) {
        let origin = grid.get_bounding_client_rect();
        let buttons = grid.children();
        let rooms = (0..buttons.length()).filter_map(|i| buttons.item(i)?.first_element_child());
        let pixel = |length: f64| (length * scale).round().max(0.0) as usize;
        self.side = 0;
        self.slots.clear();
        for room in rooms {
            let room = room.get_bounding_client_rect();
            // All columns are alike.
            self.side = pixel(room.width());
            self.slots.push((pixel(room.left() - origin.left()), pixel(room.top() - origin.top())));
        }
        let end = |of: fn(&(usize, usize)) -> usize| {
            self.slots.iter().map(of).max().map_or(0, |last| last + self.side)
        };
        let (width, height) = (end(|slot| slot.0), end(|slot| slot.1));
        self.width = width;
        self.pixels.clear();
        self.pixels.resize(4 * width * height, 0);
        let [width, height] = [width, height].map(|pixels| pixels as f64 / scale);
        // Never refused: the name is one.
        let _ = canvas.set_attribute("style", &format!("width:{width}px;height:{height}px"));
    }

    /// Goes on with the present trace for a slice of time. Whether all of it is painted.
    fn paint_slice(&mut self, colors: &Colors, off: &[(u32, u32)]) -> bool {
        let Self { slots, side, width, pixels, current } = self;
        let Some((view, done)) = current else { return true };
        let begun = clock();
        while let Some(&slot) = slots.get(*done) {
            // `of` clamps: a trace of another shape than this grid's is on its way out.
            let (layer, head) = (*done as u32 / view.heads() + 1, *done as u32 % view.heads() + 1);
            let opacity = if off.contains(&(layer, head)) { FAINT } else { 255 };
            paint_head(&view.of(layer, head), colors, opacity, *side, slot, pixels, *width);
            *done += 1;
            if clock() - begun > SLICE {
                break;
            }
        }
        *done >= slots.len()
    }
}

/// Writes one head, `side` pixels wide and high, at `left`, `top` of `pixels`, RGBA, `width` across.
/// Where a pixel holds several cells, it shows the one farthest from 0; where all are blocked, the ground.
fn paint_head(
    view: &HeadView,
    colors: &Colors,
    opacity: u8,
    side: usize,
    (left, top): (usize, usize),
    pixels: &mut [u8],
    width: usize,
) {
    /// What is not a number is never more, and so not shown as one.
    fn more(value: f32, than: f32) -> bool {
        value.abs() > than.abs() || than.is_nan() && !value.is_nan()
    }
    let (t, weights, mask, map) = (view.size(), view.matrix(), &view.trace().mask, view.map());
    // The keys of each pixel from left to right, and so the queries from top to bottom.
    let cells = |pixel: usize| {
        let first = pixel * t / side;
        first..((pixel + 1) * t / side).max(first + 1)
    };
    let ranges: Vec<Range<usize>> = (0..side).map(cells).collect();
    // The largest of the queries of a line, for each key.
    let mut largest = vec![f32::NAN; t];
    let mut of = &(0..0);
    for (y, queries) in ranges.iter().enumerate() {
        // A cell of several pixels is looked up once.
        if queries != of {
            of = queries;
            largest.fill(f32::NAN);
            for query in queries.clone() {
                let row = weights[query * t..][..t].iter().zip(&mask[query * t..][..t]);
                for (largest, (&weight, &open)) in largest.iter_mut().zip(row) {
                    if open && more(weight, *largest) {
                        *largest = weight;
                    }
                }
            }
        }
        let line = &mut pixels[4 * ((top + y) * width + left)..][..4 * side];
        for (pixel, keys) in line.chunks_exact_mut(4).zip(&ranges) {
            let values = largest[keys.clone()].iter();
            let value =
                values.fold(f32::NAN, |most, &value| if more(value, most) { value } else { most });
            let color = match value.is_nan() {
                true => colors.palette.blocked,
                false => map.color(value, colors),
            };
            pixel.copy_from_slice(&color.pixel(opacity));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use unroll_protocol::{Array, Trace};

    use super::*;
    use crate::figures::color::Palette;

    /// One head of `t` causal tokens that looks from the last at `key` only.
    fn view(t: u32, key: u32) -> HeadView {
        let mut values = vec![0.0; (t * t) as usize];
        values[((t - 1) * t + key) as usize] = 1.0;
        let trace = Trace {
            tokens: vec!["a".into(); t as usize],
            places: vec![0; t as usize],
            starts: (0..=t).collect(),
            mask: (0..t * t).map(|cell| cell % t <= cell / t).collect(),
            vocabulary: vec!["a".into()],
            weights: Array { shape: vec![1, 1, t, t], values },
            probabilities: Array { shape: vec![t, 1], values: vec![1.0; t as usize] },
            ..Trace::default()
        };
        HeadView::new(Arc::new(trace), 1, 1).unwrap()
    }

    /// The pixels of a canvas of 60 by 60 with a head of `side` at 4, 6.
    fn painted(view: &HeadView, side: usize, opacity: u8) -> Vec<[u8; 4]> {
        let mut pixels = vec![0; 60 * 60 * 4];
        let colors = Colors::new(&Palette::LIGHT);
        paint_head(view, &colors, opacity, side, (4, 6), &mut pixels, 60);
        pixels.chunks_exact(4).map(|pixel| pixel.try_into().unwrap()).collect()
    }

    fn color(weight: f32) -> [u8; 4] {
        Colors::new(&Palette::LIGHT).ramp.at(weight).pixel(255)
    }

    #[test]
    fn pixels_of_several_cells_show_the_largest_weight() {
        let pixels = painted(&view(100, 3), 50, 255);
        let at = |x: usize, y: usize| pixels[60 * y + x];
        assert_eq!(at(4 + 1, 6 + 49), color(1.0));
        assert_eq!(at(4 + 2, 6 + 49), color(0.0));
        assert_eq!(at(4 + 49, 6), Palette::LIGHT.blocked.pixel(255));
        // Sides that do not divide lose nothing either.
        for key in 0..64 {
            let pixels = painted(&view(64, key), 37, 255);
            let at = |x: usize, y: usize| pixels[60 * y + x];
            assert!((0..37).any(|x| at(4 + x, 6 + 36) == color(1.0)), "key {key}");
        }
    }

    #[test]
    fn cells_of_several_pixels_fill_their_square_and_nothing_beside_it() {
        let pixels = painted(&view(3, 1), 48, 255);
        let at = |x: usize, y: usize| pixels[60 * y + x];
        for (x, y) in [(16, 32), (31, 47)] {
            assert_eq!(at(4 + x, 6 + y), color(1.0));
        }
        assert_eq!([at(4 + 15, 6 + 40), at(4 + 32, 6 + 40)], [color(0.0); 2]);
        assert_eq!([at(3, 6), at(4, 5), at(4 + 48, 6), at(4, 6 + 48)], [[0; 4]; 4]);
    }

    #[test]
    fn what_is_blocked_or_not_a_number_is_ground() {
        let mut trace = Trace::clone(view(3, 0).trace());
        trace.weights.values[3..6].copy_from_slice(&[0.4, f32::NAN, 0.6]);
        trace.mask[6] = false;
        let view = HeadView::new(Arc::new(trace), 1, 1).unwrap();
        let pixels = painted(&view, 3, 255);
        let line = |y: usize| &pixels[60 * (6 + y) + 4..][..3];
        let ground = Palette::LIGHT.blocked.pixel(255);
        assert_eq!(line(1), [color(0.4), ground, ground]);
        assert_eq!(line(2), [ground, color(0.0), color(0.0)]);
    }

    #[test]
    fn differences_show_what_moved_most_either_way() {
        use crate::figures::{matrix_data::Matrix, scale::ValueMap};
        let view = view(4, 0);
        let map = ValueMap::Signed { limit: 0.5 };
        let mut values = vec![0.0; 16];
        // Below, two keys of one pixel: the one that fell shows.
        (values[12], values[13]) = (0.1, -0.4);
        let part = Matrix { values, map, ..Matrix::clone(&view.matrices()[0]) };
        let pixels = painted(&view.compared(&[Arc::new(part)]), 2, 255);
        let colors = Colors::new(&Palette::LIGHT);
        assert_eq!(pixels[60 * 7 + 4], map.color(-0.4, &colors).pixel(255));
        assert_eq!(pixels[60 * 7 + 5], map.color(0.0, &colors).pixel(255));
    }

    #[test]
    fn what_is_off_is_faint() {
        let pixels = painted(&view(2, 0), 10, FAINT);
        let at = |x: usize, y: usize| pixels[60 * y + x];
        assert_eq!([at(4, 6)[3], at(4 + 9, 6)[3], at(4, 6 + 9)[3]], [FAINT; 3]);
    }
}
