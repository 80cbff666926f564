//! Measures how fast a model trains on this device, using a temporary copy.

use unroll_model::{Slice, StepGradients, Trainer, read_all};

use super::experiment::steps_together;

/// Number of steps before timing starts: a GPU compiles its kernels in them.
const UNTIMED: u32 = 3;
/// Most steps that are timed, and most milliseconds that timing may take.
const TIMED: usize = 7;
const LONGEST: f64 = 3000.0;

/// A measurement in progress.
pub struct Measuring {
    id: u32,
    trainer: Trainer,
    untimed: u32,
    began: f64,
    since: f64,
    times: Vec<f64>,
    /// Steps whose results are not read yet, and how many are read together.
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

    /// Id of the command that asked for it.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Runs one slice. Returns the median of a step's milliseconds once it is known. A device that
    /// does not return its loss is infinitely slow.
    pub async fn advance(&mut self, now: fn() -> f64) -> Option<f32> {
        let Slice::Gradients(gradients) = self.trainer.advance() else { return None };
        self.unseen.push(gradients);
        if self.unseen.len() < self.together as usize {
            self.trainer.apply();
            return None;
        }
        // As in training: once the results are read, everything in the queue is done.
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
