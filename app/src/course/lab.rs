//! One chapter's engine: the models it trains, as signals, and what can be asked of them.
//!
//! Every chapter has a session of its own, so that a chapter gone back to is as it was left. All
//! sessions share one worker, and only the chapter on show trains. The engine is always the CPU's:
//! models this small spend more time on the way to a GPU and back than a CPU takes to compute them.

mod keeping;
mod session;

use core::time::Duration;
use std::{collections::VecDeque, rc::Rc, sync::Arc};

use leptos::prelude::*;
use unroll_protocol::{
    Command, Packed, RunState, StudyCheckpoint, StudySpec, StudyStarted, link::Chapter,
};

use super::{History, keep::Keep};
use crate::{
    chapters,
    controls::use_timer,
    kept::{self, KeptStudy},
    questions::Questions,
    reactive::{effect, effect_with_last, memo},
    store::{Device, Opened, Opening, Source, Store, Told},
    worker::{Deaths, EngineRoom, SharedEngine},
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
    pub state: ReadSignal<RunState>,
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
    /// What the models were built by that were asked for in order to keep them, until they are here.
    leaving: Sent,
    /// The session was ended to give up its memory: who comes back need not know.
    sleeps: bool,
    /// What the page says of models that go on from a kept state.
    said: Option<String>,
    /// The beat in focus when the models were built.
    idea: u32,
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

/// After so long behind another chapter, one gives up moments: what a worker once had it never gives back, so
/// the next must find it free.
const AWAY: Duration = Duration::from_secs(2);
/// And after so long its session, with the last of which the worker ends.
const ASLEEP: Duration = Duration::from_secs(30);

/// Whether the chapter has been behind another for so long.
fn is_away_for(active: Memo<bool>, time: Duration) -> RwSignal<bool> {
    let is_away = RwSignal::new(false);
    let timer = use_timer();
    effect(move || {
        if active.get() {
            timer.stop();
            is_away.set(false);
        } else {
            timer.start(time, move || {
                is_away.try_set(true);
            });
        }
    });
    is_away
}

impl Lab {
    /// Of a chapter visited for the first time: starts its engine.
    pub(super) fn new(store: Store, chapter: Chapter, warms: bool, engine: SharedEngine) -> Self {
        let inner = StoredValue::new_local(Inner { engine, ..Inner::default() });
        let active = memo(move || store.link.with(|link| link.chapter == chapter));
        let (embedded, goal) = store.link.with_untracked(|link| (link.embed, link.step));
        let watched = Signal::derive(move || active.get() && store.watched.get());
        let is_away = is_away_for(active, AWAY);
        // As many as a reload would bring back.
        let moments = memo(move || {
            let most = store.moments.get();
            if is_away.get() { most.min(StudyCheckpoint::MOST_OF_PAST) } else { most }
        });
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
            // Who goes on in the story has read what was said of the models.
            let idea = memo(move || store.link.with(|link| link.idea));
            effect_with_last(move |last| {
                let now = idea.get();
                if last.is_some_and(|last| last != now) {
                    lab.say(None);
                }
                now
            });
            let is_long_away = is_away_for(active, ASLEEP);
            effect(move || {
                if is_long_away.get() {
                    lab.sleep();
                }
            });
        }
        effect(move || {
            // The engine may have died while another chapter was on show, or for good; or the chapter slept.
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
            // Who goes back at once finds the models that are just being kept.
            let wanted = Some((spec.clone(), text.clone()));
            if self.inner.with_value(|inner| inner.leaving == wanted && inner.sent != wanted) {
                return;
            }
            let ask = |opened: &mut Option<Opened>| Some((opened.as_mut()?)(&spec));
            let (resume, told) = match self.store.opened.try_update_value(ask).flatten() {
                Some(Opening::Waits) => return,
                Some(Opening::Models(models, told)) => (Some(models), Some(told)),
                Some(Opening::None) | None => (None, None),
            };
            if resume.is_none() && self.inner.with_value(|inner| inner.sent == wanted) {
                return;
            }
            // The engine answers in order: the models that go are kept as they are now.
            self.keep_last();
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
}
