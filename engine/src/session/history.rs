//! Moments of a run, kept to be asked about later.

use unroll_protocol::Recorded;

/// Moments are this share of the steps apart: evenly on a log scale, and at first one a step.
const SHARE: u32 = 16;

/// Moments by step, the last always among them, and the first unless [`Recorded::most`] is one.
pub struct History<T> {
    kept: Vec<(u32, T)>,
    /// Numbers in a moment.
    parameters: u64,
    /// For all of them, but for the first and the last.
    megabytes: u32,
    /// The step of the moment that was asked about last.
    asked: Option<u32>,
    /// Whether a moment came or went since the last report.
    changed: bool,
}

impl<T> History<T> {
    /// No moments yet of models with so many parameters.
    pub fn new(parameters: u64, megabytes: u32) -> Self {
        Self { kept: Vec::new(), parameters, megabytes, asked: None, changed: false }
    }

    /// Has moments take up this many megabytes at most from now on. Those for which there is no room
    /// any more go at once; those that went before do not come back.
    pub fn set_budget(&mut self, megabytes: u32) {
        self.megabytes = megabytes;
        self.thin();
    }

    /// Whether the moment after `step` steps is to be kept.
    pub fn is_due(&self, step: u32) -> bool {
        let next = |last: u32| last.saturating_add(1.max(last / SHARE));
        self.megabytes > 0 && self.kept.last().is_none_or(|(last, _)| step >= next(*last))
    }

    /// Whether the moment after `step` steps is the last one.
    pub fn ends_with(&self, step: u32) -> bool {
        self.kept.last().is_some_and(|(last, _)| *last == step)
    }

    /// Keeps the moment after `step` steps, which must be later than all others.
    pub fn keep(&mut self, step: u32, moment: T) {
        debug_assert!(self.kept.last().is_none_or(|(last, _)| *last < step));
        self.kept.push((step, moment));
        self.changed = true;
        self.thin();
    }

    /// Puts an earlier moment among the others, unless there is one of that step.
    pub fn recall(&mut self, step: u32, moment: T) {
        let at = self.kept.partition_point(|(kept, _)| *kept < step);
        if self.kept.get(at).is_none_or(|(kept, _)| *kept != step) {
            self.kept.insert(at, (step, moment));
            self.changed = true;
            self.thin();
        }
    }

    /// While there is no room for all, one goes: not the one that was asked about last, for it is on
    /// show.
    fn thin(&mut self) {
        let most = Recorded::most(self.megabytes, self.parameters);
        self.changed |= Recorded::thin(&mut self.kept, |(step, _)| *step, most, self.asked);
    }

    /// The moment nearest to step `at`, and its step; `None` for the present.
    pub fn ask(&mut self, at: Option<u32>) -> Option<(u32, &mut T)> {
        let nearest =
            at.and_then(|at| self.kept.iter_mut().min_by_key(|(kept, _)| kept.abs_diff(at)));
        self.asked = nearest.as_ref().map(|(step, _)| *step);
        nearest.map(|(step, moment)| (*step, moment))
    }

    /// The moment of exactly this step, if it is kept.
    pub fn of(&self, step: u32) -> Option<&T> {
        let at = self.kept.binary_search_by_key(&step, |(kept, _)| *kept).ok()?;
        Some(&self.kept[at].1)
    }

    /// All moments before `step`, in order.
    pub fn before(&mut self, step: u32) -> impl Iterator<Item = (u32, &mut T)> {
        let earlier = self.kept.iter_mut().take_while(move |(kept, _)| *kept < step);
        earlier.map(|(kept, moment)| (*kept, moment))
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
        let bytes = size_of::<f32>() as u64 * self.parameters * steps.len() as u64;
        core::mem::take(&mut self.changed).then_some((steps, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: u32 = unroll_protocol::Recorded::BUDGET;

    /// The steps kept of a run of so many steps.
    fn run(parameters: u64, steps: u32) -> Vec<u32> {
        let mut history = History::new(parameters, USUAL);
        for step in 0..=steps {
            if history.is_due(step) {
                history.keep(step, ());
            }
        }
        let (kept, bytes) = history.report().expect("it was never reported");
        assert!(bytes <= 64_000_000.max(2 * 4 * parameters), "{parameters}: {bytes}");
        assert_eq!(history.report(), None);
        kept
    }

    #[test]
    fn moments_are_spaced_evenly_on_a_log_scale() {
        assert_eq!(run(1000, 20), (0..=20).collect::<Vec<u32>>());
        for (steps, least) in [(100, 50), (1000, 90), (5000, 100), (100_000, 160)] {
            let kept = run(1000, steps);
            assert!(
                (least..=Recorded::MOST as usize).contains(&kept.len()),
                "{steps}: {}",
                kept.len()
            );
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

    /// What no tab could train is too large for two moments that nobody asked for.
    #[test]
    fn of_a_large_model_the_last_stays_where_two_do_not_fit() {
        assert_eq!(run(13_000_000, 10), [10]);
        let mut history = History::new(13_000_000, USUAL);
        let steps = |history: &mut History<()>| history.report().map(|(steps, _)| steps);
        (0..=2).for_each(|step| history.keep(step, ()));
        history.ask(Some(2));
        (3..=5).for_each(|step| history.keep(step, ()));
        assert_eq!(steps(&mut history), Some(vec![2, 5]), "the one on show stays");
        history.ask(None);
        history.set_budget(128);
        history.keep(6, ());
        assert_eq!(steps(&mut history), Some(vec![2, 6]), "two fit, the first of them, too");
    }

    #[test]
    fn the_moment_on_show_stays() {
        // Room for two moments, the first and the last; and for the one on show.
        let mut history = History::new(12_000_000, USUAL);
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
    fn a_smaller_budget_thins_at_once_and_a_larger_one_makes_room() {
        // A moment takes up 0.4 MB.
        let mut history = History::new(100_000, USUAL);
        let steps = |history: &mut History<()>| history.report().map(|(steps, _)| steps);
        (0..=30).for_each(|step| history.keep(step, ()));
        assert_eq!(steps(&mut history).map(|kept| kept.len()), Some(31));
        // More room than is needed changes nothing, and is no news.
        history.set_budget(1024);
        assert_eq!(history.report(), None);
        history.ask(Some(20));
        history.set_budget(2);
        let (kept, bytes) = history.report().expect("moments went");
        assert_eq!((kept.len(), bytes), (5, 2_000_000));
        assert!(kept[0] == 0 && kept.contains(&20) && kept[4] == 30, "{kept:?}");
        history.set_budget(2);
        assert_eq!(history.report(), None);
        // What went is gone; what comes finds room.
        history.set_budget(USUAL);
        assert_eq!(history.report(), None);
        history.keep(31, ());
        let more = [kept, vec![31]].concat();
        assert_eq!(steps(&mut history), Some(more));
    }

    #[test]
    fn what_is_recalled_takes_its_place_and_is_thinned_like_the_rest() {
        let mut history = History::new(100_000, 2);
        history.keep(1000, ());
        for step in [30, 0, 300, 30, 1000] {
            history.recall(step, ());
        }
        assert_eq!(history.report(), Some((vec![0, 30, 300, 1000], 1_600_000)));
        history.recall(300, ());
        assert_eq!(history.report(), None);
        // There is room for five: 290 is nearest to its neighbors. The one on show stays.
        history.recall(280, ());
        history.recall(290, ());
        assert_eq!(history.report().map(|(steps, _)| steps), Some(vec![0, 30, 280, 300, 1000]));
        history.ask(Some(290));
        history.recall(290, ());
        let steps = history.report().map(|(steps, _)| steps);
        assert!(steps.is_none_or(|steps| steps.len() == 5 && steps.contains(&280)));
    }

    #[test]
    fn without_a_budget_moments_are_kept_only_where_training_rests() {
        let mut history = History::new(10, 0);
        history.keep(0, ());
        assert!((1..1000).all(|step| !history.is_due(step)));
        history.keep(7, ());
        history.keep(9, ());
        assert_eq!(history.report(), Some((vec![0, 9], 80)));
        history.set_budget(4);
        assert!(!history.is_due(9) && history.is_due(10));
    }

    #[test]
    fn the_nearest_is_found_and_what_came_later_is_forgotten() {
        let mut history = History::new(10, USUAL);
        assert!(history.ask(Some(3)).is_none());
        for step in [0, 4, 9] {
            history.keep(step, step);
        }
        let near = |history: &mut History<u32>, step| history.ask(step).map(|(step, _)| step);
        assert_eq!([0, 3, 7, 99].map(|at| near(&mut history, Some(at))), [0, 4, 9, 9].map(Some));
        assert_eq!(near(&mut history, None), None);
        assert_eq!([0, 3, 4, 9].map(|step| history.of(step)), [Some(&0), None, Some(&4), Some(&9)]);
        history.forget_after(5);
        assert_eq!(history.report(), Some((vec![0, 4], 80)));
        assert!(history.ends_with(4) && !history.ends_with(5));
    }
}
