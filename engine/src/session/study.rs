//! A chapter's models in training, as the session runs them.

use unroll_model::{AnyStudy, Refusal, StudySlice};
use unroll_protocol::{Answer, Question, StudyPoint, StudyStarted};

use super::experiment::Taken;

/// A study with what it measured since last told.
pub struct StudyRun {
    study: AnyStudy,
    points: Vec<StudyPoint>,
}

impl StudyRun {
    pub fn new(study: AnyStudy) -> Self {
        Self { study, points: Vec::new() }
    }

    /// What was built, for the page.
    pub fn started(&self) -> StudyStarted {
        self.study.started()
    }

    pub fn step(&self) -> u32 {
        self.study.step()
    }

    /// Points since last taken.
    pub fn take_points(&mut self) -> Vec<StudyPoint> {
        core::mem::take(&mut self.points)
    }

    pub fn set_learning_rate(&mut self, rate: f32) -> Result<(), String> {
        self.study.set_learning_rate(rate).map_err(said)
    }

    /// Drops a half-done step.
    pub fn discard(&mut self) {
        self.study.discard();
    }

    /// One slice of the next step.
    pub async fn advance(&mut self) -> Taken {
        match self.study.advance().await {
            StudySlice::More => Taken::Nothing,
            StudySlice::Step(values) => {
                self.points.push(StudyPoint { step: self.study.step(), values });
                Taken::Step
            }
            StudySlice::Diverged { loss } => {
                self.study.discard();
                Taken::Diverged { loss }
            }
        }
    }

    pub async fn ask(&mut self, question: &Question) -> Result<Answer, String> {
        self.study.ask(question).await.map_err(said)
    }
}

fn said(refusal: Refusal) -> String {
    refusal.to_string()
}
