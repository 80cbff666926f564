//! Training states that outlive the page.

use core::fmt;

use burn::tensor::{Device, Tensor, TensorData};
use unroll_protocol::{Array, Checkpoint, Limits, checkpoint::SavedParameter};

use super::{BuildError, Trainer};
use crate::{
    Gpt,
    optimizer::{Moments, with_values},
    parameters::{Named, named_parameters},
    read::{ReadError, read_all},
    tokenizer::{Tokenizer, VocabularyError},
};

/// Why training can't be resumed from a checkpoint. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckpointError {
    Build(BuildError),
    Vocabulary(VocabularyError),
    Parameters { expected: usize, found: usize },
    Name { expected: String, found: String },
    Shape { name: String },
    NotFinite { name: String },
    OtherRun,
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Vocabulary(error) => error.fmt(f),
            Self::Parameters { expected, found } => {
                write!(f, "It holds {found} tensors, but its model needs {expected}.")
            }
            Self::Name { expected, found } => {
                write!(f, "It holds the tensor “{found}” where “{expected}” belongs.")
            }
            Self::Shape { name } => write!(f, "Its tensor “{name}” has the wrong size."),
            Self::NotFinite { name } => {
                write!(f, "Its tensor “{name}” holds something that is not a usable number.")
            }
            Self::OtherRun => write!(f, "It is from another run."),
        }
    }
}

impl std::error::Error for CheckpointError {}

impl Trainer {
    /// The state after the last whole step, complete enough to resume exactly.
    ///
    /// The future owns what it reads, so training may continue meanwhile.
    pub fn checkpoint(&self) -> impl Future<Output = Result<Checkpoint, ReadError>> + use<> {
        let moments = self.optimizer.moments().iter().cloned().map(Some);
        self.saved(self.step(), named_parameters(&self.model()).into_iter().zip(moments).collect())
    }

    /// An earlier state of this run's model, after so many steps. The optimizer's running means of that
    /// time are gone, so they are empty.
    ///
    /// The future owns what it reads, so training may continue meanwhile.
    pub fn checkpoint_of(
        &self,
        step: u32,
        model: &Gpt,
    ) -> impl Future<Output = Result<Checkpoint, ReadError>> + use<> {
        self.saved(step, named_parameters(model).into_iter().map(|named| (named, None)).collect())
    }

    fn saved(
        &self,
        step: u32,
        parameters: Vec<(Named, Option<Moments>)>,
    ) -> impl Future<Output = Result<Checkpoint, ReadError>> + use<> {
        let spec = *self.spec();
        let vocabulary = self.tokenizer().characters().to_vec();
        let merges = self.tokenizer().merges().as_flattened().to_vec();
        async move {
            let parameters = read_saved(parameters).await?;
            Ok(Checkpoint { spec, step, vocabulary, merges, parameters })
        }
    }

    /// Resumes from a checkpoint with `text`, on a device without autodiff. Characters of the text
    /// that are not in the checkpoint's vocabulary are unknown. The model is one that a tab can train.
    pub fn from_checkpoint(
        checkpoint: &Checkpoint,
        text: &str,
        device: &Device,
    ) -> Result<Self, CheckpointError> {
        Self::from_checkpoint_within(&Limits::TAB, checkpoint, text, device)
    }

    /// The same within other limits.
    pub fn from_checkpoint_within(
        limits: &Limits,
        checkpoint: &Checkpoint,
        text: &str,
        device: &Device,
    ) -> Result<Self, CheckpointError> {
        let spec = &checkpoint.spec;
        spec.validate(limits).map_err(|error| CheckpointError::Build(error.into()))?;
        let known = checkpoint.vocabulary.clone();
        let tokenizer = Tokenizer::restore(spec.tokens, known, &checkpoint.merges)
            .map_err(CheckpointError::Vocabulary)?;
        let mut trainer =
            Self::build(limits, spec, tokenizer, text, device).map_err(CheckpointError::Build)?;
        let model = trainer.model.take().expect("the trainer was just built");
        let moments = |saved: &SavedParameter| {
            let size = saved.value.values.len();
            saved.first_moment.len() == size && saved.second_moment.len() == size
        };
        let all: Vec<_> = checkpoint.parameters.iter().collect();
        check(&named_parameters(&model), &all)?;
        if let Some(saved) = all.into_iter().find(|saved| !moments(saved)) {
            return Err(CheckpointError::Shape { name: saved.name.clone() });
        }

        let device = trainer.device().clone();
        let saved = || checkpoint.parameters.iter();
        let moments = saved().map(|saved| Moments {
            first: flat(&saved.first_moment, &device),
            second: flat(&saved.second_moment, &device),
        });
        let values = saved().map(|saved| flat(&saved.value.values, &device)).collect();
        let model = trainer.optimizer.put_back(model, values, moments.collect(), checkpoint.step);
        trainer.model = Some(model);
        Ok(trainer)
    }

    /// The model of another checkpoint of this run, which goes on as it is.
    pub fn model_of(&self, checkpoint: &Checkpoint) -> Result<Gpt, CheckpointError> {
        // The learning rate may be changed at any time.
        let mut spec = checkpoint.spec;
        spec.optimizer.learning_rate = self.spec().optimizer.learning_rate;
        let tokenizer = self.tokenizer();
        if spec != *self.spec()
            || checkpoint.vocabulary != tokenizer.characters()
            || checkpoint.merges != tokenizer.merges().as_flattened()
        {
            return Err(CheckpointError::OtherRun);
        }
        let (model, device) = (self.model(), self.device());
        check(&named_parameters(&model), &checkpoint.parameters.iter().collect::<Vec<_>>())?;
        let values = checkpoint.parameters.iter().map(|saved| flat(&saved.value.values, device));
        Ok(with_values(model, values.collect()))
    }
}

/// Reads parameters back, with the optimizer's running means of those that have any.
pub(crate) async fn read_saved(
    parameters: Vec<(Named, Option<Moments>)>,
) -> Result<Vec<SavedParameter>, ReadError> {
    let tensors = parameters.iter().flat_map(|((_, _, value), moments)| {
        let moments = moments.iter().flat_map(|m| [m.first.clone(), m.second.clone()]);
        [value.clone()].into_iter().chain(moments)
    });
    let mut read = read_all(tensors.collect::<Vec<_>>()).await?.into_iter();
    let mut next = || read.next().unwrap_or_default();
    let saved = parameters.into_iter().map(|((name, shape, _), moments)| {
        let shape = shape.into_iter().map(|size| size as u32).collect();
        let value = Array { shape, values: next() };
        let [first_moment, second_moment] =
            [(); 2].map(|()| if moments.is_some() { next() } else { Vec::new() });
        SavedParameter { name, value, first_moment, second_moment }
    });
    Ok(saved.collect())
}

/// A tensor of these values.
fn flat(values: &[f32], device: &Device) -> Tensor<1> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), device)
}

/// Checks that every parameter is present and holds usable numbers. The optimizer's running means of
/// one may be missing.
pub(crate) fn check(expected: &[Named], saved: &[&SavedParameter]) -> Result<(), CheckpointError> {
    if expected.len() != saved.len() {
        let (expected, found) = (expected.len(), saved.len());
        return Err(CheckpointError::Parameters { expected, found });
    }
    for ((name, shape, _), saved) in expected.iter().zip(saved) {
        let name = name.clone();
        if name != saved.name {
            return Err(CheckpointError::Name { expected: name, found: saved.name.clone() });
        }
        let size: usize = shape.iter().product();
        let same_shape =
            saved.value.shape.iter().map(|&size| size as usize).eq(shape.iter().copied());
        let moments = [&saved.first_moment, &saved.second_moment];
        let fits = |moment: &Vec<f32>| moment.len() == size || moment.is_empty();
        if !same_shape || saved.value.values.len() != size || !moments.into_iter().all(fits) {
            return Err(CheckpointError::Shape { name });
        }
        let mut values = moments.into_iter().chain([&saved.value.values]);
        let finite = values.all(|values| values.iter().all(|value| value.is_finite()));
        // A negative mean of squares would produce a NaN in the next step.
        if !finite || saved.second_moment.iter().any(|&value| value < 0.0) {
            return Err(CheckpointError::NotFinite { name });
        }
    }
    Ok(())
}
