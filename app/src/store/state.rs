//! What the store's signals hold.

use std::sync::Arc;

use unroll_protocol::{DeviceReport, link::Corpus};

use crate::figures::Sight;

/// What computes, as the badge shows it.
#[derive(Clone, Debug, PartialEq)]
pub enum Device {
    Loading,
    Ready {
        report: DeviceReport,
        /// Why not the GPU, or that it is being prepared. A clause without a full stop.
        note: Option<String>,
    },
    /// No engine could be started; the sentence says why.
    Unavailable(String),
}

/// The parts of the page that show what is asked of the engine again and again.
#[derive(Clone, Copy)]
pub struct InSight {
    pub trace: Sight,
    pub writing: Sight,
}

/// How fast training goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    pub tokens_per_second: f32,
    pub milliseconds_per_step: f32,
}

/// What the model has written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// Optimizer steps the writing model had taken.
    pub step: u32,
    pub text: String,
    pub done: bool,
}

/// Something the page says to the learner until dismissed.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub id: u32,
    pub severity: Severity,
    pub sentence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Something asked for was not done; nothing was lost.
    Refusal,
    /// Something broke.
    Failure,
}

/// Training stopped because the numbers ran away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diverged {
    pub step: u32,
    pub loss: f32,
    /// Step that [`Store::restore_last_good`] goes back to.
    pub last_good: u32,
}

/// The text a model learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub corpus: Corpus,
    /// For people: `Tales`, or the name of an opened file.
    pub name: String,
    pub text: Arc<str>,
}
