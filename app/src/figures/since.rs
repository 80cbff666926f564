//! How far a figure's numbers have moved since a moment of training: its picture is held, and from then
//! on the cells show the difference. In a twin, how far they are from the same numbers of the run.
//!
//! A figure has no more of it than [`Since`]: what holds the picture is fetched behind the first one.

use std::{cell::RefCell, sync::Arc};

use leptos::{context::Provider, prelude::*};

use super::{
    cells::Place,
    export::{Experiment, Provenance},
    matrix_data::Matrix,
    named::Named,
    scale::{ValueMap, limit},
    second::Second,
};
use crate::{
    fetched::{Fetch, View, fetched_later, part},
    reactive::{effect, memo},
};

/// What is said until there is something to compare with.
const HELD: &str =
    "These values are held. Train, or drag the handle on the curve, to see each cell’s change.";
/// No scale of differences ends below this: what has not moved has no color.
const LEAST: f64 = 0.001;

/// The matrices of a figure; most have one. Those with the same name of their values have one scale.
type Parts = Vec<Arc<Matrix>>;

/// A figure's held picture. `Copy`: handles of the owner it was made under.
#[derive(Clone, Copy)]
pub struct Since {
    live: Memo<Parts>,
    held: RwSignal<Option<Held>>,
    /// The picture on show is the one that is held: there is nothing to compare yet.
    rests: RwSignal<bool>,
    moved: Memo<Option<Parts>>,
}

/// A picture, and what is done with it.
#[derive(Clone)]
struct Held {
    from: From,
    parts: Parts,
    moved: fn(&Self, &Parts) -> Parts,
    describe: fn(&Self, &Matrix, &Matrix, usize, Place) -> String,
}

/// Where a held picture is from.
#[derive(Clone, Copy)]
enum From {
    /// The moment after so many steps.
    Step(u32),
    /// The run whose twin this is, as it is now.
    Run,
}

/// A figure of the matrices that `live` gives. It is asked only while they are compared.
pub fn use_since(live: impl Fn() -> Parts + Send + Sync + 'static) -> Since {
    fn erased(live: Box<dyn Fn() -> Parts + Send + Sync>) -> Since {
        let live = Memo::new_with_compare(move |_| live(), |_, _| true);
        let held = RwSignal::new(None::<Held>);
        let rests = RwSignal::new(false);
        let moved = Memo::new_with_compare(
            move |_| {
                held.with(|held| {
                    let held = held.as_ref().filter(|_| !rests.get())?;
                    Some(live.with(|live| (held.moved)(held, live)))
                })
            },
            |_, _| true,
        );
        Since { live, held, rests, moved }
    }
    erased(Box::new(live))
}

/// What is beside a short scale, where the figure itself says what the values are: "change since step 3".
pub fn short_name(value_name: &str) -> &str {
    value_name.split_once(", ").map_or(value_name, |(_, change)| change)
}

impl Since {
    /// Whether a picture is held, and differences from it are shown.
    pub fn is_on(self) -> bool {
        self.is_held() && !self.rests.get()
    }

    fn is_held(self) -> bool {
        self.held.with(Option::is_some)
    }

    /// The matrices' differences from those that are held; `None` where none are.
    pub fn all(self) -> Option<Vec<Arc<Matrix>>> {
        self.moved.get()
    }

    /// One of [`Self::all`].
    pub fn moved(self, part: usize) -> Option<Arc<Matrix>> {
        self.moved.with(|moved| moved.as_ref()?.get(part).cloned())
    }

    /// What to show of a matrix: its difference, or `live`, which it is.
    pub fn shown(self, part: usize, live: Memo<Arc<Matrix>>) -> Memo<Arc<Matrix>> {
        memo(move || self.moved(part).unwrap_or_else(|| live.get()))
    }

    /// What a cell was and is, as a sentence; `None` where no picture is held.
    pub fn describe(self, part: usize, place: Place) -> Option<String> {
        let moved = self.moved(part)?;
        let now = self.live.with(|live| live.get(part).cloned())?;
        self.held.with(|held| {
            let held = held.as_ref()?;
            Some((held.describe)(held, &now, &moved, part, place))
        })
    }

    /// The button that holds the picture, and lets it go.
    ///
    /// Once `title` or the experiment is another, the picture is let go. `said` is a change that is said
    /// beside the button.
    pub fn button(
        self,
        name: &'static str,
        title: Signal<String>,
        provenance: Signal<Provenance>,
        said: Signal<Option<String>>,
    ) -> impl IntoView {
        const BUTTON: Fetch = part!(since: View = button);
        let comparing = Comparing { since: self, name, title, provenance, said };
        let button = fetched_later(BUTTON, "The comparison");
        view! { <Provider value=comparing>{button}</Provider> }
    }
}

#[derive(Clone, Copy)]
struct Comparing {
    since: Since,
    name: &'static str,
    title: Signal<String>,
    provenance: Signal<Provenance>,
    said: Signal<Option<String>>,
}

thread_local! {
    /// What is on the page that can be compared; nothing of a twin.
    static OF_RUN: RefCell<Named<Memo<Parts>>> = const { RefCell::new(Named::new()) };
    static CHANGED: ArcTrigger = ArcTrigger::new();
}

/// Has a twin find the matrices for as long as their owner lives.
fn register(name: &'static str, live: Memo<Parts>) {
    let id = OF_RUN.with_borrow_mut(|all| all.add(name, live));
    CHANGED.with(ArcTrigger::notify);
    on_cleanup(move || OF_RUN.with_borrow_mut(|all| all.remove(id)));
}

/// The matrices of the run that are shown under this name, as they are now. Tracks them.
fn of_run(name: &str) -> Option<Parts> {
    CHANGED.with(ArcTrigger::track);
    OF_RUN.with_borrow(|all| all.find(name)).and_then(|live| live.try_get())
}

fn button() -> AnyView {
    let comparing: Comparing = expect_context();
    if let Some(Second { behind }) = use_context() {
        return with_run(comparing, behind);
    }
    let Comparing { since, name, title: of, provenance, said } = comparing;
    let Since { live, held, rests, .. } = since;
    register(name, live);
    let let_go = move || {
        if held.with_untracked(Option::is_some) {
            held.set(None);
        }
    };
    let of = memo(move || (of.get(), provenance.with(|p| p.experiment.clone())));
    let step = memo(move || provenance.with(|p| p.step));
    effect(move || {
        of.track();
        let_go();
    });
    // Of another sentence there is nothing to compare.
    effect(move || {
        let other = held.with(|held| {
            held.as_ref().is_some_and(|held| live.with(|live| !are_alike(live, &held.parts)))
        });
        if other {
            let_go();
        }
    });
    effect(move || {
        let is_of = |held: &Held| matches!(held.from, From::Step(of) if step.get() == Some(of));
        let now = held.with(|held| held.as_ref().is_some_and(is_of));
        if rests.get_untracked() != now {
            rests.set(now);
        }
    });
    let cannot = memo(move || held.with(Option::is_none) && step.get().is_none());
    let press = move |()| match step.get_untracked() {
        _ if held.with_untracked(Option::is_some) => held.set(None),
        Some(step) => {
            let parts = live.get_untracked();
            rests.set(true);
            held.set(Some(Held { from: From::Step(step), parts, moved, describe }));
        }
        None => {}
    };
    let title = move || match held.with(|held| held.as_ref().map(|held| held.from)) {
        Some(From::Step(step)) if rests.get() => {
            format!("Holding the values of step {step}. Press to let them go")
        }
        Some(From::Step(step)) => {
            format!("Showing the change since step {step}. Press to show the values again")
        }
        _ if cannot.get() => "Pause first. Then you can compare this moment with others".to_owned(),
        _ => "Hold these values. Then keep training or go to another moment: each cell shows its \
              change"
            .to_owned(),
    };
    let title = Signal::derive(title);
    let press = Callback::new(press);
    // A model that others trained has no other moment.
    let has_moments =
        memo(move || provenance.with(|p| !matches!(p.experiment, Some(Experiment::Given(_)))));
    (move || has_moments.get().then(|| switch(name, since, said, title, cannot.into(), press)))
        .into_any()
}

/// In a twin: the button that compares with the run, and goes on doing so as both train. Not while the
/// twin is far `behind`: at unlike steps the difference says little.
fn with_run(Comparing { since, name, said, .. }: Comparing, behind: Signal<bool>) -> AnyView {
    let Since { live, held, .. } = since;
    let is_on = RwSignal::new(false);
    let other = Memo::new_with_compare(
        move |_| of_run(name).filter(|other| live.with(|live| are_alike(live, other))),
        |_, _| true,
    );
    effect(move || {
        let run = other.get().filter(|_| is_on.get() && !behind.get());
        if run.is_some() || held.with_untracked(Option::is_some) {
            held.set(run.map(|parts| Held { from: From::Run, parts, moved, describe }));
        }
    });
    let cannot = memo(move || behind.get() || other.with(Option::is_none));
    let title = move || {
        // Read before `cannot`, which follows it: an effect misses the change of a memo that it reads after
        // one that followed the change and stayed as it was.
        if behind.get() {
            return "The twin is still catching up. Once it is at the run’s step, you can compare the two";
        }
        match (is_on.get(), cannot.get()) {
            (_, true) => "The run has no cells like these to compare with",
            (true, _) => "Showing twin minus run. Press to show the values again",
            (false, _) => "Show in each cell the twin’s value minus the run’s",
        }
    };
    let title = Signal::derive(move || title().to_owned());
    let press = Callback::new(move |()| {
        let can = !cannot.get_untracked();
        is_on.update(|on| *on = can && !*on);
    });
    switch(name, since, said, title, cannot.into(), press)
}

/// The button, and what is said beside it while a picture is held.
fn switch(
    name: &'static str,
    since: Since,
    said: Signal<Option<String>>,
    title: Signal<String>,
    cannot: Signal<bool>,
    press: Callback<()>,
) -> AnyView {
    let says = move || match since.rests.get() {
        true => Some(HELD.to_owned()),
        false => said.get(),
    };
    view! {
        <button type="button" class="figure-act figure-since" data-testid=format!("{name}-since") title=title
            aria-pressed=move || since.is_held().to_string() aria-disabled=move || cannot.get().then_some("true")
            on:click=move |_| press.run(())>
            "Compare"
        </button>
        {move || says().filter(|_| since.is_held()).map(|said| view! {
            <p class="since-says" translate="no" data-testid=format!("{name}-change")>{said}</p>
        })}
    }
    .into_any()
}

/// Whether both are of the same cells, part by part.
fn are_alike(some: &Parts, other: &Parts) -> bool {
    let is_there = |part: &Arc<Matrix>| part.shape() != (0, 0);
    some.len() == other.len()
        && some.iter().any(is_there)
        && some.iter().zip(other).all(|(one, two)| {
            (one.has_cells_of(two) && one.row_axis == two.row_axis)
                || !(is_there(one) || is_there(two))
        })
}

fn moved(held: &Held, live: &Parts) -> Parts {
    if !are_alike(live, &held.parts) {
        return live.clone();
    }
    let apart = |(now, then): (&Arc<Matrix>, &Arc<Matrix>)| -> Vec<f32> {
        now.values.iter().zip(&then.values).map(|(now, then)| now - then).collect()
    };
    let apart: Vec<Vec<f32>> = live.iter().zip(&held.parts).map(apart).collect();
    let mut scales: Vec<(&str, f64)> = Vec::new();
    for (part, values) in live.iter().zip(&apart) {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let most = finite.map(|value| f64::from(value.abs())).fold(0.0, f64::max);
        match scales.iter_mut().find(|scale| scale.0 == part.value_name) {
            Some(scale) => scale.1 = scale.1.max(most),
            None => scales.push((&part.value_name, most)),
        }
    }
    let part = |(now, values): (&Arc<Matrix>, Vec<f32>)| {
        let most = scales.iter().find(|scale| scale.0 == now.value_name).map(|scale| scale.1);
        let name = &now.value_name;
        Arc::new(Matrix {
            map: ValueMap::Signed { limit: limit(most.into_iter()).max(LEAST) as f32 },
            value_name: match held.from {
                From::Step(step) => format!("{name}, change since step {step}"),
                From::Run => format!("{name}, twin minus run"),
            },
            values,
            row_axis: now.row_axis.clone(),
            column_axis: now.column_axis.clone(),
            rows: now.rows.clone(),
            columns: now.columns.clone(),
            absent: now.absent.clone(),
        })
    };
    live.iter().zip(apart).map(part).collect()
}

fn describe(held: &Held, now: &Matrix, moved: &Matrix, part: usize, place: Place) -> String {
    let (row, column) = place;
    let then = held.parts.get(part).map_or(f32::NAN, |then| then.value(row, column));
    let (now, said) = (now.value(row, column), moved.describe(row, column));
    match (then.is_finite() && now.is_finite(), held.from) {
        (true, From::Step(step)) => format!("{said} ({then:.4} at step {step}, {now:.4} here)"),
        (true, From::Run) => format!("{said} ({then:.4} in the run, {now:.4} in the twin)"),
        (false, _) => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::matrix_data::tests::small;

    fn held(from: From, parts: &[&Matrix]) -> Held {
        Held { from, parts: list(parts), moved, describe }
    }

    fn list(parts: &[&Matrix]) -> Parts {
        parts.iter().map(|part| Arc::new(Matrix::clone(part))).collect()
    }

    #[test]
    fn a_difference_has_a_scale_of_its_own_and_no_value_where_either_has_none() {
        let then = small();
        let mut now = small();
        now.values[0] = 0.25;
        now.values[5] = f32::NAN;
        let at_12 = held(From::Step(12), &[&then]);
        let change = &moved(&at_12, &list(&[&now]))[0];
        assert_eq!(change.map, ValueMap::Signed { limit: 0.5 });
        assert_eq!(change.values[..3], [-0.25, 0.0, 0.0]);
        assert!(change.values[3].is_nan() && change.values[5].is_nan());
        assert_eq!(change.value_name, "h, change since step 12");
        assert_eq!(
            [&change.value_name, &now.value_name].map(|name| short_name(name)),
            ["change since step 12", "h"]
        );
        let run = held(From::Run, &[&then]);
        assert_eq!(moved(&run, &list(&[&then]))[0].map, ValueMap::Signed { limit: LEAST as f32 });
        let said = describe(&at_12, &now, change, 0, (0, 0));
        assert_eq!(said, "unit ‘u1’ (1), time ‘a’ (1): -0.2500 (0.5000 at step 12, 0.2500 here)");
        let said = describe(&run, &now, change, 0, (0, 0));
        assert!(said.ends_with("-0.2500 (0.5000 in the run, 0.2500 in the twin)"), "{said}");
    }

    #[test]
    fn only_the_same_cells_are_compared() {
        let then = small();
        let none = Matrix::default();
        let other = Matrix { columns: vec!["a".into(), "b".into(), "c".into()], ..small() };
        let elsewhere = Matrix { row_axis: "layer 2, unit".into(), ..small() };
        let alike = |some: &[&Matrix], other: &[&Matrix]| are_alike(&list(some), &list(other));
        assert!(alike(&[&then], &[&then]) && alike(&[&then, &none], &[&then, &none]));
        assert!(!alike(&[&other], &[&then]), "another sentence");
        assert!(!alike(&[&elsewhere], &[&then]), "another layer");
        assert!(!alike(&[&then, &then], &[&then]) && !alike(&[&then, &none], &[&then, &then]));
        assert!(!alike(&[&none], &[&none]) && !alike(&[], &[]), "nothing is there");
        let live = list(&[&other]);
        assert!(Arc::ptr_eq(&moved(&held(From::Run, &[&then]), &live)[0], &live[0]));
    }

    #[test]
    fn parts_with_the_same_name_of_values_have_one_scale() {
        let then = small();
        let by = |by: f32, name: &str| {
            let values = then.values.iter().map(|value| value + by).collect();
            Matrix { values, value_name: name.into(), ..small() }
        };
        let state = |by_: f32| by(by_, "state");
        let (then, now) =
            ([&state(0.0), &state(0.0), &then], [&state(0.1), &state(0.7), &by(3.0, "h")]);
        let moved = moved(&held(From::Run, &then), &list(&now));
        let limits = moved.iter().map(|part| part.map.value(1.0)).collect::<Vec<_>>();
        assert_eq!(limits, [1.0, 1.0, 5.0]);
    }
}
