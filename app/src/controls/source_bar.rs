//! The source that a model reads, above its picture.

use leptos::prelude::*;

use crate::figures::own;

/// Longest text kept of what is typed; fewer characters are read.
const LONGEST: usize = 200;

/// A source, and where it is changed.
#[derive(Clone, Copy)]
pub struct Source {
    /// Test ids begin with it: the chapter's name.
    pub name: &'static str,
    /// What is read: a held-out source, or what the learner types.
    pub value: Signal<String>,
    pub on_input: Callback<String>,
    /// Called for another of those that are held out.
    pub on_another: Callback<()>,
    /// What is to be said of it.
    pub note: Signal<Option<String>>,
    /// Why it has no picture.
    pub problem: Signal<Option<String>>,
}

/// The bar with the source, what else stands in it, and below what is to be said of the source.
#[component]
pub fn SourceBar(source: Source, children: Children) -> impl IntoView {
    let Source { name, value, on_input, on_another, note, problem } = source;
    let testid = |of: &str| [name, "-", of].concat();
    let typed = move |event| {
        on_input.run(event_target_value(&event).chars().take(LONGEST).collect());
    };
    view! {
        <div class=format!("view-bar source-bar {name}-bar")>
            <label class="source-field">
                <span class="hint">"Source"</span>
                <input type="text" data-testid=testid("source")
                    autocomplete="off" autocapitalize="off" spellcheck="false"
                    aria-describedby=format!("{} {}", own(name, "note"), own(name, "problem"))
                    aria-invalid=move || problem.with(Option::is_some).then_some("true")
                    prop:value=value on:input=typed/>
            </label>
            <button type="button" class="button" data-testid=testid("another")
                on:click=move |_| on_another.run(())>
                "Another"
            </button>
            {children()}
        </div>
        <p class="view-note source-note" id=own(name, "note") role="status" data-testid=testid("note")>{note}</p>
        <p class="field-error" id=own(name, "problem") role="alert" data-testid=testid("problem")>{problem}</p>
    }
    .into_any()
}
