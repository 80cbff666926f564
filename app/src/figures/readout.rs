//! The sentence that says what is being read, for eyes in place and for ears on demand.

use std::time::Duration;

use leptos::prelude::*;

use super::{
    select::{Cell, Selection},
    token,
    view::HeadView,
};
use crate::{pointer::worded, reactive::effect};

/// Waits this long after the learner's last move before it is spoken, in milliseconds.
const SPEAK_AFTER: u64 = 250;

/// The weight at the shown cell. `data-query` and `data-key` count from 0 like the exported JSON;
/// `data-weight` has the digits of the export; the text counts from 1.
#[component]
pub fn Readout(view: Memo<Option<HeadView>>, selection: Selection) -> impl IntoView {
    let weight = move || {
        let Cell { query, key: Some(key) } = selection.focus()? else { return None };
        view.with(|v| Some(v.as_ref()?.weight(query, key)))
    };
    let position = move |f: fn(Cell) -> Option<usize>| {
        selection.shown().and_then(f).map(|position| position.to_string())
    };
    view! {
        <p
            class="readout"
            translate="no"
            data-testid="attention-cell-readout"
            data-query=move || position(|c| Some(c.query))
            data-key=move || position(|c| c.key)
            data-weight=move || weight().map(|w| w.to_string())
        >
            {move || sentence(view, selection)}
            <span class="readout-pin">
                {move || if selection.is_pinned() { "pinned" } else { "" }}
            </span>
        </p>
        <Spoken view selection />
    }
}

fn sentence(view: Memo<Option<HeadView>>, selection: Selection) -> AnyView {
    let name = move |position: usize| {
        view.with(|v| {
            v.as_ref().map_or(String::new(), |v| token::name_at(v.token(position), position))
        })
    };
    let Some(Cell { query, key }) = selection.shown() else {
        return view! {
            <span class="hint">
                {worded("Point at a token or a cell to read its weight.")}
            </span>
        }
        .into_any();
    };
    let query_name = view! { "query " <b class="role-query">{name(query)}</b> };
    let Some(key) = key else {
        let most = view.with(|v| v.as_ref()?.heaviest(query, 1).first().copied());
        return most
            .map(|(key, weight)| {
                view! {
                    {query_name}
                    " looks most at key "
                    <b class="role-key">{name(key)}</b>
                    ": "
                    <b class="number">{format!("{weight:.4}")}</b>
                }
            })
            .into_any();
    };
    let key_name = view! { <b class="role-key">{name(key)}</b> };
    if view.with(|v| v.as_ref().is_some_and(|v| v.is_blocked(query, key))) {
        let why = HeadView::why_blocked(query, key);
        return view! { {query_name} " cannot see key " {key_name} ": " {why} }.into_any();
    }
    let weight = view.with(|v| v.as_ref().map_or(0.0, |v| v.weight(query, key)));
    view! {
        {query_name}
        " looks at key "
        {key_name}
        ": "
        <b class="number">{format!("{weight:.4}")}</b>
    }
    .into_any()
}

/// The same for a screen reader.
#[component]
fn Spoken(view: Memo<Option<HeadView>>, selection: Selection) -> impl IntoView {
    let words =
        move |cell| view.try_with_untracked(|v| Some(in_words(v.as_ref()?, cell))).flatten();
    let shown = Signal::derive(move || selection.shown());
    view! { <SpokenReading shown words=Callback::new(move |cell| words(cell).unwrap_or_default()) /> }
}

/// Says what is shown, only when the learner moved: live numbers would never fall silent.
#[component]
pub fn SpokenReading<C>(shown: Signal<Option<C>>, words: Callback<C, String>) -> impl IntoView
where
    C: Clone + Send + Sync + 'static,
{
    let spoken = RwSignal::new(String::new());
    let timer = StoredValue::new(None::<TimeoutHandle>);
    effect(move || {
        let shown = shown.get();
        if let Some(timer) = timer.get_value() {
            timer.clear();
        }
        let speak = move || {
            let text = shown.and_then(|shown| words.try_run(shown));
            spoken.try_set(text.unwrap_or_default());
        };
        timer.set_value(set_timeout_with_handle(speak, Duration::from_millis(SPEAK_AFTER)).ok());
    });
    on_cleanup(move || {
        if let Some(Some(timer)) = timer.try_get_value() {
            timer.clear();
        }
    });
    view! { <p class="visually-hidden" aria-live="polite">{spoken}</p> }
}

fn in_words(view: &HeadView, Cell { query, key }: Cell) -> String {
    let name =
        |position: usize| format!("{} {}", token::spoken(view.token(position)), position + 1);
    match key {
        Some(key) if view.is_blocked(query, key) => {
            let why = HeadView::why_blocked(query, key);
            format!("query {}, key {}: blocked, {why}", name(query), name(key))
        }
        Some(key) => {
            format!("query {}, key {}: {:.4}", name(query), name(key), view.weight(query, key))
        }
        None => match view.heaviest(query, 1).first() {
            Some(&(key, weight)) => {
                format!("query {} looks most at key {}: {weight:.4}", name(query), name(key))
            }
            None => String::new(),
        },
    }
}
