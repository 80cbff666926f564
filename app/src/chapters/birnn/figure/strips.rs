//! A row of states as colored strips, joined by arrows in the direction of reading.

use leptos::{html, prelude::*};
use web_sys::CanvasRenderingContext2d;

use super::strip::{Rect, paint_strip};
use super::{At, Columns, Content};
use crate::figures::{
    canvas::{prepare, use_latest, use_size},
    sight::use_visible,
    theme::{Colors, use_colors},
};
use crate::reactive::{effect, memo};

/// Share of a column that its strip fills; arrows take the rest.
const FILLED: f64 = 0.6;

/// Paints the states of the row `index` behind its cells.
#[component]
pub fn Strips(
    columns: Memo<Columns>,
    index: usize,
    backward: bool,
    read: Memo<Option<At>>,
) -> impl IntoView {
    let canvas = NodeRef::<html::Canvas>::new();
    let size = use_size(canvas);
    let colors = use_colors();
    let row =
        Signal::derive(move || columns.with(|c| Some((c.rows.get(index)?.clone(), c.state_map()))));
    let shown = use_latest(row, use_visible(canvas));
    // Where the way of the state that is read began and where it is now.
    let way = memo(move || read.get().filter(|at| at.row == index + 1).map(|at| at.column));
    effect(move || {
        let (Some(canvas), size) = (canvas.get(), size.get()) else { return };
        let Some(context) = prepare(&canvas, size) else { return };
        let shown = shown.get();
        let Some((row, map)) = &*shown else { return };
        let Content::States { values, .. } = &row.content else { return };
        let (width, height) = (f64::from(canvas.width()), f64::from(canvas.height()));
        let length = values.shape.first().copied().unwrap_or(0) as usize;
        let column = width / length.max(1) as f64;
        colors.with(|colors| {
            for t in 0..length {
                let Some(state) = values.block(&[t]) else { continue };
                let rect = Rect {
                    x: (column * (t as f64 + (1.0 - FILLED) / 2.0)).round(),
                    y: 0.0,
                    width: (column * FILLED).round(),
                    height,
                };
                paint_strip(&context, state, rect, *map, true, colors);
                if t > 0 {
                    let lit = way.get().is_some_and(|at| if backward { t > at } else { t <= at });
                    let gap = (column * t as f64, column * (1.0 - FILLED) / 2.0);
                    paint_arrow(&context, gap, height / 2.0, backward, lit, size.scale, colors);
                }
            }
        });
    });
    view! { <canvas class="birnn-strips" node_ref=canvas aria-hidden="true"></canvas> }
}

/// An arrow at the height `y` in the gap around `middle`, half of which is `half` wide.
fn paint_arrow(
    context: &CanvasRenderingContext2d,
    (middle, half): (f64, f64),
    y: f64,
    backward: bool,
    lit: bool,
    scale: f64,
    colors: &Colors,
) {
    let (color, stroke) =
        if lit { (colors.palette.hidden, 2.5) } else { (colors.palette.weight, 1.5) };
    context.set_stroke_style_str(&color.css());
    context.set_line_width(stroke * scale);
    context.set_line_cap("round");
    context.set_line_join("round");
    // Clear of the strips on both sides.
    let reach = (half - 3.0 * scale).max(0.5 * half);
    let head = (3.5 * scale).min(reach);
    let way = if backward { -1.0 } else { 1.0 };
    let tip = middle + way * reach;
    context.begin_path();
    context.move_to(middle - way * reach, y);
    context.line_to(tip, y);
    context.move_to(tip - way * head, y - head);
    context.line_to(tip, y);
    context.line_to(tip - way * head, y + head);
    context.stroke();
}
