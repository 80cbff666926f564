//! A batch before and after normalisation, side by side. Its rows can be pressed.

use std::sync::Arc;

use leptos::{html, prelude::*};
use unroll_protocol::study::norm::{Axis, Layer};

use super::{
    arithmetic::signed,
    cells::{Cells, Grid, Place},
};
use crate::figures::{
    Matrix, Provenance, ValueMap,
    canvas::{use_latest, use_visible},
    frame::{Files, Frame, choices},
    matrix_data::{matrix_csv, matrix_json},
    matrix_svg::matrix_svg,
    scale::ScaleBar,
    select::Pointing,
    table::TableData,
    theme::use_colors,
    token,
};

/// Values beyond it have the strongest colour.
const LIMIT: f32 = 4.0;

/// Most that any output of each row moved because one row was pressed.
pub fn moved(layer: &Layer) -> Vec<f32> {
    let Ok(result) = &layer.result else { return Vec::new() };
    let columns = layer.input.shape[1] as usize;
    let both = result.output.values.chunks(columns).zip(result.untouched.values.chunks(columns));
    let apart = |(after, before): (&[f32], &[f32])| {
        after.iter().zip(before).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    both.map(apart).collect()
}

/// How the matrices are read: which mean belongs to a cell, and how far the sweep is.
#[derive(Clone, Copy, PartialEq)]
struct Reading {
    axis: Axis,
    /// Means taken so far, of all.
    swept: usize,
    all: usize,
}

impl Reading {
    fn of(layer: &Layer, sweep: u32) -> Self {
        let size = |axis: usize| layer.input.shape[axis] as usize;
        let all = if layer.axis == Axis::Batch { size(1) } else { size(0) };
        let sweep = sweep as usize;
        Self { axis: layer.axis, swept: if sweep == 0 { all } else { sweep.min(all) }, all }
    }

    fn along(self, (row, column): Place) -> usize {
        if self.axis == Axis::Batch { column } else { row }
    }

    /// The mean being taken now, while sweeping.
    fn now(self) -> Option<usize> {
        (self.swept < self.all).then(|| self.swept - 1)
    }
}

/// The figure. `row` (pressed, from 1; 0 is none), `example` and `feature` (the cell worked out)
/// are written by it; `sweep` is how many means are taken, 0 being all.
#[component]
pub fn CouplingFigure(
    #[prop(into)] layer: Signal<Option<Arc<Layer>>>,
    row: RwSignal<u32>,
    example: RwSignal<u32>,
    feature: RwSignal<u32>,
    #[prop(into)] sweep: Signal<u32>,
    #[prop(into)] provenance: Signal<Provenance>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let colors = use_colors();
    let title = Signal::derive(move || {
        layer.get().map_or("A layer's normalisation".to_owned(), |layer| {
            format!(
                "Layer {}: {} examples, {} features",
                layer.layer, layer.input.shape[0], layer.input.shape[1]
            )
        })
    });
    // What is drawn, at most once a frame and only in sight.
    let wanted = Signal::derive(move || (layer.get(), sweep.get()));
    let shown = use_latest(wanted, use_visible(root));
    let layer = Memo::new(move |_| shown.get().0.clone());
    let reading = Memo::new(move |_| {
        let shown = shown.get();
        shown.0.as_ref().map(|layer| Reading::of(layer, shown.1))
    });
    let shape = Memo::new(move |_| {
        layer.get().map_or((0, 0), |l| (l.input.shape[0] as usize, l.input.shape[1] as usize))
    });
    let grid = move |values: Vec<f32>, (rows, columns): Place| Grid {
        rows,
        columns,
        values,
        limit: LIMIT,
    };
    let input = Memo::new(move |_| {
        grid(layer.get().map_or(Vec::new(), |l| l.input.values.clone()), shape.get())
    });
    // Not there where nothing is worked out yet.
    let output = Memo::new(move |_| {
        let (Some(layer), Some(reading)) = (layer.get(), reading.get()) else {
            return Grid::default();
        };
        let (rows, columns) = shape.get();
        let value = |index: usize| {
            let place = (index / columns, index % columns);
            let done = reading.along(place) < reading.swept;
            let result = layer.result.as_ref().ok().filter(|_| done);
            result.map_or(f32::NAN, |result| result.output.values[index])
        };
        grid((0..rows * columns).map(value).collect(), (rows, columns))
    });
    // Means in the first line, variances in the second; for LayerNorm in columns.
    let statistics = Memo::new(move |_| {
        let (Some(layer), Some(reading)) = (layer.get(), reading.get()) else {
            return Grid::default();
        };
        let value = |of: &Vec<f32>, i: usize| {
            if i < reading.swept { of.get(i).copied().unwrap_or(f32::NAN) } else { f32::NAN }
        };
        let none = Vec::new();
        let (mean, variance) = match &layer.result {
            Ok(result) => (&result.mean, &result.variance),
            Err(_) => (&none, &none),
        };
        match reading.axis {
            Axis::Batch => {
                let lines = [mean, variance];
                let values =
                    lines.into_iter().flat_map(|l| (0..reading.all).map(move |i| value(l, i)));
                grid(values.collect(), (2, reading.all))
            }
            Axis::Layer => {
                let values = (0..reading.all).flat_map(|i| [value(mean, i), value(variance, i)]);
                grid(values.collect(), (reading.all, 2))
            }
        }
    });
    let moves = Memo::new(move |_| layer.get().map_or(Vec::new(), |layer| moved(&layer)));

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
    let over_batch = Memo::new(move |_| reading.get().is_none_or(|r| r.axis == Axis::Batch));

    let name = move |index: usize| {
        layer.get().and_then(|l| l.examples.get(index).map(|e| token::mark(e))).unwrap_or_default()
    };
    let rows = move || (0..shape.get().0).collect::<Vec<_>>();
    let pressed = Memo::new(move |_| layer.get().map_or((0, 1.0), |l| (l.row as usize, l.factor)));
    let row_button = move |index: usize| {
        let on = Memo::new(move |_| row.get() as usize == index + 1);
        view! {
            <li>
                <button type="button" class="norm-row" data-testid=format!("norm-row-{}", index + 1)
                    aria-pressed=move || on.get().to_string()
                    aria-label=move || format!("Press example {}, {}", index + 1, name(index))
                    on:click=move |_| row.update(|row| {
                        *row = if *row as usize == index + 1 { 0 } else { index as u32 + 1 };
                    })>
                    <span class="norm-row-text">{move || name(index)}</span>
                    <span class="norm-row-factor">
                        {move || (pressed.get().0 == index + 1).then(|| format!("×{}", pressed.get().1))}
                    </span>
                </button>
            </li>
        }
    };
    let row_moved = move |index: usize| {
        let value = Memo::new(move |_| moves.with(|m| m.get(index).copied()));
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
                    <g inner_html=move || statistics.with(|s| colors.with(|c| s.rectangles(c)))></g>
                </svg>
            </div>
        }
    };
    let matrix = Memo::new(move |_| {
        let names = |what: &str, count: usize| (1..=count).map(|i| format!("{what} {i}")).collect();
        let (rows, columns) = shape.get();
        Arc::new(Matrix {
            row_axis: "example".into(),
            column_axis: "feature".into(),
            rows: names("example", rows),
            columns: names("feature", columns),
            values: output.with(|o| o.values.clone()),
            map: ValueMap::Signed { limit: LIMIT },
            value_name: "y".into(),
            absent: "not normalised".into(),
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
        let place = pointing.shown()?;
        let layer = layer.get()?;
        let reading = reading.get()?;
        let x = input.with(|i| i.value(place))?;
        let y = output.with(|o| o.value(place));
        let mut text = format!(
            "example {} ({}), feature {}: x = {}",
            place.0 + 1,
            name(place.0),
            place.1 + 1,
            signed(x)
        );
        if let (Some(y), Ok(result)) = (y, &layer.result) {
            let at = reading.along(place);
            text += &format!(
                "; μ = {}, σ² = {}; y = {}",
                signed(result.mean[at]),
                signed(result.variance[at]),
                signed(y)
            );
            let before = result.untouched.get(&[place.0, place.1]).unwrap_or(y);
            if layer.row > 0 {
                text += &format!(
                    ", moved by {}",
                    if y == before { "exactly 0".into() } else { signed(y - before) }
                );
            }
        }
        Some(text + ".")
    };
    let now = move || {
        let (layer, reading) = (layer.get()?, reading.get()?);
        let (at, result) = (reading.now()?, layer.result.as_ref().ok()?);
        let (rows, columns) = shape.get();
        let what = match reading.axis {
            Axis::Batch => format!("Feature {}, over the {rows} examples", at + 1),
            Axis::Layer => format!("Example {}, over its {columns} features", at + 1),
        };
        Some(format!(
            "{what}: μ = {}, σ² = {}.",
            signed(*result.mean.get(at)?),
            signed(*result.variance.get(at)?)
        ))
    };
    view! {
        <Frame name="coupling" kind="coupling" title root
            empty=Signal::derive(move || shape.get() == (0, 0)) table
            choices=choices("coupling", title, matrix, Signal::stored(None), provenance, colors, files)>
            <div class="norm-blocks" class:norm-over-batch=over_batch>
                <div class="norm-block" role="group" aria-label="Before: x">
                    <h4><span class="role-input">"x"</span>", what comes in: press a row"</h4>
                    <div class="norm-grid">
                        <ol class="norm-rows">{move || rows().into_iter().map(row_button).collect_view()}</ol>
                        <Cells testid="norm-input" label="x: arrow keys move, Enter works a cell out" grid=input colors
                            pointing lit_row lit_column on_pick/>
                        {strip}
                        <span class="norm-strip-name">{move || if over_batch.get() { "μ, σ² of each column" } else { "μ, σ² of each row" }}</span>
                    </div>
                </div>
                <div class="norm-block" role="group" aria-label="After: y">
                    <h4><span class="role-output">"y"</span>", what goes out, and how far each row moved"</h4>
                    <div class="norm-grid norm-grid-out">
                        <Cells testid="norm-output" label="y: arrow keys move, Enter works a cell out" grid=output colors
                            pointing lit_row lit_column on_pick/>
                        <ol class="norm-moves" aria-label="Most that an output of each row moved">
                            {move || rows().into_iter().map(row_moved).collect_view()}
                        </ol>
                    </div>
                </div>
            </div>
            <ScaleBar
                label="x, y, μ and σ²"
                map=Signal::stored(ValueMap::Signed { limit: LIMIT })
                colors
                value=Signal::derive(move || pointing.shown().and_then(|p| output.with(|o| o.value(p))))
            />
            <p class="readout" data-testid="coupling-readout">
                {move || match now().or_else(sentence) {
                    Some(text) => text.into_any(),
                    None => view! {
                        <span class="hint">"Point at a cell to read it; click it for the arithmetic."</span>
                    }.into_any(),
                }}
            </p>
        </Frame>
    }
}

/// How far something moved; what did not move at all says so.
fn amount(value: f32) -> String {
    if value == 0.0 {
        "0".into()
    } else if value < 0.001 {
        format!("{value:.0e}")
    } else {
        format!("{value:.3}")
    }
}
