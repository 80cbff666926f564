//! A model in training with its optimizer. Every chapter has at least one.

use burn::{module::Module, tensor::Tensor};
use unroll_protocol::{OptimizerKind, OptimizerSpec};

use super::{Keeper, Refusal, StudySlice};
use crate::{
    optimizer::{Optimizer, global_norm},
    parameters::{GradientSum, Named, named_parameters, parameter_count},
    read::read_all,
};

/// AdamW with a constant learning rate and without weight decay: a chapter's models are too small
/// and train too briefly to need a schedule or decay.
pub(super) const fn steady(learning_rate: f32) -> OptimizerSpec {
    OptimizerSpec {
        kind: OptimizerKind::AdamW,
        learning_rate,
        warmup_steps: 0,
        decay_steps: 0,
        weight_decay: 0.0,
        beta1: 0.9,
        beta2: 0.99,
        epsilon: 1e-8,
        clip_norm: 1.0,
    }
}

/// Checks a learning rate and converts it for the optimizer.
///
/// # Errors
///
/// Refuses anything but a finite number above 0.
pub(super) fn usable_rate(rate: f32) -> Result<f64, Refusal> {
    if rate.is_finite() && rate > 0.0 {
        Ok(f64::from(rate))
    } else {
        Err(Refusal(format!("{rate} is not a usable learning rate: choose one above 0.")))
    }
}

/// A model and its optimizer. Cheap to clone: tensors are shared until an update replaces them.
#[derive(Clone)]
pub(super) struct Learner<M> {
    pub(super) model: M,
    optimizer: Optimizer,
}

/// Loss and gradients of one batch.
pub(super) struct Gradients {
    /// The loss without autodiff, `[1]`.
    pub(super) loss: Tensor<1>,
    /// Global norm before clipping, `[1]`.
    pub(super) norm: Tensor<1>,
    gradients: Vec<Tensor<1>>,
}

impl Gradients {
    /// The gradients of `loss` with respect to the parameters of `tracked`, which must come from
    /// [`Learner::tracked`].
    pub(super) fn of(tracked: &impl Module, loss: Tensor<1>) -> Self {
        let mut sum = GradientSum::default();
        sum.add(tracked, &mut loss.backward());
        let gradients = sum.finish();
        Self { loss: loss.inner(), norm: global_norm(&gradients), gradients }
    }

    /// The losses of `all`, in one read-back.
    ///
    /// # Errors
    ///
    /// If a loss or a norm is not finite, or the device can't be read from, returns the slice that
    /// reports it. No model may be updated then.
    pub(super) async fn losses(all: &[Self]) -> Result<Vec<f32>, StudySlice> {
        let read = all.iter().flat_map(|one| [one.loss.clone(), one.norm.clone()]);
        let read = match read_all(read).await {
            Ok(read) => read.concat(),
            Err(_) => vec![f32::NAN],
        };
        match read.iter().find(|value| !value.is_finite()) {
            Some(&loss) => Err(StudySlice::Diverged { loss }),
            None => Ok(read.into_iter().step_by(2).collect()),
        }
    }
}

impl<M: Module> Learner<M> {
    /// `model` before its first step.
    pub(super) fn new(model: M, optimizer: &OptimizerSpec) -> Self {
        Self { optimizer: Optimizer::new(optimizer, &model), model }
    }

    /// What answers need of it: it can't train.
    pub(super) fn held(&self) -> Self {
        Self { model: self.model.clone(), optimizer: self.optimizer.spent() }
    }

    /// [`held`](Self::held), of each.
    pub(super) fn all_held(learners: &[Self]) -> Vec<Self> {
        learners.iter().map(Self::held).collect()
    }

    /// See [`Study::keep`](super::Study::keep). `name` is what the model is called in files.
    pub(super) fn keep(&mut self, name: &str, keeper: &mut Keeper<'_>) {
        keeper.model(name, &mut self.model, &mut self.optimizer);
    }

    /// Number of optimizer steps taken.
    pub(super) fn steps(&self) -> u32 {
        self.optimizer.steps()
    }

    /// The parameters of one of several models; none if there are not so many.
    pub(super) fn parameters_of(learners: &[Self], index: usize) -> Vec<Named> {
        learners.get(index).map_or_else(Vec::new, |learner| named_parameters(&learner.model))
    }

    /// Number of trained parameters.
    pub(super) fn parameters(&self) -> u64 {
        parameter_count(&self.model)
    }

    /// The model with autodiff, for the loss of one batch.
    pub(super) fn tracked(&self) -> M {
        self.model.clone().train()
    }

    /// Takes one step.
    pub(super) fn update(&mut self, gradients: Gradients, rate: f64) {
        let Gradients { norm, gradients, .. } = gradients;
        self.model = self.optimizer.update(self.model.clone(), gradients, &norm, rate);
    }
}
