//! The learning-rate schedule: what trains reads it here, and what draws it.

use crate::OptimizerSpec;

/// Linear warm-up, then half a cosine (Loshchilov and Hutter 2017) down to a tenth of the peak,
/// where it stays. A pure function of the step, so a run can be resumed or replayed at any step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningRateSchedule {
    /// Learning rate at the end of the warm-up.
    pub peak: f64,
    /// Steps of the warm-up.
    pub warmup_steps: u32,
    /// Step at which the floor is reached.
    pub decay_steps: u32,
}

impl LearningRateSchedule {
    /// Fraction of the peak at which the schedule ends.
    pub const FLOOR: f64 = 0.1;

    /// The schedule an optimizer spec asks for.
    pub fn new(spec: &OptimizerSpec) -> Self {
        Self {
            peak: f64::from(spec.learning_rate),
            warmup_steps: spec.warmup_steps,
            decay_steps: spec.decay_steps,
        }
    }

    /// The learning rate of update number `step`; the first is 1.
    pub fn at(&self, step: u32) -> f64 {
        if step <= self.warmup_steps && self.warmup_steps > 0 {
            return self.peak * f64::from(step) / f64::from(self.warmup_steps);
        }
        if step >= self.decay_steps {
            return self.peak * Self::FLOOR;
        }
        let past = f64::from(step - self.warmup_steps);
        let progress = past / f64::from(self.decay_steps - self.warmup_steps);
        let cosine = 0.5 * (1.0 + libm::cos(core::f64::consts::PI * progress));
        self.peak * (Self::FLOOR + (1.0 - Self::FLOOR) * cosine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warms_up_decays_and_stays() {
        let schedule = LearningRateSchedule { peak: 2.0, warmup_steps: 4, decay_steps: 14 };
        let close = |step, rate: f64| assert!((schedule.at(step) - rate).abs() < 1e-12, "{step}");
        close(1, 0.5);
        close(2, 1.0);
        close(4, 2.0);
        close(9, 1.1);
        close(14, 0.2);
        close(1_000_000, 0.2);
        assert!((4..14).all(|step| schedule.at(step) > schedule.at(step + 1)));
    }

    #[test]
    fn degenerate_schedules_are_defined() {
        let no_warmup = LearningRateSchedule { peak: 1.0, warmup_steps: 0, decay_steps: 0 };
        assert!((no_warmup.at(1) - 0.1).abs() < 1e-12);
        let none = LearningRateSchedule { peak: 1.0, warmup_steps: 0, decay_steps: 10 };
        assert!((none.at(0) - 1.0).abs() < 1e-12, "it starts at the peak");
        let long = LearningRateSchedule { peak: 1.0, warmup_steps: 10, decay_steps: 5 };
        assert!((long.at(10) - 1.0).abs() < 1e-12);
        assert!((long.at(11) - 0.1).abs() < 1e-12);
    }
}
