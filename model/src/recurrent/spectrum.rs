//! The spectral radius of a recurrent matrix: the largest modulus of its eigenvalues.

use core::fmt;

/// Number of times the matrix is squared: the radius is computed from its `2^SQUARINGS`-th power.
const SQUARINGS: u32 = 20;

/// Why a matrix can't be rescaled. `Display` is the sentence the page shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RadiusError {
    /// Its spectral radius is 0, and stays 0 under any scaling.
    Zero,
    /// It holds a number that is not finite.
    NotFinite,
    /// The requested radius is not a finite number of at least 0.
    NotARadius(f64),
}

impl fmt::Display for RadiusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => write!(
                f,
                "U has the spectral radius 0, so no factor can give it another one: start the \
                 model anew."
            ),
            Self::NotFinite => {
                write!(f, "U holds numbers that are not finite: start the model anew.")
            }
            Self::NotARadius(radius) => {
                write!(f, "A spectral radius is a number from 0 up, not {radius}.")
            }
        }
    }
}

impl std::error::Error for RadiusError {}

/// The spectral radius of a square row-major matrix.
///
/// Computed by Gelfand's formula, `lim |A^n|^(1/n)`, with n doubled by squaring A. Power iteration
/// on a vector would not converge where the leading eigenvalues are a complex pair, as they mostly
/// are in a recurrent matrix; the norm of the power always grows with the radius.
///
/// # Panics
///
/// Panics if the matrix does not have `size * size` entries.
pub fn spectral_radius(matrix: &[f32], size: usize) -> f64 {
    assert_eq!(matrix.len(), size * size, "a square matrix");
    let mut power: Vec<f64> = matrix.iter().map(|&x| f64::from(x)).collect();
    // ln |A^n| / n, accumulated while the power is kept at norm 1.
    let mut logarithm = 0.0;
    let mut weight = 1.0;
    for _ in 0..=SQUARINGS {
        let norm = power.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm == 0.0 {
            return 0.0;
        }
        if !norm.is_finite() {
            return f64::NAN;
        }
        logarithm += weight * libm::log(norm);
        weight /= 2.0;
        power.iter_mut().for_each(|x| *x /= norm);
        power = squared(&power, size);
    }
    libm::exp(logarithm)
}

fn squared(matrix: &[f64], size: usize) -> Vec<f64> {
    let mut product = vec![0.0; size * size];
    for (row, sums) in matrix.chunks_exact(size).zip(product.chunks_exact_mut(size)) {
        for (&factor, other) in row.iter().zip(matrix.chunks_exact(size)) {
            sums.iter_mut().zip(other).for_each(|(sum, x)| *sum += factor * x);
        }
    }
    product
}

/// Scales the matrix to this spectral radius; 0 gives the zero matrix.
///
/// # Panics
///
/// Panics if the matrix does not have `size * size` entries.
pub fn rescale_to_radius(
    matrix: &[f32],
    size: usize,
    radius: f64,
) -> Result<Vec<f32>, RadiusError> {
    if !radius.is_finite() || radius < 0.0 {
        return Err(RadiusError::NotARadius(radius));
    }
    if matrix.iter().any(|x| !x.is_finite()) {
        return Err(RadiusError::NotFinite);
    }
    let now = spectral_radius(matrix, size);
    if radius == 0.0 {
        return Ok(vec![0.0; matrix.len()]);
    }
    if now == 0.0 {
        return Err(RadiusError::Zero);
    }
    Ok(matrix.iter().map(|&x| (f64::from(x) * (radius / now)) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-5, "{found} and not {expected}");
    }

    #[test]
    fn complex_pairs_shears_and_diagonals_have_their_radius() {
        near(spectral_radius(&[0.3, 0.0, 0.0, -0.9], 2), f64::from(0.9f32));
        // A rotation by 1 radian, times 0.8, in coordinates that are not orthogonal.
        let (sin, cos) = (0.8 * libm::sin(1.0), 0.8 * libm::cos(1.0));
        near(
            spectral_radius(&[cos as f32, (-3.0 * sin) as f32, (sin / 3.0) as f32, cos as f32], 2),
            0.8,
        );
        // A Jordan block: no basis of eigenvectors.
        let jordan = [0.5, 1.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.5];
        assert!((spectral_radius(&jordan, 3) - 0.5).abs() < 1e-4);
        near(spectral_radius(&[1e-30, 0.0, 0.0, 2e-30], 2), f64::from(2e-30f32));
        assert_eq!(spectral_radius(&[0.0, 1.0, 0.0, 0.0], 2), 0.0);
    }

    #[test]
    fn rescaling_reaches_the_radius_or_says_why_not() {
        let matrix = [0.1, -0.7, 0.4, 0.2];
        for radius in [0.01, 0.9, 1.0, 3.0] {
            let rescaled = rescale_to_radius(&matrix, 2, radius).unwrap();
            near(spectral_radius(&rescaled, 2), radius);
        }
        assert_eq!(rescale_to_radius(&matrix, 2, 0.0), Ok(vec![0.0; 4]));
        assert_eq!(rescale_to_radius(&[0.0; 4], 2, 0.0), Ok(vec![0.0; 4]));
        assert_eq!(rescale_to_radius(&[0.0; 4], 2, 1.0), Err(RadiusError::Zero));
        assert_eq!(rescale_to_radius(&[0.0, 1.0, 0.0, 0.0], 2, 1.0), Err(RadiusError::Zero));
        assert!(rescale_to_radius(&[f32::NAN; 4], 2, 1.0).is_err());
        assert!(rescale_to_radius(&matrix, 2, -1.0).is_err());
        assert!(rescale_to_radius(&matrix, 2, f64::NAN).is_err());
    }
}
