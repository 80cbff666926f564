//! A row of segments, of which one is on.

use leptos::prelude::*;

use crate::figures::own;

/// A row of segments, of which one is on: radio buttons that lie unseen over their words.
#[component]
pub fn Segments<T: Copy + PartialEq + Send + Sync + 'static>(
    /// The radio buttons' name.
    #[prop(into)]
    name: String,
    /// Their ids begin with it, where not with the name.
    #[prop(optional, into)]
    ids: Option<String>,
    /// What can be chosen: the value, its id, and what it is called.
    choices: Vec<(T, &'static str, AnyView)>,
    chosen: impl Fn() -> T + Copy + Send + Sync + 'static,
    on_choose: impl Fn(T) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let ids = ids.unwrap_or_else(|| name.clone());
    let one = |(value, id, label): (T, &'static str, AnyView)| {
        let on = Signal::derive(move || chosen() == value);
        segment(&name, &ids, id, label, on, Callback::new(move |()| on_choose(value)))
    };
    let all: Vec<AnyView> = choices.into_iter().map(one).collect();
    view! { <div class="segments">{all}</div> }.into_any()
}

/// One of them. It does not know of the value, so the page has this code once.
fn segment(
    name: &str,
    ids: &str,
    id: &'static str,
    label: AnyView,
    on: Signal<bool>,
    choose: Callback<()>,
) -> AnyView {
    view! {
        <label class="segment">
            <input type="radio" name=name.to_owned() id=own(ids, id) value=id data-testid=[ids, "-", id].concat()
                prop:checked=on on:change=move |_| choose.run(())/>
            <span>{label}</span>
        </label>
    }
    .into_any()
}
