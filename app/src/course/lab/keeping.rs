//! How the models of a chapter outlive their engine.

use std::{rc::Rc, sync::Arc};

use leptos::prelude::*;
use unroll_protocol::{Link, Packed, RunState};

use super::{Inner, Lab};
use crate::{
    chapters,
    course::{
        History,
        keep::{Keep, Wanted},
    },
    figures::clock,
    kept::{self, KeptStudy},
    store::{Device, Severity},
};

impl Lab {
    /// Brings what was kept before the page was opened. Nothing is built before it is here.
    pub(super) fn read_kept(self) {
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
    pub(super) fn keep(self, at_rest: bool) {
        self.keep_if(|keep, now, step| keep.ask(now, step, at_rest));
    }

    /// The same before models of other settings take their place.
    pub(super) fn keep_last(self) {
        self.keep_if(Keep::ask_last);
    }

    fn keep_if(self, ask: impl FnOnce(&mut Keep, f64, u32) -> Option<Wanted>) {
        if !self.keeps || self.diverged.with_untracked(Option::is_some) {
            return;
        }
        let (step, now) = (self.step.get_untracked(), clock());
        let asked = self.inner.try_update_value(|inner| {
            // What is asked for while others are on their way may be of either.
            let built = inner.built.clone().filter(|_| inner.starts.is_empty())?;
            let wanted = ask(&mut inner.keep, now, step)?;
            inner.leaving = Some(built.clone());
            Some((built, wanted))
        });
        let Some(((spec, text), wanted)) = asked.flatten() else { return };
        let then = move |models| {
            let (spec, text) = (Packed::of(&spec), self.sum(&text));
            let history = self.history.get_untracked();
            let kept = KeptStudy { spec, text, models, history };
            self.inner.update_value(|inner| inner.keep.took(wanted, kept));
            self.kept_or_not();
            self.tend();
            // The address led to a step that was left behind: when it is opened again, the models go on.
            let leads = |link: &Link| link.chapter == self.chapter && link.step > 0;
            if self.store.link.with_untracked(leads) {
                self.store.link.update(|link| link.step = 0);
            }
        };
        self.save(Box::new(then));
    }

    /// The state that was asked for last is here, or never will be.
    pub(super) fn kept_or_not(self) {
        self.inner.update_value(|inner| inner.leaving = None);
        self.again.notify();
    }

    /// Does what is due about the kept file.
    pub(super) fn tend(self) {
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
    pub(super) fn say(self, sentence: Option<String>) {
        let said = |inner: &mut Inner| core::mem::replace(&mut inner.said, sentence.clone());
        if let Some(said) = self.inner.try_update_value(said).flatten() {
            self.store.notices.update(|all| all.retain(|notice| notice.sentence != said));
        }
        sentence.into_iter().for_each(|sentence| self.store.mention(sentence));
    }

    /// The kept state that models of this go on from.
    pub(super) fn kept(self, spec: &Packed, text: &Arc<str>) -> Option<Rc<KeptStudy>> {
        let sum = self.sum(text);
        self.inner.with_value(|inner| inner.keep.of(spec, sum))
    }

    /// Ends its session, if the models come back as they are: from what was kept, or by the first steps, which
    /// are the same each time.
    pub(super) fn sleep(self) {
        let step = self.step.get_untracked();
        let rests = self.state.get_untracked() == RunState::Paused
            && self.diverged.with_untracked(Option::is_none);
        let built = self.inner.with_value(|inner| {
            let is_quiet = inner.starts.is_empty() && inner.saved.is_empty();
            inner.built.clone().filter(|_| is_quiet)
        });
        let comes_back = built.is_some_and(|(spec, text)| {
            let (spec, sum) = (Packed::of(&spec), self.sum(&text));
            let warm = chapters::info(self.chapter).warm_steps;
            self.inner.with_value(|inner| inner.keep.bring_back(&spec, sum, step, warm))
        });
        if rests && comes_back {
            self.engine_left();
            self.inner.update_value(|inner| inner.sleeps = true);
            // Who comes back before the models do can't have them trained yet, as on a first visit.
            self.started.set(None);
            self.step.set(0);
            self.history.set(History::default());
            self.device.set(Device::Loading);
        }
    }
}
