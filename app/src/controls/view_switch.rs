//! The choice between views that share a tab.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::{reactive::memo, store::Store};

/// Chooses between the views that share a tab, by their names in links. Each of them shows it, in the
/// same place.
#[component]
pub fn ViewSwitch(
    /// What is chosen, for screen readers.
    label: &'static str,
    /// Names in links and what they are called.
    views: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let store = expect_context::<Store>();
    let view = memo(move || store.link.with(|link| link.view.clone()));
    let segment = move |&(id, title): &'static (&'static str, &'static str)| {
        let choose = move |_| {
            store.link.update(|link| link.view = id.to_owned());
            // The view that comes on show has a switch of its own, which takes the focus over.
            request_animation_frame(move || {
                if let Some(input) = document().get_element_by_id(&format!("switch-{id}")) {
                    let _ = input.unchecked_into::<web_sys::HtmlElement>().focus();
                }
            });
        };
        view! {
            <label class="segment">
                <input type="radio" name="view-switch" id=format!("switch-{id}") value=id
                    data-testid=format!("switch-{id}") prop:checked=move || view.with(|view| view == id)
                    on:change=choose/>
                <span>{title}</span>
            </label>
        }
    };
    view! {
        <fieldset class="choice-field">
            <legend class="visually-hidden">{label}</legend>
            <div class="segments">{views.iter().map(segment).collect_view()}</div>
        </fieldset>
    }
    .into_any()
}
