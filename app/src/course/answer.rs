//! Standing questions: asked again whenever the answer may have changed.

use core::time::Duration;
use std::{rc::Rc, sync::Arc};

use leptos::prelude::*;
use unroll_protocol::{Answer, Question};

use super::Lab;
use crate::{controls::use_timer, figures::rest_left};

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
}

/// What was asked, of which model, when.
#[derive(Default)]
struct Asked {
    last: Option<(Question, u32, u32)>,
    open: Option<u32>,
    at: f64,
}

/// Asks `question` whenever what it reads, the model or its step changes; one at a time. `None`
/// asks nothing.
pub fn use_answer(
    lab: Lab,
    question: impl Fn() -> Option<Question> + Send + Sync + 'static,
) -> Answered {
    let answer = RwSignal::new(None::<Arc<Answer>>);
    let problem = RwSignal::new(None::<String>);
    let question = Memo::new(move |_| question());
    // What would have to be asked of the model as it is now.
    let due = Memo::new(move |_| {
        let (generation, step) = (lab.generation.get(), lab.step.get());
        let asking = lab.active.get() && lab.watched.get();
        Some((question.get().filter(|_| asking)?, generation, step))
    });
    let asked = StoredValue::new_local(Asked::default());
    let again = RwSignal::new(0u32);
    let timer = use_timer();
    let take = move |said: Result<Arc<Answer>, String>| {
        asked.try_update_value(|asked| asked.open = None);
        match said {
            Ok(said) => {
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
        let (same, only_step, since) = asked.with_value(|asked| {
            let last = asked.last.as_ref();
            let only_step = last.is_some_and(|last| (&last.0, last.1) == (&now.0, now.1));
            (last == Some(&now), only_step, clock() - asked.at)
        });
        if same {
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
        let id = lab.ask(now.0.clone(), Rc::new(take));
        asked.update_value(|asked| *asked = Asked { last: Some(now), open: Some(id), at: clock() });
    });
    let behind = Memo::new(move |_| {
        again.track();
        let Some(now) = due.get() else { return false };
        asked.with_value(|asked| asked.open.is_some() || asked.last.as_ref() != Some(&now))
    });
    lab.count_behind(behind.into());
    on_cleanup(move || {
        if let Some(Some(id)) = asked.try_with_value(|asked| asked.open) {
            lab.forget(id);
        }
    });
    Answered { answer: answer.into(), problem: problem.into() }
}

/// Milliseconds on the page's monotonic clock.
fn clock() -> f64 {
    window().performance().map_or(0.0, |performance| performance.now())
}
