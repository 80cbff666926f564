//! Attention with linear biases (Press, Smith and Lewis 2022).

/// Slope of each head: the factor of the distance in its scores. For a power of two of heads, these
/// are the geometric sequence that starts at `2^(-8/n)` with that ratio; otherwise those of the
/// next smaller power, followed by every other one of the next larger power.
pub fn alibi_slopes(heads: usize) -> Vec<f32> {
    let of_power = |n: usize| (1..=n).map(move |i| 2f64.powf(-8.0 * i as f64 / n as f64) as f32);
    let power = heads.checked_ilog2().map_or(0, |log| 1 << log);
    of_power(power).chain(of_power(2 * power).step_by(2)).take(heads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_the_papers() {
        let eighths: Vec<f32> = (1..=8).map(|i| 0.5f32.powi(i)).collect();
        assert_eq!(alibi_slopes(8), eighths);
        assert_eq!(alibi_slopes(1), [0.5f32.powi(8)]);
        // 12 heads: the 8 slopes of 8 heads, then the 1st, 3rd, 5th and 7th of 16.
        let twelve = alibi_slopes(12);
        assert_eq!(twelve[..8], eighths);
        for (slope, exponent) in twelve[8..].iter().zip([0.5, 1.5, 2.5, 3.5]) {
            assert!((slope - 0.5f32.powf(exponent)).abs() < 1e-7);
        }
        assert!(alibi_slopes(0).is_empty());
    }
}
