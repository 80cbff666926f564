//! All the words in one place.

use leptos::{html, prelude::*};

use super::{
    term::{Noted, body, by_hand},
    tiny::TinyFigure,
    word::{Entry, WORDS},
};
use crate::{
    fetched::{Fetch, Fetched, View, part},
    pointer,
    reactive::memo,
};

/// All words, or the note of the one that a [`Noted`] around it names.
pub const GLOSSARY: Fetch = part!(glossary: View = || match use_context::<Noted>() {
    Some(noted) => body(noted),
    None => view! { <Words/> }.into_any(),
});

/// So many letters of a name are enough to mean it.
const NAMED: usize = 3;

/// A button that opens the list of all words, with a filter.
#[component]
pub fn Glossary() -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let open = RwSignal::new(false);
    let around = |notice: AnyView| {
        view! {
            <div class="glossary-head"><h2 id="glossary-title">"Glossary"</h2></div>
            <div class="glossary-words">{notice}</div>
        }
        .into_any()
    };
    let show = move |_| {
        open.set(true);
        if let Some(dialog) = dialog.get_untracked() {
            let _ = dialog.show_modal();
        }
    };
    view! {
        <button type="button" class="button" data-testid="glossary-open" aria-haspopup="dialog"
            on:click=show>
            "Words"
        </button>
        // Escape closes it, and the focus goes back: the browser's own.
        <dialog class="glossary" node_ref=dialog aria-labelledby="glossary-title" closedby="any"
            data-testid="glossary" on:close=move |_| open.set(false)>
            {move || open.get().then(|| view! { <Fetched fetch=GLOSSARY what="The glossary" style=Some("glossary") around/> })}
            <form method="dialog" class="glossary-close">
                <button class="button" data-testid="glossary-close">"Close"</button>
            </form>
        </dialog>
    }
    .into_any()
}

#[component]
fn Words() -> impl IntoView {
    let filter = RwSignal::new(String::new());
    let field = NodeRef::<html::Input>::new();
    // Not where it would call up a keyboard that covers half of the list.
    field.on_load(|field| {
        if !pointer::is_coarse() {
            let _ = field.focus();
        }
    });
    let wanted = memo(move || filter.with(|filter| filter.trim().to_ascii_lowercase()));
    let found =
        move || WORDS.iter().filter(|entry| wanted.with(|wanted| is_about(entry, wanted))).count();
    let said = move || match (found(), WORDS.len()) {
        (0, _) => "No word or note has that in it.".to_owned(),
        (1, _) => "1 word".to_owned(),
        (n, all) if n == all => format!("{all} words"),
        (n, all) => format!("{n} of {all} words"),
    };
    view! {
        <div class="glossary-head">
            <h2 id="glossary-title">"Glossary"</h2>
            <label class="glossary-filter">
                <span>"Filter"</span>
                <input type="search" node_ref=field data-testid="glossary-filter" autocomplete="off"
                    on:input=move |event| filter.set(event_target_value(&event))/>
            </label>
            <p class="hint" role="status">{said}</p>
        </div>
        <div class="glossary-words">
            {WORDS.iter().map(|entry| {
                let hidden = move || !wanted.with(|wanted| is_about(entry, wanted));
                view! { <article hidden=hidden data-testid=format!("word-{}", entry.id)><WordNote entry wanted/></article> }
            }).collect_view()}
        </div>
    }
    .into_any()
}

/// One word of the list; its figure is there once it is asked for, or the word is looked up by its name.
#[component]
fn WordNote(entry: &'static Entry, wanted: Memo<String>) -> impl IntoView {
    let tried = RwSignal::new(false);
    let is_meant = memo(move || {
        wanted.with(|wanted| {
            wanted.len() >= NAMED && entry.name.to_ascii_lowercase().contains(wanted.as_str())
        })
    });
    view! {
        <h3>{entry.name}</h3>
        <p>{entry.says[0]} " " {entry.says[1]}</p>
        {entry.toy.map(|toy| view! {
            <details class="disclosure" open=is_meant on:toggle=move |_| tried.set(true)>
                <summary>"Try it"<span class="visually-hidden">": " {entry.name}</span></summary>
                {move || tried.get().then(|| view! { <TinyFigure toy/> })}
            </details>
        })}
        {by_hand(entry.id)}
    }
    .into_any()
}

fn is_about(entry: &Entry, wanted: &str) -> bool {
    let has = |text: &str| text.to_ascii_lowercase().contains(wanted);
    has(entry.name) || entry.says.into_iter().any(has)
}
