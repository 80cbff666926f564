//! The one store: what the engine said, as signals, and everything the page can ask of it.
//!
//! The present engine's events come in through [`Store::receive`]. What other engines say, such as helpers or
//! one that may take its place, is heard beside what is known of them. Commands leave through the store's
//! methods, and questions through [`Questions`]. Figures and controls read signals and call methods; they
//! never see an engine.

mod beginning;
mod contest;
mod engine;
mod events;
mod helpers;
mod notices;
mod pace;
mod saving;
mod state;
mod training;
mod writing;

use std::sync::Arc;

use leptos::{ev, prelude::*};
use unroll_protocol::{
    AttentionRow, DeviceKind, Link, PoolReport, RunState, Started, Tokens, Trace,
    gpt::ask,
    link::{DeviceChoice, LinkProblem},
    signs,
};

use crate::{
    corpora,
    figures::{Curve, Sight},
    kept::{self, Keeping},
    questions::{Answered, Questions, use_answer},
    reactive::{effect, memo},
};
use beginning::Previous;
use engine::Engine;
use helpers::Helpers;
pub use helpers::cores;
use pace::Pace;
use state::first_source;
pub use state::{
    Device, Diverged, Heard, Lasts, Notice, Opened, Opening, Past, Run, Severity, Source, Speed,
    Told, Writing,
};

/// How the chapter that comes on show is reached.
pub enum Way {
    /// By the page's address, which names these settings.
    Address(Vec<String>),
    /// From within the page.
    Link,
}

/// How a kept run is offered.
pub type Offer = Arc<dyn Fn() -> AnyView + Send + Sync>;

/// All state of the page. `Copy`: a bundle of arena handles owned by the root component.
#[derive(Clone, Copy)]
pub struct Store {
    /// The settings as the form and the URL have them.
    pub link: RwSignal<Link>,
    /// Megabytes for the moments of each run, also of those beside this one.
    pub moments: Memo<u32>,
    /// The settings the present model was built with.
    pub built: RwSignal<Link>,
    pub source: RwSignal<Source>,
    pub device: RwSignal<Device>,
    pub started: RwSignal<Option<Arc<Started>>>,
    pub state: ReadSignal<RunState>,
    /// Optimizer steps taken by the present model.
    pub step: RwSignal<u32>,
    pub curve: RwSignal<Curve>,
    pub speed: RwSignal<Option<Speed>>,
    /// The sentence whose attention is shown.
    pub probe: RwSignal<String>,
    /// What the model computes on it.
    pub trace: Answered<Trace>,
    /// The row that is worked out: layer, head, query, counted from 0.
    pub inspecting: RwSignal<Option<[u32; 3]>>,
    /// That row of the model as it is.
    pub row: Answered<AttentionRow>,
    pub written: RwSignal<Writing>,
    /// What the model is to go on from when it writes; empty for the beginning of a text.
    pub opening: RwSignal<String>,
    /// How often the learner asked for another text: as often the dice are others.
    pub throws: RwSignal<u32>,
    /// Whether the present model has found real words: enough of those that it wrote occur in its text.
    pub found: RwSignal<bool>,
    /// What the present model wrote earlier, whenever it had trained half again as long as the time before.
    pub drafts: RwSignal<Vec<Writing>>,
    /// The curve of the run beside this one, and what that run is to it: “the twin”.
    pub beside: RwSignal<Option<(&'static str, RwSignal<Curve>)>>,
    pub notices: RwSignal<Vec<Notice>>,
    pub diverged: RwSignal<Option<Diverged>>,
    /// Step of the model that a start over replaced, while it can be brought back.
    pub can_bring_back: RwSignal<Option<u32>>,
    /// The helpers that share the steps.
    pub pool: RwSignal<PoolReport>,
    /// Where on the page it is shown what the model writes.
    pub writing_sight: Sight,
    /// Whether the page is in sight, rather than behind another tab: nobody reads answers there.
    pub watched: RwSignal<bool>,
    /// A kept run is offered to go on with, while this holds how that looks.
    pub offer: RwSignal<Option<Offer>>,
    /// Notified when a run was kept or deleted.
    pub kept: Trigger,
    /// Notified when the learner has it write anew: a twin does so too.
    pub rewritten: Trigger,
    /// A chapter's models that were opened.
    pub opened: StoredValue<Option<Opened>, LocalStorage>,
    /// Notified when there are any.
    pub opened_study: Trigger,
    questions: Questions,
    /// The link that a reader has in mind who is told only the beat in focus: what links leave out.
    pub usual: RwSignal<Link>,
    /// Names of the views that the chapter on show has.
    pub views: StoredValue<Vec<&'static str>>,
    /// How the chapter on show was reached, until it has taken that up.
    way: StoredValue<Option<Way>>,
    /// Why this device; shown with it.
    device_note: RwSignal<Option<String>>,
    engine: StoredValue<Engine, LocalStorage>,
    helpers: StoredValue<Helpers, LocalStorage>,
    pace: StoredValue<Pace, LocalStorage>,
    previous: StoredValue<Option<Previous>, LocalStorage>,
    /// What waits for the engine's word about a model that is being opened.
    heard: StoredValue<Option<Heard>, LocalStorage>,
    /// So many steps a model takes by itself that nobody has trained: what is on show has nothing to say of one.
    head_start: StoredValue<u32>,
}

impl Store {
    /// A store for what the URL said. Starts no engine yet: see [`Self::open`].
    pub fn new(link: Link, given: Vec<String>, problems: &[LinkProblem]) -> Self {
        let (source, missing) = first_source(&link);
        let probe = link.written.probe.clone();
        let probe = probe.unwrap_or_else(|| corpora::probe(source.corpus).to_owned());
        let engine = StoredValue::new_local(Engine::default());
        let watched = RwSignal::new(!document().hidden());
        let built = RwSignal::new(link.clone());
        let link = RwSignal::new(link);
        let moments = memo(move || link.with(|link| link.moments));
        let questions =
            Questions::new(move |command| engine::send(engine, command), watched.into(), moments)
                .without(memo(move || link.with(|link| link.off.clone())));
        let probe = RwSignal::new(probe);
        let inspecting = RwSignal::new(None::<[u32; 3]>);
        // Nothing shows it but the views that say so; a row is worked out beside it.
        let nowhere = Signal::stored(false);
        let trace = use_answer(questions, move || Some(ask::Trace { text: probe.get() }));
        let row = use_answer(questions, move || {
            let [layer, head, query] = inspecting.get()?;
            Some(ask::Row { text: probe.get(), layer, head, query })
        });
        let store = Self {
            link,
            moments,
            built,
            source: RwSignal::new(source),
            device: RwSignal::new(Device::Loading),
            started: RwSignal::new(None),
            state: questions.state,
            step: questions.step,
            curve: RwSignal::new(Curve::default()),
            speed: RwSignal::new(None),
            probe,
            trace: trace.shown_in(nowhere),
            inspecting,
            row: row.shown_in(Signal::derive(move || trace.sight.is_on())),
            written: RwSignal::new(Writing::default()),
            opening: RwSignal::default(),
            throws: RwSignal::new(0),
            found: RwSignal::new(false),
            drafts: RwSignal::new(Vec::new()),
            beside: RwSignal::new(None),
            notices: RwSignal::new(Vec::new()),
            diverged: RwSignal::new(None),
            can_bring_back: RwSignal::new(None),
            pool: RwSignal::new(PoolReport::default()),
            writing_sight: Sight::new(),
            watched,
            offer: RwSignal::new(None),
            kept: Trigger::new(),
            rewritten: Trigger::new(),
            opened: StoredValue::new_local(None),
            opened_study: Trigger::new(),
            questions,
            usual: RwSignal::new(Link::default()),
            views: StoredValue::default(),
            way: StoredValue::new(Some(Way::Address(given))),
            device_note: RwSignal::new(None),
            engine,
            helpers: StoredValue::new_local(Helpers::default()),
            pace: StoredValue::new_local(Pace::default()),
            previous: StoredValue::new_local(None),
            heard: StoredValue::new_local(None),
            head_start: StoredValue::new(0),
        };
        for problem in problems {
            store.notify(Severity::Refusal, problem.to_string());
        }
        if let Some(sentence) = missing {
            store.notify(Severity::Note, sentence);
        }
        store.watch();
        store
    }

    /// Keeps up with what is in sight, and with the moment that is looked at.
    fn watch(self) {
        // What comes into sight is asked for at once.
        effect(move || {
            self.writing_sight.is_on();
            self.watched.track();
            if self.started.with_untracked(Option::is_some) {
                self.keep_pace();
            }
        });
        // Each moment writes as it did then, and a model without some heads as it does without them.
        effect(move || {
            self.questions.at.track();
            self.questions.off.track();
            if self.started.with_untracked(Option::is_some) {
                self.write_again();
            }
        });
        let listener = window_event_listener(ev::visibilitychange, move |_| {
            let seen = !document().hidden();
            self.watched.set(seen);
            // A page out of sight may never be seen again.
            if !seen && self.started.with_untracked(Option::is_some) {
                self.save(true);
            }
        });
        on_cleanup(move || listener.remove());
    }

    /// This store with settings of its own, for the models of a twin: all else is the same.
    pub fn with_link(self, link: Link) -> Self {
        let (usual, source) = (Link::default(), self.source.get_untracked());
        let (usual, source) = (RwSignal::new(usual), RwSignal::new(source));
        Self {
            link: RwSignal::new(link),
            usual,
            source,
            opened: StoredValue::new_local(None),
            ..self
        }
    }

    /// A second lab with settings of its own, on the same text and sentence. Starts its engine, on the
    /// device of this one.
    pub fn lab_beside(self, link: Link) -> Self {
        let device =
            if self.is_on(DeviceKind::WebGpu) { DeviceChoice::WebGpu } else { DeviceChoice::Cpu };
        let lab = Self::new(Link { device, ..link }, Vec::new(), &[]);
        // What it has to say is said on the one page.
        let lab = Self { notices: self.notices, ..lab };
        lab.pace.update_value(Pace::number_apart);
        let embedded = self.link.with_untracked(|link| link.embed);
        if !embedded {
            lab.keeping(|keeping| keeping.follow(self));
        }
        on_cleanup(move || kept::let_go(lab.keeping(Keeping::held)));
        lab.source.set(self.source.get_untracked());
        lab.probe.set(self.probe.get_untracked());
        lab.open();
        lab
    }

    /// The step to which the address wants the model trained that was just built; 0 for none. That is
    /// the `first` of the chapter; a later one is not meant, and the link forgets the step.
    pub fn take_goal(self, first: bool) -> u32 {
        let goal = self.link.with_untracked(|link| link.step);
        if goal > 0 && !first {
            self.link.update(|link| link.step = 0);
        }
        if first { goal } else { 0 }
    }

    /// The chapter that comes on show next is reached from within the page.
    pub fn go_by_link(self) {
        self.way.set_value(Some(Way::Link));
    }

    /// How the chapter on show was reached; `None` once it knows, and by the browser's back and forward.
    pub fn take_way(self) -> Option<Way> {
        self.way.try_update_value(Option::take).flatten()
    }

    /// What the tokens of the present model are.
    pub fn tokens(self) -> Tokens {
        self.started.with(|s| s.as_ref().map_or(Tokens::Characters, |s| s.spec.tokens))
    }

    /// Whether tokens need not be characters, so that it must be shown where each ends.
    pub fn has_tinted_tokens(self) -> bool {
        self.tokens() != Tokens::Characters
    }

    /// `text` with a token after it that the model wrote. The last byte of a character makes it whole.
    pub fn appended(self, text: &str, token: &str) -> String {
        let longer = format!("{text}{token}");
        match untrack(|| self.tokens()) {
            Tokens::Characters => longer,
            Tokens::Bytes | Tokens::Pairs { .. } | Tokens::Given => signs::joined(&longer),
        }
    }

    /// Shows the attention of another sentence.
    pub fn set_probe(self, text: String) {
        self.probe.set(text);
    }

    /// Works another row out: layer, head, query, counted from 0. `None` ends it.
    pub fn inspect(self, cell: Option<[u32; 3]>) {
        if self.inspecting.get_untracked() != cell {
            self.inspecting.set(cell);
        }
    }

    /// Whether the model was opened, and not trained here.
    pub fn is_given(self) -> bool {
        self.tokens() == Tokens::Given
    }

    /// Whether the engine has the model with that number, see [`Self::generation`], and is not about to
    /// be given another.
    pub fn has(self, generation: u32) -> bool {
        self.questions.generation.try_get_untracked() == Some(generation)
            && self.questions.alive.try_get_untracked() == Some(true)
            && self.pace.try_with_value(|pace| pace.starting.is_empty()) == Some(true)
    }

    /// Which model this is: another number after each that was built.
    pub fn generation(self) -> u32 {
        self.questions.generation.get_untracked()
    }

    /// The last trace, if it is of the present model: one of the model before stays on show until
    /// there is another.
    pub fn own_trace(self) -> Option<Arc<Trace>> {
        let own = self.trace.of.get_untracked() == Some(self.questions.generation.get_untracked());
        self.trace.answer.get_untracked().filter(|_| own)
    }
}

impl From<Store> for Questions {
    fn from(store: Store) -> Self {
        store.questions
    }
}
