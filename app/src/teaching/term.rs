//! A word in the text that opens its note.
//!
//! The page has one note for all of them: a word in a text is plain markup, and costs nothing.

use leptos::{context::Provider, ev, prelude::*};
use unroll_protocol::link::Chapter;
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::{
    glossary::GLOSSARY,
    tiny::TinyFigure,
    word::{WORDS, Word},
};
use crate::{course::ChapterLink, fetched::Fetched, store::Store};

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
        <div popover="auto" class="note" id="note" role="dialog" aria-labelledby="note-name" on:toggle=toggled
            data-testid=move || format!("note-{}", word.get())>
            {move || open.get().then(|| view! {
                <Provider value=Noted(word.get())>
                    <Fetched fetch=GLOSSARY what="The note" style=Some("glossary") around=|notice| notice/>
                </Provider>
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
        <p class="note-name" id="note-name">{entry.name}</p>
        <p>{entry.says[0]} " " {entry.says[1]}</p>
        {entry.toy.map(|toy| view! { <TinyFigure toy/> })}
        {by_hand(entry.id)}
    }
    .into_any()
}

/// The way to the drawing in which a word is moved by hand, where there is one.
pub fn by_hand(word: &str) -> Option<AnyView> {
    let (idea, drawing) = beat_of(word)?;
    let store = expect_context::<Store>();
    if store.link.with_untracked(|link| link.chapter == Chapter::Start || link.embed) {
        return None;
    }
    // The list of words and the note would stay open over the chapter.
    let close = |event: ev::MouseEvent| {
        let target: Element = event_target(&event);
        if let Ok(Some(dialog)) = target.closest("dialog") {
            dialog.unchecked_into::<web_sys::HtmlDialogElement>().close();
        } else if let Ok(Some(note)) = target.closest("[popover]") {
            // It is open: what was pressed is in it.
            let _ = note.unchecked_into::<web_sys::HtmlElement>().hide_popover();
        }
    };
    let link = view! {
        <p class="by-hand" on:click=close>
            "Try it by hand: "
            <ChapterLink chapter=Chapter::Start idea testid="by-hand">{drawing}</ChapterLink>
        </p>
    };
    Some(link.into_any())
}

/// The beat of `start` that is about a word, and its drawing.
fn beat_of(word: &str) -> Option<(u32, &'static str)> {
    Some(match word {
        "embedding" => (1, "a list as an arrow"),
        "positional-encoding" | "residual-connection" => (2, "adding two lists"),
        "inner-product" | "query" | "key" | "attention" | "self-attention" => {
            (3, "how much two lists agree")
        }
        "matrix-product" | "weight" | "unit" | "layer" => (4, "a matrix and its rows"),
        "softmax" | "logit" | "probability" => (5, "scores into shares"),
        "gradient" | "jacobian" => (6, "the slope of a curve"),
        "backpropagation" | "bptt" | "vanishing-gradient" | "exploding-gradient" => {
            (7, "a chain of slopes")
        }
        "learning-rate" | "optimizer" => (8, "a walk downhill"),
        "loss" => (9, "a hundred steps downhill"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapters::START;

    #[test]
    fn words_lead_to_the_beat_that_is_about_them() {
        let known = WORDS.iter().filter_map(|entry| beat_of(entry.id)).count();
        assert_eq!(known, 24, "each id above is a word’s");
        let titles: Vec<&str> = START.beats.iter().map(|beat| beat.title).collect();
        let led: Vec<&str> = [
            "embedding",
            "positional-encoding",
            "query",
            "unit",
            "logit",
            "jacobian",
            "bptt",
            "optimizer",
            "loss",
        ]
        .map(|word| titles[beat_of(word).unwrap().0 as usize])
        .into();
        assert_eq!(led, titles[1..10]);
    }
}
