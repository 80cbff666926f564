//! Picking a row of a table, and the same as a product with a one-hot vector.

use std::sync::Arc;

use leptos::{ev, prelude::*};
use serde_json::json;
use unroll_protocol::study::tokens::Embedding;
use wasm_bindgen::JsCast;

use crate::{
    figures::{
        Matrix, Provenance, Sheet, SheetExport, ValueMap, color::Rgb, decimals, exact,
        since::use_since, theme::use_colors, token::mark,
    },
    reactive::memo,
};

/// Rows of the table on each side of the one that is picked.
const AROUND: u32 = 3;
const SLOTS: u32 = 2 * AROUND + 1;
/// The table.
const NAME: &str = "E";

/// The part of the table around one token, its one-hot vector beside it, and below the row that was
/// picked and the product that was computed.
///
/// `on_pick` hears of a click on a row. A click on a number of the product opens its sum.
#[component]
pub fn LookupFigure(
    embedding: Signal<Option<Arc<Embedding>>>,
    on_pick: Callback<u32>,
    provenance: Signal<Provenance>,
) -> impl IntoView {
    let live = embedding;
    let since = use_since(move || live.with(|e| e.iter().map(|e| Arc::new(matrix(e))).collect()));
    let moved = move || since.moved(0);
    // While a moment is held: E, its row and the product less those of that moment.
    let shown = memo(move || {
        let e = live.get()?;
        Some(moved().map_or_else(|| e.clone(), |moved| Arc::new(of_change(&e, &moved))))
    });
    let embedding: Signal<Option<Arc<Embedding>>> = shown.into();
    let name = memo(move || moved().map_or(NAME.to_owned(), |moved| moved.value_name.clone()));
    let live_limit = use_limit(live);
    let limit = memo(move || moved().map_or(live_limit.get(), |moved| moved.map.value(1.0)));
    let sheet = Callback::new(move |()| {
        let start = if since.is_on() { format!("{}: ", name.get()) } else { String::new() };
        embedding.with(|e| e.as_ref().map(|e| sheet(e, &start)))
    });
    let title = move || {
        embedding.with(|e| {
            let e = e.as_ref()?;
            let token = e.vocabulary.get(e.token as usize)?;
            Some(format!("‘{}’ is id {}, and picks row {}", mark(token), e.token, e.token))
        })
    };
    let shape = memo(move || {
        embedding.with(|e| e.as_ref().map_or((0, 0), |e| (e.table.shape[0], e.table.shape[1])))
    });
    let columns = memo(move || shape.get().1 as usize);
    let token = memo(move || embedding.with(|e| e.as_ref().map_or(0, |e| e.token)));
    let first = memo(move || {
        let most = shape.get().0.saturating_sub(SLOTS);
        token.get().saturating_sub(AROUND).min(most)
    });
    let pinned = RwSignal::new(None::<usize>);
    let column = memo(move || pinned.get().filter(|column| *column < columns.get()));
    let looks = Looks { embedding, limit: limit.into(), column: column.into() };
    let gap = move |above: bool| {
        let (rows, first) = (shape.get().0, first.get());
        let left = if above { first } else { rows.saturating_sub(first + SLOTS) };
        match left {
            0 => String::new(),
            1 => "one more row, times 0".to_owned(),
            n => format!("{n} more rows, each times 0"),
        }
    };
    let gap_row = move |above: bool| {
        view! {
            <tr class="lookup-gap"><td colspan="99">{move || gap(above)}</td></tr>
        }
    };
    let sum = move || {
        let column = column.get()?;
        embedding.with(|e| e.as_ref().map(|e| term_by_term(e, column)))
    };
    let largest = move || {
        let moved = moved()?;
        let size = |at: usize| moved.values[at].abs();
        let at = (0..moved.values.len()).max_by(|a, b| size(*a).total_cmp(&size(*b)))?;
        let width = moved.columns.len();
        Some(format!("Largest of all: {}.", since.describe(0, (at / width, at % width))?))
    };
    let product = move || embedding.with(|e| e.as_ref().map(|e| difference(e)));
    view! {
        <section class="figure tokens-lookup" data-testid="figure-tokens-lookup"
            aria-label="One-hot vector times the embedding matrix"
            data-state=move || if embedding.with(Option::is_some) { "live" } else { "empty" }>
            <h3 class="figure-title" data-testid="lookup-title">
                {move || title().unwrap_or_else(|| "An id picks a row".to_owned())}
            </h3>
            <div class="figure-box tokens-scroller" tabindex="0" role="group" aria-label="Table, scrolls sideways">
                {move || {
                    let columns = columns.get();
                    view! {
                        <table class="lookup">
                            <thead>
                                <tr>
                                    <th scope="col">"token"</th>
                                    <th scope="col">"id"</th>
                                    <th scope="col" data-part="one-hot" class="role-input">"one-hot"</th>
                                    <th scope="colgroup" colspan=columns class="role-weight" data-part="embedding">
                                        {move || format!("{}, {} × {}", name.get(), shape.get().0, shape.get().1)}
                                    </th>
                                </tr>
                            </thead>
                            <tbody>
                                {gap_row(true)}
                                {(0..SLOTS).map(|slot| {
                                    let id = memo(move || {
                                        let id = first.get() + slot;
                                        (id < shape.get().0).then_some(id)
                                    });
                                    view! { <TableRow looks id token=token.into() columns on_pick/> }
                                }).collect_view()}
                                {gap_row(false)}
                            </tbody>
                            <tfoot>
                                <ResultRow looks columns name="row picked" testid="lookup-row" values=|e| &e.row
                                    pinned/>
                                <ResultRow looks columns name="one-hot times E" testid="lookup-product"
                                    values=|e| &e.product pinned/>
                            </tfoot>
                        </table>
                    }
                    .into_any()
                }}
            </div>
            <p class="readout" data-testid="lookup-readout" role="status">
                {move || sum().or_else(largest).or_else(product)}
            </p>
            <SheetExport name="tokens-lookup" title="The embedding, one row for each id" provenance sheet
                since=ViewFn::from(move || {
                    since.button("tokens-lookup", Signal::stored(String::new()), provenance, Signal::stored(None))
                })/>
        </section>
    }
    .into_any()
}

/// The row of the token in one line: token, id, numbers.
#[component]
pub fn PickedRow(embedding: Signal<Option<Arc<Embedding>>>) -> impl IntoView {
    let looks = Looks { embedding, limit: use_limit(embedding), column: Signal::stored(None) };
    let columns = memo(move || embedding.with(|e| e.as_ref().map_or(0, |e| e.row.len())));
    let name = memo(move || {
        embedding.with(|e| {
            let e = e.as_ref()?;
            Some((mark(e.vocabulary.get(e.token as usize)?), e.token))
        })
    });
    let cells = move || {
        (0..columns.get())
            .map(|column| {
                let value =
                    memo(move || looks.embedding.with(|e| e.as_ref()?.row.get(column).copied()));
                view! { <ValueCell looks column value/> }
            })
            .collect_view()
    };
    view! {
        <div class="tokens-scroller" tabindex="0" role="group" aria-label="Row of the token, scrolls sideways">
            <table class="lookup picked-row" data-testid="picked-row">
                <tbody>
                    <tr>
                        <th scope="row">
                            {move || name.get().map(|(name, id)| format!("‘{name}’ → id {id} → its row"))}
                        </th>
                        {cells}
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

/// End of the color scale: in whole steps, so that colors hold still while the table is trained.
fn use_limit(embedding: Signal<Option<Arc<Embedding>>>) -> Signal<f32> {
    let limit = memo(move || {
        let largest = |e: &Arc<Embedding>| e.table.values.iter().fold(0f32, |m, v| m.max(v.abs()));
        embedding.with(|e| e.as_ref().map_or(1.0, largest)).ceil().max(1.0)
    });
    limit.into()
}

/// What the cells of the table are colored by.
#[derive(Clone, Copy)]
struct Looks {
    embedding: Signal<Option<Arc<Embedding>>>,
    limit: Signal<f32>,
    column: Signal<Option<usize>>,
}

#[component]
fn TableRow(
    looks: Looks,
    id: Memo<Option<u32>>,
    token: Signal<u32>,
    columns: usize,
    on_pick: Callback<u32>,
) -> impl IntoView {
    let picked = memo(move || id.get() == Some(token.get()));
    let name = memo(move || {
        let id = id.get()? as usize;
        looks.embedding.with(|e| e.as_ref()?.vocabulary.get(id).map(|name| mark(name)))
    });
    let pick = move || {
        if let Some(id) = id.get_untracked() {
            on_pick.run(id);
        }
    };
    let value = move |column: usize| {
        memo(move || {
            let id = id.get()? as usize;
            looks.embedding.with(|e| e.as_ref()?.table.get(&[id, column]))
        })
    };
    view! {
        <tr class:lookup-picked=picked hidden=move || id.get().is_none()
            on:click=move |_| pick()>
            <th scope="row">
                <button type="button" class="lookup-token" aria-pressed=move || picked.get().to_string()
                    aria-label=move || format!("Row of ‘{}’", name.get().unwrap_or_default())>
                    {name}
                </button>
            </th>
            <td class="number">{id}</td>
            <td class="number lookup-one-hot" data-part="one-hot">{move || if picked.get() { "1" } else { "0" }}</td>
            {(0..columns).map(|column| {
                view! { <ValueCell looks column value=value(column)/> }
            }).collect_view()}
        </tr>
    }
    .into_any()
}

#[component]
fn ResultRow(
    looks: Looks,
    columns: usize,
    name: &'static str,
    testid: &'static str,
    values: fn(&Embedding) -> &Vec<f32>,
    pinned: RwSignal<Option<usize>>,
) -> impl IntoView {
    let value = move |column: usize| {
        memo(move || looks.embedding.with(|e| values(e.as_ref()?).get(column).copied()))
    };
    let toggle = move |column: usize| {
        pinned.update(|pinned| *pinned = (*pinned != Some(column)).then_some(column));
    };
    view! {
        <tr data-testid=testid>
            <th scope="row" colspan="3">{name}</th>
            {(0..columns).map(|column| {
                let value = value(column);
                view! {
                    <td class="lookup-result" class:lookup-open=move || looks.column.get() == Some(column)>
                        <button type="button" title="Show the sum" class="number"
                            aria-label=move || format!(
                                "Number {}: {}. Show its sum", column + 1, digits(value.get()),
                            )
                            aria-pressed=move || (looks.column.get() == Some(column)).to_string()
                            on:click=move |_| toggle(column)>
                            {move || digits(value.get())}
                        </button>
                    </td>
                }
                .into_any()
            }).collect_view()}
        </tr>
    }
    .into_any()
}

#[component]
fn ValueCell(looks: Looks, column: usize, value: Memo<Option<f32>>) -> impl IntoView {
    let colors = use_colors();
    let style = move || {
        let Some(value) = value.get() else { return String::new() };
        let back = colors.with(|colors| colors.signed.at(value / looks.limit.get()));
        format!("background:{};color:{}", back.css(), ink_on(back))
    };
    // All digits, for whom points at it: not written into every cell at every answer.
    let on_move = move |e: ev::PointerEvent| {
        let cell: Option<web_sys::Element> = e.current_target().map(JsCast::unchecked_into);
        if let Some((cell, value)) = cell.zip(value.get_untracked()) {
            // Fails for names that are none.
            let _ = cell.set_attribute("title", &value.to_string());
        }
    };
    view! {
        <td class="number lookup-value" class:lookup-open=move || looks.column.get() == Some(column)
            style=style on:pointermove=on_move>
            {move || digits(value.get())}
        </td>
    }
    .into_any()
}

/// What is compared with another moment.
fn matrix(embedding: &Embedding) -> Matrix {
    let row = |(id, token): (usize, &String)| format!("row {id}, ‘{}’", mark(token));
    Matrix {
        row_axis: "row".into(),
        column_axis: "number".into(),
        rows: embedding.vocabulary.iter().enumerate().map(row).collect(),
        columns: (1..=embedding.row.len()).map(|column| format!("number {column}")).collect(),
        values: embedding.table.values.clone(),
        map: ValueMap::Signed { limit: 1.0 },
        value_name: NAME.into(),
        absent: String::new(),
    }
}

/// The same of how far E has moved.
fn of_change(embedding: &Embedding, moved: &Matrix) -> Embedding {
    let mut change = embedding.clone();
    change.table.values.clone_from(&moved.values);
    let row = |column| moved.value(embedding.token as usize, column);
    change.row = (0..embedding.row.len()).map(row).collect();
    // All other terms are 0.
    change.product.clone_from(&change.row);
    change
}

/// All of E. `start` begins the names of its numbers.
fn sheet(embedding: &Embedding, start: &str) -> Sheet {
    let mut sheet = Sheet::new(&["id", "token", "count"]);
    let width = embedding.row.len();
    sheet.columns.extend((1..=width).map(|column| format!("{start}e{column}")));
    let line = |(id, token): (usize, &String)| {
        let number = |column| embedding.table.get(&[id, column]).map_or(json!(null), exact);
        let count = embedding.counts.get(id).copied().unwrap_or_default();
        let names = [json!(id), json!(token), json!(count)];
        names.into_iter().chain((0..width).map(number)).collect()
    };
    sheet.rows = embedding.vocabulary.iter().enumerate().map(line).collect();
    sheet
}

/// Black or white, whichever reads better on `back` (relative luminance of WCAG 2).
fn ink_on(back: Rgb) -> &'static str {
    let linear = |channel: u8| {
        let c = f32::from(channel) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let Rgb(red, green, blue) = back;
    let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    if luminance > 0.179 { "#000" } else { "#fff" }
}

/// Two digits behind the point, a true minus before.
fn digits(value: Option<f32>) -> String {
    value.map_or_else(String::new, |value| decimals(value, 2))
}

/// One number of the product as the sum it is: the terms of rows on show, as they are written there.
fn term_by_term(embedding: &Embedding, column: usize) -> String {
    let rows = embedding.vocabulary.len();
    let token = embedding.token as usize;
    let (first, last) = (token.saturating_sub(2), (token + 3).min(rows));
    let term = |id: usize| {
        let entry = digits(embedding.table.get(&[id, column]));
        let entry = if entry.starts_with('−') { format!("({entry})") } else { entry };
        format!("{} × {entry}", u8::from(id == token))
    };
    let rest = |is_there: bool| is_there.then(|| "…".to_owned());
    let terms: Vec<String> = rest(first > 0)
        .into_iter()
        .chain((first..last).map(term))
        .chain(rest(last < rows))
        .collect();
    format!(
        "Number {} is a sum of {rows} terms, all but one of them 0: {} = {}",
        column + 1,
        terms.join(" + "),
        digits(embedding.product.get(column).copied()),
    )
}

/// How far the two ways are apart, and what each cost.
fn difference(embedding: &Embedding) -> String {
    let apart = embedding.row.iter().zip(&embedding.product).map(|(a, b)| (a - b).abs());
    let apart = apart.fold(0f32, f32::max);
    let (rows, width) = (embedding.vocabulary.len(), embedding.row.len());
    format!(
        "Largest difference between the two: {apart}. The product took {} multiplications, {} of \
         them by 0. The lookup only copied {width} numbers.",
        rows * width,
        (rows - 1) * width,
    )
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    #[test]
    fn sums_name_the_one_term_that_counts() {
        let embedding = Embedding {
            vocabulary: ["a", "b", "c"].map(String::from).to_vec(),
            counts: vec![1; 3],
            token: 1,
            table: Array { shape: vec![3, 2], values: vec![0.5, 1.0, -0.25, 2.0, 0.0, 3.0] },
            row: vec![-0.25, 2.0],
            product: vec![-0.25, 2.0],
            map: Array { shape: vec![3, 2], values: vec![0.0; 6] },
            share: [0.5, 0.5],
        };
        let sum = term_by_term(&embedding, 0);
        assert!(sum.ends_with(": 0 × 0.50 + 1 × (−0.25) + 0 × 0.00 = −0.25"), "{sum}");
        assert!(difference(&embedding).starts_with("Largest difference between the two: 0."));
    }

    #[test]
    fn numbers_stay_readable_on_every_color() {
        assert_eq!((ink_on(Rgb(255, 255, 255)), ink_on(Rgb(10, 74, 140))), ("#000", "#fff"));
    }
}
