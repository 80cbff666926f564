//! Training: on, off, by so many steps, and how fast it learns.

use leptos::prelude::*;
use unroll_protocol::{Command, RunState};

use super::Store;

impl Store {
    /// Trains until told otherwise. Asked for before the engine has its model, it trains as soon as it has.
    pub fn run(self) {
        if untrack(|| self.started.with(Option::is_none)) {
            return self.pace.update_value(|pace| pace.run_on = true);
        }
        self.set_out(0);
        self.send(&Command::Run);
    }

    /// From now on a model that nobody has trained takes so many steps by itself; 0 for none.
    pub fn wants_head_start(self, steps: u32) {
        self.head_start.set_value(steps);
        if untrack(|| self.started.with(Option::is_some)) {
            self.give_head_start();
        }
    }

    /// Has the present model take its first steps, where that is wanted and it rests at its start.
    pub(super) fn give_head_start(self) {
        let steps = self.head_start.get_value();
        let sets_out = self.pace.with_value(|pace| pace.sets_out);
        let rests = self.state.get_untracked() == RunState::Paused && !sets_out;
        if steps == 0 || !rests || self.step.get_untracked() > 0 || untrack(|| self.is_given()) {
            return;
        }
        self.keeping(|keeping| keeping.warmed = steps);
        self.lead_to(steps);
    }

    /// Takes the rest of the steps of a head start.
    pub(super) fn lead_to(self, end: u32) {
        self.set_out(end);
        self.questions.goal.set(end);
        self.send(&Command::Steps(end.saturating_sub(self.step.get_untracked())));
    }

    /// Steps that the present model took by itself, at its start. Tracks the model.
    pub fn head_start(self) -> u32 {
        self.started.track();
        self.keeping(|keeping| keeping.warmed)
    }

    /// Whether somebody trained the present model: what a head start makes can be had again.
    pub fn is_trained(self) -> bool {
        self.step.get_untracked() > self.keeping(|keeping| keeping.warmed)
    }

    /// Who trains wants to see it. `head_start` is the step it leads to, where it is one; else 0.
    fn set_out(self, head_start: u32) {
        let step = self.step.get_untracked();
        self.pace.update_value(|pace| {
            pace.head_start = head_start;
            pace.set_out(step);
        });
        self.diverged.set(None);
        self.questions.look_at(None);
        self.questions.goal.set(0);
        self.call_helpers();
    }

    /// Stops training; the weights stay as they are.
    pub fn pause(self) {
        self.pace.update_value(|pace| (pace.head_start, pace.run_on) = (0, false));
        self.questions.goal.set(0);
        self.send(&Command::Pause);
    }

    /// Takes so many optimizer steps.
    pub fn take_steps(self, count: u32) {
        self.set_out(0);
        self.send(&Command::Steps(count));
    }

    /// Changes the learning rate of the present model, running or not.
    pub fn set_learning_rate(self, rate: f32) {
        self.link.update(|link| link.gpt.learning_rate = rate);
        self.built.update(|link| link.gpt.learning_rate = rate);
        self.send(&Command::SetLearningRate(rate));
    }

    /// Goes back to the last state before the numbers ran away.
    pub fn restore_last_good(self) {
        self.send(&Command::RestoreLastGood);
    }
}
