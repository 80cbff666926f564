//! The clock for timing a computation when that is the question.

use std::sync::OnceLock;

static CLOCK: OnceLock<fn() -> f64> = OnceLock::new();

/// Sets how to read a monotonic clock in milliseconds: wasm has none of its own. The first call
/// wins. The clock affects nothing but measured times.
pub fn set_clock(now: fn() -> f64) {
    // A second engine in the same process has the same clock.
    let _ = CLOCK.set(now);
}

/// Milliseconds, if there is a clock.
pub(crate) fn now() -> Option<f64> {
    CLOCK.get().map(|now| now())
}
