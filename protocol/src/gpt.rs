//! The GPT lab: what a link says about it, and what can be asked of its model.

use serde::{Deserialize, Serialize};

use crate::{
    Architecture, AttentionRow, ExperimentSpec, GptSpec, OptimizerSpec, Trace, question::questions,
};

/// What a link says about the lab.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub layers: u32,
    pub heads: u32,
    pub width: u32,
    pub context: u32,
    pub batch: u32,
    /// Workers that share each step on the CPU; 0 is automatic.
    pub workers: u32,
    pub learning_rate: f32,
    pub dropout: f32,
    pub tied: bool,
    pub architecture: Architecture,
    pub temperature: f32,
    pub top_k: u32,
    /// Layer and head in the large heatmap, counted from 1.
    pub layer: u32,
    pub head: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            layers: 2,
            heads: 4,
            width: 64,
            context: 48,
            batch: 8,
            workers: 0,
            learning_rate: OptimizerSpec::default().learning_rate,
            dropout: 0.0,
            tied: false,
            architecture: Architecture::GPT2,
            temperature: 0.8,
            top_k: 0,
            layer: 1,
            head: 1,
        }
    }
}

impl Settings {
    /// What the lab trains.
    pub fn spec(&self, seed: u32) -> ExperimentSpec {
        ExperimentSpec {
            seed,
            gpt: GptSpec {
                layers: self.layers,
                heads: self.heads,
                width: self.width,
                context: self.context,
                dropout: self.dropout,
                tied: self.tied,
                architecture: self.architecture,
            },
            optimizer: OptimizerSpec {
                learning_rate: self.learning_rate,
                ..OptimizerSpec::default()
            },
            batch: self.batch,
        }
    }
}

questions! {
    Gpt:
    /// What the model computes on a text, of which it reads the end if its context is shorter.
    Trace { text: String } -> Trace,
    /// One query's row of one head with its arithmetic, all counted from 0, of the text as
    /// [`ask::Trace`] sees it.
    Row { text: String, layer: u32, head: u32, query: u32 } -> AttentionRow,
    /// What the model writes, in place of what it was writing. Answered again and again until it is
    /// [`Written::done`].
    Writing { sample: SampleSpec } -> Written,
}

/// How to choose the next token, again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSpec {
    pub prompt: String,
    /// Tokens to write.
    pub length: u32,
    /// Divides the logits; 0 is greedy.
    pub temperature: f32,
    /// Keeps the k likeliest tokens; 0 keeps all.
    pub top_k: u32,
    pub seed: u32,
}

/// What the model has written so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The prompt is not part of it.
    pub text: String,
    /// Whether this is all of it.
    pub done: bool,
}
