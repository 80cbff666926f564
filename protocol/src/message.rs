//! The two enums that make up all traffic between the page and an engine.

use serde::{Deserialize, Serialize};

use crate::{
    Ask, Checkpoint, ExperimentSpec, Limits, Packed, PoolReport, StudyProgress,
    study::heads::HeadAt,
};

/// From the page to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Builds a model for `text` that replaces the present one. Answered by [`Event::Started`], or
    /// by [`Event::Refused`], in which case the present experiment continues untouched. With a
    /// checkpoint, resumes from it. `workers` share each step, see
    /// [`pool::workers`](crate::pool::workers); the engine does the work of missing ones. With 0, an
    /// engine that has workers of its own decides.
    Start { spec: ExperimentSpec, text: String, resume: Option<Box<Checkpoint>>, workers: u32 },
    /// Builds a chapter's models, which replace the present model. Answered by
    /// [`Event::StudyStarted`], or by [`Event::Refused`], in which case nothing changed. With a packed
    /// [`StudyCheckpoint`](crate::StudyCheckpoint), they go on from there. The
    /// [`StudySpec`](crate::StudySpec) is packed: engines without studies leave out the code that reads one.
    StartStudy { spec: Packed, text: String, resume: Option<Packed> },
    /// Trains until told to stop.
    Run,
    /// Stops before the next update of the weights. A half-done step is dropped.
    Pause,
    /// Takes this many optimizer steps, then pauses.
    Steps(u32),
    /// Changes the peak learning rate from the next update on.
    SetLearningRate(f32),
    /// Asks something of the models as they are, or as they were at the recorded moment nearest to
    /// step `at` (see [`Event::Recorded`]); of the lab's model with the heads `off` switched off.
    /// Answered by [`Event::Answered`] with the same `id`. The [`Question`](crate::Question) is packed:
    /// the page compares and keeps questions as bytes.
    Ask { id: u32, question: Packed, at: Option<u32>, off: Vec<HeadAt> },
    /// Asks for an [`Event::Checkpoint`], or for an [`Event::StudyCheckpoint`].
    Save,
    /// Takes a few steps with a temporary model, whenever there is nothing else to do. Answered by
    /// [`Event::Measured`] with the same `id`.
    Measure { id: u32, spec: ExperimentSpec, text: String },
    /// Returns to the last state with a finite loss, after [`Event::Diverged`].
    RestoreLastGood,
    /// The helper of this number, counted from 1, is gone.
    HelperLost(u32),
    /// Takes steps until the model has taken this many, then pauses. Says the same twice as once.
    Until(u32),
    /// Moments of this model and of later ones may take up this many megabytes; see
    /// [`Recorded::BUDGET`]. What there is too much of goes at once: [`Event::Recorded`] says what is
    /// left. With 0, moments are kept only where training rests.
    Budget(u32),
    /// Puts an earlier state of the present run among its moments, as a file of that run has it. What
    /// its optimizer kept is not needed, and may be empty. Where there is no room for another, one goes.
    Recall(Box<Checkpoint>),
    /// Begins to build a model of another's making. Answered by [`Event::Filled`], after which the page
    /// sends [`Command::Weights`], or by [`Event::Refused`]. The present model stays until the last of
    /// them is there; then follows [`Event::Started`], and the model can be asked, but not trained.
    ///
    /// The [`GivenModel`](crate::GivenModel) is packed: engines that take over none leave out the code that
    /// reads one.
    Open(Packed),
    /// Some of the weights of the model that [`Command::Open`] began, as packed
    /// [`Weights`](crate::Weights). Answered by [`Event::Filled`], the last of them by [`Event::Started`].
    Weights(Packed),
    /// Hands out the recorded moment of exactly this step, as [`Command::Recall`] takes it back. Answered
    /// by [`Event::Moment`].
    Moment(u32),
}

/// The command that an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandKind {
    Start,
    StartStudy,
    Run,
    Pause,
    Steps,
    SetLearningRate,
    /// The id of the question.
    Ask(u32),
    Save,
    Measure,
    RestoreLastGood,
    HelperLost,
    Until,
    Budget,
    Recall,
    Open,
    Weights,
    Moment,
    /// Bytes that are not a command.
    Unreadable,
}

impl Command {
    /// Asks `question` of the models as they are.
    pub fn ask(id: u32, question: impl Ask) -> Self {
        Self::Ask { id, question: question.packed(), at: None, off: Vec::new() }
    }

    /// The kind of this command.
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
            Self::Until(_) => CommandKind::Until,
            Self::Budget(_) => CommandKind::Budget,
            Self::Recall(_) => CommandKind::Recall,
            Self::Open(_) => CommandKind::Open,
            Self::Weights(_) => CommandKind::Weights,
            Self::Moment(_) => CommandKind::Moment,
        }
    }
}

/// From the engine to the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The engine is ready. Sent once, before anything else; messages sent to it earlier are lost.
    Ready(DeviceReport),
    /// A [`Command::Start`] was carried out.
    Started(Started),
    /// A [`Command::StartStudy`] was carried out: a packed [`StudyStarted`](crate::StudyStarted).
    StudyStarted(Packed),
    /// The model is back at an earlier step: [`Command::RestoreLastGood`] was carried out.
    Restored(Started),
    /// A command was not carried out, and nothing changed. The sentence is for the page.
    Refused {
        command: CommandKind,
        reason: String,
    },
    /// Training started or stopped, at this step.
    State {
        state: RunState,
        step: u32,
    },
    /// What happened since the last event of this kind.
    Progress(Progress),
    /// The same for a chapter's models.
    StudyProgress(StudyProgress),
    /// Helpers joined, or were lost.
    Pool(PoolReport),
    /// The answer of the models to question `id` after `step` steps, encoded as the type that the
    /// question [asks](crate::Ask) for. `more` says that another answer will follow, as while text
    /// is being generated.
    Answered {
        id: u32,
        step: u32,
        answer: Packed,
        more: bool,
    },
    /// Which moments can be asked about now.
    Recorded(Recorded),
    /// The loss or gradient of step `step` was not a finite number, or the loss was far above that
    /// of a uniform guess, so that step was not taken and training stopped. `last_good` is the step
    /// to which [`Command::RestoreLastGood`] returns; a chapter's models have only their start, 0.
    Diverged {
        step: u32,
        loss: f32,
        last_good: u32,
    },
    Checkpoint(Box<Checkpoint>),
    /// The [`StudyCheckpoint`](crate::StudyCheckpoint) of a chapter's models, packed: the page only
    /// passes it on.
    StudyCheckpoint(Packed),
    /// Milliseconds of a step of the model of [`Command::Measure`] on this device, the median of
    /// several.
    Measured {
        id: u32,
        milliseconds_per_step: f32,
    },
    /// So many of the weights of the model that [`Command::Open`] began are there.
    Filled {
        values: u64,
    },
    /// The engine can't continue (a panic, out of memory). This is its last message.
    Failed {
        message: String,
    },
    /// An earlier state of the present run, without what its optimizer kept.
    Moment(Box<Checkpoint>),
}

/// The device an engine computes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceKind {
    Cpu,
    WebGpu,
    /// An engine outside the browser, see [`native`](crate::native).
    Native,
}

/// An engine's device, and why its results can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    pub kind: DeviceKind,
    /// A name for people, such as `CPU, 128-bit SIMD`.
    pub name: String,
    /// How much this device differs from the CPU on a tiny model; `None` on the CPU itself.
    pub self_check: Option<SelfCheck>,
}

/// Largest differences from the CPU on a tiny GPT, each relative to the largest entry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfCheck {
    pub logits: f32,
    pub loss: f32,
    pub gradients: f32,
}

impl SelfCheck {
    /// The largest difference of a trusted device.
    pub const TOLERANCE: f32 = 1e-4;

    /// Whether every difference is within [`Self::TOLERANCE`]. NaN is not.
    pub fn passes(&self) -> bool {
        [self.logits, self.loss, self.gradients].iter().all(|d| *d <= Self::TOLERANCE)
    }
}

/// The moments of a run that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Their steps, in order.
    pub steps: Vec<u32>,
    /// Bytes of weights that they take up.
    pub bytes: u64,
}

impl Recorded {
    /// Megabytes that moments may take up unless [`Command::Budget`] says otherwise. The first and
    /// the last are kept in any case, of a model that is too large for a tab only the last.
    pub const BUDGET: u32 = 64;
    /// More moments than this no bar can show apart.
    pub const MOST: u64 = 256;

    /// How many moments of a model with so many parameters fit into so many megabytes: two at least, or one
    /// of a model that is too large for a tab.
    pub fn most(megabytes: u32, parameters: u64) -> usize {
        let (all, one) = (1_000_000 * u64::from(megabytes), size_of::<f32>() as u64 * parameters);
        let least = if parameters > Limits::TAB.parameters { 1 } else { 2 };
        (all / one.max(1)).clamp(least, Self::MOST) as usize
    }

    /// Has moments, which are in order, become `most` by dropping one after the other whose neighbors are
    /// nearest to each other on a log scale. The first, the last and `asked`, the one on show, stay; where
    /// there is room for one alone, the first goes, too. Returns whether any was dropped.
    pub fn thin<T>(
        moments: &mut Vec<T>,
        step: impl Fn(&T) -> u32,
        most: usize,
        asked: Option<u32>,
    ) -> bool {
        let count = moments.len();
        if count <= most {
            return false;
        }
        if most == 1 {
            let last = step(&moments[count - 1]);
            moments.retain(|moment| step(moment) == last || Some(step(moment)) == asked);
            return moments.len() < count;
        }
        // Thousands of moments are not moved, nor their logarithms taken, each time that one goes.
        let place = |step: u32| (f64::from(step) + 1.0).ln();
        let steps = moments.iter().map(&step);
        let mut left: Vec<(u32, f64)> = steps.map(|step| (step, place(step))).collect();
        while left.len() > most {
            let gap = |at: &usize| left[at + 1].1 - left[at - 1].1;
            let inner = (1..left.len() - 1).filter(|at| Some(left[*at].0) != asked);
            let Some(spare) = inner.min_by(|a, b| gap(a).total_cmp(&gap(b))) else { break };
            left.remove(spare);
        }
        let mut left = left.into_iter().map(|(step, _)| step).peekable();
        moments.retain(|moment| left.next_if_eq(&step(moment)).is_some());
        moments.len() < count
    }

    /// The recorded step nearest to `step`; `None` where nothing is recorded.
    pub fn nearest(&self, step: u32) -> Option<u32> {
        self.steps.iter().copied().min_by_key(|recorded| recorded.abs_diff(step))
    }
}

/// What was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub spec: ExperimentSpec,
    /// Number of the model's parameters.
    pub parameters: u64,
    /// Every token as text, by id. Where tokens are characters, id 0 is the unknown one, and the others
    /// are in order of code points.
    pub vocabulary: Vec<String>,
    pub training_tokens: u64,
    pub held_out_tokens: u64,
    /// Characters of the text that these tokens hold.
    pub training_characters: u64,
    pub held_out_characters: u64,
    /// Remarks about the text, as sentences.
    pub notes: Vec<String>,
    /// Number of steps already taken, when resumed.
    pub step: u32,
    /// Number of workers that share each step.
    pub workers: u32,
    /// The file in which an engine outside the browser keeps the states of this model, which is too large for
    /// the page to be given them: [`Command::Save`] is refused. `None` for all other models.
    pub kept: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunState {
    Running,
    Paused,
}

/// One optimizer step as the curve shows it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Number of this step, counted from 1.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`Recorded::thin`] says it does, word for word.
    fn thinned(mut steps: Vec<u32>, most: usize, asked: Option<u32>) -> Vec<u32> {
        while steps.len() > most {
            let place = |at: usize| (f64::from(steps[at]) + 1.0).ln();
            let gap = |at: &usize| place(at + 1) - place(at - 1);
            let inner = (1..steps.len() - 1).filter(|at| Some(steps[*at]) != asked);
            let Some(spare) = inner.min_by(|a, b| gap(a).total_cmp(&gap(b))) else { break };
            steps.remove(spare);
        }
        steps
    }

    #[test]
    fn moments_are_thinned_as_one_by_one() {
        let spaced = |every: u32| (0..300).map(|at| at * every).collect::<Vec<u32>>();
        let uneven = (1..300_u32).scan(0, |step, at| {
            *step += at.wrapping_mul(2_654_435_761) % 97 + 1;
            Some(*step)
        });
        let steps = [spaced(1), spaced(10), uneven.collect(), vec![7, 8, 9], vec![7], vec![]];
        for steps in steps {
            for most in [2, 3, 50, 256] {
                for asked in [None, Some(8), Some(150)] {
                    let mut moments = steps.clone();
                    let is_thinner = Recorded::thin(&mut moments, |step| *step, most, asked);
                    assert_eq!(moments, thinned(steps.clone(), most, asked));
                    assert_eq!(is_thinner, moments.len() < steps.len());
                }
            }
        }
    }

    /// With logarithms for each comparison, and each moment moved, this takes a minute.
    #[test]
    fn many_large_moments_are_thinned() {
        let mut moments: Vec<(u32, [u8; 4096])> =
            (0..10_000).map(|step| (step, [0; 4096])).collect();
        assert!(Recorded::thin(&mut moments, |(step, _)| *step, 256, Some(9_990)));
        assert_eq!(moments.len(), 256);
        assert!([0, 9_990, 9_999].iter().all(|at| moments.iter().any(|(step, _)| step == at)));
    }
}
