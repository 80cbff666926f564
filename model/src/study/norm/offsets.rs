//! Ioffe and Szegedy's argument (2015, section 2) why the gradient must take the mean into account:
//! three versions of a layer `x = u + b` whose mean is subtracted, on the learner's text.
//!
//! `u` is a fixed random row for each previous character, so that only the biases can learn.

use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use unroll_protocol::study::norm::{Offset, Treatment};

use super::{
    super::{Built, Holder, Keeper, Refusal, StudySlice},
    Corpus, measured,
};
use crate::{
    Named,
    data::token_tensor,
    loss::cross_entropy,
    random::{Normals, Purpose, stream},
    read::read_all,
};

/// Learning rate of plain gradient descent.
const LEARNING_RATE: f32 = 2.0;
/// Number of character pairs it learns from. They are the whole training set of this experiment, so
/// that E[x] means the same as in the paper.
const PAIRS: usize = 512;

/// See the module.
pub struct Offsets {
    corpus: Corpus,
    /// `[pairs, vocabulary]`
    inputs: Tensor<2>,
    /// `[1, pairs]`
    targets: Tensor<2, Int>,
    step: u32,
    layers: Vec<Layer>,
    rate: f32,
}

#[derive(Clone)]
struct Layer {
    treatment: Treatment,
    /// b, `[vocabulary]`
    bias: Tensor<1>,
    /// β, only in the version that adds it after subtracting the mean.
    beta: Option<Tensor<1>>,
    measured: Measured,
}

/// What was measured of one layer's steps.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Measured {
    first_loss: Option<f32>,
    promised: f64,
}

/// Loss and gradients of one layer.
struct Pass {
    loss: Tensor<1>,
    bias: Tensor<1>,
    beta: Option<Tensor<1>>,
}

impl Offsets {
    pub fn new(seed: u32, text: &str, device: &Device) -> Result<Self, Refusal> {
        let corpus = Corpus::new(text, 1)?;
        let (tokens, size) = (&corpus.data.training, corpus.tokenizer.len());
        let pairs = (tokens.len() - 1).min(PAIRS);
        let mut draws = Normals::new(stream(seed, Purpose::NormWeights, [1, 0, 0]));
        let table = TensorData::new(draws.draw(size * size, 0.5), [size, size]);
        let previous = token_tensor(&tokens[..pairs], 1, device).reshape([pairs]);
        let layer = |&treatment: &Treatment| Layer {
            treatment,
            bias: Tensor::zeros([size], device),
            beta: (treatment == Treatment::After).then(|| Tensor::zeros([size], device)),
            measured: Measured::default(),
        };
        Ok(Self {
            inputs: Tensor::from_data(table, device).select(0, previous),
            targets: token_tensor(&tokens[1..=pairs], 1, device),
            step: 0,
            layers: Treatment::ALL.iter().map(layer).collect(),
            rate: LEARNING_RATE,
            corpus,
        })
    }

    pub fn built(&self) -> Built {
        let labels = || Treatment::ALL.iter().map(|treatment| treatment.label());
        let mut series: Vec<String> = labels().map(str::to_owned).collect();
        series.extend(labels().map(|label| format!("|b|, {label}")));
        series.push("|β|".to_owned());
        Built {
            parameters: 4 * self.corpus.tokenizer.len() as u64,
            vocabulary: self.corpus.tokenizer.vocabulary(),
            series,
            notes: self.corpus.data.notes.clone(),
        }
    }

    /// Of one version: b, and β where it has one.
    pub fn named_parameters(&self, model: usize) -> Vec<Named> {
        let layer = self.layers.get(model);
        let vectors = layer.map(|layer| [("b", Some(&layer.bias)), ("beta", layer.beta.as_ref())]);
        let named = |(name, vector): (&str, Option<&Tensor<1>>)| {
            vector.map(|vector| (name.to_owned(), vector.dims().to_vec(), vector.clone()))
        };
        vectors.into_iter().flatten().filter_map(named).collect()
    }

    pub fn hold(&mut self, holder: &mut Holder<'_>) {
        holder.value(&mut self.layers);
        holder.value(&mut self.rate);
        holder.value(&mut self.step);
    }

    pub fn keep(&mut self, keeper: &mut Keeper<'_>) {
        for layer in &mut self.layers {
            let name = |what: &str| format!("{}.{what}", layer.treatment.id());
            keeper.tensor(name("b"), &mut layer.bias);
            if let Some(beta) = &mut layer.beta {
                keeper.tensor(name("beta"), beta);
            }
            keeper.measured(&mut layer.measured);
        }
        keeper.step(&mut self.step);
    }

    pub fn step(&self) -> u32 {
        self.step
    }

    fn pass(&self, layer: &Layer) -> Pass {
        let leaf = |value: &Tensor<1>| value.clone().autodiff().require_grad();
        let bias = leaf(&layer.bias);
        let beta = layer.beta.as_ref().map(leaf);
        // x = u + b; which part of the mean is detached decides what the gradient sees.
        let x = self.inputs.clone().autodiff() + bias.clone().unsqueeze();
        let mean = match layer.treatment {
            Treatment::Past => x.clone().mean_dim(0).detach(),
            Treatment::Through | Treatment::After => x.clone().mean_dim(0),
        };
        let mut logits = x - mean;
        if let Some(beta) = &beta {
            logits = logits + beta.clone().unsqueeze();
        }
        let loss = cross_entropy(logits.unsqueeze(), self.targets.clone());
        let gradients = loss.backward();
        let of = |leaf: &Tensor<1>| leaf.grad(&gradients).expect("the loss depends on it");
        Pass { loss: loss.clone().inner(), bias: of(&bias), beta: beta.as_ref().map(of) }
    }

    /// One slice takes one step of each layer.
    pub async fn advance(&mut self) -> StudySlice {
        let length = |vector: &Tensor<1>| (vector.clone() * vector.clone()).sum().sqrt();
        let rate = f64::from(self.rate);
        let mut layers = self.layers.clone();
        let (mut losses, mut lengths, mut slopes) = (Vec::new(), Vec::new(), Vec::new());
        let mut beta_length = None;
        for layer in &mut layers {
            let pass = self.pass(layer);
            layer.bias = layer.bias.clone() - pass.bias.clone() * rate;
            let mut slope = (pass.bias.clone() * pass.bias).sum();
            if let (Some(beta), Some(gradient)) = (&mut layer.beta, pass.beta) {
                *beta = beta.clone() - gradient.clone() * rate;
                slope = slope + (gradient.clone() * gradient).sum();
                beta_length = Some(length(beta));
            }
            losses.push(pass.loss);
            lengths.push(length(&layer.bias));
            slopes.push(slope);
        }
        let count = layers.len();
        let all = losses.into_iter().chain(lengths).chain(beta_length).chain(slopes);
        let values = match measured(all.collect()).await {
            Ok(values) => values,
            Err(loss) => return StudySlice::Diverged { loss },
        };
        let (shown, slopes) = values.split_at(values.len() - count);
        for ((layer, &slope), &loss) in layers.iter_mut().zip(slopes).zip(shown) {
            layer.measured.first_loss.get_or_insert(loss);
            layer.measured.promised += rate * f64::from(slope);
        }
        self.layers = layers;
        self.step += 1;
        StudySlice::Step(shown.iter().copied().map(Some).collect())
    }

    /// A step is never left half done.
    pub fn discard(&mut self) {}

    pub fn set_learning_rate(&mut self, rate: f32) {
        self.rate = rate;
    }

    /// The three layers in their present state.
    pub async fn answer(&self) -> Result<Vec<Offset>, Refusal> {
        let passes = self.layers.iter().map(|layer| (layer, self.pass(layer)));
        let tensors = passes.flat_map(|(layer, pass)| [layer.bias.clone(), pass.bias, pass.loss]);
        let read = read_all(tensors).await?;
        let offsets = self.layers.iter().zip(read.chunks(3)).map(|(layer, read)| Offset {
            treatment: layer.treatment,
            bias: read[0].clone(),
            gradient: read[1].clone(),
            loss: read[2][0],
            first_loss: layer.measured.first_loss.unwrap_or(read[2][0]),
            promised: layer.measured.promised as f32,
            learning_rate: self.rate,
        });
        Ok(offsets.collect())
    }
}
