//! `empty`: numbers that training brings to 0.

use burn::tensor::Device;
use unroll_protocol::{
    Ask, Packed,
    study::empty::{Question, Spec},
};

use super::{Built, Holder, Keeper, Refusal, StudySlice};
use crate::Named;

pub struct Study {
    numbers: Vec<f32>,
    steps: u32,
    rate: f32,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, _text: &str, _device: &Device) -> Result<Self, Refusal> {
        Ok(Self { numbers: vec![1.0; spec.size as usize], steps: 0, rate: 0.1 })
    }

    fn built(&self) -> Built {
        let series = vec!["loss".to_owned()];
        Built { parameters: self.numbers.len() as u64, series, ..Built::default() }
    }

    fn step(&self) -> u32 {
        self.steps
    }

    async fn advance(&mut self) -> StudySlice {
        let loss = self.numbers.iter().map(|number| number * number).sum();
        self.numbers.iter_mut().for_each(|number| *number -= 2.0 * self.rate * *number);
        self.steps += 1;
        StudySlice::Step(vec![Some(loss)])
    }

    fn discard(&mut self) {}

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.rate = rate;
        Ok(())
    }

    fn named_parameters(&self, _model: usize) -> Vec<Named> {
        Vec::new()
    }

    fn hold(&mut self, holder: &mut Holder<'_>) {
        holder.value(&mut self.numbers);
        holder.value(&mut self.steps);
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        keeper.step(&mut self.steps);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        let Question::Numbers(question) = question;
        Ok(question.answered(&self.numbers))
    }
}
