//! When the latest state of a chapter's models is kept, and which models go on from it.

use std::rc::Rc;

use unroll_protocol::Packed;

use crate::kept::KeptStudy;

/// Between two states that are kept while it trains, in milliseconds: so much is lost at most.
const PAUSE: f64 = 9000.0;

/// States of a chapter that a page keeps at most: who goes back to former settings finds those models as they
/// were. The file holds only the latest.
const MOST: usize = 4;

/// What is to be done next about the file: it is written, or deleted.
pub type Due = Option<Rc<KeptStudy>>;

/// A state in the page's memory.
struct Held {
    kept: Rc<KeptStudy>,
    /// It has no more steps than the page takes by itself: only who goes back soon is spared the wait.
    is_brief: bool,
}

/// What is to be kept: of models that were not begun anew since, and whether in the file too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    number: u32,
    is_brief: bool,
}

/// What is known of a chapter's kept state. The file may hold another, while the page can keep nothing.
#[derive(Default)]
pub struct Keep {
    /// The states that were kept last, also before the page was opened, each of other models; the latest is
    /// the last.
    states: Vec<Held>,
    /// What was kept before the page was opened is being read.
    reads: bool,
    /// So many steps are nobody's loss: the page takes them by itself, or they are kept already.
    base: u32,
    /// The models were built from nothing, or went on from a brief state: their first steps are the same each
    /// time.
    anew: bool,
    /// The step of the models that were asked for last, and when that was.
    asked: (u32, f64),
    /// How often the learner wanted to begin anew: what was asked for before is kept no more.
    forgotten: u32,
    due: Option<Due>,
    /// The file is being written or deleted.
    busy: bool,
}

impl Keep {
    /// What is kept is being read. [`Self::found`] takes the number.
    pub fn reading(&mut self) -> u32 {
        self.reads = true;
        self.forgotten
    }

    pub fn is_reading(&self) -> bool {
        self.reads
    }

    pub fn found(&mut self, number: u32, kept: Option<KeptStudy>) {
        self.reads = false;
        if number == self.forgotten {
            let held = |kept| Held { kept: Rc::new(kept), is_brief: false };
            self.states = kept.map(held).into_iter().collect();
        }
    }

    /// Models were built, `anew` or as some were before, with so many steps, and are kept in the file once they
    /// have taken more than `base`.
    pub fn began(&mut self, step: u32, base: u32, anew: bool) {
        (self.base, self.anew) = (base, anew);
        self.asked.0 = step;
    }

    /// Whether the models are to be asked for: now and then while they train, `at_rest` whenever there is
    /// something new. If so, [`Self::took`] takes what is returned.
    pub fn ask(&mut self, now: f64, step: u32, at_rest: bool) -> Option<Wanted> {
        let (asked, at) = self.asked;
        let is_due = step > self.base && step != asked && (at_rest || now - at > PAUSE);
        is_due.then(|| self.want(now, step))
    }

    /// The same before models of other settings take their place: then steps that the page took by itself
    /// count as well, for they took their time.
    pub fn ask_last(&mut self, now: f64, step: u32) -> Option<Wanted> {
        // Nothing of what the learner wanted to begin anew.
        let is_due = self.base < u32::MAX && step != self.asked.0;
        is_due.then(|| self.want(now, step))
    }

    fn want(&mut self, now: f64, step: u32) -> Wanted {
        self.asked = (step, now);
        Wanted { number: self.forgotten, is_brief: step <= self.base }
    }

    pub fn took(&mut self, wanted: Wanted, kept: KeptStudy) {
        let Wanted { number, is_brief } = wanted;
        if number != self.forgotten {
            return;
        }
        let kept = Rc::new(kept);
        let is_other = |of: &Held| (&of.kept.spec, of.kept.text) != (&kept.spec, kept.text);
        self.states.retain(is_other);
        self.states.push(Held { kept: kept.clone(), is_brief });
        if self.states.len() > MOST {
            // Who drags a slider leaves many behind that have hardly begun: these go first.
            let before = &self.states[..MOST];
            let first = before.iter().position(|held| held.is_brief).unwrap_or(0);
            self.states.remove(first);
        }
        if !is_brief {
            self.due = Some(Some(kept));
        }
    }

    /// The learner begins anew.
    pub fn forget(&mut self) {
        self.leave();
        // Nothing of the models that go is asked for any more.
        self.base = u32::MAX;
        self.forgotten += 1;
        self.due = Some(None);
    }

    /// No models of this page go on from what is kept.
    pub fn leave(&mut self) {
        self.states.clear();
    }

    /// The kept state of models that are built by this, for this text.
    pub fn of(&self, spec: &Packed, text: u32) -> Option<Rc<KeptStudy>> {
        self.held(spec, text).map(|held| held.kept.clone())
    }

    fn held(&self, spec: &Packed, text: u32) -> Option<&Held> {
        self.states.iter().find(|held| (&held.kept.spec, held.kept.text) == (spec, text))
    }

    /// Whether models of this come back as they are after `step` steps, `warm` of which the page takes by
    /// itself.
    pub fn bring_back(&self, spec: &Packed, text: u32, step: u32, warm: u32) -> bool {
        match self.held(spec, text) {
            Some(Held { kept, is_brief: false }) => kept.history.last_step() == step,
            _ => self.anew && step <= warm,
        }
    }

    /// What is to be done now about the file, if nothing is under way: [`Self::done`] says when it is done.
    pub fn next(&mut self) -> Option<Due> {
        if self.busy {
            return None;
        }
        let due = self.due.take();
        self.busy = due.is_some();
        due
    }

    pub fn done(&mut self) {
        self.busy = false;
    }
}

#[cfg(test)]
mod tests {
    use unroll_protocol::StudyPoint;

    use super::*;
    use crate::course::History;

    fn packed(byte: u8) -> Packed {
        Packed::from_bytes(vec![byte])
    }

    fn state(spec: u8) -> KeptStudy {
        KeptStudy { spec: packed(spec), text: 7, models: packed(0), history: History::default() }
    }

    fn of(keep: &Keep, spec: u8, text: u32) -> bool {
        keep.of(&packed(spec), text).is_some()
    }

    #[test]
    fn only_what_was_trained_further_is_kept_and_not_too_often() {
        let mut keep = Keep::default();
        keep.began(0, 100, true);
        assert!(keep.ask(20_000.0, 100, true).is_none(), "the page took these steps by itself");
        assert!(keep.ask(20_000.0, 101, false).is_some());
        assert!(keep.ask(28_000.0, 150, false).is_none());
        assert!(keep.ask(28_000.0, 150, true).is_some(), "it rests");
        assert!(keep.ask(28_001.0, 150, true).is_none(), "there is nothing new");
        assert!(keep.ask(37_001.0, 180, false).is_some());
    }

    #[test]
    fn models_of_the_same_settings_and_text_go_on() {
        let mut keep = Keep::default();
        let number = keep.reading();
        assert!(keep.is_reading());
        keep.found(number, Some(state(1)));
        assert!(!keep.is_reading());
        assert!(of(&keep, 1, 7) && !of(&keep, 2, 7) && !of(&keep, 1, 8));
        keep.began(0, 10, true);
        let wanted = keep.ask(0.0, 11, true).unwrap();
        keep.took(wanted, state(2));
        assert!(of(&keep, 2, 7) && of(&keep, 1, 7), "who goes back finds the models as they were");
        for spec in [1, 3, 4, 5] {
            keep.took(wanted, state(spec));
        }
        let specs = [1, 2, 3, 4, 5].map(|spec| of(&keep, spec, 7));
        assert_eq!(specs, [true, false, true, true, true]);
    }

    #[test]
    fn who_goes_back_soon_finds_the_first_steps_too() {
        let mut keep = Keep::default();
        keep.began(0, 150, true);
        assert!(keep.ask_last(0.0, 0).is_none(), "nothing is lost");
        let brief = keep.ask_last(0.0, 37).unwrap();
        keep.took(brief, state(1));
        assert!(of(&keep, 1, 7));
        assert!(keep.next().is_none(), "the file is of what was trained");
        // They go on, and have taken no further step.
        keep.began(37, 150, true);
        assert!(keep.ask_last(0.0, 37).is_none());
        assert!(keep.bring_back(&packed(1), 7, 150, 150), "the other steps are taken again");
        // What was trained stays, however many others follow.
        for spec in 2..5 {
            keep.began(0, 150, true);
            let wanted = keep.ask_last(0.0, 151).unwrap();
            keep.took(wanted, state(spec));
        }
        for spec in 5..9 {
            keep.took(brief, state(spec));
        }
        let specs = [1, 2, 3, 4, 7, 8].map(|spec| of(&keep, spec, 7));
        assert_eq!(specs, [false, true, true, true, false, true]);
        keep.forget();
        assert!(keep.ask_last(0.0, 160).is_none(), "the learner begins anew");
    }

    #[test]
    fn only_what_is_kept_or_built_from_nothing_comes_back() {
        let mut keep = Keep::default();
        let back = |keep: &Keep, step| keep.bring_back(&packed(1), 7, step, 10);
        keep.began(0, 20, true);
        assert!(back(&keep, 10), "the page takes these steps again");
        assert!(!back(&keep, 11), "these a link had it take");
        keep.began(0, 10, false);
        assert!(!back(&keep, 5), "models out of a file");
        let history = || {
            let mut history = History::new(&["loss".into()]);
            history.push(&StudyPoint { step: 15, values: vec![Some(1.0)] });
            history
        };
        let wanted = keep.ask(0.0, 15, true).unwrap();
        keep.took(wanted, KeptStudy { history: history(), ..state(1) });
        assert!(back(&keep, 15));
        assert!(!back(&keep, 16) && !back(&keep, 10), "another state was kept");
    }

    #[test]
    fn what_is_forgotten_does_not_come_back() {
        let mut keep = Keep::default();
        keep.began(0, 10, true);
        let wanted = keep.ask(0.0, 11, true).unwrap();
        keep.took(wanted, state(1));
        assert!(keep.next().is_some_and(|due| due.is_some()), "it is written");
        let (wanted, reading) = (keep.ask(0.0, 12, true).unwrap(), keep.reading());
        keep.forget();
        keep.took(wanted, state(1));
        keep.found(reading, Some(state(1)));
        assert!(!of(&keep, 1, 7));
        assert!(keep.ask(0.0, 13, true).is_none());
        // One after the other.
        assert!(keep.next().is_none());
        keep.done();
        assert_eq!(keep.next(), Some(None), "it is deleted");
        keep.done();
        assert!(keep.next().is_none());
        keep.began(0, 10, true);
        assert!(keep.ask(0.0, 13, true).is_some());
    }
}
