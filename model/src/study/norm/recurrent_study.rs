//! BatchNorm and LayerNorm in a recurrent network, side by side: a live test of what Ba, Kiros and
//! Hinton 2016 (section 3.1) say about sequences longer than those trained on.

use burn::tensor::{Device, Tensor, activation::log_softmax};
use unroll_protocol::{
    Array,
    study::norm::{Axis, Steps as StepsAnswer, TRAINED_STEPS, TRIED_STEPS},
};

use super::{
    super::{Built, Holder, Keeper, Refusal, StudySlice},
    Corpus, Gradients, Learner, State, measured, optimizer,
    recurrent::{NormedRnn, UNITS, Use},
};
use crate::{
    Named,
    data::{Window, token_tensor},
    loss::cross_entropy,
    norm::RunningStatistics,
    parameters::named_parameters,
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
    state: State<NormedRnn>,
    /// The step under way: what it has made so far, and its losses and gradient norms.
    pending: Option<(State<NormedRnn>, Vec<Tensor<1>>)>,
    /// Sequences of equal length to test the models on, and whether they were held out.
    tried: Vec<Window>,
    held_out: bool,
    rate: f32,
}

impl Steps {
    pub fn new(seed: u32, text: &str, device: &Device) -> Result<Self, Refusal> {
        let (trained, tried) = (TRAINED_STEPS as usize, TRIED_STEPS as usize);
        let corpus = Corpus::new(text, trained)?;
        let vocabulary = corpus.tokenizer.len();
        let learner = |&axis: &Axis| {
            Learner::new(NormedRnn::new(axis, vocabulary, seed, device), &optimizer())
        };
        let state = State {
            step: 0,
            learners: Axis::ALL.iter().map(learner).collect(),
            running: (0..trained).map(|_| RunningStatistics::new(UNITS, device)).collect(),
        };
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
        Ok(Self {
            seed,
            device: device.clone(),
            state,
            pending: None,
            tried,
            held_out,
            rate: LEARNING_RATE,
            corpus,
        })
    }

    pub fn built(&self) -> Built {
        let parameters = self.state.learners.iter().flat_map(|l| named_parameters(&l.model));
        Built {
            parameters: parameters.map(|(_, _, value)| value.dims()[0] as u64).sum(),
            vocabulary: self.corpus.tokenizer.vocabulary(),
            series: Axis::ALL.iter().map(|axis| axis.label().to_owned()).collect(),
            notes: self.corpus.data.notes.clone(),
        }
    }

    pub fn named_parameters(&self, model: usize) -> Vec<Named> {
        Learner::parameters_of(&self.state.learners, model)
    }

    pub fn hold(&mut self, holder: &mut Holder<'_>) {
        holder.hold(&mut self.state, State::held);
    }

    pub fn keep(&mut self, keeper: &mut Keeper<'_>) {
        let names = Axis::ALL.iter().map(|axis| axis.id());
        self.state.keep(names, Axis::Batch.id(), keeper);
    }

    pub fn step(&self) -> u32 {
        self.state.step
    }

    /// One slice trains one network.
    pub async fn advance(&mut self) -> StudySlice {
        let (mut state, mut losses) =
            self.pending.take().unwrap_or_else(|| (self.state.clone(), Vec::new()));
        let which = losses.len() / 2;
        losses.extend(self.learn(&mut state, which));
        if losses.len() < 2 * Axis::ALL.len() {
            self.pending = Some((state, losses));
            return StudySlice::More;
        }
        match measured(losses).await {
            Err(loss) => StudySlice::Diverged { loss },
            Ok(values) => {
                state.step += 1;
                self.state = state;
                StudySlice::Step(values.into_iter().step_by(2).map(Some).collect())
            }
        }
    }

    fn learn(&self, state: &mut State<NormedRnn>, which: usize) -> [Tensor<1>; 2] {
        let length = TRAINED_STEPS as usize;
        let batch = self.corpus.data.batch(self.seed, state.step, BATCH, length);
        let learner = &mut state.learners[which];
        let tracked = learner.tracked();
        let (logits, traces) =
            tracked.forward(token_tensor(&batch.inputs, BATCH, &self.device), Use::Batch);
        let loss = cross_entropy(logits, token_tensor(&batch.targets, BATCH, &self.device));
        let gradients = Gradients::of(&tracked, loss);
        let measured = [gradients.loss.clone(), gradients.norm.clone()];
        learner.update(gradients, f64::from(self.rate));
        if Axis::ALL[which] == Axis::Batch {
            for (running, trace) in state.running.iter_mut().zip(&traces) {
                running.take(trace, BATCH);
            }
        }
        measured
    }

    pub fn discard(&mut self) {
        self.pending = None;
    }

    pub fn set_learning_rate(&mut self, rate: f32) {
        self.rate = rate;
    }

    /// Statistics and losses by time step, with the statistics of `time` at every step.
    pub async fn answer(&self, time: u32) -> Result<StepsAnswer, Refusal> {
        if time > TRAINED_STEPS {
            return Err(Refusal(format!(
                "There are no statistics of step {time}: the networks never trained on more than \
                 {TRAINED_STEPS} steps."
            )));
        }
        let running = &self.state.running;
        let [batch, layer] = [0, 1].map(|which| &self.state.learners[which].model);
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
