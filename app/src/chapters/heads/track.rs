//! One head over training.

use leptos::prelude::*;
use unroll_protocol::study::heads::{self, Statistics, Track};

use super::state::Page;
use crate::{
    figures::{Dash, Hue, Line, Lines, LinesFigure, Reference},
    questions::use_answer,
    reactive::memo,
};

#[component]
pub fn Tracked(page: Page) -> impl IntoView {
    let answered = use_answer(page.lab, move || Some(heads::ask::Track { at: page.at.get() }));
    let track = memo(move || answered.read(Clone::clone));
    let title = move |what: &'static str| {
        Signal::derive(move || {
            let at = track.with(|t| t.as_ref().map_or(page.at.get(), |t| t.at));
            format!("Layer {}, head {}: {what}", at.layer, at.head)
        })
    };
    let shares = memo(move || {
        track.with(|track| {
            lines(
                track.as_ref(),
                "share of its weight",
                &[
                    ("on the previous token", Hue::Key, Dash::Solid, |s| s.previous),
                    ("on the first token", Hue::Muted, Dash::Dashed, |s| s.first),
                ],
            )
        })
    });
    let entropy = memo(move || {
        track.with(|track| {
            lines(track.as_ref(), "nats", &[("entropy", Hue::Ink, Dash::Solid, |s| s.entropy)])
        })
    });
    let distance = memo(move || {
        track.with(|track| {
            let series: Series = ("mean distance", Hue::Ink, Dash::Solid, |s| s.distance);
            lines(track.as_ref(), "tokens back", &[series])
        })
    });
    let provenance = page.provenance;
    view! {
            <p class="view-note" data-testid="heads-track">
                {move || track.with(|track| track.as_ref().map(|track| format!(
                    "Layer {}, head {}, at {} recorded steps, on the same {} characters of held-out text, \
                     {} at a time. Dashed: a head that spreads its weight evenly.",
                    track.at.layer,
                    track.at.head,
                    track.points.len(),
                    track.tokens,
                    track.length
                )))}
            </p>
            <p class="field-error">{answered.problem}</p>
            <div class="heads-curves">
                <LinesFigure name="heads-shares" title=title("where its weight goes") lines=shares provenance/>
                <LinesFigure name="heads-entropy" title=title("entropy") lines=entropy provenance/>
                <LinesFigure name="heads-distance" title=title("mean distance") lines=distance provenance/>
            </div>
    }
    .into_any()
}

type Series = (&'static str, Hue, Dash, fn(&Statistics) -> f32);

/// Some of the statistics over steps, each beside what looking at all alike would give.
fn lines(track: Option<&Track>, y_label: &str, series: &[Series]) -> Lines {
    let Some(track) = track else { return Lines::default() };
    let alike = Statistics::alike(track.length as usize);
    let line = |&(name, hue, dash, of): &Series| {
        Line::new(
            name,
            hue,
            dash,
            track.points.iter().map(|(t, s)| (f64::from(*t), f64::from(of(s)))).collect(),
        )
    };
    // Two shares have one such value.
    let reference = series.first().zip(alike).map(|(series, alike)| Reference {
        name: "spread evenly".to_owned(),
        y: f64::from(series.3(&alike)),
    });
    Lines {
        x_label: "step".to_owned(),
        y_label: y_label.to_owned(),
        series: series.iter().map(line).collect(),
        references: reference.into_iter().collect(),
        x_range: track.points.last().and_then(|(step, _)| Lines::steps(*step)),
        ..Lines::default()
    }
}
