//! Standing questions: asked again whenever the answer may have changed.

use core::time::Duration;
use std::{rc::Rc, sync::Arc};

use leptos::prelude::*;
use unroll_protocol::{Answer, Question, RunState};

use super::Lab;
use crate::{
    controls::use_timer,
    figures::{Sight, rest_left, time_frame},
};

/// While training, the same question is asked no more often than this: the answers cost time that
/// training could use, and no eye follows more.
const PAUSE: f64 = 80.0;

/// What a standing question was answered with last.
#[derive(Clone, Copy)]
pub struct Answered {
    /// Stays on show while the next one is computed, and when it is refused.
    pub answer: Signal<Option<Arc<Answer>>>,
    /// Why the question as it stands has no answer, as a sentence.
    pub problem: Signal<Option<String>>,
    /// Where on the page the answers are shown.
    pub sight: Sight,
}

impl Answered {
    /// Names a part of the page that shows the answers. Once one is named, the answers follow
    /// training only while one of them is in sight; before, always.
    pub fn shown_in(self, part: impl Into<Signal<bool>>) -> Self {
        self.sight.add(part.into());
        self
    }
}

/// What was asked, of which model at which step, when.
#[derive(Default)]
struct Asked {
    last: Option<(Question, u32, u32)>,
    open: Option<u32>,
    at: f64,
}

/// Asks `question` whenever what it reads, the model or its step changes; one at a time. `None`
/// asks nothing.
///
/// A step of training alone is no reason to ask while nobody sees the answer (see
/// [`Answered::shown_in`]): it is asked when somebody does, and once training rests, so that what
/// is out of sight is never older than the model at rest.
pub fn use_answer(
    lab: Lab,
    question: impl Fn() -> Option<Question> + Send + Sync + 'static,
) -> Answered {
    use_standing(lab, true, question)
}

/// As [`use_answer`] for what no step of training changes, such as what is counted in the text:
/// asked again with another question or another model only.
pub fn use_fixed_answer(
    lab: Lab,
    question: impl Fn() -> Option<Question> + Send + Sync + 'static,
) -> Answered {
    use_standing(lab, false, question)
}

/// A standing question; `trained` is whether the answer changes as the model is trained.
fn use_standing(
    lab: Lab,
    trained: bool,
    question: impl Fn() -> Option<Question> + Send + Sync + 'static,
) -> Answered {
    let answer = RwSignal::new(None::<Arc<Answer>>);
    let problem = RwSignal::new(None::<String>);
    let question = Memo::new(move |_| question());
    let sight = Sight::new();
    let follows =
        Memo::new(move |_| trained && (lab.state.get() == RunState::Paused || sight.is_on()));
    // What would have to be asked of the model as it is now; without a step where it does not
    // matter how far the model is.
    let due = Memo::new(move |_| {
        let asking = lab.active.get() && lab.watched.get();
        let question = question.get().filter(|_| asking)?;
        let step = follows.get().then(|| lab.step.get());
        Some((question, lab.generation.get(), step))
    });
    let asked = StoredValue::new_local(Asked::default());
    let again = RwSignal::new(0u32);
    let timer = use_timer();
    let take = move |said: Result<Arc<Answer>, String>| {
        asked.try_update_value(|asked| asked.open = None);
        match said {
            Ok(said) => {
                time_frame();
                problem.try_set(None);
                answer.try_set(Some(said));
            }
            Err(reason) => {
                problem.try_set(Some(reason));
            }
        }
        again.try_update(|again| *again += 1);
    };
    Effect::new(move |_| {
        again.track();
        let Some(now) = due.get() else { return };
        // Generation 0 is no model yet.
        if now.1 == 0 || asked.with_value(|asked| asked.open.is_some()) {
            return;
        }
        let (answers, only_step, since) = asked.with_value(|asked| {
            let last = asked.last.as_ref();
            let only_step = last.is_some_and(|last| (&last.0, last.1) == (&now.0, now.1));
            (answers(last, &now), only_step, clock() - asked.at)
        });
        if answers {
            return;
        }
        // No figure shows an answer while it rests.
        let wait = (PAUSE - since).max(rest_left());
        if only_step && wait > 0.0 {
            timer.start(Duration::from_millis(wait.ceil() as u64), move || {
                again.try_update(|again| *again += 1);
            });
            return;
        }
        let (question, generation, step) = now;
        let step = step.unwrap_or_else(|| lab.step.get_untracked());
        let id = lab.ask(question.clone(), Rc::new(take));
        asked.update_value(|asked| {
            let last = Some((question, generation, step));
            *asked = Asked { last, open: Some(id), at: clock() };
        });
    });
    let behind = Memo::new(move |_| {
        again.track();
        let Some(now) = due.get() else { return false };
        asked.with_value(|asked| asked.open.is_some() || !answers(asked.last.as_ref(), &now))
    });
    lab.count_behind(behind.into());
    on_cleanup(move || {
        if let Some(Some(id)) = asked.try_with_value(|asked| asked.open) {
            lab.forget(id);
        }
    });
    Answered { answer: answer.into(), problem: problem.into(), sight }
}

/// Whether what was asked last answers what is due now: the same of the same model, at its step if
/// that matters.
fn answers(last: Option<&(Question, u32, u32)>, due: &(Question, u32, Option<u32>)) -> bool {
    last.is_some_and(|last| {
        (&last.0, last.1) == (&due.0, due.1) && due.2.is_none_or(|step| step == last.2)
    })
}

/// Milliseconds on the page's monotonic clock.
fn clock() -> f64 {
    window().performance().map_or(0.0, |performance| performance.now())
}
