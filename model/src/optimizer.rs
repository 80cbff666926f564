//! The rules that make a step of the gradients.

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::Tensor,
};
use unroll_protocol::{OptimizerKind, OptimizerSpec};

#[cfg(feature = "webgpu")]
use crate::fused::shaders;
use crate::{
    fused::{self, AdamStep},
    parameters::named_parameters,
};

/// Muon's momentum, whatever AdamW's `beta1` is for the parameters beside it.
const MUON_MOMENTUM: f64 = 0.95;
/// A step of Muon is as long as one of AdamW usually is: that long for each number of a matrix, in
/// the root mean square, times the rate (Liu et al. 2025).
const MUON_LENGTH: f64 = 0.2;
/// The quintic that takes singular values from 0 to 1 to about 1 in five rounds (Jordan et al. 2024).
const QUINTIC: [f64; 3] = [3.4445, -4.775, 2.0315];
const ROUNDS: usize = 5;

/// Running means of one parameter's gradient and squared gradient, flat. Without a mean of squares
/// in the rule, `second` stays 0.
#[derive(Clone, Debug)]
pub struct Moments {
    pub first: Tensor<1>,
    pub second: Tensor<1>,
}

/// Takes steps by the rule of an [`OptimizerKind`]. With the clipped gradient g, the rate η and the
/// weight decay λ:
///
/// - AdamW, as PyTorch's: `θ ← θ (1 - η λ) - η / (1 - β1^t) · m / (sqrt(v / (1 - β2^t)) + ε)`
/// - Adam, as PyTorch's: the same without decay, of the gradient `g + λ θ`
/// - SGD, as PyTorch's: `b ← β1 b + g + λ θ`, `θ ← θ - η b`
/// - Muon, as PyTorch's with Nesterov momentum and steps as long as AdamW's, for the blocks' matrices;
///   AdamW for all others: `b ← 0.95 b + 0.05 g`, `θ ← θ (1 - η λ) - 0.2 η sqrt(max(rows, columns)) ·
///   orthogonal(0.05 g + 0.95 b)`
///
/// Matrices decay, vectors (biases, gains) do not. Every tensor is consumed by the operation that
/// replaces it, so that it is updated in place on a CPU.
#[derive(Clone, Debug)]
pub struct Optimizer {
    spec: OptimizerSpec,
    steps: u32,
    moments: Vec<Moments>,
    /// Which parameters decay, for the GPU; computed in the first step.
    #[cfg(feature = "webgpu")]
    decays: Option<Tensor<1>>,
}

impl Optimizer {
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

    /// Goes on after `steps` steps that left these running means, and the model with these values: all
    /// of them flat, one for each parameter.
    pub fn put_back<M: Module>(
        &mut self,
        model: M,
        values: Vec<Tensor<1>>,
        moments: Vec<Moments>,
        steps: u32,
    ) -> M {
        *self = Self::resume(&self.spec, steps, moments);
        with_values(model, values)
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
        if spec.kind == OptimizerKind::AdamW && fused::go_together(&gradients) {
            return self.update_at_once(model, gradients, norm, step);
        }
        let clip = f64::from(spec.clip_norm);
        let inner = match spec.kind {
            OptimizerKind::Muon => inner_matrices(&model),
            _ => Vec::new(),
        };
        let update = Update {
            spec,
            rate,
            inner: inner.into_iter(),
            gradients: gradients.into_iter(),
            moments: core::mem::take(&mut self.moments).into_iter(),
            updated: Vec::new(),
            coefficient: match clip > 0.0 {
                true => clip_coefficient(norm, clip),
                false => norm.ones_like(),
            },
            step,
        };
        let mut change = Change::By(Box::new(update));
        let model = model.map(&mut change);
        if let Change::By(update) = change {
            self.moments = update.updated;
        }
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
        model.map(&mut Change::To(values.into_iter()))
    }
}

/// The model with these values, flat, one for each parameter.
pub(crate) fn with_values<M: Module>(model: M, values: Vec<Tensor<1>>) -> M {
    model.map(&mut Change::To(values.into_iter()))
}

/// What changes a model's parameters. One mapper for both: another would be the code of every chapter's
/// models once more.
enum Change {
    By(Box<Update>),
    /// To these values, flat.
    To(std::vec::IntoIter<Tensor<1>>),
}

impl ModuleMapper for Change {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, before, mapper) = param.consume();
        let after = match self {
            Self::By(update) => update.step(before),
            Self::To(values) => {
                let value = values.next().expect("there is one for each parameter");
                value.reshape(before.shape())
            }
        };
        Param::from_mapped_value(id, after, mapper)
    }
}

/// Which parameters are matrices of a block, in the order of [`named_parameters`].
fn inner_matrices(model: &impl Module) -> Vec<bool> {
    let named = named_parameters(model).into_iter();
    named.map(|(name, shape, _)| shape.len() == 2 && name.starts_with("blocks.")).collect()
}

/// Updates parameter by parameter; with AdamW in place, on a device with
/// [kernels](fused::has_kernels).
struct Update {
    spec: OptimizerSpec,
    rate: f64,
    /// For Muon alone: what it moves itself.
    inner: std::vec::IntoIter<bool>,
    gradients: std::vec::IntoIter<Tensor<1>>,
    moments: std::vec::IntoIter<Moments>,
    updated: Vec<Moments>,
    coefficient: Tensor<1>,
    step: AdamStep,
}

impl Update {
    /// One parameter after the step.
    fn step<const D: usize>(&mut self, value: Tensor<D>) -> Tensor<D> {
        let same_model = "the moments and gradients belong to this model";
        let gradient = self.gradients.next().expect(same_model);
        let Moments { first, second } = self.moments.next().expect(same_model);
        let shape = value.shape();
        let before = [value.reshape([-1]), first, second];
        let decays = D >= 2;
        let [value, first, second] = match self.spec.kind {
            OptimizerKind::Muon if self.inner.next() == Some(true) => {
                self.muon([shape[0], shape[1]], gradient, before)
            }
            OptimizerKind::AdamW | OptimizerKind::Muon => {
                let decay = if decays { self.step.decay } else { 1.0 };
                let step = AdamStep { decay, ..self.step };
                adam(step, &self.coefficient, gradient, before)
            }
            OptimizerKind::Adam => {
                let gradient = self.with_decay(decays, gradient, &before[0]);
                let step = AdamStep { decay: 1.0, ..self.step };
                adam(step, &self.coefficient.ones_like(), gradient, before)
            }
            OptimizerKind::Sgd => {
                let gradient = self.with_decay(decays, gradient, &before[0]);
                let [value, first, second] = before;
                let first = first * self.spec.beta1 + gradient;
                [value - first.clone() * self.rate, first, second]
            }
        };
        self.updated.push(Moments { first, second });
        value.reshape(shape)
    }

    /// The clipped gradient with weight decay as a part of it.
    fn with_decay(&self, decays: bool, gradient: Tensor<1>, value: &Tensor<1>) -> Tensor<1> {
        let gradient = gradient * self.coefficient.clone();
        match f64::from(self.spec.weight_decay) {
            decay if decays && decay > 0.0 => gradient + value.clone() * decay,
            _ => gradient,
        }
    }

    /// One step of Muon for a matrix.
    fn muon(
        &self,
        [rows, columns]: [usize; 2],
        gradient: Tensor<1>,
        [value, first, second]: [Tensor<1>; 3],
    ) -> [Tensor<1>; 3] {
        let gradient = gradient * self.coefficient.clone();
        let first = first * MUON_MOMENTUM + gradient.clone() * (1.0 - MUON_MOMENTUM);
        let ahead = gradient * (1.0 - MUON_MOMENTUM) + first.clone() * MUON_MOMENTUM;
        let direction = orthogonal(ahead.reshape([rows, columns])).reshape([-1]);
        let length = MUON_LENGTH * (rows.max(columns) as f64).sqrt() * self.rate;
        [value * self.step.decay - direction * length, first, second]
    }
}

/// One step of AdamW for a parameter, where there are kernels with them.
fn adam(
    step: AdamStep,
    coefficient: &Tensor<1>,
    gradient: Tensor<1>,
    before: [Tensor<1>; 3],
) -> [Tensor<1>; 3] {
    if fused::has_kernels(gradient.device()) {
        return fused::adam(step, coefficient, &gradient, before);
    }
    let [value, first, second] = before;
    let gradient = gradient * coefficient.clone();
    let first = first * step.beta1 + gradient.clone() * (1.0 - step.beta1);
    let second = second * step.beta2 + gradient.clone() * gradient * (1.0 - step.beta2);
    let size = second.clone().sqrt() * step.second_scale + step.epsilon;
    [value * step.decay - first.clone() * step.step_size / size, first, second]
}

/// Nearly the orthogonal matrix that is closest to `matrix`, by a Newton-Schulz iteration: every
/// singular value goes to between about 0.7 and 1.2.
fn orthogonal(matrix: Tensor<2>) -> Tensor<2> {
    let [rows, columns] = matrix.dims();
    let wide = if rows > columns { matrix.transpose() } else { matrix };
    let norm = wide.clone().powi_scalar(2).sum().sqrt() + 1e-7;
    let mut turned = wide / norm.reshape([1, 1]);
    let [a, b, c] = QUINTIC;
    for _ in 0..ROUNDS {
        let gram = fused::product(turned.clone(), turned.clone().transpose());
        let rest = gram.clone() * b + fused::product(gram.clone(), gram) * c;
        turned = turned.clone() * a + fused::product(rest, turned);
    }
    if rows > columns { turned.transpose() } else { turned }
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
