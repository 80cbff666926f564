//! The buttons of “what to try”.

use leptos::prelude::*;
use unroll_protocol::Link;

use crate::store::Store;

/// A button that sets an experiment up: what `set` leaves alone is as at the chapter's start.
#[component]
pub fn Try(
    label: &'static str,
    id: &'static str,
    set: fn(&mut Link),
    /// What becomes of the learner's sentence; without it, it stays.
    #[prop(optional, into)]
    sentence: Option<&'static str>,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let go = move |_| {
        store.link.update(|link| {
            let usual = Link { chapter: link.chapter, ..Link::default() };
            *link = link.clone().with_chapter_of(&usual);
            link.view.clear();
            link.twin.clear();
            set(link);
        });
        if let Some(sentence) = sentence {
            store.set_probe(sentence.to_owned());
        }
    };
    view! {
        <button type="button" class="button button-quiet" data-testid=format!("try-{id}") on:click=go>
            {label}
        </button>
    }
    .into_any()
}
