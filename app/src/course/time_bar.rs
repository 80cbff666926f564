//! The bar at the foot of the stage: Train or Pause, one step, how far the run is, and its curve.

use std::fmt::Write;

use leptos::{ev, html, prelude::*};
use unroll_protocol::{Recorded, RunState};
use wasm_bindgen::JsCast;

use super::{Run, run::Series, undo::is_text_field};
use crate::{
    controls::{four_digits, grouped},
    figures::{use_frame, use_visible},
    questions::Questions,
    reactive::memo,
};

/// The track's own units; it is stretched to its room.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// The time bar of a run. Space trains or pauses while no control has the focus.
#[component]
pub fn TimeBar(run: Run) -> impl IntoView {
    let listener = window_event_listener(ev::keydown, move |event| {
        let plain = !(event.ctrl_key() || event.meta_key() || event.alt_key() || event.repeat());
        if event.key() == " "
            && plain
            && !event.default_prevented()
            && !is_meant_for_control(&event)
        {
            event.prevent_default();
            run.toggle();
        }
    });
    on_cleanup(move || listener.remove());
    let told = move || match run.told.get() {
        RunState::Running => "running",
        RunState::Paused => "paused",
    };
    // `aria-disabled`, not `disabled`: the focus stays when an engine is replaced.
    let disabled = move || run.idle.get().is_some().then_some("true");
    let label = move || if run.is_running() { "Pause" } else { "Train" };
    // Only the digits change while it trains.
    let names = memo(move || {
        run.readings.with(|all| all.iter().take(2).map(|r| r.0.clone()).collect::<Vec<_>>())
    });
    let reading = move |i: usize, name: String| {
        let value = move || {
            let last = run.readings.with(|all| all.get(i).and_then(|reading| reading.1));
            last.map_or_else(|| "–".to_owned(), four_digits)
        };
        view! {
            <span class="time-reading" class:time-reading-more={i > 0}>
                {name}" "
                <span data-testid=if i == 0 { "loss-value" } else { "" }>{value}</span>
            </span>
        }
    };
    let at = move || run.questions.at.get();
    let pace = move || match run.milliseconds_per_step.get() {
        None => "–".to_owned(),
        Some(ms) if ms < 100.0 => format!("{ms:.1}"),
        Some(ms) => format!("{ms:.0}"),
    };
    view! {
        <section class="time-bar" class:time-past=move || at().is_some() aria-label="Training" data-testid="time-bar">
            <button type="button" class="time-play" data-testid="train-toggle" data-state=told
                aria-disabled=disabled
                title=move || run.idle.get().unwrap_or_else(|| format!("{} (Space)", label()))
                on:click=move |_| run.toggle()>
                <svg viewBox="0 0 16 16" aria-hidden="true">
                    {move || if run.is_running() {
                        view! { <path d="M3 2h4v12H3zM9 2h4v12H9z"/> }
                    } else {
                        view! { <path d="M4 1.5v13l10-6.5z"/> }
                    }}
                </svg>
                <span class="visually-hidden">{label}</span>
            </button>
            <button type="button" class="time-step" data-testid="train-step" aria-disabled=disabled
                aria-label="+1: take one step" title=move || run.idle.get().unwrap_or_else(|| "Take one step".into())
                on:click=move |_| run.take_step()>
                "+1"
            </button>
            <div class="time-numbers" translate="no">
                <p class="time-steps">
                    {move || at().map(|step| view! {
                        "step "<span class="time-shown" data-testid="time-shown">{grouped(step.into())}</span>" of "
                    })}
                    <strong data-testid="loss-step">{move || grouped(run.step.get().into())}</strong>
                    {move || match (at(), run.step.get()) {
                        (Some(_), _) => "",
                        (None, 1) => " step",
                        (None, _) => " steps",
                    }}
                </p>
                <p class="time-readings">
                    {move || names.get().into_iter().enumerate().map(|(i, name)| reading(i, name)).collect_view()}
                    <span class="time-reading time-pace"><span data-testid="step-time">{pace}</span>" ms"</span>
                </p>
            </div>
            <Track run/>
            {move || at().is_some().then(|| view! {
                <button type="button" class="time-live" data-testid="time-live" title="Back to the present (End)"
                    on:click=move |_| run.questions.look_at(None)>
                    "Live"
                </button>
            })}
        </section>
    }
    .into_any()
}

/// Whether a key is for something that has the focus: a control, a figure, a field.
fn is_meant_for_control(event: &web_sys::KeyboardEvent) -> bool {
    let Some(target) = event.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok()) else {
        return false;
    };
    const CONTROLS: &str = "a, button, summary, input, select, textarea, [tabindex='0'], dialog";
    is_text_field(event) || target.closest(CONTROLS).ok().flatten().is_some()
}

/// Where a step lies on the track, as a share of it: the first steps change most, so the scale is
/// logarithmic.
fn place(step: f64, last: f64) -> f64 {
    (1.0 + step).ln() / (1.0 + last.max(1.0)).ln()
}

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
        "PageDown" => now.saturating_sub(10),
        "PageUp" => now + 10,
        "Home" => 0,
        "End" => past.len(),
        _ => return None,
    };
    Some(past.get(next).copied())
}

/// The curves of a run as the track of a film, from the first step to the last. Its head is dragged
/// to a moment that was recorded.
#[component]
fn Track(run: Run) -> impl IntoView {
    let Questions { at, recorded, .. } = run.questions;
    let root = NodeRef::<html::Div>::new();
    let shown = use_frame(run.track, use_visible(root));
    let curves = memo(move || shown.with(|series| paths(series)));
    let empty = memo(move || run.step.get() == 0);
    // Nothing but the present can be looked at.
    let fixed = memo(move || {
        let last = run.step.get();
        recorded.with(|recorded| recorded.steps.first().is_none_or(|first| *first >= last))
    });
    let steps = move || recorded.with_untracked(|recorded| recorded.clone());
    let seek = move |event: &ev::PointerEvent| {
        let Some(track) = root.get_untracked().filter(|_| !fixed.get_untracked()) else { return };
        let room = track.get_bounding_client_rect();
        let share = (f64::from(event.client_x()) - room.left()) / room.width();
        run.questions.look_at(nearest(&steps().steps, run.step.get_untracked(), share));
    };
    let press = move |event: ev::PointerEvent| {
        if let Some(track) = root.get_untracked().filter(|_| event.button() == 0) {
            // A pointer that is gone already can't be followed.
            let _ = track.set_pointer_capture(event.pointer_id());
            seek(&event);
        }
    };
    let drag = move |event: ev::PointerEvent| {
        if root.get_untracked().is_some_and(|t| t.has_pointer_capture(event.pointer_id())) {
            seek(&event);
        }
    };
    let key = move |event: ev::KeyboardEvent| {
        if event.key() == " " {
            event.prevent_default();
            run.toggle();
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
    let value = move || match at.get() {
        Some(step) => format!("step {step} of {}", run.step.get()),
        None => format!("live, step {}", run.step.get()),
    };
    view! {
        <div class="time-track" class:time-fixed=fixed data-testid="time-track" node_ref=root role="slider" tabindex="0"
            aria-valuemin="0" aria-valuemax=move || run.step.get() aria-valuenow=move || run.questions.shown()
            aria-valuetext=value aria-disabled=move || fixed.get().then_some("true")
            on:pointerdown=press on:pointermove=drag on:keydown=key
            title=move || kept(&recorded.get())
            aria-label=move || {
            if empty.get() {
                return "Not trained yet".to_owned();
            }
            // The curve follows a frame later.
            Some(spoken(&shown.get())).filter(|said| !said.is_empty()).unwrap_or("The loss".into())
        }>
            <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="none" aria-hidden="true">
                <line class="time-axis" x1="0" x2=WIDTH y1=HEIGHT - 1.0 y2=HEIGHT - 1.0/>
                {(0..3).rev().map(|i| view! {
                    <path class=format!("time-curve time-curve-{i}")
                        d=move || curves.with(|c| c.get(i).cloned().unwrap_or_default())/>
                }).collect_view()}
            </svg>
            {move || empty.get().then(|| view! {
                <p class="time-empty"><span>"Untrained. "</span><span>"Press Train and watch its loss fall."</span></p>
            })}
            {move || (!fixed.get()).then(|| view! {
                <span class="time-after" aria-hidden="true" style=head></span>
                <span class="time-head" aria-hidden="true" style=head></span>
            })}
        </div>
    }
    .into_any()
}

/// What is kept of a run, in words.
fn kept(recorded: &Recorded) -> String {
    let megabytes = recorded.bytes as f64 / 1e6;
    format!("{} moments kept, {megabytes:.1} MB", recorded.steps.len())
}

/// The track in words.
fn spoken(series: &[Series]) -> String {
    let one = |s: &Series| {
        let (first, last) = (s.points.first()?, s.points.last()?);
        Some(format!(
            "{} from {:.3} at step {} to {:.3} at step {}",
            s.name, first.1, first.0, last.1, last.0
        ))
    };
    series.iter().filter_map(one).collect::<Vec<_>>().join("; ")
}

/// A path for each series, on one scale that holds them all.
fn paths(series: &[Series]) -> Vec<String> {
    let all = || series.iter().flat_map(|s| &s.points).filter(|p| p.1.is_finite());
    let most = all().map(|p| p.0).fold(1.0, f64::max);
    let (low, high) = all()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p.1), high.max(p.1)));
    let (low, high) = (low.min(high - 1e-9), high);
    let place = |&(step, value): &(f64, f64)| {
        let y = (high - value) / (high - low);
        (self::place(step, most) * WIDTH, 6.0 + y * (HEIGHT - 12.0))
    };
    series
        .iter()
        .map(|series| {
            let points = series.points.iter().filter(|p| p.1.is_finite());
            let mut path = String::new();
            for (i, point) in points.enumerate() {
                let (x, y) = place(point);
                let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
            }
            path
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(from(Some(4), "PageDown"), Some(Some(0)));
        assert_eq!(
            (from(Some(0), "ArrowLeft"), from(None, "Home")),
            (Some(Some(0)), Some(Some(0)))
        );
        assert_eq!((from(Some(1), "End"), from(None, "a")), (Some(None), None));
    }

    #[test]
    fn a_track_spans_its_run_and_keeps_its_end() {
        let loss = |n: u32| (1..=n).map(|i| (f64::from(i), 4.0 / f64::from(i))).collect();
        let series = [Series { name: "loss".into(), points: loss(400) }];
        let path = &paths(&series)[0];
        assert!(path.starts_with('M') && path.ends_with("1000.0 94.0"), "{path}");
        assert_eq!(paths(&[Series::default()]), [String::new()]);
        let flat = [Series { name: "loss".into(), points: vec![(1.0, 2.0), (2.0, f64::NAN)] }];
        assert!(!paths(&flat)[0].contains("NaN"), "{:?}", paths(&flat));
        assert!(spoken(&series).starts_with("loss from 4.000 at step 1 to 0.010 at step 400"));
    }
}
