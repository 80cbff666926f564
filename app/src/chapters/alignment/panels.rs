//! What was measured on held-out sources: over training, and by the source's length. And what a search
//! finds.

use leptos::prelude::*;
use unroll_protocol::study::alignment::{Lengths, ask, name};

use super::{Page, exact, source, style};
use crate::{
    controls::SliderField,
    course::use_lab,
    figures::{Line, Lines, LinesFigure, Reference, search_figure},
    questions::use_answer,
    reactive::memo,
};

/// Share of held-out sources answered without a mistake, over training.
pub fn training(page: Page) -> AnyView {
    let lab = use_lab();
    let kinds = memo(move || page.kinds());
    let points = move |kind| {
        lab.history.with(|history| {
            let series = history.named(&exact(kind));
            series.map(|series| series.points()).unwrap_or_default()
        })
    };
    let lines = Signal::derive(move || Lines {
        x_label: "optimizer steps".into(),
        y_label: "share without a mistake".into(),
        series: kinds
            .get()
            .into_iter()
            .enumerate()
            .map(|(model, kind)| {
                let (hue, dash) = style(model);
                Line::new(name(kind), hue, dash, points(kind))
            })
            .collect(),
        references: vec![Reference { name: "95%".into(), y: 0.95 }],
        x_range: Lines::steps(lab.step.get()),
        y_range: Some((0.0, 1.0)),
        is_share: true,
        ..Lines::default()
    });
    let reached = memo(move || {
        let sentences = kinds.get().into_iter().map(|kind| {
            let reached = points(kind).into_iter().find(|point| point.1 >= 0.95);
            match reached {
                Some((step, _)) => format!("{}: 95% first reached at step {step}.", name(kind)),
                None => format!("{}: not at 95% yet.", name(kind)),
            }
        });
        sentences.collect::<Vec<_>>().join(" ")
    });
    view! {
        <LinesFigure name="alignment-training" title="Correct to the last character, over training"
            lines provenance=page.provenance hint="Press Train. It is measured every 25 steps."/>
        <p class="view-note" data-testid="alignment-reached">{reached}</p>
    }
    .into_any()
}

/// What beam search finds with the first model that its greedy choice misses.
pub fn search(page: Page) -> AnyView {
    let answered = use_answer(use_lab(), move || {
        let (source, width) =
            page.settings.with(|s| (source(s, || page.store.probe.get()), s.beam));
        Some(ask::Beam { source, width })
    });
    let search = memo(move || answered.read(Clone::clone));
    let model = Signal::derive(move || page.kinds().first().map_or("", |kind| name(*kind)));
    search_figure("alignment-beam", model, search, page.provenance, || {
        view! { <SliderField name="alignment-beam"/> }
    })
}

/// How much longer than the longest source trained on the longest one measured is.
const BEYOND: u32 = 4;

/// What was measured last, by the source's length.
fn use_lengths() -> Memo<Lengths> {
    let answered = use_answer(use_lab(), move || Some(ask::Lengths {}));
    memo(move || answered.read(Clone::clone).unwrap_or_default())
}

/// The longest source that was trained on, if longer ones were measured.
fn trained_to(lengths: &Lengths) -> Option<u32> {
    let last = lengths.bins.iter().filter(|bin| bin.trained).map(|bin| bin.to).max();
    last.filter(|_| lengths.bins.iter().any(|bin| !bin.trained))
}

/// The same by length, so small that it stands beside the matrix. A click shows it large.
#[component]
pub fn SmallLengths(page: Page) -> impl IntoView {
    let lengths = use_lengths();
    let at = move |l: &Lengths, length: f64| {
        let from = l.bins.first().map_or(1.0, |bin| f64::from(bin.from));
        let to = l.bins.last().map_or(2.0, |bin| f64::from(bin.to)).max(from + 1.0);
        200.0 * (length - from) / (to - from)
    };
    let path = move |model: usize| {
        lengths.with(|l| {
            let points = l.bins.iter().filter_map(|bin| {
                let x = at(l, f64::from(bin.from + bin.to) / 2.0);
                Some(format!("{x:.1},{:.1}", 100.0 - 100.0 * bin.right.get(model)?))
            });
            points.collect::<Vec<_>>().join(" ")
        })
    };
    let line = move |model: usize| {
        let (hue, dash) = style(model);
        view! {
            <polyline points=move || path(model) style=format!("stroke:{}", hue.css())
                stroke-dasharray=dash.css()></polyline>
        }
    };
    let mark = move || {
        let x = lengths.with(|l| trained_to(l).map(|length| at(l, f64::from(length))))?;
        Some(view! { <line class="alignment-trained" x1=x x2=x y1="0" y2="100"></line> })
    };
    let ends = move |last: bool| {
        lengths.with(|l| {
            let bin = if last { l.bins.last() } else { l.bins.first() };
            bin.map(|bin| if last { bin.to } else { bin.from }.to_string())
        })
    };
    let middle = move || lengths.with(trained_to).map(|to| format!("trained up to {to}"));
    let kinds = memo(move || page.kinds());
    let label = move || {
        let names = kinds.get().into_iter().map(name).collect::<Vec<_>>().join(" and ");
        format!(" ({names}): show it large")
    };
    let show = move |_| page.store.link.update(|link| link.view = "lengths".to_owned());
    view! {
        <button type="button" class="alignment-small" data-testid="alignment-lengths-small" on:click=show>
            <span class="hint">"correct, by length of the source"</span>
            <span class="visually-hidden">{label}</span>
            <span class="alignment-shares" aria-hidden="true"><span>"100%"</span><span>"0%"</span></span>
            <svg viewBox="0 0 200 100" preserveAspectRatio="none" aria-hidden="true">
                <line class="alignment-axis" x1="0" x2="200" y1="0" y2="0"></line>
                <line class="alignment-axis" x1="0" x2="200" y1="100" y2="100"></line>
                {mark}
                {move || (0..kinds.get().len()).rev().map(line).collect_view()}
            </svg>
            <span class="alignment-ends" aria-hidden="true">
                <span>{move || ends(false)}</span><span>{middle}</span><span>{move || ends(true)}</span>
            </span>
        </button>
    }
    .into_any()
}

/// Share of held-out sources answered without a mistake by the source's length, at the last
/// measurement.
pub fn lengths(page: Page) -> AnyView {
    let lengths = use_lengths();
    let lines = Signal::derive(move || {
        let kinds = page.kinds();
        // Before anything is measured the axis is that of what will be. Dates are as long as they are.
        let longest = page.settings.with(|s| s.spec(0).length);
        let longest = (longest > 0).then(|| f64::from(longest + BEYOND));
        lengths.with(|lengths| {
            let middle = |from: u32, to: u32| f64::from(from + to) / 2.0;
            let series = kinds.iter().enumerate().map(|(model, kind)| {
                let (hue, dash) = style(model);
                let point = |bin: &unroll_protocol::study::alignment::LengthBin| {
                    let share = *bin.right.get(model)?;
                    Some((middle(bin.from, bin.to), f64::from(share)))
                };
                let points = lengths.bins.iter().filter_map(point).collect();
                Line::new(name(*kind), hue, dash, points)
            });
            Lines {
                x_label: "length of the source".into(),
                y_label: "share without a mistake".into(),
                series: series.collect(),
                x_range: longest.filter(|_| lengths.bins.is_empty()).map(|most| (1.0, most)),
                y_range: Some((0.0, 1.0)),
                is_share: true,
                ..Lines::default()
            }
        })
    });
    let marker = Signal::derive(move || lengths.with(trained_to).map(f64::from));
    let note = memo(move || {
        lengths.with(|l| {
            let Some(first) = l.bins.first() else {
                // The figure says when it is measured.
                return String::new();
            };
            let each = if first.from == first.to { "each length" } else { "each span of 5" };
            let counts = l.bins.iter().map(|bin| bin.count);
            let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
            let count =
                if least == most { least.to_string() } else { format!("{least} to {most}") };
            let beyond = match trained_to(l) {
                Some(last) => {
                    format!(" Trained on up to {last} characters (the mark), not on longer ones.")
                }
                None => String::new(),
            };
            format!("At step {}, {count} held-out sources of {each}.{beyond}", l.step)
        })
    });
    view! {
        <LinesFigure name="alignment-lengths" title="Correct to the last character, by source length"
            lines marker provenance=page.provenance hint="Press Train. It is measured every 25 steps."/>
        <p class="view-note" data-testid="alignment-lengths-note">{note}</p>
    }
    .into_any()
}
