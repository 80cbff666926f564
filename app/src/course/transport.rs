//! Train, pause, step: the bar over a chapter's figure.

use leptos::prelude::*;
use unroll_protocol::RunState;

use super::Lab;
use crate::{
    controls::{four_digits, grouped},
    store::Device,
};

/// The bar with Train / Pause, Step, and the numbers of the run.
#[component]
pub fn LabTransport(lab: Lab) -> impl IntoView {
    let running = move || lab.state.get() == RunState::Running;
    let idle = Memo::new(move |_| match lab.device.get() {
        Device::Loading => Some("The engine is still loading.".to_owned()),
        Device::Unavailable(reason) => Some(reason),
        Device::Ready { .. } => {
            lab.started.with(Option::is_none).then(|| "The model is still being built.".to_owned())
        }
    });
    let toggle = move |_| {
        if idle.get_untracked().is_some() {
            return;
        }
        if lab.state.get_untracked() == RunState::Running { lab.pause() } else { lab.run() }
    };
    let step = move |_| {
        if idle.get_untracked().is_none() {
            lab.take_steps(1);
        }
    };
    let disabled = move || idle.get().is_some().then_some("true");
    // One reading of each of the first series: more would not fit above a figure. Their places are
    // made once a model, and only the digits change while it trains.
    let names = Memo::new(move |_| {
        lab.history.with(|history| {
            history.series().iter().take(3).map(|s| s.name.clone()).collect::<Vec<_>>()
        })
    });
    let loss = move |i: usize| {
        let last = lab.history.with(|history| history.series().get(i).and_then(|s| s.last()));
        last.map_or_else(|| "–".to_owned(), four_digits)
    };
    let losses = move || {
        let reading = |(i, name)| {
            view! {
                <div>
                    <dt>{name}</dt>
                    <dd data-testid=if i == 0 { "loss-value" } else { "" }>{move || loss(i)}</dd>
                </div>
            }
        };
        names.get().into_iter().enumerate().map(reading).collect_view()
    };
    view! {
        <section class="transport lab-transport" aria-label="Training">
            <div class="transport-bar">
                <div class="transport-buttons">
                    <button type="button" class="button button-primary" data-testid="train-toggle"
                        data-state=move || if running() { "running" } else { "paused" }
                        aria-disabled=disabled title=move || idle.get() on:click=toggle>
                        <span class="button-icon" aria-hidden="true">
                            {move || if running() { "\u{275A}\u{275A}" } else { "\u{25B6}\u{FE0E}" }}
                        </span>
                        {move || if running() { "Pause" } else { "Train" }}
                    </button>
                    <button type="button" class="button" data-testid="train-step"
                        aria-disabled=disabled title=move || idle.get() on:click=step>
                        "Step"
                    </button>
                </div>
                <dl class="readouts">
                    <div>
                        <dt>"Steps"</dt>
                        <dd data-testid="loss-step">{move || grouped(lab.step.get().into())}</dd>
                    </div>
                    {losses}
                    <div>
                        <dt>"ms/step"</dt>
                        <dd data-testid="step-time">
                            {move || lab.milliseconds_per_step.get()
                                .map_or_else(|| "–".to_owned(), four_digits)}
                        </dd>
                    </div>
                </dl>
            </div>
            <p class="hint lab-notes" data-testid="lab-notes">
                {move || lab.started.with(|started| started.as_ref().map(|s| s.notes.join(" ")))}
            </p>
            <p class="field-error" role="alert" data-testid="lab-problem">
                {move || lab.problem.get().map(|problem| {
                    let kept = lab.started.with(Option::is_some);
                    format!("{problem}{}", if kept { " The model before stays." } else { "" })
                })}
                {move || lab.diverged.get().map(|step| format!(
                    "Training stopped at step {step}: the numbers ran away, as they do where the \
                     learning rate is too high. Go back to the start, or undo the last change.",
                ))}
            </p>
        </section>
    }
    .into_any()
}
