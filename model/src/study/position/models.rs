//! One model for each encoding.

use burn::tensor::Device;
use unroll_protocol::{
    Architecture, GptSpec,
    architecture::{MaskKind, Positions},
    study::position::{CONTEXT, LONGEST, SYMBOLS, Spec},
};

use super::super::{
    Refusal,
    learner::{Gradients, Learner, steady},
};
use crate::gpt::{Gpt, GptConfig};

/// The learning rate of all models.
pub const RATE: f32 = 5e-3;

/// In the order of [`Positions::ALL`]; a sentence if the width does not fit the encoding.
#[derive(Clone)]
pub struct Models(Vec<(Positions, Result<Learner<Gpt>, String>)>);

impl Models {
    /// Builds all of them from the same seed, so that what they have in common starts alike.
    pub fn new(spec: &Spec, device: &Device) -> Self {
        let models = Positions::ALL.iter().map(|&positions| {
            let mask = if spec.causal { MaskKind::Causal } else { MaskKind::Full };
            let gpt = GptSpec {
                layers: spec.layers,
                heads: spec.heads(),
                width: spec.width,
                context: CONTEXT,
                dropout: 0.0,
                tied: false,
                architecture: Architecture { positions, mask, ..Architecture::GPT2 },
            };
            let vocabulary = (SYMBOLS + LONGEST) as usize;
            let learner = gpt.validate().map_err(|error| error.to_string()).map(|()| {
                let model = GptConfig { spec: gpt, vocabulary, seed: spec.seed }.init(device);
                Learner::new(model, &steady(RATE))
            });
            (positions, learner)
        });
        Self(models.collect())
    }

    pub fn all(&self) -> impl Iterator<Item = (Positions, Result<&Learner<Gpt>, &str>)> {
        self.0.iter().map(|(positions, learner)| {
            (*positions, learner.as_ref().map_err(|refusal| refusal.as_str()))
        })
    }

    /// The models that could be built.
    pub fn with_kinds(&self) -> impl Iterator<Item = (Positions, &Learner<Gpt>)> {
        self.all().filter_map(|(positions, learner)| Some((positions, learner.ok()?)))
    }

    pub fn learners(&self) -> impl Iterator<Item = &Learner<Gpt>> {
        self.with_kinds().map(|(_, learner)| learner)
    }

    pub fn kinds(&self) -> impl Iterator<Item = Positions> {
        self.with_kinds().map(|(positions, _)| positions)
    }

    pub fn refusals(&self) -> impl Iterator<Item = &str> {
        self.all().filter_map(|(_, learner)| learner.err())
    }

    pub fn parameters(&self) -> u64 {
        self.learners().map(Learner::parameters).sum()
    }

    /// The model with these positions.
    ///
    /// # Errors
    ///
    /// A sentence if the width does not fit the encoding.
    pub fn get(&self, positions: Positions) -> Result<&Gpt, Refusal> {
        let mut all = self.all();
        match all.find(|(kind, _)| *kind == positions) {
            Some((_, Ok(learner))) => Ok(&learner.model),
            Some((_, Err(refusal))) => Err(Refusal(refusal.to_owned())),
            None => Err(Refusal("There is no such encoding.".to_owned())),
        }
    }

    /// Takes a step, given one entry for each model that could be built.
    pub fn update(&mut self, gradients: Vec<Gradients>, rate: f64) {
        let learners = self.0.iter_mut().filter_map(|(_, learner)| learner.as_mut().ok());
        for (learner, gradients) in learners.zip(gradients) {
            learner.update(gradients, rate);
        }
    }
}
