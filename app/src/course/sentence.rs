//! The learner's own sentence, which travels from chapter to chapter.

use leptos::{html, prelude::*};

use super::use_lab;
use crate::{
    controls::{TokenField, unknown_sentence},
    store::Store,
};

/// Longest sentence, in UTF-16 units: chapters draw every character.
const LONGEST: u32 = 400;

/// A field for the sentence that acts as one types, says which characters the model has never met,
/// and why there is no picture of it where there is none.
#[component]
pub fn Sentence(
    /// What it is for, e.g. `Sentence to unroll`.
    #[prop(default = "Your sentence")]
    label: &'static str,
    #[prop(into)] problem: Signal<Option<String>>,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let field = NodeRef::<html::Textarea>::new();
    let cut = RwSignal::new(false);
    let on_input = move |()| {
        let Some(field) = field.get_untracked() else { return };
        let text = field.value();
        cut.set(field.text_length() > LONGEST);
        store.set_probe(text.chars().take(LONGEST as usize).collect());
    };
    let note = Memo::new(move |_| {
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
    view! { <TokenField label value=store.probe field on_input=Callback::new(on_input) note problem/> }
        .into_any()
}
