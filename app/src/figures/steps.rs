//! The tokens of a sequence in a row, of which one is chosen.

use crate::reactive::memo;
use leptos::{ev, prelude::*};

use super::{
    reading::{listener, walk},
    token::{mark, spoken},
};

/// A button a token; arrow keys move along them, and Tab reaches the chosen one.
#[component]
pub fn StepRow(
    label: &'static str,
    #[prop(into)] tokens: Signal<Vec<String>>,
    #[prop(into)] chosen: Signal<Option<usize>>,
    on_choose: Callback<usize>,
) -> impl IntoView {
    // Stays while only numbers change.
    let tokens = memo(move || tokens.get());
    let on_key = move |e: ev::KeyboardEvent| {
        let now = chosen.get_untracked().unwrap_or(0);
        if let Some(to) = listener(&e).and_then(|row| walk(&e, &row, now, false)) {
            on_choose.run(to);
        }
    };
    let step = move |(at, token): (usize, String)| {
        let is_chosen = move || chosen.get() == Some(at);
        let tab = move || is_chosen() || at == 0 && chosen.get().is_none();
        view! {
            <button type="button" class="step" aria-pressed=move || is_chosen().to_string()
                tabindex=move || if tab() { "0" } else { "-1" }
                aria-label=format!("{} ({})", spoken(&token), at + 1)
                data-testid=format!("step-{}", at + 1) on:click=move |_| on_choose.run(at)>
                {mark(&token)}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="step-row" role="group" aria-label=label on:keydown=on_key>
            {move || tokens.get().into_iter().enumerate().map(step).collect_view()}
        </div>
    }
    .into_any()
}
