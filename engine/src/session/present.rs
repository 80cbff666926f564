//! What an engine is training: the GPT lab's model or a chapter's models.

use unroll_protocol::{Event, Progress, Recorded, StudyProgress};

use super::{
    experiment::{Experiment, Taken},
    study::{Studies, StudyRun},
};
use crate::{meter::Meter, pool::Pool};

/// What is being trained.
pub enum Present<S: Studies> {
    /// The GPT lab's model, where the engine has the lab.
    Gpt(Box<Experiment>, S::Lab),
    /// A chapter's models.
    Study(Box<StudyRun<S>>),
}

impl<S: Studies> Present<S> {
    pub fn step(&self) -> u32 {
        match self {
            Self::Gpt(experiment, _) => experiment.trainer().step(),
            Self::Study(study) => study.step(),
        }
    }

    pub fn is_evaluating(&self) -> bool {
        match self {
            Self::Gpt(experiment, _) => experiment.is_evaluating(),
            Self::Study(_) => false,
        }
    }

    pub async fn advance(&mut self, pool: &mut Pool, together: u32) -> Taken {
        match self {
            Self::Gpt(experiment, _) => experiment.advance(pool, together).await,
            Self::Study(study) => study.advance().await,
        }
    }

    pub async fn settle(&mut self) -> Taken {
        match self {
            Self::Gpt(experiment, _) => experiment.settle().await,
            Self::Study(_) => Taken::Nothing,
        }
    }

    pub fn reads_wait(&self) -> bool {
        match self {
            Self::Gpt(experiment, _) => experiment.trainer().reads_wait(),
            Self::Study(_) => false,
        }
    }

    pub fn discard(&mut self) {
        match self {
            Self::Gpt(experiment, _) => experiment.discard(),
            Self::Study(study) => study.discard(),
        }
    }

    pub fn set_learning_rate(&mut self, rate: f32) -> Result<(), String> {
        match self {
            Self::Gpt(experiment, _) => experiment.set_learning_rate(rate),
            Self::Study(study) => study.set_learning_rate(rate),
        }
    }

    pub fn last_good_step(&self) -> u32 {
        match self {
            Self::Gpt(experiment, _) => experiment.last_good_step(),
            Self::Study(_) => 0,
        }
    }

    /// Keeps the moment, to be asked about later.
    pub fn record(&mut self) {
        match self {
            Self::Gpt(experiment, _) => experiment.record(),
            Self::Study(study) => study.record(),
        }
    }

    /// Has moments take up this many megabytes at most.
    pub fn set_budget(&mut self, megabytes: u32) {
        match self {
            Self::Gpt(experiment, _) => experiment.set_budget(megabytes),
            Self::Study(study) => study.set_budget(megabytes),
        }
    }

    /// Which moments can be asked about, if that is not as it was when it was last asked for.
    pub fn recorded(&mut self) -> Option<Event> {
        let (steps, bytes) = match self {
            Self::Gpt(experiment, _) => experiment.report()?,
            Self::Study(study) => study.report()?,
        };
        Some(Event::Recorded(Recorded { steps, bytes }))
    }

    /// What happened since the last report, if anything.
    pub fn progress(&mut self, meter: &Meter) -> Option<Event> {
        let milliseconds_per_step = meter.milliseconds_per_step();
        match self {
            Self::Gpt(experiment, _) => {
                let points = experiment.take_points();
                let tokens = experiment.trainer().tokens_per_step();
                let tokens_per_second = meter.tokens_per_second(tokens);
                (!points.is_empty()).then_some(Event::Progress(Progress {
                    points,
                    tokens_per_second,
                    milliseconds_per_step,
                }))
            }
            Self::Study(study) => {
                let points = study.take_points();
                (!points.is_empty()).then_some(Event::StudyProgress(StudyProgress {
                    points,
                    milliseconds_per_step,
                }))
            }
        }
    }
}
