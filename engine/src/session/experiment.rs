//! One model in training: what is due after a step, and the way back when the numbers run away.

use burn::tensor::Tensor;
use unroll_model::{Evaluation, EvaluationSlice, Shard, Slice, Snapshot, Trainer, read_all};
use unroll_protocol::{CurvePoint, Started};

use crate::pool::{Pool, Shared};

/// Steps between measurements on held-out text.
const EVALUATE_EVERY: u32 = 20;
/// Windows of held-out text in one measurement.
const EVALUATION_WINDOWS: usize = 8;
/// Steps between states kept to go back to.
const KEEP_EVERY: u32 = 25;
/// A state is good while its loss is at most this many times the best so far (and a little more, as
/// a loss near 0 doubles easily).
const GOOD_FACTOR: f32 = 1.5;
const GOOD_MARGIN: f32 = 0.1;
/// A loss this many times that of knowing nothing has run away, though it is still a number.
const RUNAWAY_FACTOR: f32 = 20.0;

/// What a slice brought about.
pub enum Taken {
    Nothing,
    /// Nothing, and there is nothing to do before a helper says something.
    Waiting,
    Step,
    Diverged {
        loss: f32,
    },
}

/// A trainer with its curve and its last good state.
pub struct Experiment {
    trainer: Trainer,
    points: Vec<CurvePoint>,
    evaluation: Option<Evaluation>,
    good: Good,
    best_loss: f32,
    /// The learning rate before it was changed, if the weights of that moment are worth keeping:
    /// known only by their loss, which the next step computes.
    rate_before: Option<f32>,
}

/// A state to go back to.
struct Good {
    snapshot: Snapshot,
    learning_rate: f32,
}

impl Good {
    fn of(trainer: &Trainer) -> Self {
        Self { snapshot: trainer.snapshot(), learning_rate: rate_of(trainer) }
    }
}

fn rate_of(trainer: &Trainer) -> f32 {
    trainer.spec().optimizer.learning_rate
}

impl Experiment {
    pub fn new(trainer: Trainer) -> Self {
        let good = Good::of(&trainer);
        let best_loss = f32::INFINITY;
        Self { trainer, points: Vec::new(), evaluation: None, good, best_loss, rate_before: None }
    }

    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// What was built, for the page; `workers` share its steps.
    pub fn started(&self, workers: u32) -> Started {
        let data = self.trainer.dataset();
        Started {
            spec: *self.trainer.spec(),
            parameters: self.trainer.parameter_count(),
            vocabulary: self.trainer.tokenizer().vocabulary(),
            training_tokens: data.training.len() as u64,
            held_out_tokens: data.held_out.len() as u64,
            notes: self.trainer.notes(),
            step: self.trainer.step(),
            workers,
        }
    }

    pub fn last_good_step(&self) -> u32 {
        self.good.snapshot.step()
    }

    pub fn is_evaluating(&self) -> bool {
        self.evaluation.is_some()
    }

    /// Points of the curve since last taken. One whose held-out loss is being measured waits.
    pub fn take_points(&mut self) -> Vec<CurvePoint> {
        let keep = usize::from(self.evaluation.is_some()).min(self.points.len());
        let ready = self.points.len() - keep;
        self.points.drain(..ready).collect()
    }

    /// Changes the peak learning rate. The state before is worth going back to.
    pub fn set_learning_rate(&mut self, rate: f32) -> Result<(), String> {
        let before = rate_of(&self.trainer);
        self.trainer.set_learning_rate(rate).map_err(|error| error.to_string())?;
        // Changed again before a step, as by a slider: the first is the rate trained with.
        self.rate_before.get_or_insert(before);
        Ok(())
    }

    /// Drops a half-done step.
    pub fn discard(&mut self) {
        self.trainer.discard();
    }

    pub fn restore_last_good(&mut self) {
        self.evaluation = None;
        self.points.clear();
        self.trainer.restore(&self.good.snapshot);
        let rate = self.good.learning_rate;
        self.trainer.set_learning_rate(rate).expect("a rate that was trained with");
        self.best_loss = f32::INFINITY;
        self.rate_before = None;
    }

    /// One slice of the evaluation under way, else of the next training step.
    pub async fn advance(&mut self, pool: &mut Pool) -> Taken {
        if self.evaluation.is_some() {
            self.advance_evaluation().await;
            return Taken::Nothing;
        }
        if pool.shards() > 1 {
            return self.advance_shared(pool).await;
        }
        match self.trainer.advance() {
            Slice::More => Taken::Nothing,
            Slice::Gradients(gradients) => {
                let learning_rate = self.trainer.learning_rate_at_next_step();
                let [loss, gradient_norm] =
                    read_scalars([gradients.loss, gradients.gradient_norm]).await;
                self.finish_step(loss, gradient_norm, learning_rate, None)
            }
        }
    }

    /// One slice of the next step, where several workers share it.
    async fn advance_shared(&mut self, pool: &mut Pool) -> Taken {
        let sum = match pool.advance(&self.trainer).await {
            Shared::More => return Taken::Nothing,
            Shared::Waiting => return Taken::Waiting,
            Shared::Sum(sum) => sum.ok(),
        };
        let gradients = sum.as_ref().and_then(|sum| self.trainer.set_gradients(sum));
        let (Some(sum), Some(gradients)) = (sum, gradients) else {
            pool.state_was_set();
            return Taken::Diverged { loss: f32::NAN };
        };
        let learning_rate = self.trainer.learning_rate_at_next_step();
        let [gradient_norm] = read_scalars([gradients.gradient_norm]).await;
        self.finish_step(sum.loss, gradient_norm, learning_rate, Some((pool, &sum)))
    }

    fn finish_step(
        &mut self,
        loss: f32,
        gradient_norm: f32,
        learning_rate: f32,
        shared: Option<(&mut Pool, &Shard)>,
    ) -> Taken {
        let knows_nothing = (self.trainer.tokenizer().len() as f32).ln().max(1.0);
        let ran_away = loss > RUNAWAY_FACTOR * knows_nothing;
        if !loss.is_finite() || !gradient_norm.is_finite() || ran_away {
            self.trainer.discard();
            if let Some((pool, _)) = shared {
                pool.state_was_set();
            }
            return Taken::Diverged { loss };
        }
        // The loss is that of the weights before the update, and so are those kept.
        let rate_before = self.rate_before.take();
        let due = rate_before.is_some() || self.trainer.step().is_multiple_of(KEEP_EVERY);
        if due && loss <= GOOD_FACTOR * self.best_loss + GOOD_MARGIN {
            self.good = Good::of(&self.trainer);
            self.good.learning_rate = rate_before.unwrap_or(self.good.learning_rate);
        }
        self.best_loss = self.best_loss.min(loss);
        if let Some((pool, sum)) = shared {
            pool.step_is_taken(&self.trainer, sum);
        }
        self.trainer.apply();
        let step = self.trainer.step();
        self.points.push(CurvePoint { step, loss, held_out: None, gradient_norm, learning_rate });
        if step.is_multiple_of(EVALUATE_EVERY) {
            self.evaluation = Evaluation::new(&self.trainer, EVALUATION_WINDOWS);
        }
        Taken::Step
    }

    async fn advance_evaluation(&mut self) {
        let Some(evaluation) = &mut self.evaluation else { return };
        let EvaluationSlice::Loss(mean_loss) = evaluation.advance() else { return };
        let [loss] = read_scalars([mean_loss]).await;
        self.evaluation = None;
        if let Some(point) = self.points.last_mut() {
            point.held_out = Some(loss);
        }
    }
}

/// Reads tensors of one number each in one await. A device that no longer answers is as bad as a
/// loss that is no number, so that is what it gives.
async fn read_scalars<const N: usize>(tensors: [Tensor<1>; N]) -> [f32; N] {
    let read = read_all(tensors).await.unwrap_or_default();
    core::array::from_fn(|i| read.get(i).and_then(|v| v.first().copied()).unwrap_or(f32::NAN))
}
