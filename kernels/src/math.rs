//! Branch-free elementary functions that vectorize in loops over slices. (The platform's own
//! functions take one number at a time, and differ between platforms.)

use core::f32::consts::LOG2_E;

/// Below this, [`exp`] returns 0: the true value is smaller than the smallest normal number.
const LOWEST: f32 = -87.3;
/// Above this, [`exp`] returns infinity.
const HIGHEST: f32 = 88.72;

/// e to the power of `x`, to 2 units in the last place.
///
/// Reduces to `2^n e^r` with `|r| <= ln 2 / 2` and uses Taylor's polynomial of degree 7 for `e^r`.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Adding this leaves the nearest integer in the lowest bits of a float.
    const ROUND: f32 = 1.5 * (1 << 23) as f32;
    // ln 2 in two parts: the first has so few bits that its multiples by n are exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = (core::f64::consts::LN_2 - LN_2_HIGH as f64) as f32;
    let clamped = x.clamp(LOWEST, HIGHEST);
    let shifted = clamped * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (clamped - n * LN_2_HIGH) - n * LN_2_LOW;
    let r2 = r * r;
    let high = (1.0 / 5040.0 * r + 1.0 / 720.0) * r2 + (1.0 / 120.0 * r + 1.0 / 24.0);
    let low = (1.0 / 6.0 * r + 0.5) * r2 + (r + 1.0);
    let power = high * (r2 * r2) + low;
    // Multiplies by 2^n by adding n to the exponent. This can't overflow: at the ends of the range,
    // where n is -126 or 128, the power is above and below 1.
    let value = f32::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 23));
    let value = if x < LOWEST { 0.0 } else { value };
    // NaN stays NaN.
    if x <= HIGHEST { value } else { x + f32::INFINITY }
}

/// The standard normal distribution function `Φ(x)` to 2e-7, and its derivative, the density.
///
/// For negative x this is `Φ(x) = e^(-x²/2) P(1 / (1 + 0.33 |x|))`, with a polynomial P without
/// constant term fitted to the exact values on [0, 14] (largest error `3e-9`; the idea is Hastings
/// 1955, formula 26.2.17 in Abramowitz and Stegun).
#[inline(always)]
pub fn normal(x: f32) -> (f32, f32) {
    const P: [f32; 7] = [
        0.044_580_974,
        -0.215_996_86,
        0.322_224_83,
        -0.079_944_85,
        0.175_624_97,
        0.121_100_53,
        0.132_410_4,
    ];
    let bell = exp(-0.5 * x * x);
    let t = 1.0 / (1.0 + 0.33 * x.abs());
    let t2 = t * t;
    let high = P[0] * t2 + (P[1] * t + P[2]);
    let low = (P[3] * t + P[4]) * t2 + (P[5] * t + P[6]);
    let polynomial = (high * (t2 * t2) + low) * t;
    let tail = bell * polynomial;
    let below = if x < 0.0 { tail } else { 1.0 - tail };
    (below, bell * 0.398_942_3)
}

/// The hyperbolic tangent, to 2e-7.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let small = x * x;
    // Taylor's series near 0, where 1 - 2 / (e^2x + 1) loses its digits.
    let series = x
        * (1.0
            + small
                * (-1.0 / 3.0
                    + small * (2.0 / 15.0 + small * (-17.0 / 315.0 + small * (62.0 / 2835.0)))));
    let far = 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
    if small < 0.04 { series } else { far }
}

/// The logistic function `1 / (1 + e^-x)`, to 2e-7.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(from: f64, to: f64) -> impl Iterator<Item = f32> {
        (0..=20_000).map(move |i| (from + (to - from) * f64::from(i) / 20_000.0) as f32)
    }

    #[test]
    fn exponentials_are_right_to_the_last_places() {
        for x in points(-87.0, 88.7) {
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 2.4e-7, "exp({x}) = {}", exp(x));
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!([exp(f32::NEG_INFINITY), exp(-1e30), exp(-88.0)], [0.0; 3]);
        assert_eq!([exp(f32::INFINITY), exp(1e30)], [f32::INFINITY; 2]);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn hyperbolic_tangents_and_logistics() {
        for x in points(-20.0, 20.0) {
            let exact = f64::from(x).tanh();
            assert!((f64::from(tanh(x)) - exact).abs() < 2e-7, "tanh({x}) = {}", tanh(x));
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(sigmoid(x)) - exact).abs() < 2e-7, "sigmoid({x})");
        }
        assert_eq!([tanh(1e9), tanh(-1e9), sigmoid(1e9), sigmoid(-1e9)], [1.0, -1.0, 1.0, 0.0]);
        assert!(tanh(f32::NAN).is_nan() && sigmoid(f32::NAN).is_nan());
    }

    #[test]
    fn normal_distribution_by_its_defining_integral() {
        // Simpson's rule in f64, starting at 0.
        let (step, density) =
            (0.005, |t: f64| (-0.5 * t * t).exp() / core::f64::consts::TAU.sqrt());
        let mut exact = 0.5;
        for i in 0..1600 {
            let x = f64::from(i) * step;
            for x in [x, -x] {
                let (below, slope) = normal(x as f32);
                let exact = if x < 0.0 { 1.0 - exact } else { exact };
                assert!((f64::from(below) - exact).abs() < 2e-7, "Φ({x}) = {below}, not {exact}");
                assert!((f64::from(slope) - density(x)).abs() < 1e-7, "Φ'({x}) = {slope}");
            }
            let middle = density(x + step / 2.0);
            exact += step / 6.0 * (density(x) + 4.0 * middle + density(x + step));
        }
        assert_eq!(normal(-20.0).0, 0.0);
        assert_eq!(normal(20.0).0, 1.0);
        assert!(normal(f32::NAN).0.is_nan());
    }
}
