//! Models of another's making: they can be asked, not trained.

use core::fmt;

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Device, Tensor, TensorData},
};
use unroll_protocol::{GivenModel, GptSpec, Initialization, SpecError, Weights};

use crate::{
    gpt::{Gpt, GptConfig},
    parameters::named_parameters,
    tokenizer::{NoTokenizer, Tokenizer},
};

/// Why a model can't be taken over. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenError {
    Spec(SpecError),
    Tokenizer(NoTokenizer),
    /// Weights for a place that the model does not have.
    Outside,
    NotFinite {
        name: String,
    },
}

impl fmt::Display for GivenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spec(error) => error.fmt(f),
            Self::Tokenizer(error) => error.fmt(f),
            Self::Outside => write!(f, "It holds weights that its model has no place for."),
            Self::NotFinite { name } => {
                write!(f, "Its tensor “{name}” holds something that is not a usable number.")
            }
        }
    }
}

impl std::error::Error for GivenError {}

/// A model that is complete.
pub struct Given {
    pub spec: GptSpec,
    pub tokenizer: Tokenizer,
    pub model: Gpt,
}

/// A model whose weights are still coming.
pub struct Filling {
    spec: GptSpec,
    tokenizer: Tokenizer,
    /// In the model's own order.
    parameters: Vec<Parameter>,
    filled: u64,
    device: Device,
    skeleton: Gpt,
}

/// A parameter's values, as far as they are there.
struct Parameter {
    name: String,
    shape: Vec<usize>,
    /// None before the first of them comes.
    values: Vec<f32>,
    missing: usize,
}

impl Filling {
    /// A model without weights, on a device without autodiff.
    ///
    /// # Errors
    ///
    /// Where it is too large, or its tokenizer is none.
    pub fn new(given: &GivenModel, device: &Device) -> Result<Self, GivenError> {
        let tokens = given.tokens as usize;
        // Before room is made for so many tokens.
        given.gpt.validate_given(tokens).map_err(GivenError::Spec)?;
        let tokenizer = Tokenizer::from_files(&given.tokenizer, tokens);
        Self::with_tokenizer(given.gpt, tokenizer.map_err(GivenError::Tokenizer)?, device)
    }

    /// The same, with a tokenizer that was read before.
    ///
    /// # Errors
    ///
    /// Where it is too large.
    pub fn with_tokenizer(
        spec: GptSpec,
        tokenizer: Tokenizer,
        device: &Device,
    ) -> Result<Self, GivenError> {
        let vocabulary = tokenizer.len();
        spec.validate_given(vocabulary).map_err(GivenError::Spec)?;
        let device = device.clone().inner();
        // The same parts, as small as they can be: the weights themselves take their places later, and
        // there is no room for others until then.
        let tiny = GptSpec { width: 2 * spec.heads, context: 1, ..spec };
        let initialization = Initialization::Zero;
        let config = GptConfig { spec: tiny, vocabulary: 1, initialization, seed: 0 };
        let skeleton = config.init(&device);
        let parameters = named_parameters(&skeleton).into_iter().map(|(name, ..)| {
            let shape = shape(&name, &spec, vocabulary);
            let missing = shape.iter().product();
            Parameter { name, shape, values: Vec::new(), missing }
        });
        let parameters = parameters.collect();
        Ok(Self { spec, tokenizer, parameters, filled: 0, device, skeleton })
    }

    /// Takes some of the weights. Returns how many are there.
    ///
    /// # Errors
    ///
    /// Where there is no place for them, or one is no usable number.
    pub fn put(&mut self, weights: &Weights) -> Result<u64, GivenError> {
        let Weights { parameter, begin, row, stride, ref values } = *weights;
        let parameter = self.parameters.get_mut(parameter as usize).ok_or(GivenError::Outside)?;
        let [begin, row, stride] = [begin, row, stride].map(|size| size as usize);
        let size: usize = parameter.shape.iter().product();
        let rows = values.len().checked_div(row).unwrap_or(0);
        let end = || begin.checked_add((rows - 1).checked_mul(stride)?)?.checked_add(row);
        let fits = rows > 0 && rows * row == values.len() && (stride >= row || rows == 1);
        if !fits || values.len() > parameter.missing || end().is_none_or(|end| end > size) {
            return Err(GivenError::Outside);
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(GivenError::NotFinite { name: parameter.name.clone() });
        }
        if parameter.values.is_empty() {
            parameter.values = vec![0.0; size];
        }
        for (number, values) in values.chunks(row).enumerate() {
            let begin = begin + number * stride;
            parameter.values[begin..begin + row].copy_from_slice(values);
        }
        parameter.missing -= values.len();
        self.filled += values.len() as u64;
        Ok(self.filled)
    }

    /// The name of every parameter and its number of values, in the model's own order.
    pub fn sizes(&self) -> Vec<(String, usize)> {
        let size = |parameter: &Parameter| parameter.shape.iter().product();
        self.parameters.iter().map(|one| (one.name.clone(), size(one))).collect()
    }

    /// Whether all weights are there.
    pub fn is_complete(&self) -> bool {
        self.parameters.iter().all(|parameter| parameter.missing == 0)
    }

    /// The model with its weights.
    ///
    /// # Panics
    ///
    /// Panics if weights are missing.
    pub fn finish(self) -> Given {
        assert!(self.is_complete(), "a model can't be built without all of its weights");
        let mut places =
            Places { parameters: self.parameters.into_iter(), device: self.device.clone() };
        let model = self.skeleton.map(&mut places).with_context(self.spec.context as usize);
        Given { spec: self.spec, tokenizer: self.tokenizer, model }
    }
}

/// Puts values in the places of a skeleton's parameters. The values themselves, and no copy of them.
struct Places {
    parameters: std::vec::IntoIter<Parameter>,
    device: Device,
}

impl ModuleMapper for Places {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, _, mapper) = param.consume();
        let Parameter { shape, values, .. } =
            self.parameters.next().expect("there is one for each parameter");
        let value = Tensor::from_data(TensorData::new(values, shape), &self.device);
        Param::from_mapped_value(id, value, mapper)
    }
}

/// The shape of a parameter of this name.
fn shape(name: &str, spec: &GptSpec, vocabulary: usize) -> Vec<usize> {
    let (width, context) = (spec.width as usize, spec.context as usize);
    let last = |count: usize| name.rsplit('.').nth(count).unwrap_or_default();
    match (last(2), last(1), last(0)) {
        (_, "token_embedding", _) => vec![vocabulary, width],
        (_, "position_embedding", _) => vec![context, width],
        (_, "head", _) => vec![width, vocabulary],
        ("feed_forward", "hidden", "weight") => vec![width, 4 * width],
        ("feed_forward", "hidden", _) => vec![4 * width],
        ("feed_forward", "output", "weight") => vec![4 * width, width],
        ("attention", _, "weight") => vec![width, width],
        _ => vec![width],
    }
}
