//! The form in which the learner names a kept run.

use leptos::{ev, html, prelude::*};

use crate::{
    kept::labels,
    reactive::effect,
    store::{Severity, Store},
};

/// The name of a run, to be changed.
pub(super) fn renaming(store: Store, file: String, name: String, close: Callback<()>) -> AnyView {
    let input = NodeRef::<html::Input>::new();
    effect(move || {
        if let Some(input) = input.get() {
            let _ = input.focus();
            input.select();
        }
    });
    let save = move || {
        let Some(input) = input.get_untracked() else { return };
        if !labels::rename(&file, &input.value()) {
            store.notify(
                Severity::Refusal,
                "This browser could not save that name. The run itself is safe.",
            );
        }
        close.run(());
    };
    let saving = save.clone();
    let enter = move |event: ev::KeyboardEvent| {
        // Where characters are composed, Enter ends one of them.
        if event.key() == "Enter" && !event.is_composing() {
            event.prevent_default();
            saving();
        }
    };
    let escape = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            // The panel stays open.
            event.stop_propagation();
            close.run(());
        }
    };
    view! {
        <div class="kept-name" on:keydown=escape>
            <input type="text" aria-label="Run name" data-testid="kept-name" maxlength=labels::LONGEST.to_string()
                value=name node_ref=input on:keydown=enter/>
            <button type="button" class="button" on:click=move |_| save()>"Save"</button>
            <button type="button" class="button" on:click=move |_| close.run(())>"Cancel"</button>
        </div>
    }
    .into_any()
}
