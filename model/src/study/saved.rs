//! A study's models as they outlive the page: saved with what their optimizers remember, and put back.

use core::slice;

use burn::{module::Module, tensor::Tensor};
use serde::{Serialize, de::DeserializeOwned};
use unroll_protocol::{Array, Packed, checkpoint::SavedParameter};

use super::Refusal;
use crate::{
    optimizer::{Moments, Optimizer},
    parameters::{Named, named_parameters},
    read::{ReadError, read_all},
    training::checkpoint::{self, CheckpointError},
};

/// How names of running variances end: none of their numbers may be negative.
const VARIANCE: &str = ".variance";

/// What goes through all that a study's training goes on from, see [`Study::keep`](super::Study::keep).
pub struct Keeper<'a> {
    doing: Doing<'a>,
    /// Of a moment, which histories are no part of: they go on from one to the next.
    is_past: bool,
}

enum Doing<'a> {
    Saving(Saving),
    /// Puts back what was saved and measured, in the same order, of models after so many steps.
    Restoring(slice::Iter<'a, &'a SavedParameter>, slice::Iter<'a, Packed>, u32),
}

#[derive(Default)]
pub(super) struct Saving {
    /// By name; the optimizer's running means of those that have any.
    parameters: Vec<(Named, Option<Moments>)>,
    measured: Vec<Packed>,
}

impl Saving {
    /// What the study whose `keep` this is goes on from; `is_past` while it is at a moment.
    pub(super) fn of(is_past: bool, keep: impl FnOnce(&mut Keeper<'_>)) -> Self {
        let mut keeper = Keeper { doing: Doing::Saving(Self::default()), is_past };
        keep(&mut keeper);
        match keeper.doing {
            Doing::Saving(saving) => saving,
            Doing::Restoring(..) => Self::default(),
        }
    }

    /// Reads all of it back. The future owns what it reads, so training may go on meanwhile.
    pub(super) async fn read(self) -> Result<(Vec<SavedParameter>, Vec<Packed>), ReadError> {
        Ok((checkpoint::read_saved(self.parameters).await?, self.measured))
    }

    /// As [`read`](Self::read), but of the parameters only their values, one after the other.
    pub(super) async fn read_values(self) -> Result<(Vec<f32>, Vec<Packed>), ReadError> {
        let tensors: Vec<_> = self.parameters.into_iter().map(|((.., value), _)| value).collect();
        Ok((read_all(tensors).await?.concat(), self.measured))
    }

    /// Puts `saved` back into the study whose `keep` this is, of which `self` was just made.
    ///
    /// # Errors
    ///
    /// A sentence, and nothing is changed, unless names, sizes and numbers are right.
    pub(super) fn restore(
        self,
        saved: &[SavedParameter],
        measured: &[Packed],
        step: u32,
        keep: impl FnOnce(&mut Keeper<'_>),
    ) -> Result<(), Refusal> {
        let expected: Vec<Named> = self.parameters.into_iter().map(|(named, _)| named).collect();
        // Programs that rewrite a file bring it into an order of their own.
        let place = |saved: &&SavedParameter| {
            expected.iter().position(|(name, ..)| *name == saved.name).unwrap_or(expected.len())
        };
        let mut saved: Vec<_> = saved.iter().collect();
        if let Some(foreign) = saved.iter().find(|saved| place(saved) == expected.len()) {
            return Err(Refusal(format!(
                "It holds a tensor “{}”, which these models do not have.",
                foreign.name
            )));
        }
        saved.sort_by_cached_key(place);
        checkpoint::check(&expected, &saved)?;
        let is_negative = |saved: &&&SavedParameter| {
            saved.name.ends_with(VARIANCE) && saved.value.values.iter().any(|value| *value < 0.0)
        };
        if let Some(saved) = saved.iter().find(is_negative) {
            return Err(CheckpointError::NotFinite { name: saved.name.clone() }.into());
        }
        let doing = Doing::Restoring(saved.iter(), measured.iter(), step);
        keep(&mut Keeper { doing, is_past: false });
        Ok(())
    }
}

impl Keeper<'_> {
    /// A model and its optimizer. `name` is what it is called in files.
    pub(super) fn model<M: Module>(
        &mut self,
        name: &str,
        model: &mut M,
        optimizer: &mut Optimizer,
    ) {
        let parameters = named_parameters(model);
        if let Some((values, moments, step)) = self.parameters(name, parameters, optimizer) {
            *model = optimizer.put_back(model.clone(), values, moments, step);
        }
    }

    /// What a model is to be put back to, with its optimizer; nothing while it is saved. Apart, since there
    /// are many kinds of models.
    fn parameters(
        &mut self,
        name: &str,
        parameters: Vec<Named>,
        optimizer: &Optimizer,
    ) -> Option<(Vec<Tensor<1>>, Vec<Moments>, u32)> {
        match &mut self.doing {
            Doing::Saving(saving) => {
                // A moment's models have no optimizer's means.
                let mut moments = optimizer.moments().iter().cloned();
                saving.parameters.extend(parameters.into_iter().map(|(path, shape, value)| {
                    ((format!("{name}.{path}"), shape, value), moments.next())
                }));
                None
            }
            Doing::Restoring(saved, _, step) => {
                let (mut values, mut moments) = (Vec::new(), Vec::new());
                for ((_, _, value), saved) in parameters.iter().zip(saved) {
                    let [first, second] = [&saved.first_moment, &saved.second_moment];
                    moments.push(Moments { first: put(first, value), second: put(second, value) });
                    values.push(put(&saved.value.values, value));
                }
                Some((values, moments, *step))
            }
        }
    }

    /// Numbers that no optimizer moves.
    pub(super) fn tensor(&mut self, name: String, tensor: &mut Tensor<1>) {
        match &mut self.doing {
            Doing::Saving(saving) => {
                saving.parameters.push(((name, tensor.dims().to_vec(), tensor.clone()), None));
            }
            Doing::Restoring(saved, ..) => {
                if let Some(saved) = saved.next() {
                    *tensor = put(&saved.value.values, tensor);
                }
            }
        }
    }

    /// What was measured of the models. Stays as it is where that was not saved.
    pub(super) fn measured<T: Serialize + DeserializeOwned>(&mut self, value: &mut T) {
        match &mut self.doing {
            Doing::Saving(saving) => saving.measured.push(Packed::of(value)),
            Doing::Restoring(_, measured, _) => {
                if let Some(Ok(saved)) = measured.next().map(Packed::unpack) {
                    *value = saved;
                }
            }
        }
    }

    /// What was measured at steps so far, with those steps.
    pub(super) fn history<T: Serialize + DeserializeOwned>(&mut self, value: &mut T) {
        match &mut self.doing {
            Doing::Saving(saving) if self.is_past => saving.measured.push(Packed::default()),
            _ => self.measured(value),
        }
    }

    /// The number of steps taken, where the study counts them itself.
    pub(super) fn step(&mut self, step: &mut u32) {
        if let Doing::Restoring(.., restored) = &self.doing {
            *step = *restored;
        }
    }
}

/// Parameters like these with the values that `all` has of them one after the other, and nothing that an
/// optimizer kept; `None` if `all` has more or fewer.
pub(super) fn with_values(like: &[SavedParameter], all: &[f32]) -> Option<Vec<SavedParameter>> {
    let mut rest = all;
    let one = |saved: &SavedParameter| {
        let (values, others) = rest.split_at_checked(saved.value.values.len())?;
        rest = others;
        let value = Array { shape: saved.value.shape.clone(), values: values.to_vec() };
        let (first_moment, second_moment) = (Vec::new(), Vec::new());
        Some(SavedParameter { name: saved.name.clone(), value, first_moment, second_moment })
    };
    let parameters = like.iter().map(one).collect::<Option<Vec<_>>>()?;
    rest.is_empty().then_some(parameters)
}

/// These values in place of those of `like`; zeros where there are none.
fn put(values: &[f32], like: &Tensor<1>) -> Tensor<1> {
    if values.is_empty() { like.zeros_like() } else { Tensor::from_data(values, &like.device()) }
}
