//! A study's models as they outlive the page: saved with what their optimizers remember, and put back.

use core::slice;

use burn::{module::Module, tensor::Tensor};
use unroll_protocol::checkpoint::SavedParameter;

use super::Refusal;
use crate::{
    optimizer::{Moments, Optimizer},
    parameters::{Named, named_parameters},
    read::ReadError,
    training::checkpoint::{self, CheckpointError},
};

/// How names of running variances end: none of their numbers may be negative.
const VARIANCE: &str = ".variance";

/// What goes through all that a study's training goes on from, see [`Study::keep`](super::Study::keep).
pub struct Keeper<'a>(Doing<'a>);

enum Doing<'a> {
    Saving(Saving),
    /// Puts back what was saved, in the same order, of models after so many steps.
    Restoring(slice::Iter<'a, &'a SavedParameter>, u32),
}

/// Parameters by name; the optimizer's running means of those that have any.
#[derive(Default)]
pub(super) struct Saving(Vec<(Named, Option<Moments>)>);

impl Saving {
    /// What the study whose `keep` this is goes on from.
    pub(super) fn of(keep: impl FnOnce(&mut Keeper<'_>)) -> Self {
        let mut keeper = Keeper(Doing::Saving(Self::default()));
        keep(&mut keeper);
        match keeper.0 {
            Doing::Saving(saving) => saving,
            Doing::Restoring(..) => Self::default(),
        }
    }

    /// Reads all of it back. The future owns what it reads, so training may go on meanwhile.
    pub(super) async fn read(self) -> Result<Vec<SavedParameter>, ReadError> {
        checkpoint::read_saved(self.0).await
    }

    /// Puts `saved` back into the study whose `keep` this is, of which `self` was just made.
    ///
    /// # Errors
    ///
    /// A sentence, and nothing is changed, unless names, sizes and numbers are right.
    pub(super) fn restore(
        self,
        saved: &[SavedParameter],
        step: u32,
        keep: impl FnOnce(&mut Keeper<'_>),
    ) -> Result<(), Refusal> {
        let expected: Vec<Named> = self.0.into_iter().map(|(named, _)| named).collect();
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
        keep(&mut Keeper(Doing::Restoring(saved.iter(), step)));
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
        match &mut self.0 {
            Doing::Saving(saving) => {
                let moments = optimizer.moments().iter().cloned().map(Some);
                let named = parameters
                    .into_iter()
                    .map(|(path, shape, value)| (format!("{name}.{path}"), shape, value));
                saving.0.extend(named.zip(moments));
                None
            }
            Doing::Restoring(saved, step) => {
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
        match &mut self.0 {
            Doing::Saving(saving) => {
                saving.0.push(((name, tensor.dims().to_vec(), tensor.clone()), None));
            }
            Doing::Restoring(saved, _) => {
                if let Some(saved) = saved.next() {
                    *tensor = put(&saved.value.values, tensor);
                }
            }
        }
    }

    /// The number of steps taken, where the study counts them itself.
    pub(super) fn step(&mut self, step: &mut u32) {
        if let Doing::Restoring(_, restored) = &self.0 {
            *step = *restored;
        }
    }
}

/// These values in place of those of `like`; zeros where there are none.
fn put(values: &[f32], like: &Tensor<1>) -> Tensor<1> {
    if values.is_empty() { like.zeros_like() } else { Tensor::from_data(values, &like.device()) }
}
