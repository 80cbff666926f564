//! AdamW (Loshchilov and Hutter 2019).

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::Tensor,
};
use unroll_protocol::OptimizerSpec;

use crate::{
    fused::{self, AdamStep},
    parameters::named_parameters,
};

/// Running means of one parameter's gradient and squared gradient, flat.
#[derive(Clone, Debug)]
pub struct Moments {
    pub first: Tensor<1>,
    pub second: Tensor<1>,
}

/// Adam with decoupled weight decay, step for step what PyTorch's `AdamW` does:
///
/// `θ ← θ (1 - η λ) - η / (1 - β1^t) · m / (sqrt(v / (1 - β2^t)) + ε)`
///
/// Matrices decay, vectors (biases, gains) do not. Every tensor is consumed by the operation that
/// replaces it, so that on a CPU each is overwritten in place.
#[derive(Clone, Debug)]
pub struct AdamW {
    spec: OptimizerSpec,
    steps: u32,
    moments: Vec<Moments>,
}

impl AdamW {
    /// An optimizer that has taken no step yet.
    pub fn new(spec: &OptimizerSpec, model: &impl Module) -> Self {
        let moments = named_parameters(model)
            .into_iter()
            .map(|(_, _, value)| {
                let zeros = || Tensor::zeros(value.shape(), &value.device());
                Moments { first: zeros(), second: zeros() }
            })
            .collect();
        Self { spec: *spec, steps: 0, moments }
    }

    /// An optimizer that goes on after `steps` steps.
    pub fn resume(spec: &OptimizerSpec, steps: u32, moments: Vec<Moments>) -> Self {
        Self { spec: *spec, steps, moments }
    }

    /// Steps taken.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The running means of every parameter, in the order of [`named_parameters`].
    pub fn moments(&self) -> &[Moments] {
        &self.moments
    }

    /// Takes one step at the learning rate `rate`. `norm` is the global norm of the gradients,
    /// which are clipped to the spec's norm.
    ///
    /// # Panics
    ///
    /// Panics if there is not one gradient for each of the model's parameters.
    pub fn update<M: Module>(
        &mut self,
        model: M,
        gradients: Vec<Tensor<1>>,
        norm: &Tensor<1>,
        rate: f64,
    ) -> M {
        assert_eq!(gradients.len(), self.moments.len(), "one gradient for each parameter");
        // A hostile checkpoint may start at the end of the range.
        self.steps = self.steps.saturating_add(1);
        let clip = f64::from(self.spec.clip_norm);
        let beta1 = f64::from(self.spec.beta1);
        let beta2 = f64::from(self.spec.beta2);
        let exponent = f64::from(self.steps);
        let mut update = Update {
            gradients: gradients.into_iter(),
            moments: core::mem::take(&mut self.moments).into_iter(),
            updated: Vec::new(),
            coefficient: match clip > 0.0 {
                true => clip_coefficient(norm, clip),
                false => norm.ones_like(),
            },
            beta1,
            beta2,
            epsilon: f64::from(self.spec.epsilon),
            step_size: rate / (1.0 - libm::pow(beta1, exponent)),
            second_scale: 1.0 / (1.0 - libm::pow(beta2, exponent)).sqrt(),
            decay: 1.0 - rate * f64::from(self.spec.weight_decay),
        };
        let model = model.map(&mut update);
        self.moments = update.updated;
        model
    }
}

struct Update {
    gradients: std::vec::IntoIter<Tensor<1>>,
    moments: std::vec::IntoIter<Moments>,
    updated: Vec<Moments>,
    coefficient: Tensor<1>,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    step_size: f64,
    second_scale: f64,
    decay: f64,
}

impl ModuleMapper for Update {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let same_model = "the moments and gradients belong to this model";
        let gradient = self.gradients.next().expect(same_model);
        let Moments { first, second } = self.moments.next().expect(same_model);
        let decay = if D >= 2 { self.decay } else { 1.0 };
        if fused::has_kernels(gradient.device()) {
            let step = AdamStep {
                beta1: self.beta1 as f32,
                beta2: self.beta2 as f32,
                epsilon: self.epsilon as f32,
                step_size: self.step_size as f32,
                second_scale: self.second_scale as f32,
                decay: decay as f32,
            };
            let (id, value, mapper) = param.consume();
            let shape = value.shape();
            let before = [value.reshape([-1]), first, second];
            let [value, first, second] = fused::adam(step, &self.coefficient, &gradient, before);
            self.updated.push(Moments { first, second });
            return Param::from_mapped_value(id, value.reshape(shape), mapper);
        }
        let gradient = gradient * self.coefficient.clone();
        let first = first * self.beta1 + gradient.clone() * (1.0 - self.beta1);
        let squares = gradient.clone() * gradient;
        let second = second * self.beta2 + squares * (1.0 - self.beta2);
        let denominator = second.clone().sqrt() * self.second_scale + self.epsilon;
        let step = first.clone() / denominator * self.step_size;
        self.updated.push(Moments { first, second });

        let (id, value, mapper) = param.consume();
        let shape = value.shape();
        Param::from_mapped_value(id, value * decay - step.reshape(shape), mapper)
    }
}

/// The Euclidean norm of all gradients taken together.
///
/// # Shapes
///
/// - output: `[1]`
pub fn global_norm(gradients: &[Tensor<1>]) -> Tensor<1> {
    let squares =
        gradients.iter().map(|gradient| (gradient.clone() * gradient.clone()).sum()).collect();
    Tensor::cat(squares, 0).sum().sqrt()
}

/// What gradients of the global norm `norm` are multiplied by so that it is at most `largest`:
/// `min(1, largest / (norm + 1e-6))`, as PyTorch's `clip_grad_norm_` has it.
pub fn clip_coefficient(norm: &Tensor<1>, largest: f64) -> Tensor<1> {
    ((norm.clone() + 1e-6).recip() * largest).clamp_max(1.0)
}
