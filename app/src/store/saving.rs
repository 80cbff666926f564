//! Checkpoints and moments of the present run, and how it is kept.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{Checkpoint, Command, RunState};

use super::{Past, Store};
use crate::{figures::clock, kept::Keeping};

impl Store {
    /// Reads or changes how the present run is kept.
    pub fn keeping<R: Default>(self, act: impl FnOnce(&mut Keeping) -> R) -> R {
        self.pace.try_update_value(|pace| act(&mut pace.keeping)).unwrap_or_default()
    }

    /// The last checkpoint of the present model.
    pub fn saved(self) -> Option<Arc<Checkpoint>> {
        // A twin may be gone by the time that what was asked for it is there.
        self.pace.try_with_value(|pace| pace.saved.clone()).flatten()
    }

    /// The file in which a native engine keeps the present model, where that is too large for the page.
    pub fn kept_apart(self) -> Option<String> {
        self.started.with_untracked(|started| started.as_ref()?.kept.clone())
    }

    /// Asks for a checkpoint of the present model.
    pub fn save_now(self) {
        if self.kept_apart().is_none() {
            self.send(&Command::Save);
        }
    }

    /// Asks for a checkpoint of a model that rests and was trained since the last.
    pub(super) fn save_at_rest(self) {
        if self.state.try_get_untracked() == Some(RunState::Paused) {
            self.save(true);
        }
    }

    pub(super) fn save(self, at_rest: bool) {
        let (step, now) = (self.step.get_untracked(), clock());
        if self.pace.try_update_value(|pace| pace.save_due(now, step, at_rest)) == Some(true) {
            self.save_now();
        }
    }

    /// Puts an earlier state of the present run among its moments.
    pub fn recall(self, earlier: Box<Checkpoint>) {
        self.send(&Command::Recall(earlier));
    }

    /// Asks for the recorded moment of exactly this step, to be kept.
    pub fn ask_for_moment(self, step: u32) {
        self.send(&Command::Moment(step));
    }

    /// Has the next engine of this run get its moments from there, unless it gets them from elsewhere.
    pub fn set_past(self, past: Past) {
        self.pace.update_value(|pace| _ = pace.past.get_or_insert(past));
    }
}
