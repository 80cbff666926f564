//! The edit mode in which a click holds a gate, and the gates that are held.

use leptos::prelude::*;
use unroll_protocol::study::gates::Forced;

use super::state::{Gates, named};
use crate::{controls::ChoiceField, pointer::is_coarse, reactive::memo};

/// Switches the edit mode; while it is on, how a click holds a gate.
#[component]
pub fn EditBar(gates: Gates) -> impl IntoView {
    let edit = gates.edit;
    let toggle = move |_| {
        gates.store.link.update(|l| {
            l.gates.edit = !l.gates.edit;
            // A state can't be held: begin with the gate that keeps it.
            if l.gates.edit && !l.gates.shown.of(l.gates.cell).opens() {
                l.gates.shown = unroll_protocol::study::gates::Quantity::Forget.of(l.gates.cell);
            }
        });
    };
    view! {
        <div class="gates-edit" data-testid="gates-edit-bar"
            data-state=move || if edit.get() { "on" } else { "off" }>
            <button type="button" class="button" aria-pressed=move || edit.get().to_string()
                data-testid="gates-edit" on:click=toggle>
                <span>
                    {move || if edit.get() { "Done" } else { "Hold" }}
                    <span class="gates-long">{move || if edit.get() { " holding" } else { " gates" }}</span>
                </span>
            </button>
            <Show when=move || edit.get()>
                <ChoiceField name="gates-hold"/>
                <ChoiceField name="gates-reach"/>
            </Show>
        </div>
    }
    .into_any()
}

/// What pointer and click do to a cell.
pub fn says(gates: Gates) -> String {
    let shown = gates.shown.get();
    if !gates.edit.get() {
        let tap = "Tap a cell to read it. Tap it again for the arithmetic.";
        let click = "Point at a cell to read it; click it for the arithmetic.";
        if is_coarse() { tap } else { click }.to_owned()
    } else if shown.opens() {
        "Choose a cell to hold that unit’s gate. Choose it again to let go.".to_owned()
    } else {
        format!("{} is not a gate. Choose a gate above to hold it.", named(shown))
    }
}

/// What is held, each with a button that lets it go, and what could not be held.
#[component]
pub fn HeldList(gates: Gates) -> impl IntoView {
    let chip = move |held: Forced| {
        let let_go = move |_| gates.store.link.update(|l| l.gates.forced.retain(|f| *f != held));
        let from = if held.from > 1 { format!(" from {}", held.from) } else { String::new() };
        let name = format!(
            "{} of unit {} {}{from}",
            held.gate.id(),
            held.unit,
            if held.open { "open" } else { "shut" }
        );
        view! {
            <li>
                <button type="button" class="gates-chip" data-testid=format!("gates-held-{held}")
                    aria-label=format!("Let go: {name}") on:click=let_go>
                    {name.clone()} <span aria-hidden="true">" ×"</span>
                </button>
            </li>
        }
        .into_any()
    };
    let any = memo(move || gates.forced.with(|forced| !forced.is_empty()));
    let let_all_go = move |_| gates.store.link.update(|l| l.gates.forced.clear());
    let left_out = move || {
        let sentences = gates.seen(|seen| seen.left_out.clone()).unwrap_or_default();
        sentences.into_iter().map(|s| view! { <p>{s}</p> }).collect_view()
    };
    view! {
        <div class="gates-held" data-testid="gates-held">
            <Show when=move || any.get()>
                <ul aria-label="Gates held">{move || gates.forced.get().into_iter().map(chip).collect_view()}</ul>
                <button type="button" class="button button-quiet" data-testid="gates-let-go" on:click=let_all_go>
                    "Let all go"
                </button>
            </Show>
        </div>
        <div class="gates-left-out" role="status" data-testid="gates-left-out">{left_out}</div>
    }
    .into_any()
}
