//! The weights of the chosen head as a table, for screen readers and for whoever wants digits.

use leptos::{ev, prelude::*};
use wasm_bindgen::JsCast;

use super::{
    select::Selection,
    token,
    view::{HeadView, is_blocked},
};

/// Queries and keys shown at a time.
const SLICE: usize = 16;

/// Where the slice begins that has `position` in its middle, as far as `count` allows.
fn slice_around(position: usize, count: usize) -> usize {
    position.saturating_sub(SLICE / 2).min(count.saturating_sub(SLICE))
}

/// Built only while it is open. Slices are turned by hand, so that nothing moves under a reader.
#[component]
pub fn WeightTable(view: Memo<Option<HeadView>>, selection: Selection) -> impl IntoView {
    let open = RwSignal::new(false);
    let (first_query, first_key) = (RwSignal::new(0), RwSignal::new(0));
    let on_toggle = move |e: ev::Event| {
        let details = e.current_target().map(JsCast::unchecked_into::<web_sys::Element>);
        let now_open = details.is_some_and(|d| d.has_attribute("open"));
        if let Some(cell) = selection.start().filter(|_| now_open) {
            let count = selection.size_untracked();
            first_query.set(slice_around(cell.query, count));
            first_key.set(slice_around(cell.key.unwrap_or(cell.query), count));
        }
        open.set(now_open);
    };
    view! {
        <details class="table-box" on:toggle=on_toggle>
            <summary>"Weights as a table"</summary>
            <Show when=move || open.get()>
                <div class="table-turners">
                    <Turner name="queries" first=first_query selection />
                    <Turner name="keys" first=first_key selection />
                </div>
                <div class="table-scroller" tabindex="0" role="region" aria-label="Weights table">
                    <Table view first_query first_key />
                </div>
            </Show>
        </details>
    }
}

/// Which part of the sentence is shown along one side, with a step back and forth.
#[component]
fn Turner(name: &'static str, first: RwSignal<usize>, selection: Selection) -> impl IntoView {
    let last = move || (first.get() + SLICE).min(selection.size());
    view! {
        <Show when=move || { selection.size() > SLICE }>
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
                    disabled=move || { last() >= selection.size() }
                    on:click=move |_| {
                        let last_slice = selection.size_untracked().saturating_sub(SLICE);
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
    view: Memo<Option<HeadView>>,
    first_query: RwSignal<usize>,
    first_key: RwSignal<usize>,
) -> impl IntoView {
    let sentence = Memo::new(move |_| {
        view.with(|v| v.as_ref().map_or_else(Vec::new, |v| v.trace().tokens.clone()))
    });
    let caption = move || {
        view.with(|v| {
            v.as_ref().map_or(String::new(), |v| {
                format!(
                    "Attention weights, layer {}, head {}, step {}. Rows are queries, columns keys.",
                    v.layer(),
                    v.head(),
                    v.trace().step
                )
            })
        })
    };
    let body = move || {
        let tokens = sentence.get();
        let slice = |first: usize| first.min(tokens.len())..(first + SLICE).min(tokens.len());
        let (queries, keys) = (slice(first_query.get()), slice(first_key.get()));
        let name = |position: usize| token::name_at(&tokens[position], position);
        let header = keys.clone().map(|key| view! { <th scope="col">{name(key)}</th> });
        let rows = queries.map(|query| {
            let cells = keys.clone().map(|key| {
                let weight = move || {
                    let weight = view.with(|v| v.as_ref().map_or(0.0, |v| v.weight(query, key)));
                    if is_blocked(query, key) { "blocked".into() } else { format!("{weight:.4}") }
                };
                view! { <td class:blocked=is_blocked(query, key)>{weight}</td> }
            });
            view! { <tr><th scope="row">{name(query)}</th>{cells.collect_view()}</tr> }
        });
        view! {
            <thead><tr><td></td>{header.collect_view()}</tr></thead>
            <tbody>{rows.collect_view()}</tbody>
        }
    };
    view! {
        <table data-testid="attention-table">
            <caption>{caption}</caption>
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
