//! The text a model learns: built in, pasted, opened or dropped.

use leptos::{html, portal::Portal, prelude::*};
use unroll_protocol::link::Corpus;

use super::{
    format::{counted, grouped},
    intake::{Intake, too_long, use_drop},
    start_over::bring_back,
};
use crate::{
    corpora,
    reactive::{effect, next_task},
    store::{Notice, Severity, Store},
};

/// Characters of a built-in text shown on its card.
const PREVIEW: usize = 90;

/// The built-in texts as cards, and the ways to bring one's own.
#[component]
pub fn TextChooser() -> impl IntoView {
    let store = expect_context::<Store>();
    let intake = Intake::new(store);
    let dragging = use_drop(intake);
    view! {
        <div class="text-chooser">
            <Present/>
            <fieldset class="cards">
                <legend>"Texts of this page"</legend>
                {[Corpus::Tales, Corpus::Names, Corpus::Brackets].map(|corpus| {
                    view! { <Card corpus intake/> }
                })}
            </fieldset>
            <OwnText intake/>
            <p class="field-error" role="alert" data-testid="text-refusal">
                {move || intake.refusal.get()}
            </p>
            {bring_back(store, "text-bring-back")}
            <p class="hint">
                {move || if store.step.get() > 0 {
                    "Another text starts a new model; the trained one can be brought back."
                } else {
                    "What you open or paste stays on this computer."
                }}
            </p>
        </div>
        <Portal>
            <div class="drop-target" class:drop-target-on=move || dragging.get()
                data-testid="drop-target" aria-hidden="true">
                <p>"Drop a text file to learn from it"</p>
            </div>
        </Portal>
    }
}

/// How many characters a text has, and how many different ones. A text of some megabytes is counted within a
/// frame: what is ASCII is not decoded.
fn characters(text: &str) -> (u64, u64) {
    let mut seen = vec![false; char::MAX as usize + 1];
    let (mut at, mut length) = (0, 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        length += 1;
        if byte.is_ascii() {
            seen[usize::from(byte)] = true;
            at += 1;
        } else if let Some(character) = text[at..].chars().next() {
            seen[character as usize] = true;
            at += character.len_utf8();
        }
    }
    (length, seen.iter().filter(|seen| **seen).count() as u64)
}

/// What is learned now.
#[component]
fn Present() -> impl IntoView {
    let store = expect_context::<Store>();
    let size = RwSignal::new(String::new());
    effect(move || {
        let text = store.source.with(|source| source.text.clone());
        // In a task of its own: a text of some megabytes has just kept the page busy.
        wasm_bindgen_futures::spawn_local(async move {
            next_task().await;
            let (length, distinct) = characters(&text);
            let said = format!("{}, {} different", counted(length, "character"), grouped(distinct));
            size.try_set(said);
        });
    });
    view! {
        <p class="text-present" data-testid="text-present" role="status">
            <strong>{move || store.source.with(|source| source.name.clone())}</strong>
            <span class="hint">{size}</span>
        </p>
    }
}

#[component]
fn Card(corpus: Corpus, intake: Intake) -> impl IntoView {
    let store = expect_context::<Store>();
    let id = format!("corpus-{}", corpus.id());
    let preview = RwSignal::new(String::new());
    wasm_bindgen_futures::spawn_local(async move {
        if let Ok(text) = corpora::load(corpus).await {
            preview.try_set(text.chars().take(PREVIEW).collect());
        }
    });
    // After a refusal the mark goes back to the text in use; that an old one is taken back changes nothing.
    let refused = Memo::new(move |last: Option<&Option<u32>>| {
        let refusals = |notices: &Vec<Notice>| {
            let refusals = notices.iter().filter(|notice| notice.severity == Severity::Refusal);
            refusals.map(|notice| notice.id).max()
        };
        store.notices.with(refusals).max(last.copied().flatten())
    });
    let checked = move || {
        refused.track();
        store.source.with(|source| source.corpus == corpus)
    };
    let choose = move |_| {
        if store.source.with_untracked(|source| source.corpus) != corpus {
            intake.take_corpus(corpus);
        }
    };
    view! {
        <label class="card" for=id.clone()>
            <input type="radio" name="corpus" id=id.clone() data-testid=id.clone()
                prop:checked=checked on:change=choose/>
            <span class="card-name">{corpora::name(corpus)}</span>
            <span class="card-about">{about(corpus)}</span>
            <span class="card-preview" aria-hidden="true">{preview}</span>
        </label>
    }
}

/// What there is to learn in a built-in text.
fn about(corpus: Corpus) -> &'static str {
    match corpus {
        Corpus::Tales => "Short stories of the same few friends: spelling first, then words.",
        Corpus::Names => "Made-up names, one per line: learned in seconds.",
        Corpus::Brackets => "Nesting, copying and counting: rules that attention can solve.",
        Corpus::Own => "",
    }
}

#[component]
fn OwnText(intake: Intake) -> impl IntoView {
    let area = NodeRef::<html::Textarea>::new();
    let open = NodeRef::<html::Input>::new();
    let use_text = move |_| {
        if let Some(area) = area.get_untracked() {
            intake.take_area(&area);
        }
    };
    let typed = move |_| {
        let refusal = area.get_untracked().and_then(|area| too_long(&area));
        intake.refusal.set(refusal.map(|error| error.to_string()));
    };
    let opened = move |_| {
        if let Some(input) = open.get_untracked() {
            intake.take_files(input.files());
            // The same file may be chosen again after it was changed.
            input.set_value("");
        }
    };
    view! {
        <div class="own-text">
            <label for="text-paste">"Paste your own"</label>
            <textarea id="text-paste" data-testid="text-paste" node_ref=area rows="3"
                autocomplete="off" spellcheck="false" on:input=typed>
            </textarea>
            <div class="button-row">
                <button type="button" class="button" data-testid="text-use" on:click=use_text>
                    "Use this text"
                </button>
                <label class="button button-file">
                    "Open a file …"
                    <input type="file" class="visually-hidden" data-testid="text-open"
                        node_ref=open on:change=opened/>
                </label>
                <span class="hint">"or drop one anywhere on the page"</span>
            </div>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted() {
        assert_eq!(characters(""), (0, 0));
        assert_eq!(characters("naïve 🙂🙂\u{10ffff}"), (9, 8));
    }
}
