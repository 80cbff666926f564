//! One model for each encoding.

use burn::tensor::{Device, Tensor};
use unroll_protocol::{
    Architecture, GptSpec, Initialization, Limits,
    architecture::{MaskKind, Positions},
    study::position::{CONTEXT, LONGEST, SYMBOLS, Spec},
};

use super::{
    super::{
        Refusal,
        learner::{Learner, steady},
        training::Training,
    },
    readable,
};
use crate::gpt::{Gpt, GptConfig};

/// The learning rate of all models.
const RATE: f32 = 5e-3;

/// By model, one number for each of the lengths that it can read.
pub type Accuracies = Vec<Tensor<1>>;

/// One model for each encoding that fits the width.
pub struct Models {
    /// In the order of [`Positions::ALL`]; a sentence if the width does not fit the encoding.
    kinds: Vec<(Positions, Result<(), String>)>,
    /// The models that could be built, in the same order.
    pub training: Training<Gpt, Accuracies>,
}

impl Models {
    /// Builds all of them from the same seed, so that what they have in common starts alike.
    pub fn new(spec: &Spec, device: &Device) -> Self {
        let (mut kinds, mut learners, mut measured) = (Vec::new(), Vec::new(), 0);
        for &positions in Positions::ALL {
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
            let valid = gpt.validate(&Limits::TAB).map_err(|error| error.to_string());
            if valid.is_ok() {
                let vocabulary = (SYMBOLS + LONGEST) as usize;
                let model = GptConfig {
                    spec: gpt,
                    vocabulary,
                    initialization: Initialization::Gpt2,
                    seed: spec.seed,
                }
                .init(device);
                learners.push(Learner::new(model, &steady(RATE)));
                measured += readable(positions).count();
            }
            kinds.push((positions, valid));
        }
        Self { kinds, training: Training::new(learners, RATE, measured) }
    }

    pub fn all(&self) -> impl Iterator<Item = (Positions, Result<&Learner<Gpt>, &str>)> {
        let mut learners = self.training.learners().iter();
        self.kinds.iter().map(move |(positions, valid)| {
            let learner = valid.as_ref().map_err(String::as_str);
            (*positions, learner.map(|()| learners.next().expect("a valid kind has a model")))
        })
    }

    /// The models that could be built.
    pub fn with_kinds(&self) -> impl Iterator<Item = (Positions, &Learner<Gpt>)> {
        self.all().filter_map(|(positions, learner)| Some((positions, learner.ok()?)))
    }

    pub fn kinds(&self) -> impl Iterator<Item = Positions> {
        self.with_kinds().map(|(positions, _)| positions)
    }

    pub fn refusals(&self) -> impl Iterator<Item = &str> {
        self.all().filter_map(|(_, learner)| learner.err())
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
}
