//! Why scores are divided by √d_k: random queries and keys of any width.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    study::qkv::{DRAWN_KEYS, MOST_DIMENSIONS, Scale, ScalePoint, ask},
};

use crate::{
    controls::SliderField,
    course::{Lab, use_lab, use_provenance},
    figures::{
        Bar, BarsFigure, Bins, Dash, Histogram, HistogramFigure, Hue, Line, Lines, LinesFigure,
    },
    questions::{Answered, use_fixed_answer},
    reactive::memo,
    store::Store,
};

/// The same in every figure; bars beside others are always drawn in ink.
const NOT_DIVIDED: Hue = Hue::Ink;
const DIVIDED: Hue = Hue::Second;

/// What the slider asks for. The vectors are random: no training changes them.
fn use_scale(lab: Lab) -> Answered<Scale> {
    let store = expect_context::<Store>();
    let asked = memo(move || store.link.with(|l| (l.qkv.dimensions, l.qkv.draw)));
    use_fixed_answer(lab, move || {
        let (dimensions, draw) = asked.get();
        Some(ask::Scale { dimensions, draw })
    })
}

pub fn view() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let answered = use_scale(lab);
    let scale = answered.answer;
    let again = move |_| {
        store.link.update(|link: &mut Link| link.qkv.draw = link.qkv.draw % 1000 + 1);
    };
    // Four figures are too many for one look: the spread and what comes of it, or how both go on.
    let by_width = RwSignal::new(false);
    let said = move || scale.get().map(|scale| verdict(&scale, by_width.get()));
    let shown = move |id: &'static str, label: &'static str, to: bool| {
        view! {
            <button type="button" class="button qkv-shown" data-testid=id
                aria-pressed=move || (by_width.get() == to).to_string() on:click=move |_| by_width.set(to)>
                {label}
            </button>
        }
    };
    view! {
        <div class="view-bar qkv-bar">
            <div class="qkv-wide"><SliderField name="qkv-dimensions" log=true/></div>
            <button type="button" class="button" data-testid="qkv-draw-again" on:click=again>"Draw again"</button>
            <span class="hint">{move || store.link.with(|link| format!("draw {} of seed {}", link.qkv.draw, link.seed))}</span>
            <div class="button-row" role="group" aria-label="Figures">
                {shown("qkv-show-spread", "This width", false)}
                {shown("qkv-show-curves", "All widths", true)}
            </div>
        </div>
        <p class="field-error" role="alert">{move || answered.problem.get()}</p>
        <p class="view-note qkv-verdict" data-testid="qkv-scale">{said}</p>
        {move || if by_width.get() { curves_of(store, scale) } else { spread(scale) }}
    }
    .into_any()
}

/// The products of random vectors, and one query's weights made of them.
fn spread(scale: Signal<Option<Arc<Scale>>>) -> AnyView {
    let provenance = use_provenance();
    let histogram =
        Signal::derive(move || scale.get().map_or(Histogram::default(), |scale| histogram(&scale)));
    let bars = Signal::derive(move || scale.get().map_or(Vec::new(), |scale| bars(&scale)));
    view! {
        <div class="view-split qkv-spread">
            <div>
                <HistogramFigure name="qkv-products" title="Products of random queries and keys" histogram provenance/>
            </div>
            <div>
                <BarsFigure name="qkv-softmax" title="Weights of one query over its 16 keys" bars provenance
                    value_name="divided by √dₖ" compare_name="not divided" hue=DIVIDED/>
            </div>
        </div>
    }
    .into_any()
}

/// How even the weights are and how much gradient comes through, by the width of the vectors.
fn curves_of(store: Store, scale: Signal<Option<Arc<Scale>>>) -> AnyView {
    let provenance = use_provenance();
    let lines = move |what: &'static str, of: fn(&ScalePoint) -> [f32; 2]| {
        Signal::derive(move || scale.get().map_or(Lines::default(), |s| curves(&s, what, of)))
    };
    let marker = Signal::derive(move || Some(f64::from(store.link.with(|l| l.qkv.dimensions))));
    let pick = Callback::new(move |x: f64| {
        let dimensions = (x.round() as u32).clamp(1, MOST_DIMENSIONS);
        store.link.update(|link| link.qkv.dimensions = dimensions);
    });
    view! {
        <div class="view-split qkv-lines">
            <div>
                <LinesFigure name="qkv-entropy" title="Entropy of the weights" provenance marker on_pick=pick
                    lines=lines("entropy in nats", |point| point.entropy)/>
            </div>
            <div>
                <LinesFigure name="qkv-gradient" title="Size of softmax’s gradient" provenance marker on_pick=pick
                    lines=lines("norm of the derivative", |point| point.gradient)/>
            </div>
        </div>
    }
    .into_any()
}

fn histogram(scale: &Scale) -> Histogram {
    let group = |at: usize, name: &str, hue| Bins {
        name: name.into(),
        hue,
        counts: scale.counts[at].iter().map(|count| f64::from(*count)).collect(),
        below: f64::from(scale.beyond[at].0),
        above: f64::from(scale.beyond[at].1),
    };
    Histogram {
        x_label: "score".into(),
        range: (f64::from(scale.range.0), f64::from(scale.range.1)),
        across: 0,
        groups: vec![group(0, "q · k, not divided", NOT_DIVIDED), group(1, "q · k / √dₖ", DIVIDED)],
    }
}

fn bars(scale: &Scale) -> Vec<Bar> {
    let [plain, scaled] = &scale.weights;
    let pairs = scaled.iter().zip(plain).enumerate();
    pairs
        .map(|(at, (scaled, plain))| Bar {
            name: format!("key {}", at + 1),
            spoken: format!("key {}", at + 1),
            probability: *scaled,
            compare: Some(*plain),
            ..Bar::default()
        })
        .collect()
}

fn curves(scale: &Scale, what: &str, of: fn(&ScalePoint) -> [f32; 2]) -> Lines {
    let line = |at: usize, name: &str, hue, dash| {
        let mut points: Vec<(f64, f64)> = scale
            .curve
            .iter()
            .chain([&scale.here])
            .map(|point| (f64::from(point.dimensions), f64::from(of(point)[at])))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup();
        Line::new(name, hue, dash, points)
    };
    Lines {
        x_label: "dₖ".into(),
        y_label: what.into(),
        series: vec![
            line(0, "not divided", NOT_DIVIDED, Dash::Solid),
            line(1, "divided by √dₖ", DIVIDED, Dash::Dashed),
        ],
        x_range: Some((0.0, f64::from(MOST_DIMENSIONS))),
        ..Lines::default()
    }
}

/// What the division does to the scores and to the gradient; and to the entropy, which is on show by width.
fn verdict(scale: &Scale, by_width: bool) -> AnyView {
    let number = |id: &'static str, value: f32, decimals: usize| {
        view! { <b data-testid=id data-value=value.to_string()>{format!("{value:.decimals$}")}</b> }
    };
    let here = &scale.here;
    let evenness = by_width.then(|| {
        view! {
            " The weights’ entropy is "{number("qkv-entropy-plain", here.entropy[0], 2)}" nats without the division and "
            {number("qkv-entropy-scaled", here.entropy[1], 2)}" with it. It would be "
            {format!("{:.2}", f64::from(DRAWN_KEYS).ln())}" if all "{DRAWN_KEYS}" were equal."
        }
    });
    view! {
        "With d"<sub>"k"</sub>" = "{scale.dimensions}", the scores’ variance is "
        {number("qkv-variance", here.variance[0], 1)}". Once they are divided by √"{scale.dimensions}", it is "
        {number("qkv-variance-scaled", here.variance[1], 2)}". The division changes the size of softmax’s gradient from "
        {number("qkv-gradient-plain", here.gradient[0], 3)}" to "
        {number("qkv-gradient-scaled", here.gradient[1], 3)}": "
        <b>{format!("{:.1}", here.gradient[1] / here.gradient[0])}</b>" times as large."{evenness}
    }
    .into_any()
}
