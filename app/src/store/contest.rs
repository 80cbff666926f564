//! Which of two engines trains the learner's own model faster: measured, not believed.

/// Steps the present engine must have taken before its speed counts.
const STEPS: usize = 10;
/// The other engine takes over if its step takes at most this share of the present one's:
/// measurements scatter, and a move costs a moment.
const WORTH_IT: f32 = 0.8;

/// What is known of the present model's speed on either engine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contest {
    /// Counts the models. What was measured on one says nothing about the next.
    model: u32,
    /// Milliseconds per step on the other engine, from a throw-away copy.
    other: Option<f32>,
    steps: usize,
    decided: bool,
}

/// How a contest ended, in milliseconds per step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    pub other_wins: bool,
    pub present: f32,
    pub other: f32,
}

impl Contest {
    /// Starts anew for the next model; its number, to be measured by.
    pub fn next_model(&mut self) -> u32 {
        *self = Self { model: self.model.wrapping_add(1), ..Self::default() };
        self.model
    }

    /// The other engine measured this model. It may have begun before the present one was built:
    /// then it is not looked at.
    pub fn other_took(&mut self, model: u32, milliseconds: f32) {
        if model == self.model {
            self.other = Some(milliseconds);
        }
    }

    /// The present engine took so many steps more, and needs so long for one. The verdict, once.
    pub fn present_took(&mut self, steps: usize, milliseconds: f32) -> Option<Verdict> {
        self.steps += steps;
        let other = self.other?;
        if self.decided || self.steps < STEPS || milliseconds <= 0.0 {
            return None;
        }
        self.decided = true;
        let other_wins = other <= WORTH_IT * milliseconds;
        Some(Verdict { other_wins, present: milliseconds, other })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_must_be_clearly_faster_and_is_judged_once() {
        let mut contest = Contest::default();
        assert_eq!(contest.present_took(50, 10.0), None, "the other is not measured yet");
        contest.other_took(0, 8.0);
        let verdict = contest.present_took(1, 10.0).expect("both are measured");
        assert_eq!(verdict, Verdict { other_wins: true, present: 10.0, other: 8.0 });
        assert_eq!(contest.present_took(1, 100.0), None, "decided");

        let mut contest = Contest::default();
        contest.other_took(0, 8.1);
        assert_eq!(contest.present_took(9, 10.0), None, "too few steps");
        assert!(!contest.present_took(1, 10.0).expect("enough steps").other_wins);
        let mut contest = Contest::default();
        contest.other_took(0, f32::INFINITY);
        assert!(!contest.present_took(10, 10.0).expect("a verdict").other_wins);
    }

    #[test]
    fn a_measurement_of_the_model_before_is_not_judged() {
        let mut contest = Contest::default();
        let (before, now) = (contest.next_model(), contest.next_model());
        contest.other_took(before, 1.0);
        assert_eq!(contest.present_took(50, 10.0), None, "measured was another model");
        contest.other_took(now, 20.0);
        contest.other_took(before, 1.0);
        let verdict = contest.present_took(1, 10.0).expect("both are measured");
        assert_eq!(verdict, Verdict { other_wins: false, present: 10.0, other: 20.0 });
        contest.next_model();
        assert_eq!(contest.present_took(50, 10.0), None, "the next model was not measured at all");
    }
}
