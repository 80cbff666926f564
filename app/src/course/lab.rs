//! One chapter's engine: the models it trains, as signals, and what can be asked of them.
//!
//! Every chapter has a session of its own, so that a chapter gone back to is as it was left. All
//! sessions share one worker, and only the chapter on show trains. The engine is always the CPU's:
//! models this small spend more time on the way to a GPU and back than a CPU takes to compute them.

use core::time::Duration;
use std::{collections::VecDeque, rc::Rc, sync::Arc};

use leptos::prelude::*;
use unroll_protocol::{
    Command, CommandKind, Event, Link, Packed, RunState, StudyCheckpoint, StudySpec, StudyStarted,
    link::Chapter,
};

use super::{History, keep::Keep};
use crate::{
    chapters,
    controls::{grouped, use_timer},
    figures::clock,
    kept::{self, KeptStudy},
    questions::Questions,
    reactive::{effect, memo},
    store::{Device, Opened, Opening, Severity, Source, Store, Told},
    worker::{Deaths, EngineRoom, Incoming, SharedEngine},
};

/// Models that rest are kept so long after their last step: steps come in a row.
const KEEP_AFTER: Duration = Duration::from_secs(1);

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
    /// Whether the models outlive the page: neither those of a twin do nor those in another's page.
    keeps: bool,
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
    /// What the present models were built by.
    built: Sent,
    /// A text and its checksum.
    sum: Option<(Arc<str>, u32)>,
    keep: Keep,
    /// What the page says of models that go on from a kept state.
    said: Option<String>,
}

/// Models on their way.
#[derive(Default)]
struct Start {
    /// What they are built by, and what `sent` was before.
    wanted: Sent,
    before: Sent,
    /// The state that they go on from, if one was kept.
    kept: Option<Rc<KeptStudy>>,
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

/// After so long behind another chapter, one gives up memory: what a worker once had it never gives back, so
/// the next must find it free.
const AWAY: Duration = Duration::from_secs(2);

/// Megabytes for the moments of a chapter: `most` while it is on show. Away for a while it keeps as many of
/// them as a reload would bring back.
fn moments_while(active: Memo<bool>, most: Memo<u32>) -> Memo<u32> {
    let is_away = RwSignal::new(false);
    let away = use_timer();
    effect(move || {
        if active.get() {
            away.stop();
            is_away.set(false);
        } else {
            away.start(AWAY, move || {
                is_away.try_set(true);
            });
        }
    });
    memo(move || {
        let most = most.get();
        if is_away.get() { most.min(StudyCheckpoint::MOST_OF_PAST) } else { most }
    })
}

impl Lab {
    /// Of a chapter visited for the first time: starts its engine.
    pub(super) fn new(store: Store, chapter: Chapter, warms: bool, engine: SharedEngine) -> Self {
        let inner = StoredValue::new_local(Inner { engine, ..Inner::default() });
        let active = memo(move || store.link.with(|link| link.chapter == chapter));
        let (embedded, goal) = store.link.with_untracked(|link| (link.embed, link.step));
        let watched = Signal::derive(move || active.get() && store.watched.get());
        let moments = moments_while(active, store.moments);
        let questions = Questions::new(move |command| send(inner, command), watched, moments);
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
            keeps: warms && !embedded,
            ready: RwSignal::new(false),
            again: Trigger::new(),
            retried: Trigger::new(),
            store,
            inner,
        };
        lab.inner.update_value(|inner| {
            inner.runs = store.link.with_untracked(|link| link.autostart);
        });
        // Who asks for a step wants to see how the models come there.
        if lab.keeps && goal == 0 && kept::has_study(chapter) {
            lab.read_kept();
        }
        lab.start_engine();
        lab.follow_settings();
        if lab.keeps {
            effect(move || {
                // A page out of sight may never be seen again.
                if !store.watched.get() {
                    lab.keep(true);
                }
            });
        }
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

    /// Builds the models of the settings on show anew. What was kept of the chapter is forgotten.
    pub fn start_over(self) {
        self.inner.update_value(|inner| {
            inner.sent = None;
            if self.keeps {
                inner.keep.forget();
            }
        });
        self.tend();
        self.again.notify();
    }

    /// Tries again after [`Device::Unavailable`].
    pub fn retry_engine(self) {
        self.inner.update_value(|inner| inner.deaths = Deaths::default());
        self.retried.notify();
    }

    /// Has `then` called with the models as they are, a packed
    /// [`StudyCheckpoint`].
    pub fn save(self, then: Box<dyn FnOnce(Packed)>) {
        self.inner.update_value(|inner| inner.saved.push_back(then));
        self.send(&Command::Save);
    }

    /// Brings what was kept before the page was opened. Nothing is built before it is here.
    fn read_kept(self) {
        let number = self.inner.try_update_value(|inner| inner.keep.reading()).unwrap_or_default();
        let then = move |read: kept::Found| {
            let kept = read.unwrap_or_else(|sentence| {
                self.store.notify(Severity::Refusal, sentence);
                None
            });
            self.inner.update_value(|inner| inner.keep.found(number, kept));
            self.again.notify();
        };
        kept::read_study(self.chapter, Box::new(then));
    }

    /// Asks for the models in order to keep them, if that is due.
    fn keep(self, at_rest: bool) {
        if !self.keeps || self.diverged.with_untracked(Option::is_some) {
            return;
        }
        let (step, now) = (self.step.get_untracked(), clock());
        let asked = self.inner.try_update_value(|inner| {
            // What is asked for while others are on their way may be of either.
            let built = inner.built.clone().filter(|_| inner.starts.is_empty())?;
            Some((built, inner.keep.ask(now, step, at_rest)?))
        });
        let Some(((spec, text), number)) = asked.flatten() else { return };
        let then = move |models| {
            let (spec, text) = (Packed::of(&spec), self.sum(&text));
            let history = self.history.get_untracked();
            let kept = KeptStudy { spec, text, models, history };
            self.inner.update_value(|inner| inner.keep.took(number, kept));
            self.tend();
            // The address led to a step that was left behind: when it is opened again, the models go on.
            let leads = |link: &Link| link.chapter == self.chapter && link.step > 0;
            if self.store.link.with_untracked(leads) {
                self.store.link.update(|link| link.step = 0);
            }
        };
        self.save(Box::new(then));
    }

    /// Does what is due about the kept file.
    fn tend(self) {
        let due = self.inner.try_update_value(|inner| inner.keep.next()).flatten();
        let Some(due) = due else { return };
        let then = move || {
            self.inner.update_value(|inner| inner.keep.done());
            self.tend();
        };
        kept::put_study(self.store, self.chapter, due, Box::new(then));
    }

    fn sum(self, text: &Arc<str>) -> u32 {
        let known = |inner: &mut Inner| match &inner.sum {
            Some((of, sum)) if Arc::ptr_eq(of, text) => *sum,
            _ => {
                let sum = kept::checksum(text.as_bytes());
                inner.sum = Some((text.clone(), sum));
                sum
            }
        };
        self.inner.try_update_value(known).unwrap_or_default()
    }

    /// Says what became of the models, in place of what was said before; nothing, where that is `None`.
    fn say(self, sentence: Option<String>) {
        let said = |inner: &mut Inner| core::mem::replace(&mut inner.said, sentence.clone());
        if let Some(said) = self.inner.try_update_value(said).flatten() {
            self.store.notices.update(|all| all.retain(|notice| notice.sentence != said));
        }
        sentence.into_iter().for_each(|sentence| self.store.notify(Severity::Note, sentence));
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
            if !self.ready.get() || self.inner.with_value(|inner| inner.keep.is_reading()) {
                return;
            }
            let ask = |opened: &mut Option<Opened>| Some((opened.as_mut()?)(&spec));
            let (resume, told) = match self.store.opened.try_update_value(ask).flatten() {
                Some(Opening::Waits) => return,
                Some(Opening::Models(models, told)) => (Some(models), Some(told)),
                Some(Opening::None) | None => (None, None),
            };
            let wanted = Some((spec.clone(), text.clone()));
            if resume.is_none() && self.inner.with_value(|inner| inner.sent == wanted) {
                return;
            }
            // The engine answers in order: the models that go are kept as they are now.
            self.keep(true);
            let packed = Packed::of(&spec);
            let kept = match self.keeps && resume.is_none() {
                true => self.kept(&packed, &text),
                false => None,
            };
            let resume = resume.or_else(|| kept.as_ref().map(|kept| kept.models.clone()));
            self.inner.update_value(|inner| {
                let before = core::mem::replace(&mut inner.sent, wanted.clone());
                inner.starts.push_back(Start { wanted, before, kept, told });
            });
            self.send(&Command::StartStudy { spec: packed, text: text.to_string(), resume });
        });
        effect(move || {
            if self.active.get() {
                return;
            }
            self.say(None);
            if self.state.get_untracked() == RunState::Running {
                self.pause();
            }
        });
    }

    /// The kept state that models of this go on from.
    fn kept(self, spec: &Packed, text: &Arc<str>) -> Option<Rc<KeptStudy>> {
        let sum = self.sum(text);
        self.inner.with_value(|inner| inner.keep.of(spec, sum))
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
        let warm = if goal > 0 { goal } else { chapters::info(self.chapter).warm_steps };
        self.inner.update_value(|inner| {
            inner.built = wanted;
            inner.keep.began(step.max(warm));
        });
        self.say(kept.as_ref().filter(|_| !rests).map(|_| {
            let step = grouped(step.into());
            format!(
                "This chapter goes on from step {step}, where you left it. “Back to the start” (⟲) starts it over."
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
        if warm > 0 && self.warms && kept.is_none() {
            self.take_steps(warm);
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
        let sent = self.inner.with_value(|inner| inner.sent.clone());
        let another = self.inner.try_update_value(|inner| {
            inner.client = None;
            (inner.sent, inner.built) = (None, None);
            inner.starts.clear();
            inner.saved.clear();
            inner.runs = false;
            // Only the chapter on show had the engine compute anything.
            let another = !is_on_show || inner.deaths.one_more();
            // What killed it twice may be the kept state itself.
            if inner.deaths.are_repeated() {
                inner.keep.leave();
            }
            another
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
