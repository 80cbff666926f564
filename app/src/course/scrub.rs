//! The way back in time: the head of the time bar, dragged to any moment that was recorded, or moving
//! by itself as the run is played.

use leptos::{ev, html, prelude::*};
use unroll_protocol::{Recorded, RunState};

use super::{
    Run,
    play::{LENGTHS, Player, State},
    time_bar::place,
};
use crate::{
    controls::{counted, grouped},
    figures::{drag::dragging, reading::is_shortcut, writers::set_films},
    questions::Questions,
    reactive::{effect, memo},
    store::Store,
};

/// The recorded moment, or else the present, that is nearest to this share of the track.
fn nearest(recorded: &[u32], last: u32, share: f64) -> Option<u32> {
    let away = |step: u32| (place(step.into(), last.into()) - share).abs();
    let past = recorded.iter().copied().filter(|step| *step < last);
    past.min_by(|a, b| away(*a).total_cmp(&away(*b))).filter(|step| away(*step) < away(last))
}

/// Where a key leads from a moment, or from the present; `None` if it leads nowhere.
fn stepped(key: &str, recorded: &[u32], last: u32, at: Option<u32>) -> Option<Option<u32>> {
    let past = &recorded[..recorded.partition_point(|step| *step < last)];
    let now = at.map_or(past.len(), |at| past.partition_point(|step| *step < at));
    let next = match key {
        "ArrowLeft" | "ArrowDown" => now.saturating_sub(1),
        "ArrowRight" | "ArrowUp" => now + 1,
        "Home" => 0,
        "End" => past.len(),
        _ => return None,
    };
    Some(past.get(next).copied())
}

/// What is kept of a run, in words, and how many megabytes there are for it.
fn kept(recorded: &Recorded, budget: u32) -> String {
    if recorded.steps.is_empty() {
        return "No moments recorded yet".to_owned();
    }
    let megabytes = recorded.bytes as f64 / 1e6;
    let count = counted(recorded.steps.len() as u64, "moment");
    format!("{count} recorded, {megabytes:.1} MB (limit {budget} MB)")
}

/// The slider over the track of the run in the context, and the button that leads back to the present.
pub fn scrub() -> AnyView {
    let (run, store) = (expect_context::<Run>(), expect_context::<Store>());
    let Questions { at, goal, recorded, .. } = run.questions;
    let root = NodeRef::<html::Div>::new();
    // Nothing but the present can be looked at.
    let fixed = memo(move || {
        let last = run.step.get();
        recorded.with(|recorded| recorded.steps.first().is_none_or(|first| *first >= last))
    });
    let player = use_player(run);
    let is_past = memo(move || at.get().is_some());
    let is_led = memo(move || run.is_running() && goal.get() > run.step.get());
    let steps = move || recorded.with_untracked(|recorded| recorded.clone());
    let seek = move |event: &ev::PointerEvent| {
        let Some(slider) = root.get_untracked().filter(|_| !fixed.get_untracked()) else { return };
        let room = slider.get_bounding_client_rect();
        let share = (f64::from(event.client_x()) - room.left()) / room.width();
        run.questions.look_at(nearest(&steps().steps, run.step.get_untracked(), share));
    };
    let take = move |event: &ev::PointerEvent| {
        player.stop();
        seek(event);
        Some(())
    };
    let drag = move |event: &ev::PointerEvent, ()| seek(event);
    let key = move |event: ev::KeyboardEvent| {
        if is_shortcut(&event) || event.key() == "Tab" {
            return;
        }
        player.stop();
        if event.key() == " " {
            event.prevent_default();
            if !event.repeat() {
                run.toggle();
            }
        } else if !fixed.get_untracked()
            && let Some(to) =
                stepped(&event.key(), &steps().steps, run.step.get_untracked(), at.get_untracked())
        {
            // The story turns its pages otherwise.
            event.prevent_default();
            run.questions.look_at(to);
        }
    };
    let head = move || {
        let last = run.step.get();
        let share = at.get().map_or(1.0, |at| place(at.into(), last.into()));
        format!("left:{:.2}%", 100.0 * share)
    };
    // Screen readers say it anew whenever it changes: not at every step of training.
    let value = memo(move || {
        let total = (run.told.get() == RunState::Paused).then(|| run.step.get());
        match (at.get(), total) {
            (Some(step), Some(total)) => format!("step {step} of {total}"),
            (Some(step), None) => format!("step {step}"),
            (None, Some(total)) => format!("live, step {total}"),
            (None, None) => "live".to_owned(),
        }
    });
    view! {
        <div {..dragging(RwSignal::new(None), take, drag)} class="time-slider" class:time-fixed=fixed
            data-testid="time-track" node_ref=root role="slider" tabindex="0"
            aria-label="Moment of training shown" aria-valuemin="0" aria-valuemax=move || run.step.get()
            aria-valuenow=move || run.questions.shown() aria-valuetext=value
            aria-disabled=move || fixed.get().then_some("true") title=move || kept(&recorded.get(), store.moments.get())
            on:keydown=key>
            <span class="time-after" style=head></span>
            <span class="time-head" style=head></span>
        </div>
        {move || is_led.get().then(|| {
            let to = grouped(goal.get().into());
            let (class, said) = match store.link.with_untracked(|link| link.step) {
                // The count beside the curve shows it.
                0 => ("visually-hidden", format!("Taking the first {to} steps for you…")),
                _ => ("time-goal", format!("Training to step {to}, as the link asks.")),
            };
            view! { <p class=class role="status" data-testid="time-goal">{said}</p> }
        })}
        <div class="time-replay" hidden=fixed>
            <button type="button" class="time-small" data-testid="time-replay" data-state=move || player.name()
                title=move || player.does() aria-label=move || player.does() on:click=move |_| player.toggle()>
                {move || if player.is_on() { "Stop" } else { "Replay" }}
            </button>
            {move || if is_past.get() {
                let back = move |_| {
                    player.stop();
                    run.questions.look_at(None);
                    // The button goes with the past.
                    if let Some(slider) = root.get_untracked() {
                        let _ = slider.focus();
                    }
                };
                view! {
                    <button type="button" class="time-small" data-testid="time-live" title="Back to the present (End)"
                        on:click=back>
                        "Live"
                    </button>
                }
                .into_any()
            } else {
                view! { <Length player/> }.into_any()
            }}
        </div>
        {move || {
            let State::Films(done, of) = player.state.get() else { return None };
            Some(view! {
                <p class="time-said" role="progressbar" aria-label="The film of the run" aria-valuemin="0"
                    aria-valuemax=of aria-valuenow=done data-testid="film-progress">
                    "Film: picture "{done + 1}" of "{of}
                </p>
            })
        }}
        <p class="time-said" role="status" data-testid="film-said">{player.said}</p>
    }
    .into_any()
}

/// Plays the run, and films figures for their menus.
fn use_player(run: Run) -> Player {
    let player = Player::new(run);
    let escape = window_event_listener(ev::keydown, move |event| {
        if event.key() == "Escape" && !event.default_prevented() {
            player.stop();
        }
    });
    on_cleanup(move || escape.remove());
    // Who trains or pauses has seen enough. A film goes on: it does not show what is new.
    effect(move || {
        if run.wanted.get().is_some() && player.state.get_untracked() == State::Plays {
            player.stop();
        }
    });
    set_films(Callback::new(move |picture| player.film(picture)));
    player
}

/// How long the run takes to be played.
#[component]
fn Length(player: Player) -> impl IntoView {
    let choose = move |event| player.choose(event_target_value(&event).parse().unwrap_or(10));
    view! {
        <select class="time-small" aria-label="Length of the replay" title="Length of the replay and of films"
            data-testid="time-length" on:change=choose>
            {LENGTHS.map(|length| view! {
                <option value=length selected=move || player.length.get() == length>"in "{length}" s"</option>
            }).collect_view()}
        </select>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_says_how_much_is_kept_and_how_much_may_be() {
        assert_eq!(kept(&Recorded::default(), 64), "No moments recorded yet");
        let recorded = Recorded { steps: vec![0], bytes: 420_000 };
        assert_eq!(kept(&recorded, 64), "1 moment recorded, 0.4 MB (limit 64 MB)");
        let recorded = Recorded { steps: (0..31).collect(), bytes: 13_020_000 };
        assert_eq!(kept(&recorded, 16), "31 moments recorded, 13.0 MB (limit 16 MB)");
    }

    #[test]
    fn a_drag_and_keys_lead_to_recorded_moments_and_back_to_the_present() {
        let recorded = [0, 1, 4, 9, 20];
        assert_eq!(nearest(&recorded, 20, 0.0), Some(0));
        assert_eq!(nearest(&recorded, 20, place(3.0, 20.0)), Some(4));
        assert_eq!([1.0, 2.0].map(|share| nearest(&recorded, 20, share)), [None, None]);
        assert_eq!(nearest(&recorded, 30, 0.99), None, "trained on since");
        let from = |at, key| stepped(key, &recorded, 20, at);
        assert_eq!(from(None, "ArrowLeft"), Some(Some(9)));
        assert_eq!(from(Some(9), "ArrowRight"), Some(None));
        assert_eq!(from(Some(4), "ArrowUp"), Some(Some(9)));
        assert_eq!(
            (from(Some(0), "ArrowLeft"), from(None, "Home")),
            (Some(Some(0)), Some(Some(0)))
        );
        assert_eq!((from(Some(1), "End"), from(None, "PageDown")), (Some(None), None));
    }
}
