//! The learner's own sentence, which travels from chapter to chapter.

use leptos::prelude::*;

use super::use_lab;
use crate::{
    controls::{TokenField, unknown_sentence},
    corpora,
    figures::Editor,
    reactive::{effect, memo},
    store::{Source, Store},
};

/// Longest sentence, in UTF-16 units: chapters draw every character.
const LONGEST: u32 = 400;

/// For a chapter whose models read few characters: a sentence that the learner did not touch is one that
/// fits as long as the chapter is on show.
pub fn use_short_sentence() {
    let short = |source: &Source| corpora::short_probe_for(source.corpus, &source.text);
    use_other_sentence(Signal::stored(true), short);
}

/// While `when`, a sentence that the learner did not touch is `other`.
pub fn use_other_sentence(
    when: Signal<bool>,
    other: impl Fn(&Source) -> String + Copy + Send + Sync + 'static,
) {
    let store = expect_context::<Store>();
    let both =
        move |source: &Source| [corpora::probe_for(source.corpus, &source.text), other(source)];
    let exchange = move |is_other: bool, [usual, other]: [String; 2]| {
        let (from, to) = if is_other { (usual, other) } else { (other, usual) };
        if from != to && store.probe.with_untracked(|probe| *probe == from) {
            store.set_probe(to);
        }
    };
    // At once, so that the first question is about it, and whenever another text is chosen.
    exchange(untrack(|| when.get()), store.source.with_untracked(both));
    effect(move || {
        store.probe.track();
        exchange(when.get(), store.source.with(both));
    });
    on_cleanup(move || exchange(false, store.source.with_untracked(both)));
}

/// A field for the sentence that acts as one types, says which characters the model has never met,
/// and why there is no picture of it where there is none.
#[component]
pub fn Sentence(
    /// What it is for, e.g. `Sentence to unroll`.
    #[prop(default = "Your sentence")]
    label: &'static str,
    #[prop(into)] problem: Signal<Option<String>>,
) -> impl IntoView {
    view! { <TokenField editor=use_sentence(label, problem) ends=false/> }.into_any()
}

/// The sentence for a figure that is written in itself.
pub fn use_sentence(label: &'static str, problem: Signal<Option<String>>) -> Editor {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let cut = RwSignal::new(false);
    let on_input = move |text: String| {
        cut.set(text.encode_utf16().count() > LONGEST as usize);
        store.set_probe(text.chars().take(LONGEST as usize).collect());
    };
    let note = memo(move || {
        let unknown = lab.started.with(|started| {
            let vocabulary = &started.as_ref()?.vocabulary;
            if vocabulary.is_empty() {
                return None;
            }
            let knows = |c: &str| vocabulary.iter().skip(1).any(|token| token == c);
            store.probe.with(|probe| unknown_sentence(probe.chars(), knows))
        });
        let cut = cut.get().then(|| format!("Cut to its first {LONGEST} characters."));
        [cut, unknown].into_iter().flatten().collect::<Vec<_>>().join(" ")
    });
    Editor {
        label,
        value: store.probe.into(),
        on_input: Callback::new(on_input),
        note: note.into(),
        problem,
        tokens: Signal::stored(None),
    }
}
