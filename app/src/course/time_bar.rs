//! The bar at the foot of the stage: Train or Pause, one step, how far the run is, and its curve.

use std::fmt::Write;

use leptos::{context::Provider, ev, html, prelude::*};
use unroll_protocol::{RunState, link::Part};
use wasm_bindgen::JsCast;

use super::{
    Run, SMOOTHED,
    run::{MOST_CURVES, Series},
    scrub::scrub,
    undo::is_text_field,
};
use crate::{
    controls::{four_digits, grouped},
    fetched::{Fetch, Settled, View, fetched, part},
    figures::{percent, reading::is_shortcut, use_frame, use_visible},
    reactive::memo,
    store::Store,
};

/// The track's own units; it is stretched to its room.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// The time bar of a run. Space trains or pauses while no control has the focus.
#[component]
pub fn TimeBar(run: Run) -> impl IntoView {
    let without_loss = expect_context::<Store>().link.with_untracked(|link| link.hides(Part::Loss));
    let run = if without_loss { run.without_loss() } else { run };
    let listener = window_event_listener(ev::keydown, move |event| {
        if event.key() == " "
            && !is_shortcut(&event)
            && !event.repeat()
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
    let label = move || if run.would_pause() { "Pause" } else { "Train" };
    let is_first =
        memo(move || run.step.get() == 0 && !run.is_running() && run.cannot.get().is_none());
    let is_named = memo(move || run.cannot.get().is_none());
    // Only the digits change while it trains. Each curve is named, and a second number where there is one
    // that says more than the first: where each token is a character, a loss per character doesn't.
    let curves = run.curves;
    let names = memo(move || {
        run.readings.with(|all| {
            let adds = |i: usize| {
                i < curves
                    || i == 0
                    || (i == 1 && (all[0].value.is_none() || all[1].value != all[0].value))
            };
            let shown = (0..all.len()).take_while(|&i| adds(i));
            shown.map(|i| all[i].name.clone()).collect::<Vec<_>>()
        })
    });
    // The color of its line, where there is another one.
    let keyed = memo(move || names.with(|names| names.len().min(curves)) > 1);
    let reading = move |i: usize, name: String| {
        let value = move || {
            let last = run.readings.with(|all| {
                all.get(i).and_then(|reading| Some((reading.value?, reading.is_share)))
            });
            match last {
                None => "–".to_owned(),
                Some((share, true)) => percent(share, 1),
                Some((loss, false)) => four_digits(loss),
            }
        };
        // That they are losses is said once.
        let name =
            if i == 0 { &name } else { name.strip_suffix(" loss").unwrap_or(&name) }.to_owned();
        view! {
            <span class="time-reading" class:time-reading-more={i > 0}>
                {move || keyed.get().then(|| view! { <i class=format!("time-key time-key-{i}")></i> })}
                {name}" "
                <span data-testid=if i == 0 { "loss-value" } else { "" }>{value}</span>
            </span>
        }
    };
    let is_mean = memo(move || run.readings.with(|all| all.iter().any(|reading| reading.is_mean)));
    let at = move || run.questions.at.get();
    let pace = move || match run.milliseconds_per_step.get() {
        None => "–".to_owned(),
        Some(ms) if ms < 100.0 => format!("{ms:.1}"),
        Some(ms) => format!("{ms:.0}"),
    };
    view! {
        <section class="time-bar" class:time-past=move || at().is_some() aria-label="Training" data-testid="time-bar">
            <button type="button" class="time-play" class:time-play-first=is_first
                class:time-play-named=is_named data-testid="train-toggle" data-state=told
                aria-disabled=disabled
                title=move || run.idle.get().unwrap_or_else(|| format!("{} (Space)", label()))
                on:click=move |_| run.toggle()>
                <svg viewBox="0 0 16 16" aria-hidden="true">
                    {move || if run.would_pause() {
                        view! { <path d="M3 2h4v12H3zM9 2h4v12H9z"/> }
                    } else {
                        view! { <path d="M4 1.5v13l10-6.5z"/> }
                    }}
                </svg>
                <span class:visually-hidden=move || !is_named.get()>{label}</span>
            </button>
            <button type="button" class="time-step" data-testid="train-step" aria-disabled=disabled
                aria-label="+1: take one step" title=move || run.idle.get().unwrap_or_else(|| "Take one step".into())
                on:click=move |_| run.take_step()>
                "+1"
            </button>
            <div class="time-numbers" translate="no">
                <p class="time-steps">
                    {move || at().map(|step| view! {
                        "step "<span class="time-shown" data-testid="time-shown">{grouped(step.into())}</span>
                    })}
                    <span class="time-of">
                        {move || at().map(|_| " of ")}
                        <strong data-testid="loss-step">{move || grouped(run.step.get().into())}</strong>
                    </span>
                    {move || match (at(), run.warms.get(), run.step.get()) {
                        (Some(_), ..) => String::new(),
                        (None, Some(goal), _) => format!(" of {} steps", grouped(goal.into())),
                        (None, None, 1) => " step".to_owned(),
                        (None, None, _) => " steps".to_owned(),
                    }}
                    <span class="time-pace" title="Milliseconds per training step">
                        <span data-testid="step-time">{pace}</span>" ms/step"
                    </span>
                </p>
                <p class="time-readings" title=move || match is_mean.get() {
                    true => format!("Means of up to {SMOOTHED} losses, as in the chart"),
                    false => "As last measured, without averaging".to_owned(),
                }>
                    {move || names.get().into_iter().enumerate().map(|(i, name)| reading(i, name)).collect_view()}
                </p>
            </div>
            <Track run/>
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

/// Share of the track before the first step.
const UNTRAINED: f64 = 0.04;

/// Where a step lies on the track, as a share of it: the first steps change most, so the scale is
/// logarithmic. It has no place for step 0, which has a little room before: no loss was measured
/// there.
pub(super) fn place(step: f64, last: f64) -> f64 {
    if last <= 1.0 || step < 1.0 {
        return if last > 1.0 { UNTRAINED } else { 1.0 } * step.min(1.0);
    }
    1.0 - (1.0 - UNTRAINED) * (1.0 - step.ln() / last.ln())
}

/// The steps whose numbers stand under the track, which say that its scale is logarithmic.
fn decades(last: u32) -> Vec<u32> {
    let tens = std::iter::successors(Some(1_u32), |step| step.checked_mul(10));
    // One alone says nothing of a scale.
    tens.take_while(|step| *step <= last).filter(|_| last >= 10).collect()
}

/// The curves of a run as the track of a film, from the first step to the last.
#[component]
fn Track(run: Run) -> impl IntoView {
    let root = NodeRef::<html::Div>::new();
    let shown = use_frame(run.track, use_visible(root));
    let curves = memo(move || shown.with(|series| paths(series, run.step.get_untracked())));
    let marks = memo(move || decades(run.step.get()));
    let mark = move |step: u32| {
        let share = move || place(step.into(), run.step.get().into());
        view! {
            <i style=move || format!("left:{:.2}%", 100.0 * share())
                // The head stands there, or almost.
                class:time-mark-hidden=move || { share() > 0.95 }>
                <span>{grouped(step.into())}</span>
            </i>
        }
    };
    let empty = memo(move || run.step.get() == 0);
    let Settled(settled) = expect_context();
    view! {
        <div class="time-track" node_ref=root>
            <div class="time-film" role="img" aria-label=move || {
                if empty.get() {
                    return run.cannot.get().unwrap_or("Not trained yet").to_owned();
                }
                // The curve follows a frame later.
                Some(spoken(&shown.get())).filter(|said| !said.is_empty()).unwrap_or("The loss".into())
            }>
                <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="none" aria-hidden="true">
                    <line class="time-axis" x1="0" x2=WIDTH y1=HEIGHT - 1.0 y2=HEIGHT - 1.0/>
                    {(0..=MOST_CURVES).rev().map(|i| view! {
                        <path class=format!("time-curve time-curve-{i}")
                            d=move || curves.with(|c| c.get(i).cloned().unwrap_or_default())/>
                    }).collect_view()}
                </svg>
                <div class="time-marks" aria-hidden="true" translate="no">
                    {move || marks.get().into_iter().map(mark).collect_view()}
                </div>
            </div>
            {move || empty.get().then(|| view! {
                <p class="time-empty">
                    {move || match run.cannot.get() {
                        Some(reason) => Some(view! { <span>{reason}</span> }.into_any()),
                        // It has no model yet, or takes its first steps by itself.
                        None if run.idle.get().is_some() || run.questions.goal.get() > 0 => None,
                        None => Some(view! { <span>"Untrained. "</span><span>"Press Train and watch its loss fall."</span> }.into_any()),
                    }}
                </p>
            })}
            {move || settled.get().then(|| view! {
                <Provider value=run>{fetched(SCRUB, "The way back in time")}</Provider>
            })}
        </div>
    }
    .into_any()
}

/// Fetched ahead: there is no past before the first picture.
const SCRUB: Fetch = part!(time: View = scrub);

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

/// Least share of the largest loss that the track's height stands for.
const LEAST_SPAN: f64 = 0.15;

/// A path for each series, on one scale that holds them all, of a run that is at its `last` step.
fn paths(series: &[Series], last: u32) -> Vec<String> {
    let all = || series.iter().flat_map(|s| &s.points).filter(|p| p.1.is_finite());
    let most = all().map(|p| p.0).fold(last.into(), f64::max);
    let (low, high) = all()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p.1), high.max(p.1)));
    // Of a loss that hardly moves, chance is not drawn as large as progress would be.
    let half = ((high - low) / 2.0).max(LEAST_SPAN * high.abs() / 2.0).max(1e-9);
    let (low, high) = ((low + high) / 2.0 - half, (low + high) / 2.0 + half);
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
    fn every_step_has_its_place() {
        for last in [1.0, 2.0, 60.0, 20_000.0] {
            assert_eq!((place(0.0, last), place(last, last)), (0.0, 1.0));
            let places = (0..=last as u32).map(|step| place(step.into(), last));
            assert!(places.collect::<Vec<_>>().is_sorted_by(|a, b| a < b), "{last}");
        }
        assert_eq!(place(0.0, 0.0), 0.0);
        assert!((place(1.0, 60.0) - UNTRAINED).abs() < 1e-9);
        assert_eq!([0, 9, 10, 250].map(|last| decades(last).len()), [0, 0, 2, 3]);
    }

    #[test]
    fn a_track_spans_its_run_and_keeps_its_end() {
        let loss = |n: u32| (1..=n).map(|i| (f64::from(i), 4.0 / f64::from(i))).collect();
        let series = [Series { name: "loss".into(), points: loss(400) }];
        let path = &paths(&series, 400)[0];
        assert!(path.starts_with("M40.0 6.0") && path.ends_with("1000.0 94.0"), "{path}");
        assert_eq!(paths(&series, 0), paths(&series, 400), "the curve is a frame ahead");
        assert!(!paths(&series, 500)[0].contains("1000.0"), "its end is not the run's");
        assert_eq!(paths(&[Series::default()], 0), [String::new()]);
        let flat = [Series { name: "loss".into(), points: vec![(1.0, 2.0), (2.0, f64::NAN)] }];
        assert!(!paths(&flat, 2)[0].contains("NaN"), "{:?}", paths(&flat, 2));
        assert!(spoken(&series).starts_with("loss from 4.000 at step 1 to 0.010 at step 400"));
    }
}
