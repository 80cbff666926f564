//! What the page says until it is dismissed.

use core::time::Duration;

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;

use super::{Timer, use_timer};
use crate::store::{Lasts, Notice, Severity, Store};

/// For what is said in passing: about three times as long as it takes to read it.
const A_WHILE: Duration = Duration::from_secs(10);

/// All notices, in a corner over the page: nothing below moves when one comes or goes.
#[component]
pub fn Notices() -> impl IntoView {
    let store = expect_context::<Store>();
    let region = NodeRef::<html::Section>::new();
    // The focus goes on to another notice instead of being lost with the dismissed one.
    let dismiss = move |id: u32| {
        store.dismiss(id);
        request_animation_frame(move || {
            let next =
                region.get_untracked().and_then(|r| r.query_selector("button").ok().flatten());
            if let Some(button) = next.and_then(|n| n.dyn_into::<web_sys::HtmlElement>().ok()) {
                let _ = button.focus();
            }
        });
    };
    view! {
        <section class="notices" aria-label="Messages" node_ref=region>
            // By what they say: no two say the same, while ids are used again.
            <For each=move || store.notices.get() key=|notice| notice.sentence.clone() let:notice>
                <Item store notice dismiss/>
            </For>
            {move || store.offer.get().map(|offer| offer())}
        </section>
    }
}

#[component]
fn Item(store: Store, notice: Notice, dismiss: impl Fn(u32) + Copy + 'static) -> impl IntoView {
    let Notice { id, severity, sentence, lasts } = notice;
    let element = NodeRef::<html::Div>::new();
    if lasts == Lasts::AWhile {
        pass(use_timer(), element, move || store.dismiss(id));
    }
    let (role, kind, prefix) = match severity {
        Severity::Note => ("status", "note", "Note: "),
        Severity::Refusal => ("alert", "refusal", "Not done: "),
        Severity::Failure => ("alert", "failure", "Trouble: "),
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            event.stop_propagation();
            dismiss(id);
        }
    };
    view! {
        <div class="notice" data-testid="notice" data-severity=kind node_ref=element on:keydown=on_key>
            <p role=role><strong>{prefix}</strong>{sentence}</p>
            <button type="button" class="notice-close" aria-label="Dismiss this message"
                on:click=move |_| dismiss(id)>
                "×"
            </button>
        </div>
    }
}

/// Calls `go` after a while, but not while the pointer or the focus is on it.
fn pass(timer: Timer, element: NodeRef<html::Div>, go: impl FnOnce() + 'static) {
    timer.start(A_WHILE, move || {
        let element_now = element.get_untracked();
        let is_used = element_now
            .is_some_and(|element| element.matches(":hover, :focus-within").unwrap_or_default());
        if is_used { pass(timer, element, go) } else { go() }
    });
}
