//! What an engine is training: the GPT lab's model or a chapter's models.

use unroll_model::Given;
use unroll_protocol::{
    Event, ExperimentSpec, Progress, Recorded, Started, StudyProgress, Tokens, gpt::Settings,
};

use super::{
    answer::LastRead,
    experiment::{Experiment, Taken},
    study::{Studies, StudyRun},
};
use crate::{meter::Meter, pool::Pool};

/// What is being trained.
pub enum Present<S: Studies> {
    /// The GPT lab's model, where the engine has the lab.
    Gpt(Box<Experiment>, S::Lab),
    /// A model of another's making in the lab: it is asked, and not trained.
    Given(Box<Given>, LastRead, S::Given),
    /// A chapter's models.
    Study(Box<StudyRun<S>>),
}

/// A report of a given model, for the page.
pub fn started(given: &Given) -> Started {
    let tokens = Tokens::Given;
    let parameters = given.spec.parameter_count(given.tokenizer.len());
    Started {
        spec: ExperimentSpec { gpt: given.spec, tokens, ..Settings::default().spec(0) },
        parameters,
        vocabulary: given.tokenizer.vocabulary(),
        training_tokens: 0,
        held_out_tokens: 0,
        training_characters: 0,
        held_out_characters: 0,
        notes: Vec::new(),
        step: 0,
        workers: 1,
        kept: None,
    }
}

impl<S: Studies> Present<S> {
    pub fn step(&self) -> u32 {
        match self {
            Self::Gpt(experiment, _) => experiment.trainer().step(),
            Self::Given(..) => 0,
            Self::Study(study) => study.step(),
        }
    }

    pub fn is_evaluating(&self) -> bool {
        match self {
            Self::Gpt(experiment, _) => experiment.is_evaluating(),
            Self::Given(..) | Self::Study(_) => false,
        }
    }

    pub async fn advance(&mut self, pool: &mut Pool, together: u32) -> Taken {
        match self {
            Self::Gpt(experiment, _) => experiment.advance(pool, together).await,
            Self::Given(..) => Taken::Nothing,
            Self::Study(study) => study.advance().await,
        }
    }

    pub async fn settle(&mut self) -> Taken {
        match self {
            Self::Gpt(experiment, _) => experiment.settle().await,
            Self::Given(..) | Self::Study(_) => Taken::Nothing,
        }
    }

    pub fn reads_wait(&self) -> bool {
        match self {
            Self::Gpt(experiment, _) => experiment.trainer().reads_wait(),
            Self::Given(..) | Self::Study(_) => false,
        }
    }

    pub fn discard(&mut self) {
        match self {
            Self::Gpt(experiment, _) => experiment.discard(),
            Self::Given(..) => {}
            Self::Study(study) => study.discard(),
        }
    }

    pub fn set_learning_rate(&mut self, rate: f32) -> Result<(), String> {
        match self {
            Self::Gpt(experiment, _) => experiment.set_learning_rate(rate),
            Self::Given(..) => Ok(()),
            Self::Study(study) => study.set_learning_rate(rate),
        }
    }

    pub fn last_good_step(&self) -> u32 {
        match self {
            Self::Gpt(experiment, _) => experiment.last_good_step(),
            Self::Given(..) | Self::Study(_) => 0,
        }
    }

    /// Keeps the moment, to be asked about later.
    pub fn record(&mut self) {
        match self {
            Self::Gpt(experiment, _) => experiment.record(),
            Self::Given(..) => {}
            Self::Study(study) => study.record(),
        }
    }

    /// Has moments take up this many megabytes at most.
    pub fn set_budget(&mut self, megabytes: u32) {
        match self {
            Self::Gpt(experiment, _) => experiment.set_budget(megabytes),
            Self::Given(..) => {}
            Self::Study(study) => study.set_budget(megabytes),
        }
    }

    /// Which moments can be asked about, if that is not as it was when it was last asked for.
    pub fn recorded(&mut self) -> Option<Event> {
        let (steps, bytes) = match self {
            Self::Gpt(experiment, _) => experiment.report()?,
            Self::Given(..) => return None,
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
            Self::Given(..) => None,
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
