//! Moments of a run, kept to be asked about later.

/// Bytes of weights that one run keeps at most, besides its first moment and its last.
pub const BUDGET: u64 = 64_000_000;
/// More moments than this no bar can show apart.
const MOST: u64 = 256;
/// Moments are this share of the steps apart: evenly on a log scale, and at first one a step.
const SHARE: u32 = 16;

/// Moments by step, the first of them and the last always among them.
pub struct History<T> {
    kept: Vec<(u32, T)>,
    /// Of one moment.
    bytes: u64,
    most: usize,
    /// The step of the moment that was asked about last.
    asked: Option<u32>,
    /// Whether a moment came or went since the last report.
    changed: bool,
}

impl<T> History<T> {
    /// No moments yet of models with so many parameters.
    pub fn new(parameters: u64) -> Self {
        let bytes = (size_of::<f32>() as u64 * parameters).max(1);
        let most = (BUDGET / bytes).clamp(2, MOST) as usize;
        Self { kept: Vec::new(), bytes, most, asked: None, changed: false }
    }

    /// Whether the moment after `step` steps is to be kept.
    pub fn is_due(&self, step: u32) -> bool {
        let next = |last: u32| last.saturating_add(1.max(last / SHARE));
        self.kept.last().is_none_or(|(last, _)| step >= next(*last))
    }

    /// Whether the moment after `step` steps is the last one.
    pub fn ends_with(&self, step: u32) -> bool {
        self.kept.last().is_some_and(|(last, _)| *last == step)
    }

    /// Keeps the moment after `step` steps, which must be later than all others. Where there is no
    /// room for it, the moment goes whose neighbors are nearest to each other; not the one that was
    /// asked about last, for it is on show.
    pub fn keep(&mut self, step: u32, moment: T) {
        debug_assert!(self.kept.last().is_none_or(|(last, _)| *last < step));
        self.kept.push((step, moment));
        self.changed = true;
        while self.kept.len() > self.most {
            let place = |at: usize| f64::from(self.kept[at].0 + 1).ln();
            let gap = |at: &usize| place(at + 1) - place(at - 1);
            let inner = 1..self.kept.len() - 1;
            let inner = inner.filter(|at| Some(self.kept[*at].0) != self.asked);
            let Some(nearest) = inner.min_by(|a, b| gap(a).total_cmp(&gap(b))) else { break };
            self.kept.remove(nearest);
        }
    }

    /// The moment nearest to step `at`, and its step; `None` for the present.
    pub fn ask(&mut self, at: Option<u32>) -> Option<(u32, &mut T)> {
        let nearest =
            at.and_then(|at| self.kept.iter_mut().min_by_key(|(kept, _)| kept.abs_diff(at)));
        self.asked = nearest.as_ref().map(|(step, _)| *step);
        nearest.map(|(step, moment)| (*step, moment))
    }

    /// The run is back at `step`: what came later is gone.
    pub fn forget_after(&mut self, step: u32) {
        self.kept.retain(|(kept, _)| *kept <= step);
        self.changed = true;
    }

    /// The steps of all moments, and the bytes that they take up; `None` if they are as they were at
    /// the last call.
    pub fn report(&mut self) -> Option<(Vec<u32>, u64)> {
        let steps: Vec<u32> = self.kept.iter().map(|(step, _)| *step).collect();
        let bytes = self.bytes * steps.len() as u64;
        core::mem::take(&mut self.changed).then_some((steps, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps kept of a run of so many steps.
    fn run(parameters: u64, steps: u32) -> Vec<u32> {
        let mut history = History::new(parameters);
        for step in 0..=steps {
            if history.is_due(step) {
                history.keep(step, ());
            }
        }
        let (kept, bytes) = history.report().expect("it was never reported");
        assert!(bytes <= BUDGET.max(2 * history.bytes), "{parameters}: {bytes}");
        assert_eq!(history.report(), None);
        kept
    }

    #[test]
    fn moments_are_spaced_evenly_on_a_log_scale() {
        assert_eq!(run(1000, 20), (0..=20).collect::<Vec<u32>>());
        for (steps, least) in [(100, 50), (1000, 90), (5000, 100), (100_000, 160)] {
            let kept = run(1000, steps);
            assert!((least..=MOST as usize).contains(&kept.len()), "{steps}: {}", kept.len());
            assert_eq!(kept[0], 0);
            let late = kept.windows(2).filter(|pair| pair[0] >= 32);
            for pair in late {
                assert!(pair[1] - pair[0] <= pair[0] / SHARE + 1, "{pair:?}");
            }
        }
    }

    #[test]
    fn a_budget_thins_them() {
        for (parameters, most) in [(800_000, 20), (5_000_000, 3), (12_000_000, 2)] {
            for steps in [10, 300, 20_000] {
                let kept = run(parameters, steps);
                assert!((2..=most).contains(&kept.len()), "{parameters}: {kept:?}");
                assert!(kept[0] == 0 && kept[kept.len() - 1] >= steps - steps / 8, "{kept:?}");
            }
        }
        // What is left is still spread over the whole run.
        let kept = run(800_000, 20_000);
        let place = |step: u32| f64::from(step + 1).ln();
        let widest = kept.windows(2).map(|pair| place(pair[1]) - place(pair[0]));
        assert!(widest.fold(0.0, f64::max) < 0.2 * place(20_000), "{kept:?}");
    }

    #[test]
    fn the_moment_on_show_stays() {
        // Room for two moments, the first and the last; and for the one on show.
        let mut history = History::new(12_000_000);
        for step in 0..=9 {
            history.keep(step, ());
            if step == 3 {
                history.ask(Some(3));
            }
        }
        assert_eq!(history.report().map(|(steps, _)| steps), Some(vec![0, 3, 9]));
        history.ask(None);
        history.keep(10, ());
        history.keep(11, ());
        let (steps, _) = history.report().expect("it has changed");
        assert!(steps.len() <= 3 && !steps.contains(&3), "{steps:?}");
    }

    #[test]
    fn the_nearest_is_found_and_what_came_later_is_forgotten() {
        let mut history = History::new(10);
        assert!(history.ask(Some(3)).is_none());
        for step in [0, 4, 9] {
            history.keep(step, step);
        }
        let near = |history: &mut History<u32>, step| history.ask(step).map(|(step, _)| step);
        assert_eq!([0, 3, 7, 99].map(|at| near(&mut history, Some(at))), [0, 4, 9, 9].map(Some));
        assert_eq!(near(&mut history, None), None);
        history.forget_after(5);
        assert_eq!(history.report(), Some((vec![0, 4], 80)));
        assert!(history.ends_with(4) && !history.ends_with(5));
    }
}
