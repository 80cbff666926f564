//! What the model writes, and its drafts from earlier in training.

use leptos::prelude::*;
use unroll_protocol::{
    RunState, SampleSpec,
    gpt::{Place, Written, ask},
};

use super::{Severity, Store, Writing, pace::Pace};
use crate::{figures::clock, questions::Reply};

/// What a model writes in its very first steps is noise like that before them.
const FIRST_DRAFT: u32 = 8;
/// Tokens the model writes at a time: about as many as the stage has room for.
const WRITTEN_LENGTH: u32 = 320;
/// While it trains and only its start is on show: as many as there is room for in a line.
const LINE_LENGTH: u32 = 120;
/// As many from an opened model, which may take a second for ten of them.
const GIVEN_LENGTH: u32 = 160;

impl Store {
    /// Lets the model write anew with the present temperature and top-k.
    pub fn write_again(self) {
        if let Some(open) = self.pace.try_update_value(Pace::write_now).flatten() {
            self.questions.forget(open);
        }
        self.keep_pace();
    }

    /// Asks for what is due: at most one piece of writing is ever under way, so a slow page never
    /// holds up training.
    pub(super) fn keep_pace(self) {
        let (step, running) =
            (untrack(|| self.questions.shown()), self.state.get_untracked() == RunState::Running);
        let now = clock();
        // Behind another tab nobody looks; what is due then is asked for when somebody does. At
        // rest, what is out of sight is brought up to date too: see `use_answer`.
        let seen =
            self.watched.get_untracked() && (!running || untrack(|| self.writing_sight.is_on()));
        let whole = !running || self.link.with_untracked(|link| link.view == "writing");
        if seen && self.pace.with_value(|pace| pace.writing_due(now, step, running, whole)) {
            let link = self.link.get_untracked();
            let opening = self.opening.get_untracked();
            let sample = SampleSpec {
                prompt: opening.clone(),
                length: match self.is_given() {
                    true => GIVEN_LENGTH,
                    false if whole => WRITTEN_LENGTH,
                    false => LINE_LENGTH,
                },
                sampling: link.gpt.sampling(),
                seed: link.seed.wrapping_add(self.throws.get_untracked()),
                place: Place::Lab,
            };
            let question = ask::Writing { sample };
            let id =
                self.questions.ask_once(question, move |reply| self.on_written(&opening, reply));
            self.pace.update_value(|pace| pace.writing_asked(id, now, step, whole));
        }
        if running {
            self.save(false);
        }
    }

    fn on_written(self, opening: &str, reply: Reply<Written>) {
        let done = !matches!(&reply, Some(Ok((_, written))) if !written.done);
        if done {
            self.pace.update_value(|pace| pace.writing_done(clock()));
        }
        match reply {
            Some(Ok((step, Written { text, tokens, done, .. }))) => {
                let tokens = if self.has_tinted_tokens() { tokens } else { Vec::new() };
                let opening = opening.to_owned();
                let writing = Writing { step, opening, text, tokens, done };
                self.written.set(writing.clone());
                // Of a moment of the past there is a draft, or none was due then.
                let is_whole = self.questions.off.with_untracked(Vec::is_empty);
                if done && is_whole && self.questions.at.get_untracked().is_none() {
                    self.drafts.update(|drafts| add_draft(drafts, writing));
                }
            }
            Some(Err(reason)) => self.notify(Severity::Refusal, reason),
            None => {}
        }
    }
}

/// Keeps `writing` among the drafts, if the model has trained half again as long as at the last one.
fn add_draft(drafts: &mut Vec<Writing>, writing: Writing) {
    let step = writing.step;
    drafts.retain(|draft| draft.step < step);
    let due = |last: &Writing| step > FIRST_DRAFT.max(last.step + last.step / 2);
    if drafts.last().is_none_or(due) {
        drafts.push(writing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_kept_when_training_is_half_again_as_long() {
        let mut drafts = Vec::new();
        let mut write = |step, text: &str| {
            add_draft(&mut drafts, Writing { step, text: text.to_owned(), ..Writing::default() });
            let last = drafts.last().map(|draft| draft.text.clone());
            (drafts.iter().map(|draft| draft.step).collect::<Vec<_>>(), last.unwrap_or_default())
        };
        for step in 0..34 {
            write(step, "first");
        }
        assert_eq!(write(34, "first").0, [0, 9, 14, 22, 34]);
        let anew = (vec![0, 9, 14, 22, 34], "anew".to_owned());
        assert_eq!(write(34, "anew"), anew, "written anew, it takes its own place");
        assert_eq!(write(10, "back").0, [0, 9], "later ones are of a model that is gone");
    }
}
