//! What the page says until it is dismissed.

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;

use crate::store::{Notice, Severity, Store};

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
                <Item notice dismiss/>
            </For>
            {move || store.offer.get().map(|offer| offer())}
        </section>
    }
}

#[component]
fn Item(notice: Notice, dismiss: impl Fn(u32) + Copy + 'static) -> impl IntoView {
    let Notice { id, severity, sentence, about_text: _ } = notice;
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
        <div class="notice" data-testid="notice" data-severity=kind on:keydown=on_key>
            <p role=role><strong>{prefix}</strong>{sentence}</p>
            <button type="button" class="notice-close" aria-label="Dismiss this message"
                on:click=move |_| dismiss(id)>
                "×"
            </button>
        </div>
    }
}
