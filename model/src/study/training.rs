//! The models of a study in training: the parts of a step that most chapters share.
//!
//! A step is a series of slices. The first ones compute the gradients of every model on its batch.
//! The last of them updates all models at once, so that a step dropped before changes nothing. If
//! the step is to be measured, further slices measure the new models; a step dropped then restores
//! the models from before it.

use burn::module::Module;

use super::{
    Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner, usable_rate},
};
use crate::Named;

/// Models that train on the same steps. `P` holds what was measured of a step so far.
pub(super) struct Training<M, P = ()> {
    learners: Vec<Learner<M>>,
    rate: f64,
    /// Number of values measured of a step, besides the losses.
    measured: usize,
    /// The gradients of the models whose batch is computed.
    gradients: Vec<Gradients>,
    pending: Option<Pending<M, P>>,
}

/// A step whose models are updated, and which is yet to be measured.
pub(super) struct Pending<M, P> {
    losses: Vec<f32>,
    /// The models before the step, in case it is dropped.
    before: Vec<Learner<M>>,
    /// What was measured so far.
    pub(super) measured: P,
}

impl<M, P> Pending<M, P> {
    /// The step with its measured values: its last slice.
    pub(super) fn done(self, values: impl IntoIterator<Item = Option<f32>>) -> StudySlice {
        StudySlice::Step(self.losses.into_iter().map(Some).chain(values).collect())
    }
}

/// Whether the step after `step` steps is measured: the first one, and every `every` steps.
pub(super) fn is_measured(step: u32, every: u32) -> bool {
    step == 0 || (step + 1).is_multiple_of(every)
}

impl<M: Module, P: Default> Training<M, P> {
    /// `learners` before their first step, with the learning rate `rate`. A measured step has
    /// `measured` values besides the losses.
    pub(super) fn new(learners: Vec<Learner<M>>, rate: f32, measured: usize) -> Self {
        Self { learners, rate: f64::from(rate), measured, gradients: Vec::new(), pending: None }
    }

    /// Number of steps taken; one that is yet to be measured does not count.
    pub(super) fn step(&self) -> u32 {
        self.learners[0].steps() - u32::from(self.pending.is_some())
    }

    /// The models after [`step`](Self::step) steps: those before a step that is yet to be measured,
    /// those after it once it is [taken out](Self::take_pending).
    pub(super) fn learners(&self) -> &[Learner<M>] {
        self.pending.as_ref().map_or(&self.learners, |pending| &pending.before)
    }

    /// Model `index` of [these](Self::learners).
    pub(super) fn model(&self, index: usize) -> &M {
        &self.learners()[index].model
    }

    /// The parameters of model `index`; none if there are not so many.
    pub(super) fn parameters_of(&self, index: usize) -> Vec<Named> {
        Learner::parameters_of(self.learners(), index)
    }

    /// Number of trained parameters of all models.
    pub(super) fn parameters(&self) -> u64 {
        self.learners.iter().map(Learner::parameters).sum()
    }

    /// Index of the model whose gradients are to be computed next.
    pub(super) fn next(&self) -> usize {
        self.gradients.len()
    }

    /// The [next](Self::next) model with autodiff.
    pub(super) fn tracked(&self) -> M {
        self.learners[self.next()].tracked()
    }

    /// Takes the gradients of the [next](Self::next) models. With those of the last model, updates
    /// all models; the step is then done, or pending if it is to be measured.
    pub(super) async fn advance(
        &mut self,
        gradients: impl IntoIterator<Item = Gradients>,
        is_measured: bool,
    ) -> StudySlice {
        self.advance_at(gradients, is_measured, 1.0).await
    }

    /// [`advance`](Self::advance) with a multiple of the learning rate.
    pub(super) async fn advance_at(
        &mut self,
        gradients: impl IntoIterator<Item = Gradients>,
        is_measured: bool,
        factor: f64,
    ) -> StudySlice {
        self.gradients.extend(gradients);
        if self.gradients.len() < self.learners.len() {
            return StudySlice::More;
        }
        let gradients = core::mem::take(&mut self.gradients);
        let losses = match Gradients::losses(&gradients).await {
            Ok(losses) => losses,
            Err(diverged) => return diverged,
        };
        let before = is_measured.then(|| self.learners.clone());
        for (learner, gradients) in self.learners.iter_mut().zip(gradients) {
            learner.update(gradients, self.rate * factor);
        }
        if let Some(before) = before {
            return self.wait(Pending { losses, before, measured: P::default() });
        }
        let unmeasured = core::iter::repeat_n(None, self.measured);
        StudySlice::Step(losses.into_iter().map(Some).chain(unmeasured).collect())
    }

    /// Takes out the step that is to be measured, which then counts as taken: either it is
    /// [done](Pending::done) in this slice, or it has to [wait](Self::wait) for the next.
    pub(super) fn take_pending(&mut self) -> Option<Pending<M, P>> {
        self.pending.take()
    }

    /// Leaves the rest of a step's measurement to the next slice.
    pub(super) fn wait(&mut self, pending: Pending<M, P>) -> StudySlice {
        self.pending = Some(pending);
        StudySlice::More
    }

    /// Drops a half-done step: see [`Study::discard`](super::Study::discard).
    pub(super) fn discard(&mut self) {
        self.gradients.clear();
        if let Some(pending) = self.pending.take() {
            self.learners = pending.before;
        }
    }

    /// See [`Study::hold`](super::Study::hold).
    pub(super) fn hold(&mut self, holder: &mut Holder<'_>)
    where
        M: 'static,
        P: 'static,
    {
        let Self { learners, gradients, pending, .. } = self;
        let before = pending.as_ref().map(|pending| &pending.before);
        holder.hold(learners, |learners| Learner::all_held(before.unwrap_or(learners)));
        holder.hold(gradients, |_| Vec::new());
        holder.hold(pending, |_| None);
    }

    /// See [`Study::keep`](super::Study::keep). The models are called these names in files.
    pub(super) fn keep(
        &mut self,
        names: impl IntoIterator<Item = impl AsRef<str>>,
        keeper: &mut Keeper<'_>,
    ) {
        let Self { learners, pending, .. } = self;
        let learners = pending.as_mut().map_or(learners, |pending| &mut pending.before);
        for (learner, name) in learners.iter_mut().zip(names) {
            learner.keep(name.as_ref(), keeper);
        }
    }

    /// Changes the learning rate: see
    /// [`Study::set_learning_rate`](super::Study::set_learning_rate).
    pub(super) fn set_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.rate = usable_rate(rate)?;
        Ok(())
    }
}
