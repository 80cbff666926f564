//! The tokens of a sequence in a row, of which one is chosen.

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::token::{mark, spoken};

/// A button a token; arrow keys move along them, and Tab reaches the chosen one.
#[component]
pub fn StepRow(
    label: &'static str,
    #[prop(into)] tokens: Signal<Vec<String>>,
    #[prop(into)] chosen: Signal<Option<usize>>,
    on_choose: Callback<usize>,
) -> impl IntoView {
    // Stays while only numbers change.
    let tokens = Memo::new(move |_| tokens.get());
    let row = NodeRef::<html::Div>::new();
    let on_key = move |e: ev::KeyboardEvent| {
        let last = tokens.with_untracked(Vec::len).saturating_sub(1);
        let now = chosen.get_untracked().unwrap_or(0);
        let to = match e.key().as_str() {
            "ArrowLeft" => now.saturating_sub(1),
            "ArrowRight" => (now + 1).min(last),
            "Home" => 0,
            "End" => last,
            _ => return,
        };
        e.prevent_default();
        on_choose.run(to);
        let button = row.get_untracked().and_then(|row| row.children().item(to as u32));
        if let Some(button) = button {
            let _ = button.unchecked_into::<HtmlElement>().focus();
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
        <div class="step-row" role="group" aria-label=label node_ref=row on:keydown=on_key>
            {move || tokens.get().into_iter().enumerate().map(step).collect_view()}
        </div>
    }
    .into_any()
}
