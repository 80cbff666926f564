//! Trained parameters: initialization, names and gradients.

use burn::{
    module::{Module, ModuleVisitor, Param, ParamId},
    tensor::{Device, Gradients, Tensor, TensorData},
};
use unroll_protocol::{
    Array,
    parameters::{MOST_NUMBERS, Parameter},
};

#[cfg(feature = "webgpu")]
use crate::fused::{go_together, shaders};
use crate::{random::Normals, read::read_all};

/// A matrix drawn from N(0, `deviation`²).
pub(crate) fn matrix(
    shape: [usize; 2],
    deviation: f64,
    draws: &mut Normals,
    device: &Device,
) -> Param<Tensor<2>> {
    let values = draws.draw(shape[0] * shape[1], deviation);
    trained(Tensor::from_data(TensorData::new(values, shape), device))
}

/// A matrix drawn from U(-`bound`, `bound`).
pub(crate) fn uniform_matrix(
    shape: [usize; 2],
    bound: f64,
    draws: &mut Normals,
    device: &Device,
) -> Param<Tensor<2>> {
    given_matrix(draws.uniform(shape[0] * shape[1], bound), shape, device)
}

/// A matrix of these values, row-major.
pub(crate) fn given_matrix(
    values: Vec<f32>,
    shape: [usize; 2],
    device: &Device,
) -> Param<Tensor<2>> {
    trained(Tensor::from_data(TensorData::new(values, shape), device))
}

/// A vector of these values.
pub(crate) fn given_vector(values: Vec<f32>, device: &Device) -> Param<Tensor<1>> {
    let shape = [values.len()];
    trained(Tensor::from_data(TensorData::new(values, shape), device))
}

/// A vector of zeros.
pub(crate) fn bias(width: usize, device: &Device) -> Param<Tensor<1>> {
    trained(Tensor::zeros([width], device))
}

/// A vector of ones.
pub(crate) fn gain(width: usize, device: &Device) -> Param<Tensor<1>> {
    trained(Tensor::ones([width], device))
}

/// Marks a tensor as trained. On a device without autodiff that takes effect only in
/// [`Module::train`].
fn trained<const D: usize>(tensor: Tensor<D>) -> Param<Tensor<D>> {
    Param::initialized(ParamId::new(), tensor).set_require_grad(true)
}

/// A parameter with its path in the model and its shape; the values are flat.
pub type Named = (String, Vec<usize>, Tensor<1>);

/// Every parameter, in the model's own order. Everything in this crate that goes parameter by
/// parameter uses that order.
pub fn named_parameters(model: &impl Module) -> Vec<Named> {
    #[derive(Default)]
    struct Collect {
        path: Vec<String>,
        found: Vec<Named>,
    }

    impl ModuleVisitor for Collect {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.path.push(name.to_owned());
        }

        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.path.pop();
        }

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let value = param.val();
            self.found.push((self.path.join("."), value.dims().to_vec(), value.reshape([-1])));
        }
    }

    let mut collect = Collect::default();
    model.visit(&mut collect);
    collect.found
}

/// Reads those of `parameters` whose path begins like one of `under`.
///
/// # Errors
///
/// A sentence if they hold more than [`MOST_NUMBERS`], or if the device fails.
pub async fn read_parameters(
    parameters: Vec<Named>,
    under: &[String],
) -> Result<Vec<Parameter>, String> {
    let is_wanted = |(path, ..): &Named| under.iter().any(|under| path.starts_with(under));
    let wanted: Vec<Named> = parameters.into_iter().filter(is_wanted).collect();
    let numbers: u64 =
        wanted.iter().map(|(_, shape, _)| shape.iter().product::<usize>() as u64).sum();
    if numbers > MOST_NUMBERS {
        return Err(format!(
            "These are {numbers} numbers, and a file holds {MOST_NUMBERS} at most. Take a smaller \
             part, or a smaller model."
        ));
    }
    let read = read_all(wanted.iter().map(|(.., values)| values.clone())).await;
    let read = read.map_err(|error| error.to_string())?;
    let named = wanted.into_iter().zip(read).map(|((name, shape, _), values)| {
        let shape = shape.into_iter().map(|size| size as u32).collect();
        Parameter { name, value: Array { shape, values } }
    });
    Ok(named.collect())
}

/// Number of trained parameters.
pub fn parameter_count(model: &impl Module) -> u64 {
    named_parameters(model).iter().map(|(_, shape, _)| shape.iter().product::<usize>() as u64).sum()
}

/// The gradients with respect to a model's parameters, summed over several backward passes.
#[derive(Clone, Debug, Default)]
pub struct GradientSum {
    /// Flat, in the order of [`named_parameters`]; `None` for a parameter that no pass has reached
    /// yet.
    sums: Vec<Option<Tensor<1>>>,
}

impl GradientSum {
    /// Moves the gradients with respect to `model`'s parameters out of `gradients`.
    pub fn add(&mut self, model: &impl Module, gradients: &mut Gradients) {
        struct Gather<'a> {
            next: usize,
            gradients: &'a mut Gradients,
            sums: &'a mut Vec<Option<Tensor<1>>>,
        }

        impl ModuleVisitor for Gather<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if self.sums.len() == self.next {
                    self.sums.push(None);
                }
                if let Some(gradient) = param.val().grad_remove(self.gradients) {
                    let gradient = gradient.reshape([-1]);
                    let sum = &mut self.sums[self.next];
                    *sum = Some(match sum.take() {
                        Some(earlier) => earlier + gradient,
                        None => gradient,
                    });
                }
                self.next += 1;
            }
        }

        model.visit(&mut Gather { next: 0, gradients, sums: &mut self.sums });
    }

    /// One flat gradient for each parameter.
    ///
    /// # Panics
    ///
    /// Panics if no backward pass has reached some parameter.
    pub fn finish(self) -> Vec<Tensor<1>> {
        let every = "a backward pass through the whole model reaches every parameter";
        let gradients = self.sums.into_iter().map(|sum| sum.expect(every)).collect::<Vec<_>>();
        #[cfg(feature = "webgpu")]
        if go_together(&gradients) {
            return shaders::laid_flat(gradients);
        }
        gradients
    }
}
