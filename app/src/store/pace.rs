//! When to ask the engine for the next piece of writing and the next checkpoint.

use std::{collections::VecDeque, sync::Arc};

use unroll_protocol::{Checkpoint, CommandKind, Link};

use super::{Past, Source};
use crate::{figures::Curve, kept::Keeping, worker::Deaths};

/// So much of the time the model may be writing while it trains. Its tokens are written between steps, which
/// take most of that time: with the usual model, one takes about a twenty-fifth of a step.
const WRITING_SHARE: f64 = 0.6;
/// Never a new piece of writing sooner than this, in milliseconds: people have to read it.
const WRITING_PAUSE: f64 = 1800.0;
/// After so many steps a new model writes for the first time: who pressed Train sees that it is at work.
const FIRST: u32 = 3;
/// Between checkpoints in training, in milliseconds: so much is lost at most when engine or page end.
const SAVE_PAUSE: f64 = 9000.0;

/// What was asked and not yet answered, and when things were last done.
#[derive(Default)]
pub struct Pace {
    /// The starts under way, in order.
    pub starting: VecDeque<Starting>,
    /// Train on once that start is carried out.
    pub run_on: bool,
    /// The step to which the model is trained by itself, until the learner says otherwise; else 0.
    pub head_start: u32,
    /// An order to train is on its way: the engine has not said yet that it does.
    pub sets_out: bool,
    /// The next checkpoint is the model about to be replaced.
    pub keep_previous: bool,
    /// The last checkpoint, against a crash.
    pub saved: Option<Arc<Checkpoint>>,
    /// What tells an engine of the run's earlier moments.
    pub past: Option<Past>,
    /// How the present run is kept in the browser.
    pub keeping: Keeping,
    /// Engines that died since training last went forward.
    pub deaths: Deaths,
    notices: u32,
    /// The question that is being answered with writing.
    writing: Option<u32>,
    written_step: Option<u32>,
    /// Whether the last was longer than one line.
    written_whole: bool,
    /// When the present writing began, and when the next may.
    writing_began: f64,
    writing_after: f64,
    saved_at: f64,
    /// The step of the model that was asked for last.
    saved_step: u32,
}

/// A start under way.
pub struct Starting {
    /// Settings of the model.
    pub link: Link,
    pub source: Source,
    /// How it was trained so far, where that is not the curve on show.
    pub curve: Option<Curve>,
    pub past: Option<Past>,
}

impl Pace {
    /// Id of a new notice.
    pub fn next_notice(&mut self) -> u32 {
        self.notices = self.notices.wrapping_add(1);
        self.notices
    }

    /// Another store numbers notices on the same page too.
    pub fn number_apart(&mut self) {
        self.notices = u32::MAX / 2;
    }

    /// Makes the next writing due at once. The question that is being answered, if one is.
    pub fn write_now(&mut self) -> Option<u32> {
        self.writing_after = 0.0;
        self.written_step = None;
        self.writing.take()
    }

    /// Whether a piece of writing should be asked for: a `whole` one, or a line.
    pub fn writing_due(&self, now: f64, step: u32, running: bool, whole: bool) -> bool {
        let too_short = whole && !self.written_whole;
        let fresh = self.written_step == Some(step) && !too_short;
        let waits =
            now < self.writing_after && !too_short || self.written_step == Some(0) && step < FIRST;
        self.writing.is_none() && !fresh && (!running || !waits)
    }

    /// It was, as question `id`.
    pub fn writing_asked(&mut self, id: u32, now: f64, step: u32, whole: bool) {
        self.writing = Some(id);
        self.written_step = Some(step);
        self.written_whole = whole;
        self.writing_began = now;
    }

    /// The learner has a model train that took so many steps. What a new one wrote stood there long enough.
    pub fn set_out(&mut self, step: u32) {
        self.sets_out = true;
        if step == 0 {
            self.writing_after = 0.0;
        }
    }

    /// All of it is written.
    pub fn writing_done(&mut self, now: f64) {
        self.writing = None;
        let took = now - self.writing_began;
        self.writing_after = now + (took / WRITING_SHARE - took).max(WRITING_PAUSE);
    }

    /// Whether a checkpoint should be asked for: now and then while it trains, `at_rest` whenever there
    /// is something new.
    pub fn save_due(&mut self, now: f64, step: u32, at_rest: bool) -> bool {
        let due = step != self.saved_step && (at_rest || now - self.saved_at > SAVE_PAUSE);
        if due {
            self.saved_at = now;
            self.saved_step = step;
        }
        due
    }

    pub fn progressed(&mut self) {
        self.deaths = Deaths::default();
    }

    /// A start was carried out: which it was.
    pub fn started(&mut self) -> Option<Starting> {
        self.restored();
        self.starting.pop_front()
    }

    /// The weights are others now: nothing asked of the old ones matters.
    pub fn restored(&mut self) {
        self.saved = None;
        self.saved_step = 0;
    }

    /// Whether the next start under way goes on with a run: where that is refused, the text is not to blame.
    pub fn takes_up_run(&self) -> bool {
        self.starting.front().is_some_and(|starting| starting.curve.is_some())
    }

    /// A command was refused and will not be answered otherwise.
    pub fn refused(&mut self, command: CommandKind) {
        match command {
            CommandKind::Start => {
                self.starting.pop_front();
                self.run_on = false;
                // What came of the model that was to go was not taken.
                self.saved_step = 0;
            }
            CommandKind::Save => self.keep_previous = false,
            CommandKind::Run | CommandKind::Steps => self.sets_out = false,
            _ => {}
        }
    }

    /// The engine is gone, and every open question with it.
    pub fn engine_gone(&mut self) {
        self.starting.clear();
        self.sets_out = false;
        self.keep_previous = false;
        self.writing = None;
        self.written_step = None;
    }
}
