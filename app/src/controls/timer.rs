//! One thing to do a little later.

use core::time::Duration;

use leptos::{leptos_dom::helpers::TimeoutHandle, prelude::*};

/// A timer that is stopped with its owner. `Copy`: a handle into the owner's arena.
#[derive(Clone, Copy)]
pub struct Timer(StoredValue<Option<TimeoutHandle>>);

/// A timer of the present owner, not running.
pub fn use_timer() -> Timer {
    let timer = Timer(StoredValue::new(None));
    on_cleanup(move || timer.stop());
    timer
}

impl Timer {
    /// Does `action` after `delay`, in place of what was to be done before.
    pub fn start(self, delay: Duration, action: impl FnOnce() + 'static) {
        self.stop();
        let run = move || {
            self.0.try_set_value(None);
            action();
        };
        self.0.try_set_value(set_timeout_with_handle(run, delay).ok());
    }

    /// Whether something is still to be done.
    pub fn is_running(self) -> bool {
        self.0.try_with_value(Option::is_some).unwrap_or(false)
    }

    /// Leaves what was to be done undone.
    pub fn stop(self) {
        if let Some(handle) = self.0.try_update_value(Option::take).flatten() {
            handle.clear();
        }
    }
}
