//! A run of training as the frame shows it, whichever engine it is in.

use core::time::Duration;
use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{RunState, link::Chapter};

use super::{Lab, Labs, history::smoothed};
use crate::{
    chapters,
    controls::use_timer,
    questions::Questions,
    reactive::{effect, effect_with_last, memo},
    store::{Device, Store},
};

/// How long a press is shown as done before the engine has confirmed it. An engine that is silent
/// for longer has not done it.
const BENEFIT_OF_DOUBT: Duration = Duration::from_secs(2);

/// One measured quantity over the steps of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub name: String,
    /// Step and value, in order.
    pub points: Vec<(f64, f64)>,
}

/// What the learner asks of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Train,
    Pause,
    Step,
}

/// Quantities over time, as the time bar draws them.
type Track = Signal<Arc<Vec<Series>>>;

/// A run of training: what is known of it, and how to steer it.
#[derive(Clone, Copy)]
pub struct Run {
    /// What the engine said last.
    pub told: ReadSignal<RunState>,
    /// As the learner last asked for it, until the engine says otherwise: a press is answered at
    /// once, even while the engine is in the middle of a long step.
    pub state: Signal<RunState>,
    /// Optimizer steps taken.
    pub step: RwSignal<u32>,
    pub milliseconds_per_step: Signal<Option<f32>>,
    /// Name and last value of each measured quantity; the first is the loss.
    pub readings: Memo<Vec<Reading>>,
    /// The losses over time that the time bar draws: the first of the readings.
    pub track: Track,
    /// How many there are.
    pub curves: usize,
    /// Quantities of another run that it draws beside them.
    pub beside: RwSignal<Option<Series>>,
    /// Why nothing can be trained now, or `None` when it can.
    pub idle: Memo<Option<String>>,
    /// Why this model can never be trained here, if it can't.
    pub cannot: Signal<Option<&'static str>>,
    /// Which moment is looked at, and which can be.
    pub questions: Questions,
    /// Up to which step the page takes a model's first steps by itself, while it does.
    pub warms: Memo<Option<u32>>,
    /// What the learner has just asked for, while the engine has not answered.
    pub wanted: RwSignal<Option<RunState>>,
    order: Callback<Order>,
}

/// The last value of one measured quantity.
#[derive(Clone, PartialEq)]
pub struct Reading {
    pub name: String,
    pub value: Option<f32>,
    /// A share of right answers, not a loss.
    pub is_share: bool,
    /// The mean of the last losses, as in the chapter's own chart.
    pub is_mean: bool,
}

impl Reading {
    fn of(series: &super::history::Series, is_mean: bool) -> Self {
        let value = if is_mean { series.last_mean() } else { series.last() };
        Self { name: series.name.clone(), value, is_share: series.is_share(), is_mean }
    }

    fn loss(name: &str, value: Option<f32>) -> Self {
        Self { name: name.to_owned(), value, is_share: false, is_mean: false }
    }
}

/// Why a model that was opened can't be trained.
const GIVEN: &str = "This model comes from elsewhere and can’t be trained here.";

/// Most losses of a run in the track of the time bar.
pub const MOST_CURVES: usize = 3;
/// About so many points of a long run are handed to the time bar: it has no more pixels.
const MOST_POINTS: usize = 400;

impl Run {
    /// The run of a chapter. Call where the frame is made: it owns what this makes.
    pub fn of(chapter: Chapter) -> Self {
        match expect_context::<Labs>().of(chapter) {
            Some(lab) => Self::of_lab(lab),
            None => Self::of_store(expect_context::<Store>()),
        }
    }

    /// This run with nothing measured of it.
    pub fn without_loss(self) -> Self {
        Self { readings: memo(Vec::new), track: Signal::stored(Arc::default()), ..self }
    }

    fn of_lab(lab: Lab) -> Self {
        // One quantity has one value: what the chapter's chart shows.
        let means = memo(move || {
            lab.started.with(|s| s.as_ref().is_some_and(|s| chapters::shows_means(&s.spec)))
        });
        let readings = memo(move || {
            let means = means.get();
            lab.history.with(|history| {
                history.series().iter().map(|s| Reading::of(s, means)).collect::<Vec<_>>()
            })
        });
        let beside = RwSignal::new(None);
        // What is no loss has a scale of its own.
        let curves = chapters::info(lab.chapter).curves;
        let track = Signal::derive(move || {
            let means = means.get();
            let line = |series: &super::history::Series| {
                let points = series.whole();
                let points = if means { smoothed(&points) } else { points };
                Series { name: series.name.clone(), points: thinned(&points) }
            };
            let series = lab
                .history
                .with(|history| history.series().iter().take(curves).map(line).collect());
            with_beside(series, beside)
        });
        let order = Callback::new(move |order| match order {
            Order::Train => lab.run(),
            Order::Pause => lab.pause(),
            Order::Step => lab.take_steps(1),
        });
        let built = Signal::derive(move || lab.started.with(Option::is_some));
        let pace = lab.milliseconds_per_step.into();
        let questions = Questions::from(lab);
        let cannot = Signal::stored(None);
        Self::new(
            questions,
            lab.device,
            (built, cannot),
            pace,
            readings,
            (track, curves, beside),
            order,
        )
    }

    fn of_store(store: Store) -> Self {
        let questions = Questions::from(store);
        let readings = memo(move || {
            store.curve.with(|curve| {
                let until = questions.at.get().unwrap_or(u32::MAX);
                let points = curve.points().iter();
                let loss = points.rev().find(|point| point.step <= until).map(|point| point.loss);
                let held_out = curve.held_out_before(until).map(|(_, loss)| loss);
                vec![Reading::loss("loss", loss), Reading::loss("held out", held_out)]
            })
        });
        let curves = chapters::info(Chapter::Gpt).curves;
        let beside = RwSignal::new(None);
        let track = Signal::derive(move || {
            let series = store.curve.with(|curve| {
                let loss = thinned(curve.points());
                let loss = loss.into_iter().map(|p| (p.step.into(), p.loss.into())).collect();
                let held_out: Vec<_> =
                    curve.held_out().map(|(step, loss)| (step.into(), loss.into())).collect();
                vec![
                    Series { name: "loss".to_owned(), points: loss },
                    Series { name: "held out".to_owned(), points: thinned(&held_out) },
                ]
            });
            with_beside(series, beside)
        });
        let order = Callback::new(move |order| match order {
            Order::Train => store.run(),
            Order::Pause => store.pause(),
            Order::Step => store.take_steps(1),
        });
        let built = Signal::derive(move || store.started.with(Option::is_some));
        let cannot = Signal::derive(move || store.is_given().then_some(GIVEN));
        let pace =
            Signal::derive(move || store.speed.get().map(|speed| speed.milliseconds_per_step));
        Self::new(
            questions,
            store.device,
            (built, cannot),
            pace,
            readings,
            (track, curves, beside),
            order,
        )
    }

    fn new(
        questions: Questions,
        device: RwSignal<Device>,
        (built, cannot): (Signal<bool>, Signal<Option<&'static str>>),
        milliseconds_per_step: Signal<Option<f32>>,
        readings: Memo<Vec<Reading>>,
        (track, curves, beside): (Track, usize, RwSignal<Option<Series>>),
        order: Callback<Order>,
    ) -> Self {
        let idle = memo(move || match device.get() {
            Device::Loading => Some("The engine is still loading.".to_owned()),
            Device::Unavailable(reason) => Some(reason),
            Device::Ready { .. } => {
                let missing = (!built.get()).then_some("The model is still being built.");
                missing.or_else(|| cannot.get()).map(str::to_owned)
            }
        });
        let (told, step) = (questions.state, questions.step);
        let wanted = RwSignal::new(None::<RunState>);
        // Only a change is an answer: a Pause so soon after Train that the engine has not even said
        // that it trains would be taken for done, and the next press for its opposite.
        effect_with_last(move |before: Option<RunState>| {
            let now = told.get();
            if before.is_some_and(|before| before != now) && wanted.get_untracked() == Some(now) {
                wanted.set(None);
            }
            now
        });
        // An engine that is silent has not done it.
        let doubt = use_timer();
        effect(move || match wanted.get() {
            Some(_) => doubt.start(BENEFIT_OF_DOUBT, move || {
                wanted.try_set(None);
            }),
            None => doubt.stop(),
        });
        let state = Signal::derive(move || wanted.get().unwrap_or_else(|| told.get()));
        let store = expect_context::<Store>();
        let warms = memo(move || {
            let goal = questions.goal.get();
            // What a link asks for is not the page's own wish.
            let is_asked = || store.link.with_untracked(|link| link.step > 0);
            let leads = state.get() == RunState::Running && goal > step.get() && !is_asked();
            leads.then_some(goal)
        });
        Self {
            told,
            state,
            step,
            milliseconds_per_step,
            readings,
            track,
            curves,
            beside,
            idle,
            cannot,
            questions,
            warms,
            wanted,
            order,
        }
    }

    /// Whether the next press pauses. Who is asked to press Train while the page takes the first steps by itself
    /// finds that button, and trains beyond them.
    pub fn would_pause(self) -> bool {
        self.is_running() && self.warms.get().is_none()
    }

    pub fn is_running(self) -> bool {
        self.state.get() == RunState::Running
    }

    /// Trains if it rests, rests if it trains; nothing while there is no model.
    pub fn toggle(self) {
        if self.idle.get_untracked().is_some() {
            return;
        }
        let (state, order) = match untrack(|| self.would_pause()) {
            true => (RunState::Paused, Order::Pause),
            false => (RunState::Running, Order::Train),
        };
        self.wanted.set(Some(state));
        self.order.run(order);
    }

    /// Takes one step; nothing while there is no model.
    pub fn take_step(self) {
        if self.idle.get_untracked().is_none() {
            self.wanted.set(Some(RunState::Paused));
            self.order.run(Order::Step);
        }
    }
}

/// The track of a run, and one quantity of another run as the last of it. Tracks that.
fn with_beside(mut series: Vec<Series>, beside: RwSignal<Option<Series>>) -> Arc<Vec<Series>> {
    beside.with(|beside| {
        if let Some(beside) = beside {
            series.resize_with(MOST_CURVES, Series::default);
            series.push(beside.clone());
        }
    });
    Arc::new(series)
}

/// Evenly spaced ones of the points of a run, the first and the last among them.
fn thinned<T: Copy>(points: &[T]) -> Vec<T> {
    let stride = points.len().div_ceil(MOST_POINTS).max(1);
    // Where the run stands.
    let last = points.last().filter(|_| !(points.len() - 1).is_multiple_of(stride));
    points.iter().step_by(stride).chain(last).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_thinned_and_keeps_its_ends() {
        assert!(thinned::<u32>(&[]).is_empty());
        assert_eq!(thinned(&[7]), [7]);
        for length in [399, 400, 401, 800, 801, 9_999, 10_000, 10_001] {
            let all: Vec<u32> = (0..length).collect();
            let kept = thinned(&all);
            assert_eq!((kept[0], kept[kept.len() - 1]), (0, length - 1));
            assert!(kept.windows(2).all(|pair| pair[0] < pair[1]), "{length}");
            assert!(kept.len() <= MOST_POINTS + 1, "{length}");
        }
    }
}
