//! The chapter's questions that the live networks answer.

use leptos::prelude::*;
use unroll_protocol::study::norm::{Axis, Experiment, Layer, Statistics, Version, ask};

use super::is_of;
use crate::{
    course::{SMOOTHED, use_lab, use_right},
    questions::use_answer,
    reactive::memo,
    store::Store,
    teaching::{CheckYourself, Kind},
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
pub const CLEAR: f64 = 0.1;

/// How many of its steps the network with BatchNorm needed to be as good as the one without is now. That
/// one is behind, as the time bar shows; by how much, it does not say.
pub fn loss() -> AnyView {
    let lab = use_lab();
    let caught_up = memo(move || {
        let of = |version: Version| lab.history.with(|h| h.smoothed(version.label()));
        let is_now = is_of(lab, Experiment::Layers);
        is_now.then(|| caught_up(&of(Version::Batch), &of(Version::Plain))).flatten()
    });
    let answer = Signal::derive(move || {
        caught_up.get().map(|CaughtUp { step, last, .. }| match step / last {
            share if share < 0.25 => 0,
            share if share <= 0.5 => 1,
            _ => 2,
        })
    });
    let explain = Signal::derive(move || {
        caught_up.get().map_or_else(String::new, |CaughtUp { step, last, loss }| {
            format!(
                "Without normalization the loss after {last} steps is {loss:.3}. With BatchNorm it was as low after \
                 {step} steps. (Each loss is the mean over {SMOOTHED} batches.)"
            )
        })
    });
    let options = ["Less than a quarter of them", "A quarter to a half", "More than half"];
    let question = "Take the loss that the plain network has reached by now. How many of the steps so far did the \
                    network with BatchNorm need to get there?";
    let too_early = Signal::derive(move || {
        let early = "Train some more first: so far the network without normalization is not clearly behind.";
        caught_up.get().is_none().then(|| early.to_owned())
    });
    view! {
        <CheckYourself id="norm-loss" kind=Kind::Look question=Signal::stored(question.to_owned())
            options=Signal::stored(options.map(str::to_owned).to_vec()) answer explain too_early
            on_right=use_right("norm-loss")/>
    }
    .into_any()
}

/// The step at which one network was as good as another is after its last step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CaughtUp {
    step: f64,
    last: f64,
    loss: f64,
}

/// Of two curves of mean losses; `None` unless the first network is clearly ahead by now.
fn caught_up(ahead: &[(f64, f64)], behind: &[(f64, f64)]) -> Option<CaughtUp> {
    // Earlier means are of fewer batches.
    let (ahead, behind) = (ahead.get(SMOOTHED - 1..)?, behind.get(SMOOTHED - 1..)?);
    let (last, loss) = *behind.last()?;
    ahead.last().filter(|now| now.1 + CLEAR < loss)?;
    let step = ahead.iter().find(|mean| mean.1 <= loss)?.0;
    Some(CaughtUp { step, last, loss })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_caught_up_only_where_the_other_is_clearly_behind() {
        let curve = |slope: f64| -> Vec<(f64, f64)> {
            (1..=100).map(|step| (f64::from(step), 4.0 - slope * f64::from(step))).collect()
        };
        let found = caught_up(&curve(0.02), &curve(0.01)).unwrap();
        assert_eq!((found.step, found.last, found.loss), (50.0, 100.0, 3.0));
        assert_eq!(caught_up(&curve(0.01), &curve(0.02)), None);
        assert_eq!(caught_up(&curve(0.0105), &curve(0.01)), None);
        assert_eq!(caught_up(&curve(0.02)[..10], &curve(0.01)[..10]), None);
    }
}
