//! The schedule of the learning rate: its curve, the rate now, and what else the optimizer does.

use leptos::prelude::*;
use unroll_protocol::{LearningRateSchedule, OptimizerKind, OptimizerSpec};

use super::{
    field::two_digits,
    format::{grouped, rate},
};
use crate::{
    course::use_provenance,
    figures::{Dash, Hue, Line, Lines, LinesFigure},
    questions::Questions,
    reactive::memo,
    store::Store,
    teaching::{live, prose},
};

/// Under the curve. Words of the glossary that no chapter's story has room for are linked here.
pub const OPTIMIZER: &str = "The learning rate above is the peak. In the [warm-up](warm-up) the rate climbs to it. \
     Here the warm-up {warmup}. After it the rate falls along half a cosine. At step {end} it is a tenth of the \
     peak, and it stays there. Such a plan is a [learning-rate schedule](learning-rate-schedule).\n\n\
     The [optimizer](optimizer) is {kind}. {rule} The [weight decay](weight-decay) is {decay}: {decays}. [Clipping](gradient-clipping) sets a maximum norm \
     (length). A longer gradient is scaled down to it. Here {clip}. To change any of this \
     but the rate, start over.";

/// Points of the curve after the warm-up.
const POINTS: u32 = 200;

/// The rate of the last step of what is on show, in a line.
#[component]
pub fn RateNow() -> impl IntoView {
    let store = expect_context::<Store>();
    let said = move || {
        let spec = store.built.with(|link| link.experiment().optimizer);
        now(&spec, Questions::from(store).shown())
    };
    view! { <p class="hint" data-testid="schedule-now">{said}</p> }
}

/// The figure with its words, of the present model. While the form describes another schedule, that
/// one is drawn too.
#[component]
pub fn Schedule() -> impl IntoView {
    let store = expect_context::<Store>();
    let spec = memo(move || store.built.with(|link| link.experiment().optimizer));
    let planned = memo(move || store.link.with(|link| link.experiment().optimizer));
    // Whole spans of the schedule's length, so that the curve is drawn anew seldom.
    let end = memo(move || {
        let length = spec.with(|spec| spec.decay_steps.max(1));
        store.step.get().div_ceil(length).max(1).saturating_mul(length)
    });
    let lines = memo(move || {
        let mut lines = curve(&spec.get(), end.get());
        lines.series.extend(other(&spec.get(), &planned.get(), end.get()));
        lines
    });
    let marker = Signal::derive(move || Some(f64::from(Questions::from(store).shown())));
    let of_spec = |name, read: fn(&OptimizerSpec) -> String| live(name, move || spec.with(read));
    let words = prose(
        OPTIMIZER,
        &[
            of_spec("warmup", |spec| match spec.warmup_steps {
                0 => "is left out".to_owned(),
                1 => "takes one step".to_owned(),
                steps => format!("takes {steps} steps"),
            }),
            of_spec("end", |spec| grouped(spec.decay_steps.into())),
            of_spec("kind", |spec| spec.kind.label().to_owned()),
            of_spec("rule", |spec| rule(spec.kind).to_owned()),
            of_spec("decay", |spec| spec.weight_decay.to_string()),
            of_spec("decays", |spec| decays(spec.kind).to_owned()),
            of_spec("clip", |spec| match spec.clip_norm {
                0.0 => "clipping is off".to_owned(),
                norm => format!("the maximum norm is {norm}"),
            }),
        ],
    );
    view! {
        <LinesFigure name="schedule" title="The learning rate over the steps" lines marker
            provenance=use_provenance()/>
        <div class="course-more-text">{words}</div>
    }
    .into_any()
}

/// What an optimizer does, in short.
fn rule(kind: OptimizerKind) -> &'static str {
    match kind {
        OptimizerKind::AdamW | OptimizerKind::Adam => {
            "It gives each weight a step of its own size, from the gradients that the weight has seen so far."
        }
        OptimizerKind::Sgd => {
            "It keeps a running sum, the momentum: at each step the sum shrinks to nine tenths, and the new gradient is added. The step is that sum times the rate, taken downhill. All weights share the rate, whether their gradients are large or small."
        }
        OptimizerKind::Muon => {
            "It moves each matrix of a block by about the same amount in every direction, even where the gradient \
             is small. The embeddings, the head and all vectors are left to AdamW."
        }
    }
}

/// How weights decay under it.
fn decays(kind: OptimizerKind) -> &'static str {
    match kind {
        OptimizerKind::AdamW | OptimizerKind::Muon => {
            "at each step every weight matrix loses that share of itself, times the rate"
        }
        OptimizerKind::Adam | OptimizerKind::Sgd => {
            "at each step that share of every weight matrix is added to its gradient"
        }
    }
}

/// The rate after starting over, where that is another one.
fn other(spec: &OptimizerSpec, planned: &OptimizerSpec, end: u32) -> Option<Line> {
    let differs = LearningRateSchedule::new(spec) != LearningRateSchedule::new(planned);
    let points = || curve(planned, end).series.swap_remove(0).points;
    differs.then(|| Line::new("after starting over", Hue::Weight, Dash::Dashed, points()))
}

/// The schedule up to step `end`: every step of the warm-up, and an even choice of those after it.
fn curve(spec: &OptimizerSpec, end: u32) -> Lines {
    let schedule = LearningRateSchedule::new(spec);
    let warmup = spec.warmup_steps.min(end);
    let after = (1..=POINTS).map(|i| {
        let past = u64::from(end - warmup) * u64::from(i) / u64::from(POINTS);
        warmup + past as u32
    });
    let mut steps: Vec<u32> = (0..=warmup).chain(after).collect();
    steps.dedup();
    let points = steps.into_iter().map(|step| (f64::from(step), schedule.at(step))).collect();
    Lines {
        x_label: "step".into(),
        y_label: "learning rate".into(),
        series: vec![Line::new("rate", Hue::Weight, Dash::Solid, points)],
        x_range: Some((0.0, f64::from(end))),
        ..Lines::default()
    }
}

/// The rate of update number `step`, as a sentence; before the first the rate is 0 where it is warmed up.
fn now(spec: &OptimizerSpec, step: u32) -> String {
    let at = LearningRateSchedule::new(spec).at(step);
    let share = 100.0 * at / f64::from(spec.learning_rate);
    let rate = rate(two_digits(at as f32));
    format!("Step {}: the rate is {rate}, {share:.0}% of the peak.", grouped(step.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_the_schedule_that_trains() {
        let spec = OptimizerSpec::default();
        let schedule = LearningRateSchedule::new(&spec);
        for end in [5000, 10_000] {
            let lines = curve(&spec, end);
            let points = &lines.series[0].points;
            assert!(points.iter().all(|&(step, rate)| rate == schedule.at(step as u32)));
            assert!(points.is_sorted_by(|a, b| a.0 < b.0));
            assert_eq!((points[0], points[20].0), ((0.0, 0.0), 20.0));
            assert_eq!(points.last().map(|point| point.0), Some(f64::from(end)));
        }
        let none = curve(&OptimizerSpec { warmup_steps: 0, ..spec }, 5000);
        let (step, rate) = none.series[0].points[0];
        assert!(step == 0.0 && (rate - f64::from(spec.learning_rate)).abs() < 1e-9, "the peak");
        let short = OptimizerSpec { warmup_steps: 0, decay_steps: 3, ..spec };
        assert_eq!(curve(&short, 3).xs(), [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn another_schedule_is_drawn_beside_the_present_one() {
        let spec = OptimizerSpec::default();
        let decays = OptimizerSpec { weight_decay: 0.0, clip_norm: 0.0, ..spec };
        assert_eq!(other(&spec, &decays, 5000), None, "the same rates");
        let longer = OptimizerSpec { warmup_steps: 100, ..spec };
        let line = other(&spec, &longer, 5000).expect("other rates");
        assert_eq!(line.points, curve(&longer, 5000).series[0].points);
    }

    #[test]
    fn the_rate_now_is_said_in_numbers() {
        let spec = OptimizerSpec { learning_rate: 0.001, ..OptimizerSpec::default() };
        assert_eq!(now(&spec, 0), "Step 0: the rate is 0, 0% of the peak.");
        assert_eq!(now(&spec, 10), "Step 10: the rate is 0.0005, 50% of the peak.");
        assert_eq!(now(&spec, 312), "Step 312: the rate is 0.00099, 99% of the peak.");
        assert_eq!(now(&spec, 9000), "Step 9,000: the rate is 0.0001, 10% of the peak.");
    }
}
