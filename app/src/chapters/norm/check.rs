//! The chapter's question to the learner.

use leptos::prelude::*;
use unroll_protocol::study::norm::{Axis, Experiment, Layer, Statistics, ask};

use super::is_of;
use crate::{
    course::{use_done, use_lab},
    questions::use_answer,
    store::Store,
    teaching::CheckYourself,
};

/// What is asked, one after the other: axis, statistics, factor of example 1.
const ASKED: [(Axis, Statistics, f32); 4] = [
    (Axis::Batch, Statistics::Batch, 4.0),
    (Axis::Layer, Statistics::Batch, 4.0),
    (Axis::Batch, Statistics::Running, -3.0),
    (Axis::Batch, Statistics::Batch, -3.0),
];

pub fn check() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let round = RwSignal::new(0usize);
    let done = use_done();
    let layer = Memo::new(move |_| store.link.with(|link| link.norm.layer));
    let answered = use_answer(lab, move || {
        let (axis, statistics, factor) = ASKED[round.get() % ASKED.len()];
        is_of(lab, Experiment::Layers).then(|| {
            let text = store.probe.get();
            ask::Layer { text, axis, statistics, layer: layer.get(), row: 1, factor }
        })
    })
    .shown_in(lab.check_seen);
    // Only of the round that is asked: the last answer stays until the next is there.
    let found = Memo::new(move |_| {
        let asked = ASKED[round.get() % ASKED.len()];
        let is_now = |layer: &Layer| (layer.axis, layer.statistics, layer.factor) == asked;
        answered.read(|layer| is_now(layer).then(|| second_row(layer)).flatten()).flatten()
    });
    let question = Signal::derive(move || {
        let (axis, statistics, factor) = ASKED[round.get() % ASKED.len()];
        let how = match (axis, statistics) {
            (Axis::Layer, _) => "LayerNorm",
            (Axis::Batch, Statistics::Batch) => "BatchNorm, training",
            (Axis::Batch, Statistics::Running) => "BatchNorm in use, by running statistics",
        };
        format!(
            "{how}, layer {}: example 1 is multiplied by {}. What happens to the spread of example 2's outputs?",
            layer.get(),
            factor.to_string().replace('-', "−")
        )
    });
    let options = Signal::stored(
        ["They move apart", "They move closer together", "They stay exactly the same"]
            .map(str::to_owned)
            .to_vec(),
    );
    let answer = Signal::derive(move || {
        found.get().map(|(before, after)| match after.total_cmp(&before) {
            core::cmp::Ordering::Greater => 0,
            core::cmp::Ordering::Less => 1,
            core::cmp::Ordering::Equal => 2,
        })
    });
    let explain = Signal::derive(move || {
        let Some((before, after)) = found.get() else { return String::new() };
        let (axis, statistics, _) = ASKED[round.get() % ASKED.len()];
        let why = match (axis, statistics) {
            (Axis::Layer, _) => {
                "Its mean and variance are taken over its own features; example 1 is not in them."
            }
            (Axis::Batch, Statistics::Running) => {
                "Running statistics are fixed numbers from training; this batch is not in them."
            }
            (Axis::Batch, Statistics::Batch) => {
                "The larger example 1 widens the spread of every feature, and everyone is divided by it."
            }
        };
        format!("Their standard deviation was {before:.4} and is now {after:.4}. {why}")
    });
    view! {
        <CheckYourself id="norm" question options answer explain
            on_right=done
            on_another=Callback::new(move |()| round.update(|round| *round += 1))/>
        {move || (!is_of(lab, Experiment::Layers)).then(|| view! {
            <p class="hint">"The question is about the deep network: open “One layer” first."</p>
        })}
    }
    .into_any()
}

/// Standard deviation of example 2's outputs, without and with example 1 pressed.
fn second_row(layer: &Layer) -> Option<(f64, f64)> {
    let result = layer.result.as_ref().ok()?;
    Some((deviation(result.untouched.block(&[1])?), deviation(result.output.block(&[1])?)))
}

fn deviation(values: &[f32]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / count;
    (values.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / count).sqrt()
}
