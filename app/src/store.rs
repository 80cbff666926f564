//! The one store: what the engine said, as signals, and everything the page can ask of it.
//!
//! Events come in through [`Store::receive`] alone; commands leave through the methods below alone.
//! Figures and controls read signals and call methods; they never see the engine.

mod contest;
mod engine;
mod events;
mod helpers;
mod pace;
mod state;

use std::{rc::Rc, sync::Arc};

use leptos::{ev, prelude::*};
use unroll_protocol::{
    Ask, AttentionRow, Checkpoint, Command, DeviceKind, Link, PoolReport, RunState, SampleSpec,
    Started, Tokens, Trace,
    gpt::{Place, Written, ask},
    link::{Corpus, DeviceChoice, LinkProblem},
    signs,
    text::Accepted,
};

use crate::{
    corpora,
    figures::{Curve, Sight},
    kept::{self, Keeping},
    questions::{Answered, Questions, Said, use_answer},
    reactive::{effect, memo},
};
use engine::Engine;
use helpers::Helpers;
pub use helpers::cores;
use pace::{Pace, Starting};
use state::first_source;
pub use state::{
    Device, Diverged, Heard, Notice, Opened, Opening, Past, Run, Severity, Source, Speed, Told,
    Writing,
};

/// The model as it was before the last start over.
struct Previous {
    link: Link,
    source: Source,
    curve: Curve,
    checkpoint: Box<Checkpoint>,
    past: Option<Past>,
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
    pub state: RwSignal<RunState>,
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
    /// Names of the settings in the address that the page was opened with, until its chapter has
    /// taken them up.
    given: StoredValue<Option<Vec<String>>>,
    /// Why this device; shown with it.
    device_note: RwSignal<Option<String>>,
    engine: StoredValue<Engine, LocalStorage>,
    helpers: StoredValue<Helpers, LocalStorage>,
    pace: StoredValue<Pace, LocalStorage>,
    previous: StoredValue<Option<Previous>, LocalStorage>,
    /// What waits for the engine's word about a model that is being opened.
    heard: StoredValue<Option<Heard>, LocalStorage>,
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
            given: StoredValue::new(Some(given)),
            device_note: RwSignal::new(None),
            engine,
            helpers: StoredValue::new_local(Helpers::default()),
            pace: StoredValue::new_local(Pace::default()),
            previous: StoredValue::new_local(None),
            heard: StoredValue::new_local(None),
        };
        for problem in problems {
            store.notify(Severity::Refusal, problem.to_string());
        }
        if let Some(sentence) = missing {
            store.notify(Severity::Note, sentence);
        }
        // What comes into sight is asked for at once.
        effect(move || {
            store.writing_sight.is_on();
            store.watched.track();
            if store.started.with_untracked(Option::is_some) {
                store.keep_pace();
            }
        });
        // Each moment writes as it did then, and a model without some heads as it does without them.
        effect(move || {
            questions.at.track();
            questions.off.track();
            if store.started.with_untracked(Option::is_some) {
                store.write_again();
            }
        });
        let listener = window_event_listener(ev::visibilitychange, move |_| {
            let seen = !document().hidden();
            store.watched.set(seen);
            // A page out of sight may never be seen again.
            if !seen && store.started.with_untracked(Option::is_some) {
                store.save(true);
            }
        });
        on_cleanup(move || listener.remove());
        store
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
        lab.keeping(|keeping| keeping.is_twin = !embedded);
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

    /// Has the chapter that comes on show next begin with the beat that the link names, as though the
    /// page were opened with an address that gives these settings.
    pub fn give(self, given: Vec<String>) {
        self.given.set_value(Some(given));
    }

    /// The names of the settings that the address gives, for the chapter that takes it up; `None`
    /// afterwards.
    pub fn take_given(self) -> Option<Vec<String>> {
        self.given.try_update_value(Option::take).flatten()
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

    /// Changes settings in the form. A model that has not been trained is rebuilt at once; one that was
    /// trained, here or elsewhere, stays until [`Self::start_over`].
    pub fn change_settings(self, change: impl FnOnce(&mut Link)) {
        self.link.update(change);
        let is_at_hand = self.step.get_untracked() == 0 && !untrack(|| self.is_given());
        if is_at_hand && self.needs_start_over() {
            self.start_over();
        }
    }

    /// Whether the form describes another model than the present one. Tracks both.
    pub fn needs_start_over(self) -> bool {
        self.link.with(|link| {
            self.built.with(|built| {
                link.experiment() != built.experiment() || link.gpt.workers != built.gpt.workers
            })
        })
    }

    /// Puts the form back to the present model's settings.
    pub fn undo_settings(self) {
        let built = self.built.get_untracked();
        self.link.update(|link| *link = link.clone().with_experiment_of(&built));
    }

    /// Builds a new model from the form's settings for the present text. The old one can be
    /// brought back.
    pub fn start_over(self) {
        let source = self.source.get_untracked();
        self.begin(source);
    }

    /// Learns a built-in text instead.
    pub fn choose_corpus(self, corpus: Corpus) {
        wasm_bindgen_futures::spawn_local(async move {
            let name = corpora::name(corpus).to_owned();
            match corpora::load(corpus).await {
                Ok(text) => {
                    self.forget_text();
                    self.begin(Source { corpus, name, text });
                }
                Err(sentence) => self.refuse_text(sentence),
            }
        });
    }

    /// Learns the learner's own text instead. `name` is the file's, if it came from one.
    pub fn choose_own_text(self, accepted: Accepted, name: Option<String>) {
        self.forget_text();
        for note in accepted.notes {
            self.note_on_text(note);
        }
        let name = name.unwrap_or_else(|| "Your text".to_owned());
        self.begin(Source { corpus: Corpus::Own, name, text: accepted.text.into() });
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

    /// Lets the model write anew with the present temperature and top-k.
    pub fn write_again(self) {
        if let Some(open) = self.pace.try_update_value(Pace::write_now).flatten() {
            self.questions.forget(open);
        }
        self.keep_pace();
    }

    /// Goes back to the last state before the numbers ran away.
    pub fn restore_last_good(self) {
        self.send(&Command::RestoreLastGood);
    }

    /// Brings back the model that the last start over replaced.
    pub fn bring_back(self) {
        let Some(previous) = self.previous.try_update_value(Option::take).flatten() else { return };
        self.can_bring_back.set(None);
        let Previous { link, source, curve, checkpoint, past } = previous;
        self.keeping(|keeping| keeping.anew(None));
        self.link.update(|form| *form = form.clone().with_experiment_of(&link));
        self.send_start(Starting { link, source, curve: Some(curve), past }, Some(checkpoint));
    }

    /// Goes back to a text that another has replaced: with the model that learned it, where it is the last one
    /// replaced. `false` for a text of the learner's that is gone.
    pub fn back_to_text(self, corpus: Corpus) -> bool {
        let with_model = self.previous.try_with_value(|previous| {
            previous.as_ref().is_some_and(|previous| previous.source.corpus == corpus)
        });
        if with_model == Some(true) {
            self.bring_back();
            return true;
        }
        if corpus == Corpus::Own {
            return false;
        }
        self.choose_corpus(corpus);
        true
    }

    /// Says something in the page.
    pub fn notify(self, severity: Severity, sentence: impl Into<String>) {
        self.tell(severity, sentence.into(), false);
    }

    /// Says something about the text: taken back when another is chosen.
    fn note_on_text(self, sentence: String) {
        self.tell(Severity::Note, sentence, true);
    }

    /// Says why a text was not taken, until another one is.
    pub fn refuse_text(self, sentence: String) {
        self.tell(Severity::Refusal, sentence, true);
    }

    fn forget_text(self) {
        self.notices.update(|notices| notices.retain(|notice| !notice.about_text));
    }

    fn tell(self, severity: Severity, sentence: String, about_text: bool) {
        self.notices.update(|notices| {
            // Saying the same twice helps nobody.
            notices.retain(|notice| notice.sentence != sentence);
            let id = self.pace.try_update_value(Pace::next_notice).unwrap_or_default();
            notices.push(Notice { id, severity, sentence, about_text });
            let excess = notices.len().saturating_sub(4);
            notices.drain(..excess);
        });
    }

    /// Says something that goes on, in place of what was said of it before. `false` if the learner took
    /// that away.
    pub fn restate(self, id: &mut Option<u32>, sentence: String) -> bool {
        if let Some(before) = *id {
            let said = self.notices.with_untracked(|all| {
                all.iter().find(|notice| notice.id == before).map(|notice| notice.sentence.clone())
            });
            if said.as_ref().is_none_or(|said| *said == sentence) {
                return said.is_some();
            }
            self.dismiss(before);
        }
        self.notify(Severity::Note, sentence);
        *id = self.notices.with_untracked(|all| all.last().map(|notice| notice.id));
        true
    }

    /// Takes a notice away.
    pub fn dismiss(self, id: u32) {
        self.notices.update(|notices| notices.retain(|notice| notice.id != id));
    }

    fn begin(self, source: Source) {
        let link = Link { corpus: source.corpus, ..self.link.get_untracked() };
        if let Err(error) = link.experiment().validate() {
            self.notify(Severity::Refusal, error.to_string());
            return;
        }
        self.keeping(|keeping| keeping.anew(None));
        if !self.is_open() {
            self.take_source(source);
            self.built.set(link);
            return;
        }
        // The old model is kept first: the engine answers commands in order.
        self.keep_previous();
        self.send_start(Starting { link, source, curve: None, past: None }, None);
    }

    /// Goes on with another run. The present one can be brought back.
    pub fn take_up_run(self, run: Run) {
        let Run { link, source, curve, probe, checkpoint, file, past } = run;
        self.keep_previous();
        self.link.update(|form| *form = form.clone().with_experiment_of(&link));
        self.probe.set(probe);
        self.keeping(|keeping| keeping.anew(file));
        let link = Link { corpus: source.corpus, ..self.link.get_untracked() };
        if !self.is_open() {
            // The first engine goes on from what was saved last.
            self.built.set(link);
            self.take_source(source);
            self.curve.set(curve);
            self.pace.update_value(|pace| {
                pace.saved = Some(Arc::from(checkpoint));
                pace.past = past;
            });
            return;
        }
        self.send_start(Starting { link, source, curve: Some(curve), past }, Some(checkpoint));
    }

    /// Keeps the present model, which can be brought back: another is about to take its place. `heard` is told
    /// when that is done.
    pub fn make_room(self, heard: Heard) {
        self.hear(Some(heard));
        if self.has_no_engine() || !self.keep_previous() {
            self.on_heard(Ok(0));
        }
    }

    /// Asks for the state of the present model, to which the learner can return. `false` if it was not
    /// trained.
    fn keep_previous(self) -> bool {
        let trained = self.step.get_untracked() > 0;
        if trained {
            self.send(&Command::Save);
        }
        self.pace.update_value(|pace| pace.keep_previous = trained);
        trained
    }

    /// Whether the model was opened, and not trained here.
    pub fn is_given(self) -> bool {
        self.tokens() == Tokens::Given
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

    /// Reads or changes how the present run is kept.
    pub fn keeping<R: Default>(self, act: impl FnOnce(&mut Keeping) -> R) -> R {
        self.pace.try_update_value(|pace| act(&mut pace.keeping)).unwrap_or_default()
    }

    /// The last checkpoint of the present model.
    pub fn saved(self) -> Option<Arc<Checkpoint>> {
        // A twin may be gone by the time that what was asked for it is there.
        self.pace.try_with_value(|pace| pace.saved.clone()).flatten()
    }

    /// Asks for a checkpoint of the present model.
    pub fn save_now(self) {
        self.send(&Command::Save);
    }

    /// Asks for a checkpoint of a model that rests and was trained since the last.
    fn save_at_rest(self) {
        if self.state.try_get_untracked() == Some(RunState::Paused) {
            self.save(true);
        }
    }

    fn save(self, at_rest: bool) {
        let (step, now) = (self.step.get_untracked(), now());
        if self.pace.try_update_value(|pace| pace.save_due(now, step, at_rest)) == Some(true) {
            self.send(&Command::Save);
        }
    }

    /// Has another text be the one that is learned. A sentence the learner did not touch follows it.
    fn take_source(self, source: Source) {
        let untouched = self.source.with_untracked(|old| {
            let probe = self.probe.get_untracked();
            corpora::is_first_probe(&probe, old.corpus, &old.text)
        });
        if untouched && self.source.with_untracked(|old| old.text != source.text) {
            self.probe.set(corpora::probe_for(source.corpus, &source.text));
        }
        self.link.update(|form| form.corpus = source.corpus);
        self.source.set(source);
    }

    /// Sends a start, whose answer [`Self::on_started`] takes up with what is kept here.
    fn send_start(self, starting: Starting, resume: Option<Box<Checkpoint>>) {
        let (spec, text) = (starting.link.experiment(), starting.source.text.to_string());
        let workers = self.workers_for(&starting.link);
        self.pace.update_value(|pace| pace.starting.push_back(starting));
        self.send(&Command::Start { spec, text, resume, workers });
    }

    /// Begins with the usual model and text, where what the link asked for can't be built: the page
    /// is never without a model.
    fn begin_as_usual(self) {
        let usual = Link::default();
        let (source, _) = first_source(&usual);
        if self.built.get_untracked().experiment() == usual.experiment()
            && self.source.get_untracked() == source
        {
            return;
        }
        self.link.update(|link| *link = link.clone().with_experiment_of(&usual));
        self.built.set(self.link.get_untracked());
        self.source.set(source.clone());
        self.begin(source);
    }

    /// The last trace, if it is of the present model: one of the model before stays on show until
    /// there is another.
    pub fn own_trace(self) -> Option<Arc<Trace>> {
        let own = self.trace.of.get_untracked() == Some(self.questions.generation.get_untracked());
        self.trace.answer.get_untracked().filter(|_| own)
    }

    /// Asks for what is due: at most one piece of writing is ever under way, so a slow page never
    /// holds up training.
    fn keep_pace(self) {
        let (step, running) =
            (untrack(|| self.questions.shown()), self.state.get_untracked() == RunState::Running);
        let now = now();
        // Behind another tab nobody looks; what is due then is asked for when somebody does. At
        // rest, what is out of sight is brought up to date too: see `use_answer`.
        let seen =
            self.watched.get_untracked() && (!running || untrack(|| self.writing_sight.is_on()));
        if seen && self.pace.with_value(|pace| pace.writing_due(now, step, running)) {
            let link = self.link.get_untracked();
            let sample = SampleSpec {
                prompt: String::new(),
                length: if self.is_given() { GIVEN_LENGTH } else { WRITTEN_LENGTH },
                sampling: link.gpt.sampling(),
                seed: link.seed,
                place: Place::Lab,
            };
            let take = Rc::new(move |said| self.on_written(said));
            let id = self.questions.ask(ask::Writing { sample }.packed(), take);
            self.pace.update_value(|pace| pace.writing_asked(id, now, step));
        }
        if running {
            self.save(false);
        }
    }

    fn on_written(self, said: Said) {
        let read = said.map(|said| {
            let (step, packed) = said?;
            let written = packed.unpack::<Written>().map_err(|error| error.to_string())?;
            Ok::<_, String>((step, written))
        });
        let done = !matches!(&read, Some(Ok((_, written))) if !written.done);
        if done {
            let in_view = self.link.with_untracked(|link| link.view == "writing");
            self.pace.update_value(|pace| pace.writing_done(now(), in_view));
        }
        match read {
            Some(Ok((step, Written { text, tokens, done, .. }))) => {
                let tokens = if self.has_tinted_tokens() { tokens } else { Vec::new() };
                let writing = Writing { step, text, tokens, done };
                self.written.set(writing.clone());
                // Of a moment of the past there is a draft, or none was due then.
                let is_whole = self.questions.off.with_untracked(Vec::is_empty);
                if done && is_whole && self.questions.at.get_untracked().is_none() {
                    self.drafts.update(|drafts| {
                        drafts.retain(|draft| draft.step < step);
                        let due =
                            |last: &Writing| step > FIRST_DRAFT.max(last.step + last.step / 2);
                        if drafts.last().is_none_or(due) {
                            drafts.push(writing);
                        }
                    });
                }
            }
            Some(Err(reason)) => self.notify(Severity::Refusal, reason),
            None => {}
        }
    }
}

impl From<Store> for Questions {
    fn from(store: Store) -> Self {
        store.questions
    }
}

/// What a model writes in its very first steps is noise like that before them.
const FIRST_DRAFT: u32 = 8;
/// Tokens the model writes at a time: about as many as the stage has room for.
const WRITTEN_LENGTH: u32 = 320;
/// As many from an opened model, which may take a second for ten of them.
const GIVEN_LENGTH: u32 = 160;

/// Milliseconds on the page's monotonic clock.
fn now() -> f64 {
    web_sys::window().and_then(|w| w.performance()).map_or(0.0, |performance| performance.now())
}
