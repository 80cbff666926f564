//! The teacher's step: a chapter told one idea at a time.

use leptos::{ev, prelude::*};
use unroll_protocol::Link;

use super::undo::is_text_field;
use crate::store::Store;

/// One idea: what to say, and the settings that show it.
#[derive(Clone, Copy)]
pub struct Idea {
    pub title: &'static str,
    /// One or two sentences.
    pub text: &'static str,
    /// Sets what differs from the chapter's defaults.
    pub set: fn(&mut Link),
}

/// Shows idea `number`, counted from 1; 0 leaves the settings as they are.
fn show(store: Store, ideas: &'static [Idea], number: u32) {
    let number = number.min(ideas.len() as u32);
    store.link.update(|link| {
        if let Some(idea) = (number as usize).checked_sub(1).and_then(|index| ideas.get(index)) {
            let usual = Link { chapter: link.chapter, ..Link::default() };
            *link = link.clone().with_chapter_of(&usual);
            (idea.set)(link);
        }
        link.idea = number;
    });
}

/// The bar with the idea on show. PageDown and PageUp, as presenters send them, move it from
/// anywhere on the page but a text field.
#[component]
pub fn Ideas(ideas: &'static [Idea]) -> impl IntoView {
    let store = expect_context::<Store>();
    let number = Memo::new(move |_| store.link.with(|link| link.idea).min(ideas.len() as u32));
    let step = move |forward: bool| {
        let now = number.get_untracked();
        let next = if forward { now + 1 } else { now.saturating_sub(1) };
        if next <= ideas.len() as u32 && next != now {
            show(store, ideas, next);
        }
    };
    let listener = window_event_listener(ev::keydown, move |event| {
        let forward = match event.key().as_str() {
            "PageDown" => true,
            "PageUp" => false,
            _ => return,
        };
        if !is_text_field(&event) {
            event.prevent_default();
            step(forward);
        }
    });
    on_cleanup(move || listener.remove());
    let open = move || number.get() > 0;
    let idea = move || (number.get() as usize).checked_sub(1).map(|index| ideas[index]);
    view! {
        <section class="ideas" class:ideas-open=open aria-label="Step through">
            <div class="ideas-buttons">
                <button type="button" class="button" data-testid="idea-back"
                    aria-disabled=move || (number.get() == 0).then_some("true")
                    title="Page up" on:click=move |_| step(false)>
                    <span aria-hidden="true">"◀"</span>
                    <span class="visually-hidden">"Idea before"</span>
                </button>
                <button type="button" class="button" data-testid="idea-next"
                    aria-disabled=move || (number.get() == ideas.len() as u32).then_some("true")
                    title="Page down" on:click=move |_| step(true)>
                    {move || (number.get() == 0).then_some("Step through ")}
                    <span aria-hidden="true">"▶"</span>
                    <span class="visually-hidden">"Next idea"</span>
                </button>
            </div>
            <p class="ideas-text" role="status" data-testid="idea-text">
                {move || match idea() {
                    None => view! {
                        <span class="hint">
                            {format!("{} ideas, one at a time (Page down).", ideas.len())}
                        </span>
                    }.into_any(),
                    Some(idea) => view! {
                        <span class="ideas-count">
                            {format!("{} of {} ", number.get(), ideas.len())}
                        </span>
                        <strong>{idea.title}". "</strong>
                        {idea.text}
                    }.into_any(),
                }}
            </p>
        </section>
    }
    .into_any()
}
