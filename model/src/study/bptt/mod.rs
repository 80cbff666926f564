//! `bptt`: an RNN, an LSTM and a GRU learn the same task from the same seed, side by side.

mod flow;
mod nudge;
mod task;

use burn::tensor::Device;
use unroll_protocol::{
    Ask, Packed,
    study::bptt::{Accuracy, BATCH, Cell, MEASURE_EVERY, Question, SYMBOLS, Spec},
};

use self::task::Gaps;
use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner, usable_rate},
};
use crate::{
    CellKind, Initialization, Named, RunOptions, SequenceConfig, SequenceModel, clip_coefficient,
    masked_accuracy, masked_cross_entropy, named_parameters, read_all,
};

/// Longest sequence and widest state whose answers take at most a tenth of a second.
const MOST_STEPS: u32 = 64;
const MOST_UNITS: u32 = 48;
/// Number of sequences of each gap that accuracy is measured on.
const MEASURED: usize = 64;

/// One network in training.
#[derive(Clone)]
struct Network {
    cell: Cell,
    learner: Learner<SequenceModel>,
}

/// What a step has done so far; nothing of it counts before all of it is done.
#[derive(Default)]
struct Half {
    networks: Vec<Network>,
    /// Loss, gradient norm before and after clipping of each network.
    measured: Vec<[f32; 3]>,
    /// Accuracies by network and gap, one after the other.
    shares: Vec<f32>,
}

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    gaps: Gaps,
    networks: Vec<Network>,
    accuracy: Accuracy,
    step: u32,
    half: Half,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, _text: &str, device: &Device) -> Result<Self, Refusal> {
        check(spec)?;
        let gaps = Gaps::new(spec.seed, spec.gap as usize, spec.length as usize)?;
        let networks = Cell::ALL.iter().map(|&cell| {
            let config = SequenceConfig {
                vocabulary: 2 * SYMBOLS as usize + 1,
                outputs: SYMBOLS as usize,
                embedding: None,
                kind: match cell {
                    Cell::Rnn => CellKind::RNN,
                    Cell::Lstm => {
                        CellKind::Lstm { projection: None, forget_bias: spec.forget_bias }
                    }
                    Cell::Gru => CellKind::Gru,
                },
                hidden: spec.hidden as usize,
                layers: 1,
                bidirectional: false,
                initialization: Initialization::Uniform,
                seed: spec.seed,
            };
            let model = config.init(device);
            Network { cell, learner: Learner::new(model, &spec.optimizer) }
        });
        let networks = networks.collect();
        let accuracy = Accuracy {
            step: 0,
            gaps: gaps.measured().iter().map(|&gap| gap as u32).collect(),
            shares: Vec::new(),
            chance: 1.0 / SYMBOLS as f32,
        };
        let (spec, device) = (spec.clone(), device.clone());
        Ok(Self { spec, device, gaps, networks, accuracy, step: 0, half: Half::default() })
    }

    fn built(&self) -> Built {
        let series = ["loss", "gradient norm", "clipped norm"].into_iter();
        Built {
            parameters: self.networks.iter().map(|network| network.learner.parameters()).sum(),
            vocabulary: self.gaps.symbols(),
            series: series
                .flat_map(|what| {
                    Cell::ALL.iter().map(move |cell| format!("{} {what}", cell.label()))
                })
                .collect(),
            notes: Vec::new(),
        }
    }

    fn step(&self) -> u32 {
        self.step
    }

    async fn advance(&mut self) -> StudySlice {
        let trained = self.half.networks.len();
        if trained < self.networks.len() {
            return match self.train(trained).await {
                Ok(()) if self.is_done() => self.commit(),
                Ok(()) => StudySlice::More,
                Err(loss) => {
                    self.discard();
                    StudySlice::Diverged { loss }
                }
            };
        }
        let count = self.gaps.measured().len();
        let next = self.half.shares.len();
        let batch = self.gaps.held_out(self.gaps.measured()[next % count], MEASURED);
        let batch = batch.tensors(&self.device);
        let logits = self.half.networks[next / count].learner.model.forward(batch.inputs);
        let share = masked_accuracy(logits, batch.targets, batch.weights);
        // A device that gives nothing back fails at the next step's losses.
        let share = read_all([share]).await.map_or(f32::NAN, |read| read[0][0]);
        self.half.shares.push(share);
        if self.is_done() { self.commit() } else { StudySlice::More }
    }

    fn discard(&mut self) {
        self.half = Half::default();
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        usable_rate(rate)?;
        self.discard();
        self.spec.optimizer.learning_rate = rate;
        Ok(())
    }

    fn named_parameters(&self, model: usize) -> Vec<Named> {
        let network = self.networks.get(model);
        network.map_or_else(Vec::new, |network| named_parameters(&network.learner.model))
    }

    fn hold(&mut self, holder: &mut Holder<'_>) {
        holder.hold(&mut self.networks, |networks| {
            let held = |network: &Network| Network { learner: network.learner.held(), ..*network };
            networks.iter().map(held).collect()
        });
        holder.value(&mut self.accuracy);
        holder.value(&mut self.step);
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        for Network { cell, learner } in &mut self.networks {
            learner.keep(cell.id(), keeper);
        }
        keeper.measured(&mut self.accuracy);
        keeper.step(&mut self.step);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        Ok(match question {
            Question::Flow(question) => question.answered(&flow::answer(self, question).await?),
            Question::Nudge(question) => question.answered(&nudge::answer(self, question).await?),
        })
    }
}

impl Study {
    fn options(&self) -> RunOptions {
        let truncation = (self.spec.truncation > 0).then_some(self.spec.truncation as usize);
        RunOptions { truncation, ..RunOptions::default() }
    }

    /// Index of the unit that is the `number`th, counted from 1.
    fn unit(&self, number: u32) -> Result<usize, Refusal> {
        let units = self.spec.hidden;
        match (1..=units).contains(&number) {
            true => Ok(number as usize - 1),
            false => Err(Refusal(format!(
                "There is no unit {number}: the networks have {units}. Choose a unit from 1 to {units}."
            ))),
        }
    }

    /// Whether accuracy is measured after the step under way.
    fn measures(&self) -> bool {
        (self.step + 1).is_multiple_of(MEASURE_EVERY)
    }

    fn is_done(&self) -> bool {
        let shares = self.networks.len() * self.gaps.measured().len();
        self.half.networks.len() == self.networks.len()
            && (!self.measures() || self.half.shares.len() == shares)
    }

    /// One update of the network `index`. Fails with the loss where it or the gradient is not a
    /// finite number.
    async fn train(&mut self, index: usize) -> Result<(), f32> {
        let mut network = self.networks[index].clone();
        let batch = self.gaps.training(self.step, BATCH as usize).tensors(&self.device);
        let tracked = network.learner.tracked();
        let output = tracked.run(batch.inputs, &self.options());
        let loss = masked_cross_entropy(output.logits, batch.targets, batch.weights);
        let gradients = Gradients::of(&tracked, loss);
        let (loss, norm) = (gradients.loss.clone(), gradients.norm.clone());
        let largest = f64::from(self.spec.optimizer.clip_norm);
        let clipped = match largest > 0.0 {
            true => norm.clone() * clip_coefficient(&norm, largest),
            false => norm.clone(),
        };
        let read = read_all([loss, norm.clone(), clipped]).await.map_err(|_| f32::NAN)?;
        let measured = [read[0][0], read[1][0], read[2][0]];
        if measured.iter().any(|value| !value.is_finite()) {
            return Err(measured[0]);
        }
        let rate = f64::from(self.spec.optimizer.learning_rate);
        network.learner.update(gradients, rate);
        self.half.networks.push(network);
        self.half.measured.push(measured);
        Ok(())
    }

    /// Makes the half-done step count.
    fn commit(&mut self) -> StudySlice {
        let Half { networks, measured, shares } = core::mem::take(&mut self.half);
        self.networks = networks;
        self.step += 1;
        if !shares.is_empty() {
            self.accuracy.step = self.step;
            let count = self.gaps.measured().len();
            self.accuracy.shares = shares.chunks(count).map(<[f32]>::to_vec).collect();
        }
        let values = (0..3).flat_map(|what| measured.iter().map(move |of| Some(of[what])));
        StudySlice::Step(values.collect())
    }
}

/// Refuses what can't be built.
fn check(spec: &Spec) -> Result<(), Refusal> {
    spec.optimizer.validate()?;
    let refuse = |sentence: String| Err(Refusal(sentence));
    if spec.hidden == 0 {
        return refuse("A network without units remembers nothing: use at least 1.".into());
    }
    if spec.hidden > MOST_UNITS || spec.length > MOST_STEPS {
        return refuse(format!(
            "{} units and {} steps would answer too slowly: use at most {MOST_UNITS} units and \
             {MOST_STEPS} steps.",
            spec.hidden, spec.length
        ));
    }
    if spec.gap == 0 {
        return refuse(
            "Without a gap there is nothing to remember: use a gap of at least 1.".into(),
        );
    }
    if !spec.forget_bias.is_finite() {
        return refuse(format!("{} is not a usable forget bias.", spec.forget_bias));
    }
    Ok(())
}
