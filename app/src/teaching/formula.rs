//! Formulas on a line of their own.

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::lit::{Part, use_lit};
use crate::figures::reading::is_shortcut;

/// A displayed formula with its source. Too wide a one scrolls within itself. One stop of the Tab
/// key; the arrow keys go through its parts.
#[component]
pub fn Formula(
    /// What the formula says, in words, for screen readers.
    label: &'static str,
    /// Where it is from, such as "Elman 1990".
    #[prop(optional)]
    source: &'static str,
    /// MathML.
    children: Children,
) -> impl IntoView {
    let lit = use_lit();
    let scroller = NodeRef::<html::Div>::new();
    let place = StoredValue::new(None::<usize>);
    let step = move |event: ev::KeyboardEvent| {
        if is_shortcut(&event) {
            return;
        }
        let forward = match event.key().as_str() {
            "ArrowRight" => true,
            "ArrowLeft" => false,
            _ => return,
        };
        let Some(scroller) = scroller.get_untracked() else { return };
        let parts: Vec<Element> = match scroller.query_selector_all("[data-part]") {
            Ok(found) => {
                (0..found.length()).filter_map(|i| found.item(i)?.dyn_into().ok()).collect()
            }
            Err(_) => return,
        };
        if parts.is_empty() {
            return;
        }
        event.prevent_default();
        let last = parts.len() - 1;
        let next = match (place.get_value(), forward) {
            (None, true) => 0,
            (None, false) => last,
            (Some(i), true) => (i + 1).min(last),
            (Some(i), false) => i.saturating_sub(1),
        };
        place.set_value(Some(next));
        parts[next].scroll_into_view_with_bool(false);
        lit.focus(Part::of(&parts[next]));
    };
    view! {
        <figure class="formula">
            <div class="formula-scroll" tabindex="0" role="group" aria-label=label node_ref=scroller
                on:keydown=step on:focusout=move |_| place.set_value(None)>
                <math display="block" translate="no">{children()}</math>
            </div>
            {(!source.is_empty()).then(|| view! { <figcaption class="hint">{source}</figcaption> })}
        </figure>
    }
    .into_any()
}
