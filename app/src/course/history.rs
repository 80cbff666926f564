//! What was measured while a chapter's models trained.

use serde::{Deserialize, Serialize};
use unroll_protocol::StudyPoint;

/// Most values kept of one series; beyond it every second one is dropped.
const MOST_VALUES: usize = 4096;
/// Losses that a point of a smoothed curve is the mean of: of small batches they are noisy.
pub const SMOOTHED: usize = 20;

/// The series of a study, thinned so that an hour of training stays small.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    series: Vec<Series>,
    last_step: u32,
}

/// One measured quantity over steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    pub name: String,
    /// Step and value, in order; one value in `stride` of those measured.
    values: Vec<(u32, f32)>,
    stride: u32,
    skipped: u32,
    /// The last value measured, kept or not.
    last: Option<(u32, f32)>,
    /// What was measured later is not shown.
    #[serde(skip)]
    until: Option<u32>,
}

impl Series {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), stride: 1, ..Self::default() }
    }

    /// Whether it is a share of right answers, and no loss: the studies name those so.
    pub fn is_share(&self) -> bool {
        self.name.ends_with("right")
    }

    fn push(&mut self, step: u32, value: f32) {
        self.last = Some((step, value));
        self.skipped += 1;
        if self.skipped < self.stride {
            return;
        }
        self.skipped = 0;
        self.values.push((step, value));
        if self.values.len() > MOST_VALUES {
            let mut index = 0;
            self.values.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.stride *= 2;
        }
    }

    /// What was measured, kept or the last.
    fn all(&self) -> impl DoubleEndedIterator<Item = (u32, f32)> {
        let last = self.last.filter(|last| self.values.last() != Some(last));
        self.values.iter().copied().chain(last)
    }

    /// The same up to the moment that is looked at.
    fn shown(&self) -> impl DoubleEndedIterator<Item = (u32, f32)> {
        let until = self.until.unwrap_or(u32::MAX);
        self.all().filter(move |(step, _)| *step <= until)
    }

    /// Step and value, in order, for a figure, up to the moment that is looked at.
    pub fn points(&self) -> Vec<(f64, f64)> {
        pairs(self.shown())
    }

    /// Step and value of the whole run, in order.
    pub fn whole(&self) -> Vec<(f64, f64)> {
        pairs(self.all())
    }

    /// The last value measured, up to the moment that is looked at.
    pub fn last(&self) -> Option<f32> {
        self.shown().next_back().map(|(_, value)| value)
    }

    /// The last of its [`smoothed`] points.
    pub fn last_mean(&self) -> Option<f32> {
        let mut end = pairs(self.shown().rev().take(SMOOTHED));
        end.reverse();
        smoothed(&end).last().map(|(_, mean)| *mean as f32)
    }
}

/// Every point the mean of up to [`SMOOTHED`] values that end with it.
pub fn smoothed(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sum = 0.0;
    let mean = |(i, &(step, value)): (usize, &(f64, f64))| {
        sum += value;
        if i >= SMOOTHED {
            sum -= points[i - SMOOTHED].1;
        }
        (step, sum / (i + 1).min(SMOOTHED) as f64)
    };
    points.iter().enumerate().map(mean).collect()
}

fn pairs(points: impl Iterator<Item = (u32, f32)>) -> Vec<(f64, f64)> {
    points.map(|(step, value)| (f64::from(step), f64::from(value))).collect()
}

impl History {
    /// Shows what was measured up to a moment, or all of it.
    pub fn look_at(&mut self, step: Option<u32>) {
        self.series.iter_mut().for_each(|series| series.until = step);
    }

    /// Nothing measured yet of the series with these names.
    pub fn new(names: &[String]) -> Self {
        Self { series: names.iter().map(|name| Series::new(name)).collect(), last_step: 0 }
    }

    /// Whether it is of the series with these names.
    pub fn is_of(&self, names: &[String]) -> bool {
        self.series.iter().map(|series| &series.name).eq(names)
    }

    pub fn push(&mut self, point: &StudyPoint) {
        self.last_step = point.step;
        for (series, value) in self.series.iter_mut().zip(&point.values) {
            if let Some(value) = value {
                series.push(point.step, *value);
            }
        }
    }

    /// Steps taken.
    pub fn last_step(&self) -> u32 {
        self.last_step
    }

    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// The [`smoothed`] points of the series with this name; none before it is measured.
    pub fn smoothed(&self, name: &str) -> Vec<(f64, f64)> {
        self.named(name).map_or_else(Vec::new, |series| smoothed(&series.points()))
    }

    /// The series with this name.
    pub fn named(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smoothed_point_is_the_mean_of_what_ends_with_it() {
        let points: Vec<(f64, f64)> = (1..=30).map(|i| (f64::from(i), f64::from(i))).collect();
        let means = smoothed(&points);
        // Early ones are of fewer values.
        assert_eq!([means[0], means[2], means[29]], [(1.0, 1.0), (3.0, 2.0), (30.0, 20.5)]);
        assert!(smoothed(&[]).is_empty());
        let mut series = Series::new("loss");
        assert_eq!(series.last_mean(), None);
        (1..=30_u8).for_each(|i| series.push(i.into(), i.into()));
        assert_eq!(series.last_mean(), Some(20.5));
    }

    #[test]
    fn long_runs_are_thinned_and_keep_their_end() {
        let mut history = History::new(&["loss".into(), "held out".into()]);
        for step in 1..=20_000 {
            let held_out = (step % 100 == 0).then_some(2.0);
            history.push(&StudyPoint { step, values: vec![Some(step as f32), held_out] });
        }
        let loss = history.named("loss").unwrap();
        let points = loss.points();
        assert!(points.len() <= MOST_VALUES + 1, "{}", points.len());
        assert_eq!((loss.last(), points.last()), (Some(20_000.0), Some(&(20_000.0, 20_000.0))));
        assert!(points.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(history.series()[1].points().len(), 200);
        history.look_at(Some(450));
        let held_out = &history.series()[1];
        assert_eq!(
            (held_out.points().len(), held_out.whole().len(), held_out.last()),
            (4, 200, Some(2.0))
        );
        history.look_at(Some(50));
        assert_eq!(history.series()[1].last(), None);
        assert_eq!(history.last_step(), 20_000);
    }
}
