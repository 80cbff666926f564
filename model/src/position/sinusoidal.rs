//! Sine and cosine of the position at many frequencies (Vaswani et al. 2017, section 3.5).

/// The longest wavelength divided by 2π.
const LONGEST: f64 = 10_000.0;

/// Angle in radians by which pair `pair` of a vector of `width` dimensions advances per position:
/// `10000^(-2 pair / width)`.
pub fn frequency(pair: usize, width: usize) -> f64 {
    LONGEST.powf(-((2 * pair) as f64) / width as f64)
}

/// `PE(position)`: `sin(position · frequency)` in even dimensions, `cos` in odd ones.
///
/// Computed in f64: an angle of thousands of radians has only three decimals left in f32.
///
/// # Panics
///
/// Panics if `width` is odd.
pub fn sinusoidal(position: f64, width: usize) -> Vec<f64> {
    assert!(width.is_multiple_of(2), "a width of {width} has no pairs of a sine and a cosine");
    let pairs = (0..width / 2).map(|pair| (position * frequency(pair, width)).sin_cos());
    pairs.flat_map(|(sin, cos)| [sin, cos]).collect()
}

/// Applies Vaswani's `M_k` (section 3.5), a block-diagonal matrix: each pair of `PE(position + k)`
/// is `[[a, b], [-b, a]]` times that of `PE(position)`, with `(a, b) = (cos, sin)(k · frequency)`,
/// for every position.
///
/// # Panics
///
/// Panics if the width of `encoding` is odd.
pub fn shift(encoding: &[f64], k: f64) -> Vec<f64> {
    let width = encoding.len();
    assert!(width.is_multiple_of(2), "a width of {width} has no pairs of a sine and a cosine");
    let pairs = encoding.chunks_exact(2).enumerate().map(|(pair, values)| {
        let (sin, cos) = (k * frequency(pair, width)).sin_cos();
        [cos * values[0] + sin * values[1], cos * values[1] - sin * values[0]]
    });
    pairs.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_the_same_rotation_at_every_position() {
        for width in [2, 64, 128] {
            for k in [0usize, 1, 7, 100, 4096] {
                for position in 0..=4096 {
                    let moved = shift(&sinusoidal(position as f64, width), k as f64);
                    let there = sinusoidal((position + k) as f64, width);
                    let apart = moved.iter().zip(&there).map(|(a, b)| (a - b).abs());
                    let most = apart.fold(0.0, f64::max);
                    assert!(most < 1e-6, "{most} at {position} + {k}, width {width}");
                }
            }
        }
    }

    #[test]
    fn dot_products_depend_on_the_offset_only() {
        let dot = |a: usize, b: usize| -> f64 {
            let (a, b) = (sinusoidal(a as f64, 32), sinusoidal(b as f64, 32));
            a.iter().zip(&b).map(|(a, b)| a * b).sum()
        };
        for offset in [0, 1, 5, 200] {
            let first = dot(0, offset);
            assert!((1..500).all(|p| (dot(p, p + offset) - first).abs() < 1e-9));
        }
        assert!((dot(9, 9) - 16.0).abs() < 1e-12);
    }
}
