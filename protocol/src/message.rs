//! The two enums that are all the traffic between the page and an engine.

use serde::{Deserialize, Serialize};

use crate::{
    Checkpoint, ExperimentSpec, Packed, PoolReport, Question, StudyProgress, StudySpec,
    StudyStarted,
};

/// From the page to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Builds a model for `text` in place of the present one. Answered by [`Event::Started`], or by
    /// [`Event::Refused`], in which case the present experiment goes on untouched.
    /// With a checkpoint, goes on from it. `workers` share each step, see
    /// [`pool::workers`](crate::pool::workers); those that are missing are made up for.
    Start { spec: ExperimentSpec, text: String, resume: Option<Box<Checkpoint>>, workers: u32 },
    /// Builds what a chapter trains in place of the present model. Answered by
    /// [`Event::StudyStarted`], or by [`Event::Refused`], in which case nothing changed.
    StartStudy { spec: StudySpec, text: String },
    /// Trains until told otherwise.
    Run,
    /// Stops before the next update of the weights. A step under way is dropped, not half done.
    Pause,
    /// Takes so many optimizer steps, then pauses.
    Steps(u32),
    /// Changes the peak learning rate from the next update on.
    SetLearningRate(f32),
    /// Asks something of the models as they are. Answered by [`Event::Answered`] with the same `id`.
    Ask { id: u32, question: Question },
    /// Asks for an [`Event::Checkpoint`].
    Save,
    /// Takes a few steps with a throw-away model, whenever there is nothing else to do. Answered by
    /// [`Event::Measured`] with the same `id`.
    Measure { id: u32, spec: ExperimentSpec, text: String },
    /// Goes back to the last state with a finite loss, after [`Event::Diverged`].
    RestoreLastGood,
    /// The helper of this number, counted from 1, is gone.
    HelperLost(u32),
}

/// Which command an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandKind {
    Start,
    StartStudy,
    Run,
    Pause,
    Steps,
    SetLearningRate,
    /// With the id of the question.
    Ask(u32),
    Save,
    Measure,
    RestoreLastGood,
    HelperLost,
    /// Bytes that are no command.
    Unreadable,
}

impl Command {
    /// Which command this is.
    pub fn kind(&self) -> CommandKind {
        match self {
            Self::Start { .. } => CommandKind::Start,
            Self::StartStudy { .. } => CommandKind::StartStudy,
            Self::Run => CommandKind::Run,
            Self::Pause => CommandKind::Pause,
            Self::Steps(_) => CommandKind::Steps,
            Self::SetLearningRate(_) => CommandKind::SetLearningRate,
            Self::Ask { id, .. } => CommandKind::Ask(*id),
            Self::Save => CommandKind::Save,
            Self::Measure { .. } => CommandKind::Measure,
            Self::RestoreLastGood => CommandKind::RestoreLastGood,
            Self::HelperLost(_) => CommandKind::HelperLost,
        }
    }
}

/// From the engine to the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The engine listens. Sent once, first; nothing sent to it earlier is kept.
    Ready(DeviceReport),
    /// A [`Command::Start`] was carried out.
    Started(Started),
    /// A [`Command::StartStudy`] was carried out.
    StudyStarted(Box<StudyStarted>),
    /// The model is back at an earlier step: [`Command::RestoreLastGood`] was carried out.
    Restored(Started),
    /// A command was not carried out; nothing changed. The sentence is for the page.
    Refused {
        command: CommandKind,
        reason: String,
    },
    /// Training started or stopped, at this step.
    State {
        state: RunState,
        step: u32,
    },
    /// What happened since the last one.
    Progress(Progress),
    /// The same of what a chapter trains.
    StudyProgress(StudyProgress),
    /// Helpers came to share the steps, or were lost.
    Pool(PoolReport),
    /// What the models say to question `id` after `step` steps: the answer that the question
    /// [asks](crate::Ask) for, as bytes. `more` says that another will follow, as while text is written.
    Answered {
        id: u32,
        step: u32,
        answer: Packed,
        more: bool,
    },
    /// The loss or gradient of step `step` was not a finite number, or the loss far above that of
    /// knowing nothing, so that step was not taken and training stopped. `last_good` is the step
    /// [`Command::RestoreLastGood`] goes back to; a chapter's models have none but their start, 0.
    Diverged {
        step: u32,
        loss: f32,
        last_good: u32,
    },
    Checkpoint(Box<Checkpoint>),
    /// How long a step of the model of [`Command::Measure`] takes here, the median of some.
    Measured {
        id: u32,
        milliseconds_per_step: f32,
    },
    /// The engine can't go on (a panic, out of memory). The last thing it says.
    Failed {
        message: String,
    },
}

/// What the engine computes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceKind {
    Cpu,
    WebGpu,
}

/// The device an engine runs on and why it can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    pub kind: DeviceKind,
    /// For people, e.g. `CPU, 128-bit SIMD`.
    pub name: String,
    /// How far this device is from the CPU on a tiny model; `None` on the CPU itself.
    pub self_check: Option<SelfCheck>,
}

/// Largest differences from the CPU on one tiny GPT, each relative to the largest entry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfCheck {
    pub logits: f32,
    pub loss: f32,
    pub gradients: f32,
}

impl SelfCheck {
    /// The most a trusted device may differ by.
    pub const TOLERANCE: f32 = 1e-4;

    /// Whether every difference is within [`Self::TOLERANCE`]. NaN is not.
    pub fn passes(&self) -> bool {
        [self.logits, self.loss, self.gradients].iter().all(|d| *d <= Self::TOLERANCE)
    }
}

/// What was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub spec: ExperimentSpec,
    /// Parameters of the model as built.
    pub parameters: u64,
    /// Every token as text, by id; id 0 is the unknown character.
    pub vocabulary: Vec<String>,
    pub training_tokens: u64,
    pub held_out_tokens: u64,
    /// Things about the text worth knowing, as sentences.
    pub notes: Vec<String>,
    /// Steps already taken, when resumed.
    pub step: u32,
    /// Workers among which each step is divided.
    pub workers: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunState {
    Running,
    Paused,
}

/// One optimizer step as the curve shows it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Steps taken after this one (the first is 1).
    pub step: u32,
    /// Mean cross-entropy of the batch before the update, in nats per token.
    pub loss: f32,
    /// Mean cross-entropy on held-out text after the update, where it was measured.
    pub held_out: Option<f32>,
    /// Global gradient norm before clipping.
    pub gradient_norm: f32,
    /// Learning rate of the update.
    pub learning_rate: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub points: Vec<CurvePoint>,
    /// Training tokens per second of wall time, over the last second or so.
    pub tokens_per_second: f32,
    /// Median milliseconds of a step, likewise.
    pub milliseconds_per_step: f32,
}
