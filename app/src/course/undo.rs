//! Undo of settings and sentences, and the way back to a chapter's start.

use core::time::Duration;

use leptos::{ev, prelude::*};
use unroll_protocol::{Link, link::Chapter};
use wasm_bindgen::JsCast;

use super::{Labs, print::is_printing, story::Beats};
use crate::{
    controls::{Timer, use_timer},
    corpora,
    fetched::{Fetch, View, part},
    figures::motion,
    reactive::effect,
    store::Store,
};

/// Changes closer together than this are undone together, as a slider's are.
const TOGETHER: Duration = Duration::from_millis(400);
const MOST: usize = 100;

/// What undo goes back to.
#[derive(Clone, PartialEq)]
struct Snapshot {
    link: Link,
    probe: String,
}

impl Snapshot {
    fn of(store: Store) -> Self {
        Self { link: store.link.get(), probe: store.probe.get() }
    }

    /// As far as the chapter and its text are concerned.
    fn same(&self, other: &Self) -> bool {
        let rest = self.link.clone().with_chapter_of(&other.link);
        (rest.seed, rest.corpus) == (other.link.seed, other.link.corpus)
            && rest == self.link
            && self.probe == other.probe
    }
}

/// The undo of the chapter on show.
#[derive(Clone, Copy)]
struct Undo {
    store: Store,
    stack: RwSignal<Vec<Snapshot>>,
    /// What the next change is a change of.
    base: StoredValue<Snapshot>,
    /// Runs while a further change belongs to the last one.
    together: Timer,
}

/// Fetched behind the first picture: until then there is nothing to undo.
pub const WAYS_BACK: Fetch = part!(undo: View = ways_back);

/// Undo, and back to the chapter's start.
fn ways_back() -> AnyView {
    let (store, labs) = (expect_context::<Store>(), expect_context::<Labs>());
    let beats = expect_context::<Beats>();
    let chapter = store.link.with_untracked(|link| link.chapter);
    let undo = use_undo(store);
    motion::be_ready();
    view! {
        <button type="button" class="stage-icon" data-testid="undo" title="Undo (Ctrl+Z)"
            aria-disabled=move || (!undo.is_possible()).then_some("true")
            on:click=move |_| undo.undo()>
            <svg viewBox="0 0 18 18" aria-hidden="true"><path d="M6 3 2.5 6.5 6 10M3 6.5h7.5a4.5 4.5 0 0 1 0 9H7"/></svg><span class="visually-hidden">"Undo"</span>
        </button>
        <button type="button" class="stage-icon" data-testid="back-to-start" title="Back to the start"
            on:click=move |_| {
                undo.back_to_start(&labs, chapter);
                beats.begin_anew();
            }>
            <svg viewBox="0 0 18 18" aria-hidden="true"><path d="M3 3v4h4M3.3 7A6.5 6.5 0 1 1 2.6 10"/></svg><span class="visually-hidden">"Back to the start"</span>
        </button>
    }
    .into_any()
}

/// Watches the chapter's settings while it is on show.
fn use_undo(store: Store) -> Undo {
    let undo = Undo {
        store,
        stack: RwSignal::new(Vec::new()),
        base: StoredValue::new(untrack(|| Snapshot::of(store))),
        together: use_timer(),
    };
    effect(move || {
        let now = Snapshot::of(store);
        let Some(before) = undo.base.try_get_value().filter(|_| !is_printing()) else { return };
        if before.link.chapter != now.link.chapter || before.same(&now) {
            return;
        }
        undo.base.set_value(now);
        if !undo.together.is_running() {
            undo.stack.update(|stack| {
                stack.push(before);
                let excess = stack.len().saturating_sub(MOST);
                stack.drain(..excess);
            });
        }
        undo.together.start(TOGETHER, || {});
    });
    let listener = window_event_listener(ev::keydown, move |event| {
        let letter = (event.ctrl_key() || event.meta_key()) && !event.shift_key();
        if letter && event.key() == "z" && !is_text_field(&event) && undo.is_possible_untracked() {
            event.prevent_default();
            undo.undo();
        }
    });
    on_cleanup(move || listener.remove());
    undo
}

impl Undo {
    fn is_possible(self) -> bool {
        self.stack.with(|stack| !stack.is_empty())
    }

    fn is_possible_untracked(self) -> bool {
        untrack(|| self.is_possible())
    }

    /// Takes the last change back.
    fn undo(self) {
        let Some(snapshot) = self.stack.try_update(Vec::pop).flatten() else { return };
        let before = self.store.link.with_untracked(|link| link.corpus);
        let (seed, text) = (snapshot.link.seed, snapshot.link.corpus);
        let corpus = if text != before && self.store.back_to_text(text) { text } else { before };
        self.store.link.update(|link| {
            *link = Link { seed, corpus, ..link.clone().with_chapter_of(&snapshot.link) };
        });
        if self.store.probe.get_untracked() != snapshot.probe {
            self.store.set_probe(snapshot.probe);
        }
        // What undo itself changes is no new change, nor part of the next.
        self.base.set_value(untrack(|| Snapshot::of(self.store)));
        self.together.stop();
    }

    /// The chapter as a newcomer finds it; its models are built anew. Can be undone but for the
    /// training.
    fn back_to_start(self, labs: &Labs, chapter: Chapter) {
        let usual = Link { chapter, ..Link::default() };
        self.store.link.update(|link| {
            let link_now = link.clone().with_chapter_of(&usual);
            let (view, twin) = (String::new(), String::new());
            *link = Link { seed: usual.seed, idea: 0, view, twin, ..link_now };
        });
        let probe = self.store.source.with_untracked(|s| corpora::probe_for(s.corpus, &s.text));
        self.store.set_probe(probe);
        if let Some(lab) = labs.of(chapter) {
            lab.start_over();
        }
    }
}

/// Whether a key is meant for a text of several lines, which has its own page keys.
pub fn has_pages(event: &web_sys::KeyboardEvent) -> bool {
    let target = event.target();
    let area = target.as_ref().and_then(|target| target.dyn_ref::<web_sys::HtmlTextAreaElement>());
    // The sentence is one line that does not wrap.
    area.is_some_and(|area| area.wrap() != "off")
}

/// Whether a key is meant for a field that has its own undo.
pub fn is_text_field(event: &web_sys::KeyboardEvent) -> bool {
    let Some(target) = event.target() else { return false };
    if target.dyn_ref::<web_sys::HtmlTextAreaElement>().is_some() {
        return true;
    }
    let input = target.dyn_ref::<web_sys::HtmlInputElement>();
    input.is_some_and(|input| matches!(input.type_().as_str(), "text" | "search" | "number"))
}
