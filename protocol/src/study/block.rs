//! `block`: the residual stream and everything that is added to it.

use serde::{Deserialize, Serialize};

use crate::{
    Architecture, Array, GptSpec,
    architecture::{Activation, NormPlacement},
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

/// Number of blocks of both models.
pub const LAYERS: u32 = 6;
/// Width of the residual stream.
pub const WIDTH: u32 = 24;
/// Attention heads of each block.
pub const HEADS: u32 = 2;
/// Characters the models read at once.
pub const CONTEXT: u32 = 24;
/// Sequences in one step of training.
pub const BATCH: u32 = 8;
/// Probability of dropping an activation in training.
pub const TRAINED_DROPOUT: f32 = 0.1;
/// Number of sub-networks in the ensemble.
pub const MASKS: u32 = 12;

choice! {
    /// Where the full model's blocks are normalized.
    Norm {
        Pre = "pre", "Pre-norm";
        Post = "post", "Post-norm";
    }
}

choice! {
    /// What the second model lacks.
    Without {
        Residuals = "residuals", "Residuals";
        Norms = "norms", "Norms";
        Attention = "attention", "Attention";
        FeedForward = "feed-forward", "Feed-forward";
    }
}

choice! {
    /// The model whose stream is shown.
    Shown {
        Full = "full", "The full model";
        Cut = "cut", "The model without";
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub norm: Norm,
    pub activation: Activation,
    pub without: Without,
    pub shown: Shown,
    /// Position whose logit is decomposed, counted from 1; 0 is the last.
    pub position: u32,
    /// Token whose logit is decomposed, counted from 1; 0 is the model's likeliest.
    pub token: u32,
    /// Term whose arithmetic is open, counted from 1; 0 is none.
    pub term: u32,
    /// Share of activations that each sub-network drops.
    pub dropout: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            norm: Norm::Pre,
            activation: Activation::Gelu,
            without: Without::Residuals,
            shown: Shown::Full,
            position: 0,
            token: 0,
            term: 0,
            dropout: 0.2,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed, norm: self.norm, activation: self.activation, without: self.without }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Block, "block-norm", "Norms", block.norm: Norm,
        "Before each layer, as in GPT-2, or after it, as in 2017."),
    chosen!(of Block, "block-activation", "Feed-forward", block.activation: Activation,
        "What the feed-forward layers’ neurons compute."),
    chosen!(of Block, "block-without", "Second model without", block.without: Without,
        "Left out of a second model with the same seed and batches."),
    chosen!(of Block, "block-shown", "Model shown", block.shown: Shown,
        "The model whose stream is taken apart."),
    plain!(of Block, "block-position", "Position", block.position: Whole,
        Kind::Whole { min: 0, max: CONTEXT }, "Position whose logit is taken apart; 0 is the last."),
    plain!(of Block, "block-token", "Token", block.token: Whole,
        Kind::Whole { min: 0, max: 4096 },
        "Token whose logit it is, by its place in the vocabulary; 0 is the likeliest."),
    plain!(of Block, "block-term", "Term worked out", block.term: Whole,
        Kind::Whole { min: 0, max: 3 + 2 * LAYERS }, "Term whose arithmetic is open; 0 is none."),
    plain!(of Block, "block-dropout", "Dropped", block.dropout: Real,
        Kind::Real { min: 0.0, max: 0.9 }, "Share of activations that each sub-network goes without."),
];

/// What decides every number, with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub norm: Norm,
    pub activation: Activation,
    pub without: Without,
}

impl Spec {
    /// The full model.
    pub fn full(&self) -> GptSpec {
        let norm = match self.norm {
            Norm::Pre => NormPlacement::Pre,
            Norm::Post => NormPlacement::Post,
        };
        GptSpec {
            layers: LAYERS,
            heads: HEADS,
            width: WIDTH,
            context: CONTEXT,
            dropout: TRAINED_DROPOUT,
            tied: false,
            architecture: Architecture {
                norm,
                feed_forward: Some(self.activation),
                ..Architecture::GPT2
            },
        }
    }

    /// The same model without one ingredient.
    pub fn cut(&self) -> GptSpec {
        let mut spec = self.full();
        let architecture = &mut spec.architecture;
        match self.without {
            Without::Residuals => architecture.residual = false,
            Without::Norms => architecture.norm = NormPlacement::None,
            Without::Attention => architecture.attention = false,
            Without::FeedForward => architecture.feed_forward = None,
        }
        spec
    }
}

questions! {
    Block:
    /// What one model's residual stream over the end of `text` is made of. `token` counts from 1;
    /// 0 is the likeliest.
    Stream { text: String, shown: Shown, position: u32, token: u32 } -> Stream,
    /// How long the terms of the full model's stream were over training, up to now.
    Growth {} -> Growth,
    /// The norm of the loss's gradient at each depth of both models, on a batch of training text.
    Depths {} -> Vec<Depths>,
    /// What [`MASKS`] sub-networks of the full model predict after `text` up to `position`.
    Ensemble { text: String, position: u32, dropout: f32 } -> Ensemble,
    /// Inputs and outputs of one feed-forward layer's non-linearity.
    Neurons { text: String, shown: Shown, position: u32, layer: u32 } -> Neurons,
}

/// The source of a term of the stream; blocks count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    Token,
    Position,
    Attention(u32),
    FeedForward(u32),
    /// The biases of norms in the stream itself (post-norm).
    NormOffsets,
}

impl Source {
    /// Its name on the page.
    pub fn name(self) -> String {
        match self {
            Self::Token => "token embedding".to_owned(),
            Self::Position => "position embedding".to_owned(),
            Self::Attention(block) => format!("attention {block}"),
            Self::FeedForward(block) => format!("feed-forward {block}"),
            Self::NormOffsets => "norms’ offsets β".to_owned(),
        }
    }
}

/// A residual stream after the last block as a sum, and one logit as a sum over the same terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    pub shown: Shown,
    /// The tokens as the model saw them, `T`.
    pub tokens: Vec<String>,
    /// Number of leading characters left out because the context is shorter.
    pub dropped: u32,
    /// The selected position, counted from 0.
    pub position: u32,
    /// The token whose logit is decomposed.
    pub token: u32,
    /// The token that actually comes next, if the text goes on.
    pub next: Option<u32>,
    pub sources: Vec<Source>,
    /// Euclidean norm of each term of the stream after the last block, `[terms, T]`.
    pub sizes: Array,
    /// Norm of the whole stream there, `T`.
    pub whole: Vec<f32>,
    /// The terms at the selected position, `[terms, width]`.
    pub terms: Array,
    /// What the final norm divides by there; `None` where there is no final norm.
    pub deviation: Option<f32>,
    /// The final norm's gain; ones if there is none.
    pub gamma: Vec<f32>,
    /// The token's row of the unembedding, `width`.
    pub unembedding: Vec<f32>,
    /// The contribution of each term to the logit, `terms`.
    pub contributions: Vec<f32>,
    /// The contribution of the final norm's bias β.
    pub offset: f32,
    /// The logit as the model computed it.
    pub logit: f32,
    /// P(next token | tokens up to the position), `V`.
    pub probabilities: Vec<f32>,
}

/// How long each term of the full model's stream was at the measured steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// The held-out text that every step is measured on.
    pub passage: String,
    pub sources: Vec<Source>,
    /// From step 0 to the present one. They thin out: there are at most a few hundred.
    pub steps: Vec<u32>,
    /// Euclidean norm of each term after the last block, the mean over the passage's positions,
    /// `[steps, terms]`.
    pub lengths: Array,
}

impl Growth {
    /// The terms' lengths at each step, the present one last.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = (u32, &[f32])> {
        let lengths = self.lengths.values.chunks(self.sources.len().max(1));
        self.steps.iter().copied().zip(lengths)
    }
}

/// One model's gradients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Depths {
    /// Norm of dL/dx over a batch, where x is the stream before the first block, after it, and so
    /// on: one more than there are blocks.
    pub norms: Vec<f32>,
    pub loss: f32,
}

/// Predictions of the full model with activations dropped at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ensemble {
    pub position: u32,
    /// P(next token) of each sub-network, `[MASKS, V]`.
    pub each: Array,
    /// Their mean, `V`.
    pub mean: Vec<f32>,
    /// The prediction of the full network, `V`.
    pub full: Vec<f32>,
}

/// One token's activations in one feed-forward layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Neurons {
    /// Counted from 1.
    pub layer: u32,
    pub activation: Activation,
    /// The weighted sum of each neuron.
    pub before: Vec<f32>,
    /// The output of each neuron.
    pub after: Vec<f32>,
    /// ReLU, exact GELU and its tanh form over the sums `-4, -3.9, ...`, as [`CURVES`] says.
    pub curves: Vec<Vec<f32>>,
}

/// Functions of [`Neurons::curves`]; SoLU is not a function of a single number.
pub const CURVES: [Activation; 3] = [Activation::Relu, Activation::Gelu, Activation::GeluTanh];
/// Sums at which [`Neurons::curves`] are computed.
pub fn grid() -> impl Iterator<Item = f32> {
    (-40..=40).map(|tenth| tenth as f32 / 10.0)
}
