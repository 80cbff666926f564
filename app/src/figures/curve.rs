//! The loss curve as it grows: kept once, read often.

use unroll_protocol::CurvePoint;

/// The smoothed line is the mean of a step with this many before and after it, as far as they are
/// there. Looking both ways, it does not lag behind a falling loss.
const SMOOTHING: usize = 10;

/// Every optimizer step since the experiment began, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    points: Vec<CurvePoint>,
    /// Sums of the training losses up to and with each point, so that any mean is one subtraction.
    sums: Vec<f64>,
    /// Indices into `points` where the held-out loss was measured.
    held_out: Vec<u32>,
}

impl Curve {
    /// Adds one step. A step that was already there, as after going back to an earlier state,
    /// replaces it and all that followed.
    pub fn push(&mut self, point: CurvePoint) {
        if self.points.last().is_some_and(|last| last.step >= point.step) {
            self.truncate(point.step.saturating_sub(1));
        }
        if point.held_out.is_some() {
            self.held_out.push(self.points.len() as u32);
        }
        self.points.push(point);
        self.sums.push(self.sums.last().copied().unwrap_or(0.0) + f64::from(point.loss));
    }

    pub fn extend(&mut self, points: &[CurvePoint]) {
        for &point in points {
            self.push(point);
        }
    }

    /// Forgets every step after `step`.
    pub fn truncate(&mut self, step: u32) {
        let keep = self.points.partition_point(|p| p.step <= step);
        self.points.truncate(keep);
        self.sums.truncate(keep);
        self.held_out.truncate(self.held_out.partition_point(|&i| (i as usize) < keep));
    }

    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    pub fn points(&self) -> &[CurvePoint] {
        &self.points
    }

    /// The smoothed training loss around the point at `index`, in nats per token.
    pub fn smoothed(&self, index: usize) -> Option<f64> {
        let last = self.sums.len().checked_sub(1)?;
        let (first, end) = (
            index.saturating_sub(SMOOTHING),
            // As many after as before, while there are few before: the start is not pulled down.
            (index + SMOOTHING.min(index)).min(last),
        );
        let before = first.checked_sub(1).map_or(0.0, |i| self.sums[i]);
        (index <= last).then(|| (self.sums[end] - before) / (end + 1 - first) as f64)
    }

    /// Steps and held-out losses, where measured.
    pub fn held_out(&self) -> impl DoubleEndedIterator<Item = (u32, f32)> + '_ {
        self.held_out.iter().filter_map(|&i| {
            let point = self.points[i as usize];
            Some((point.step, point.held_out?))
        })
    }

    /// The last step taken, 0 before the first.
    pub fn last_step(&self) -> u32 {
        self.points.last().map_or(0, |p| p.step)
    }

    /// Index of the point at `step`, or of the nearest one.
    pub fn nearest(&self, step: u32) -> Option<usize> {
        let after = self.points.partition_point(|p| p.step < step);
        let candidates = [after.checked_sub(1), Some(after).filter(|&i| i < self.points.len())];
        candidates.into_iter().flatten().min_by_key(|&i| self.points[i].step.abs_diff(step))
    }

    /// The last held-out loss measured at or before `step`.
    pub fn held_out_before(&self, step: u32) -> Option<(u32, f32)> {
        self.held_out().rev().find(|&(measured, _)| measured <= step)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// `n` steps of a loss falling from ln 64, held-out measured every 10.
    pub fn falling(n: u32) -> Curve {
        let mut curve = Curve::default();
        for step in 1..=n {
            let loss = 64f32.ln() - (step as f32).ln() / 4.0;
            let held_out = (step % 10 == 0).then_some(loss + 0.1);
            curve.push(CurvePoint {
                step,
                loss,
                held_out,
                gradient_norm: 1.0,
                learning_rate: 3e-3,
            });
        }
        curve
    }

    #[test]
    fn smooths_without_lag() {
        let point = |step, loss| CurvePoint {
            step,
            loss,
            held_out: None,
            gradient_norm: 0.0,
            learning_rate: 0.0,
        };
        let mut curve = Curve::default();
        for step in 1..=50 {
            curve.push(point(step, 3.0 - step as f32 / 32.0));
        }
        for i in SMOOTHING..50 - SMOOTHING {
            let loss = f64::from(curve.points()[i].loss);
            assert!((curve.smoothed(i).unwrap() - loss).abs() < 1e-9);
        }
        // The last step has only earlier ones to look at: the mean of 11.
        let end = curve.smoothed(49).unwrap();
        assert!((end - (3.0 - 45.0 / 32.0)).abs() < 1e-9);
        assert_eq!((curve.smoothed(50), Curve::default().smoothed(0)), (None, None));
    }

    #[test]
    fn going_back_replaces_what_followed() {
        let mut curve = falling(35);
        assert_eq!(curve.held_out().count(), 3);
        let point = CurvePoint { loss: 1.0, ..curve.points()[20] };
        curve.push(point);
        assert_eq!(curve.last_step(), 21);
        assert_eq!(curve.held_out().count(), 2);
        assert_eq!((curve.points().len(), curve.sums.len()), (21, 21));
    }

    #[test]
    fn finds_steps() {
        let mut curve = falling(30);
        assert_eq!(curve.nearest(0), Some(0));
        assert_eq!(curve.nearest(12), Some(11));
        assert_eq!(curve.nearest(99), Some(29));
        assert_eq!(curve.held_out_before(9), None);
        assert_eq!(curve.held_out_before(25).unwrap().0, 20);
        curve.truncate(0);
        assert!(curve.is_empty() && curve.nearest(3).is_none());
    }
}
