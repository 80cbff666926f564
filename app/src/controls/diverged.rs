//! What to do when the numbers ran away.

use leptos::prelude::*;
use unroll_protocol::OptimizerSpec;

use super::format::{four_digits, grouped, rate};
use crate::{
    fetched::{Fetch, Fetched, View, part},
    store::Store,
};

/// An alert while [`Store::diverged`] holds something: what happened, and the ways out.
#[component]
pub fn DivergedAlert() -> impl IntoView {
    const ALERT: Fetch = part!(diverged: View = alert);
    let store = expect_context::<Store>();
    let notice = |notice| {
        view! { <div class="alert" role="alert">"Training stopped."{notice}</div> }.into_any()
    };
    move || {
        store
            .diverged
            .get()
            .map(|_| view! { <Fetched fetch=ALERT what="What to do now" around=notice/> })
    }
}

fn alert() -> AnyView {
    let store = expect_context::<Store>();
    let Some(diverged) = store.diverged.get_untracked() else { return ().into_any() };
    let used = store.built.with_untracked(|built| built.gpt.learning_rate);
    let happened = if diverged.loss.is_finite() {
        format!("the loss ran away to {}", four_digits(diverged.loss))
    } else {
        "the loss was no longer a number".to_owned()
    };
    let lower = tamer(used);
    let lowered = move || store.built.with(|built| built.gpt.learning_rate) <= lower;
    view! {
        <section class="alert" role="alert" data-testid="diverged">
            <h2>{format!("Training stopped at step {}", grouped(diverged.step.into()))}</h2>
            <p>
                {format!(
                    "At a learning rate of {}, {happened}. The steps were too large. The page did not take \
                     the last one, and it kept a model from before training broke down.",
                    rate(used)
                )}
            </p>
            <p>
                {move || if lowered() {
                    format!("The learning rate is now {}.", rate(store.built.with(|b| b.gpt.learning_rate)))
                } else {
                    "Lower the learning rate before you continue training, or it will happen again.".to_owned()
                }}
            </p>
            <div class="button-row">
                <button type="button" class="button button-primary" data-testid="restore-last-good"
                    on:click=move |_| store.restore_last_good()>
                    {format!("Go back to step {}", grouped(diverged.last_good.into()))}
                </button>
                <button type="button" class="button" data-testid="lower-learning-rate"
                    aria-disabled=move || lowered().then_some("true")
                    on:click=move |_| if !lowered() { store.set_learning_rate(lower) }>
                    {format!("Lower the rate to {}", rate(lower))}
                </button>
                <button type="button" class="button" data-testid="diverged-start-over"
                    on:click=move |_| store.start_over()>
                    "Start over"
                </button>
            </div>
        </section>
    }
    .into_any()
}

/// A learning rate that likely holds where `used` did not: the default, or else a tenth.
fn tamer(used: f32) -> f32 {
    let default = OptimizerSpec::default().learning_rate;
    if used > default { default } else { used / 10.0 }
}
