//! When to ask the engine for the next trace, the next piece of writing, the next checkpoint.
//!
//! The page asks, the engine answers, and no second question of a kind is asked before the first is
//! answered: so a slow page gets fewer pictures, never a queue of stale ones, and training goes on.

use std::collections::VecDeque;

use unroll_protocol::{Checkpoint, CommandKind, Link};

use super::Source;
use crate::figures::Curve;

/// Writing may take this share of the engine's time while it trains.
const WRITING_SHARE: f64 = 0.1;
/// Never a new piece of writing sooner than this, in milliseconds: people have to read it.
const WRITING_PAUSE: f64 = 2000.0;
/// In training, from one trace to asking for the next, in milliseconds: reading and drawing them
/// takes the page's time, and no eye follows more.
const TRACE_PAUSE: f64 = 50.0;
/// Between checkpoints kept against a crash, in milliseconds.
const SAVE_PAUSE: f64 = 15_000.0;

/// What was asked and not yet answered, and when things were last done.
#[derive(Default)]
pub struct Pace {
    /// The starts under way, in order.
    pub starting: VecDeque<Starting>,
    /// Train on once that start is carried out.
    pub run_on: bool,
    /// The next checkpoint is the model about to be replaced.
    pub keep_previous: bool,
    /// The last checkpoint, against a crash.
    pub saved: Option<Box<Checkpoint>>,
    /// Engines that died since training last went forward.
    pub deaths: u32,
    notices: u32,
    trace: Request,
    traced_step: Option<u32>,
    traced_at: f64,
    inspection: Request,
    inspected_step: Option<u32>,
    writing: Request,
    written_step: Option<u32>,
    /// When the present writing began, and when the next may.
    writing_began: f64,
    writing_after: f64,
    saved_at: f64,
}

/// A start under way.
pub struct Starting {
    /// Settings of the model.
    pub link: Link,
    pub source: Source,
    /// How it was trained so far, where that is not the curve on show.
    pub curve: Option<Curve>,
}

/// A numbered question of which one may be open.
#[derive(Default)]
struct Request {
    last: u32,
    open: bool,
}

impl Request {
    fn next(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1);
        self.open = true;
        self.last
    }
}

impl Pace {
    /// Id of a new notice.
    pub fn next_notice(&mut self) -> u32 {
        self.notices = self.notices.wrapping_add(1);
        self.notices
    }

    /// Id of a trace to ask for now, whatever is open.
    pub fn next_trace(&mut self) -> u32 {
        self.trace.next()
    }

    /// Whether the weights have changed since the last trace, none is open, and in training the
    /// last one came long enough ago.
    pub fn trace_due(&self, now: f64, step: u32, running: bool) -> bool {
        let soon = running && now < self.traced_at + TRACE_PAUSE;
        !self.trace.open && self.traced_step != Some(step) && !soon
    }

    /// Whether a picture of the model as it is now is still to come.
    pub fn is_behind(&self) -> bool {
        self.trace.open || self.inspection.open
    }

    /// Whether a trace of the present model has come.
    pub fn is_traced(&self) -> bool {
        self.traced_step.is_some()
    }

    pub fn trace_arrived(&mut self, id: u32, step: u32, now: f64) {
        if id == self.trace.last {
            self.trace.open = false;
            self.traced_step = Some(step);
            self.traced_at = now;
        }
    }

    /// Id of a row to ask for now, whatever is open.
    pub fn next_inspection(&mut self) -> u32 {
        self.inspection.next()
    }

    /// Whether the weights have changed since the last row and none is open.
    pub fn inspection_due(&self, step: u32) -> bool {
        !self.inspection.open && self.inspected_step != Some(step)
    }

    /// Whether this row is the one asked for last.
    pub fn inspection_arrived(&mut self, id: u32, step: u32) -> bool {
        let asked = id == self.inspection.last;
        if asked {
            self.inspection.open = false;
            self.inspected_step = Some(step);
        }
        asked
    }

    /// Makes the next writing due at once, over whatever is being written.
    pub fn write_now(&mut self) {
        self.writing.open = false;
        self.writing_after = 0.0;
        self.written_step = None;
    }

    /// Id of a piece of writing to ask for, if one is due.
    pub fn next_writing(&mut self, now: f64, step: u32, running: bool) -> Option<u32> {
        let fresh = self.written_step == Some(step);
        if self.writing.open || fresh || (running && now < self.writing_after) {
            return None;
        }
        self.written_step = Some(step);
        self.writing_began = now;
        Some(self.writing.next())
    }

    /// Whether this text is the one asked for last.
    pub fn writing_arrived(&mut self, id: u32, done: bool, now: f64) -> bool {
        if id != self.writing.last {
            return false;
        }
        if done {
            self.writing.open = false;
            let took = now - self.writing_began;
            self.writing_after = now + (took / WRITING_SHARE - took).max(WRITING_PAUSE);
        }
        true
    }

    /// Whether a checkpoint should be asked for.
    pub fn save_due(&mut self, now: f64, running: bool) -> bool {
        let due = running && now - self.saved_at > SAVE_PAUSE;
        if due {
            self.saved_at = now;
        }
        due
    }

    pub fn progressed(&mut self) {
        self.deaths = 0;
    }

    /// A start was carried out: which it was.
    pub fn started(&mut self) -> Option<Starting> {
        self.restored();
        self.starting.pop_front()
    }

    /// The weights are others now: nothing asked of the old ones matters.
    pub fn restored(&mut self) {
        self.traced_step = None;
        self.inspected_step = None;
        self.saved = None;
    }

    /// A command was refused and will not be answered otherwise.
    pub fn refused(&mut self, command: CommandKind) {
        match command {
            CommandKind::Start => {
                self.starting.pop_front();
                self.run_on = false;
            }
            CommandKind::Trace => self.trace.open = false,
            CommandKind::Inspect => self.inspection.open = false,
            CommandKind::Generate => self.writing.open = false,
            CommandKind::Save => self.keep_previous = false,
            _ => {}
        }
    }

    /// The engine is gone, and every open question with it.
    pub fn engine_gone(&mut self) {
        self.starting.clear();
        self.keep_previous = false;
        self.trace.open = false;
        self.inspection.open = false;
        self.writing.open = false;
        self.traced_step = None;
        self.inspected_step = None;
        self.written_step = None;
    }
}
