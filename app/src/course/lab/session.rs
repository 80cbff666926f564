//! What a chapter hears from its engine.

use core::time::Duration;
use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{CommandKind, Event, Packed, RunState, StudyStarted};

use super::{Inner, Lab, Start};
use crate::{
    chapters,
    controls::grouped,
    course::History,
    store::{Device, Severity},
    worker::{Deaths, EngineRoom, Incoming, SharedEngine},
};

/// Models that rest are kept so long after their last step: steps come in a row.
const KEEP_AFTER: Duration = Duration::from_secs(1);

impl Lab {
    /// Where its session is held, along with those of other chapters.
    pub(in crate::course) fn engine(self) -> SharedEngine {
        self.inner.with_value(|inner| inner.engine.clone())
    }

    pub(super) fn start_engine(self) {
        self.device.set(Device::Loading);
        let receive = move |number, said| self.incoming(number, said);
        match self.engine().join(receive) {
            Ok(client) => self.inner.update_value(|inner| inner.client = Some(client)),
            Err(sentence) => self.device.set(Device::Unavailable(sentence)),
        }
    }

    fn incoming(self, number: u32, incoming: Incoming) {
        let is_current = |client: &EngineRoom| client.number() == number;
        match incoming {
            _ if !self.inner.with_value(|inner| inner.client.as_ref().is_some_and(is_current)) => {}
            Incoming::Died(reason) => self.engine_died(&reason),
            Incoming::Event(event) => self.receive(event),
        }
    }

    fn receive(self, event: Event) {
        match event {
            Event::Ready(report) => {
                let note = Some("chosen for small models".to_owned());
                self.device.set(Device::Ready { report, note });
                self.ready.set(true);
            }
            Event::StudyStarted(started) => match started.unpack() {
                Ok(started) => self.on_started(started),
                Err(error) => self.problem.set(Some(error.to_string())),
            },
            Event::StudyProgress(progress) => {
                self.inner.update_value(|inner| inner.deaths = Deaths::default());
                self.history.update(|history| {
                    for point in &progress.points {
                        history.push(point);
                    }
                });
                self.milliseconds_per_step.set(Some(progress.milliseconds_per_step));
                self.step.set(self.history.with_untracked(History::last_step));
                self.keep(false);
            }
            Event::State { state, step } => {
                self.questions.went(state, step);
                if state == RunState::Paused && self.keeps {
                    let at_rest = move || {
                        if self.state.get_untracked() == RunState::Paused {
                            self.keep(true);
                        }
                    };
                    set_timeout(at_rest, KEEP_AFTER);
                }
            }
            Event::Answered { id, step, answer, more } => {
                self.questions.answered(id, Some(Ok((step, answer))), more);
            }
            Event::Refused { command: CommandKind::Ask(id), reason } => {
                self.questions.answered(id, Some(Err(reason)), false);
            }
            Event::Refused { command: CommandKind::StartStudy, reason } => {
                let (start, is_last) = self.answered_start();
                match start {
                    Some(Start { before, told: Some(told), .. }) => {
                        if is_last {
                            self.inner.update_value(|inner| inner.sent = before);
                        }
                        told(Some(&reason));
                    }
                    Some(Start { kept: Some(_), .. }) => {
                        self.inner.update_value(|inner| {
                            inner.keep.leave();
                            inner.sent = None;
                        });
                        let sentence = format!(
                            "What was kept of this chapter can’t be used, so its training starts over. {reason}"
                        );
                        self.store.notify(Severity::Refusal, sentence);
                        self.again.notify();
                    }
                    _ => self.problem.set(Some(reason)),
                }
            }
            Event::StudyCheckpoint(saved) => {
                let first = |inner: &mut Inner| inner.saved.pop_front();
                if let Some(then) = self.inner.try_update_value(first).flatten() {
                    then(saved);
                }
            }
            Event::Refused { command: CommandKind::Save, reason } => {
                self.inner.update_value(|inner| drop(inner.saved.pop_front()));
                self.kept_or_not();
                self.store.notify(Severity::Refusal, reason);
            }
            Event::Refused { reason, .. } => self.store.notify(Severity::Refusal, reason),
            Event::Recorded(recorded) => self.questions.recorded(recorded),
            Event::Diverged { step, .. } => {
                self.set_runs(false);
                self.diverged.set(Some(step));
            }
            // Of the GPT lab; this engine is never asked for them.
            Event::Started(_)
            | Event::Restored(_)
            | Event::Progress(_)
            | Event::Checkpoint(_)
            | Event::Moment(_)
            | Event::Pool(_)
            | Event::Measured { .. }
            | Event::Filled { .. }
            | Event::Failed { .. } => {}
        }
    }

    fn on_started(self, started: StudyStarted) {
        let (start, is_last) = self.answered_start();
        let Start { wanted, before: _, kept, told } = start.unwrap_or_default();
        // The curve up to here, where there was one.
        let history = kept.as_ref().map(|kept| kept.history.clone());
        let mut history = history
            .filter(|history| history.is_of(&started.series))
            .unwrap_or_else(|| History::new(&started.series));
        history.look_at(None);
        self.history.set(history);
        self.step.set(started.step);
        self.milliseconds_per_step.set(None);
        self.diverged.set(None);
        self.problem.set(None);
        let (first, step) = (self.started.with_untracked(Option::is_none), started.step);
        // Models out of a file are wanted as they are. What others are to come after, waits for them.
        let is_given = told.is_some();
        let rests = is_given || !is_last;
        if is_given {
            self.set_runs(false);
        }
        self.started.set(Some(Arc::new(started)));
        self.questions.model_built();
        if let Some(told) = told {
            told(None);
        }
        let goal = self.store.take_goal(first);
        let warm = if goal > 0 { goal } else { chapters::info(self.chapter).warm_steps };
        let idea = self.store.link.with_untracked(|link| link.idea);
        let before = self.inner.try_update_value(|inner| {
            inner.built = wanted;
            let anew = (kept.is_none() || step < warm) && !is_given;
            inner.keep.began(step, step.max(warm), anew);
            (core::mem::take(&mut inner.sleeps), core::mem::replace(&mut inner.idea, idea))
        });
        // Nobody need know of one that slept, or that a beat brings back by setting its settings.
        let is_news = before.is_some_and(|(slept, seen)| !slept && (first || seen == idea));
        // Of the steps that the page takes by itself it says nothing.
        let goes_on = kept.is_some() && step > warm && !rests && is_news;
        self.say(goes_on.then(|| {
            let step = grouped(step.into());
            format!(
                "This chapter goes on from step {step}, where you left it. “Back to the start” starts it over."
            )
        }));
        if rests {
            self.questions.goal.set(0);
            return;
        }
        if self.inner.with_value(|inner| inner.runs) {
            self.run();
            return;
        }
        let leads = step < warm && self.warms && !is_given;
        if leads {
            self.take_steps(warm - step);
        }
        self.questions.goal.set(if leads { warm } else { 0 });
    }

    /// The first of what the engine had not answered, and whether nothing is left of that.
    fn answered_start(self) -> (Option<Start>, bool) {
        let answered = self.inner.try_update_value(|inner| {
            let start = inner.starts.pop_front();
            (start, inner.starts.is_empty())
        });
        answered.unwrap_or((None, true))
    }

    /// There is no session any more.
    pub(super) fn engine_left(self) {
        self.questions.set_state(RunState::Paused);
        self.ready.set(false);
        self.inner.update_value(|inner| {
            inner.client = None;
            (inner.sent, inner.built) = (None, None);
            inner.starts.clear();
            inner.saved.clear();
            inner.leaving = None;
            inner.runs = false;
        });
        self.questions.engine_gone();
    }

    fn engine_died(self, reason: &str) {
        let is_on_show = self.active.get_untracked();
        let sent = self.inner.with_value(|inner| inner.sent.clone());
        let another = self.inner.try_update_value(|inner| {
            // Only the chapter on show had the engine compute anything.
            let another = !is_on_show || inner.deaths.one_more();
            // What killed it twice may be the kept state itself.
            if inner.deaths.are_repeated() {
                inner.keep.leave();
            }
            another
        });
        self.engine_left();
        if !is_on_show {
            return self.device.set(Device::Loading);
        }
        if another != Some(true) {
            self.device.set(Device::Unavailable(reason.to_owned()));
            self.store.notify(Severity::Failure, Deaths::gave_up(reason));
            return;
        }
        let goes_on =
            sent.is_some_and(|(spec, text)| self.kept(&Packed::of(&spec), &text).is_some());
        let model = if goes_on {
            "a fresh engine goes on with the model as it was kept last"
        } else {
            "a fresh engine trains the model again from the start"
        };
        let sentence = format!("{reason} Nothing you wrote is lost; {model}.");
        self.store.notify(Severity::Failure, sentence);
        self.start_engine();
    }
}
