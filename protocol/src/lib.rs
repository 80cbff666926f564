//! The messages between the page and its engines, and the contents of a share link.
//!
//! Plain serde data: no tensors, no DOM. The page sends [`Command`]s to an engine and receives
//! [`Event`]s, both encoded as [postcard](wire) bytes; [`Link`] is everything that a URL of the
//! page can express.

pub mod architecture;
pub mod attention;
mod chapters;
pub mod checkpoint;
mod floats;
pub mod given;
pub mod gpt;
pub mod link;
pub mod message;
pub mod native;
pub mod number;
pub mod parameters;
pub mod pool;
mod question;
mod schedule;
mod shared;
pub mod signs;
pub mod spec;
pub mod start;
pub mod study;
pub mod text;
pub mod trace;
pub mod transduction;
pub mod wire;

pub use architecture::Architecture;
pub use attention::AttentionRow;
pub use checkpoint::{Checkpoint, StudyCheckpoint, StudyMoment};
pub use given::{GivenModel, TokenizerFile, Weights};
pub use gpt::{SampleSpec, Sampling};
pub use link::Link;
pub use message::{
    Command, CommandKind, CurvePoint, DeviceKind, DeviceReport, Event, Progress, Recorded,
    RunState, SelfCheck, Started,
};
pub use number::read_number;
pub use pool::PoolReport;
pub use question::{Ask, LabQuestion, Question};
pub use schedule::LearningRateSchedule;
pub use spec::{
    ExperimentSpec, GptSpec, Initialization, Limits, OptimizerKind, OptimizerSpec, SpecError,
    TokenKind, Tokens,
};
pub use study::{StudyPoint, StudyProgress, StudySpec, StudyStarted};
pub use text::TextError;
pub use trace::{Array, Trace};
pub use transduction::{AttentionKind, PairTask};
pub use wire::Packed;
