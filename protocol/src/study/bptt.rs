//! `bptt`: a plain RNN, an LSTM and a GRU learn to recall a symbol, and how the gradient flows back
//! through each.

use serde::{Deserialize, Serialize};

use crate::{
    Array, OptimizerSpec,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

/// Number of symbols to recall, and of distractors.
pub const SYMBOLS: u32 = 16;
/// Sequences in one training step.
pub const BATCH: u32 = 16;
/// Accuracy is measured every this many steps.
pub const MEASURE_EVERY: u32 = 50;

choice! {
    /// One of the three networks.
    Cell {
        Rnn = "rnn", "RNN";
        Lstm = "lstm", "LSTM";
        Gru = "gru", "GRU";
    }
}

choice! {
    /// Which curves the main figure shows.
    Shown {
        All = "all", "All three";
        Rnn = "rnn", "RNN";
        Lstm = "lstm", "LSTM";
        Gru = "gru", "GRU";
    }
}

choice! {
    /// The loss whose gradient is shown.
    LossKind {
        /// At the last step alone, as in training.
        Last = "last", "At the last step";
        /// At every step from the symbol on: which symbol was it?
        Every = "every", "At every step";
    }
}

choice! {
    /// What a curve's values are divided by.
    Scale {
        /// Its value at the last step: the share of the gradient that is left.
        Relative = "relative", "Share of the last step's";
        Absolute = "absolute", "As it is";
    }
}

impl Shown {
    /// Whether it includes the curves of `cell`.
    pub fn shows(self, cell: Cell) -> bool {
        match self {
            Self::All => true,
            Self::Rnn => cell == Cell::Rnn,
            Self::Lstm => cell == Cell::Lstm,
            Self::Gru => cell == Cell::Gru,
        }
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub gap: u32,
    pub length: u32,
    pub hidden: u32,
    pub forget_bias: f32,
    pub truncation: u32,
    pub clip: f32,
    pub loss: LossKind,
    pub shown: Shown,
    pub scale: Scale,
    pub rescale: bool,
    pub radius: f32,
    pub cell: Cell,
    pub from: u32,
    pub to: u32,
    pub step: u32,
    pub unit: u32,
    pub nudge: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            gap: 30,
            length: 32,
            hidden: 16,
            forget_bias: 1.0,
            truncation: 0,
            clip: 1.0,
            loss: LossKind::Last,
            shown: Shown::All,
            scale: Scale::Relative,
            rescale: false,
            radius: 1.0,
            cell: Cell::Rnn,
            from: 1,
            to: 1,
            // So early that the ripple has the room to fade.
            step: 4,
            unit: 2,
            nudge: 0.01,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec {
            seed,
            gap: self.gap,
            length: self.length,
            hidden: self.hidden,
            forget_bias: self.forget_bias,
            truncation: self.truncation,
            optimizer: OptimizerSpec {
                learning_rate: 5e-3,
                warmup_steps: 0,
                decay_steps: 0,
                weight_decay: 0.0,
                beta2: 0.999,
                clip_norm: self.clip,
                ..OptimizerSpec::default()
            },
        }
    }

    /// The page's question to the networks. A selected unit that they lack is replaced by the last.
    pub fn question(&self) -> ask::Flow {
        ask::Flow {
            loss: self.loss,
            radius: self.rescale.then_some(self.radius),
            cell: self.cell,
            from: self.from.min(self.hidden),
            to: self.to.min(self.hidden),
        }
    }

    /// The experiment on one number of the state. A step or unit that the networks lack is replaced
    /// by the last.
    pub fn nudge(&self) -> ask::Nudge {
        ask::Nudge {
            cell: self.cell,
            step: self.step.min(self.length),
            unit: self.unit.min(self.hidden),
            size: self.nudge,
        }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    plain!(of Bptt, "bptt-gap", "Longest gap n", bptt.gap: Whole, Kind::Whole { min: 1, max: 62 },
        "The largest number of distractors between the symbol and the question. Training mixes gaps from 1 \
         to n."),
    plain!(of Bptt, "bptt-length", "Sequence T", bptt.length: Whole, Kind::Whole { min: 3, max: 64 },
        "Steps in a sequence: at least the gap, the symbol and the question."),
    plain!(of Bptt, "bptt-hidden", "Units", bptt.hidden: Whole, Kind::Whole { min: 2, max: 48 },
        "Width of the hidden state, the same in all three networks."),
    plain!(of Bptt, "bptt-forget", "Forget bias", bptt.forget_bias: Real, Kind::Real { min: -2.0, max: 5.0 },
        "What the LSTM's forget gates start with: at 0 they are half open, at 1 almost three quarters."),
    plain!(of Bptt, "bptt-truncation", "Truncate to", bptt.truncation: Whole, Kind::Whole { min: 0, max: 64 },
        "Cuts the backward pass into pieces of this many steps; 0 leaves it whole."),
    plain!(of Bptt, "bptt-clip", "Clip norm", bptt.clip: Real, Kind::Real { min: 0.0, max: 10.0 },
        "Largest global norm of the weights' gradient; 0 switches clipping off."),
    chosen!(of Bptt, "bptt-loss", "Loss", bptt.loss: LossKind,
        "Of which loss the gradient is shown. Training always uses the last step's."),
    chosen!(of Bptt, "bptt-shown", "Networks shown", bptt.shown: Shown,
        "Whose curves the figure holds."),
    chosen!(of Bptt, "bptt-scale", "Norms", bptt.scale: Scale,
        "Divided by the last step's, so that networks with different losses compare, or as they are."),
    plain!(of Bptt, "bptt-rescale", "Rescale U", bptt.rescale: Flag, Kind::Flag,
        "Also shows a copy of the RNN whose recurrent matrix U is rescaled. The RNN in training stays."),
    plain!(of Bptt, "bptt-radius", "Spectral radius", bptt.radius: Real, Kind::Real { min: 0.0, max: 4.0 },
        "Spectral radius that the copy's U is rescaled to."),
    chosen!(of Bptt, "bptt-cell", "Network", bptt.cell: Cell,
        "Whose state is nudged, and whose weight gradient is taken apart."),
    plain!(of Bptt, "bptt-from", "From unit", bptt.from: Whole, Kind::Whole { min: 1, max: 48 },
        "Unit whose last state the chosen weight reads."),
    plain!(of Bptt, "bptt-to", "To unit", bptt.to: Whole, Kind::Whole { min: 1, max: 48 },
        "Unit the chosen weight feeds."),
    plain!(of Bptt, "bptt-step", "Nudged step", bptt.step: Whole, Kind::Whole { min: 1, max: 64 },
        "Step whose state is nudged."),
    plain!(of Bptt, "bptt-unit", "Nudged unit", bptt.unit: Whole, Kind::Whole { min: 1, max: 48 },
        "Unit of the state that is nudged."),
    plain!(of Bptt, "bptt-nudge", "Nudge", bptt.nudge: Real, Kind::Real { min: 0.001, max: 1.0 },
        "How much is added to that unit."),
];

/// What decides every number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    /// Longest gap.
    pub gap: u32,
    /// T
    pub length: u32,
    /// Units of each network.
    pub hidden: u32,
    pub forget_bias: f32,
    /// Steps between two cuts of the gradient; 0 for none.
    pub truncation: u32,
    pub optimizer: OptimizerSpec,
}

questions! {
    Bptt:
    /// How the gradient of `loss` flows back through the networks, on held-out sequences of the
    /// longest gap.
    Flow {
        loss: LossKind,
        /// Also for a copy of the RNN with U rescaled to this spectral radius.
        radius: Option<f32>,
        /// The network whose weight gradient is decomposed.
        cell: Cell,
        /// The selected weight, by units counted from 1.
        from: u32,
        to: u32,
    } -> Flow,
    /// One number of the state is nudged, and the network runs forward again from there, on one
    /// held-out sequence of the longest gap.
    Nudge {
        cell: Cell,
        /// The nudged step and unit, counted from 1.
        step: u32,
        unit: u32,
        /// What is added to the state, not 0.
        size: f32,
    } -> Nudged,
}

/// See [`ask::Nudge`]. The loss is that of the last step, in nats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nudged {
    /// Number of steps trained.
    pub trained: u32,
    pub cell: Cell,
    /// The nudged step and unit, counted from 1.
    pub step: u32,
    pub unit: u32,
    /// Step of the symbol, counted from 1.
    pub symbol_at: u32,
    /// What was added: the requested size, up to the rounding of the state it was added to.
    pub size: f64,
    /// The loss without the nudge, and with it.
    pub before: f64,
    pub after: f64,
    /// About how far rounding may throw off the measured slope, either way.
    pub rounding: f64,
    /// How far each unit is moved, divided by the nudge, from the nudged step to the last:
    /// `[T - step + 1, units]`.
    pub ripple: Array,
    /// The gradient of the loss with respect to every unit at every step, by backpropagation:
    /// `[T, units]`.
    pub sweep: Array,
    /// The tokens of the sequence, and the one to recall at its last step.
    pub ids: Vec<u32>,
    pub answer: u32,
    /// Whether truncation cut the way back between the last step and the nudged one.
    pub cut: bool,
}

impl Nudged {
    /// The change of the loss, divided by the nudge.
    pub fn measured(&self) -> f64 {
        (self.after - self.before) / self.size
    }

    /// What backpropagation gives for the nudged unit at `step`, counted from 1.
    pub fn swept(&self, step: u32) -> Option<f64> {
        let units = *self.sweep.shape.last()?;
        let index = step.checked_sub(1)? * units + self.unit.checked_sub(1)?;
        self.sweep.values.get(index as usize).map(|&value| f64::from(value))
    }

    /// T
    pub fn length(&self) -> u32 {
        self.sweep.shape.first().copied().unwrap_or_default()
    }
}

/// See [`ask::Flow`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Number of steps trained.
    pub step: u32,
    pub loss: LossKind,
    /// Step of the symbol, counted from 1.
    pub symbol_at: u32,
    /// RNN, LSTM and GRU.
    pub networks: Vec<Network>,
    /// Spectral radius of the RNN's U.
    pub radius: f32,
    pub rescaled: Option<Rescaled>,
    pub weights: Weights,
    pub accuracy: Accuracy,
}

/// What flows back through one network. Vectors hold one value for each step, from the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    pub cell: Cell,
    /// Mean over the sequences and the requested answers, in nats.
    pub loss: f32,
    /// `|dL/ds_t|`, or `|dL/dh_t|`, over the batch and the units.
    pub hidden: Vec<f32>,
    /// `|dL/dc_t|` of an LSTM.
    pub memory: Option<Vec<f32>>,
    /// Mean over all steps and units of how much of the previous state is kept: an LSTM's forget
    /// gate, a GRU's update gate, `1 - s²` in the RNN (where U multiplies it).
    pub kept: f32,
    /// How many numbers the backward pass needs per step and sequence: states and gates.
    pub stored: u32,
}

/// A copy of the RNN whose U was rescaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rescaled {
    /// The requested spectral radius, and that of the rescaled matrix.
    pub asked: f32,
    pub radius: f32,
    pub hidden: Vec<f32>,
    /// Mean of `1 - s²`.
    pub kept: f32,
    pub loss: f32,
}

/// The gradient of one network's recurrent matrix, step by step: the block that feeds the state
/// (RNN) or the candidate (LSTM, GRU).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    pub cell: Cell,
    /// The whole gradient by backpropagation, `[from, to]`.
    pub whole: Array,
    /// Norm of each step's contribution, over the block.
    pub norms: Vec<f32>,
    /// Each step's contribution to the selected weight's gradient.
    pub terms: Vec<f32>,
    /// The selected weight, counted from 1.
    pub from: u32,
    pub to: u32,
}

/// Share of held-out sequences answered correctly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Number of steps trained at the last measurement; 0 before the first.
    pub step: u32,
    pub gaps: Vec<u32>,
    /// RNN, LSTM, GRU: one value for each gap.
    pub shares: Vec<Vec<f32>>,
    /// Accuracy of guessing.
    pub chance: f32,
}
