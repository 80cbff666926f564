//! Around the loop once for each character: by itself where a beat tells of it, and as the learner asks.

use core::time::Duration;

use leptos::prelude::*;

use crate::{
    controls::use_timer,
    reactive::{effect, memo},
};

/// Time for one character; the style sheet's dot takes as long.
const PACE: Duration = Duration::from_millis(350);

/// A reading of the sentence by the loop. `Copy`: signals owned by the view.
#[derive(Clone, Copy)]
pub struct Lap {
    /// The step that was read last, from 0; `None` before the first. What was read stays, stopped or
    /// ended.
    pub at: RwSignal<Option<usize>>,
    pub plays: RwSignal<bool>,
}

impl Lap {
    pub fn new() -> Self {
        Self { at: RwSignal::new(None), plays: RwSignal::new(false) }
    }

    /// Back to before the first step; `plays` from there.
    pub fn begin(self, plays: bool) {
        self.at.set(None);
        self.plays.set(plays);
    }

    /// How many steps have been read.
    pub fn count(self) -> usize {
        self.at.get().map_or(0, |t| t + 1)
    }
}

/// Reads on while the `lap` plays and the loop is `alone`: each of the `length` steps once. What was
/// read is gone with the loop alone, and with its `sentence`.
pub fn use_lap(lap: Lap, alone: Memo<bool>, sentence: Memo<String>, length: Signal<usize>) {
    let Lap { at, plays } = lap;
    let timer = use_timer();
    let read_of = memo(move || alone.get().then(|| sentence.get()));
    effect(move || {
        // A memo that is only tracked would never be computed, and so never change.
        read_of.with(|_| ());
        at.set(None);
    });
    effect(move || {
        timer.stop();
        let length = length.get();
        if !plays.get() || !alone.get() || length == 0 {
            return;
        }
        match at.get() {
            None => at.set(Some(0)),
            Some(t) if t + 1 < length => {
                // `Some` where the figure is gone.
                timer.start(PACE, move || _ = at.try_set(Some(t + 1)));
            }
            Some(_) => plays.set(false),
        }
    });
}
