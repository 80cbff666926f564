//! What was measured while a chapter's models trained.

use unroll_protocol::StudyPoint;

/// Most values kept of one series; beyond it every second one is dropped.
const MOST_VALUES: usize = 4096;

/// The series of a study, thinned so that an hour of training stays small.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    series: Vec<Series>,
    last_step: u32,
}

/// One measured quantity over steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub name: String,
    /// Step and value, in order; one value in `stride` of those measured.
    values: Vec<(u32, f32)>,
    stride: u32,
    skipped: u32,
    /// The last value measured, kept or not.
    last: Option<(u32, f32)>,
}

impl Series {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), stride: 1, ..Self::default() }
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

    /// Step and value, in order, for a figure; the last one measured always.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let last = self.last.filter(|last| self.values.last() != Some(last));
        let all = self.values.iter().copied().chain(last);
        all.map(|(step, value)| (f64::from(step), f64::from(value))).collect()
    }

    /// The last value measured.
    pub fn last(&self) -> Option<f32> {
        self.last.map(|(_, value)| value)
    }
}

impl History {
    /// Nothing measured yet of the series with these names.
    pub fn new(names: &[String]) -> Self {
        Self { series: names.iter().map(|name| Series::new(name)).collect(), last_step: 0 }
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

    /// The series with this name.
    pub fn named(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(history.last_step(), 20_000);
    }
}
