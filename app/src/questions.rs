//! Questions to an engine, the GPT lab's or a chapter's, and what was answered.
//!
//! A standing question is asked again whenever its answer may have changed, one at a time: a slow
//! page gets fewer pictures, never a queue of stale ones, and training goes on.

use core::time::Duration;
use std::{rc::Rc, sync::Arc};

use leptos::prelude::*;
use unroll_protocol::{Ask, Command, Packed, Recorded, RunState, study::heads::HeadAt};

use crate::{
    controls::use_timer,
    figures::{Sight, clock, count_training, rest_left, show_in_frame},
    reactive::{effect, memo},
};

/// While training, standing questions are asked no more often than this, in milliseconds: the answers cost
/// time that training could use, and no eye follows more.
const PAUSE: f64 = 80.0;

/// What an engine says to a question, with the step of the model that says it; or why it does not, as
/// a sentence. `None` where the engine is gone before it could.
pub type Said = Option<Result<(u32, Packed), String>>;

/// As [`Said`], with the answer read.
pub type Reply<A> = Option<Result<(u32, A), String>>;

/// Takes what is said to one question.
pub type Taker = Rc<dyn Fn(Said)>;

/// What can be asked of one engine, and what is still to be answered. `Copy`: handles of the owner
/// it was made under.
#[derive(Clone, Copy)]
pub struct Questions {
    /// Counts the models built. Every question is asked anew of each.
    pub generation: RwSignal<u32>,
    /// Whether it trains: see [`Self::set_state`].
    pub state: ReadSignal<RunState>,
    write_state: WriteSignal<RunState>,
    /// Optimizer steps taken.
    pub step: RwSignal<u32>,
    /// Some of these steps while it trains, see [`Self::due_step`].
    paced: RwSignal<u32>,
    /// The moment that is looked at, by its step; `None` is the present.
    pub at: RwSignal<Option<u32>>,
    /// Heads that are switched off in the model that is asked, where it is the lab's.
    pub off: Signal<Vec<HeadAt>>,
    /// The step that it trains to by itself, because a link says so or to have a head start; 0 for none.
    pub goal: RwSignal<u32>,
    /// The moments that can be looked at.
    pub recorded: RwSignal<Arc<Recorded>>,
    /// How many standing questions have no answer yet for what they ask now, of the model as it
    /// is now.
    pub behind: RwSignal<u32>,
    /// Whether anybody reads the answers.
    watched: Signal<bool>,
    /// Whether there is an engine with a model to ask.
    pub alive: RwSignal<bool>,
    open: StoredValue<Open, LocalStorage>,
}

/// The questions that were asked and not yet answered.
struct Open {
    send: Rc<dyn Fn(&Command)>,
    last: u32,
    takers: Vec<(u32, Taker)>,
}

impl Open {
    /// Few are open at a time.
    fn place(&self, id: u32) -> Option<usize> {
        self.takers.iter().position(|(of, _)| *of == id)
    }

    fn take(&mut self, id: u32) -> Option<Taker> {
        self.place(id).map(|at| self.takers.remove(at).1)
    }
}

impl Questions {
    /// `send` reaches the engine; `watched` is whether anybody reads what it says. `megabytes` are for
    /// the moments.
    pub fn new(
        send: impl Fn(&Command) + 'static,
        watched: Signal<bool>,
        megabytes: Memo<u32>,
    ) -> Self {
        let open = Open { send: Rc::new(send), last: 0, takers: Vec::new() };
        let (state, write_state) = signal(RunState::Paused);
        let questions = Self {
            generation: RwSignal::new(0),
            state,
            write_state,
            step: RwSignal::new(0),
            paced: RwSignal::new(0),
            at: RwSignal::new(None),
            off: Signal::stored(Vec::new()),
            goal: RwSignal::new(0),
            recorded: RwSignal::default(),
            behind: RwSignal::new(0),
            watched,
            alive: RwSignal::new(false),
            open: StoredValue::new_local(open),
        };
        effect(move || {
            let megabytes = megabytes.get();
            // Each model may be in another engine, which was not told yet.
            questions.generation.track();
            if questions.alive.get() {
                questions.tell(&Command::Budget(megabytes));
            }
        });
        let timer = use_timer();
        let since = StoredValue::new(f64::NEG_INFINITY);
        let pace = move || {
            since.try_set_value(clock());
            questions.paced.try_update(|paced| *paced = questions.step.get_untracked());
        };
        effect(move || {
            questions.step.track();
            let wait = (PAUSE - (clock() - since.get_value())).max(rest_left());
            if state.get() == RunState::Paused || wait <= 0.0 {
                timer.stop();
                pace();
            } else if !timer.is_running() {
                timer.start(Duration::from_millis(wait.ceil() as u64), pace);
            }
        });
        // A twin may be ended while it trains.
        on_cleanup(move || {
            if state.try_get_untracked() == Some(RunState::Running) {
                count_training(false);
            }
        });
        questions
    }

    /// The same model, asked without the heads that are `off`.
    pub fn without(self, off: impl Into<Signal<Vec<HeadAt>>>) -> Self {
        Self { off: off.into(), ..self }
    }

    /// The step that is looked at: the present one, or that of a moment. Tracks it.
    pub fn shown(self) -> u32 {
        self.at.get().unwrap_or_else(|| self.step.get())
    }

    /// The step that standing questions are due for: each one at rest; in training one now and then, the
    /// same for all, so that what stands together on the page is of one step. Tracks it.
    fn due_step(self) -> u32 {
        match self.state.get() {
            RunState::Paused => self.step.get(),
            RunState::Running => self.paced.get(),
        }
    }

    /// The engine trains or rests, after so many steps.
    pub fn went(self, state: RunState, step: u32) {
        self.set_state(state);
        self.step.set(step);
    }

    /// The engine trains or rests from here on.
    pub fn set_state(self, state: RunState) {
        // Nobody is there to be told once a twin has ended.
        if self.state.try_get_untracked().is_some_and(|before| before != state) {
            count_training(state == RunState::Running);
        }
        self.write_state.set(state);
    }

    /// The moments that can be looked at are these now.
    pub fn recorded(self, recorded: Recorded) {
        // The engine answers for the nearest one.
        if let Some(at) = self.at.get_untracked() {
            self.look_at(recorded.nearest(at));
        }
        self.recorded.set(Arc::new(recorded));
    }

    /// Looks at the moment after `step` steps, or at the present.
    pub fn look_at(self, step: Option<u32>) {
        if self.at.get_untracked() != step {
            self.at.set(step);
        }
    }

    /// Asks once, about the moment that is looked at. `take` is called with the answer, more than once where it
    /// is written bit by bit. Returns what [`Self::forget`] takes.
    pub fn ask_once<Q: Ask>(self, question: Q, take: impl Fn(Reply<Q::Answer>) + 'static) -> u32 {
        let take = move |said: Said| {
            take(said.map(|said| {
                let (step, packed) = said?;
                let answer = packed.unpack::<Q::Answer>();
                Ok((step, answer.map_err(|error| error.to_string())?))
            }));
        };
        self.ask(question.packed(), Rc::new(take))
    }

    /// As [`Self::ask_once`], of a question whose type is not known here.
    pub fn ask(self, question: Packed, take: Taker) -> u32 {
        let asked = self.open.try_update_value(|open| {
            open.last = open.last.wrapping_add(1);
            open.takers.push((open.last, take));
            (open.last, open.send.clone())
        });
        let Some((id, send)) = asked else { return 0 };
        let (at, off) = (self.at.get_untracked(), self.off.get_untracked());
        send(&Command::Ask { id, question, at, off });
        id
    }

    /// Has the engine train until so many steps are taken, whatever is on show.
    pub fn train_until(self, step: u32) {
        self.tell(&Command::Until(step));
    }

    fn tell(self, command: &Command) {
        let send = self.open.try_with_value(|open| open.send.clone());
        if let Some(send) = send {
            send(command);
        }
    }

    /// Nobody waits for that answer any more.
    pub fn forget(self, id: u32) {
        self.open.try_update_value(|open| open.take(id));
    }

    /// The engine answered question `id`, or refused to; `more` is to come.
    pub fn answered(self, id: u32, said: Said, more: bool) {
        let take = self.open.try_update_value(|open| match more {
            true => open.place(id).map(|at| open.takers[at].1.clone()),
            false => open.take(id),
        });
        // What nobody waits for any more is not even read.
        if let Some(Some(take)) = take {
            take(said);
        }
    }

    /// Another model, or the same with other weights, is there to ask.
    pub fn model_built(self) {
        self.no_moments();
        self.generation.update(|generation| *generation += 1);
        self.alive.set(true);
    }

    /// The engine is gone, and with it whoever could have answered.
    pub fn engine_gone(self) {
        self.alive.set(false);
        self.no_moments();
        let takers = self.open.try_update_value(|open| core::mem::take(&mut open.takers));
        for (_, take) in takers.unwrap_or_default() {
            take(None);
        }
    }

    /// Those of the model before are gone with it.
    fn no_moments(self) {
        self.look_at(None);
        self.recorded.set(Arc::default());
    }

    /// Counts a standing question among [`Self::behind`] while `behind` holds.
    pub fn count_behind(self, behind: Signal<bool>) {
        let counted = StoredValue::new(false);
        let count = move |now: bool| {
            if counted.try_get_value() == Some(!now) {
                counted.set_value(now);
                self.behind.try_update(|n| *n = if now { *n + 1 } else { n.saturating_sub(1) });
            }
        };
        effect(move || count(behind.get()));
        on_cleanup(move || count(false));
    }
}

/// What a standing question was answered with last.
pub struct Answered<A: Send + Sync + 'static> {
    /// Stays on show while the next one is computed, and when it is refused.
    pub answer: Signal<Option<Arc<A>>>,
    /// Why the question as it stands has no answer, as a sentence.
    pub problem: Signal<Option<String>>,
    /// Which model the last answer is of, by [`Questions::generation`].
    pub of: Signal<Option<u32>>,
    /// Where on the page the answers are shown.
    pub sight: Sight,
}

// Derived, these would ask the same of what is answered.
impl<A: Send + Sync + 'static> Clone for Answered<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Send + Sync + 'static> Copy for Answered<A> {}

impl<A: Send + Sync + 'static> Answered<A> {
    /// Names a part of the page that shows the answers. Once one is named, the answers follow
    /// training only while one of them is in sight; before, always.
    pub fn shown_in(self, part: impl Into<Signal<bool>>) -> Self {
        self.sight.add(part.into());
        self
    }

    /// Something of the last answer, if there is one. Tracks it.
    pub fn read<R>(self, read: impl FnOnce(&A) -> R) -> Option<R> {
        self.answer.with(|answer| answer.as_deref().map(read))
    }
}

/// Asks `question` whenever what it reads, the model or its step changes; one at a time. `None`
/// asks nothing.
///
/// A step of training alone is no reason to ask while nobody sees the answer (see
/// [`Answered::shown_in`]): it is asked when somebody does, and once training rests, so that what
/// is out of sight is never older than the model at rest.
pub fn use_answer<Q: Ask>(
    of: impl Into<Questions>,
    question: impl Fn() -> Option<Q> + Send + Sync + 'static,
) -> Answered<Q::Answer> {
    use_typed(of.into(), true, question)
}

/// As [`use_answer`] for what no step of training changes, such as what is counted in the text:
/// asked again with another question or another model only.
pub fn use_fixed_answer<Q: Ask>(
    of: impl Into<Questions>,
    question: impl Fn() -> Option<Q> + Send + Sync + 'static,
) -> Answered<Q::Answer> {
    use_typed(of.into(), false, question)
}

/// The thin part that knows the question's type.
fn use_typed<Q: Ask>(
    questions: Questions,
    trained: bool,
    question: impl Fn() -> Option<Q> + Send + Sync + 'static,
) -> Answered<Q::Answer> {
    let answer = RwSignal::new(None::<Arc<Q::Answer>>);
    let take = move |packed: &Packed| match packed.unpack::<Q::Answer>() {
        Ok(said) => {
            answer.try_set(Some(Arc::new(said)));
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    };
    let question = memo(move || question().map(|question| question.packed()));
    let Standing { problem, of, sight } = use_standing(questions, trained, question, Rc::new(take));
    Answered { answer: answer.into(), problem, of, sight }
}

/// What is known of a standing question whatever its type, see [`Answered`].
struct Standing {
    problem: Signal<Option<String>>,
    of: Signal<Option<u32>>,
    sight: Sight,
}

/// Reads an answer and puts it on show; or says why it can't be read.
type Show = Rc<dyn Fn(&Packed) -> Result<(), String>>;

/// Which weights of a model: those after so many steps, and whether that is a moment that was looked
/// at. What is said of the present may be of a later step than the page knew of.
type When = (u32, bool);

/// A question, and the heads that are off in the model it is about.
type What = (Packed, Vec<HeadAt>);

/// What was asked, of which model when in its training.
#[derive(Default)]
struct Asked {
    last: Option<(What, u32, When)>,
    open: Option<u32>,
}

/// A standing question; `trained` is whether the answer changes as the model is trained. `show`
/// reads an answer and puts it on show, or says why it can't be read.
fn use_standing(
    questions: Questions,
    trained: bool,
    question: Memo<Option<Packed>>,
    show: Show,
) -> Standing {
    let problem = RwSignal::new(None::<String>);
    let of = RwSignal::new(None::<u32>);
    let sight = Sight::new();
    let follows =
        memo(move || trained && (questions.state.get() == RunState::Paused || sight.is_on()));
    // What would have to be asked of the model as it is now; without a step where it does not
    // matter how far the model is.
    let due = memo(move || {
        let asking = questions.alive.get() && questions.watched.get();
        let question = question.get().filter(|_| asking)?;
        let when = follows.get().then(|| match questions.at.get() {
            Some(step) => (step, true),
            None => (questions.due_step(), false),
        });
        Some(((question, questions.off.get()), questions.generation.get(), when))
    });
    let asked = StoredValue::new_local(Asked::default());
    let again = RwSignal::new(0u32);
    let take = move |said: Said| {
        let last = asked.try_update_value(|asked| {
            asked.open = None;
            asked.last.as_ref().map(|last| last.1)
        });
        if let Some(said) = said {
            let shown = said.and_then(|(_, packed)| {
                of.try_set(last.flatten());
                show(&packed)
            });
            problem.try_set(shown.err());
        }
        again.try_update(|again| *again += 1);
    };
    let take: Taker = Rc::new(move |said| {
        let take = take.clone();
        show_in_frame(move || take(said));
    });
    effect(move || {
        again.track();
        let Some(now) = due.get() else { return };
        if asked.with_value(|asked| asked.open.is_some()) {
            return;
        }
        if asked.with_value(|asked| answers(asked.last.as_ref(), &now)) {
            return;
        }
        let (question, generation, when) = now;
        let when =
            when.unwrap_or_else(|| untrack(|| (questions.shown(), questions.at.get().is_some())));
        let id = questions.ask(question.0.clone(), take.clone());
        asked.update_value(|asked| {
            *asked = Asked { last: Some((question, generation, when)), open: Some(id) };
        });
    });
    let behind = memo(move || {
        again.track();
        let Some(now) = due.get() else { return false };
        // The model as it is now may be further than the step that is asked about.
        let is_past =
            now.2.is_some_and(|(step, looks_back)| !looks_back && step != questions.step.get());
        is_past
            || asked.with_value(|asked| asked.open.is_some() || !answers(asked.last.as_ref(), &now))
    });
    questions.count_behind(behind.into());
    on_cleanup(move || {
        if let Some(Some(id)) = asked.try_with_value(|asked| asked.open) {
            questions.forget(id);
        }
    });
    Standing { problem: problem.into(), of: of.into(), sight }
}

/// Whether what was asked last answers what is due now: the same of the same model, with the same
/// weights if that matters.
fn answers(last: Option<&(What, u32, When)>, due: &(What, u32, Option<When>)) -> bool {
    last.is_some_and(|last| {
        (&last.0, last.1) == (&due.0, due.1) && due.2.is_none_or(|when| when == last.2)
    })
}
