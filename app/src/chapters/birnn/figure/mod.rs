//! A sequence read in both directions: inputs in columns, under them each model's states as strips
//! and its answers.

mod data;
mod files;
mod strip;
mod strips;
mod words;

use std::sync::Arc;

use crate::{pointer::worded, reactive::memo};
use leptos::{ev, html, prelude::*};
use unroll_protocol::study::birnn::Reader;

use crate::figures::{
    export::Provenance,
    frame::{Files, Frame, choices},
    reading::{At, Buttons, is_shortcut, place_of},
    scale::ScaleBar,
    since::use_since,
    theme::use_colors,
};
pub use data::{Columns, Content, Row, likeliest, softmax};
use files::{columns_csv, columns_json, columns_svg};
use strips::Strips;
use words::{cell_text, connection, is_target, sentence};

/// The figure: row 0 is the inputs, row n the n-th of [`Columns::rows`]. `editing` is whether a click
/// on an input and a typed character change it, which `on_edit` is told (`None` for a click);
/// otherwise `on_pick` is told the column.
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
    /// What else is said of a model, beside its name.
    beside: Callback<Reader, AnyView>,
    #[prop(into)] provenance: Signal<Provenance>,
) -> impl IntoView {
    let live = memo(move || columns.get());
    let since = use_since(move || live.with(Columns::states));
    let columns = memo(move || match since.all() {
        Some(moved) => live.with(|live| live.compared(&moved)),
        None => live.get(),
    });
    let root = NodeRef::<html::Section>::new();
    let length = memo(move || columns.with(|c| c.tokens.len()));
    // Rows stay while only numbers change.
    let kinds = memo(move || {
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
    let counts = memo(move || vec![length.get(); kinds.with(Vec::len) + 1]);
    let cells = Buttons::new(counts);
    let read = memo(move || cells.pointing.shown());
    let on_key = move |e: ev::KeyboardEvent| {
        let Some((row, column)) = e.target().and_then(place_of) else { return };
        match e.key().as_str() {
            _ if !editing.get_untracked() || is_shortcut(&e) => {}
            "Escape" | "Backspace" | "Delete" => {
                e.prevent_default();
                on_restore.run(());
            }
            typed => {
                let mut characters = typed.chars();
                let (Some(letter), None) = (characters.next(), characters.next()) else { return };
                // Space presses the button it is on, like Enter.
                if row == 0 {
                    e.prevent_default();
                    on_edit.run((column, Some(letter)));
                }
            }
        }
    };
    let on_click = move |column: usize| {
        if editing.get_untracked() {
            on_edit.run((column, None));
        } else {
            on_pick.run(column);
        }
    };
    let cell = Cell { columns, cells, read, pinned, on_click: Callback::new(on_click) };
    let band = move |index: usize| {
        let (reader, backward) = kinds.with_untracked(|kinds| kinds[index]);
        let first = index == 0 || kinds.with_untracked(|kinds| kinds[index - 1].0 != reader);
        let row = index + 1;
        let units = memo(move || {
            columns.with(|c| match &c.rows.get(index)?.content {
                Content::States { values, .. } => values.shape.get(1).copied(),
                Content::Answers(_) => None,
            })
        });
        let answers = memo(move || {
            // The score belongs to the answers, the last row of the band.
            let at = kinds.with(|kinds| (index..kinds.len()).find(|i| kinds[*i].1.is_none()));
            at.and_then(|at| columns.with(|c| c.rows.get(at).and_then(Columns::score)))
        });
        let name = first.then(|| {
            view! {
                <div class="birnn-band">
                    <strong>{reader.name()}</strong>
                    <span class="hint" data-testid=format!("birnn-score-{}", reader_id(reader))>
                        {move || answers.get().map(|(right, of)| {
                            let (what, more) = match columns.with(|c| c.ahead) {
                                Some(ahead) => (format!("guesses {ahead} ahead"), ""),
                                None => (String::new(), "guesses each letter while it is hidden"),
                            };
                            // What its name means, before the story comes to it.
                            let late = match reader {
                                Reader::Delayed(by) => format!(", after reading {by} more"),
                                _ => String::new(),
                            };
                            view! { {what} <span>{format!("{more}{late}: {right} of {of} right here")}</span> }
                        })}
                    </span>
                    {beside.run(reader)}
                </div>
            }
        });
        view! {
            {name}
            <div class="birnn-row" class:birnn-states=backward.is_some() class:birnn-answers=backward.is_none()
                data-units=units
                data-testid=format!("birnn-row-{}-{}", reader_id(reader), match backward {
                    Some(false) => "forward", Some(true) => "backward", None => "answers" })>
                {backward.map(|backward| view! { <Strips columns index backward read/> })}
                {move || (0..length.get()).map(|column| cell.view(row, column)).collect_view()}
            </div>
        }
        .into_any()
    };
    let title = memo(move || match columns.with(|c| c.ahead) {
        Some(ahead) => {
            format!("What they read, and each model’s guesses about the symbol {ahead} ahead")
        }
        None => "What they read, and each model’s guesses about hidden letters".to_owned(),
    });
    let title = Signal::from(title);
    let empty = Signal::derive(move || length.get() == 0);
    let none = Signal::stored(None);
    let drawn = Memo::new_with_compare(move |_| Arc::new(columns.get()), |_, _| true);
    let files = Files { json: columns_json, csv: columns_csv, svg: columns_svg };
    let colors = use_colors();
    let choices = choices("birnn", title, drawn, none, provenance, colors, files);
    // A hidden or replaced input is not what training changed.
    let asked = Signal::derive(move || live.with(|c| format!("{:?} {:?}", c.hidden, c.edit)));
    let compare = move || since.button("birnn", asked, provenance, Signal::stored(None));
    let change = move || {
        let At { row, column, unit } = read.get()?;
        let part = columns.with(|c| c.part_of(row.checked_sub(1)?))?;
        since.describe(part, (column, unit.unwrap_or(0)))
    };
    view! {
        <Frame name="birnn" kind="birnn" title root empty since=Some(ViewFn::from(compare)) choices>
            <div class="figure-box birnn-scroll">
                <div {..cells.handlers()} class="birnn-body" role="group" class:birnn-editing=editing
                    aria-label="Columns are positions. Arrow keys move from cell to cell."
                    style=move || format!("--columns: {}", length.get().max(1))
                    on:keydown=on_key>
                    <div class="birnn-row birnn-inputs" data-testid="birnn-row-inputs">
                        {move || (0..length.get()).map(|column| cell.view(0, column)).collect_view()}
                    </div>
                    {move || (0..kinds.with(Vec::len)).map(band).collect_view()}
                </div>
            </div>
            <ScaleBar short=true label=Signal::derive(move || columns.with(|c| c.state_name().to_owned()))
                map=Signal::derive(move || columns.with(Columns::state_map))
                value=Signal::stored(None) colors/>
            <p class="readout birnn-readout" class:hint=move || read.get().is_none() role="status" data-testid="birnn-readout">
                {move || change().unwrap_or_else(|| columns.with(|c| worded(&sentence(c, read.get(), editing.get())).into_owned()))}
            </p>
        </Frame>
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
    cells: Buttons,
    read: Memo<Option<At>>,
    pinned: Signal<Option<usize>>,
    on_click: Callback<usize>,
}

impl Cell {
    fn view(self, row: usize, column: usize) -> AnyView {
        let Self { columns, cells, read, pinned, on_click } = self;
        let text = memo(move || columns.with(|c| cell_text(c, row, column)));
        let lit = memo(move || columns.with(|c| connection(c, read.get(), row, column)));
        // Where the answer that is read stands among the inputs.
        let target = memo(move || {
            let read = read.get().filter(|_| row == 0);
            read.is_some_and(|at| columns.with(|c| is_target(c, at, column)))
        });
        view! {
            <button type="button" class="birnn-cell" data-cell=format!("{row}-{column}")
                tabindex=move || cells.tab_index(row, column)
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
                on:click=move |_| on_click.run(column)>
                {move || text.with(|t| t.shown.clone())}
            </button>
        }
        .into_any()
    }
}
