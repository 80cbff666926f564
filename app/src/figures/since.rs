//! How far a matrix has moved since a moment of training: its picture is held, and from then on the
//! cells show the difference. In a twin, how far it is from the same matrix of the run.
//!
//! A figure has no more of it than [`Since`]: what holds the picture is fetched behind the first one.

use std::{cell::RefCell, sync::Arc};

use leptos::{context::Provider, prelude::*};

use super::{
    cells::Place,
    export::Provenance,
    matrix_data::Matrix,
    scale::{ValueMap, limit},
    second::Second,
};
use crate::{
    fetched::{Fetch, View, fetched_later, part},
    reactive::{effect, memo},
};

/// No scale of differences ends below this: what has not moved has no color.
const LEAST: f64 = 0.001;

/// A figure's held picture. `Copy`: handles of the owner it was made under.
#[derive(Clone, Copy)]
pub struct Since {
    live: Memo<Arc<Matrix>>,
    held: RwSignal<Option<Held>>,
    /// What to show: the matrix as it is, or its difference from the one that is held.
    pub shown: Memo<Arc<Matrix>>,
}

/// A picture, and what is done with it.
#[derive(Clone)]
struct Held {
    from: From,
    matrix: Arc<Matrix>,
    moved: fn(&Self, &Arc<Matrix>) -> Arc<Matrix>,
    describe: fn(&Self, &Matrix, Place) -> String,
}

/// Where a held picture is from.
#[derive(Clone, Copy)]
enum From {
    /// The moment after so many steps.
    Step(u32),
    /// The run whose twin this is, as it is now.
    Run,
}

pub fn use_since(live: Memo<Arc<Matrix>>) -> Since {
    let held = RwSignal::new(None::<Held>);
    let shown = memo(move || {
        let live = live.get();
        held.with(|held| match held {
            Some(held) => (held.moved)(held, &live),
            None => live,
        })
    });
    Since { live, held, shown }
}

impl Since {
    /// Whether a picture is held.
    pub fn is_on(self) -> bool {
        self.held.with(Option::is_some)
    }

    /// What a cell was and is, as a sentence; `None` where no picture is held.
    pub fn describe(self, place: Place) -> Option<String> {
        let live = self.live.get();
        self.held.with(|held| held.as_ref().map(|held| (held.describe)(held, &live, place)))
    }

    /// The button that holds the picture, and lets it go.
    ///
    /// Once `title` or the experiment is another, the picture is let go. `place` is the cell whose
    /// change is said beside the button.
    pub fn button(
        self,
        name: &'static str,
        title: Signal<String>,
        provenance: Signal<Provenance>,
        place: Signal<Option<Place>>,
    ) -> impl IntoView {
        const BUTTON: Fetch = part!(since: View = button);
        let comparing = Comparing { since: self, name, title, provenance, place };
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
    place: Signal<Option<Place>>,
}

/// A figure's name and its matrix.
type Named = (&'static str, Memo<Arc<Matrix>>);

thread_local! {
    /// The matrices on the page that can be compared; none of a twin.
    static OF_RUN: RefCell<Vec<Named>> = const { RefCell::new(Vec::new()) };
    static CHANGED: ArcTrigger = ArcTrigger::new();
}

/// Has a twin find the matrix for as long as its owner lives.
fn register(name: &'static str, live: Memo<Arc<Matrix>>) {
    OF_RUN.with_borrow_mut(|all| all.push((name, live)));
    CHANGED.with(ArcTrigger::notify);
    on_cleanup(move || {
        OF_RUN.with_borrow_mut(|all| {
            // The oldest: a view may be made anew before the old one is gone.
            if let Some(at) = all.iter().position(|one| one.0 == name) {
                all.remove(at);
            }
        });
    });
}

/// The matrix of the run that is shown under this name, as it is now. Tracks it.
fn of_run(name: &str) -> Option<Arc<Matrix>> {
    CHANGED.with(ArcTrigger::track);
    let found = OF_RUN.with_borrow(|all| all.iter().rev().find(|one| one.0 == name).copied());
    found.and_then(|(_, live)| live.try_get())
}

fn button() -> AnyView {
    let comparing: Comparing = expect_context();
    if use_context::<Second>().is_some() {
        return with_run(comparing);
    }
    let Comparing { since, name, title: of, provenance, place } = comparing;
    let Since { live, held, .. } = since;
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
        let live = live.get();
        if held.with_untracked(|h| h.as_ref().is_some_and(|h| !live.has_cells_of(&h.matrix))) {
            let_go();
        }
    });
    let cannot = memo(move || held.with(Option::is_none) && step.get().is_none());
    let press = move |()| match step.get_untracked() {
        _ if held.with_untracked(Option::is_some) => held.set(None),
        Some(step) => {
            let matrix = live.get_untracked();
            held.set(Some(Held { from: From::Step(step), matrix, moved, describe }));
        }
        None => {}
    };
    let title = move || match held.with(|held| held.as_ref().map(|held| held.from)) {
        Some(From::Step(step)) => {
            format!("Showing the change since step {step}. Press to show the values again")
        }
        _ if cannot.get() => "Pause first. Then you can compare this moment with others".to_owned(),
        _ => "Hold these values. Then keep training or go to another moment: each cell shows its \
              change"
            .to_owned(),
    };
    let title = Signal::derive(title);
    switch(name, since, place, title, cannot.into(), Callback::new(press))
}

/// In a twin: the button that compares with the run, and goes on doing so as both train.
fn with_run(
    Comparing { since: Since { live, held, shown }, name, place, .. }: Comparing,
) -> AnyView {
    let is_on = RwSignal::new(false);
    let other =
        memo(move || of_run(name).filter(|other| live.with(|live| live.has_cells_of(other))));
    effect(move || {
        let run = other.get().filter(|_| is_on.get());
        if run.is_some() || held.with_untracked(Option::is_some) {
            held.set(run.map(|matrix| Held { from: From::Run, matrix, moved, describe }));
        }
    });
    let cannot = memo(move || other.with(Option::is_none));
    let title = move || match (is_on.get(), cannot.get()) {
        (_, true) => "The run has no cells like these to compare with",
        (true, _) => "Showing twin minus run. Press to show the values again",
        (false, _) => "Show in each cell the twin’s value minus the run’s",
    };
    let title = Signal::derive(move || title().to_owned());
    let press = Callback::new(move |()| {
        let can = other.with_untracked(Option::is_some);
        is_on.update(|on| *on = can && !*on);
    });
    switch(name, Since { live, held, shown }, place, title, cannot.into(), press)
}

/// The button, and what is said of the cell at `place` while a picture is held.
fn switch(
    name: &'static str,
    since: Since,
    place: Signal<Option<Place>>,
    title: Signal<String>,
    cannot: Signal<bool>,
    press: Callback<()>,
) -> AnyView {
    let said = move || place.get().and_then(|place| since.describe(place));
    view! {
        <button type="button" class="figure-act figure-since" data-testid=format!("{name}-since") title=title
            aria-pressed=move || since.is_on().to_string() aria-disabled=move || cannot.get().then_some("true")
            on:click=move |_| press.run(())>
            "Compare"
        </button>
        {move || said().map(|said| view! {
            <p class="since-says" translate="no" data-testid=format!("{name}-change")>{said}</p>
        })}
    }
    .into_any()
}

fn moved(held: &Held, live: &Arc<Matrix>) -> Arc<Matrix> {
    live.since(&held.matrix, held.from).map_or_else(|| live.clone(), Arc::new)
}

fn describe(held: &Held, live: &Matrix, (row, column): Place) -> String {
    let (then, now) = (held.matrix.value(row, column), live.value(row, column));
    let place = live.since(&held.matrix, held.from).map(|moved| moved.describe(row, column));
    let place = place.unwrap_or_default();
    match (then.is_finite() && now.is_finite(), held.from) {
        (true, From::Step(step)) => format!("{place} ({then:.4} at step {step}, {now:.4} here)"),
        (true, From::Run) => format!("{place} ({then:.4} in the run, {now:.4} in the twin)"),
        (false, _) => place,
    }
}

impl Matrix {
    /// Each value minus what it is in `then`; `None` unless the cells are the same.
    fn since(&self, then: &Self, from: From) -> Option<Self> {
        if !self.has_cells_of(then) {
            return None;
        }
        let values: Vec<f32> =
            self.values.iter().zip(&then.values).map(|(now, then)| now - then).collect();
        let moved = values.iter().copied().filter(|v| v.is_finite()).map(f64::from);
        Some(Self {
            map: ValueMap::Signed { limit: limit(moved).max(LEAST) as f32 },
            value_name: match from {
                From::Step(step) => format!("{}, change since step {step}", self.value_name),
                From::Run => format!("{}, twin minus run", self.value_name),
            },
            values,
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::matrix_data::tests::small;

    #[test]
    fn a_difference_has_a_scale_of_its_own_and_no_value_where_either_has_none() {
        let then = small();
        let mut now = small();
        now.values[0] = 0.25;
        now.values[5] = f32::NAN;
        let moved = now.since(&then, From::Step(12)).unwrap();
        assert_eq!(moved.map, ValueMap::Signed { limit: 0.5 });
        assert_eq!(moved.values[..3], [-0.25, 0.0, 0.0]);
        assert!(moved.values[3].is_nan() && moved.values[5].is_nan());
        assert_eq!(moved.value_name, "h, change since step 12");
        assert_eq!(
            then.since(&then, From::Run).unwrap().map,
            ValueMap::Signed { limit: LEAST as f32 }
        );
        let other = Matrix { columns: vec!["a".into(), "b".into(), "c".into()], ..small() };
        assert_eq!(other.since(&then, From::Run), None, "another sentence");
        let held =
            Held { from: From::Step(12), matrix: Arc::new(then), moved: super::moved, describe };
        let said = (held.describe)(&held, &now, (0, 0));
        assert_eq!(said, "unit ‘u1’ (1), time ‘a’ (1): -0.2500 (0.5000 at step 12, 0.2500 here)");
        let said = (held.describe)(&Held { from: From::Run, ..held.clone() }, &now, (0, 0));
        assert!(said.ends_with("-0.2500 (0.5000 in the run, 0.2500 in the twin)"), "{said}");
    }
}
