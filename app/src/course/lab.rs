//! One chapter's engine: the models it trains, as signals, and what can be asked of them.
//!
//! Every chapter has a session of its own, so that a chapter gone back to is as it was left. All
//! sessions share one worker, and only the chapter on show trains. The engine is always the CPU's:
//! models this small spend more time on the way to a GPU and back than a CPU takes to compute them.

use std::{collections::VecDeque, sync::Arc};

use leptos::prelude::*;
use unroll_protocol::{
    Command, CommandKind, Event, Packed, RunState, StudySpec, StudyStarted, link::Chapter,
};

use super::History;
use crate::{
    chapters,
    questions::Questions,
    reactive::{effect, memo},
    store::{Device, Opened, Opening, Severity, Source, Store, Told},
    worker::{Deaths, EngineRoom, Incoming, SharedEngine},
};

/// A chapter's models. `Copy`: handles owned by the page's root, so that the chapter's view may
/// come and go.
#[derive(Clone, Copy)]
pub struct Lab {
    pub chapter: Chapter,
    pub device: RwSignal<Device>,
    /// What was built; `None` before the first model.
    pub started: RwSignal<Option<Arc<StudyStarted>>>,
    /// Counts the models built: everything else starts anew with each.
    pub generation: RwSignal<u32>,
    pub state: RwSignal<RunState>,
    /// Optimizer steps taken.
    pub step: RwSignal<u32>,
    pub history: RwSignal<History>,
    pub milliseconds_per_step: RwSignal<Option<f32>>,
    /// The step at which the numbers ran away, if they did.
    pub diverged: RwSignal<Option<u32>>,
    /// Why the settings on show have no model, as a sentence; the last model stays.
    pub problem: RwSignal<Option<String>>,
    /// Whether the chapter is on show.
    pub active: Memo<bool>,
    /// The name of the view on the stage; empty while nobody sees the stage.
    pub stage: RwSignal<&'static str>,
    /// Whether the question to the learner is in sight.
    pub check_seen: RwSignal<bool>,
    questions: Questions,
    /// Whether a model takes some steps by itself once it is built.
    warms: bool,
    ready: RwSignal<bool>,
    /// Asks for the models to be built anew though nothing changed.
    again: Trigger,
    /// Asks for another engine after the last has died for good.
    retried: Trigger,
    store: Store,
    inner: StoredValue<Inner, LocalStorage>,
}

#[derive(Default)]
struct Inner {
    client: Option<EngineRoom>,
    /// Where the session is held.
    engine: SharedEngine,
    deaths: Deaths,
    /// What the present models were asked to be.
    sent: Sent,
    /// Whether the learner wants it to train without end, also the models of other settings.
    runs: bool,
    /// Called with the models that are asked for, one after the other.
    saved: VecDeque<Box<dyn FnOnce(Packed)>>,
    /// What the engine was asked to build and has not answered yet.
    starts: VecDeque<Start>,
}

/// Models on their way.
struct Start {
    /// What `sent` was before.
    before: Sent,
    /// Of models out of a file: who is told whether the engine took them.
    told: Option<Told>,
}

type Sent = Option<(StudySpec, Arc<str>)>;

impl From<Lab> for Questions {
    fn from(lab: Lab) -> Self {
        lab.questions
    }
}

fn send(inner: StoredValue<Inner, LocalStorage>, command: &Command) {
    inner.with_value(|inner| {
        if let Some(client) = &inner.client {
            client.send(command);
        }
    });
}

impl Lab {
    /// Of a chapter visited for the first time: starts its engine.
    pub(super) fn new(store: Store, chapter: Chapter, warms: bool, engine: SharedEngine) -> Self {
        let inner = StoredValue::new_local(Inner { engine, ..Inner::default() });
        let active = memo(move || store.link.with(|link| link.chapter == chapter));
        let watched = Signal::derive(move || active.get() && store.watched.get());
        let questions = Questions::new(move |command| send(inner, command), watched, store.moments);
        let lab = Self {
            chapter,
            device: RwSignal::new(Device::Loading),
            started: RwSignal::new(None),
            generation: questions.generation,
            state: questions.state,
            step: questions.step,
            history: RwSignal::new(History::default()),
            milliseconds_per_step: RwSignal::new(None),
            diverged: RwSignal::new(None),
            problem: RwSignal::new(None),
            active,
            stage: RwSignal::new(""),
            check_seen: RwSignal::new(false),
            questions,
            warms,
            ready: RwSignal::new(false),
            again: Trigger::new(),
            retried: Trigger::new(),
            store,
            inner,
        };
        lab.inner.update_value(|inner| {
            inner.runs = store.link.with_untracked(|link| link.autostart);
        });
        lab.start_engine();
        lab.follow_settings();
        effect(move || {
            // The engine may have died while another chapter was on show, or for good.
            lab.retried.track();
            let lost = || lab.inner.with_value(|inner| inner.client.is_none());
            if lab.active.get() && lost() {
                lab.start_engine();
            }
        });
        effect(move || {
            let at = questions.at.get();
            lab.history.update(|history| history.look_at(at));
        });
        lab
    }

    /// The step of what is on show, see [`Questions::shown`].
    pub fn shown(self) -> u32 {
        self.questions.shown()
    }

    /// Trains until told otherwise.
    pub fn run(self) {
        self.set_out();
        self.set_runs(true);
        self.send(&Command::Run);
    }

    /// Who trains wants to see it.
    fn set_out(self) {
        self.diverged.set(None);
        self.questions.look_at(None);
        self.questions.goal.set(0);
    }

    /// Stops training.
    pub fn pause(self) {
        self.set_runs(false);
        self.questions.goal.set(0);
        self.send(&Command::Pause);
    }

    /// Takes so many optimizer steps.
    pub fn take_steps(self, count: u32) {
        self.set_out();
        self.set_runs(false);
        self.send(&Command::Steps(count));
    }

    fn set_runs(self, runs: bool) {
        self.inner.update_value(|inner| inner.runs = runs);
    }

    /// Builds the models of the settings on show anew.
    pub fn start_over(self) {
        self.inner.update_value(|inner| inner.sent = None);
        self.again.notify();
    }

    /// Tries again after [`Device::Unavailable`].
    pub fn retry_engine(self) {
        self.inner.update_value(|inner| inner.deaths = Deaths::default());
        self.retried.notify();
    }

    /// Has `then` called with the models as they are, a packed
    /// [`StudyCheckpoint`](unroll_protocol::StudyCheckpoint).
    pub fn save(self, then: Box<dyn FnOnce(Packed)>) {
        self.inner.update_value(|inner| inner.saved.push_back(then));
        self.send(&Command::Save);
    }

    /// Whether this view is on the stage and the stage in sight: when what it shows is asked for.
    pub fn on_view(self, view: &'static str) -> Signal<bool> {
        memo(move || self.stage.get() == view).into()
    }

    fn send(self, command: &Command) {
        send(self.inner, command);
    }

    /// Builds what the link describes whenever that changes while the chapter is on show, and has
    /// nothing train behind the learner's back.
    fn follow_settings(self) {
        let uses_text = chapters::info(self.chapter).uses_text;
        let wanted = memo(move || {
            let spec = self.active.get().then(|| self.store.link.with(|l| l.study())).flatten()?;
            let text = uses_text.then(|| self.store.source.with(|s: &Source| s.text.clone()));
            Some((spec, text.unwrap_or_else(|| "".into())))
        });
        effect(move || {
            self.again.track();
            self.store.opened_study.track();
            let Some((spec, text)) = wanted.get() else { return };
            if !self.ready.get() {
                return;
            }
            let ask = |opened: &mut Option<Opened>| Some((opened.as_mut()?)(&spec));
            let (resume, told) = match self.store.opened.try_update_value(ask).flatten() {
                Some(Opening::Waits) => return,
                Some(Opening::Models(models, told)) => (Some(models), Some(told)),
                Some(Opening::None) | None => (None, None),
            };
            let wanted = Some((spec.clone(), text.clone()));
            let fresh = self.inner.try_update_value(|inner| {
                let fresh = resume.is_some() || inner.sent != wanted;
                if fresh {
                    let before = core::mem::replace(&mut inner.sent, wanted);
                    inner.starts.push_back(Start { before, told });
                }
                fresh
            });
            if fresh == Some(true) {
                let spec = Packed::of(&spec);
                self.send(&Command::StartStudy { spec, text: text.to_string(), resume });
            }
        });
        effect(move || {
            if !self.active.get() && self.state.get_untracked() == RunState::Running {
                self.pause();
            }
        });
    }

    /// Where its session is held, along with those of other chapters.
    pub(super) fn engine(self) -> SharedEngine {
        self.inner.with_value(|inner| inner.engine.clone())
    }

    fn start_engine(self) {
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
            }
            Event::State { state, step } => self.questions.went(state, step),
            Event::Answered { id, step, answer, more } => {
                self.questions.answered(id, Some(Ok((step, answer))), more);
            }
            Event::Refused { command: CommandKind::Ask(id), reason } => {
                self.questions.answered(id, Some(Err(reason)), false);
            }
            Event::Refused { command: CommandKind::StartStudy, reason } => {
                let (start, is_last) = self.answered_start();
                let Some(Start { before, told: Some(told) }) = start else {
                    return self.problem.set(Some(reason));
                };
                if is_last {
                    self.inner.update_value(|inner| inner.sent = before);
                }
                told(Some(&reason));
            }
            Event::StudyCheckpoint(saved) => {
                let first = |inner: &mut Inner| inner.saved.pop_front();
                if let Some(then) = self.inner.try_update_value(first).flatten() {
                    then(saved);
                }
            }
            Event::Refused { command: CommandKind::Save, reason } => {
                self.inner.update_value(|inner| drop(inner.saved.pop_front()));
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
            | Event::Pool(_)
            | Event::Measured { .. }
            | Event::Filled { .. }
            | Event::Failed { .. } => {}
        }
    }

    fn on_started(self, started: StudyStarted) {
        self.history.set(History::new(&started.series));
        self.step.set(started.step);
        self.milliseconds_per_step.set(None);
        self.diverged.set(None);
        self.problem.set(None);
        let first = self.started.with_untracked(Option::is_none);
        let (start, is_last) = self.answered_start();
        let told = start.and_then(|start| start.told);
        // Models out of a file are wanted as they are. What others are to come after, waits for them.
        let rests = told.is_some() || !is_last;
        if told.is_some() {
            self.set_runs(false);
        }
        self.started.set(Some(Arc::new(started)));
        self.questions.model_built();
        if let Some(told) = told {
            told(None);
        }
        let goal = self.store.take_goal(first);
        if rests {
            self.questions.goal.set(0);
            return;
        }
        if self.inner.with_value(|inner| inner.runs) {
            self.run();
            return;
        }
        let steps = if goal > 0 { goal } else { chapters::info(self.chapter).warm_steps };
        if steps > 0 && self.warms {
            self.take_steps(steps);
        }
        self.questions.goal.set(goal);
    }

    /// The first of what the engine had not answered, and whether nothing is left of that.
    fn answered_start(self) -> (Option<Start>, bool) {
        let answered = self.inner.try_update_value(|inner| {
            let start = inner.starts.pop_front();
            (start, inner.starts.is_empty())
        });
        answered.unwrap_or((None, true))
    }

    fn engine_died(self, reason: &str) {
        self.state.set(RunState::Paused);
        self.ready.set(false);
        let is_on_show = self.active.get_untracked();
        let another = self.inner.try_update_value(|inner| {
            inner.client = None;
            inner.sent = None;
            inner.starts.clear();
            inner.saved.clear();
            inner.runs = false;
            // Only the chapter on show had the engine compute anything.
            !is_on_show || inner.deaths.one_more()
        });
        self.questions.engine_gone();
        if !is_on_show {
            return self.device.set(Device::Loading);
        }
        if another != Some(true) {
            self.device.set(Device::Unavailable(reason.to_owned()));
            self.store.notify(Severity::Failure, Deaths::gave_up(reason));
            return;
        }
        self.store.notify(
            Severity::Failure,
            format!("{reason} Nothing you wrote is lost; a fresh engine trains the model anew."),
        );
        self.start_engine();
    }
}
