//! AdamW (Loshchilov and Hutter 2019).

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::Tensor,
};
use unroll_protocol::OptimizerSpec;

#[cfg(feature = "webgpu")]
use crate::fused::shaders;
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

/// Adam with decoupled weight decay; each step equals that of PyTorch's `AdamW`:
///
/// `θ ← θ (1 - η λ) - η / (1 - β1^t) · m / (sqrt(v / (1 - β2^t)) + ε)`
///
/// Matrices decay, vectors (biases, gains) do not. Every tensor is consumed by the operation that
/// replaces it, so that it is updated in place on a CPU.
#[derive(Clone, Debug)]
pub struct AdamW {
    spec: OptimizerSpec,
    steps: u32,
    moments: Vec<Moments>,
    /// Which parameters decay, for the GPU; computed in the first step.
    #[cfg(feature = "webgpu")]
    decays: Option<Tensor<1>>,
}

impl AdamW {
    /// An optimizer before its first step.
    pub fn new(spec: &OptimizerSpec, model: &impl Module) -> Self {
        let moments = named_parameters(model)
            .into_iter()
            .map(|(_, _, value)| {
                let zeros = || Tensor::zeros(value.shape(), &value.device());
                Moments { first: zeros(), second: zeros() }
            })
            .collect();
        Self::resume(spec, 0, moments)
    }

    /// An optimizer that continues after `steps` steps.
    pub fn resume(spec: &OptimizerSpec, steps: u32, moments: Vec<Moments>) -> Self {
        Self {
            spec: *spec,
            steps,
            moments,
            #[cfg(feature = "webgpu")]
            decays: None,
        }
    }

    /// The same without its running means: it knows how many steps were taken, and can take none.
    pub fn spent(&self) -> Self {
        Self::resume(&self.spec, self.steps, Vec::new())
    }

    /// Number of steps taken.
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
    /// Panics unless there is one gradient for each of the model's parameters.
    pub fn update<M: Module>(
        &mut self,
        model: M,
        gradients: Vec<Tensor<1>>,
        norm: &Tensor<1>,
        rate: f64,
    ) -> M {
        assert_eq!(gradients.len(), self.moments.len(), "one gradient for each parameter");
        // A hostile checkpoint may claim the largest possible number of steps.
        self.steps = self.steps.saturating_add(1);
        let spec = self.spec;
        let [beta1, beta2] = [spec.beta1, spec.beta2].map(f64::from);
        let exponent = f64::from(self.steps);
        let step = AdamStep {
            beta1: spec.beta1,
            beta2: spec.beta2,
            epsilon: spec.epsilon,
            step_size: (rate / (1.0 - libm::pow(beta1, exponent))) as f32,
            second_scale: (1.0 / (1.0 - libm::pow(beta2, exponent)).sqrt()) as f32,
            decay: (1.0 - rate * f64::from(spec.weight_decay)) as f32,
        };
        #[cfg(feature = "webgpu")]
        if fused::go_together(&gradients) {
            return self.update_at_once(model, gradients, norm, step);
        }
        let clip = f64::from(spec.clip_norm);
        let mut update = Update {
            gradients: gradients.into_iter(),
            moments: core::mem::take(&mut self.moments).into_iter(),
            updated: Vec::new(),
            coefficient: match clip > 0.0 {
                true => clip_coefficient(norm, clip),
                false => norm.ones_like(),
            },
            step,
        };
        let model = model.map(&mut update);
        self.moments = update.updated;
        model
    }

    /// Updates all parameters in one call to the GPU.
    #[cfg(feature = "webgpu")]
    fn update_at_once<M: Module>(
        &mut self,
        model: M,
        gradients: Vec<Tensor<1>>,
        norm: &Tensor<1>,
        adam: AdamStep,
    ) -> M {
        let named = named_parameters(&model);
        let decays = self.decays.get_or_insert_with(|| {
            let matrices: Vec<bool> = named.iter().map(|(_, shape, _)| shape.len() >= 2).collect();
            shaders::decay_map(&matrices, &gradients)
        });
        let values = named.into_iter().map(|(_, _, value)| value).collect();
        let (first, second) =
            self.moments.drain(..).map(|moments| (moments.first, moments.second)).unzip();
        let OptimizerSpec { beta1, beta2, clip_norm, .. } = self.spec;
        let rest = [beta1, beta2].map(|beta| (1.0 - f64::from(beta)) as f32);
        let step = shaders::Step { adam, largest_norm: clip_norm, rest };
        let before = [values, first, second];
        let [values, first, second] =
            shaders::adam(&step, gradients, norm.clone(), decays.clone(), before);
        let moments = first.into_iter().zip(second);
        self.moments = moments.map(|(first, second)| Moments { first, second }).collect();
        model.map(&mut Replace { values: values.into_iter() })
    }
}

/// Replaces the values of a model's parameters.
#[cfg(feature = "webgpu")]
struct Replace {
    values: std::vec::IntoIter<Tensor<1>>,
}

#[cfg(feature = "webgpu")]
impl ModuleMapper for Replace {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, before, mapper) = param.consume();
        let value = self.values.next().expect("there is one for each parameter");
        Param::from_mapped_value(id, value.reshape(before.shape()), mapper)
    }
}

/// Updates parameter by parameter, in place, on a device with [kernels](fused::has_kernels).
struct Update {
    gradients: std::vec::IntoIter<Tensor<1>>,
    moments: std::vec::IntoIter<Moments>,
    updated: Vec<Moments>,
    coefficient: Tensor<1>,
    step: AdamStep,
}

impl ModuleMapper for Update {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let same_model = "the moments and gradients belong to this model";
        let gradient = self.gradients.next().expect(same_model);
        let Moments { first, second } = self.moments.next().expect(same_model);
        let decay = if D >= 2 { self.step.decay } else { 1.0 };
        let step = AdamStep { decay, ..self.step };
        let (id, value, mapper) = param.consume();
        let shape = value.shape();
        let before = [value.reshape([-1]), first, second];
        let [value, first, second] = fused::adam(step, &self.coefficient, &gradient, before);
        self.updated.push(Moments { first, second });
        Param::from_mapped_value(id, value.reshape(shape), mapper)
    }
}

/// The Euclidean norm of all gradients taken together.
///
/// # Shapes
///
/// - output: `[1]`
pub fn global_norm(gradients: &[Tensor<1>]) -> Tensor<1> {
    #[cfg(feature = "webgpu")]
    if fused::go_together(gradients) {
        return shaders::norm(gradients);
    }
    let squares = gradients.iter().map(fused::sum_of_squares).collect();
    Tensor::cat(squares, 0).sum().sqrt()
}

/// The factor that reduces gradients of global norm `norm` to at most `largest`:
/// `min(1, largest / (norm + 1e-6))`, as in PyTorch's `clip_grad_norm_`.
pub fn clip_coefficient(norm: &Tensor<1>, largest: f64) -> Tensor<1> {
    ((norm.clone() + 1e-6).recip() * largest).clamp_max(1.0)
}
