//! BatchNorm and LayerNorm in a recurrent network, side by side: a live test of what Ba, Kiros and
//! Hinton 2016 (section 3.1) say about sequences longer than those trained on.

use burn::tensor::{Device, Tensor, activation::log_softmax};
use unroll_protocol::{
    Array,
    study::norm::{Axis, Steps as StepsAnswer, TRAINED_STEPS, TRIED_STEPS},
};

use super::{
    super::{Built, Refusal, StudySlice},
    Corpus,
    recurrent::{NormedRnn, UNITS, Use},
    training::{Kind, State, Training},
};
use crate::{
    data::{Window, token_tensor},
    loss::cross_entropy,
    norm::RunningStatistics,
    read::read_all,
};

/// Sequences in a training batch.
const BATCH: usize = 16;
/// Most sequences over which the losses by time step are averaged.
const TRIED: usize = 32;
/// The default learning rate.
const LEARNING_RATE: f32 = 0.01;

/// See the module.
pub struct Steps {
    seed: u32,
    corpus: Corpus,
    device: Device,
    /// In the order of [`Axis::ALL`].
    pub training: Training<NormedRnn>,
    /// Sequences of equal length to test the models on, and whether they were held out.
    tried: Vec<Window>,
    held_out: bool,
}

impl Steps {
    pub fn new(seed: u32, text: &str, device: &Device) -> Result<Self, Refusal> {
        let (trained, tried) = (TRAINED_STEPS as usize, TRIED_STEPS as usize);
        let corpus = Corpus::new(text, trained)?;
        let vocabulary = corpus.tokenizer.len();
        let kind = |&axis: &Axis| Kind {
            id: axis.id(),
            label: axis.label(),
            has_batch_norm: axis == Axis::Batch,
        };
        let training = Training::new(
            Axis::ALL.iter().map(kind).collect(),
            |which| NormedRnn::new(Axis::ALL[which], vocabulary, seed, device),
            (0..trained).map(|_| RunningStatistics::new(UNITS, device)).collect(),
            LEARNING_RATE,
        );
        // A short text has no held-out end that is long enough: then the training text must do.
        let held_out = corpus.data.held_out.len() > tried;
        let tokens = if held_out { &corpus.data.held_out } else { &corpus.data.training };
        let length = tried.min(tokens.len() - 1);
        let last = tokens.len() - 1 - length;
        let count = TRIED.min(last + 1);
        let window = |index: usize| {
            let start = if count > 1 { index * last / (count - 1) } else { 0 };
            Window {
                inputs: tokens[start..start + length].to_vec(),
                targets: tokens[start + 1..start + 1 + length].to_vec(),
            }
        };
        let tried = (0..count).map(window).collect();
        Ok(Self { seed, device: device.clone(), training, tried, held_out, corpus })
    }

    pub fn built(&self) -> Built {
        self.training.built(&self.corpus)
    }

    pub async fn advance(&mut self) -> StudySlice {
        let Self { seed, ref corpus, ref device, ref mut training, .. } = *self;
        let length = TRAINED_STEPS as usize;
        let learn = |state: &mut State<NormedRnn>, which: usize, rate| {
            let batch = corpus.data.batch(seed, state.step, BATCH, length);
            let tracked = state.learners[which].tracked();
            let (logits, traces) =
                tracked.forward(token_tensor(&batch.inputs, BATCH, device), Use::Batch);
            let loss = cross_entropy(logits, token_tensor(&batch.targets, BATCH, device));
            let measured = state.update(which, &tracked, loss, rate);
            if Axis::ALL[which] == Axis::Batch {
                for (running, trace) in state.running.iter_mut().zip(&traces) {
                    running.take(trace, BATCH);
                }
            }
            Some(measured)
        };
        training.advance(learn).await
    }

    /// Statistics and losses by time step, with the statistics of `time` at every step.
    pub async fn answer(&self, time: u32) -> Result<StepsAnswer, Refusal> {
        if time > TRAINED_STEPS {
            return Err(Refusal(format!(
                "There are no statistics of step {time}: the networks never trained on more than \
                 {TRAINED_STEPS} steps."
            )));
        }
        let State { learners, running, .. } = &self.training.state;
        let [batch, layer] = [0, 1].map(|which| &learners[which].model);
        let mut wanted = vec![
            Tensor::cat(running.iter().map(|r| r.mean.clone()).collect(), 0),
            Tensor::cat(running.iter().map(|r| r.variance.clone()).collect(), 0),
            self.losses(batch, Use::Own(running)),
            self.losses(layer, Use::Batch),
        ];
        if let Some(step) = time.checked_sub(1) {
            wanted.push(self.losses(batch, Use::Fixed(&running[step as usize])));
        }
        let mut read = read_all(wanted).await?.into_iter();
        let mut next = || read.next().unwrap_or_default();
        let by_unit = |values: Vec<f32>| Array {
            shape: vec![UNITS as u32, TRAINED_STEPS],
            values: (0..UNITS)
                .flat_map(|unit| values.iter().skip(unit).step_by(UNITS).copied())
                .collect(),
        };
        let (mean, variance) = (by_unit(next()), by_unit(next()));
        let (own, layer, fixed) = (next(), next(), next());
        Ok(StepsAnswer {
            mean,
            variance,
            own,
            fixed,
            layer,
            sequences: self.tried.len() as u32,
            held_out: self.held_out,
        })
    }

    /// Mean loss at each time step over the test sequences.
    fn losses(&self, model: &NormedRnn, used: Use<'_>) -> Tensor<1> {
        let rows = self.tried.len();
        let (logits, _) = model.forward(Window::inputs_of(&self.tried, &self.device), used);
        let [_, length, _] = logits.dims();
        let targets = Window::targets_of(&self.tried, &self.device).slice([0..rows, 0..length]);
        let chosen = log_softmax(logits, 2).gather(2, targets.unsqueeze_dim(2));
        chosen.mean_dim(0).neg().reshape([-1])
    }
}
