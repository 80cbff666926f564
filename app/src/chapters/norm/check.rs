//! The chapter's questions that the live networks answer.

use leptos::prelude::*;
use unroll_protocol::study::norm::{Axis, Experiment, Layer, Statistics, Version, ask};

use super::{SMOOTHED, is_of, smoothed};
use crate::{
    course::{use_lab, use_right},
    questions::use_answer,
    reactive::memo,
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
    let layer = memo(move || store.link.with(|link| link.norm.layer));
    let answered = use_answer(lab, move || {
        let (axis, statistics, factor) = ASKED[round.get() % ASKED.len()];
        is_of(lab, Experiment::Layers).then(|| {
            let text = store.probe.get();
            ask::Layer { text, axis, statistics, layer: layer.get(), row: 1, factor }
        })
    })
    .shown_in(lab.check_seen);
    // Only of the round that is asked: the last answer stays until the next is there.
    let found = memo(move || {
        let asked = ASKED[round.get() % ASKED.len()];
        let is_now = |layer: &Layer| (layer.axis, layer.statistics, layer.factor) == asked;
        answered.read(|layer| is_now(layer).then(|| second_row(layer)).flatten()).flatten()
    });
    let question = Signal::derive(move || {
        let (axis, statistics, factor) = ASKED[round.get() % ASKED.len()];
        let how = match (axis, statistics) {
            (Axis::Layer, _) => "LayerNorm",
            (Axis::Batch, Statistics::Batch) => "BatchNorm in training",
            (Axis::Batch, Statistics::Running) => "BatchNorm at inference, with running statistics",
        };
        format!(
            "{how}, layer {}: example 1 is multiplied by {}. What happens to the spread of example 2’s outputs?",
            layer.get(),
            factor.to_string().replace('-', "−")
        )
    });
    let options = Signal::stored(
        ["It grows", "It shrinks", "It stays exactly the same"].map(str::to_owned).to_vec(),
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
                "Example 2 has a mean and a variance of its own, and example 1 is not in them."
            }
            (Axis::Batch, Statistics::Running) => {
                "Running statistics are fixed numbers from training, and this batch is not in them."
            }
            (Axis::Batch, Statistics::Batch) => {
                "Example 1 changes the mean and the spread of every feature, and all examples share these."
            }
        };
        format!("Its standard deviation was {before:.4} and is now {after:.4}. {why}")
    });
    view! {
        <CheckYourself id="norm" question options answer explain
            on_right=use_right("norm")
            on_another=Callback::new(move |()| round.update(|round| *round += 1))/>
        {move || (!is_of(lab, Experiment::Layers)).then(|| view! {
            <p class="hint">"This question is about the deep network. Open the view “One layer” first."</p>
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

/// A difference of losses that the next batches will not turn around.
const CLEAR: f64 = 0.1;

/// Which of the three networks is behind now, where one is.
pub fn loss() -> AnyView {
    let lab = use_lab();
    let names = || Version::ALL.iter().map(|version| version.label());
    let losses = memo(move || {
        if !is_of(lab, Experiment::Layers) {
            return None;
        }
        let last = |name| {
            let means = smoothed(lab, name);
            means.last().filter(|_| means.len() >= SMOOTHED).map(|(_, loss)| *loss)
        };
        names().map(last).collect::<Option<Vec<f64>>>()
    });
    let answer = memo(move || losses.with(|losses| behind(losses.as_deref()?)));
    let explain = Signal::derive(move || {
        losses.with(|losses| {
            let each = names().zip(losses.iter().flatten());
            let each = each.map(|(name, loss)| format!("{name} {loss:.3}")).collect::<Vec<_>>();
            format!("Mean loss of the last {SMOOTHED} batches: {}.", each.join(", "))
        })
    });
    let question = "Three networks began with the same weights and have seen the same batches. Which one is behind?";
    let too_early = Signal::derive(move || {
        let early = "Train some more first: so far none of the three networks is clearly behind.";
        answer.get().is_none().then(|| early.to_owned())
    });
    view! {
        <CheckYourself id="norm-loss" question=Signal::stored(question.to_owned())
            options=Signal::stored(names().map(str::to_owned).collect()) answer explain too_early
            on_right=use_right("norm-loss")/>
    }
    .into_any()
}

/// The one with the highest loss, if it is clearly the highest.
fn behind(losses: &[f64]) -> Option<usize> {
    let most = (0..losses.len()).max_by(|&a, &b| losses[a].total_cmp(&losses[b]))?;
    let others = losses.iter().enumerate().filter(|(at, _)| *at != most);
    others.map(|other| *other.1).all(|other| losses[most] > other + CLEAR).then_some(most)
}

#[cfg(test)]
mod tests {
    use super::behind;

    #[test]
    fn one_is_behind_only_where_that_is_clear() {
        assert_eq!(behind(&[3.4, 2.803, 2.798]), Some(0));
        assert_eq!(behind(&[2.803, 2.798, 2.5]), None);
        assert_eq!(behind(&[]), None);
    }
}
