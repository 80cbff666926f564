//! The choice between views that share a tab.

use leptos::prelude::*;

use super::Segments;
use crate::{fetched::focus_again, store::Store};

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
    let on_show = move || {
        let shown = |view: &str| views.iter().find(|(id, _)| *id == view).map_or("", |(id, _)| *id);
        store.link.with(|link| shown(&link.view))
    };
    let choose = move |id: &'static str| {
        store.link.update(|link| link.view = id.to_owned());
        // The view that comes on show has a switch of its own, which takes the focus over.
        let focused = document().active_element().map(|element| element.id());
        focus_again(focused.unwrap_or_default());
    };
    let choices = views.iter().map(|&(id, title)| (id, id, title.into_any())).collect();
    view! {
        <fieldset class="choice-field">
            <legend class="visually-hidden">{label}</legend>
            <Segments name="view-switch" ids="switch" choices chosen=on_show on_choose=choose/>
        </fieldset>
    }
    .into_any()
}
