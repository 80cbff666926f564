//! Training: on, off, by so many steps, and how fast it learns.

use leptos::prelude::*;
use unroll_protocol::Command;

use super::Store;

impl Store {
    /// Trains until told otherwise.
    pub fn run(self) {
        self.set_out();
        self.send(&Command::Run);
    }

    /// Who trains wants to see it.
    fn set_out(self) {
        self.diverged.set(None);
        self.questions.look_at(None);
        self.questions.goal.set(0);
        self.call_helpers();
    }

    /// Stops training; the weights stay as they are.
    pub fn pause(self) {
        self.questions.goal.set(0);
        self.send(&Command::Pause);
    }

    /// Takes so many optimizer steps.
    pub fn take_steps(self, count: u32) {
        self.set_out();
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
