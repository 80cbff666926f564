//! A sequence read in both directions: inputs in columns, under them each model's states as strips
//! and its answers.

mod data;
mod strips;

use leptos::{ev, html, prelude::*};
use unroll_protocol::study::birnn::Reader;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

pub use data::{Columns, Content, Row, Said, likeliest, softmax};
use strips::Strips;

use super::token::{mark, spoken};

/// A cell: row 0 is the inputs, row n the n-th of [`Columns::rows`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    pub row: usize,
    pub column: usize,
    /// The unit of a state the pointer is on.
    pub unit: Option<usize>,
}

/// The figure. `editing` is whether a click on an input and a typed character change it, which
/// `on_edit` is told (`None` for a click); otherwise `on_pick` is told the column.
#[component]
pub fn TwoWayFigure(
    #[prop(into)] columns: Signal<Columns>,
    /// The pinned column.
    #[prop(into)]
    pinned: Signal<Option<usize>>,
    #[prop(into)] editing: Signal<bool>,
    on_pick: Callback<usize>,
    on_edit: Callback<(usize, Option<char>)>,
    /// Takes the edit back.
    on_restore: Callback<()>,
) -> impl IntoView {
    let columns = Memo::new(move |_| columns.get());
    let body = NodeRef::<html::Div>::new();
    // What the pointer is on wins over what has the focus.
    let pointed = RwSignal::new(None::<At>);
    let focused = RwSignal::new(None::<At>);
    let home = RwSignal::new((0usize, 0usize));
    let read = Memo::new(move |_| pointed.get().or(focused.get()));
    let length = Memo::new(move |_| columns.with(|c| c.tokens.len()));
    // Rows stay while only numbers change.
    let kinds = Memo::new(move |_| {
        columns.with(|c| {
            let kind = |row: &Row| {
                let backward = match row.content {
                    Content::States { backward, .. } => Some(backward),
                    Content::Answers(_) => None,
                };
                (row.reader, backward)
            };
            c.rows.iter().map(kind).collect::<Vec<_>>()
        })
    });
    let tab = Memo::new(move |_| {
        let (row, column) = home.get();
        (row.min(kinds.with(Vec::len)), column.min(length.get().saturating_sub(1)))
    });

    let go = move |row: usize, column: usize| {
        home.set((row, column));
        let Some(body) = body.get_untracked() else { return };
        let cell = body.query_selector(&format!("[data-cell=\"{row}-{column}\"]")).ok().flatten();
        if let Some(cell) = cell.and_then(|cell| cell.dyn_into::<HtmlElement>().ok()) {
            let _ = cell.focus();
        }
    };
    let on_key = move |e: ev::KeyboardEvent| {
        let Some(At { row, column, .. }) = focused.get_untracked() else { return };
        let (last_row, last) =
            (kinds.with_untracked(Vec::len), length.get_untracked().saturating_sub(1));
        let key = e.key();
        let to = match key.as_str() {
            "ArrowLeft" => (row, column.saturating_sub(1)),
            "ArrowRight" => (row, (column + 1).min(last)),
            "ArrowUp" => (row.saturating_sub(1), column),
            "ArrowDown" => ((row + 1).min(last_row), column),
            "Home" => (row, 0),
            "End" => (row, last),
            _ if !editing.get_untracked() || e.ctrl_key() || e.meta_key() || e.alt_key() => return,
            "Escape" | "Backspace" | "Delete" => {
                e.prevent_default();
                on_restore.run(());
                return;
            }
            typed => {
                let mut characters = typed.chars();
                let (Some(letter), None) = (characters.next(), characters.next()) else { return };
                // Space presses the button it is on, like Enter.
                if row == 0 {
                    e.prevent_default();
                    on_edit.run((column, Some(letter)));
                }
                return;
            }
        };
        e.prevent_default();
        go(to.0, to.1);
    };
    let on_click = move |row: usize, column: usize| {
        if editing.get_untracked() {
            on_edit.run((column, None));
        } else {
            on_pick.run(column);
        }
        home.set((row, column));
    };
    let cell = Cell {
        columns,
        read,
        pointed,
        focused,
        tab,
        pinned,
        on_click: Callback::new(move |(row, column)| on_click(row, column)),
    };
    let band = move |index: usize| {
        let (reader, backward) = kinds.with_untracked(|kinds| kinds[index]);
        let first = index == 0 || kinds.with_untracked(|kinds| kinds[index - 1].0 != reader);
        let row = index + 1;
        let answers = Memo::new(move |_| {
            // The score belongs to the answers, the last row of the band.
            let at = kinds.with(|kinds| (index..kinds.len()).find(|i| kinds[*i].1.is_none()));
            at.and_then(|at| columns.with(|c| c.rows.get(at).and_then(Columns::score)))
        });
        let name = first.then(|| {
            view! {
                <p class="birnn-band">
                    <strong>{reader.name()}</strong>
                    <span class="hint" data-testid=format!("birnn-score-{}", reader_id(reader))>
                        {move || answers.get().map(|(right, of)| format!("{right} of {of} right here"))}
                    </span>
                </p>
            }
        });
        view! {
            {name}
            <div class="birnn-row" class:birnn-states=backward.is_some() class:birnn-answers=backward.is_none()
                data-testid=format!("birnn-row-{}-{}", reader_id(reader), match backward {
                    Some(false) => "forward", Some(true) => "backward", None => "answers" })>
                {backward.map(|backward| view! { <Strips columns index backward read/> })}
                {move || (0..length.get()).map(|column| cell.view(row, column)).collect_view()}
            </div>
        }
        .into_any()
    };
    view! {
        <section class="birnn-figure" aria-label="What each model makes of the sequence"
            data-testid="figure-birnn"
            data-state=move || if length.get() == 0 { "empty" } else { "live" }
            class:birnn-editing=move || editing.get()>
            <div class="birnn-scroll">
                <div class="birnn-body" role="group" node_ref=body
                    aria-label="Columns are positions. Arrow keys move from cell to cell."
                    style=move || format!("--columns: {}", length.get().max(1))
                    on:keydown=on_key
                    on:pointerleave=move |e: ev::PointerEvent| {
                        if e.pointer_type() != "touch" { pointed.set(None) }
                    }
                    on:focusout=move |_| focused.set(None)>
                    <div class="birnn-row birnn-inputs" data-testid="birnn-row-inputs">
                        {move || (0..length.get()).map(|column| cell.view(0, column)).collect_view()}
                    </div>
                    {move || (0..kinds.with(Vec::len)).map(band).collect_view()}
                </div>
            </div>
            <p class="birnn-readout" role="status" data-testid="birnn-readout">
                {move || columns.with(|c| sentence(c, read.get(), editing.get()))}
            </p>
        </section>
    }
    .into_any()
}

/// A reader as part of an id.
pub fn reader_id(reader: Reader) -> &'static str {
    match reader {
        Reader::Forward => "forward",
        Reader::Delayed(_) => "delayed",
        Reader::Backward => "backward",
        Reader::Both => "both",
    }
}

/// What all cells share.
#[derive(Clone, Copy)]
struct Cell {
    columns: Memo<Columns>,
    read: Memo<Option<At>>,
    pointed: RwSignal<Option<At>>,
    focused: RwSignal<Option<At>>,
    /// The one cell that Tab reaches.
    tab: Memo<(usize, usize)>,
    pinned: Signal<Option<usize>>,
    on_click: Callback<(usize, usize)>,
}

impl Cell {
    fn view(self, row: usize, column: usize) -> AnyView {
        let Self { columns, read, pointed, focused, tab, pinned, on_click } = self;
        let text = Memo::new(move |_| columns.with(|c| cell_text(c, row, column)));
        let lit = Memo::new(move |_| columns.with(|c| connection(c, read.get(), row, column)));
        // Where the answer that is read stands among the inputs.
        let target = Memo::new(move |_| {
            let read = read.get().filter(|_| row == 0);
            read.is_some_and(|at| columns.with(|c| is_target(c, at, column)))
        });
        let on_point = move |e: ev::PointerEvent| {
            let unit = columns.with_untracked(|c| unit_under(c, row, column, &e));
            let at = Some(At { row, column, unit });
            if pointed.get_untracked() != at {
                pointed.set(at);
            }
        };
        view! {
            <button type="button" class="birnn-cell" data-cell=format!("{row}-{column}")
                tabindex=move || if tab.get() == (row, column) { "0" } else { "-1" }
                class:is-lit=move || lit.get() == Some(true)
                class:is-dim=move || lit.get() == Some(false)
                class:is-pinned=move || pinned.get() == Some(column)
                class:is-hidden=move || row == 0 && columns.with(|c| c.hidden == Some(column))
                class:is-edited=move || row == 0 && columns.with(|c| c.edit == Some(column))
                class:is-right=move || text.with(|t| t.right == Some(true))
                class:is-wrong=move || text.with(|t| t.right == Some(false))
                class:is-target=move || target.get()
                class:is-unasked=move || text.with(|t| t.unasked)
                style:--change=move || text.with(|t| t.share.map(|share| format!("{share:.3}")))
                class:is-changed=move || text.with(|t| t.change.is_some_and(|c| c > 0.0))
                class:is-same=move || text.with(|t| t.change == Some(0.0))
                data-change=move || text.with(|t| t.change.map(|c| c.to_string()))
                aria-label=move || text.with(|t| t.label.clone())
                aria-pressed=move || (row == 0).then(|| (pinned.get() == Some(column)).to_string())
                on:pointermove=on_point on:pointerdown=on_point
                on:focus=move |_| focused.set(Some(At { row, column, unit: None }))
                on:click=move |_| on_click.run((row, column))>
                {move || text.with(|t| t.shown.clone())}
            </button>
        }
        .into_any()
    }
}

/// What one cell shows.
#[derive(Clone, Debug, Default, PartialEq)]
struct CellText {
    shown: String,
    label: String,
    right: Option<bool>,
    change: Option<f32>,
    /// The change as a share of the largest in its row.
    share: Option<f32>,
    unasked: bool,
}

fn cell_text(columns: &Columns, row: usize, column: usize) -> CellText {
    let place = columns.place(column);
    let Some(index) = row.checked_sub(1) else {
        let hidden = columns.hidden == Some(column);
        let token = columns.tokens.get(column).map_or("", String::as_str);
        return CellText {
            shown: if hidden { "▢".into() } else { mark(token) },
            label: format!(
                "input {}: {}{}",
                column + 1,
                spoken(token),
                if hidden { ", hidden from the models" } else { "" }
            ),
            ..CellText::default()
        };
    };
    let Some(row) = columns.rows.get(index) else { return CellText::default() };
    let change = row.changes.get(column).copied().flatten();
    let most = row.changes.iter().flatten().copied().fold(0f32, f32::max);
    let share = change.filter(|_| most > 0.0).map(|change| change / most);
    let name = row.reader.name();
    match &row.content {
        Content::States { backward, .. } => CellText {
            shown: String::new(),
            label: format!("{name}: {} state at {place}", direction(*backward)),
            change,
            share,
            ..CellText::default()
        },
        Content::Answers(answers) => match answers.get(column).and_then(Option::as_ref) {
            Some(said) => CellText {
                shown: said.token.clone(),
                label: format!(
                    "{name} about {place}: {}{}",
                    said.token,
                    match said.right {
                        Some(true) => ", right",
                        Some(false) => ", wrong",
                        None => ", not asked",
                    }
                ),
                right: said.right,
                unasked: said.right.is_none(),
                change,
                share,
            },
            None => CellText {
                shown: "–".into(),
                label: format!("{name} about {place}: no answer, the sequence ends too early"),
                ..CellText::default()
            },
        },
    }
}

fn direction(backward: bool) -> &'static str {
    if backward { "backward" } else { "forward" }
}

/// Whether the cell is connected with the one that is read: an input with what it reaches, all else
/// with the inputs that reach it. `None` where the two have nothing to do with each other.
fn connection(columns: &Columns, read: Option<At>, row: usize, column: usize) -> Option<bool> {
    let read = read?;
    match (read.row.checked_sub(1), row.checked_sub(1)) {
        (None, Some(index)) => {
            let reached = columns.rows.get(index)?;
            let hidden = columns.hidden == Some(read.column)
                && matches!(reached.content, Content::States { .. });
            Some(!hidden && columns.reaches(reached, column, read.column))
        }
        (Some(index), None) => Some(columns.reaches(columns.rows.get(index)?, read.column, column)),
        _ => (read.row == row && read.column == column).then_some(true),
    }
}

/// Whether the input at `column` is the right answer of the cell that is read.
fn is_target(columns: &Columns, read: At, column: usize) -> bool {
    let row = read.row.checked_sub(1).and_then(|index| columns.rows.get(index));
    let answers = row.is_some_and(|row| matches!(row.content, Content::Answers(_)));
    answers && columns.ahead.is_some_and(|ahead| read.column + ahead == column)
}

/// The unit of a state under the pointer.
fn unit_under(columns: &Columns, row: usize, column: usize, e: &ev::PointerEvent) -> Option<usize> {
    let row = columns.rows.get(row.checked_sub(1)?)?;
    let Content::States { values, .. } = &row.content else { return None };
    let units = values.block(&[column])?.len();
    let target: HtmlElement = e.current_target()?.dyn_into().ok()?;
    let share = f64::from(e.offset_y()) / f64::from(target.client_height().max(1));
    Some(((share.clamp(0.0, 0.999)) * units as f64) as usize)
}

/// What is read, in a sentence with its numbers.
fn sentence(columns: &Columns, read: Option<At>, editing: bool) -> String {
    let Some(At { row, column, unit }) = read else {
        return match (editing, columns.edit) {
            (true, None) => "Change mode: click an input and type another character.".to_owned(),
            (_, Some(edit)) => format!(
                "Input {} is changed. Cells with a bar below changed with it, the taller, the more. \
                 A ring marks those that stayed exactly the same.",
                edit + 1
            ),
            (false, None) => {
                "Point at a cell: the inputs that can reach it light up. Click pins a position."
                    .to_owned()
            }
        };
    };
    let place = columns.place(column);
    let Some(row) = row.checked_sub(1).and_then(|index| columns.rows.get(index)) else {
        let hidden = columns.hidden == Some(column);
        let what = if hidden { ", hidden from the models" } else { "" };
        let wanted = columns.wanted.get(column).and_then(Option::as_ref);
        let wanted = wanted.filter(|_| !columns.fill_in);
        let wanted =
            wanted.map_or(String::new(), |w| format!(" The right answer here is ‘{}’.", mark(w)));
        return format!("Input {place}{what}.{wanted} Lit: what it can reach.");
    };
    let change = match row.changes.get(column).copied().flatten() {
        None => String::new(),
        Some(0.0) => " Changed by exactly 0.".to_owned(),
        Some(change) => format!(" Changed by up to {change:.6}."),
    };
    let reach = columns.reach_in_words(row, column);
    match &row.content {
        Content::States { backward, values } => {
            let state = values.block(&[column]).unwrap_or(&[]);
            let unit = unit.unwrap_or(0).min(state.len().saturating_sub(1));
            let value = state.get(unit).copied().unwrap_or(f32::NAN);
            format!(
                "{}, {} state at {place}, unit {} of {}: {value}. It has read positions {reach}.{change}",
                row.reader.name(),
                direction(*backward),
                unit + 1,
                state.len(),
            )
        }
        Content::Answers(answers) => match answers.get(column).and_then(Option::as_ref) {
            None => format!(
                "{} has no answer about {place}: the sequence ends before it is due.",
                row.reader.name()
            ),
            Some(said) => {
                let right = columns.wanted.get(column).and_then(Option::as_ref);
                let right = right.map_or("nothing is asked here".to_owned(), |right| {
                    format!("right is ‘{}’", mark(right))
                });
                format!(
                    "{} about {place}: ‘{}’ with probability {:.4}; {right}. It sees positions {reach}.{change}",
                    row.reader.name(),
                    said.token,
                    said.probability,
                )
            }
        },
    }
}
