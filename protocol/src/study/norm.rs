//! `norm`: batch and layer normalization in a deep network, and two experiments of their papers.

use serde::{Deserialize, Serialize};

use crate::{
    Array,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

/// Hidden layers of the deep network.
pub const LAYERS: u32 = 6;
/// Features (neurons) of each hidden layer.
pub const FEATURES: u32 = 16;
/// Characters the deep network reads to guess the next.
pub const READS: u32 = 4;
/// Most examples in a batch.
pub const MOST_EXAMPLES: u32 = 32;
/// Time steps the recurrent networks train on.
pub const TRAINED_STEPS: u32 = 12;
/// Time steps they are tried on.
pub const TRIED_STEPS: u32 = 24;

choice! {
    /// The experiment on show.
    Experiment {
        /// A deep network with and without normalization.
        Layers = "layers", "A deep network";
        /// Ioffe and Szegedy 2015, section 2.
        Outside = "outside", "Outside the gradient";
        /// Ba, Kiros and Hinton 2016, section 3.1.
        Time = "time", "Over time, in an RNN";
    }
}

choice! {
    /// The axis over which mean and variance are taken.
    Axis {
        Batch = "batch", "BatchNorm";
        Layer = "layer", "LayerNorm";
    }
}

choice! {
    /// Whose mean and variance BatchNorm uses.
    Statistics {
        Batch = "batch", "In training";
        Running = "running", "At inference";
    }
}

choice! {
    /// The deep network's non-linearity.
    Activation {
        Tanh = "tanh", "tanh";
        Relu = "relu", "ReLU";
    }
}

choice! {
    /// How the deep network's layers are normalized, in the order of its three versions.
    Version {
        Plain = "plain", "plain";
        Batch = "batch", "BatchNorm";
        Layer = "layer", "LayerNorm";
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub experiment: Experiment,
    pub axis: Axis,
    pub statistics: Statistics,
    pub activation: Activation,
    /// Standard deviation of the initial weights, in units of 1/sqrt(inputs).
    pub scale: f32,
    /// Examples in a batch.
    pub batch: u32,
    /// The selected layer, counted from 1.
    pub layer: u32,
    /// The example that is scaled, counted from 1; 0 is none.
    pub row: u32,
    /// The factor of its activations.
    pub factor: f32,
    /// The cell whose arithmetic is open, counted from 1; 0 is none.
    pub example: u32,
    pub feature: u32,
    /// Means computed so far along the swept axis; 0 is all of them.
    pub sweep: u32,
    /// Whether γ and β are set so that they undo the normalization on show.
    pub undo: bool,
    /// The time step whose statistics are used at every step; 0 means each step uses its own.
    pub time: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            experiment: Experiment::Layers,
            axis: Axis::Batch,
            statistics: Statistics::Batch,
            activation: Activation::Tanh,
            scale: 5.0,
            batch: 16,
            layer: 3,
            row: 2,
            factor: 3.0,
            example: 0,
            feature: 0,
            sweep: 0,
            undo: false,
            time: 1,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        let models = match self.experiment {
            Experiment::Layers => {
                Models::Layers { activation: self.activation, scale: self.scale, batch: self.batch }
            }
            Experiment::Outside => Models::Outside,
            Experiment::Time => Models::Time,
        };
        Spec { seed, models }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Norm, "norm-experiment", "Experiment", norm.experiment: Experiment,
        "Three experiments, each with models of its own."),
    chosen!(of Norm, "norm-axis", "Normalization", norm.axis: Axis,
        "BatchNorm averages each feature over the batch, LayerNorm each example over its features."),
    chosen!(of Norm, "norm-statistics", "BatchNorm's statistics", norm.statistics: Statistics,
        "In training BatchNorm uses the batch's own mean and variance, at inference the running ones. \
         LayerNorm computes the same in both."),
    chosen!(of Norm, "norm-activation", "Non-linearity", norm.activation: Activation,
        "What follows each normalization in the deep network."),
    plain!(of Norm, "norm-scale", "Initial scale", norm.scale: Real,
        Kind::Real { min: 0.05, max: 8.0 },
        "How large the first weights are, in units of 1/sqrt(inputs)."),
    plain!(of Norm, "norm-batch", "Batch", norm.batch: Whole,
        Kind::Whole { min: 1, max: MOST_EXAMPLES },
        "Examples in a batch, in training and in the figure."),
    plain!(of Norm, "norm-layer", "Layer", norm.layer: Whole, Kind::Whole { min: 1, max: LAYERS },
        "Hidden layer shown."),
    plain!(of Norm, "norm-row", "Pressed example", norm.row: Whole,
        Kind::Whole { min: 0, max: MOST_EXAMPLES },
        "The example whose activations are multiplied, counted from 1; 0 is none."),
    plain!(of Norm, "norm-factor", "Multiplied by", norm.factor: Real,
        Kind::Real { min: -8.0, max: 8.0 },
        "What the pressed example's activations are multiplied by; 1 leaves them as they are."),
    plain!(of Norm, "norm-example", "Example worked out", norm.example: Whole,
        Kind::Whole { min: 0, max: MOST_EXAMPLES },
        "Row of the cell whose arithmetic is open; 0 is none."),
    plain!(of Norm, "norm-feature", "Feature worked out", norm.feature: Whole,
        Kind::Whole { min: 0, max: FEATURES },
        "Column of the cell whose arithmetic is open; 0 is none."),
    plain!(of Norm, "norm-sweep", "Swept", norm.sweep: Whole,
        Kind::Whole { min: 0, max: MOST_EXAMPLES },
        "How many means are taken so far, one for each feature or example; 0 is all."),
    plain!(of Norm, "norm-undo", "Undo it with γ and β", norm.undo: Flag, Kind::Flag,
        "Sets γ and β so that y comes as close to x as possible."),
    plain!(of Norm, "norm-time", "Statistics of step", norm.time: Whole,
        Kind::Whole { min: 0, max: TRAINED_STEPS },
        "The time step whose mean and variance BatchNorm uses at every step; 0 lets each step use \
         its own."),
];

/// What decides every number, with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub models: Models,
}

/// What is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Models {
    /// One deep network in three [`Version`]s, with the same initial weights. Series: their losses.
    Layers { activation: Activation, scale: f32, batch: u32 },
    /// Three [`Offset`]s. Series: their losses, the norms of their b, and the norm of the last
    /// one's β.
    Outside,
    /// A recurrent network with BatchNorm and one with LayerNorm. Series: their losses.
    Time,
}

questions! {
    Norm:
    /// For [`Models::Layers`]: one layer's normalization of a batch of `text`, one row of
    /// which (counted from 1; 0 is none) is multiplied by `factor` before it.
    Layer { text: String, axis: Axis, statistics: Statistics, layer: u32, row: u32, factor: f32 } -> Layer,
    /// For [`Models::Layers`]: the activations of every layer of every version.
    Depths {} -> Depths,
    /// For [`Models::Outside`]: the three layers.
    Offsets {} -> Vec<Offset>,
    /// For [`Models::Time`]: the statistics of every time step, and the losses with those of the
    /// step `time` (0 for each step's own).
    Steps { time: u32 } -> Steps,
}

/// One layer's normalization of a batch of B examples with C features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// The question's axis.
    pub axis: Axis,
    pub statistics: Statistics,
    /// Counted from 1.
    pub layer: u32,
    pub row: u32,
    pub factor: f32,
    /// What each example reads.
    pub examples: Vec<String>,
    /// How many of them, the last ones, come from the training text because the sentence is too
    /// short.
    pub borrowed: u32,
    /// x, with the selected row scaled, `[B, C]`.
    pub input: Array,
    /// x before scaling, `[B, C]`.
    pub untouched: Array,
    /// The result, or a sentence that says why there is none.
    pub result: Result<Normalized, String>,
}

/// The result of a normalization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normalized {
    /// μ, `[C]` or, for LayerNorm, `[B]`.
    pub mean: Vec<f32>,
    /// σ², of the same length.
    pub variance: Vec<f32>,
    /// x̂, `[B, C]`.
    pub normalized: Array,
    /// `[C]`
    pub gamma: Vec<f32>,
    /// `[C]`
    pub beta: Vec<f32>,
    /// y, `[B, C]`.
    pub output: Array,
    /// y without the scaled row, `[B, C]`.
    pub untouched: Array,
}

/// Activations of every layer of the deep network's versions, on one batch of the training text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Depths {
    /// Examples in that batch.
    pub examples: u32,
    /// The range of the bins.
    pub range: (f32, f32),
    /// For each version, in the order of [`Version::ALL`], its layers from the first.
    pub versions: Vec<Vec<Depth>>,
}

/// One layer's activations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Depth {
    /// Number of activations in each of equally wide bins.
    pub counts: Vec<f32>,
    /// Number of activations below and above all bins.
    pub below: f32,
    pub above: f32,
    /// Their standard deviation.
    pub deviation: f32,
    /// Share of activations that hardly pass a gradient on: tanh beyond 0.97 of its limit, ReLU at
    /// 0.
    pub stuck: f32,
}

choice! {
    /// How a bias is treated whose effect is removed by subtracting a mean.
    Treatment {
        /// The gradient treats the mean as a constant.
        Past = "past", "ignored";
        /// The gradient flows through the mean.
        Through = "through", "known";
        /// The gradient flows through the mean, and a bias β is added afterwards.
        After = "after", "β after";
    }
}

/// A layer whose mean is subtracted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offset {
    pub treatment: Treatment,
    /// b, one number for each token.
    pub bias: Vec<f32>,
    /// dL/db as the next step will use it.
    pub gradient: Vec<f32>,
    pub loss: f32,
    /// The loss before the first step.
    pub first_loss: f32,
    /// How much the gradients of all steps together promised to reduce the loss, to first order.
    pub promised: f32,
    pub learning_rate: f32,
}

/// A recurrent layer's statistics by time step, and their effect on the loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// BatchNorm's running means, `[units, TRAINED_STEPS]`.
    pub mean: Array,
    /// Its running variances.
    pub variance: Array,
    /// Loss at each time step with every step's own statistics; there are none beyond
    /// [`TRAINED_STEPS`].
    pub own: Vec<f32>,
    /// With the statistics of the requested step at every step; empty if none was requested.
    pub fixed: Vec<f32>,
    /// With LayerNorm.
    pub layer: Vec<f32>,
    /// Number of sequences the losses are averaged over, and whether they were held out.
    pub sequences: u32,
    pub held_out: bool,
}
