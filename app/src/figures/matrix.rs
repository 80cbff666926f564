//! A matrix as a heatmap: rows downwards, columns to the right, read with pointer, finger or keys.

use leptos::{html, prelude::*};

use super::{
    canvas::{Size, use_latest, use_size},
    cells::{Cells, Marks, Place},
    export::Provenance,
    frame::{Files, Frame, choices},
    hue::Hue,
    matrix_data::{Matrix, matrix_csv, matrix_json},
    matrix_paint::{Geometry, Look},
    matrix_strip::ColumnStrip,
    matrix_svg::matrix_svg,
    reading::{Reading, offset, step_cell},
    readout::SpokenReading,
    scale::ScaleBar,
    scroll::{self, Land},
    select::Pointing,
    sight::use_visible,
    since::use_since,
    table::TableData,
    theme::use_colors,
    token::{raised, short_label},
};
use crate::{
    pointer::worded,
    reactive::{effect, memo},
};

/// Labels and cells beside strips are at least so high, in CSS pixels.
const LOWEST: f64 = 88.0;
/// So many characters has the label of what is lit or read.
const NAMED: usize = 6;

/// A heatmap with labels, scale, readout and table.
///
/// `describe` makes the sentence for a cell. `marked` cells are outlined, `dotted` ones have a dot; a gap is
/// before each of the rows `groups`. `row` and `column` light one from outside: where these leave one cell, it
/// is read while none is pointed at.
/// `on_pick` hears of a click or Enter on a cell (a finger's second tap; without it a click pins the cell),
/// `on_point` of the cell that is read, `hint` says what can be done while none is. `above` and `below`
/// stand in line with the columns. Where rows or columns stand for queries, keys or values, their hue says so.
#[component]
pub fn MatrixFigure(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] matrix: Signal<Matrix>,
    #[prop(into)] provenance: Signal<Provenance>,
    #[prop(into, optional)] describe: Option<Callback<(usize, usize, f32), String>>,
    #[prop(into, optional)] marked: Signal<Vec<(usize, usize)>>,
    #[prop(into, optional)] dotted: Signal<Vec<(usize, usize)>>,
    #[prop(into, optional)] groups: Signal<Vec<usize>>,
    #[prop(into, optional)] row: Signal<Option<usize>>,
    #[prop(into, optional)] column: Signal<Option<usize>>,
    #[prop(optional)] on_pick: Option<Callback<(usize, usize)>>,
    #[prop(into, optional)] hint: Signal<String>,
    #[prop(optional)] on_point: Option<Callback<Option<(usize, usize)>>>,
    #[prop(optional)] above: Option<ColumnStrip>,
    #[prop(optional)] below: Option<ColumnStrip>,
    #[prop(optional)] row_hue: Hue,
    #[prop(optional)] column_hue: Hue,
    /// One of several small figures: without the comparison with another moment.
    #[prop(optional)]
    small: bool,
    /// Whether few rows take the height there is.
    #[prop(optional)]
    tall: bool,
    /// Whether cells are squares, however many rows and columns there are.
    #[prop(optional)]
    square: bool,
    /// Whether rows that are too low for a label each have none but that of the one that is lit or read.
    #[prop(optional)]
    sole: bool,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let scroller = NodeRef::<html::Div>::new();
    let size = use_size(scroller);
    let colors = use_colors();
    let latest = use_latest(matrix, use_visible(root));
    let since = use_since(move || vec![latest.get()]);
    let shown = since.shown(0, latest);
    let [head, foot] = [&above, &below].map(|strip| strip.as_ref().map(|strip| strip.height));
    let height_of = |strip: Option<Signal<f64>>| strip.map_or(0.0, |height| height.get());
    let geometry = memo(move || {
        let size = size.get();
        // In a low box strips and cells scroll together.
        let height = size.height - height_of(head) - height_of(foot);
        let size = Size { height: height.max(LOWEST.min(size.height)), ..size };
        Geometry::new(
            &shown.get(),
            size,
            Look { tall, square, sole, row_hue, column_hue, ..Look::default() },
        )
    });
    // Where few rows leave height over, scale and reading follow the cells (see figures.css).
    let spare = memo(move || {
        let (size, cells) = (size.get(), geometry.get());
        let spare = size.height - height_of(head) - height_of(foot) - cells.height;
        // A scroll bar stands at the foot of the box.
        if cells.rows == 0 || cells.width > size.width { 0.0 } else { spare.floor().max(0.0) }
    });
    effect(move || {
        if let Some(root) = root.get() {
            let _ = root.style().set_property("--spare", &format!("{}px", spare.get()));
        }
    });
    let across = memo(move || geometry.get().across());
    let shape = memo(move || shown.get().shape());
    let pointing = Pointing::new(move |&(row, column): &Place| {
        let (rows, columns) = shape.get();
        row < rows && column < columns
    });

    if let Some(on_point) = on_point {
        effect(move || {
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
    let hit = move |e| {
        let (g, (x, y)) = (geometry.get_untracked(), offset(&e));
        // Row labels lie over the cells that are scrolled away.
        let hidden = scroller.get_untracked().map_or(0.0, |s| f64::from(s.scroll_left()));
        (x >= g.left + hidden).then(|| g.hit(x, y)).flatten()
    };
    let step = move |(key, at): (String, Place)| {
        let place = step_cell(&key, at, shape.get_untracked())?;
        let head = head.map_or(0.0, |height| height.get_untracked());
        keep_in_sight(scroller, geometry.get_untracked(), head, place);
        Some(place)
    };
    let reader = Reading {
        pointing,
        hit: Callback::new(hit),
        start: Callback::new(move |()| start()),
        step: Callback::new(step),
        pick: Some(on_pick.unwrap_or(Callback::new(move |place| pointing.toggle_pin(place)))),
        tap_reads: false,
        focus_reads: true,
    };
    let marks = Marks {
        row,
        row_class: Signal::stored(lit(row_hue)),
        column,
        column_class: lit(column_hue),
        cell: Signal::derive(move || pointing.shown()),
        is_pinned: Signal::derive(move || pointing.is_pinned()),
    };

    // Where every other label is left out, what is lit or read has its own all the same.
    let names = move || {
        let (g, read) = (geometry.get(), pointing.shown());
        let lit_row = read.map(|place| place.0).or_else(|| row.get());
        let lit_column = read.map(|place| place.1).or_else(|| column.get());
        let shown = shown.get();
        let row_name = lit_row.filter(|row| *row < g.rows && g.row_every > 1).map(|row| {
            let name = short_label(&shown.rows[row], NAMED);
            let raise = format!("position:relative;top:-{}em", raised(&name, 1.0));
            view! { <div class="mark-label mark-row-name" style=g.beside_row(row)><span style=raise>{name}</span></div> }
        });
        let column_name = lit_column.filter(|column| *column < g.columns && g.column_every > 1);
        let column_name = column_name.map(|column| {
            let name = short_label(&shown.columns[column], NAMED);
            view! { <div class="mark-label mark-column-name" style=g.above_column(column)>{name}</div> }
        });
        (row_name, column_name)
    };
    let dots = memo(move || {
        let g = geometry.get();
        let dot = |&(row, column): &(usize, usize)| {
            let (x, y) = (g.x(column) + g.cell_width / 2.0, g.y(row) + g.cell_height / 2.0);
            (row < g.rows && column < g.columns).then(|| format!("M{x:.1} {y:.1}h.01"))
        };
        dotted.with(|dotted| dotted.iter().filter_map(dot).collect::<String>())
    });
    let gaps = memo(move || {
        let g = geometry.get();
        let gap = |row: &usize| format!("M{:.1} {:.1}h{:.1}", g.left, g.y(*row), g.cells_width());
        groups
            .with(|groups| groups.iter().filter(|row| **row < g.rows).map(gap).collect::<String>())
    });
    let over = |class: &'static str, path: Memo<String>| {
        move || {
            (!path.with(String::is_empty)).then(|| {
                view! { <svg class=class aria-hidden="true"><path d=path/></svg> }
            })
        }
    };
    let (gaps, dots) = (over("matrix-dots matrix-gaps", gaps), over("matrix-dots", dots));

    let chosen = memo(move || {
        let (row, column) = (row.get(), column.get());
        let place = row.zip(column).or_else(|| {
            let lies = |place: &&Place| {
                row.is_none_or(|row| row == place.0)
                    && column.is_none_or(|column| column == place.1)
            };
            marked.with(|marked| {
                let mut places = marked.iter().filter(lies);
                places.next().copied().filter(|_| places.next().is_none())
            })
        });
        let (rows, columns) = shape.get();
        place.filter(|place| place.0 < rows && place.1 < columns)
    });
    let read = memo(move || pointing.shown().or_else(|| chosen.get()));
    let sentence = move |(row, column): Place, matrix: &Matrix| match describe {
        _ if since.is_on() => since.describe(0, (row, column)).unwrap_or_default(),
        Some(describe) => describe.run((row, column, matrix.value(row, column))),
        None => matrix.describe(row, column),
    };
    let reading = move || read.get().map(|place| sentence(place, &shown.get()));
    let value = Signal::derive(move || {
        let (row, column) = read.get()?;
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
    let absent = memo(move || {
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
    // The readout says the change.
    let compare = move || since.button(name, title, provenance, Signal::stored(None));
    view! {
        <Frame
            name
            kind="matrix"
            title
            root
            empty=Signal::derive(move || shape.get() == (0, 0))
            table
            since=(!small).then(|| ViewFn::from(compare))
            choices=choices(name, title, shown, Signal::stored(None), provenance, colors, files)
        >
            <div class="matrix-scroller" class:pickable=on_pick.is_some() node_ref=scroller>
                {above.map(|strip| strip.view(across.into()))}
                <Cells
                    testid=format!("{name}-cells")
                    label=Signal::derive(label)
                    matrix=shown
                    geometry
                    colors
                    marks
                    marked
                    reading=reader
                    over=move || (gaps, dots, names)
                />
                {below.map(|strip| strip.view(across.into()))}
            </div>
            <ScaleBar
                label=Signal::derive(move || shown.get().value_name.clone())
                map=Signal::derive(move || {
                    let shown = shown.get();
                    read.get().map_or(shown.map, |(row, _)| shown.map_of(row))
                })
                colors
                value
                absent
                beyond=Signal::derive(move || shown.get().beyond())
            />
            <p
                class="readout"
                translate="no"
                data-testid=format!("{name}-readout")
                data-row=move || read.get().map(|p| p.0.to_string())
                data-column=move || read.get().map(|p| p.1.to_string())
                data-value=move || value.get().map(|v| v.to_string())
            >
                {move || match reading() {
                    Some(text) => text.into_any(),
                    None if hint.with(String::is_empty) => view! { <span class="hint">{worded("Point at a cell")}<span class="hint-more">" to read its value"</span>"."</span> }.into_any(),
                    None => view! { <span class="hint">{hint}</span> }.into_any(),
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

/// The class of a row or column that is lit.
fn lit(hue: Hue) -> &'static str {
    match hue {
        Hue::Query => "matrix-lit role-query",
        Hue::Key => "matrix-lit role-key",
        Hue::Value => "matrix-lit role-value",
        _ => "matrix-lit",
    }
}

/// Scrolls the cells, `head` below the top of what scrolls, so that the one at `row`, `column` is not
/// hidden, also not under the labels.
fn keep_in_sight(scroller: NodeRef<html::Div>, g: Geometry, head: f64, (row, column): Place) {
    /// Room for the mark around it.
    const MARK: f64 = 3.0;
    let Some(scroller) = scroller.get_untracked() else { return };
    scroll::across(&scroller, [g.x(column) - g.left, g.x(column + 1)], Land::AtEdge(MARK));
    scroll::down(&scroller, [g.y(row) - g.top, head + g.y(row + 1)], Land::AtEdge(MARK));
}
