//! Letter by letter: a random number falls among the probabilities.

use core::time::Duration;

use leptos::{html, prelude::*};
use unroll_protocol::study::bigram::{MOST_DRAWN, Writing};

use super::{named, short, use_vocabulary, use_writing};
use crate::{
    controls::{ChoiceField, use_timer},
    course::{use_lab, use_setting},
    figures::use_visible,
};

/// Between two letters when they are drawn by themselves.
const PACE: Duration = Duration::from_millis(350);
/// Segments narrower than this have no room for a letter.
const ROOM: f64 = 0.03;

/// Writes by drawing, one letter a press, with the number and where it falls on show.
#[component]
pub fn Drawing() -> impl IntoView {
    let lab = use_lab();
    let vocabulary = use_vocabulary();
    let root = NodeRef::<html::Div>::new();
    let dice = use_setting(|link| &mut link.bigram.dice);
    let drawn = use_setting(|link| &mut link.bigram.drawn);
    let (writing, problem) = use_writing(lab, use_visible(root), || true);
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
    Effect::new(move |_| {
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
    view! {
        <div class="panel" data-testid="figure-bigram-drawing" node_ref=root>
            <h2>"Let it write, letter by letter"</h2>
            <ChoiceField name="bigram-from"/>
            <p class="bigram-written" data-testid="bigram-written" role="status">
                {move || writing.with(|w| w.as_ref().map(|w| vocabulary.with(|v| written(w, v))))}
            </p>
            <div class="button-row">
                <button type="button" class="button button-primary" data-testid="bigram-draw"
                    aria-disabled=move || (!can_draw()).then_some("true") on:click=move |_| draw()>
                    "Draw a letter"
                </button>
                <button type="button" class="button" data-testid="bigram-play"
                    aria-pressed=move || playing.get().to_string()
                    on:click=move |_| playing.update(|playing| *playing = !*playing)>
                    {move || if playing.get() { "Stop" } else { "Draw on" }}
                </button>
                <button type="button" class="button button-quiet" data-testid="bigram-again"
                    on:click=move |_| again(false)>
                    "Begin again"
                </button>
                <button type="button" class="button button-quiet" data-testid="bigram-dice"
                    on:click=move |_| again(true)>
                    "Other numbers"
                </button>
            </div>
            {move || writing.with(|w| w.as_ref().map(|w| vocabulary.with(|v| wheel(w, v))))}
            <p class="field-error" role="alert">{move || problem.get()}</p>
        </div>
    }
    .into_any()
}

fn written(writing: &Writing, vocabulary: &[String]) -> AnyView {
    let letters: String =
        writing.draws.iter().map(|draw| short(vocabulary, draw.segment.id)).collect();
    view! {
        <span class="bigram-start" title="before the first letter">
            {short(vocabulary, writing.start)}
        </span>
        <span data-testid="bigram-letters">{letters}</span>
        <span class="bigram-caret" aria-hidden="true">"▏"</span>
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
            </span>
        }
    });
    let segments = segments.collect_view();
    let sentence = match writing.next {
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
    };
    view! {
        <div class="bigram-wheel" aria-hidden="true">
            <div class="bigram-segments">{segments}</div>
            {writing.next.map(|draw| view! {
                <span class="bigram-number" style=format!("left:{}%", 100.0 * draw.number)></span>
            })}
            <div class="bigram-ends"><span>"0"</span><span>"1"</span></div>
        </div>
        <p class="hint" data-testid="bigram-next">{sentence}</p>
    }
    .into_any()
}
