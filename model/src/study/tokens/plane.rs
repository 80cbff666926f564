//! The plane that preserves most variance of points in many dimensions: principal components
//! (Pearson 1901), in f64 by Jacobi rotations.

/// Rows projected onto the plane of the two directions in which they vary most.
pub struct Plane {
    /// `[rows, 2]`, relative to the weighted mean.
    pub points: Vec<f32>,
    /// Share of the weighted variance along each of the two.
    pub share: [f32; 2],
}

/// Projects the rows of `table`, `[rows, width]`, weighted by `weight`.
pub fn plane(table: &[f32], width: usize, weight: impl Fn(usize) -> f64) -> Plane {
    let rows = || table.chunks_exact(width).enumerate();
    let count: f64 = (0..table.len() / width).map(&weight).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut mean = vec![0.0; width];
    for (index, row) in rows() {
        for (mean, &value) in mean.iter_mut().zip(row) {
            *mean += weight(index) * f64::from(value) / count;
        }
    }
    let mut covariance = vec![0.0; width * width];
    for (index, row) in rows() {
        for i in 0..width {
            let a = weight(index) * (f64::from(row[i]) - mean[i]) / count;
            for j in 0..width {
                covariance[i * width + j] += a * (f64::from(row[j]) - mean[j]);
            }
        }
    }
    let total: f64 = (0..width).map(|i| covariance[i * width + i]).sum();
    let (values, vectors) = eigen(covariance, width);
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let axes: Vec<Vec<f64>> = order.iter().take(2).map(|&k| facing(&vectors, width, k)).collect();
    let along = |row: &[f32], axis: &[f64]| -> f32 {
        let terms = row.iter().zip(&mean).zip(axis);
        terms.map(|((&value, mean), axis)| (f64::from(value) - mean) * axis).sum::<f64>() as f32
    };
    let points =
        rows().flat_map(|(_, row)| [0, 1].map(|k| axes.get(k).map_or(0.0, |a| along(row, a))));
    let share = [0, 1].map(|k| match order.get(k) {
        Some(&k) if total > 0.0 => (values[k].max(0.0) / total) as f32,
        _ => 0.0,
    });
    Plane { points: points.collect(), share }
}

/// Column `k` of the eigenvectors, with the sign that makes its largest component positive: an axis
/// has no direction of its own.
fn facing(vectors: &[f64], width: usize, k: usize) -> Vec<f64> {
    let axis: Vec<f64> = (0..width).map(|i| vectors[i * width + k]).collect();
    let largest = axis.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
    axis.into_iter().map(|value| if largest < 0.0 { -value } else { value }).collect()
}

/// Eigenvalues and, as columns, eigenvectors of a symmetric matrix (Jacobi 1846).
fn eigen(mut a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut v: Vec<f64> = (0..n * n).map(|at| if at / n == at % n { 1.0 } else { 0.0 }).collect();
    // Convergence is quadratic; matrices of this size take about six sweeps.
    for _ in 0..30 {
        let off: f64 = (0..n * n).filter(|at| at / n != at % n).map(|at| a[at] * a[at]).sum();
        let on: f64 = (0..n).map(|i| a[i * n + i] * a[i * n + i]).sum();
        if off <= 1e-24 * on {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p * n + q] != 0.0 {
                    rotate(&mut a, &mut v, n, p, q);
                }
            }
        }
    }
    ((0..n).map(|i| a[i * n + i]).collect(), v)
}

/// Applies the rotation that makes entry `p, q` 0.
fn rotate(a: &mut [f64], v: &mut [f64], n: usize, p: usize, q: usize) {
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        let (x, y) = (v[k * n + p], v[k * n + q]);
        v[k * n + p] = c * x - s * y;
        v[k * n + q] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_directions_of_most_spread() {
        // Points along (3, 4)/5 with a small deviation across.
        let table: Vec<f32> = (-5i8..=5)
            .flat_map(|k| {
                let (along, across) = (f32::from(k), if k % 2 == 0 { 0.1 } else { -0.1 });
                [3.0 * along - 4.0 * across, 4.0 * along + 3.0 * across, 7.0]
            })
            .collect();
        let plane = plane(&table, 3, |_| 1.0);
        assert!(plane.share[0] > 0.99 && plane.share[0] + plane.share[1] > 1.0 - 1e-6);
        assert!((plane.points[0] + 25.0).abs() < 0.1, "{}", plane.points[0]);
    }

    #[test]
    fn two_dimensions_are_kept_whole() {
        let table = [1.0, 2.0, -3.0, 0.5, 4.0, 4.0, 0.0, -2.0];
        let plane = plane(&table, 2, |_| 1.0);
        let apart = |points: &[f32], i: usize, j: usize| {
            (points[2 * i] - points[2 * j]).hypot(points[2 * i + 1] - points[2 * j + 1])
        };
        for i in 0..4 {
            for j in 0..4 {
                assert!((apart(&table, i, j) - apart(&plane.points, i, j)).abs() < 1e-5);
            }
        }
        assert!((plane.share[0] + plane.share[1] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn one_point_or_none_has_no_spread() {
        assert_eq!(plane(&[1.0, 2.0, 3.0], 3, |_| 1.0).share, [0.0, 0.0]);
        assert_eq!(plane(&[1.0, 2.0, 3.0], 3, |_| 0.0).points.len(), 2);
    }
}
