//! Who reads what: a source's characters, what a decoder produced from them, and how much producing
//! each one read of every other.

use leptos::{ev, html, prelude::*};
use unroll_protocol::gpt::likeliest;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use crate::figures::pen::FACE;
use crate::figures::{
    self,
    canvas::{self, Size, use_latest, use_size},
    export::Provenance,
    frame::{Files, Frame, choices},
    matrix_data::{Matrix, matrix_csv, matrix_json},
    matrix_svg::matrix_svg,
    reading::{Reading, listener, offset, step_cell, walk},
    readout::SpokenReading,
    scale::ValueMap,
    select::Pointing,
    sight::use_visible,
    since::Since,
    table::TableData,
    theme::{Colors, use_colors},
    token::{mark, name_at, spoken},
};
use crate::{
    pointer::worded,
    reactive::{effect, memo},
};

/// What one decoder produced from a source of `S` characters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    pub name: String,
    pub tokens: Vec<String>,
    /// Whether each is the right one; empty where that is not known.
    pub right: Vec<bool>,
    /// `[T, S]`, row by row; empty for a decoder without attention.
    pub weights: Vec<f32>,
}

/// Everything on show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    pub source: Vec<String>,
    pub decoded: Vec<Decoded>,
    /// Characters produced so far, of each; what comes later is not shown yet.
    pub shown: usize,
    /// Characters that the right answer has, the end counted: there is room for so many from the first.
    pub wanted: usize,
}

/// A produced character: whose, and which, from 0.
pub type Place = (usize, usize);

impl Decoded {
    /// What producing character `at` read, `S` weights; empty without attention.
    pub fn row(&self, at: usize) -> &[f32] {
        let length = self.weights.len().checked_div(self.tokens.len()).unwrap_or(0);
        self.weights.get(at * length..(at + 1) * length).unwrap_or(&[])
    }
}

impl Alignment {
    /// The weights on show for the produced character at `place`.
    pub fn row(&self, (model, at): Place) -> &[f32] {
        self.decoded.get(model).map_or(&[], |decoded| decoded.row(at))
    }

    /// How many characters of decoder `model` are on show.
    pub fn count(&self, model: usize) -> usize {
        self.decoded.get(model).map_or(0, |decoded| decoded.tokens.len().min(self.shown))
    }

    /// The mean weight on the line from the source's end to its start, of the first decoder that has
    /// weights. A character that it did not write has none there.
    pub fn on_line(&self) -> Option<f32> {
        let decoded = self.decoded.iter().find(|decoded| !decoded.weights.is_empty())?;
        let length = self.source.len();
        let weights = (0..length).filter_map(|at| decoded.row(at).get(length - 1 - at));
        (length > 0).then(|| weights.sum::<f32>() / length as f32)
    }
}

/// A weight in percent, short enough for a chip: nothing for what is under half a percent.
fn percent(weight: f32) -> String {
    if weight < 0.005 { String::new() } else { format!("{:.0}", 100.0 * weight) }
}

/// Weights nearer to each other than this look alike.
const LEADS: f32 = 0.01;

/// The source character that is read more than any other, if it can be told from the next.
pub fn standing_out(row: &[f32]) -> Option<usize> {
    match *likeliest(row).as_slice() {
        [most, second, ..] => (row[most] - row[second] >= LEADS).then_some(most),
        [most] => Some(most),
        [] => None,
    }
}

/// The sentence for what a produced character read: the three largest weights.
pub fn read_sentence(alignment: &Alignment, place: Place) -> Option<String> {
    let (model, at) = place;
    let decoded = alignment.decoded.get(model)?;
    let token = decoded.tokens.get(at)?;
    let row = decoded.row(at);
    if row.is_empty() {
        return Some(format!(
            "{} made {} from the encoder’s last states alone: it reads no source character.",
            decoded.name,
            name_at(token, at)
        ));
    }
    let order = likeliest(row);
    let read = order.iter().take(3).map(|&j| {
        let name = name_at(alignment.source.get(j).map_or("", |s| s), j);
        format!("{name} {}", figures::percent(row[j], 1))
    });
    let read = read.collect::<Vec<_>>().join(", ");
    Some(format!("Weights for {}: {read}.", name_at(token, at)))
}

/// The sentence for one weight: produced and source character.
fn cell_sentence(alignment: &Alignment, model: usize, (at, key): (usize, usize)) -> String {
    let value = alignment.row((model, at)).get(key).copied();
    let source = alignment.source.get(key).map_or(String::new(), |s| name_at(s, key));
    match (alignment.decoded.get(model).and_then(|d| d.tokens.get(at)), value) {
        (Some(token), Some(value)) if at < alignment.count(model) => {
            format!("For {} it reads {source} with a weight of {value:.4}.", name_at(token, at))
        }
        _ => "Not written yet.".to_owned(),
    }
}

/// What producing each character of decoder `model` read; nothing without attention. Rows that are not
/// produced yet are not there.
fn weights_of(alignment: &Alignment, model: usize) -> Matrix {
    let Some(decoded) = alignment.decoded.get(model).filter(|d| !d.weights.is_empty()) else {
        return Matrix::default();
    };
    let shown = alignment.count(model);
    let rows = decoded.tokens.iter().enumerate();
    let rows = rows.map(|(i, token)| if i < shown { token.clone() } else { "·".into() });
    let mut values = decoded.weights.clone();
    values.iter_mut().skip(shown * alignment.source.len()).for_each(|value| *value = f32::NAN);
    Matrix {
        row_axis: "produced".into(),
        column_axis: "source".into(),
        rows: rows.collect(),
        columns: alignment.source.clone(),
        values,
        map: ValueMap::Probability,
        value_name: "attention weight".into(),
        absent: "not produced yet".into(),
    }
}

/// Characters that are compared, more than any decoder writes.
const MOST_COMPARED: usize = 64;

/// The weights of decoder `model` as they are compared. Rows are places: at another moment it may write
/// other characters there, or more of them.
pub fn compared(alignment: &Alignment, model: usize) -> Matrix {
    let mut matrix = weights_of(alignment, model);
    if matrix.shape() != (0, 0) {
        matrix.row_axis = String::new();
        matrix.rows = (1..=MOST_COMPARED).map(|at| format!("character {at}")).collect();
        matrix.values.resize(MOST_COMPARED * matrix.columns.len(), f32::NAN);
    }
    matrix
}

/// How far the weights of `matrix` have moved, as [`compared`].
fn moved_by(matrix: Matrix, moved: &Matrix) -> Matrix {
    let values = moved.values.iter().copied().take(matrix.values.len()).collect();
    Matrix { values, map: moved.map, value_name: moved.value_name.clone(), ..matrix }
}

/// What is pointed at and chosen, shared by all parts that show an alignment.
#[derive(Clone, Copy)]
pub struct Gaze {
    pub alignment: Memo<Alignment>,
    /// The produced character whose weights are on show.
    pub place: Signal<Option<Place>>,
    /// A source character that is pointed at, or taken apart.
    pub key: Signal<Option<usize>>,
    /// The produced character that is kept.
    pub pinned: Signal<Option<Place>>,
    pub on_point: Callback<Option<Place>>,
    pub on_point_key: Callback<Option<usize>>,
    /// A produced character is chosen.
    pub on_pick: Callback<Place>,
    /// A source character is chosen.
    pub on_pick_key: Callback<usize>,
}

/// The source's characters in a row, each with the share that producing the character on show read
/// of it.
#[component]
pub fn SourceChips(gaze: Gaze, testid: &'static str) -> AnyView {
    let Gaze { alignment, place, key, .. } = gaze;
    let length = memo(move || alignment.with(|a| a.source.len()));
    let strongest = memo(move || {
        let place = place.get()?;
        alignment.with(|a| standing_out(a.row(place)))
    });
    let chip = move |j: usize| {
        Chip {
            id: format!("{}-{j}", testid.trim_end_matches("-row")),
            role: "key",
            token: Signal::derive(move || {
                alignment.with(|a| a.source.get(j).cloned().unwrap_or_default())
            }),
            share: Signal::derive(move || {
                let place = place.get()?;
                alignment.with(|a| a.row(place).get(j).copied())
            }),
            lit: Signal::derive(move || key.get() == Some(j)),
            most: Signal::derive(move || strongest.get() == Some(j)),
            pinned: Signal::stored(false),
            right: Signal::stored(None),
            waiting: Signal::stored(false),
            position: j,
            tab: Signal::derive(move || key.get().unwrap_or(0) == j),
            point: Callback::new(move |here: bool| gaze.on_point_key.run(here.then_some(j))),
            pick: Callback::new(move |()| gaze.on_pick_key.run(j)),
        }
        .view()
    };
    view! {
        <div class="alignment-chips" role="listbox" aria-orientation="horizontal" data-testid=testid
            aria-label="Source characters. Arrow keys move, Enter takes a weight apart.">
            <For each=move || 0..length.get() key=|j| *j children=chip/>
        </div>
    }
    .into_any()
}

/// What decoder `model` has produced, in a row or, `upright`, one below the other.
#[component]
pub fn ProducedChips(gaze: Gaze, model: usize, #[prop(optional)] upright: bool) -> AnyView {
    let Gaze { alignment, place, key, pinned, .. } = gaze;
    let name = memo(move || {
        alignment.with(|a| a.decoded.get(model).map_or(String::new(), |d| d.name.clone()))
    });
    let count =
        memo(move || alignment.with(|a| a.decoded.get(model).map_or(0, |d| d.tokens.len())));
    let chip = move |i: usize| {
        Chip {
            id: format!("alignment-output-{model}-{i}"),
            role: "query",
            token: Signal::derive(move || {
                alignment.with(|a| {
                    let token = a.decoded.get(model).and_then(|d| d.tokens.get(i));
                    token.filter(|_| i < a.shown).cloned().unwrap_or_default()
                })
            }),
            share: Signal::derive(move || {
                let key = key.get()?;
                alignment.with(|a| a.row((model, i)).get(key).copied())
            }),
            lit: Signal::derive(move || place.get() == Some((model, i))),
            most: Signal::stored(false),
            pinned: Signal::derive(move || pinned.get() == Some((model, i))),
            right: Signal::derive(move || {
                alignment.with(|a| a.decoded.get(model)?.right.get(i).copied())
            }),
            waiting: Signal::derive(move || {
                alignment.with(|a| {
                    i >= a.shown && a.decoded.get(model).is_some_and(|d| i < d.tokens.len())
                })
            }),
            position: i,
            tab: Signal::derive(move || {
                let at = place.get().filter(|p| p.0 == model).map_or(0, |p| p.1);
                at.min(alignment.with(|a| a.count(model)).saturating_sub(1)) == i
            }),
            point: Callback::new(move |here: bool| gaze.on_point.run(here.then_some((model, i)))),
            pick: Callback::new(move |()| gaze.on_pick.run((model, i))),
        }
        .view()
    };
    view! {
        <div class="alignment-chips" class:is-upright=upright role="listbox"
            aria-orientation=if upright { "vertical" } else { "horizontal" }
            data-testid=format!("alignment-output-{model}")
            aria-label=move || format!("Written by {}. Arrow keys move, Enter keeps one.", name.get())>
            <For each=move || 0..count.get() key=|i| *i children=chip/>
        </div>
    }
    .into_any()
}

/// Where the cells are, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Geometry {
    rows: usize,
    columns: usize,
    /// Room for the produced characters, and for the source's.
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// Smaller than this no cell becomes: the matrix scrolls instead.
const LEAST: f64 = 11.0;
/// How much longer than wide a cell may be, or wider than long. On a phone the matrix takes all the width.
const LONGEST: f64 = 1.5;
const LONGEST_SMALL: f64 = 2.0;
/// Wide enough for a percentage.
const READABLE: f64 = 34.0;

/// Room for the produced characters at the left and the source's above, where there is enough.
const WIDE: (f64, f64) = (56.0, 46.0);

impl Geometry {
    /// For so many rows and columns in a box of this size. There is room for `most` rows: matrices
    /// beside each other have cells of one size.
    fn new(rows: usize, columns: usize, most: usize, size: Size) -> Self {
        if rows == 0 || columns == 0 || size.width <= 0.0 {
            return Self::default();
        }
        let is_small = size.width < 300.0 || size.height < 260.0;
        let (left, top) = match size.height {
            _ if is_small => (34.0, 26.0),
            800.0.. => (76.0, 64.0),
            _ => WIDE,
        };
        let width = ((size.width - left - 3.0) / columns as f64).max(LEAST);
        let height = ((size.height - top - 3.0) / rows.max(most) as f64).max(LEAST);
        let longest = if is_small { LONGEST_SMALL } else { LONGEST };
        Self {
            rows,
            columns,
            left,
            top,
            width: width.min(longest * height).floor(),
            height: height.min(longest * width).floor(),
        }
    }

    fn hit(&self, x: f64, y: f64) -> Option<(usize, usize)> {
        let index = |v: f64, cell: f64, count: usize| {
            let at = v / cell;
            (at >= 0.0 && at < count as f64).then_some(at as usize)
        };
        Some((index(y, self.height, self.rows)?, index(x, self.width, self.columns)?))
    }

    /// The vertical and horizontal extent of cells, as CSS.
    fn style(&self, rows: core::ops::Range<usize>, columns: core::ops::Range<usize>) -> String {
        let (left, top) = (self.width * columns.start as f64, self.height * rows.start as f64);
        let (width, height) = (self.width * columns.len() as f64, self.height * rows.len() as f64);
        format!("left:{left}px;top:{top}px;width:{width}px;height:{height}px")
    }

    /// What the style sheet lays the chips out by.
    fn variables(&self) -> String {
        let Self { rows, columns, left, top, width, height } = self;
        let font = (0.45 * width.min(*height)).clamp(12.0, 28.0);
        format!(
            "--rows:{rows};--columns:{columns};--left:{left}px;--top:{top}px;\
             --cell-width:{width}px;--cell-height:{height}px;--chip-font:{font}px"
        )
    }
}

/// Paints the cells, and in the row on show each weight in percent where there is room. `None` if the
/// browser refuses a canvas.
fn paint(
    canvas: &HtmlCanvasElement,
    scale: f64,
    g: Geometry,
    matrix: &Matrix,
    lit: Option<usize>,
    colors: &Colors,
) -> Option<()> {
    let (width, height) = (g.width * g.columns as f64, g.height * g.rows as f64);
    let size = Size { width, height, scale };
    canvas::with_text(&canvas::prepare(canvas, size)?, size, |context| {
        paint_cells(context, g, matrix, lit, colors)
    })
}

fn paint_cells(
    context: &CanvasRenderingContext2d,
    g: Geometry,
    matrix: &Matrix,
    lit: Option<usize>,
    colors: &Colors,
) -> Option<()> {
    let gap = if g.width.min(g.height) >= 16.0 { 2.0 } else { 0.0 };
    let palette = colors.palette;
    let waiting = palette.blocked.css();
    context.set_text_align("center");
    context.set_text_baseline("middle");
    context.set_font(&format!("{}px {FACE}", (0.24 * g.width).clamp(12.0, 18.0)));
    for row in 0..g.rows {
        for column in 0..g.columns {
            let value = matrix.value(row, column);
            let color = if value.is_finite() {
                matrix.map.color(value, colors).css()
            } else {
                waiting.clone()
            };
            let (x, y) = (g.width * column as f64, g.height * row as f64);
            context.set_fill_style_str(&color);
            context.fill_rect(x, y, g.width - gap, g.height - gap);
            // Room for an answer longer than what it writes.
            let beyond =
                row == matrix.rows.len() && row > 0 && matrix.value(row - 1, 0).is_finite();
            if beyond && column + 1 == g.columns {
                context.set_fill_style_str(&palette.ink.css());
                let across = g.width * g.columns as f64;
                let (x, y) = ((across - gap) / 2.0, y + (g.height - gap) / 2.0);
                context.fill_text_with_max_width("The answer ends above.", x, y, across).ok()?;
            }
            let is_readable = lit == Some(row) && g.width >= READABLE && g.height >= 16.0;
            if is_readable && value.abs() >= 0.005 {
                let ink = if matrix.map.depth(value) < 0.55 { palette.ink } else { palette.paper };
                context.set_fill_style_str(&ink.css());
                let sign = match matrix.map {
                    ValueMap::Signed { .. } if value < 0.0 => "−",
                    ValueMap::Signed { .. } => "+",
                    _ => "",
                };
                let text = format!("{sign}{}", figures::percent(value.abs(), 0));
                let (x, y) = (x + (g.width - gap) / 2.0, y + (g.height - gap) / 2.0);
                context.fill_text(&text, x, y).ok()?;
            }
        }
    }
    Some(())
}

/// One decoder's alignment: the source's characters above, the produced ones at the left, and a cell
/// for each weight. A click or Enter on a cell is told to `on_cell`.
#[component]
pub fn AlignmentFigure(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    gaze: Gaze,
    model: usize,
    /// Of the weights of all decoders, as [`compared`].
    since: Since,
    /// What turns the comparison on, where it is this figure that has it.
    #[prop(optional_no_strip)]
    compare: Option<ViewFn>,
    /// The cell that is taken apart: produced and source character.
    #[prop(into)]
    chosen: Signal<Option<(usize, usize)>>,
    on_cell: Callback<(Place, usize)>,
    #[prop(into)] provenance: Signal<Provenance>,
) -> AnyView {
    let Gaze { alignment, place, key, .. } = gaze;
    let root = NodeRef::<html::Section>::new();
    let (bounds, canvas) = (NodeRef::<html::Div>::new(), NodeRef::<html::Canvas>::new());
    let size = use_size(bounds);
    let colors = use_colors();
    let source = Signal::derive(move || {
        let weights = alignment.with(|a| weights_of(a, model));
        match since.moved(model) {
            Some(moved) => moved_by(weights, &moved),
            None => weights,
        }
    });
    let shown = use_latest(source, use_visible(root));
    let shape = memo(move || {
        alignment.with(|a| (a.decoded.get(model).map_or(0, |d| d.tokens.len()), a.source.len()))
    });
    let geometry = memo(move || {
        let (rows, columns) = shape.get();
        let most = alignment.with(|a| {
            let seeing = a.decoded.iter().filter(|decoded| !decoded.weights.is_empty());
            seeing.map(|decoded| decoded.tokens.len()).max().unwrap_or(0)
        });
        // Room for the whole answer from the first step on: rows keep their height over a run.
        let wanted = alignment.with(|a| a.wanted);
        Geometry::new(rows.max(wanted), columns, most, size.get())
    });
    let scale = memo(move || size.get().scale.max(1.0));
    let row = memo(move || place.get().filter(|p| p.0 == model).map(|p| p.1));
    effect(move || {
        let Some(canvas) = canvas.get() else { return };
        let (g, matrix, row) = (geometry.get(), shown.get(), row.get());
        colors.with(|colors| paint(&canvas, scale.get(), g, &matrix, row, colors));
    });
    let pointing = Pointing::new(move |&(row, column): &(usize, usize)| {
        let (rows, columns) = shape.get();
        row < rows && column < columns
    });
    effect(move || {
        let cell = pointing.shown();
        untrack(|| {
            gaze.on_point.run(cell.map(|(at, _)| (model, at)));
            gaze.on_point_key.run(cell.map(|(_, key)| key));
        });
    });
    let is_produced = move |at: usize| alignment.with_untracked(|a| at < a.count(model));
    let act = move |(at, key): (usize, usize)| {
        if is_produced(at) {
            on_cell.run(((model, at), key));
        }
    };
    let start = move || {
        let (rows, columns) = shape.get_untracked();
        let outside = (row.get_untracked().unwrap_or(0), key.get_untracked().unwrap_or(0));
        let (at, key) = pointing.shown_untracked().unwrap_or(outside);
        (rows > 0 && columns > 0).then(|| (at.min(rows - 1), key.min(columns - 1)))
    };
    let reader = Reading {
        pointing,
        hit: Callback::new(move |e| {
            let (x, y) = offset(&e);
            geometry.get_untracked().hit(x, y)
        }),
        start: Callback::new(move |()| start()),
        step: Callback::new(move |(key, at): (String, _)| {
            step_cell(&key, at, shape.get_untracked())
        }),
        pick: Some(Callback::new(act)),
        tap_reads: false,
        focus_reads: true,
    };
    let say = move |cell| match since.describe(model, cell) {
        Some(change) => change,
        None => alignment.with(|a| cell_sentence(a, model, cell)),
    };
    let reading = move || match pointing.shown() {
        Some(cell) => Some(say(cell)),
        None => alignment.with(|a| read_sentence(a, (model, row.get()?))),
    };
    let value = move || {
        let (at, key) = pointing.shown()?;
        Some(shown.get().value(at, key)).filter(|value| value.is_finite())
    };
    let mark = move |class: &'static str, cells: Option<(usize, usize, usize, usize)>| {
        let g = geometry.get();
        let (top, bottom, left, right) = cells.filter(|c| c.1 <= g.rows && c.3 <= g.columns)?;
        Some(view! { <div class=class style=g.style(top..bottom, left..right)></div> })
    };
    let marks = move || {
        let (rows, columns) = shape.get();
        view! {
            {mark("alignment-lit-row", row.get().map(|at| (at, at + 1, 0, columns)))}
            {mark("alignment-lit-column", key.get().map(|key| (0, rows, key, key + 1)))}
            {mark("mark-cell", pointing.shown().or(chosen.get()).map(|(at, key)| (at, at + 1, key, key + 1)))}
        }
    };
    let table = TableData {
        name,
        summary: "Values as a table",
        caption: title,
        shape: Signal::derive(move || shown.get().shape()),
        along: ("rows", "columns"),
        row_name: Callback::new(move |i: usize| shown.get().row_name(i)),
        column_name: Callback::new(move |i: usize| shown.get().column_name(i)),
        cell: Callback::new(move |(row, column): (usize, usize)| {
            let value = Some(shown.get().value(row, column)).filter(|value| value.is_finite());
            value.map(|value| format!("{value:.4}"))
        }),
        absent: "–",
        start: Callback::new(move |()| start()),
    };
    let files = Files { json: matrix_json, csv: matrix_csv, svg: matrix_svg };
    let is_blind = memo(move || {
        alignment.with(|a| a.decoded.get(model).is_some_and(|d| d.weights.is_empty()))
    });
    let row_id = if model == 0 { "alignment-source-row" } else { "alignment-source-beside" };
    view! {
        <Frame name kind="alignment" title root
            empty=Signal::derive(move || shown.get().shape() == (0, 0))
            table
            since=compare
            choices=choices(name, title, shown, Signal::stored(None), provenance, colors, files)>
            <div class="figure-box alignment-box" node_ref=bounds>
                <div class="alignment-map" class:is-small=move || geometry.get().left < WIDE.0 style=move || geometry.get().variables()>
                    <p class="alignment-corner" aria-hidden="true">
                        <span>"reads →"</span><span>"writes ↓"</span>
                    </p>
                    <SourceChips gaze testid=row_id/>
                    <ProducedChips gaze model upright=true/>
                    <div {..reader.handlers()} class="alignment-cells" data-testid=format!("{name}-cells") tabindex="0"
                        role="application" aria-roledescription="heatmap"
                        aria-label=move || format!(
                            "{}. Arrow keys move between cells, Enter takes one apart.", title.get()
                        )>
                        <canvas node_ref=canvas aria-hidden="true"></canvas>
                        {marks}
                        <Show when=move || is_blind.get()>
                            <p class="alignment-none">
                                "Without attention there is no matrix: whatever the decoder writes, it has \
                                 the encoder’s last states and nothing else."
                            </p>
                        </Show>
                    </div>
                </div>
            </div>
            <p class="readout" data-testid=format!("{name}-readout")
                data-row=move || pointing.shown().map(|p| p.0.to_string())
                data-column=move || pointing.shown().map(|p| p.1.to_string())
                data-value=move || value().map(|v| v.to_string())>
                {move || reading().unwrap_or_else(|| {
                    worded("Point at a written character to see what it was made from.").into_owned()
                })}
            </p>
            <SpokenReading shown=Signal::derive(move || pointing.shown())
                words=Callback::new(move |cell| untrack(|| say(cell)))/>
        </Frame>
    }
    .into_any()
}

/// One character. Its signals live as long as its element.
struct Chip {
    id: String,
    /// The class of its role.
    role: &'static str,
    token: Signal<String>,
    share: Signal<Option<f32>>,
    lit: Signal<bool>,
    /// Read more than any other.
    most: Signal<bool>,
    pinned: Signal<bool>,
    right: Signal<Option<bool>>,
    /// Not produced yet.
    waiting: Signal<bool>,
    position: usize,
    tab: Signal<bool>,
    point: Callback<bool>,
    pick: Callback<()>,
}

impl Chip {
    fn view(self) -> AnyView {
        let Self { id, role, token, share, lit, most, pinned, right, waiting, .. } = self;
        let (position, tab, point, pick) = (self.position, self.tab, self.point, self.pick);
        let label = move || {
            let share =
                share.get().map(|s| format!(", {}", figures::percent(s, 1))).unwrap_or_default();
            let wrong = if right.get() == Some(false) { ", wrong" } else { "" };
            format!("{}, {}{share}{wrong}", spoken(&token.get()), position + 1)
        };
        let is_word = move || token.with(|token| token.chars().count() > 1);
        let on_key = move |e: ev::KeyboardEvent| {
            if matches!(e.key().as_str(), "Enter" | " ") {
                e.prevent_default();
                pick.run(());
            } else if let Some(row) = listener(&e).and_then(|own| own.parent_element()) {
                walk(&e, &row, position, true);
            }
        };
        view! {
            <div class=format!("alignment-chip role-{role}") role="option" data-testid=id
                class:is-shown=lit class:is-most=most class:is-pinned=pinned class:is-waiting=waiting
                class:is-wrong=move || right.get() == Some(false) && !waiting.get()
                tabindex=move || if tab.get() { "0" } else { "-1" }
                aria-label=label
                aria-selected=move || lit.get().to_string()
                data-share=move || share.get().map(|s| s.to_string())
                on:pointerenter=move |e: ev::PointerEvent| {
                    if e.pointer_type() != "touch" && !waiting.get_untracked() { point.try_run(true); }
                }
                on:pointerleave=move |e: ev::PointerEvent| {
                    if e.pointer_type() != "touch" { point.try_run(false); }
                }
                on:focus=move |_| if !waiting.get_untracked() { point.run(true) }
                // Also heard when the chip goes with its view.
                on:blur=move |_| { point.try_run(false); }
                on:click=move |_| if !waiting.get_untracked() { pick.run(()) }
                on:keydown=on_key>
                <span class="alignment-mark" class:is-word=is_word>{move || mark(&token.get())}</span>
                <i class="alignment-share" style=move || {
                    format!("--share: {:.3}", share.get().filter(|s| *s >= 0.02).unwrap_or(0.0))
                }></i>
                // Drawn, not said: the name has it with two decimals.
                <small data-percent=move || share.get().map(percent)></small>
            </div>
        }
        .into_any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stands_out_if_it_can_be_told_from_the_next() {
        assert_eq!(standing_out(&[0.2, 0.5, 0.3]), Some(1));
        assert_eq!(standing_out(&[0.325, 0.325, 0.35]), Some(2));
        assert_eq!(standing_out(&[0.33, 0.335, 0.335]), None, "alike");
        assert_eq!((standing_out(&[1.0]), standing_out(&[])), (Some(0), None));
    }

    #[test]
    fn weights_are_compared_by_place_and_shown_with_what_is_written_there() {
        let alignment = |tokens: &[&str], weights: &[f32]| Alignment {
            source: vec!["x".into(), "y".into()],
            decoded: vec![Decoded {
                tokens: tokens.iter().map(|&token| token.into()).collect(),
                weights: weights.to_vec(),
                ..Decoded::default()
            }],
            shown: usize::MAX,
            wanted: 3,
        };
        let now = alignment(&["a", "end"], &[0.9, 0.1, 0.2, 0.8]);
        let then = alignment(&["b"], &[0.5, 0.5]);
        let [now_by_place, then] = [&now, &then].map(|a| compared(a, 0));
        assert!(now_by_place.has_cells_of(&then));
        assert_eq!(compared(&now, 1).shape(), (0, 0));
        let moved = now_by_place.values.iter().zip(&then.values).map(|(now, then)| now - then);
        let moved = Matrix { values: moved.collect(), ..then };
        let shown = moved_by(weights_of(&now, 0), &moved);
        assert_eq!((shown.shape(), &shown.rows[..]), ((2, 2), &["a".to_owned(), "end".into()][..]));
        assert_eq!(shown.value(0, 0), 0.9 - 0.5);
        assert!(shown.value(1, 1).is_nan(), "nothing was written there");
    }
}
