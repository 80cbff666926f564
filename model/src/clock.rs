//! The clock that times a computation where that is what is asked.

use std::sync::OnceLock;

static CLOCK: OnceLock<fn() -> f64> = OnceLock::new();

/// Says how to read a monotonic clock in milliseconds: wasm has none of its own. The first one
/// given stays. It decides no number but times.
pub fn set_clock(now: fn() -> f64) {
    // A second engine in one process has the same clock.
    let _ = CLOCK.set(now);
}

/// Milliseconds, if there is a clock.
pub(crate) fn now() -> Option<f64> {
    CLOCK.get().map(|now| now())
}
