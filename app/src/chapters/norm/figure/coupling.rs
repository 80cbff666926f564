//! A batch before and after normalization, side by side. Its rows can be pressed.

use std::sync::Arc;

use crate::{pointer::worded, reactive::memo};
use leptos::{html, prelude::*};
use unroll_protocol::study::norm::{Axis, Layer};

use super::{
    cells::{Cells, Grid, Place, Rectangles},
    reading::{OUTPUT_LIMIT, Reading, amount, input_limit, range, shape, times},
};
use crate::figures::{
    Matrix, Provenance, Slot, ValueMap,
    frame::{Files, Frame, choices},
    matrix_data::{matrix_csv, matrix_json},
    matrix_svg::matrix_svg,
    scale::ScaleBar,
    select::Pointing,
    since::use_since,
    table::TableData,
    theme::use_colors,
    token,
};
use crate::store::Store;

/// What the scales are of.
const X: &str = "x, μ, σ";
const Y: &str = "y";

/// A grid as it is compared; `what` is said of a cell, `name` is what is beside its scale.
fn compared(grid: &Grid, what: &str, name: &str) -> Matrix {
    let names = |what: &str, count: usize| (1..=count).map(|i| format!("{what} {i}")).collect();
    Matrix {
        row_axis: format!("{what} of"),
        rows: names("example", grid.rows),
        columns: names("feature", grid.columns),
        values: grid.values.clone(),
        value_name: name.to_owned(),
        absent: "not normalized".to_owned(),
        ..Matrix::default()
    }
}

/// What is drawn: the layer, how many means are taken (0 is all), and whether y is to be compared with x.
pub type Shown = (Option<Arc<Layer>>, u32, bool);

/// The figure, as large as its view. `row` (pressed, from 1; 0 is none), `example` and `feature`
/// (the cell worked out) are written by it, and `children` is what steers it, beside x. It says the mean
/// that is being taken, or what was `said` of it; `most` is the number in that.
#[component]
pub fn CouplingFigure(
    root: NodeRef<html::Section>,
    shown: Memo<Arc<Shown>>,
    said: Signal<Option<String>>,
    most: Signal<Option<String>>,
    row: Slot<u32>,
    example: Slot<u32>,
    feature: Slot<u32>,
    #[prop(into)] provenance: Signal<Provenance>,
    children: Children,
) -> impl IntoView {
    let colors = use_colors();
    let layer = memo(move || shown.get().0.clone());
    let title = Signal::derive(move || {
        layer.get().map_or("Normalization of a layer".to_owned(), |layer| {
            let (rows, columns) = (layer.input.shape[0], layer.input.shape[1]);
            let s = if rows == 1 { "" } else { "s" };
            format!("Layer {}: {rows} example{s}, {columns} features", layer.layer)
        })
    });
    let reading = memo(move || {
        let (layer, sweep, undo) = &*shown.get();
        layer.as_ref().map(|layer| Reading::of(layer, *sweep, *undo))
    });
    let undo = memo(move || reading.get().is_some_and(|reading| reading.undo));
    let shape = memo(move || layer.get().map_or((0, 0), |layer| shape(&layer)));
    let limit = memo(move || layer.get().map_or(1.0, |layer| input_limit(&layer)));
    let input = memo(move || {
        let values = layer.get().map_or(Vec::new(), |layer| layer.input.values.clone());
        let (rows, columns) = shape.get();
        Grid { rows, columns, values, limit: limit.get() }
    });
    let grid = move |of: fn(Reading, &Layer) -> Grid| {
        memo(move || {
            let both = layer.get().zip(reading.get());
            both.map_or(Grid::default(), |(layer, reading)| of(reading, &layer))
        })
    };
    // In the first beat y has x's colors: that it reaches less far is what there is to see.
    let store = expect_context::<Store>();
    let is_first = memo(move || store.link.with(|link| link.idea == 0));
    let normalized = grid(Reading::output);
    let output = memo(move || {
        let grid = normalized.get();
        let limit = if is_first.get() { limit.get() } else { grid.limit };
        Grid { limit, ..grid }
    });
    let live = [input, output, grid(Reading::statistics)];
    let since = use_since(move || {
        // One scale is of x, μ and σ.
        let parts = live.into_iter().zip([("x", X), ("y", Y), ("μ or σ", X)]);
        parts
            .map(|(grid, (what, name))| Arc::new(grid.with(|grid| compared(grid, what, name))))
            .collect()
    });
    let shown = |part: usize| {
        memo(move || {
            let grid = live[part].get();
            match since.moved(part) {
                Some(moved) => {
                    Grid { values: moved.values.clone(), limit: moved.map.value(1.0), ..grid }
                }
                None => grid,
            }
        })
    };
    let [input, output, statistics] = [shown(0), shown(1), shown(2)];
    let name_of = move |part: usize, name: &'static str| {
        Signal::derive(move || {
            since.moved(part).map_or_else(|| name.to_owned(), |moved| moved.value_name.clone())
        })
    };
    let (x_name, y_name) = (name_of(0, X), name_of(1, Y));
    let map_of = move |grid: Memo<Grid>| {
        // Before there is a layer there is a scale all the same.
        let limit =
            grid.with(|grid| if grid.values.is_empty() { OUTPUT_LIMIT } else { grid.limit });
        ValueMap::Signed { limit }
    };
    let moves = memo(move || {
        let both = layer.get().zip(reading.get());
        both.map_or(Vec::new(), |(layer, reading)| reading.of_rows(&layer))
    });

    let pointing = Pointing::new(move |&(r, c): &Place| {
        let (rows, columns) = shape.get();
        r < rows && c < columns
    });
    let on_pick = Callback::new(move |(r, c): Place| {
        let place = (r as u32 + 1, c as u32 + 1);
        let open = (example.get_untracked(), feature.get_untracked()) == place;
        example.set(if open { 0 } else { place.0 });
        feature.set(if open { 0 } else { place.1 });
    });
    let of_axis = move |axis: Axis| {
        reading.get().filter(|reading| reading.axis == axis).and_then(|reading| {
            reading.now().or_else(|| pointing.shown().map(|place| reading.along(place)))
        })
    };
    let lit_column = Signal::derive(move || of_axis(Axis::Batch));
    let lit_row = Signal::derive(move || of_axis(Axis::Layer));
    let beyond = move |grid: Memo<Grid>| {
        Signal::derive(move || {
            let matrix = grid.with(|grid| compared(grid, "", ""));
            Matrix { map: map_of(grid), ..matrix }.beyond()
        })
    };
    let network = move || layer.get().map(|layer| format!(" in {}’s network", layer.axis.label()));
    let reach = move |grid: Memo<Grid>| move || grid.with(range);
    let over_batch = memo(move || reading.get().is_none_or(|r| r.axis == Axis::Batch));

    let name = move |index: usize| {
        layer.get().and_then(|l| l.examples.get(index).map(|e| token::mark(e))).unwrap_or_default()
    };
    let rows = move || (0..shape.get().0).collect::<Vec<_>>();
    let pressed = memo(move || layer.get().map_or((0, 1.0), |l| (l.row as usize, l.factor)));
    let row_button = move |index: usize| {
        let on = memo(move || row.get() as usize == index + 1);
        view! {
            <li>
                <button type="button" class="norm-row" data-testid=format!("norm-row-{}", index + 1)
                    aria-pressed=move || on.get().to_string()
                    on:click=move |_| row.update(|row| {
                        *row = if *row as usize == index + 1 { 0 } else { index as u32 + 1 };
                    })>
                    <span class="visually-hidden">{format!("Press example {}: ", index + 1)}</span>
                    <span class="norm-row-text">{move || name(index)}</span>
                    <span class="norm-row-factor">
                        {move || (pressed.get().0 == index + 1).then(|| times(pressed.get().1))}
                    </span>
                </button>
            </li>
        }
    };
    let row_moved = move |index: usize| {
        let value = memo(move || moves.with(|m| m.get(index).copied()));
        view! {
            <li data-testid=format!("norm-moved-{}", index + 1)
                data-value=move || value.get().map(|v| v.to_string())
                class:norm-pressed=move || pressed.get().0 == index + 1>
                <i aria-hidden="true" style=move || {
                    format!("width:{}%", (value.get().unwrap_or(0.0) / 2.0).min(1.0) * 100.0)
                }></i>
                <span>{move || value.get().map(amount)}</span>
            </li>
        }
    };
    let strip = move || {
        let across = over_batch.get();
        let class =
            if across { "norm-strip norm-strip-row" } else { "norm-strip norm-strip-column" };
        view! {
            <div class=class aria-hidden="true">
                <svg preserveAspectRatio="none" shape-rendering="crispEdges"
                    viewBox=move || statistics.with(|s| format!("0 0 {} {}", s.columns.max(1), s.rows.max(1)))>
                    <Rectangles grid=statistics colors/>
                </svg>
            </div>
        }
    };
    let matrix = memo(move || {
        let matrix = output.with(|output| compared(output, "", &y_name.get()));
        Arc::new(Matrix {
            row_axis: "example".into(),
            column_axis: "feature".into(),
            map: map_of(output),
            ..matrix
        })
    });
    let files = Files { json: matrix_json, csv: matrix_csv, svg: matrix_svg };
    let table = TableData {
        name: "coupling",
        summary: "Values of y as a table",
        caption: title,
        shape: shape.into(),
        along: ("examples", "features"),
        row_name: Callback::new(move |i: usize| matrix.with(|m| m.row_name(i))),
        column_name: Callback::new(move |i: usize| matrix.with(|m| m.column_name(i))),
        cell: Callback::new(move |place: Place| {
            output.with(|o| o.value(place)).map(|v| format!("{v:.4}"))
        }),
        absent: "–",
        start: Callback::new(move |()| pointing.shown_untracked()),
    };
    let sentence = move || {
        let (layer, reading, place) = (layer.get()?, reading.get()?, pointing.shown()?);
        let [x, y] = [0, 1].map(|part| since.describe(part, place));
        x.zip(y).map(|(x, y)| format!("{x}; {y}.")).or_else(|| reading.cell_sentence(&layer, place))
    };
    let swept = move || reading.get()?.sweep_sentence(&*layer.get()?);
    let at_rest = move || pressed.get().0 == 0 && !undo.get();
    let pinned = Signal::derive(move || {
        Some((example.get().checked_sub(1)? as usize, feature.get().checked_sub(1)? as usize))
    });
    // A pressed row or other statistics are not what training changed.
    let asked = Signal::derive(move || {
        layer.get().map_or(String::new(), |layer| {
            let Layer { axis, statistics, layer, row, factor, examples, .. } = &*layer;
            let examples = examples.join("\n");
            let (axis, statistics) = (*axis as u8, *statistics as u8);
            format!("{axis} {statistics} {layer} {row} {factor} {} {examples}", undo.get())
        })
    });
    let compare = move || since.button("coupling", asked, provenance, Signal::stored(None));
    view! {
        <Frame name="coupling" kind="coupling" title root
            empty=Signal::derive(move || shape.get() == (0, 0)) table since=Some(ViewFn::from(compare))
            choices=choices("coupling", title, matrix, Signal::stored(None), provenance, colors, files)>
            <div class="figure-box norm-blocks" class:norm-over-batch=over_batch
                class:norm-at-rest=at_rest
                style=move || format!("--rows:{}", shape.get().0.max(1))>
                // Nothing was done: it says what can be.
                <p class="norm-verdict norm-coupling-verdict" class:hint=move || at_rest() && swept().is_none()
                    data-testid="norm-coupling" data-most=move || most.get()>
                    {move || swept().or_else(|| said.get())}
                </p>
                <div class="norm-block" role="group" aria-label="Before: x">
                    <div class="norm-head norm-head-x">
                        <div class="norm-named">
                            <h4 data-part="x"><span class="role-input">"x"</span><span>{network}</span></h4>
                            " "<span class="norm-range" data-testid="norm-range-x">{reach(input)}</span>
                        </div>
                        {children()}
                    </div>
                    <ol class="norm-rows">
                        {move || rows().into_iter().map(row_button).collect_view()}
                    </ol>
                    <div class="norm-x">
                        <Cells testid="norm-input" label="x: arrow keys move, Enter works a cell out"
                            grid=input colors pointing pinned lit_row lit_column on_pick/>
                    </div>
                    {strip}
                    <span class="norm-strip-name">"μ, σ"</span>
                    <div class="norm-scale-x">
                        <ScaleBar short=true label=x_name colors beyond=beyond(input) map=Signal::derive(move || map_of(input))
                            value=Signal::derive(move || input.with(|grid| grid.value(pointing.shown()?)))/>
                    </div>
                </div>
                <div class="norm-block" role="group" aria-label="After: y">
                    <div class="norm-head norm-head-y">
                        <div class="norm-named">
                            <h4 data-part="y"><span class="role-output">"y"</span><span>" goes out"</span></h4>
                            " "<span class="norm-range" data-testid="norm-range-y">{reach(output)}</span>
                        </div>
                    </div>
                    <div class="norm-head norm-head-moved"><h4 class="role-gradient" data-testid="norm-rows-say">
                            {move || if undo.get() { "y − x" } else { "moved" }}
                        </h4></div>
                    <div class="norm-y">
                        <Cells testid="norm-output" label="y: arrow keys move, Enter works a cell out"
                            grid=output colors pointing pinned lit_row lit_column on_pick/>
                    </div>
                    <ol class="norm-moves" aria-label=move || {
                        if undo.get() { "Most that an output of each row differs from x" }
                        else { "Most that an output of each row moved" }
                    }>
                        {move || rows().into_iter().map(row_moved).collect_view()}
                    </ol>
                    <div class="norm-scale-y">
                        <ScaleBar short=true label=y_name colors beyond=beyond(output) map=Signal::derive(move || map_of(output))
                            value=Signal::derive(move || output.with(|grid| grid.value(pointing.shown()?)))/>
                    </div>
                </div>
            </div>
            <p class="readout" data-testid="coupling-readout">
                {move || match sentence() {
                    Some(text) => text.into_any(),
                    None => view! {
                        <span class="hint">{worded("Point at a cell to read it. Click it for the arithmetic.")}</span>
                    }.into_any(),
                }}
            </p>
        </Frame>
    }
}
