//! `norm`: three models, one for each experiment of the chapter.

mod deep;
mod deep_study;
mod offsets;
mod recurrent;
mod recurrent_study;
mod training;

use burn::tensor::{Device, Tensor};
use unroll_protocol::{
    Ask, OptimizerSpec, Packed,
    study::norm::{Models, Question, Spec},
};

use super::{Built, Holder, Keeper, Refusal, StudySlice, learner::usable_rate};
use crate::{
    CharTokenizer, Dataset, Named,
    read::{ReadError, read_all},
};

/// See the module.
pub struct Study {
    models: Kind,
}

#[allow(clippy::large_enum_variant, reason = "there is one for each engine")]
enum Kind {
    Layers(deep_study::Layers),
    Offsets(offsets::Offsets),
    Steps(recurrent_study::Steps),
}

/// The same call of what any of the experiments trains.
macro_rules! each {
    ($kind:expr, $training:ident => $call:expr) => {
        match $kind {
            Kind::Layers(deep_study::Layers { training: $training, .. }) => $call,
            Kind::Offsets($training) => $call,
            Kind::Steps(recurrent_study::Steps { training: $training, .. }) => $call,
        }
    };
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        let seed = spec.seed;
        let models = match spec.models {
            Models::Layers { activation, scale, batch } => {
                Kind::Layers(deep_study::Layers::new(seed, activation, scale, batch, text, device)?)
            }
            Models::Outside => Kind::Offsets(offsets::Offsets::new(seed, text, device)?),
            Models::Time => Kind::Steps(recurrent_study::Steps::new(seed, text, device)?),
        };
        Ok(Self { models })
    }

    fn built(&self) -> Built {
        match &self.models {
            Kind::Layers(models) => models.built(),
            Kind::Offsets(models) => models.built(),
            Kind::Steps(models) => models.built(),
        }
    }

    fn step(&self) -> u32 {
        each!(&self.models, training => training.step())
    }

    async fn advance(&mut self) -> StudySlice {
        match &mut self.models {
            Kind::Layers(models) => models.advance().await,
            Kind::Offsets(models) => models.advance().await,
            Kind::Steps(models) => models.advance().await,
        }
    }

    fn discard(&mut self) {
        each!(&mut self.models, training => training.discard());
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        usable_rate(rate)?;
        each!(&mut self.models, training => training.set_learning_rate(rate));
        Ok(())
    }

    fn named_parameters(&self, model: usize) -> Vec<Named> {
        each!(&self.models, training => training.named_parameters(model))
    }

    fn hold(&mut self, holder: &mut Holder<'_>) {
        each!(&mut self.models, training => training.hold(holder));
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        each!(&mut self.models, training => training.keep(keeper));
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        match (&self.models, question) {
            (Kind::Layers(models), Question::Layer(question)) => {
                Ok(question.answered(&models.layer(question).await?))
            }
            (Kind::Layers(models), Question::Depths(question)) => {
                Ok(question.answered(&models.depths().await?))
            }
            (Kind::Offsets(models), Question::Offsets(question)) => {
                Ok(question.answered(&models.answer().await?))
            }
            (Kind::Steps(models), Question::Steps(question)) => {
                Ok(question.answered(&models.answer(question.time).await?))
            }
            _ => Err(Refusal("The question is about another experiment.".to_owned())),
        }
    }
}

/// A text as the models of this chapter read it.
struct Corpus {
    tokenizer: CharTokenizer,
    data: Dataset,
}

impl Corpus {
    /// The text for models that read `context` characters.
    fn new(text: &str, context: usize) -> Result<Self, Refusal> {
        let tokenizer = CharTokenizer::from_text(text);
        let data = Dataset::new(tokenizer.encode(text), context)?;
        Ok(Self { tokenizer, data })
    }
}

/// No weight decay and hardly any clipping: only normalization should keep the numbers in range.
fn optimizer() -> OptimizerSpec {
    OptimizerSpec { weight_decay: 0.0, clip_norm: 5.0, beta2: 0.999, ..OptimizerSpec::default() }
}

/// Reads what was measured at a step: `None` if the device failed or something is not finite.
async fn measured(tensors: Vec<Tensor<1>>) -> Result<Vec<f32>, f32> {
    let read = read_all(tensors).await.unwrap_or_else(|_: ReadError| vec![vec![f32::NAN]]);
    let values: Vec<f32> = read.into_iter().flatten().collect();
    match values.iter().find(|value| !value.is_finite()) {
        Some(&bad) => Err(bad),
        None => Ok(values),
    }
}
