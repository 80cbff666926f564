//! Numbers behind a figure as a table, for screen readers and for whoever wants digits.

use leptos::{context::Provider, ev, prelude::*};
use wasm_bindgen::JsCast;

use super::{select::Selection, token, view::HeadView};
use crate::{
    fetched::{Fetch, View, fetched, part},
    reactive::memo,
};

/// Rows and columns shown at a time.
const SLICE: usize = 16;

/// Where the slice begins that has `position` in its middle, as far as `count` allows.
fn slice_around(position: usize, count: usize) -> usize {
    position.saturating_sub(SLICE / 2).min(count.saturating_sub(SLICE))
}

/// What the table asks its figure for. Names and cells track what they read.
#[derive(Clone, Copy)]
pub struct TableData {
    pub name: &'static str,
    /// What opens it: "Weights as a table". Its last word is what one sees.
    pub summary: &'static str,
    pub caption: Signal<String>,
    /// Rows, columns.
    pub shape: Signal<(usize, usize)>,
    /// What rows and columns are called where slices are turned: "queries", "keys".
    pub along: (&'static str, &'static str),
    pub row_name: Callback<usize, String>,
    pub column_name: Callback<usize, String>,
    /// Row and column; `None` where there is no value.
    pub cell: Callback<(usize, usize), Option<String>>,
    /// What a cell without a value says.
    pub absent: &'static str,
    /// The cell in whose midst the table opens.
    pub start: Callback<(), Option<(usize, usize)>>,
}

/// The weights of the chosen head.
#[component]
pub fn WeightTable(view: Memo<Option<HeadView>>, selection: Selection) -> impl IntoView {
    let sentence =
        memo(move || view.with(|v| v.as_ref().map_or_else(Vec::new, |v| v.trace().tokens.clone())));
    let name = Callback::new(move |position: usize| {
        sentence.with(|s| s.get(position).map_or(String::new(), |t| token::name_at(t, position)))
    });
    let caption = move || {
        view.with(|v| {
            v.as_ref().map_or(String::new(), |v| {
                format!("{}. Rows are queries, columns keys.", v.title())
            })
        })
    };
    let weight = move |(query, key): (usize, usize)| {
        view.with(|v| {
            let v = v.as_ref().filter(|v| !v.is_blocked(query, key))?;
            Some(format!("{:.4}", v.weight(query, key)))
        })
    };
    let data = TableData {
        name: "attention",
        summary: "Weights as a table",
        caption: Signal::derive(caption),
        shape: Signal::derive(move || (selection.size(), selection.size())),
        along: ("queries", "keys"),
        row_name: name,
        column_name: name,
        cell: Callback::new(weight),
        absent: "blocked",
        start: Callback::new(move |()| {
            selection.start().map(|c| (c.query, c.key.unwrap_or(c.query)))
        }),
    };
    view! { <SlicedTable data /> }
}

/// Built only while it is open.
#[component]
pub fn SlicedTable(data: TableData) -> impl IntoView {
    let open = RwSignal::new(false);
    let on_toggle = move |e: ev::Event| {
        let details = e.current_target().map(JsCast::unchecked_into::<web_sys::Element>);
        open.set(details.is_some_and(|details| details.has_attribute("open")));
    };
    let (said, word) = data.summary.split_at(data.summary.rfind(' ').map_or(0, |space| space + 1));
    view! {
        <details class="table-box" on:toggle=on_toggle>
            // To the eye one word: which values, the figure above it says.
            <summary><span class="visually-hidden">{said}</span><span>{word}</span></summary>
            <Show when=move || open.get()>
                // Over the picture, so that nothing moves.
                <div class="table-sheet">
                    <Provider value=data>{fetched(SHEET, "The table")}</Provider>
                </div>
            </Show>
        </details>
    }
}

/// Most visits open no table.
const SHEET: Fetch = part!(table: View = sheet);

/// A slice of the table and what turns to others. Nothing moves under a reader by itself.
fn sheet() -> AnyView {
    let data: TableData = expect_context();
    let shape = memo(move || data.shape.get());
    let (rows, columns) = (memo(move || shape.get().0), memo(move || shape.get().1));
    let (row, column) = untrack(|| data.start.run(())).unwrap_or_default();
    let first_row = RwSignal::new(slice_around(row, rows.get_untracked()));
    let first_column = RwSignal::new(slice_around(column, columns.get_untracked()));
    view! {
        <div class="table-turners">
            <Turner name=data.along.0 first=first_row count=rows />
            <Turner name=data.along.1 first=first_column count=columns />
        </div>
        <div
            class="table-scroller"
            tabindex="0"
            role="region"
            aria-label=format!("Table: {}", data.summary)
        >
            <Table data rows columns first_row first_column />
        </div>
    }
    .into_any()
}

/// Which part is shown along one side, with a step back and forth.
#[component]
fn Turner(name: &'static str, first: RwSignal<usize>, count: Memo<usize>) -> impl IntoView {
    let last = move || (first.get() + SLICE).min(count.get());
    view! {
        <Show when=move || { count.get() > SLICE }>
            <span class="turner">
                <button
                    type="button"
                    aria-label=format!("previous {name}")
                    disabled=move || first.get() == 0
                    on:click=move |_| first.update(|f| *f = f.saturating_sub(SLICE))
                >
                    "‹"
                </button>
                <span>{move || format!("{name} {} to {}", first.get() + 1, last())}</span>
                <button
                    type="button"
                    aria-label=format!("next {name}")
                    disabled=move || { last() >= count.get() }
                    on:click=move |_| {
                        let last_slice = count.get_untracked().saturating_sub(SLICE);
                        first.update(|f| *f = (*f + SLICE).min(last_slice));
                    }
                >
                    "›"
                </button>
            </span>
        </Show>
    }
}

/// One slice. Cells stay in place while a live model changes their numbers.
#[component]
fn Table(
    data: TableData,
    rows: Memo<usize>,
    columns: Memo<usize>,
    first_row: RwSignal<usize>,
    first_column: RwSignal<usize>,
) -> impl IntoView {
    let body = move || {
        let slice = |first: usize, count: usize| first.min(count)..(first + SLICE).min(count);
        let columns = slice(first_column.get(), columns.get());
        let header = columns.clone().map(|column| {
            view! { <th scope="col">{move || data.column_name.run(column)}</th> }
        });
        let lines = slice(first_row.get(), rows.get()).map(|row| {
            let cells = columns.clone().map(|column| {
                let text = memo(move || data.cell.run((row, column)));
                view! {
                    <td class:blocked=move || text.with(Option::is_none)>
                        {move || text.get().unwrap_or_else(|| data.absent.into())}
                    </td>
                }
            });
            let name = move || data.row_name.run(row);
            view! { <tr><th scope="row">{name}</th>{cells.collect_view()}</tr> }
        });
        view! {
            <thead><tr><td></td>{header.collect_view()}</tr></thead>
            <tbody>{lines.collect_view()}</tbody>
        }
    };
    view! {
        <table data-testid=format!("{}-table", data.name)>
            <caption>{data.caption}</caption>
            {body}
        </table>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_hold_the_cell() {
        assert_eq!(slice_around(0, 40), 0);
        assert_eq!(slice_around(17, 40), 9);
        assert_eq!(slice_around(39, 40), 24);
        assert_eq!(slice_around(3, 0), 0);
    }
}
