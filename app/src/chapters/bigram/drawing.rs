//! Letter by letter: a random number falls among the probabilities.

use core::time::Duration;

use leptos::prelude::*;
use serde_json::json;
use unroll_protocol::study::bigram::{Draw, Estimate, MOST_DRAWN, Segment, Writing};

use super::{SmoothingField, named, short, use_vocabulary, use_writing};
use crate::{
    controls::{ChoiceField, use_timer},
    course::{use_lab, use_provenance, use_setting},
    figures::{Sheet, SheetExport},
    reactive::{effect, memo},
};

/// Between two letters when they are drawn by themselves.
const PACE: Duration = Duration::from_millis(350);
/// Segments narrower than this have no room for a letter.
const ROOM: f64 = 0.02;
/// Segments narrower than this have no room for their probability.
const ROOM_FOR_NUMBER: f64 = 0.06;

/// Writes by drawing, one letter a press, with the number and where it falls on show.
#[component]
pub fn Drawing() -> impl IntoView {
    let lab = use_lab();
    let vocabulary = use_vocabulary();
    let from = use_setting(|link| &mut link.bigram.from);
    let smooths = memo(move || from.get() == Estimate::Smoothed);
    let dice = use_setting(|link| &mut link.bigram.dice);
    let drawn = use_setting(|link| &mut link.bigram.drawn);
    let asked = use_writing(lab, || true);
    let (writing, problem) = (asked.answer, asked.problem);
    let can_draw = move || {
        drawn.get() < MOST_DRAWN && writing.with(|w| w.as_ref().is_some_and(|w| w.next.is_some()))
    };
    let playing = RwSignal::new(false);
    let timer = use_timer();
    let draw = move || {
        if untrack(can_draw) {
            drawn.update(|drawn| *drawn += 1);
        }
    };
    effect(move || {
        writing.track();
        if !playing.get() {
            timer.stop();
        } else if !can_draw() {
            playing.set(false);
        } else if !timer.is_running() {
            timer.start(PACE, draw);
        }
    });
    let again = move |other: bool| {
        playing.set(false);
        drawn.set(0);
        if other {
            dice.update(|dice| *dice = dice.wrapping_add(1));
        }
    };
    let sheet = Callback::new(move |()| {
        writing.with(|w| w.as_ref().map(|w| vocabulary.with(|v| sheet(w, v))))
    });
    view! {
        <div class="view-bar">
            <ChoiceField name="bigram-from"/>
            {move || smooths.get().then(|| view! { <SmoothingField/> })}
        </div>
        <section class="figure bigram-drawing" data-testid="figure-bigram-drawing"
            data-state=move || if writing.with(Option::is_some) { "live" } else { "empty" }
            aria-label="Writing, letter by letter">
            <div class="figure-box">
                <p class="bigram-written" data-testid="bigram-written" role="status">
                    {move || writing.with(|w| w.as_ref().map(|w| vocabulary.with(|v| written(w, v))))}
                </p>
                {move || writing.with(|w| w.as_ref().map(|w| vocabulary.with(|v| lines(w, v))))}
                {move || writing.with(|w| w.as_ref().map(|w| vocabulary.with(|v| wheel(w, v))))}
            </div>
            <p class="readout" data-testid="bigram-next">
                {move || writing.with(|w| w.as_ref().map(|w| vocabulary.with(|v| coming(w, v))))}
            </p>
            <SheetExport name="bigram-drawing" title="Letters drawn one by one"
                provenance=use_provenance() sheet/>
        </section>
        <div class="view-bar">
            <button type="button" class="button button-primary" data-testid="bigram-draw"
                aria-disabled=move || (!can_draw()).then_some("true") on:click=move |_| draw()>
                "Draw a letter"
            </button>
            <button type="button" class="button" data-testid="bigram-play"
                aria-pressed=move || playing.get().to_string()
                on:click=move |_| playing.update(|playing| *playing = !*playing)>
                {move || if playing.get() { "Stop" } else { "Keep drawing" }}
            </button>
            <button type="button" class="button button-quiet" data-testid="bigram-again"
                on:click=move |_| again(false)>
                "Begin again"
            </button>
            <button type="button" class="button button-quiet" data-testid="bigram-dice"
                on:click=move |_| again(true)>
                "New random numbers"
            </button>
        </div>
        <p class="field-error" role="alert">{move || problem.get()}</p>
    }
    .into_any()
}

/// What was drawn.
fn written(writing: &Writing, vocabulary: &[String]) -> AnyView {
    let letter = |draw: &Draw| {
        let Segment { id, from, to } = draw.segment;
        let title = format!(
            "{} after {}: probability {:.4}, drawn by {:.4}",
            named(vocabulary, id),
            named(vocabulary, draw.previous),
            to - from,
            draw.number,
        );
        view! {
            <span title=title>{short(vocabulary, id)}</span>
        }
    };
    let letters = writing.draws.iter().map(letter).collect_view();
    view! {
        <span class="bigram-start" title="before the first letter">
            {short(vocabulary, writing.start)}
        </span>
        <span data-testid="bigram-letters">{letters}</span>
        <span class="bigram-caret" aria-hidden="true">"▏"</span>
    }
    .into_any()
}

/// Letters whose lines are kept; as many of them are seen as there is room for.
const KEPT: usize = 12;

/// How the last letters came about: on a line from 0 to 1 the stretch of each, and the number that fell on it.
/// For eyes only: the letters themselves say it.
fn lines(writing: &Writing, vocabulary: &[String]) -> AnyView {
    let line = |draw: &Draw| {
        let Segment { id, from, to } = draw.segment;
        view! {
            <li>
                <span class="bigram-pair">{short(vocabulary, draw.previous)}" → "<b>{short(vocabulary, id)}</b></span>
                <span class="bigram-line" style=format!("--from:{from:.4};--to:{to:.4};--at:{:.4}", draw.number)>
                    <i></i><b></b>
                </span>
                <span class="bigram-fell">{format!("{:.4}", draw.number)}</span>
            </li>
        }
    };
    let last = writing.draws.iter().rev().take(KEPT).map(line).collect_view();
    view! {
        <div class="bigram-lines" aria-hidden="true">
            <p class="view-note">
                "Each letter drawn adds a line. It shows the letter’s stretch and the random number that fell into it."
            </p>
            <ol>{last}</ol>
        </div>
    }
    .into_any()
}

/// The stretch from 0 to 1, cut as the probabilities are, with the next number on it.
fn wheel(writing: &Writing, vocabulary: &[String]) -> AnyView {
    let fallen = writing.next.map(|next| next.segment.id);
    let segments = writing.segments.iter().map(|segment| {
        let width = segment.to - segment.from;
        let hit = Some(segment.id) == fallen;
        view! {
            <span class="bigram-segment" class:bigram-hit=hit style=format!("width:{}%", 100.0 * width)
                title=format!("{}: {:.4}", named(vocabulary, segment.id), width)>
                {(width > ROOM).then(|| short(vocabulary, segment.id))}
                {(width > ROOM_FOR_NUMBER).then(|| view! { <small>{format!("{width:.2}")}</small> })}
            </span>
        }
    });
    let segments = segments.collect_view();
    view! {
        <div class="bigram-wheel" aria-hidden="true">
            {writing.next.map(|draw| view! {
                <span class="bigram-number" style=format!("--at:{}", draw.number)>
                    <span>{format!("{:.4}", draw.number)}</span>
                </span>
            })}
            <div class="bigram-segments">{segments}</div>
            <div class="bigram-ends"><span>"0"</span><span>"1"</span></div>
        </div>
    }
    .into_any()
}

/// What the next draw will be.
fn coming(writing: &Writing, vocabulary: &[String]) -> String {
    match writing.next {
        Some(draw) => format!(
            "Next: after {}, the number {:.4} falls into the stretch of {}, {:.4} to {:.4}.",
            named(vocabulary, draw.previous),
            draw.number,
            named(vocabulary, draw.segment.id),
            draw.segment.from,
            draw.segment.to,
        ),
        None => "Nothing ever followed this character, so raw counts have nothing to draw from."
            .to_owned(),
    }
}

fn sheet(writing: &Writing, vocabulary: &[String]) -> Sheet {
    let mut sheet = Sheet::new(&["draw", "previous", "number", "letter", "from", "to"]);
    let text = |id: u32| json!(vocabulary.get(id as usize));
    let line = |(i, draw): (usize, &Draw)| {
        let Segment { id, from, to } = draw.segment;
        let (number, previous) = (json!(draw.number), text(draw.previous));
        vec![json!(i + 1), previous, number, text(id), json!(from), json!(to)]
    };
    sheet.rows = writing.draws.iter().enumerate().map(line).collect();
    sheet
}
