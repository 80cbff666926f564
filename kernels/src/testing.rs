//! Helpers of the tests of backward passes.

use core::fmt::Debug;

/// Step of the central differences.
const MOVED: f32 = 4e-3;

/// Pseudo-random numbers between -1 and 1.03; each seed gives different ones.
pub fn drawn(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 37 + seed * 53 + i / 7) % 89) as f32 / 44.0 - 1.0).collect()
}

/// A loss whose gradient with respect to `outputs` is `upstream`.
pub fn weighted(outputs: &[f32], upstream: &[f32]) -> f64 {
    outputs.iter().zip(upstream).map(|(x, u)| f64::from(*x) * f64::from(*u)).sum()
}

/// Asserts that `found` are the derivatives of `loss` with respect to every number of `parts`,
/// within `bound` of central differences. `what` names the case.
///
/// # Panics
///
/// Panics if one is not, or is missing.
pub fn assert_derivatives<const N: usize>(
    what: impl Debug,
    parts: &[Vec<f32>; N],
    found: &[Vec<f32>; N],
    bound: f64,
    loss: impl Fn(&[Vec<f32>; N]) -> f64,
) {
    for (part, found) in found.iter().enumerate() {
        assert_eq!(found.len(), parts[part].len(), "{what:?}, part {part}");
        for (at, &found) in found.iter().enumerate() {
            let moved = |by: f32| {
                let mut parts = parts.clone();
                parts[part][at] += by;
                loss(&parts)
            };
            let slope = (moved(MOVED) - moved(-MOVED)) / f64::from(2.0 * MOVED);
            let off = (slope - f64::from(found)).abs();
            assert!(off < bound, "{what:?}, part {part}, {at}: {found}, not {slope}");
        }
    }
}
