//! Around the loop once for each character, while a beat tells of it.

use core::time::Duration;

use leptos::prelude::*;

use crate::{
    controls::use_timer,
    reactive::{effect, memo},
};

/// Time for one character; the style sheet's dot takes as long.
const LAP: Duration = Duration::from_millis(700);

/// The step that the loop shows while one `follows` it, from 0: each of the `length` once, then nobody
/// does. Only while it is `alone`; a sentence of another length begins anew.
pub fn use_lap(
    follows: RwSignal<bool>,
    alone: Memo<bool>,
    length: Signal<usize>,
) -> Signal<Option<usize>> {
    let lap = RwSignal::new(None);
    let timer = use_timer();
    let steps = memo(move || if follows.get() && alone.get() { length.get() } else { 0 });
    effect(move || {
        timer.stop();
        lap.set((steps.get() > 0).then_some(0));
    });
    effect(move || {
        if let Some(t) = lap.get() {
            let next = Some(t + 1).filter(|t| *t < steps.get_untracked());
            // `Some` where the figure is gone.
            timer.start(LAP, move || {
                _ = match next {
                    Some(_) => lap.try_set(next).map(|_| ()),
                    None => follows.try_set(false).map(|_| ()),
                }
            });
        }
    });
    lap.into()
}
