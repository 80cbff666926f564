//! The deep network in three versions, trained side by side on the same batches.

use burn::tensor::{Device, Int, Tensor};
use unroll_protocol::{
    Array,
    study::norm::{
        Activation, Axis, Depth, Depths, FEATURES, LAYERS, Layer, MOST_EXAMPLES, Normalized, READS,
        Statistics, Version, ask,
    },
};

use super::{
    super::{Built, Refusal, StudySlice},
    Corpus,
    deep::{Between, DeepNet, LayerPass},
    training::{Kind, State, Training},
};
use crate::{
    data::token_tensor,
    loss::cross_entropy,
    norm::{BatchOfOne, NormTrace, RunningStatistics},
    random::{Purpose, below, stream},
    read::read_all,
};

/// The default learning rate.
const LEARNING_RATE: f32 = 0.02;
/// Number of examples whose activations are counted.
const COUNTED: usize = 64;
/// Bins of a histogram.
const BINS: usize = 32;

/// See the module.
pub struct Layers {
    seed: u32,
    batch: usize,
    activation: Activation,
    corpus: Corpus,
    device: Device,
    /// In the order of [`Version::ALL`].
    pub training: Training<DeepNet>,
}

impl Layers {
    pub fn new(
        seed: u32,
        activation: Activation,
        scale: f32,
        batch: u32,
        text: &str,
        device: &Device,
    ) -> Result<Self, Refusal> {
        if !(1..=MOST_EXAMPLES).contains(&batch) {
            return Err(Refusal(format!(
                "A batch has 1 to {MOST_EXAMPLES} examples here, not {batch}."
            )));
        }
        if !scale.is_finite() || scale <= 0.0 {
            return Err(Refusal(format!("{scale} is not a usable scale of the first weights.")));
        }
        let corpus = Corpus::new(text, READS as usize)?;
        let vocabulary = corpus.tokenizer.len();
        let kind = |&version: &Version| Kind {
            id: version.id(),
            label: version.label(),
            has_batch_norm: version == Version::Batch,
        };
        let training = Training::new(
            Version::ALL.iter().map(kind).collect(),
            |which| DeepNet::new(Version::ALL[which], vocabulary, activation, scale, seed, device),
            (0..LAYERS).map(|_| RunningStatistics::new(FEATURES as usize, device)).collect(),
            LEARNING_RATE,
        );
        Ok(Self {
            seed,
            batch: batch as usize,
            activation,
            corpus,
            device: device.clone(),
            training,
        })
    }

    pub fn built(&self) -> Built {
        let mut built = self.training.built(&self.corpus);
        if self.batch == 1 {
            built.notes.push(BatchOfOne.to_string());
        }
        built
    }

    pub async fn advance(&mut self) -> StudySlice {
        let Self { seed, batch, ref corpus, ref device, ref mut training, .. } = *self;
        let learn = |state: &mut State<DeepNet>, which: usize, rate| {
            let has_batch_norm = Version::ALL[which] == Version::Batch;
            // See `BatchOfOne`.
            if has_batch_norm && batch == 1 {
                return None;
            }
            let (inputs, targets) = training_batch(corpus, seed, state.step, batch);
            let tracked = state.learners[which].tracked();
            let inputs = token_tensor(&inputs, batch, device);
            let (logits, layers) = tracked.forward(inputs, None).expect("more than one example");
            let targets: Tensor<2, Int> = token_tensor(&targets, 1, device);
            let loss = cross_entropy(logits.unsqueeze(), targets);
            let measured = state.update(which, &tracked, loss, rate);
            if has_batch_norm {
                for (running, layer) in state.running.iter_mut().zip(&layers) {
                    running.take(layer.trace.as_ref().expect("it is normalized"), batch);
                }
            }
            Some(measured)
        };
        training.advance(learn).await
    }

    /// Activations by depth.
    pub async fn depths(&self) -> Result<Depths, Refusal> {
        let (inputs, _) = training_batch(&self.corpus, self.seed, 0, COUNTED);
        let mut outputs = Vec::new();
        for learner in &self.training.state.learners {
            let inputs = token_tensor(&inputs, COUNTED, &self.device);
            let (_, layers) = learner.model.forward(inputs, None)?;
            outputs.extend(layers.into_iter().map(|layer| layer.output.reshape([-1])));
        }
        let range = match self.activation {
            Activation::Tanh => (-1.0, 1.0),
            Activation::Relu => (0.0, 4.0),
        };
        let read = read_all(outputs).await?;
        let versions = read
            .chunks(LAYERS as usize)
            .map(|layers| layers.iter().map(|values| self.count(values, range)).collect());
        Ok(Depths { examples: COUNTED as u32, range, versions: versions.collect() })
    }

    fn count(&self, values: &[f32], (low, high): (f32, f32)) -> Depth {
        let mut depth =
            Depth { counts: vec![0.0; BINS], below: 0.0, above: 0.0, deviation: 0.0, stuck: 0.0 };
        for &value in values {
            if value < low {
                depth.below += 1.0;
            } else if value > high {
                depth.above += 1.0;
            } else {
                let bin = ((value - low) / (high - low) * BINS as f32) as usize;
                depth.counts[bin.min(BINS - 1)] += 1.0;
            }
        }
        let count = values.len() as f64;
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / count;
        let squares = values.iter().map(|&v| (f64::from(v) - mean) * (f64::from(v) - mean));
        depth.deviation = (squares.sum::<f64>() / count).sqrt() as f32;
        let stuck = values.iter().filter(|&&v| match self.activation {
            Activation::Tanh => v.abs() > 0.97,
            Activation::Relu => v == 0.0,
        });
        depth.stuck = stuck.count() as f32 / values.len() as f32;
        depth
    }

    /// One layer's normalization.
    pub async fn layer(&self, question: &ask::Layer) -> Result<Layer, Refusal> {
        let ask::Layer { text, axis, statistics, layer, row, factor } = question;
        let index = (*layer as usize).wrapping_sub(1);
        if index >= LAYERS as usize {
            return Err(Refusal(format!("There is no layer {layer}: there are {LAYERS}.")));
        }
        if *row as usize > self.batch {
            let examples = self.batch;
            let are = if examples == 1 { "is" } else { "are" };
            return Err(Refusal(format!(
                "There is no example {row} to press: there {are} {examples} in the batch."
            )));
        }
        if !factor.is_finite() {
            return Err(Refusal(format!("Nothing can be multiplied by {factor}.")));
        }
        let (tokens, borrowed) = self.examples(text);
        let rows = tokens.chunks(READS as usize);
        let examples = rows.map(|row| self.corpus.tokenizer.decode(row)).collect();
        let version = match axis {
            Axis::Batch => Version::Batch,
            Axis::Layer => Version::Layer,
        };
        let place = Version::ALL.iter().position(|v| *v == version).expect("it is one of them");
        let net = &self.training.state.learners[place].model;
        let running =
            (*statistics == Statistics::Running).then_some(&self.training.state.running[..]);
        // A single example has no statistics of its own. The layers below then use the running
        // ones, so that there is an input that shows what fails.
        let below = if self.batch == 1 { Some(&self.training.state.running[..]) } else { running };
        let input = token_tensor(&tokens, self.batch, &self.device);
        let LayerPass { sums, .. } = net.forward(input, below)?.1.swap_remove(index);
        let mut factors = vec![1.0; self.batch];
        if let Some(pressed) = (*row as usize).checked_sub(1) {
            factors[pressed] = *factor;
        }
        let factors = Tensor::<1>::from_floats(&factors[..], &self.device);
        let pressed = sums.clone() * factors.unsqueeze_dim(1);
        let normalize = |input: Tensor<2>| match (&net.between[index], running) {
            (Between::Batch(norm), Some(running)) => {
                Ok(norm.forward_running(input, &running[index]))
            }
            (Between::Batch(norm), None) => norm.forward_batch(input),
            (Between::Layer(norm), _) => Ok(norm.forward(input)),
            (Between::Plain(_), _) => unreachable!("that version is not asked for"),
        };
        let size = [self.batch as u32, FEATURES];
        let matrix = |values: Vec<f32>| Array { shape: size.to_vec(), values };
        let mut wanted = vec![pressed.clone().reshape([-1]), sums.clone().reshape([-1])];
        let (gamma, beta) = match &net.between[index] {
            Between::Batch(norm) => (norm.gamma.val(), norm.beta.val()),
            Between::Layer(norm) => (norm.gamma.val(), norm.beta.val()),
            Between::Plain(bias) => (bias.val(), bias.val()),
        };
        let problem = match (normalize(pressed), normalize(sums)) {
            (Ok((output, trace)), Ok((untouched, _))) => {
                let NormTrace { mean, variance, normalized } = trace;
                wanted.extend([mean.reshape([-1]), variance.reshape([-1])]);
                wanted.extend([normalized.reshape([-1]), gamma, beta]);
                wanted.extend([output.reshape([-1]), untouched.reshape([-1])]);
                None
            }
            (Err(one), _) | (_, Err(one)) => Some(one.to_string()),
        };
        let mut read = read_all(wanted).await?.into_iter();
        let mut next = || read.next().expect("as many as were asked for");
        let (input, untouched) = (matrix(next()), matrix(next()));
        let result = match problem {
            Some(sentence) => Err(sentence),
            None => Ok(Normalized {
                mean: next(),
                variance: next(),
                normalized: matrix(next()),
                gamma: next(),
                beta: next(),
                output: matrix(next()),
                untouched: matrix(next()),
            }),
        };
        Ok(Layer {
            axis: *axis,
            statistics: *statistics,
            layer: *layer,
            row: *row,
            factor: *factor,
            examples,
            borrowed,
            input,
            untouched,
            result,
        })
    }

    /// A batch of windows of `text`, evenly spaced; missing ones are taken from the first training
    /// batch. Also returns how many those are.
    fn examples(&self, text: &str) -> (Vec<u32>, u32) {
        let reads = READS as usize;
        let tokens = self.corpus.tokenizer.encode(text);
        let windows = (tokens.len() + 1).saturating_sub(reads);
        let own = windows.min(self.batch);
        let starts = (0..own).map(|i| if own > 1 { i * (windows - 1) / (own - 1) } else { 0 });
        let mut examples: Vec<u32> =
            starts.flat_map(|at| &tokens[at..at + reads]).copied().collect();
        let (others, _) = training_batch(&self.corpus, self.seed, 0, self.batch);
        examples.extend(&others[examples.len()..]);
        (examples, (self.batch - own) as u32)
    }
}

/// Windows at random places of the text, which depend on seed and step only, and what follows each.
fn training_batch(corpus: &Corpus, seed: u32, step: u32, rows: usize) -> (Vec<u32>, Vec<u32>) {
    let (reads, tokens) = (READS as usize, &corpus.data.training);
    let mut rng = stream(seed, Purpose::NormBatch, [step, 0, 0]);
    let starts: Vec<usize> = (0..rows).map(|_| below(&mut rng, tokens.len() - reads)).collect();
    let inputs = starts.iter().flat_map(|&at| &tokens[at..at + reads]).copied().collect();
    (inputs, starts.iter().map(|&at| tokens[at + reads]).collect())
}
