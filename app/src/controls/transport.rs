//! Train, pause, step, and how far it has come.

use core::time::Duration;

use leptos::prelude::*;
use unroll_protocol::RunState;

use super::{
    format::{four_digits, grouped},
    timer::use_timer,
};
use crate::store::{Device, Store};

/// How long a press is shown as done before the engine has confirmed it. An engine that is silent
/// for longer has not done it.
const BENEFIT_OF_DOUBT: Duration = Duration::from_secs(2);

/// The bar with Train / Pause, Step, and the numbers of the run. On narrow screens it stays at the
/// foot of the window, under the thumb.
#[component]
pub fn Transport() -> impl IntoView {
    let store = expect_context::<Store>();
    let (state, want) = use_optimistic_state(store);
    let missing = Memo::new(move |_| why_idle(store));
    let running = move || state.get() == RunState::Running;

    let toggle = move |_| {
        if missing.get_untracked().is_some() {
            return;
        }
        if state.get_untracked() == RunState::Running {
            want(RunState::Paused);
            store.pause();
        } else {
            want(RunState::Running);
            store.run();
        }
    };
    let step = move |_| {
        if missing.get_untracked().is_none() {
            want(RunState::Paused);
            store.take_step();
        }
    };

    // What the engine said, where the label already shows what was asked for.
    let told = move || match store.state.get() {
        RunState::Running => "running",
        RunState::Paused => "paused",
    };
    // `aria-disabled`, not `disabled`: the focus stays when an engine is replaced.
    let idle = move || missing.get().is_some().then_some("true");
    view! {
        <section class="transport" class:transport-embedded=store.link.with_untracked(|l| l.embed)
            aria-label="Training">
            <div class="transport-bar">
                <div class="transport-buttons">
                    <button type="button" class="button button-primary" data-testid="train-toggle"
                        data-state=told aria-disabled=idle title=move || missing.get()
                        on:click=toggle>
                        <span class="button-icon" aria-hidden="true">
                            {move || if running() { "\u{275A}\u{275A}" } else { "\u{25B6}\u{FE0E}" }}
                        </span>
                        {move || if running() { "Pause" } else { "Train" }}
                    </button>
                    <button type="button" class="button" data-testid="train-step"
                        aria-disabled=idle title=move || missing.get() on:click=step>
                        "Step"
                    </button>
                </div>
                <Readouts/>
            </div>
        </section>
    }
}

#[component]
fn Readouts() -> impl IntoView {
    let store = expect_context::<Store>();
    let loss =
        Memo::new(move |_| store.curve.with(|curve| curve.points().last().map(|point| point.loss)));
    let speed = move |digits: fn(crate::store::Speed) -> String| {
        move || store.speed.get().map_or_else(none_yet, digits)
    };
    view! {
        <dl class="readouts">
            <div>
                <dt>"Steps"</dt>
                <dd data-testid="loss-step">{move || grouped(store.step.get().into())}</dd>
            </div>
            <div>
                <dt>"Loss"</dt>
                <dd>
                    <span class="readout-loss" data-testid="loss-value">
                        {move || loss.get().map_or_else(none_yet, four_digits)}
                    </span>
                    " "
                    <span class="readout-note">
                        {move || store.knows_nothing().map(|nothing| {
                            format!("of ln V = {nothing:.2}")
                        })}
                    </span>
                </dd>
            </div>
            <div>
                <dt>"Tokens/s"</dt>
                <dd data-testid="speed-value">
                    {speed(|s| grouped(s.tokens_per_second.max(0.0).round() as u64))}
                </dd>
            </div>
            <div>
                <dt>"ms/step"</dt>
                <dd data-testid="step-time">{speed(|s| four_digits(s.milliseconds_per_step))}</dd>
            </div>
        </dl>
    }
}

fn none_yet() -> String {
    "–".to_owned()
}

/// Why nothing can be trained now, or `None` when it can.
fn why_idle(store: Store) -> Option<String> {
    match store.device.get() {
        Device::Loading => Some("The engine is still loading.".to_owned()),
        Device::Unavailable(reason) => Some(reason),
        Device::Ready { .. } => store
            .started
            .with(Option::is_none)
            .then(|| "The model is still being built.".to_owned()),
    }
}

/// The state as the learner last asked for it, until the engine says otherwise; and how to ask. A
/// press is answered at once, even while the engine is in the middle of a long step.
fn use_optimistic_state(store: Store) -> (Signal<RunState>, impl Fn(RunState) + Copy) {
    let wanted = RwSignal::new(None::<RunState>);
    let doubt = use_timer();
    // Only a change is an answer: a Pause so soon after Train that the engine has not even said that
    // it trains would be taken for done, and the next press for its opposite.
    Effect::new(move |before: Option<RunState>| {
        let now = store.state.get();
        if before.is_some_and(|before| before != now) && wanted.get_untracked() == Some(now) {
            doubt.stop();
            wanted.set(None);
        }
        now
    });
    let state = Signal::derive(move || wanted.get().unwrap_or_else(|| store.state.get()));
    let want = move |state| {
        wanted.set(Some(state));
        doubt.start(BENEFIT_OF_DOUBT, move || wanted.set(None));
    };
    (state, want)
}
