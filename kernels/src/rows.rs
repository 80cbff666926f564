//! Row-wise operations: softmax, layer normalization, cross-entropy, and elementwise loops over
//! whole slices.

use super::{
    math::{exp, normal},
    wide::wide,
};

/// Number of partial sums or maxima: as many as fit a loop's vectors.
const LANES: usize = 8;

/// Folds a slice with `with`, in several partial results that are then combined.
#[inline(always)]
fn fold(values: &[f32], start: f32, with: impl Fn(f32, f32) -> f32 + Copy) -> f32 {
    let (whole, rest) = values.as_chunks::<LANES>();
    let mut lanes = [start; LANES];
    for chunk in whole {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = with(*lane, value);
        }
    }
    rest.iter().chain(&lanes).fold(start, |folded, &value| with(folded, value))
}

/// The sum of all numbers.
pub fn sum(values: &[f32]) -> f32 {
    wide!({ fold(values, 0.0, |sum, value| sum + value) })
}

/// The largest number, or NaN if any number is NaN.
pub fn largest(values: &[f32]) -> f32 {
    wide!({
        fold(
            values,
            f32::NEG_INFINITY,
            |most, value| if value > most || value.is_nan() { value } else { most },
        )
    })
}

/// The dot product of two slices.
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    wide!({
        let ((left, left_rest), (right, right_rest)) =
            (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
        let mut lanes = [0f32; LANES];
        for (left, right) in left.iter().zip(right) {
            for ((lane, l), r) in lanes.iter_mut().zip(left).zip(right) {
                *lane += l * r;
            }
        }
        let rest: f32 = left_rest.iter().zip(right_rest).map(|(l, r)| l * r).sum();
        lanes.iter().sum::<f32>() + rest
    })
}

/// Number of squares summed before the partial sum is added to the total; see [`ROWS_TOGETHER`].
const SQUARES_TOGETHER: usize = 1024;

/// The sum of the squares of all numbers.
pub fn sum_of_squares(values: &[f32]) -> f32 {
    values.chunks(SQUARES_TOGETHER).map(|some| dot(some, some)).sum()
}

/// Replaces a row by its softmax. Returns the divisor, which is the sum of `e^(x - largest)`, and
/// the largest number.
pub fn softmax(row: &mut [f32]) -> (f32, f32) {
    wide!({
        let most = largest(row);
        for value in row.iter_mut() {
            *value = exp(*value - most);
        }
        let sum = sum(row);
        let scale = 1.0 / sum;
        for value in row {
            *value *= scale;
        }
        (sum, most)
    })
}

/// The cross-entropy of `target` in nats. Turns the logits in `row` into probabilities.
pub fn cross_entropy(row: &mut [f32], target: usize) -> f32 {
    let logit = row[target];
    let (sum, most) = softmax(row);
    libm::logf(sum) - (logit - most)
}

/// Mean and reciprocal standard deviation of a row. RMSNorm is not centered: it takes the mean to be
/// 0, and the standard deviation is then the root of the mean square.
pub fn layer_statistics(row: &[f32], epsilon: f32, is_centered: bool) -> [f32; 2] {
    wide!({
        let count = row.len() as f32;
        let mean = if is_centered { sum(row) / count } else { 0.0 };
        let (chunks, rest) = row.as_chunks::<LANES>();
        let mut lanes = [0f32; LANES];
        for chunk in chunks {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane += (value - mean) * (value - mean);
            }
        }
        let rest: f32 = rest.iter().map(|value| (value - mean) * (value - mean)).sum();
        let variance = (lanes.iter().sum::<f32>() + rest) / count;
        [mean, 1.0 / (variance + epsilon).sqrt()]
    })
}

/// Writes `γ (x - mean) / deviation + β` of a row to `result`.
pub fn layer_norm(
    row: &[f32],
    [mean, scale]: [f32; 2],
    gamma: &[f32],
    beta: &[f32],
    result: &mut [f32],
) {
    wide!({
        for (((result, value), gamma), beta) in result.iter_mut().zip(row).zip(gamma).zip(beta) {
            *result = (value - mean) * scale * gamma + beta;
        }
    })
}

/// Writes the gradient of [`layer_norm`] with respect to its input to `result`, given the one with
/// respect to its output. Adds the gradients with respect to γ and β to `gamma_sum` and `beta_sum`.
#[allow(clippy::too_many_arguments, reason = "three inputs, three results, and what kind of norm")]
pub fn layer_norm_backward(
    row: &[f32],
    [mean, scale]: [f32; 2],
    is_centered: bool,
    gamma: &[f32],
    upstream: &[f32],
    result: &mut [f32],
    gamma_sum: &mut [f32],
    beta_sum: &mut [f32],
) {
    wide!({
        let count = row.len() as f32;
        for (((((result, value), gamma), upstream), gamma_sum), beta_sum) in
            result.iter_mut().zip(row).zip(gamma).zip(upstream).zip(gamma_sum).zip(beta_sum)
        {
            *gamma_sum += upstream * (value - mean) * scale;
            *beta_sum += upstream;
            *result = upstream * gamma;
        }
        let along_mean = if is_centered { sum(result) / count } else { 0.0 };
        // The dot product with the normalized row, which is (row - mean) * scale.
        let along_row = (dot(result, row) - mean * sum(result)) * scale / count;
        for (result, value) in result.iter_mut().zip(row) {
            *result = scale * (*result - along_mean - (value - mean) * scale * along_row);
        }
    })
}

/// Applies the exact Gaussian error linear unit `x Φ(x)`, and writes its derivative `Φ(x) + x φ(x)`
/// to `slopes` if given.
pub fn gelu(values: &mut [f32], slopes: Option<&mut [f32]>) {
    wide!({
        match slopes {
            Some(slopes) => {
                for (value, slope) in values.iter_mut().zip(slopes) {
                    let (below, density) = normal(*value);
                    *slope = below + *value * density;
                    *value *= below;
                }
            }
            None => {
                for value in values {
                    *value *= normal(*value).0;
                }
            }
        }
    })
}

/// Number of rows summed before the partial sum is added to the total: rounding error grows with
/// the length of a chain of additions.
const ROWS_TOGETHER: usize = 32;

/// Adds every row to `sums`.
pub fn add_rows(rows: &[f32], sums: &mut [f32]) {
    wide!({
        let width = sums.len().max(1);
        let mut some = vec![0.0; sums.len()];
        for rows in rows.chunks(ROWS_TOGETHER * width) {
            some.fill(0.0);
            for row in rows.chunks_exact(width) {
                some.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            sums.iter_mut().zip(&some).for_each(|(sum, some)| *sum += some);
        }
    })
}

/// Adds each row of `added` to the row of `sums` that `places` names; all are `width` wide.
///
/// # Panics
///
/// Panics if there is no such row.
pub fn add_to_rows(added: &[f32], width: usize, places: &[i32], sums: &mut [f32]) {
    for (&place, added) in places.iter().zip(added.chunks_exact(width)) {
        let sums = &mut sums[place as usize * width..][..width];
        sums.iter_mut().zip(added).for_each(|(sum, value)| *sum += value);
    }
}

/// Coefficients of one AdamW step; `unroll_model::AdamW` has the formula.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    pub beta1: f32,
    pub beta2: f32,
    pub epsilon: f32,
    /// The learning rate divided by `1 - β1^t`.
    pub step_size: f32,
    /// The reciprocal square root of `1 - β2^t`.
    pub second_scale: f32,
    /// Factor that decays the value first.
    pub decay: f32,
}

/// Takes one step for `values`. The gradient is first multiplied by `coefficient`.
pub fn adam(
    step: AdamStep,
    coefficient: f32,
    gradient: &[f32],
    values: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    wide!({
        let AdamStep { beta1, beta2, epsilon, step_size, second_scale, decay } = step;
        for (((value, gradient), first), second) in
            values.iter_mut().zip(gradient).zip(first).zip(second)
        {
            let gradient = gradient * coefficient;
            *first = *first * beta1 + gradient * (1.0 - beta1);
            *second = *second * beta2 + gradient * gradient * (1.0 - beta2);
            let denominator = second.sqrt() * second_scale + epsilon;
            *value = *value * decay - *first / denominator * step_size;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(count: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 37 % 101) as f32 - 50.0) / 17.0).collect()
    }

    #[test]
    fn sums_of_squares() {
        for count in [0, 1, 9, 5000] {
            let exact: f64 = values(count).iter().map(|&x| f64::from(x).powi(2)).sum();
            let found = f64::from(sum_of_squares(&values(count)));
            assert!((found - exact).abs() <= 1e-6 * exact, "{count}: {found}, not {exact}");
        }
        assert!(sum_of_squares(&[0.0, f32::NAN]).is_nan());
    }

    #[test]
    fn softmax_and_cross_entropy() {
        for count in [1, 7, 8, 23] {
            let mut row = values(count);
            row[count / 2] = f32::NEG_INFINITY;
            if count == 1 {
                row[0] = 3.0;
            }
            let exact: Vec<f64> = row.iter().map(|&x| f64::from(x).exp()).collect();
            let sum: f64 = exact.iter().sum();
            let loss = cross_entropy(&mut row.clone(), 0);
            assert!((f64::from(loss) + (exact[0] / sum).ln()).abs() < 1e-6);
            softmax(&mut row);
            for (found, exact) in row.iter().zip(&exact) {
                assert!((f64::from(*found) - exact / sum).abs() < 1e-7);
            }
        }
        assert_eq!(cross_entropy(&mut [1e30, 0.0, 1e30], 1), 1e30);
        let mut lost = [0.0, f32::NAN, 1.0];
        softmax(&mut lost);
        assert!(lost.iter().all(|value| value.is_nan()));
    }

    #[test]
    fn layer_norm_backward_is_the_derivative() {
        for is_centered in [true, false] {
            backward_is_the_derivative(is_centered);
        }
    }

    fn backward_is_the_derivative(is_centered: bool) {
        let (row, gamma, upstream) =
            (values(13), values(26)[13..].to_vec(), values(40)[27..].to_vec());
        // The gradient of sum(upstream * output), by central differences in f64.
        let output = |row: &[f64]| {
            let mean = if is_centered { row.iter().sum::<f64>() / 13.0 } else { 0.0 };
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 13.0;
            let scale = (variance + 1e-5).sqrt().recip();
            let terms = row.iter().zip(&gamma).zip(&upstream);
            terms.map(|((x, g), u)| (x - mean) * scale * f64::from(*g) * f64::from(*u)).sum::<f64>()
        };
        let statistics = layer_statistics(&row, 1e-5, is_centered);
        let (mut result, mut grad_gamma, mut grad_beta) = ([0.0; 13], [0.0; 13], [0.0; 13]);
        layer_norm_backward(
            &row,
            statistics,
            is_centered,
            &gamma,
            &upstream,
            &mut result,
            &mut grad_gamma,
            &mut grad_beta,
        );
        let wide: Vec<f64> = row.iter().map(|&x| x.into()).collect();
        for at in 0..13 {
            let moved = |by: f64| {
                let mut row = wide.clone();
                row[at] += by;
                output(&row)
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - f64::from(result[at])).abs() < 1e-5, "{slope} {}", result[at]);
        }
        let mut normed = [0.0; 13];
        layer_norm(&row, statistics, &[1.0; 13], &[0.0; 13], &mut normed);
        for at in 0..13 {
            assert!((grad_gamma[at] - upstream[at] * normed[at]).abs() < 1e-6);
            assert_eq!(grad_beta[at], upstream[at]);
        }
    }

    #[test]
    fn rows_add_up() {
        let mut sums = vec![1.0, 2.0];
        add_rows(&[1.0, 10.0, 2.0, 20.0, 3.0, 30.0], &mut sums);
        assert_eq!(sums, [7.0, 62.0]);
        assert_eq!(sum(&values(3)), values(3).iter().sum::<f32>());
        assert_eq!(largest(&[]), f32::NEG_INFINITY);
        assert!(largest(&[1.0, f32::NAN, 2.0]).is_nan());
    }
}
