//! Can γ and β undo a normalization? Worked out from the numbers on show. Pure functions, no
//! browser.

use unroll_protocol::study::norm::{Axis, Layer};

use super::arithmetic::EPSILON;

/// The layer with the γ and β that bring y as close to x as they can; `None` if there is no y.
///
/// BatchNorm has a mean and a variance for each feature, as γ and β do: with γ = √(σ² + ε) and
/// β = μ nothing is left of it. LayerNorm has them for each example. There γ and β are the
/// least-squares fit of each feature. What y would be without the pressed row stays the model's.
pub fn undone(layer: &Layer) -> Option<Layer> {
    let mut undone = layer.clone();
    let result = undone.result.as_mut().ok()?;
    let normalized = &result.normalized.values;
    let columns = result.gamma.len();
    let pair = |column: usize| match layer.axis {
        Axis::Batch => ((result.variance[column] + EPSILON).sqrt(), result.mean[column]),
        Axis::Layer => {
            let pairs = normalized.iter().zip(&layer.input.values);
            closest(pairs.skip(column).step_by(columns))
        }
    };
    let (gamma, beta): (Vec<f32>, Vec<f32>) = (0..columns).map(pair).unzip();
    let scaled = |(index, hat): (usize, &f32)| gamma[index % columns] * hat + beta[index % columns];
    result.output.values = normalized.iter().enumerate().map(scaled).collect();
    (result.gamma, result.beta) = (gamma, beta);
    Some(undone)
}

/// The scale and the offset that take the first numbers of the pairs closest to the second ones.
fn closest<'a>(pairs: impl Iterator<Item = (&'a f32, &'a f32)> + Clone) -> (f32, f32) {
    let pairs = pairs.map(|(from, to)| (f64::from(*from), f64::from(*to)));
    let count = pairs.clone().count() as f64;
    let mean = |of: &dyn Fn((f64, f64)) -> f64| pairs.clone().map(of).sum::<f64>() / count;
    let (from, to) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
    let variance = mean(&|pair| (pair.0 - from).powi(2));
    // Where all are the same, an offset does it alone.
    let scale = if variance == 0.0 {
        0.0
    } else {
        mean(&|pair| (pair.0 - from) * (pair.1 - to)) / variance
    };
    (scale as f32, (to - scale * from) as f32)
}

#[cfg(test)]
mod tests {
    use unroll_protocol::{
        Array,
        study::norm::{Normalized, Statistics},
    };

    use super::{super::reading::remains, *};

    const INPUT: [f32; 6] = [1.0, -20.0, 3.0, 4.0, 50.0, 6.5];

    /// Two examples of three features, normalized along the axis.
    fn layer(axis: Axis) -> Layer {
        let array = |values: Vec<f32>| Array { shape: vec![2, 3], values };
        let of = |at: usize| if axis == Axis::Batch { at % 3 } else { at / 3 };
        let group = |group: usize| (0..6).filter(move |at| of(*at) == group).map(|at| INPUT[at]);
        let average = |values: Vec<f32>| values.iter().sum::<f32>() / values.len() as f32;
        let groups = if axis == Axis::Batch { 3 } else { 2 };
        let mean: Vec<f32> = (0..groups).map(|at| average(group(at).collect())).collect();
        let spread = |at: usize| average(group(at).map(|x| (x - mean[at]).powi(2)).collect());
        let variance: Vec<f32> = (0..groups).map(spread).collect();
        let hat = |at: usize| (INPUT[at] - mean[of(at)]) / (variance[of(at)] + EPSILON).sqrt();
        let normalized = array((0..6).map(hat).collect());
        let input = array(INPUT.to_vec());
        Layer {
            axis,
            statistics: Statistics::Batch,
            layer: 1,
            row: 0,
            factor: 1.0,
            examples: vec!["ab".into(), "cd".into()],
            borrowed: 0,
            untouched: input.clone(),
            result: Ok(Normalized {
                mean,
                variance,
                normalized: normalized.clone(),
                gamma: vec![1.0; 3],
                beta: vec![0.0; 3],
                output: normalized.clone(),
                untouched: normalized,
            }),
            input,
        }
    }

    #[test]
    fn batch_norm_can_be_undone() {
        let before = layer(Axis::Batch);
        assert!(remains(&before).iter().all(|remains| *remains > 1.0));
        let undone = undone(&before).unwrap();
        assert!(remains(&undone).iter().all(|remains| *remains < 1e-5), "{undone:?}");
        assert_eq!(undone.result.unwrap().beta, [2.5, 15.0, 4.75]);
    }

    #[test]
    fn layer_norm_can_not_but_its_least_squares_come_closest() {
        let mut before = layer(Axis::Layer);
        // With two examples a line goes through both; with one number off it can't.
        let two = undone(&before).unwrap();
        assert!(remains(&two).iter().all(|remains| *remains < 1e-4), "{two:?}");
        let result = before.result.as_mut().unwrap();
        for array in [&mut before.input, &mut result.normalized, &mut result.output] {
            array.shape[0] = 3;
        }
        before.input.values.extend([2.0, 0.0, 1.0]);
        let third = [1.224_7, -1.224_7, 0.0];
        result.normalized.values.extend(third);
        result.output.values.extend(third);
        let undone = undone(&before).unwrap();
        assert!(remains(&undone).iter().any(|remains| *remains > 0.1), "{undone:?}");
        let squares = |layer: &Layer, (gamma, beta): (f32, f32)| {
            let result = layer.result.as_ref().unwrap();
            let pairs = result.normalized.values.iter().zip(&layer.input.values).step_by(3);
            pairs.map(|(hat, x)| (gamma * hat + beta - x).powi(2)).sum::<f32>()
        };
        let result = undone.result.as_ref().unwrap();
        let best = (result.gamma[0], result.beta[0]);
        for near in [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01)] {
            let other = (best.0 + near.0, best.1 + near.1);
            assert!(squares(&undone, best) <= squares(&undone, other), "{best:?} {other:?}");
        }
    }

    #[test]
    fn what_does_not_vary_is_reached_by_the_offset_alone() {
        assert_eq!(
            closest([(0.5, 3.0), (0.5, 4.0)].iter().map(|pair| (&pair.0, &pair.1))),
            (0.0, 3.5)
        );
    }
}
