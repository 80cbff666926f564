//! What was measured on held-out sources: over training, and by the source's length.

use leptos::prelude::*;
use unroll_protocol::study::alignment::{Answer, Lengths, Question, name};

use super::{Page, exact, style};
use crate::{
    course::{panel, use_answer, use_lab},
    figures::{Line, Lines, LinesFigure, Reference},
};

pub fn further(page: Page) -> AnyView {
    view! {
        <div class="panel"><Training page/></div>
        {panel("panel", move |seen| view! { <ByLength page seen/> }.into_any())}
    }
    .into_any()
}

/// Share of held-out sources answered without a mistake, over training.
#[component]
fn Training(page: Page) -> impl IntoView {
    let lab = use_lab();
    let kinds = Memo::new(move |_| page.kinds());
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
                Line { name: name(kind).to_owned(), hue, dash, points: points(kind) }
            })
            .collect(),
        references: vec![Reference { name: "95 %".into(), y: 0.95 }],
        x_range: Lines::steps(lab.step.get()),
        y_range: Some((0.0, 1.0)),
        ..Lines::default()
    });
    let reached = Memo::new(move |_| {
        let sentences = kinds.get().into_iter().map(|kind| {
            let reached = points(kind).into_iter().find(|point| point.1 >= 0.95);
            match reached {
                Some((step, _)) => format!("{}: 95 % first reached at step {step}.", name(kind)),
                None => format!("{}: not at 95 % yet.", name(kind)),
            }
        });
        sentences.collect::<Vec<_>>().join(" ")
    });
    view! {
        <LinesFigure name="alignment-training" title="Right to the last character, over training"
            lines provenance=page.provenance hint="Press Train: measured every 25 steps."/>
        <p class="panel-note" data-testid="alignment-reached">{reached}</p>
    }
    .into_any()
}

/// The same by the source's length, at the last measurement.
#[component]
fn ByLength(page: Page, seen: Signal<bool>) -> impl IntoView {
    let lab = use_lab();
    let answered = use_answer(lab, move || Some(Question::Lengths.into())).shown_in(seen);
    let lengths = Memo::new(move |_| {
        let answer = answered.answer.get();
        match answer.as_ref().and_then(|answer| <&Answer>::try_from(&**answer).ok()) {
            Some(Answer::Lengths(lengths)) => lengths.clone(),
            _ => Lengths::default(),
        }
    });
    let lines = Signal::derive(move || {
        let kinds = page.kinds();
        lengths.with(|lengths| {
            let middle = |from: u32, to: u32| f64::from(from + to) / 2.0;
            let series = kinds.iter().enumerate().map(|(model, kind)| {
                let (hue, dash) = style(model);
                let point = |bin: &unroll_protocol::study::alignment::LengthBin| {
                    let share = *bin.right.get(model)?;
                    Some((middle(bin.from, bin.to), f64::from(share)))
                };
                let points = lengths.bins.iter().filter_map(point).collect();
                Line { name: name(*kind).to_owned(), hue, dash, points }
            });
            Lines {
                x_label: "characters of the source".into(),
                y_label: "share without a mistake".into(),
                series: series.collect(),
                y_range: Some((0.0, 1.0)),
                ..Lines::default()
            }
        })
    });
    let longest = Memo::new(move |_| {
        lengths.with(|l| l.bins.iter().filter(|bin| bin.trained).map(|bin| bin.to).max())
    });
    let marker = Signal::derive(move || {
        let beyond = lengths.with(|l| l.bins.iter().any(|bin| !bin.trained));
        longest.get().filter(|_| beyond).map(f64::from)
    });
    let note = Memo::new(move |_| {
        lengths.with(|l| {
            let (Some(first), Some(last)) = (l.bins.first(), longest.get()) else {
                return "Measured with the first step.".to_owned();
            };
            let each = if first.from == first.to { "each length" } else { "each span of 5" };
            let counts = l.bins.iter().map(|bin| bin.count);
            let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
            let count =
                if least == most { least.to_string() } else { format!("{least} to {most}") };
            let beyond = match marker.get() {
                Some(_) => format!(" Trained on up to {last} characters (the mark), not beyond."),
                None => String::new(),
            };
            format!("At step {}, {count} held-out sources of {each}.{beyond}", l.step)
        })
    });
    view! {
        <LinesFigure name="alignment-lengths" title="Right to the last character, by source length"
            lines marker provenance=page.provenance hint="Press Train: measured every 25 steps."/>
        <p class="panel-note" data-testid="alignment-lengths-note">{note}</p>
    }
    .into_any()
}
