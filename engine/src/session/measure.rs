//! How fast a model trains on this device, on a throw-away copy of it.

use unroll_model::{Slice, StepGradients, Trainer, read_all};

use super::experiment::steps_together;

/// Steps before the clock counts: a GPU compiles its programs in them.
const UNTIMED: u32 = 3;
/// Steps that are timed at most, and for how long, in milliseconds.
const TIMED: usize = 7;
const LONGEST: f64 = 3000.0;

/// A measurement under way.
pub struct Measuring {
    id: u32,
    trainer: Trainer,
    untimed: u32,
    began: f64,
    since: f64,
    times: Vec<f64>,
    /// Steps whose numbers are not read yet, and how many are read together.
    unseen: Vec<StepGradients>,
    together: u32,
}

impl Measuring {
    pub fn new(id: u32, trainer: Trainer, now: f64) -> Self {
        Self {
            id,
            trainer,
            untimed: UNTIMED,
            began: now,
            since: now,
            times: Vec::new(),
            unseen: Vec::new(),
            together: 1,
        }
    }

    /// Of the command that asked for it.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// One slice; the median of a step's milliseconds once it is known. A device that does not give
    /// back its loss is infinitely slow.
    pub async fn advance(&mut self, now: fn() -> f64) -> Option<f32> {
        let Slice::Gradients(gradients) = self.trainer.advance() else { return None };
        self.unseen.push(gradients);
        if self.unseen.len() < self.together as usize {
            self.trainer.apply();
            return None;
        }
        // As in training: once the numbers are read, what is queued is done.
        let count = self.unseen.len() as f64;
        let numbers = self.unseen.drain(..).flat_map(|step| [step.loss, step.gradient_norm]);
        if read_all(numbers).await.is_err() {
            return Some(f32::INFINITY);
        }
        self.trainer.apply();
        let at = now();
        let took = (at - core::mem::replace(&mut self.since, at)) / count;
        if self.untimed > 0 {
            self.untimed -= 1;
            self.together = if self.trainer.reads_wait() { steps_together(took) } else { 1 };
            self.began = at;
            return None;
        }
        self.times.push(took);
        if self.times.len() < TIMED && at - self.began < LONGEST {
            return None;
        }
        self.times.sort_by(f64::total_cmp);
        Some(self.times[self.times.len() / 2] as f32)
    }
}
