//! One model in training: what is due after a step, and how to recover when training diverges.

use burn::tensor::Tensor;
use unroll_model::{
    Evaluation, EvaluationSlice, Gpt, ReadError, Slice, Snapshot, StepGradients, Trainer, read_all,
};
use unroll_protocol::{Checkpoint, CurvePoint, Started};

use super::history::History;
use crate::pool::{Pool, Shared};

/// Steps between measurements on held-out text.
const EVALUATE_EVERY: u32 = 20;
/// Windows of held-out text in one measurement at least, and about as many tokens: of the tales, eight windows of
/// 64 tokens have 0.2 nats less than all that is held out, which a careful reader takes for a mistake.
const EVALUATION_WINDOWS: usize = 8;
const EVALUATION_TOKENS: usize = 1536;
/// Steps between saved states to return to.
const KEEP_EVERY: u32 = 25;
/// A state is good if its loss is at most this many times the best so far (with a small allowance,
/// since a loss near 0 doubles easily).
const GOOD_FACTOR: f32 = 1.5;
const GOOD_MARGIN: f32 = 0.1;
/// Training has diverged if the loss is this many times that of a uniform guess, even if it is a
/// finite number.
const RUNAWAY_FACTOR: f32 = 20.0;

/// Most steps whose losses are read together, and the most milliseconds they may take together. A
/// GPU that is asked for a number finishes its queue and then idles until it is given more work.
const MOST_AHEAD: f64 = 8.0;
const LONGEST_AHEAD: f64 = 50.0;

/// How many steps to read together, given the milliseconds of a step; 0 means unknown.
pub fn steps_together(milliseconds_per_step: f64) -> u32 {
    let fit = (LONGEST_AHEAD / milliseconds_per_step).clamp(1.0, MOST_AHEAD) as u32;
    if milliseconds_per_step > 0.0 { fit } else { 1 }
}

/// Result of a slice.
pub enum Taken {
    Nothing,
    /// Nothing, and all work depends on a message from a helper.
    Waiting,
    /// This many steps were taken.
    Steps(u32),
    Diverged {
        loss: f32,
    },
}

/// A trainer with its loss curve and its last good state.
pub struct Experiment {
    trainer: Trainer,
    points: Vec<CurvePoint>,
    evaluation: Option<Evaluation>,
    good: Good,
    best_loss: f32,
    /// The learning rate before it was changed, if the weights of that moment may be worth saving.
    /// That depends on their loss, which the next step computes.
    rate_before: Option<f32>,
    ahead: Option<Ahead>,
    /// Every step before this one is checked before the next is taken, because an unchecked one
    /// went wrong.
    careful_until: u32,
    history: History<Gpt>,
}

/// Steps taken without reading what they computed.
struct Ahead {
    /// The state before the first of them.
    before: Snapshot,
    steps: Vec<Unseen>,
}

/// A step's results, still on the device.
struct Unseen {
    gradients: StepGradients,
    learning_rate: f32,
}

/// A step's results.
#[derive(Clone, Copy)]
struct Seen {
    loss: f32,
    gradient_norm: f32,
    learning_rate: f32,
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
    /// `megabytes` are for its moments.
    pub fn new(trainer: Trainer, megabytes: u32) -> Self {
        let good = Good::of(&trainer);
        let best_loss = f32::INFINITY;
        let history = History::new(trainer.parameter_count(), megabytes);
        let mut experiment = Self {
            trainer,
            points: Vec::new(),
            evaluation: None,
            good,
            best_loss,
            rate_before: None,
            ahead: None,
            careful_until: 0,
            history,
        };
        experiment.record();
        experiment
    }

    /// Keeps the weights as they are, unless they are kept already.
    pub fn record(&mut self) {
        let step = self.trainer.step();
        if !self.history.ends_with(step) {
            self.history.keep(step, self.trainer.model_to_keep());
        }
    }

    /// Puts an earlier state of this run among its moments.
    pub fn recall(&mut self, checkpoint: &Checkpoint) -> Result<(), String> {
        let (step, now) = (checkpoint.step, self.trainer.step());
        if step >= now {
            return Err(format!("It is from step {step}, and the model is only at step {now}."));
        }
        let model = self.trainer.model_of(checkpoint).map_err(|error| error.to_string())?;
        self.history.recall(step, model);
        Ok(())
    }

    /// The recorded moment of exactly this step; `None` where there is none. The future owns what it
    /// reads.
    pub fn moment(
        &self,
        step: u32,
    ) -> Option<impl Future<Output = Result<Checkpoint, ReadError>> + use<>> {
        self.history.of(step).map(|model| self.trainer.checkpoint_of(step, model))
    }

    /// See [`History::set_budget`].
    pub fn set_budget(&mut self, megabytes: u32) {
        self.history.set_budget(megabytes);
    }

    /// See [`History::report`].
    pub fn report(&mut self) -> Option<(Vec<u32>, u64)> {
        self.history.report()
    }

    /// The model as it is, or as it was at the kept moment nearest to step `at`, and its step.
    pub fn model_at(&mut self, at: Option<u32>) -> (u32, Gpt) {
        match self.history.ask(at) {
            Some((step, model)) => (step, model.clone()),
            None => (self.trainer.step(), self.trainer.model()),
        }
    }

    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// A report of what was built, for the page; `workers` share its steps.
    pub fn started(&self, workers: u32) -> Started {
        let data = self.trainer.dataset();
        let characters = |tokens: &[u32]| self.trainer.tokenizer().characters_in(tokens);
        Started {
            spec: *self.trainer.spec(),
            parameters: self.trainer.parameter_count(),
            vocabulary: self.trainer.tokenizer().vocabulary(),
            training_tokens: data.training.len() as u64,
            held_out_tokens: data.held_out.len() as u64,
            training_characters: characters(&data.training),
            held_out_characters: characters(&data.held_out),
            notes: self.trainer.notes(),
            step: self.trainer.step(),
            workers,
            kept: None,
        }
    }

    pub fn last_good_step(&self) -> u32 {
        self.good.snapshot.step()
    }

    pub fn is_evaluating(&self) -> bool {
        self.evaluation.is_some()
    }

    /// Points of the curve since the last call. A point whose held-out loss is still being measured
    /// is kept back.
    pub fn take_points(&mut self) -> Vec<CurvePoint> {
        let keep = usize::from(self.evaluation.is_some()).min(self.points.len());
        let ready = self.points.len() - keep;
        self.points.drain(..ready).collect()
    }

    /// Changes the peak learning rate. The state before the change may be worth returning to.
    pub fn set_learning_rate(&mut self, rate: f32) -> Result<(), String> {
        let before = rate_of(&self.trainer);
        self.trainer.set_learning_rate(rate).map_err(|error| error.to_string())?;
        // The rate may change several times before a step, as with a slider: training used the
        // first.
        self.rate_before.get_or_insert(before);
        Ok(())
    }

    /// Drops a half-done step.
    pub fn discard(&mut self) {
        self.trainer.discard();
    }

    pub fn restore_last_good(&mut self) {
        self.evaluation = None;
        self.ahead = None;
        self.points.clear();
        self.trainer.restore(&self.good.snapshot);
        self.history.forget_after(self.trainer.step());
        let rate = self.good.learning_rate;
        self.trainer.set_learning_rate(rate).expect("a rate that was trained with");
        self.best_loss = f32::INFINITY;
        self.rate_before = None;
    }

    /// One slice of the current evaluation, or else of the next training step. Where reads stall
    /// the device, up to `together` steps are read together; that does not affect the results.
    pub async fn advance(&mut self, pool: &mut Pool, together: u32) -> Taken {
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
                let step = Unseen { gradients, learning_rate };
                if self.may_go_on(together) {
                    self.go_on(step);
                    return Taken::Nothing;
                }
                self.look(Some(step)).await
            }
        }
    }

    /// Whether the computed step may be applied before its results are read.
    fn may_go_on(&self, together: u32) -> bool {
        let step = self.trainer.step();
        let unseen = self.ahead.as_ref().map_or(0, |ahead| ahead.steps.len() as u32);
        let waits = unseen + 1 < together && step + 1 > self.careful_until;
        waits && !self.is_keeping_due() && !(step + 1).is_multiple_of(EVALUATE_EVERY)
    }

    fn go_on(&mut self, step: Unseen) {
        let trainer = &mut self.trainer;
        let ahead = self
            .ahead
            .get_or_insert_with(|| Ahead { before: trainer.snapshot(), steps: Vec::new() });
        ahead.steps.push(step);
        trainer.apply();
    }

    /// Checks the steps taken ahead, so that the state of the model is certain.
    pub async fn settle(&mut self) -> Taken {
        match self.ahead {
            Some(_) => self.look(None).await,
            None => Taken::Nothing,
        }
    }

    /// Checks the steps taken ahead and then the computed step, if any, and applies it. If one of
    /// those ahead should not have been taken, all of them are undone and taken again one by one:
    /// the results depend on nothing but the state before.
    async fn look(&mut self, computed: Option<Unseen>) -> Taken {
        let (before, steps) =
            self.ahead.take().map_or((None, Vec::new()), |ahead| (Some(ahead.before), ahead.steps));
        let taken = steps.len();
        let seen = read_steps(steps.into_iter().chain(computed)).await;
        if let Some(before) = before {
            if let Some(wrong) = seen[..taken].iter().position(|step| self.ran_away(step)) {
                self.trainer.restore(&before);
                self.careful_until = before.step() + wrong as u32 + 1;
                return Taken::Nothing;
            }
            for (step, seen) in (before.step() + 1..).zip(&seen[..taken]) {
                self.note(step, seen);
            }
        }
        match seen.get(taken) {
            Some(computed) => match self.finish_step(*computed, None) {
                Taken::Steps(count) => Taken::Steps(taken as u32 + count),
                other => other,
            },
            None => Taken::Steps(taken as u32),
        }
    }

    /// One slice of the next step when several workers share it.
    async fn advance_shared(&mut self, pool: &mut Pool) -> Taken {
        let sum = match pool.advance(&self.trainer).await {
            Shared::More => return Taken::Nothing,
            Shared::Waiting => return Taken::Waiting,
            Shared::Sum(sum) => sum.ok(),
        };
        // Helpers need not wait until this worker has checked the sum: if the step is refused, they
        // receive the state again.
        if let Some(sum) = &sum {
            pool.step_is_taken(&self.trainer, sum);
        }
        let loss = sum.as_ref().map_or(f32::NAN, |sum| sum.loss);
        let Some(gradients) = sum.and_then(|sum| self.trainer.set_gradients(sum)) else {
            pool.state_was_set();
            return Taken::Diverged { loss: f32::NAN };
        };
        let learning_rate = self.trainer.learning_rate_at_next_step();
        let [gradient_norm] = read_scalars([gradients.gradient_norm]).await;
        let seen = Seen { loss, gradient_norm, learning_rate };
        self.finish_step(seen, Some(pool))
    }

    fn ran_away(&self, step: &Seen) -> bool {
        let knows_nothing = (self.trainer.tokenizer().len() as f32).ln().max(1.0);
        let ran_away = step.loss > RUNAWAY_FACTOR * knows_nothing;
        !step.loss.is_finite() || !step.gradient_norm.is_finite() || ran_away
    }

    /// Whether the present weights should be saved once the loss shows that they are good.
    fn is_keeping_due(&self) -> bool {
        self.rate_before.is_some() || self.trainer.step().is_multiple_of(KEEP_EVERY)
    }

    /// Records the curve's point of a step that was taken.
    fn note(&mut self, step: u32, seen: &Seen) {
        let Seen { loss, gradient_norm, learning_rate } = *seen;
        self.best_loss = self.best_loss.min(loss);
        self.points.push(CurvePoint { step, loss, held_out: None, gradient_norm, learning_rate });
    }

    fn finish_step(&mut self, seen: Seen, pool: Option<&mut Pool>) -> Taken {
        let loss = seen.loss;
        if self.ran_away(&seen) {
            self.trainer.discard();
            if let Some(pool) = pool {
                pool.state_was_set();
            }
            return Taken::Diverged { loss };
        }
        // The loss is that of the weights before the update, and those are the ones saved.
        let due = self.is_keeping_due();
        let rate_before = self.rate_before.take();
        if due && loss <= GOOD_FACTOR * self.best_loss + GOOD_MARGIN {
            self.good = Good::of(&self.trainer);
            self.good.learning_rate = rate_before.unwrap_or(self.good.learning_rate);
        }
        self.trainer.apply();
        let step = self.trainer.step();
        self.note(step, &seen);
        if self.history.is_due(step) {
            self.record();
        }
        if step.is_multiple_of(EVALUATE_EVERY) {
            let context = self.trainer.spec().gpt.context.max(1) as usize;
            let windows = EVALUATION_WINDOWS.max(EVALUATION_TOKENS / context);
            self.evaluation = Evaluation::new(&self.trainer, windows);
        }
        Taken::Steps(1)
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

/// Reads the results of steps in one await. For a device that no longer answers there are none.
async fn read_steps(steps: impl Iterator<Item = Unseen>) -> Vec<Seen> {
    let (mut rates, mut tensors) = (Vec::new(), Vec::new());
    for Unseen { gradients, learning_rate } in steps {
        rates.push(learning_rate);
        tensors.extend([gradients.loss, gradients.gradient_norm]);
    }
    let read = read_all(tensors).await.unwrap_or_default();
    let number = |at: usize| read.get(at).and_then(|v| v.first().copied()).unwrap_or(f32::NAN);
    let seen = rates.into_iter().enumerate().map(|(i, learning_rate)| {
        let (loss, gradient_norm) = (number(2 * i), number(2 * i + 1));
        Seen { loss, gradient_norm, learning_rate }
    });
    seen.collect()
}

/// Reads tensors of one number each in one await. A device that no longer answers is as bad as a
/// loss that is not a number, so NaN is returned.
async fn read_scalars<const N: usize>(tensors: [Tensor<1>; N]) -> [f32; N] {
    let read = read_all(tensors).await.unwrap_or_default();
    core::array::from_fn(|i| read.get(i).and_then(|v| v.first().copied()).unwrap_or(f32::NAN))
}

#[cfg(test)]
mod tests;
