//! How far a matrix has moved since a moment of training: its picture is held, and from then on the
//! cells show the difference.
//!
//! A figure has no more of it than [`Since`]: what holds the picture is fetched behind the first one.

use std::sync::Arc;

use leptos::{context::Provider, prelude::*};

use super::{
    cells::Place,
    export::Provenance,
    matrix_data::Matrix,
    scale::{ValueMap, limit},
};
use crate::{
    fetched::{Fetch, Settled, View, fetched, part},
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
    step: u32,
    matrix: Arc<Matrix>,
    moved: fn(&Self, &Arc<Matrix>) -> Arc<Matrix>,
    describe: fn(&Self, &Matrix, Place) -> String,
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
        let Settled(settled) = expect_context();
        let comparing = Comparing { since: self, name, title, provenance, place };
        move || {
            settled.get().then(|| {
                view! { <Provider value=comparing>{fetched(BUTTON, "The comparison")}</Provider> }
            })
        }
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

fn button() -> AnyView {
    let Comparing { since, name, title: of, provenance, place } = expect_context();
    let Since { live, held, .. } = since;
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
    let press = move |_| match step.get_untracked() {
        _ if held.with_untracked(Option::is_some) => held.set(None),
        Some(step) => {
            let matrix = live.get_untracked();
            held.set(Some(Held { step, matrix, moved, describe }));
        }
        None => {}
    };
    let title = move || match held.with(|held| held.as_ref().map(|held| held.step)) {
        Some(step) => {
            format!("Now it shows the change since step {step}. Press to see the values again")
        }
        None if cannot.get() => {
            "Pause first: then this moment can be compared with others".to_owned()
        }
        None => {
            "Hold this moment. Move on in time, and each cell shows how far it has moved".to_owned()
        }
    };
    let said = move || place.get().and_then(|place| since.describe(place));
    view! {
        <button type="button" class="figure-act figure-since" data-testid=format!("{name}-since") title=title
            aria-pressed=move || since.is_on().to_string() aria-disabled=move || cannot.get().then_some("true")
            on:click=press>
            "Compare"
        </button>
        {move || said().map(|said| view! {
            <p class="since-says" translate="no" data-testid=format!("{name}-change")>{said}</p>
        })}
    }
    .into_any()
}

fn moved(held: &Held, live: &Arc<Matrix>) -> Arc<Matrix> {
    live.since(&held.matrix, held.step).map_or_else(|| live.clone(), Arc::new)
}

fn describe(held: &Held, live: &Matrix, (row, column): Place) -> String {
    let (then, now) = (held.matrix.value(row, column), live.value(row, column));
    let place = live.since(&held.matrix, held.step).map(|moved| moved.describe(row, column));
    let place = place.unwrap_or_default();
    match then.is_finite() && now.is_finite() {
        true => format!("{place} ({then:.4} at step {}, {now:.4} here)", held.step),
        false => place,
    }
}

impl Matrix {
    /// Each value minus what it was `then`, after `step` steps; `None` unless the cells are the same.
    fn since(&self, then: &Self, step: u32) -> Option<Self> {
        if !self.has_cells_of(then) {
            return None;
        }
        let values: Vec<f32> =
            self.values.iter().zip(&then.values).map(|(now, then)| now - then).collect();
        let moved = values.iter().copied().filter(|v| v.is_finite()).map(f64::from);
        Some(Self {
            map: ValueMap::Signed { limit: limit(moved).max(LEAST) as f32 },
            value_name: format!("{}, change since step {step}", self.value_name),
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
        let moved = now.since(&then, 12).unwrap();
        assert_eq!(moved.map, ValueMap::Signed { limit: 0.5 });
        assert_eq!(moved.values[..3], [-0.25, 0.0, 0.0]);
        assert!(moved.values[3].is_nan() && moved.values[5].is_nan());
        assert_eq!(moved.value_name, "h, change since step 12");
        assert_eq!(then.since(&then, 1).unwrap().map, ValueMap::Signed { limit: LEAST as f32 });
        let other = Matrix { columns: vec!["a".into(), "b".into(), "c".into()], ..small() };
        assert_eq!(other.since(&then, 1), None, "another sentence");
        let held = Held { step: 12, matrix: Arc::new(then), moved: super::moved, describe };
        let said = (held.describe)(&held, &now, (0, 0));
        assert_eq!(said, "unit ‘u1’ (1), time ‘a’ (1): -0.2500 (0.5000 at step 12, 0.2500 here)");
    }
}
