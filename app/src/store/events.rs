//! What the engine says, and what the store makes of it.

use core::time::Duration;
use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{Checkpoint, CommandKind, Event, Progress, RunState, Started, Tokens};

use super::{
    Diverged, Heard, Severity, Speed, Store,
    engine::OTHER_FILE,
    pace::{Pace, Starting},
};
use crate::{figures::Curve, kept};

/// A model that rests is kept so long after its last step: steps come in a row.
const SAVE_AFTER: Duration = Duration::from_secs(1);

impl Store {
    pub(super) fn receive(self, event: Event) {
        match event {
            Event::Ready(report) => self.engine_ready(report),
            Event::Started(started) => self.on_started(started),
            Event::Restored(started) => self.on_restored(started),
            Event::Refused { command, reason } => {
                // Who waits for the present model's last state waits no longer: there is none.
                let waits = self.pace.with_value(|pace| pace.keep_previous);
                let is_run = self.pace.with_value(Pace::takes_up_run);
                if command == CommandKind::Save && waits {
                    self.on_heard(Ok(()));
                }
                self.pace.update_value(|pace| pace.refused(command));
                match command {
                    CommandKind::Ask(id) => self.questions.answered(id, Some(Err(reason)), false),
                    // It is of no more use once a model can be built for another text.
                    CommandKind::Start if !is_run => self.refuse_text(reason),
                    // It was thinned out meanwhile.
                    CommandKind::Moment => {}
                    _ => self.notify(Severity::Refusal, reason),
                }
                if command == CommandKind::Start {
                    if self.started.with_untracked(Option::is_none) {
                        self.begin_as_usual();
                    }
                    self.tell_of_past();
                }
            }
            Event::State { state, step } => {
                // A model that was just built rests too, and so does one that takes a single step.
                if state == RunState::Running || step > 0 {
                    self.pace.update_value(|pace| pace.sets_out = false);
                }
                self.questions.went(state, step);
                self.keep_pace();
                if state == RunState::Paused {
                    set_timeout(move || self.save_at_rest(), SAVE_AFTER);
                }
            }
            Event::Progress(progress) => self.on_progress(progress),
            Event::Answered { id, step, answer, more } => {
                self.questions.answered(id, Some(Ok((step, answer))), more);
                self.keep_pace();
            }
            Event::Recorded(recorded) => self.questions.recorded(recorded),
            Event::Diverged { step, loss, last_good } => {
                self.diverged.set(Some(Diverged { step, loss, last_good }));
            }
            Event::Checkpoint(checkpoint) => self.on_checkpoint(checkpoint),
            Event::Moment(moment) => {
                self.keeping(|keeping| keeping.moments.take_in(moment));
                kept::kept(self, kept::Act::Moment);
            }
            Event::Pool(report) => self.on_pool(report),
            // Told apart before it comes here: it may be, or is, another engine's.
            Event::Failed { .. } | Event::Measured { .. } | Event::Filled { .. } => {}
            // Of a chapter of the course, which has an engine of its own.
            Event::StudyStarted(_) | Event::StudyProgress(_) | Event::StudyCheckpoint(_) => {}
        }
    }

    fn on_restored(self, started: Started) {
        let rate = started.spec.optimizer.learning_rate;
        self.link.update(|link| link.gpt.learning_rate = rate);
        self.built.update(|link| link.gpt.learning_rate = rate);
        self.pace.update_value(Pace::restored);
        self.keeping(|keeping| keeping.moments.forget_after(started.step));
        self.take_up(started);
        self.tell_of_past();
    }

    /// Shows the model as the engine has it now: other weights than a moment ago.
    fn take_up(self, started: Started) {
        self.step.set(started.step);
        self.diverged.set(None);
        // Also after a crash: what was trained since the checkpoint is gone.
        self.curve.update(|curve| curve.truncate(started.step));
        self.drafts.update(|drafts| drafts.retain(|draft| draft.step < started.step));
        self.started.set(Some(Arc::new(started)));
        self.found.set(false);
        self.questions.model_built();
        self.write_again();
    }

    /// Has `heard` wait for the next word about the model that is being opened, in place of who waited before.
    pub(super) fn hear(self, heard: Option<Heard>) {
        self.on_heard(Err(OTHER_FILE.to_owned()));
        self.heard.set_value(heard);
    }

    pub(super) fn on_heard(self, said: Result<(), String>) {
        let heard = self.heard.try_update_value(Option::take).flatten();
        heard.into_iter().for_each(|heard| heard(said.clone()));
    }

    /// A model that was opened took the place of the one before.
    fn on_given(self, started: Started) {
        // They were heads of another model.
        self.link.update(|link| link.off.clear());
        self.pace.update_value(Pace::restored);
        self.pace.update_value(|pace| (pace.past, pace.run_on) = (None, false));
        self.questions.goal.set(0);
        self.keeping(|keeping| keeping.anew(None));
        self.curve.set(Curve::default());
        self.speed.set(None);
        self.take_up(started);
    }

    fn on_started(self, started: Started) {
        if started.spec.tokens == Tokens::Given {
            return self.on_given(started);
        }
        let starting = self.pace.try_update_value(Pace::started).flatten();
        let Some(Starting { link, source, curve, past }) = starting else { return };
        let first = self.started.with_untracked(Option::is_none);
        let autostart = link.autostart && first;
        self.built.set(link);
        self.take_source(source);
        // Not before now: until here the engine may still have told of the old model.
        if let Some(curve) = curve {
            self.curve.set(curve);
        } else if started.step == 0 {
            self.curve.set(Curve::default());
        }
        for note in &started.notes {
            self.note_on_text(note.clone());
        }
        if let Some(file) = &started.kept {
            self.note_on_text(format!(
                "This model is too large for the browser to keep. The native engine keeps it every five minutes, \
                 and when it ends, in {file}."
            ));
        }
        self.speed.set(None);
        let step = started.step;
        self.take_up(started);
        let run_on =
            self.pace.try_update_value(|pace| core::mem::take(&mut pace.run_on)) == Some(true);
        // Another engine goes on where the one before was.
        let goal = if run_on { self.questions.goal.get_untracked() } else { self.take_goal(first) };
        let head_start = self.pace.with_value(|pace| pace.head_start);
        if run_on && head_start > step {
            self.lead_to(head_start);
        } else if goal > step && !autostart {
            self.take_steps(goal - step);
            self.questions.goal.set(goal);
        } else if autostart || run_on {
            self.run();
        } else {
            self.give_head_start();
        }
        self.offer_hand_over();
        self.measure_candidate();
        self.pace.update_value(|pace| pace.past = past);
        self.tell_of_past();
    }

    /// Has the engine get the run's earlier moments that it does not have.
    fn tell_of_past(self) {
        if let Some(past) = self.pace.with_value(|pace| pace.past.clone()) {
            past(self);
        }
    }

    fn on_progress(self, progress: Progress) {
        let Some(last) = progress.points.last().copied() else { return };
        self.speed.set(Some(Speed {
            tokens_per_second: progress.tokens_per_second,
            milliseconds_per_step: progress.milliseconds_per_step,
        }));
        self.curve.update(|curve| curve.extend(&progress.points));
        self.step.set(last.step);
        self.pace.update_value(Pace::progressed);
        // A run that started before the first picture has none yet.
        self.call_helpers();
        self.keep_pace();
        self.judge(progress.points.len(), progress.milliseconds_per_step);
    }

    fn on_checkpoint(self, checkpoint: Box<Checkpoint>) {
        if self.hand_over(&checkpoint) {
            return;
        }
        if self.pace.try_update_value(|pace| core::mem::take(&mut pace.keep_previous)) == Some(true)
        {
            self.on_previous(checkpoint);
        } else if self.pace.with_value(|pace| pace.starting.is_empty()) {
            // Else it is of a model that goes, and `keeping` is about the one that comes.
            self.pace.update_value(|pace| pace.saved = Some(Arc::from(checkpoint)));
            // A twin looks like a page in another's frame, in which nothing is kept.
            let embedded = self.link.with_untracked(|link| link.embed);
            if !embedded || self.keeping(|keeping| keeping.is_twin()) {
                kept::kept(self, kept::Act::Keep);
            }
        }
    }
}
