//! The GPT lab: what a link says about it, and what can be asked of its model.

mod batch;
mod decode;
mod inside;
mod pass;
mod sampling;

use serde::{Deserialize, Serialize};

use crate::{
    Architecture, AttentionRow, ExperimentSpec, GptSpec, Initialization, OptimizerKind,
    OptimizerSpec, TokenKind, Tokens, Trace,
    link::{
        Kind, TableRow,
        rows::{choice, chosen, plain},
    },
    question::questions,
};

pub use batch::{Batch, MOST_LEARNED};
pub use decode::{
    After, Beam, Beams, Cached, Grown, MOST_BEAMS, MOST_ENDINGS, MOST_PLIES, MOST_READ, Race,
    Surprise,
};
pub use inside::{
    Alike, HEAD_JOBS, Habits, HeadScores, Lens, MOST_IN_LENS, MOST_PATCHED, MOST_POSITIONS, Patched,
};
pub use pass::{AttentionDetail, BlockSizes, Detail, FeedForwardDetail, MOST_ROWS, Pass, Sizes};
pub use sampling::{Sampling, SamplingError, choose, likeliest, shares, surprise};

/// What a link says about the lab.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub tokens: TokenKind,
    /// Merges of byte pairs, where tokens are those.
    pub merges: u32,
    pub layers: u32,
    pub heads: u32,
    pub width: u32,
    pub context: u32,
    pub batch: u32,
    /// Workers that share each step on the CPU; 0 is automatic.
    pub workers: u32,
    pub initialization: Initialization,
    pub optimizer: OptimizerKind,
    pub learning_rate: f32,
    pub warmup_steps: u32,
    pub weight_decay: f32,
    /// Largest global norm of the gradient; 0 switches clipping off.
    pub clip_norm: f32,
    pub dropout: f32,
    pub tied: bool,
    pub architecture: Architecture,
    pub temperature: f32,
    pub top_k: u32,
    pub top_p: f32,
    pub min_p: f32,
    /// Layer and head in the large heatmap, counted from 1.
    pub layer: u32,
    pub head: u32,
}

impl Default for Settings {
    fn default() -> Self {
        let OptimizerSpec { kind, learning_rate, warmup_steps, weight_decay, clip_norm, .. } =
            OptimizerSpec::default();
        Self {
            tokens: TokenKind::Characters,
            merges: 256,
            layers: 2,
            heads: 4,
            width: 64,
            context: 48,
            batch: 8,
            workers: 0,
            initialization: Initialization::Gpt2,
            optimizer: kind,
            learning_rate,
            warmup_steps,
            weight_decay,
            clip_norm,
            dropout: 0.0,
            tied: false,
            architecture: Architecture::GPT2,
            temperature: 0.8,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            layer: 1,
            head: 1,
        }
    }
}

/// The rows of the settings table for the picture of the whole model.
pub(crate) const MACHINE_ROWS: &[TableRow] = &[
    chosen!(of Machine, "machine-stage", "Stage", machine.stage: Stage,
        "How far along the machine the way of one token is drawn."),
    plain!(of Machine, "machine-row", "Row", machine.row: Whole,
        Kind::Whole { min: 0, max: MOST_ROWS as u32 },
        "The token whose way through the machine is drawn, counted from 1; 0 is the last."),
    plain!(of Machine, "machine-rows", "Rows", machine.rows: Whole,
        Kind::Whole { min: 0, max: MOST_ROWS as u32 },
        "How many tokens the machine reads: the last ones of the text. 0 is as many as one can follow at a \
         glance: 12, or 6 on a phone."),
];

/// The rows of the settings table for choosing the next token.
pub(crate) const DECODE_ROWS: &[TableRow] = &[
    plain!(of Decode, "decode-draw", "Draw", decode.draw: Whole, Kind::Whole { min: 1, max: 9999 },
        "Which series of random numbers is drawn."),
    plain!(of Decode, "decode-beams", "Beams", decode.beams: Whole,
        Kind::Whole { min: 1, max: MOST_BEAMS },
        "How many continuations beam search keeps; 1 is greedy."),
];

/// What a link says about choosing the next token, beside the lab's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodeSettings {
    pub draw: u32,
    pub beams: u32,
}

impl Default for DecodeSettings {
    fn default() -> Self {
        Self { draw: 1, beams: 3 }
    }
}

/// What a link says about the picture of the whole model, beside the lab's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineSettings {
    pub stage: Stage,
    /// The token whose way is drawn, counted from 1; 0 is the last.
    pub row: u32,
    /// The last tokens that are read; 0 is as many as the picture has room for.
    pub rows: u32,
}

impl Default for MachineSettings {
    fn default() -> Self {
        Self { stage: Stage::Whole, row: 0, rows: 0 }
    }
}

choice! {
    /// How far one token has come on its way through the model.
    Stage {
        Whole = "whole", "The whole way";
        Embedding = "embedding", "Embedding";
        Query = "query", "Query and keys";
        Weights = "weights", "Attention weights";
        Mix = "mix", "Mix of values";
        FeedForward = "feed-forward", "Feed-forward";
        Further = "further", "Other blocks";
        Next = "next", "Next token";
    }
}

impl Settings {
    /// How boldly the model writes.
    pub fn sampling(&self) -> Sampling {
        let Self { temperature, top_k, top_p, min_p, .. } = *self;
        Sampling { temperature, top_k, top_p, min_p }
    }

    /// These settings, but with what trains as `spec` says. Its seed is no part of them.
    pub fn with_spec(self, spec: &ExperimentSpec) -> Self {
        let ExperimentSpec { gpt, optimizer, .. } = *spec;
        let (tokens, merges) = match spec.tokens {
            Tokens::Bytes => (TokenKind::Bytes, self.merges),
            Tokens::Pairs { merges } => (TokenKind::Pairs, merges),
            Tokens::Characters | Tokens::Given => (TokenKind::Characters, self.merges),
        };
        Self {
            tokens,
            merges,
            layers: gpt.layers,
            heads: gpt.heads,
            width: gpt.width,
            context: gpt.context,
            batch: spec.batch,
            initialization: spec.initialization,
            optimizer: optimizer.kind,
            learning_rate: optimizer.learning_rate,
            warmup_steps: optimizer.warmup_steps,
            weight_decay: optimizer.weight_decay,
            clip_norm: optimizer.clip_norm,
            dropout: gpt.dropout,
            tied: gpt.tied,
            architecture: gpt.architecture,
            ..self
        }
    }

    /// What the lab trains.
    pub fn spec(&self, seed: u32) -> ExperimentSpec {
        ExperimentSpec {
            seed,
            initialization: self.initialization,
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
                kind: self.optimizer,
                learning_rate: self.learning_rate,
                warmup_steps: self.warmup_steps,
                weight_decay: self.weight_decay,
                clip_norm: self.clip_norm,
                ..OptimizerSpec::default()
            },
            batch: self.batch,
            tokens: match self.tokens {
                TokenKind::Characters => Tokens::Characters,
                TokenKind::Bytes => Tokens::Bytes,
                TokenKind::Pairs => Tokens::Pairs { merges: self.merges },
            },
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
    /// All that happens on the way to the next token, with the block counted from 0 in detail, of the
    /// last `rows` tokens; of [`MOST_ROWS`] at most.
    Pass { text: String, block: u32, rows: u32 } -> Pass,
    /// Text generated by the model, replacing what it was generating for the same place; for other
    /// places it goes on first. Answered repeatedly until the text is [`Written::done`].
    Writing { sample: SampleSpec } -> Written,
    /// Logits of what comes after `text` with each of the `endings`, which are ids of tokens,
    /// [`MOST_ENDINGS`] at most.
    After { text: String, endings: Vec<Vec<u32>> } -> After,
    /// The likeliest continuations of `text` that beam search finds, keeping `width` of them after
    /// each of `length` tokens, and the tree that it finds them in. Its nodes are ids of tokens: those on the
    /// way there are open, and those `opened`; not those `closed`, and what is behind them.
    Tree { text: String, width: u32, length: u32, opened: Vec<Vec<u32>>, closed: Vec<Vec<u32>> } -> Grown,
    /// How surprising the model finds each token of a text, of which it reads [`MOST_READ`] at most.
    Surprise { text: String } -> Surprise,
    /// The last token of `text` read with the keys and values of those before it in a cache.
    Cached { text: String } -> Cached,
    /// How fast the model goes on with `text` for `length` tokens, with a cache and without.
    Race { text: String, length: u32 } -> Race,
    /// What the next step of training learns from, token by token.
    NextBatch {} -> Batch,
    /// What the model would say if it ended after each block: at `count` of the last [`MOST_IN_LENS`] tokens of a
    /// text, with `from` being the first of them, counted from 0. Where there are fewer, at those that there are,
    /// and at the last in any case.
    Lens { text: String, from: u32, count: u32 } -> Lens,
    /// What each head looks at in random tokens that come twice.
    Jobs { seed: u32 } -> HeadScores,
    /// What each head does with a text, in numbers.
    Habits { text: String } -> Habits,
    /// How alike the learned positions are.
    Positions {} -> Alike,
    /// What changes where the stream of one token, after `depth` blocks, is taken from another text: for each
    /// token.
    Patch { from: String, into: String, depth: u32 } -> Patched,
}

/// How to generate text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSpec {
    pub prompt: String,
    /// Number of tokens to generate.
    pub length: u32,
    pub sampling: Sampling,
    pub seed: u32,
    /// Which of the texts that the page shows it is.
    pub place: Place,
}

/// Where on the page a generated text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// What the lab's model writes as it learns.
    Lab,
    /// The passage that is told from a real one.
    Guess,
    /// One of several beside each other.
    Beside(u32),
}

/// What the model has generated so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The text without the prompt. A last character of which bytes are still to come is held back.
    pub text: String,
    /// The tokens that were written, as text.
    pub tokens: Vec<String>,
    /// How surprising the model itself finds each of them, in nats: at temperature 1 and without cuts,
    /// whatever it was drawn with.
    pub surprises: Vec<f32>,
    /// Whether this is all of it.
    pub done: bool,
}
