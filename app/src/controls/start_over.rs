//! From changed settings to a new model, and back.

use leptos::prelude::*;

use super::format::grouped;
use crate::{reactive::memo, store::Store};

/// The bar below the settings: starts over, takes changes back, brings the former model back.
#[component]
pub fn StartOver(
    /// Why the form describes no model that can be built.
    problem: Signal<Option<String>>,
    /// Notified when unreadable input should go, too.
    reset: Trigger,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let changed = memo(move || store.needs_start_over());
    let trained = memo(move || store.step.get() > 0);
    // Untrained models follow the form by themselves, unless it describes none.
    let offered = move || changed.get() && (trained.get() || problem.get().is_some());
    let sentence = move || {
        if !offered() {
            return None;
        }
        Some(if problem.get().is_some() {
            "These settings don’t make a valid model. The one shown is unchanged.".to_owned()
        } else if let Some(file) = store.kept_apart() {
            format!("These settings make a new model. The trained one is kept in {file}.")
        } else {
            format!(
                "These settings make a new model. The trained one (step {}) can be brought back.",
                grouped(store.step.get().into())
            )
        })
    };
    view! {
        <div class="start-over" class:start-over-offered=offered>
            <p role="status" data-testid="settings-status">{sentence}</p>
            <div class="button-row">
                <button type="button" class="button" data-testid="start-over"
                    class:button-primary=offered
                    aria-disabled=move || problem.get().is_some().then_some("true")
                    title=move || problem.get()
                    on:click=move |_| if problem.get_untracked().is_none() { store.start_over() }>
                    {move || if offered() { "Start over with them" } else { "Start over" }}
                </button>
                {move || offered().then(|| view! {
                    <button type="button" class="button" data-testid="undo-settings"
                        on:click=move |_| { store.undo_settings(); reset.notify(); }>
                        "Undo"
                    </button>
                })}
                {bring_back(store, "bring-back")}
            </div>
        </div>
    }
}

/// The way back to the model that the last one replaced, if it was trained.
pub fn bring_back(store: Store, testid: &'static str) -> AnyView {
    let button = move |step: u32| {
        view! {
            <button type="button" class="button" data-testid=testid
                on:click=move |_| store.bring_back()>
                {format!("Bring back the model of step {}", grouped(step.into()))}
            </button>
        }
    };
    (move || store.can_bring_back.get().map(button)).into_any()
}
