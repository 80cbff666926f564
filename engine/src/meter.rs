//! Training speed, from the wall time of recent steps.

use std::collections::VecDeque;

/// Number of steps and length of time over which the speed is averaged.
const MOST_STEPS: usize = 50;
const WINDOW_MS: f64 = 1500.0;

/// Durations of recent optimizer steps in milliseconds.
#[derive(Default)]
pub struct Meter {
    /// When the present stretch of training began, or when it last finished a step.
    since: Option<f64>,
    durations: VecDeque<f64>,
}

impl Meter {
    /// Training starts or resumes at `now`.
    pub fn start(&mut self, now: f64) {
        self.since = Some(now);
    }

    /// Training stops; the pause does not count as a slow step.
    pub fn stop(&mut self) {
        self.since = None;
    }

    /// `count` steps were finished since the last call, and it is `now`.
    pub fn finish_steps(&mut self, count: u32, now: f64) {
        if count == 0 {
            return;
        }
        if let Some(since) = self.since.replace(now) {
            let each = (now - since) / f64::from(count);
            self.durations.extend((0..count).map(|_| each));
        }
        let mut total: f64 = self.durations.iter().sum();
        while self.durations.len() > MOST_STEPS || (self.durations.len() > 1 && total > WINDOW_MS) {
            total -= self.durations.pop_front().unwrap_or(0.0);
        }
    }

    /// Median milliseconds of a recent step, 0 before the first. Short steps are averaged: Firefox
    /// and Safari tell whole milliseconds, so each of them took 0 or 1.
    pub fn milliseconds_per_step(&self) -> f32 {
        let mut sorted: Vec<f64> = self.durations.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        match sorted.get(sorted.len() / 2) {
            Some(&median) if median > 2.0 => median as f32,
            Some(_) => (sorted.iter().sum::<f64>() / sorted.len() as f64) as f32,
            None => 0.0,
        }
    }

    /// Tokens per second of wall time over the recent steps, each of `tokens`.
    pub fn tokens_per_second(&self, tokens: u64) -> f32 {
        let total: f64 = self.durations.iter().sum();
        if total > 0.0 {
            (tokens as f64 * self.durations.len() as f64 * 1000.0 / total) as f32
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_do_not_count_and_old_steps_fall_out() {
        let mut meter = Meter::default();
        assert_eq!((meter.milliseconds_per_step(), meter.tokens_per_second(8)), (0.0, 0.0));
        meter.start(0.0);
        meter.finish_steps(1, 100.0);
        meter.stop();
        meter.start(10_000.0);
        meter.finish_steps(1, 10_100.0);
        assert_eq!(meter.milliseconds_per_step(), 100.0);
        assert_eq!(meter.tokens_per_second(8), 80.0);
        for step in 1..=100 {
            meter.finish_steps(1, 10_100.0 + 10.0 * f64::from(step));
        }
        assert_eq!(meter.milliseconds_per_step(), 10.0);
        assert_eq!(meter.tokens_per_second(8), 800.0);
        // A clock of whole milliseconds: three steps of four seem to take no time.
        let mut meter = Meter::default();
        meter.start(0.0);
        for step in 1..=20 {
            meter.finish_steps(1, f64::from(step / 4));
        }
        assert_eq!(meter.milliseconds_per_step(), 0.25);
        // Steps whose results are read together count as equally long.
        let mut meter = Meter::default();
        meter.start(0.0);
        meter.finish_steps(0, 20.0);
        meter.finish_steps(4, 20.0);
        assert_eq!((meter.milliseconds_per_step(), meter.tokens_per_second(8)), (5.0, 1600.0));
    }
}
