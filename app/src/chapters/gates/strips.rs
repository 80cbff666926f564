//! What stands in line with the characters of the grid: above it what is known of each without any
//! model, below it how sure the model is of the right answer.

use std::fmt::Write;

use leptos::prelude::*;
use unroll_protocol::study::gates::{Followed, Seen};

use super::state::{Gates, beyond};
use crate::{
    figures::{Across, ColumnStrip, Dash},
    reactive::memo,
};

/// Heights of the strips, in CSS pixels.
const KNOWN: f64 = 48.0;
const SURE: f64 = 36.0;
/// Above and below what is drawn in them.
const MARGIN: f64 = 6.0;

/// One line a quantity that a unit could follow, such as the bracket depth.
pub fn known(gates: Gates) -> ColumnStrip {
    let series = memo(move || gates.seen(|seen| seen.followed.clone()).unwrap_or_default());
    let height = memo(move || if series.with(Vec::is_empty) { 0.0 } else { KNOWN });
    ColumnStrip::new(height, move |across| {
        let name = move || {
            let names = series.with(|series| series.iter().map(|s| word(s.0)).collect::<Vec<_>>());
            names.join(", ")
        };
        let lines = move || {
            series.with(|series| series.iter().map(|s| line(*across.read(), s)).collect::<String>())
        };
        view! {
            <span class="gates-strip-name">{name}</span>
            <svg class="gates-strip" aria-hidden="true" inner_html=lines></svg>
        }
        .into_any()
    })
}

/// What a line is called beside it.
fn word(what: Followed) -> &'static str {
    match what {
        Followed::Depth => "open",
        Followed::Quotation => "quoted",
    }
}

fn line(across: Across, (what, values): &(Followed, Vec<f32>)) -> String {
    let most = values.iter().copied().fold(1.0, f32::max);
    let y = |value: f32| KNOWN - MARGIN - f64::from(value / most) * (KNOWN - 2.0 * MARGIN);
    let points = values.iter().enumerate().take(across.count);
    let points = points.map(|(at, value)| format!("{:.1},{:.1}", across.middle(at), y(*value)));
    let dash = if *what == Followed::Depth { Dash::Solid } else { Dash::Dashed };
    let (right, top, foot) = (across.left - 6.0, y(most) + 4.0, y(0.0) + 4.0);
    format!(
        r#"<text x="{right:.1}" y="{top:.1}">{most}</text><text x="{right:.1}" y="{foot:.1}">0</text><polyline points="{}" stroke-dasharray="{}"/>"#,
        points.collect::<Vec<_>>().join(" "),
        dash.css()
    )
}

/// A bar a character, as high as the right answer is likely; with a cross where another answer is
/// likelier, and an outline of what it would be without force.
pub fn sure(gates: Gates) -> ColumnStrip {
    let height = memo(move || {
        let asked = gates.seen(|seen| seen.right.iter().any(Option::is_some));
        if asked == Some(true) { SURE } else { 0.0 }
    });
    ColumnStrip::new(height, move |across| {
        let bars = move || {
            let across = *across.read();
            gates.seen(|seen| bars(across, seen))
        };
        view! {
            <span class="gates-strip-name gates-strip-sure" style=move || format!("max-width:{:.0}px", across.read().left - 6.0)>
                "p(right answer)"
            </span>
            <svg class="gates-strip" aria-hidden="true" inner_html=bars></svg>
        }
        .into_any()
    })
}

fn bars(across: Across, seen: &Seen) -> String {
    let room = SURE - 2.0 * MARGIN;
    let (foot, wide) = (SURE - MARGIN, (across.cell * 0.6).min(26.0));
    let mut svg = format!(
        r#"<path class="gates-floor" d="M{:.1} {foot}H{:.1}"/>"#,
        across.left,
        across.left + across.cell * across.count as f64
    );
    for (at, guess) in seen.guesses.iter().enumerate().take(across.count) {
        let none = || beyond(seen, at).map(|_| 0.0);
        let Some(probability) = guess.right.or_else(none) else { continue };
        let left = across.middle(at) - wide / 2.0;
        let mut bar = |class: &str, probability: f32| {
            let high = room * f64::from(probability);
            let top = foot - high;
            // Writing to a String cannot fail.
            let _ = write!(
                svg,
                r#"<rect class="{class}" x="{left:.1}" y="{top:.1}" width="{wide:.1}" height="{high:.1}"/>"#
            );
        };
        let is_right = seen.right.get(at).copied().flatten() == Some(guess.likeliest);
        bar(if is_right { "gates-right" } else { "gates-wrong" }, probability);
        if let Some(free) = seen.free_guesses.as_ref().and_then(|free| free.get(at)?.right) {
            bar("gates-free", free);
        }
        if !is_right {
            let (x, y, arm) = (across.middle(at), MARGIN + 1.0, 3.5);
            let _ = write!(
                svg,
                r#"<path class="gates-cross" d="M{:.1} {:.1}l{arm2} {arm2}m0 -{arm2}l-{arm2} {arm2}"/>"#,
                x - arm,
                y - arm,
                arm2 = 2.0 * arm
            );
        }
    }
    svg
}
