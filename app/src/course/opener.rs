//! Words in a text that open the view they name; pressed again, they lead back to the beat's own.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::story::{Beats, InBeat};
use crate::store::Store;

/// The words stay when they are pressed, and so does the focus.
pub fn opener(shown: String, view: &'static str) -> AnyView {
    let store = expect_context::<Store>();
    let beat = use_context::<InBeat>().zip(use_context::<Beats>());
    // As its tab has it: in links the first view has no name.
    let full = move |view: String| match view.as_str() {
        "" => store.views.with_value(|views| views.first().copied().unwrap_or_default()).to_owned(),
        _ => view,
    };
    let is_open = move || full(store.link.with(|link| link.view.clone())) == view;
    let press = move |_| {
        let closes = untrack(is_open);
        let own = beat.map(|(InBeat(number), beats)| beats.own_view(number));
        let wanted = own.filter(|_| closes).map_or_else(|| view.to_owned(), full);
        // By its tab, which the beat has marked until it is used.
        if let Some(tab) = document().get_element_by_id(&format!("view-{wanted}")) {
            tab.unchecked_into::<HtmlElement>().click();
        }
    };
    view! {
        <button type="button" class="opener" data-opens=view aria-pressed=move || is_open().to_string() on:click=press>
            {shown}
        </button>
    }
    .into_any()
}
