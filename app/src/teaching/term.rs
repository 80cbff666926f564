//! A word in the text that opens its note.
//!
//! The page has one note for all of them: a word in a text is plain markup, and costs nothing.

use leptos::{context::Provider, ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::{
    glossary::GLOSSARY,
    tiny::TinyFigure,
    word::{WORDS, Word},
};
use crate::fetched::fetched;

/// A word of the glossary in running text: a button that opens its note beside it.
#[component]
pub fn Term(of: Word, children: Children) -> impl IntoView {
    view! {
        <button type="button" class="term" data-word=of.id() data-testid=format!("term-{}", of.id())
            popovertarget="note">
            {children()}
        </button>
    }
    .into_any()
}

/// The word, by its id, whose note is open.
#[derive(Clone)]
pub struct Noted(String);

/// The page's one note. Once a page.
#[component]
pub fn Note() -> impl IntoView {
    let word = RwSignal::new(String::new());
    let open = RwSignal::new(false);
    // Before the browser opens it, so that it is placed by its full size. Never removed: the page's
    // root outlives every event.
    window_event_listener(ev::click, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let term = target.and_then(|target| target.closest("[data-word]").ok().flatten());
        if let Some(named) = term.and_then(|term| term.get_attribute("data-word")) {
            word.set(named);
            open.set(true);
        }
    });
    // The browser opens and closes it: Escape, a press elsewhere, the focus going back.
    let toggled = move |event: ev::Event| {
        let note = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        open.set(note.is_some_and(|note| note.matches(":popover-open").unwrap_or(false)));
    };
    view! {
        <div popover="auto" class="note" id="note" role="dialog" aria-label="Note" on:toggle=toggled
            data-testid=move || format!("note-{}", word.get())>
            {move || open.get().then(|| view! {
                <Provider value=Noted(word.get())>{fetched(GLOSSARY, "The note")}</Provider>
            })}
            <button type="button" class="button button-quiet" popovertarget="note"
                popovertargetaction="hide">
                "Close"
            </button>
        </div>
    }
    .into_any()
}

/// A word's name, its two sentences and its figure.
pub fn body(Noted(word): Noted) -> AnyView {
    let Some(entry) = WORDS.iter().find(|entry| entry.id == word) else { return ().into_any() };
    view! {
        <p class="note-name">{entry.name}</p>
        <p>{entry.says[0]} " " {entry.says[1]}</p>
        {entry.toy.map(|toy| view! { <TinyFigure toy/> })}
    }
    .into_any()
}
