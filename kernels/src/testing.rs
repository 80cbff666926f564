//! What tests of ways back share.

use core::fmt::Debug;

/// How far a number is moved to either side.
const MOVED: f32 = 4e-3;

/// So many numbers between -1 and 1.03, without an order to be seen; another row for each seed.
pub fn drawn(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 37 + seed * 53 + i / 7) % 89) as f32 / 44.0 - 1.0).collect()
}

/// A loss that has `upstream` as its gradient by `outputs`.
pub fn weighted(outputs: &[f32], upstream: &[f32]) -> f64 {
    outputs.iter().zip(upstream).map(|(x, u)| f64::from(*x) * f64::from(*u)).sum()
}

/// That `found` are the derivatives of `loss` by every number of `parts`: no further than `bound`
/// from central differences. `what` names the case.
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
