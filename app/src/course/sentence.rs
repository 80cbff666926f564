//! The learner's own sentence, which travels from chapter to chapter.

use leptos::{html, prelude::*};

use super::use_lab;
use crate::{controls::unknown_sentence, store::Store};

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
    let on_input = move |_| {
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
    view! {
        <div class="probe">
            <label for="probe-input">{label}</label>
            <div class="probe-grow" data-text=move || store.probe.get()>
                <textarea id="probe-input" data-testid="probe-input" node_ref=field rows="1"
                    autocomplete="off" autocapitalize="off" spellcheck="false"
                    aria-describedby="probe-note probe-problem"
                    aria-invalid=move || problem.with(Option::is_some).then_some("true")
                    prop:value=move || store.probe.get() on:input=on_input>
                </textarea>
            </div>
            <p class="hint probe-note" id="probe-note" role="status" data-testid="probe-note">{note}</p>
            <p class="field-error" id="probe-problem" role="alert" data-testid="probe-problem">
                {move || problem.get()}
            </p>
        </div>
    }
    .into_any()
}
