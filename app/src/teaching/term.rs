//! A word in the text that opens its note.

use leptos::{context::Provider, ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::{
    tiny::TinyFigure,
    word::{Entry, WORDS, Word},
};
use crate::fetched::{Fetch, View, fetched, part};

/// The word, by its id, whose note is open.
#[derive(Clone, Copy)]
struct Noted(&'static str);

/// Notes with their figures are fetched when the first is opened.
const NOTE: Fetch = part!(note: View = body);

/// A word of the glossary in running text: a button that opens its note beside it. Without children
/// it shows the word itself.
#[component]
pub fn Term(of: Word, #[prop(optional)] children: Option<Children>) -> impl IntoView {
    let entry = of.entry();
    let shown = match children {
        Some(children) => children().into_any(),
        None => in_text(entry).into_any(),
    };
    term(entry.id, entry.name, shown)
}

/// A [`Term`] by the word's id; `label` names the note.
pub fn term(word: &'static str, label: &'static str, shown: AnyView) -> AnyView {
    // The same word may stand in a text twice.
    let id = format!("note-{word}-{}", use_count());
    let open = RwSignal::new(false);
    // The browser opens and closes it: Escape, a press elsewhere, the focus going back.
    let toggled = move |event: ev::Event| {
        let note = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        open.set(note.is_some_and(|note| note.matches(":popover-open").unwrap_or(false)));
    };
    // Its content is there before it shows, so that it is placed by its full size.
    let begin = move |_: ev::Event| {
        if !open.get_untracked() {
            open.set(true);
        }
    };
    view! {
        <button type="button" class="term" data-testid=format!("term-{word}")
            popovertarget=id.clone() aria-controls=id.clone()
            aria-expanded=move || open.get().to_string()>
            {shown}
        </button>
        <div popover="auto" class="note" id=id.clone() role="dialog" aria-label=label
            data-testid=format!("note-{word}") on:beforetoggle=begin
            on:toggle=toggled>
            {move || open.get().then(|| view! {
                <Provider value=Noted(word)>{fetched(NOTE, "The note")}</Provider>
            })}
            <button type="button" class="button button-quiet" popovertarget=id.clone()
                popovertargetaction="hide">
                "Close"
            </button>
        </div>
    }
    .into_any()
}

/// A word's name, its two sentences and its figure.
fn body() -> AnyView {
    let Noted(word) = expect_context();
    let Some(entry) = WORDS.iter().find(|entry| entry.id == word) else { return ().into_any() };
    view! {
        <p class="note-name">{entry.name}</p>
        <p>{entry.says[0]} " " {entry.says[1]}</p>
        {entry.toy.map(|toy| view! { <TinyFigure toy/> })}
    }
    .into_any()
}

/// The word as it stands within a sentence.
fn in_text(entry: &Entry) -> String {
    entry.name.to_ascii_lowercase()
}

/// A number that no other note has.
fn use_count() -> u32 {
    thread_local!(static COUNT: core::cell::Cell<u32> = const { core::cell::Cell::new(0) });
    COUNT.with(|count| {
        count.set(count.get() + 1);
        count.get()
    })
}
