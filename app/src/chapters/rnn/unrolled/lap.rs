//! Around the loop once for each character, while a beat tells of it.

use core::time::Duration;

use leptos::prelude::*;

use crate::{
    controls::use_timer,
    figures::motion::is_still,
    reactive::{effect, memo},
};

/// Time for one character; the style sheet's dot takes as long.
const LAP: Duration = Duration::from_millis(700);

/// The step that the loop shows while one `follows` it, from 0: each of the `length` once, then none.
/// A sentence of another length begins anew.
pub fn use_lap(follows: Memo<bool>, length: Signal<usize>) -> Signal<Option<usize>> {
    let lap = RwSignal::new(None);
    let timer = use_timer();
    let steps = memo(move || if follows.get() && !is_still() { length.get() } else { 0 });
    effect(move || {
        timer.stop();
        lap.set((steps.get() > 0).then_some(0));
    });
    effect(move || {
        if let Some(t) = lap.get() {
            let next = Some(t + 1).filter(|t| *t < steps.get_untracked());
            timer.start(LAP, move || _ = lap.try_set(next));
        }
    });
    lap.into()
}
