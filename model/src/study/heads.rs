//! `heads`.

use burn::tensor::Device;
use unroll_protocol::study::heads::{Answer, Question, Spec};

use super::{Built, Refusal, StudySlice};

/// See the module.
pub struct Study {
    step: u32,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;
    type Answer = Answer;

    fn new(_spec: &Spec, _text: &str, _device: &Device) -> Result<Self, Refusal> {
        Ok(Self { step: 0 })
    }

    fn built(&self) -> Built {
        Built { series: vec!["loss".to_owned()], ..Built::default() }
    }

    fn step(&self) -> u32 {
        self.step
    }

    async fn advance(&mut self) -> StudySlice {
        self.step += 1;
        StudySlice::Step(vec![None])
    }

    fn discard(&mut self) {}

    fn set_learning_rate(&mut self, _rate: f32) -> Result<(), Refusal> {
        Ok(())
    }

    async fn ask(&mut self, _question: &Question) -> Result<Answer, Refusal> {
        Ok(Answer::Nothing)
    }
}
