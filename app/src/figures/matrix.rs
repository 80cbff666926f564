//! A matrix as a heatmap: rows downwards, columns to the right, read with pointer, finger or keys.

use std::sync::Arc;

use leptos::{ev, html, prelude::*};

use super::{
    canvas::{use_latest, use_size},
    export::Provenance,
    frame::{Files, Frame, choices},
    heatmap_paint::hidden_canvas,
    matrix_data::{Matrix, matrix_csv, matrix_json},
    matrix_paint::{Geometry, paint, paint_row_labels},
    matrix_strip::ColumnStrip,
    matrix_svg::matrix_svg,
    readout::SpokenReading,
    scale::ScaleBar,
    select::Pointing,
    sight::use_visible,
    table::TableData,
    theme::use_colors,
};

/// Labels and cells beside strips are at least so high, in CSS pixels.
const LOWEST: f64 = 88.0;

/// Row and column, from 0.
type Place = (usize, usize);

/// A heatmap with labels, scale, readout and table.
///
/// `describe` makes the sentence for a cell. `marked` cells are outlined; `row` and `column` light
/// one from outside. `on_pick` hears of a click or Enter on a cell (a finger's second tap; without
/// it a click pins the cell), `on_point` of the cell that is read. `above` and `below` stand in line
/// with the columns.
#[component]
pub fn MatrixFigure(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] matrix: Signal<Matrix>,
    #[prop(into)] provenance: Signal<Provenance>,
    #[prop(into, optional)] describe: Option<Callback<(usize, usize, f32), String>>,
    #[prop(into, optional)] marked: Signal<Vec<(usize, usize)>>,
    #[prop(into, optional)] row: Signal<Option<usize>>,
    #[prop(into, optional)] column: Signal<Option<usize>>,
    #[prop(optional)] on_pick: Option<Callback<(usize, usize)>>,
    #[prop(optional)] on_point: Option<Callback<Option<(usize, usize)>>>,
    #[prop(optional)] above: Option<ColumnStrip>,
    #[prop(optional)] below: Option<ColumnStrip>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let scroller = NodeRef::<html::Div>::new();
    let (canvas, labels) = (NodeRef::<html::Canvas>::new(), NodeRef::<html::Canvas>::new());
    let size = use_size(scroller);
    let colors = use_colors();
    let shown = use_latest(matrix, use_visible(root));
    let [head, foot] = [&above, &below].map(|strip| strip.as_ref().map(|strip| strip.height));
    let height_of = |strip: Option<Signal<f64>>| strip.map_or(0.0, |height| height.get());
    let geometry = Memo::new(move |_| {
        let size = size.get();
        // In a low box strips and cells scroll together.
        let height = size.height - height_of(head) - height_of(foot);
        let height = height.max(LOWEST.min(size.height));
        Geometry::new(&shown.get(), size.width, height)
    });
    let across = Memo::new(move |_| geometry.get().across());
    let shape = Memo::new(move |_| shown.get().shape());
    let pointing = Pointing::new(move |&(row, column): &Place| {
        let (rows, columns) = shape.get();
        row < rows && column < columns
    });

    // Owned here, reused by every painting, dropped with the component.
    let cells = StoredValue::new_local(hidden_canvas());
    let scale = Memo::new(move |_| size.get().scale.max(1.0));
    Effect::new(move |_| {
        let (Some(canvas), Some(cells)) = (canvas.get(), cells.get_value()) else { return };
        let (g, matrix) = (geometry.get(), shown.get());
        marked.with(|marked| {
            colors.with(|colors| paint(&canvas, &cells, scale.get(), g, &matrix, marked, colors))
        });
    });
    // Labels change seldom: painted apart.
    let names = Memo::new_with_compare(
        move |_| shown.get(),
        |a: Option<&Arc<Matrix>>, b| match (a, b) {
            (Some(a), Some(b)) => {
                a.rows != b.rows || a.row_axis != b.row_axis || a.shape() != b.shape()
            }
            _ => true,
        },
    );
    Effect::new(move |_| {
        let Some(canvas) = labels.get() else { return };
        let (g, matrix) = (geometry.get(), names.get());
        colors.with(|colors| paint_row_labels(&canvas, scale.get(), g, &matrix, colors));
    });
    if let Some(on_point) = on_point {
        Effect::new(move |_| {
            let place = pointing.shown();
            untrack(|| on_point.run(place));
        });
    }

    let start = move || {
        let (rows, columns) = shape.get_untracked();
        let outside = (row.get_untracked().unwrap_or(0), column.get_untracked().unwrap_or(0));
        let start = pointing.shown_untracked().unwrap_or(outside);
        (rows > 0).then(|| (start.0.min(rows - 1), start.1.min(columns - 1)))
    };
    let act = move |place: Place| match on_pick {
        Some(on_pick) => on_pick.run(place),
        None => pointing.toggle_pin(place),
    };
    let hit = move |e: &ev::MouseEvent| {
        let (g, x) = (geometry.get_untracked(), f64::from(e.offset_x()));
        // Row labels lie over the cells that are scrolled away.
        let hidden = scroller.get_untracked().map_or(0.0, |s| f64::from(s.scroll_left()));
        (x >= g.left + hidden).then(|| g.hit(x, f64::from(e.offset_y()))).flatten()
    };
    let on_move = move |e: ev::PointerEvent| match hit(&e) {
        Some(place) => pointing.point(place),
        None => pointing.leave(),
    };
    let on_down = move |e: ev::PointerEvent| {
        if let Some(place) = hit(&e) {
            pointing.press(place, e.pointer_type() == "touch");
        }
    };
    let on_click = move |e: ev::MouseEvent| {
        if let Some(place) = hit(&e).filter(|_| pointing.press_counts()) {
            act(place);
        }
    };
    // A lifted finger has read something: it stays until the next tap.
    let on_leave = move |e: ev::PointerEvent| {
        if e.pointer_type() != "touch" {
            pointing.leave();
        }
    };
    let on_key = move |e: ev::KeyboardEvent| {
        let Some((r, c)) = start() else { return };
        let (rows, columns) = shape.get_untracked();
        let moved =
            |at: usize, by: isize, count: usize| at.saturating_add_signed(by).min(count - 1);
        let place = match e.key().as_str() {
            "ArrowUp" => (moved(r, -1, rows), c),
            "ArrowDown" => (moved(r, 1, rows), c),
            "ArrowLeft" => (r, moved(c, -1, columns)),
            "ArrowRight" => (r, moved(c, 1, columns)),
            "PageUp" => (moved(r, -8, rows), c),
            "PageDown" => (moved(r, 8, rows), c),
            "Home" => (r, 0),
            "End" => (r, columns - 1),
            "Enter" | " " => (r, c),
            "Escape" => {
                pointing.unpin();
                return;
            }
            _ => return,
        };
        e.prevent_default();
        pointing.point(place);
        if matches!(e.key().as_str(), "Enter" | " ") {
            act(place);
        }
        let head = head.map_or(0.0, |height| height.get_untracked());
        keep_in_sight(scroller, geometry.get_untracked(), head, place);
    };

    let sentence = move |(row, column): Place, matrix: &Matrix| match describe {
        Some(describe) => describe.run((row, column, matrix.value(row, column))),
        None => matrix.describe(row, column),
    };
    let reading = move || pointing.shown().map(|place| sentence(place, &shown.get()));
    let value = Signal::derive(move || {
        let (row, column) = pointing.shown()?;
        Some(shown.get().value(row, column)).filter(|v| v.is_finite())
    });
    let help = if on_pick.is_some() { "Enter chooses one" } else { "Enter pins one" };
    let label = move || {
        let (rows, columns) = shape.get();
        format!(
            "{}: {rows} rows by {columns} columns. Arrow keys move between cells, {help}.",
            title.get()
        )
    };
    let absent = Memo::new(move |_| {
        let matrix = shown.get();
        if matrix.has_absent() { matrix.absent.clone() } else { String::new() }
    });
    let files = Files { json: matrix_json, csv: matrix_csv, svg: matrix_svg };
    let table = TableData {
        name,
        summary: "Values as a table",
        caption: title,
        shape: shape.into(),
        along: ("rows", "columns"),
        row_name: Callback::new(move |i: usize| shown.get().row_name(i)),
        column_name: Callback::new(move |i: usize| shown.get().column_name(i)),
        cell: Callback::new(move |(row, column): Place| {
            Some(shown.get().value(row, column))
                .filter(|v| v.is_finite())
                .map(|v| format!("{v:.4}"))
        }),
        absent: "–",
        start: Callback::new(move |()| start()),
    };
    view! {
        <Frame
            name
            kind="matrix"
            title
            root
            empty=Signal::derive(move || shape.get() == (0, 0))
            table
            choices=choices(name, title, shown, Signal::stored(None), provenance, colors, files)
        >
            <div class="matrix-scroller" node_ref=scroller>
                {above.map(|strip| strip.view(across.into()))}
                <div
                    class="matrix-track"
                    class:pickable=on_pick.is_some()
                    data-testid=format!("{name}-cells")
                    style=move || {
                        let g = geometry.get();
                        format!("width:{}px;height:{}px", g.width(), g.height())
                    }
                    tabindex="0"
                    role="application"
                    aria-roledescription="heatmap"
                    aria-label=label
                    on:pointermove=on_move
                    on:pointerdown=on_down
                    on:pointerleave=on_leave
                    on:click=on_click
                    on:keydown=on_key
                    on:focus=move |_| {
                        // A click focuses too, but has then pointed at its own cell already.
                        if pointing.shown_untracked().is_none() && let Some(place) = start() {
                            pointing.point(place);
                        }
                    }
                    on:blur=move |_| pointing.leave()
                >
                    <canvas class="matrix-cells" node_ref=canvas aria-hidden="true"></canvas>
                    <Marks geometry pointing row column />
                    <canvas
                        class="matrix-rows"
                        node_ref=labels
                        aria-hidden="true"
                        style=move || {
                            let g = geometry.get();
                            format!("width:{}px;height:{}px", (g.left - 1.0).max(0.0), g.height())
                        }
                    ></canvas>
                </div>
                {below.map(|strip| strip.view(across.into()))}
            </div>
            <ScaleBar
                label=Signal::derive(move || shown.get().value_name.clone())
                map=Signal::derive(move || shown.get().map)
                colors
                value
                absent
                beyond=Signal::derive(move || shown.get().beyond())
            />
            <p
                class="readout"
                data-testid=format!("{name}-readout")
                data-row=move || pointing.shown().map(|p| p.0.to_string())
                data-column=move || pointing.shown().map(|p| p.1.to_string())
                data-value=move || value.get().map(|v| v.to_string())
            >
                {move || match reading() {
                    Some(text) => text.into_any(),
                    None => view! { <span class="hint">"Point at a cell to read its value."</span> }.into_any(),
                }}
                <span class="readout-pin">
                    {move || if pointing.is_pinned() { "pinned" } else { "" }}
                </span>
            </p>
            <SpokenReading
                shown=Signal::derive(move || pointing.shown())
                words=Callback::new(move |place| sentence(place, &shown.get_untracked()))
            />
        </Frame>
    }
}

/// What lies over the cells: the lit row and column, and the cell that is read.
#[component]
fn Marks(
    geometry: Memo<Geometry>,
    pointing: Pointing<Place>,
    row: Signal<Option<usize>>,
    column: Signal<Option<usize>>,
) -> impl IntoView {
    let lit_row = move || {
        let g = geometry.get();
        let row = row.get().filter(|r| *r < g.rows)?;
        Some(view! { <div class="matrix-lit" style=g.style(row..row + 1, 0..g.columns)></div> })
    };
    let lit_column = move || {
        let g = geometry.get();
        let column = column.get().filter(|c| *c < g.columns)?;
        Some(view! { <div class="matrix-lit" style=g.style(0..g.rows, column..column + 1)></div> })
    };
    let cell = move || {
        let g = geometry.get();
        let (row, column) = pointing.shown().filter(|p| p.0 < g.rows && p.1 < g.columns)?;
        let style = g.style(row..row + 1, column..column + 1);
        Some(view! {
            <div class="mark-cell" class:pinned=move || pointing.is_pinned() style=style></div>
        })
    };
    view! { {lit_row} {lit_column} {cell} }
}

/// Scrolls the cells, `head` below the top of what scrolls, so that the one at `row`, `column` is not
/// hidden, also not under the labels.
fn keep_in_sight(scroller: NodeRef<html::Div>, g: Geometry, head: f64, (row, column): Place) {
    let Some(scroller) = scroller.get_untracked() else { return };
    /// Where to scroll to along one side, of a cell from `start` to `end` past labels of `head`.
    fn place(start: f64, end: f64, head: f64, from: i32, room: i32) -> i32 {
        let (from, room) = (f64::from(from), f64::from(room));
        if start < from + head {
            (start - head).floor() as i32
        } else if end > from + room {
            (end - room).ceil() as i32 + 3
        } else {
            from as i32
        }
    }
    let (x, y) = (scroller.scroll_left(), scroller.scroll_top());
    let (width, height) = (scroller.client_width(), scroller.client_height());
    scroller.set_scroll_left(place(g.x(column), g.x(column + 1), g.left, x, width));
    scroller.set_scroll_top(place(head + g.y(row), head + g.y(row + 1), head + g.top, y, height));
}
