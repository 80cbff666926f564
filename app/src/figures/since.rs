//! How far a matrix has moved since a moment of training: its picture is held, and from then on the
//! cells show the difference.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    cells::Place,
    matrix_data::Matrix,
    scale::{ValueMap, limit},
};
use crate::reactive::{effect, memo};

/// No scale of differences ends below this: what has not moved has no color.
const LEAST: f64 = 0.001;

/// A figure's held picture. `Copy`: handles of the owner it was made under.
#[derive(Clone, Copy)]
pub struct Since {
    live: Memo<Arc<Matrix>>,
    /// The step of what the figure shows, where it is sure.
    step: Signal<Option<u32>>,
    held: RwSignal<Option<(u32, Arc<Matrix>)>>,
    /// What to show: the matrix as it is, or its difference from the one that is held.
    pub shown: Memo<Arc<Matrix>>,
}

pub fn use_since(live: Memo<Arc<Matrix>>, step: Signal<Option<u32>>) -> Since {
    let held = RwSignal::new(None::<(u32, Arc<Matrix>)>);
    let difference = move |live: &Matrix| {
        held.with(|held| held.as_ref().and_then(|(step, then)| live.since(then, *step)))
    };
    let shown = Memo::new_with_compare(
        move |_| {
            let live = live.get();
            difference(&live).map_or(live, Arc::new)
        },
        |a: Option<&Arc<Matrix>>, b| match (a, b) {
            (Some(a), Some(b)) => !Arc::ptr_eq(a, b),
            _ => true,
        },
    );
    // Of another sentence there is nothing to compare.
    effect(move || {
        let live = live.get();
        let is_other = |held: &Option<(u32, Arc<Matrix>)>| {
            held.as_ref().is_some_and(|(_, then)| !live.has_cells_of(then))
        };
        if held.with_untracked(is_other) {
            held.set(None);
        }
    });
    Since { live, step, held, shown }
}

impl Since {
    /// Lets the picture go once `of`, which says what the figure is about, changes.
    pub fn only_of<T: PartialEq + Send + Sync + 'static>(
        self,
        of: impl Fn() -> T + Send + Sync + 'static,
    ) -> Self {
        let of = memo(of);
        effect(move || {
            of.track();
            if self.held.with_untracked(Option::is_some) {
                self.held.set(None);
            }
        });
        self
    }

    /// Whether a picture is held.
    pub fn is_on(self) -> bool {
        self.held.with(Option::is_some)
    }

    /// What a cell was and is, as a sentence; `None` where no picture is held.
    pub fn describe(self, (row, column): Place) -> Option<String> {
        let (step, then) = self.held.get()?;
        let (then, now) = (then.value(row, column), self.live.get().value(row, column));
        let place = self.shown.get().describe(row, column);
        Some(match then.is_finite() && now.is_finite() {
            true => format!("{place} ({then:.4} at step {step}, {now:.4} here)"),
            false => place,
        })
    }

    /// The button that holds the picture, and lets it go.
    pub fn button(self, name: &'static str) -> AnyView {
        let Self { live, step, held, .. } = self;
        let cannot = memo(move || held.with(Option::is_none) && step.get().is_none());
        let press = move |_| {
            let now = match held.with_untracked(Option::is_some) {
                true => None,
                false => step.get_untracked().map(|step| (step, live.get_untracked())),
            };
            held.set(now);
        };
        let title = move || match held.with(|held| held.as_ref().map(|held| held.0)) {
            Some(step) => {
                format!("Now it shows the change since step {step}. Press to see the values again")
            }
            None if cannot.get() => {
                "Pause first: then this moment can be compared with others".to_owned()
            }
            None => "Hold this moment. Move on in time, and each cell shows how far it has moved"
                .to_owned(),
        };
        view! {
            <button type="button" class="figure-act figure-since" data-testid=format!("{name}-since") title=title
                aria-pressed=move || self.is_on().to_string() aria-disabled=move || cannot.get().then_some("true")
                on:click=press>
                "Compare"
            </button>
        }
        .into_any()
    }
}

impl Matrix {
    /// Whether its cells have the same names as another's.
    pub fn has_cells_of(&self, other: &Self) -> bool {
        self.shape() == other.shape()
            && self.shape() != (0, 0)
            && self.rows == other.rows
            && self.columns == other.columns
    }

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
    }
}
