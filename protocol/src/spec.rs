//! An experiment: together with its text, it determines every number that training produces.

use core::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::{
    architecture::{Architecture, ArchitectureError, NormPlacement, Positions},
    given::{MAX_GIVEN_CONTEXT, MAX_GIVEN_PARAMETERS, MAX_GIVEN_TOKENS},
    link::rows::choice,
};

/// The largest models that an engine trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most parameters. AdamW keeps three more copies of each, and a training step keeps its activations.
    pub parameters: u64,
    pub layers: u32,
    pub heads: u32,
    pub width: u32,
    pub context: u32,
    /// Most multiply-adds of one forward pass on one sequence: attention over a full context is
    /// computed in one go when somebody asks for it.
    pub forward: u64,
    /// Most multiply-adds of that in one block. Its backward pass, twice as long, is the longest time a
    /// training engine does not respond.
    pub block: u64,
}

impl Limits {
    /// In a tab: all that a model needs must stay well below 1 GB, and the engine must respond within about a
    /// tenth of a second on one core of a laptop.
    pub const TAB: Self = Self {
        parameters: 12_000_000,
        layers: 12,
        heads: 16,
        width: 1024,
        context: 512,
        forward: 2_000_000_000,
        block: 500_000_000,
    };
    /// Outside the browser: layers and heads as many as those of the largest GPT-2. How long a step may take is
    /// up to whoever starts it.
    pub const NATIVE: Self = Self {
        parameters: 200_000_000,
        layers: 48,
        heads: 25,
        width: 2048,
        context: 2048,
        forward: u64::MAX,
        block: u64::MAX,
    };

    /// Checks the number of parameters, where that is known.
    pub fn check_parameters(&self, parameters: u64) -> Result<(), SpecError> {
        match parameters > self.parameters {
            true => Err(SpecError::TooManyParameters { parameters, limits: *self }),
            false => Ok(()),
        }
    }

    /// What else can be done where a model is too large.
    fn way_out(&self) -> &'static str {
        match *self == Self::TAB {
            true => {
                " Larger models train in the native engine: “cargo xtask engine” starts it where you have Unroll’s source."
            }
            false => "",
        }
    }

    fn place(&self) -> &'static str {
        if *self == Self::TAB { "in a tab" } else { "in this engine" }
    }
}

/// Most parameters of a model that a tab trains.
pub const MAX_PARAMETERS: u64 = Limits::TAB.parameters;

/// Most blocks an engine will build: however narrow, each costs dozens of tensors.
pub const MAX_LAYERS: u32 = 64;

/// A decoder-only transformer as in GPT-2 (Radford et al. 2019).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GptSpec {
    /// Number of blocks.
    pub layers: u32,
    /// Attention heads in each block; divides `width`.
    pub heads: u32,
    /// Width of the residual stream (d_model).
    pub width: u32,
    /// Longest sequence the model sees, in tokens (T, nanoGPT's block size).
    pub context: u32,
    /// Probability of dropping an activation while training.
    pub dropout: f32,
    /// Whether the output head shares the token embedding's weights.
    pub tied: bool,
    /// Defaults to GPT-2's, for golden-value files that do not name it.
    #[serde(default)]
    pub architecture: Architecture,
}

choice! {
    /// The rule that makes a step of the gradients.
    OptimizerKind {
        /// Adam with decoupled weight decay (Loshchilov and Hutter 2019).
        AdamW = "adamw", "AdamW";
        /// Adam (Kingma and Ba 2015); weight decay is part of the gradient.
        Adam = "adam", "Adam";
        /// Gradient descent with momentum (Polyak 1964), which is `beta1`; weight decay is part of
        /// the gradient.
        Sgd = "sgd", "SGD with momentum";
        /// The blocks' matrices move by their orthogonalized momentum (Jordan et al. 2024),
        /// everything else as under AdamW.
        Muon = "muon", "Muon";
    }
}

choice! {
    /// What the weights are at the start: normal draws, times a standard deviation. Biases are 0.
    Initialization {
        /// 0.02, and less in the layers that write into the residual stream (Radford et al. 2019).
        Gpt2 = "gpt2", "As in GPT-2";
        /// `sqrt(2 / (inputs + outputs))` (Glorot and Bengio 2010); embeddings as in GPT-2.
        Xavier = "xavier", "Xavier";
        /// `sqrt(2 / inputs)` (He et al. 2015); embeddings as in GPT-2.
        He = "he", "He";
        /// 1 for every weight.
        Large = "large", "Far too large";
        /// Every weight is 0.
        Zero = "zero", "All zero";
    }
}

choice! {
    /// What the tokens of a text are.
    TokenKind {
        Characters = "characters", "Characters";
        /// The bytes of the text as UTF-8.
        Bytes = "bytes", "Bytes";
        /// Bytes, and pairs of them that were merged (Gage 1994; Sennrich et al. 2016).
        Pairs = "pairs", "Byte pairs";
    }
}

/// Largest vocabulary of single characters, including the unknown one.
pub const MAX_VOCABULARY: usize = 512;
/// Fewest and most merges of byte pairs.
pub const MERGES: [u32; 2] = [16, 768];

/// How a text becomes tokens. Byte pairs are learned on that text.
///
/// A message holds it as one number, which takes a tenth of the code that serde makes of an enum; an
/// exported figure as a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "u32")]
pub enum Tokens {
    #[default]
    Characters,
    Bytes,
    /// So many merges beyond the 256 bytes, or as many as the text gives.
    Pairs {
        merges: u32,
    },
    /// Those of the tokenizer that came with a [given model](crate::given).
    Given,
}

impl Serialize for Tokens {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            tokens if !serializer.is_human_readable() => u32::from(tokens).serialize(serializer),
            Self::Characters => serializer.serialize_str("characters"),
            Self::Bytes => serializer.serialize_str("bytes"),
            Self::Given => serializer.serialize_str("the model's own"),
            Self::Pairs { merges } => serializer.collect_str(&format_args!("{merges} byte pairs")),
        }
    }
}

impl From<u32> for Tokens {
    fn from(number: u32) -> Self {
        match number {
            0 => Self::Characters,
            1 => Self::Bytes,
            u32::MAX => Self::Given,
            merges => Self::Pairs { merges: merges - 1 },
        }
    }
}

impl From<Tokens> for u32 {
    fn from(tokens: Tokens) -> Self {
        match tokens {
            Tokens::Characters => 0,
            Tokens::Bytes => 1,
            Tokens::Pairs { merges } => merges.saturating_add(1).min(u32::MAX - 1),
            Tokens::Given => u32::MAX,
        }
    }
}

impl Tokens {
    /// What one of them is called.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Characters => "character",
            Self::Bytes | Self::Pairs { .. } | Self::Given => "token",
        }
    }
}

/// An optimizer with linear warm-up and cosine decay of its learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimizerSpec {
    /// Defaults to AdamW, for golden-value files that do not name it.
    #[serde(default = "OptimizerKind::usual")]
    pub kind: OptimizerKind,
    /// Peak learning rate, reached at the end of the warm-up.
    pub learning_rate: f32,
    /// Steps over which the learning rate rises linearly from 0.
    pub warmup_steps: u32,
    /// Step at which the cosine reaches its floor, a tenth of the peak; it stays there afterwards.
    pub decay_steps: u32,
    /// Weight decay of matrices; biases, norms and gains are not decayed.
    pub weight_decay: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub epsilon: f32,
    /// Largest global norm of the gradient over all parameters; 0 switches clipping off.
    pub clip_norm: f32,
}

impl OptimizerKind {
    const fn usual() -> Self {
        Self::AdamW
    }
}

impl Default for OptimizerSpec {
    fn default() -> Self {
        Self {
            kind: OptimizerKind::usual(),
            learning_rate: 5e-3,
            warmup_steps: 20,
            decay_steps: 5000,
            weight_decay: 0.1,
            beta1: 0.9,
            beta2: 0.99,
            epsilon: 1e-8,
            clip_norm: 1.0,
        }
    }
}

/// A model, how it is trained, and the seed of all randomness (weights, batches, dropout).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentSpec {
    pub seed: u32,
    pub initialization: Initialization,
    pub gpt: GptSpec,
    pub optimizer: OptimizerSpec,
    /// Sequences in one training step (B).
    pub batch: u32,
    pub tokens: Tokens,
}

/// Why a spec can't be built. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecError {
    Zero {
        what: &'static str,
    },
    HeadsDoNotDivide {
        heads: u32,
        width: u32,
    },
    Architecture(ArchitectureError),
    TooManyParameters {
        parameters: u64,
        limits: Limits,
    },
    /// One of the numbers that a model is built of is beyond the limits.
    TooLarge {
        what: &'static str,
        value: u32,
        most: u32,
        limits: Limits,
    },
    TooLargeToOpen {
        parameters: u64,
        context: u32,
    },
    TooMuchWork {
        limits: Limits,
    },
    OutOfRange {
        what: &'static str,
        value: f32,
    },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero { what } => write!(f, "The {what} must be at least 1."),
            Self::HeadsDoNotDivide { heads, width } => write!(
                f,
                "{heads} heads do not divide a width of {width}: each head takes an equal share of \
                 the width, so choose a width that is a multiple of {heads}."
            ),
            Self::Architecture(error) => error.fmt(f),
            Self::TooManyParameters { parameters, limits } => write!(
                f,
                "A model of {:.1} million parameters is too big to train {} (the limit is {} \
                 million): choose fewer layers or a smaller width.{}",
                *parameters as f64 / 1e6,
                limits.place(),
                limits.parameters / 1_000_000,
                limits.way_out()
            ),
            Self::TooLarge { what, value, most, limits } => write!(
                f,
                "The {what} is {value}, which is too large to train {} (the limit is {most}).{}",
                limits.place(),
                limits.way_out()
            ),
            Self::TooLargeToOpen { parameters, context } => write!(
                f,
                "It has {:.0} million parameters and a context of {context} tokens. A tab can hold {} million \
                 and {MAX_GIVEN_CONTEXT}.",
                *parameters as f64 / 1e6,
                MAX_GIVEN_PARAMETERS / 1_000_000
            ),
            Self::TooMuchWork { limits } => write!(
                f,
                "One sequence through this model would take too long to stay responsive: choose a \
                 shorter context, fewer layers or a smaller width.{}",
                limits.way_out()
            ),
            Self::OutOfRange { what, value } => {
                write!(f, "{value} is not a usable {what}.")
            }
        }
    }
}

impl std::error::Error for SpecError {}

/// Number of parameters of a feed-forward layer of this width: two matrices between the stream and four
/// times as many neurons, and their biases.
pub fn feed_forward_parameters(width: u64) -> u64 {
    (4 * width * width + 4 * width) + (4 * width * width + width)
}

impl GptSpec {
    /// Number of trained parameters for a vocabulary of `vocab` tokens.
    ///
    /// Key biases are not in the model: softmax is invariant to them, so their true gradient is 0.
    pub fn parameter_count(&self, vocab: usize) -> u64 {
        let (layers, width) = (u64::from(self.layers), u64::from(self.width));
        let (context, vocab) = (u64::from(self.context), vocab as u64);
        let Architecture { positions, norm, norm_kind, attention, feed_forward, .. } =
            self.architecture;
        let if_there = |there: bool, count: u64| if there { count } else { 0 };
        let one_norm = norm_kind.parameters() * width;
        let each_norm = if_there(norm != NormPlacement::None, one_norm);
        // Query and value have biases, key has none; then comes the output projection.
        let attention_layer = 3 * width * width + 2 * width + width * width + width + each_norm;
        let feed_forward_layer = feed_forward_parameters(width) + each_norm;
        let block = if_there(attention, attention_layer)
            + if_there(feed_forward.is_some(), feed_forward_layer);
        vocab * width
            + if_there(positions == Positions::Learned, context * width)
            + layers * block
            + if_there(norm == NormPlacement::Pre, one_norm)
            + if_there(!self.tied, vocab * width)
    }

    /// Multiply-adds of one forward pass over a full context, without embeddings and head.
    pub fn forward_multiply_adds(&self) -> u64 {
        let (layers, width) = (u64::from(self.layers), u64::from(self.width));
        let context = u64::from(self.context);
        layers * (12 * width * width * context + 2 * context * context * width)
    }

    /// Checks everything that does not depend on the vocabulary.
    pub fn validate(&self, limits: &Limits) -> Result<(), SpecError> {
        for (what, value, most) in [
            ("number of layers", self.layers, limits.layers),
            ("number of heads", self.heads, limits.heads),
            ("width", self.width, limits.width),
            ("context", self.context, limits.context),
        ] {
            if value > most {
                return Err(SpecError::TooLarge { what, value, most, limits: *limits });
            }
        }
        self.validate_form()?;
        limits.check_parameters(self.parameter_count(0))?;
        let work = self.forward_multiply_adds();
        if work > limits.forward || work / u64::from(self.layers) > limits.block {
            return Err(SpecError::TooMuchWork { limits: *limits });
        }
        Ok(())
    }

    /// Checks a model that is only asked and not trained, with so many tokens.
    pub fn validate_given(&self, vocabulary: usize) -> Result<(), SpecError> {
        self.validate_form()?;
        let (parameters, context) = (self.parameter_count(vocabulary), self.context);
        let fits = parameters <= MAX_GIVEN_PARAMETERS
            && context <= MAX_GIVEN_CONTEXT
            && vocabulary <= MAX_GIVEN_TOKENS;
        if fits { Ok(()) } else { Err(SpecError::TooLargeToOpen { parameters, context }) }
    }

    /// Checks what has to hold for a model of any size.
    fn validate_form(&self) -> Result<(), SpecError> {
        for (what, value) in [
            ("number of layers", self.layers),
            ("number of heads", self.heads),
            ("width", self.width),
            ("context", self.context),
        ] {
            if value == 0 {
                return Err(SpecError::Zero { what });
            }
        }
        // A hostile message may hold numbers whose product overflows; none of these can be built.
        let largest = self.layers.max(self.heads).max(self.width).max(self.context);
        if largest > 65_536 || self.layers > MAX_LAYERS {
            return Err(SpecError::OutOfRange { what: "size", value: largest as f32 });
        }
        if !self.width.is_multiple_of(self.heads) {
            return Err(SpecError::HeadsDoNotDivide { heads: self.heads, width: self.width });
        }
        self.architecture
            .validate(self.width, self.width / self.heads)
            .map_err(SpecError::Architecture)?;
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(SpecError::OutOfRange { what: "dropout", value: self.dropout });
        }
        Ok(())
    }
}

impl OptimizerSpec {
    /// Checks that every rate is a number in its range.
    pub fn validate(&self) -> Result<(), SpecError> {
        let open = |what, value: f32, ok: bool| {
            if ok { Ok(()) } else { Err(SpecError::OutOfRange { what, value }) }
        };
        let rate = self.learning_rate;
        open("learning rate", rate, rate.is_finite() && rate > 0.0)?;
        let decay = self.weight_decay;
        open("weight decay", decay, decay.is_finite() && decay >= 0.0)?;
        open("beta1", self.beta1, (0.0..1.0).contains(&self.beta1))?;
        open("beta2", self.beta2, (0.0..1.0).contains(&self.beta2))?;
        open("epsilon", self.epsilon, self.epsilon.is_finite() && self.epsilon > 0.0)?;
        open("clipping norm", self.clip_norm, self.clip_norm.is_finite() && self.clip_norm >= 0.0)
    }
}

impl ExperimentSpec {
    /// Checks the whole spec; the error is the sentence for the first problem.
    pub fn validate(&self, limits: &Limits) -> Result<(), SpecError> {
        self.gpt.validate(limits)?;
        self.optimizer.validate()?;
        if self.batch == 0 {
            return Err(SpecError::Zero { what: "batch" });
        }
        if self.batch > 4096 {
            return Err(SpecError::OutOfRange { what: "batch", value: self.batch as f32 });
        }
        // Only a hostile message can ask for it.
        if self.tokens == Tokens::Given {
            return Err(SpecError::OutOfRange { what: "kind of tokens", value: u32::MAX as f32 });
        }
        if let Tokens::Pairs { merges } = self.tokens
            && !(MERGES[0]..=MERGES[1]).contains(&merges)
        {
            return Err(SpecError::OutOfRange { what: "number of merges", value: merges as f32 });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Packed, architecture::NormKind};

    fn spec() -> ExperimentSpec {
        Link::default().experiment()
    }

    #[test]
    fn the_default_is_buildable() {
        assert_eq!(spec().validate(&Limits::TAB), Ok(()));
    }

    #[test]
    fn tokens_are_one_number_in_a_message() {
        let [least, most] = MERGES.map(|merges| Tokens::Pairs { merges });
        for tokens in [Tokens::Characters, Tokens::Bytes, least, most, Tokens::Given] {
            assert_eq!(Packed::of(&tokens).unpack(), Ok(tokens));
        }
    }

    #[test]
    fn counts_nano_gpts_parameters() {
        let gpt = GptSpec {
            layers: 4,
            heads: 4,
            width: 128,
            context: 64,
            dropout: 0.0,
            tied: false,
            architecture: Architecture::GPT2,
        };
        // By hand: embeddings 65*128 + 64*128, four blocks of 198144 without four key biases of
        // 128, final norm 256, head 65*128.
        assert_eq!(gpt.parameter_count(65), 8320 + 8192 + 4 * (198_272 - 128) + 256 + 8320);
        // RMSNorm has no biases: two norms in each block, and the final one.
        let architecture = Architecture { norm_kind: NormKind::Rms, ..Architecture::GPT2 };
        let rms = GptSpec { architecture, ..gpt };
        assert_eq!(rms.parameter_count(65), gpt.parameter_count(65) - 9 * 128);
    }

    #[test]
    fn refuses_with_a_sentence() {
        let with = |change: fn(&mut ExperimentSpec)| {
            let mut spec = spec();
            change(&mut spec);
            spec.validate(&Limits::TAB).unwrap_err()
        };
        let heads = with(|s| s.gpt.heads = 5);
        assert_eq!(heads, SpecError::HeadsDoNotDivide { heads: 5, width: 64 });
        assert!(matches!(with(|s| s.gpt.width = 1024), SpecError::TooManyParameters { .. }));
        let layers = with(|s| s.gpt.layers = u32::MAX);
        assert!(matches!(layers, SpecError::TooLarge { most: 12, .. }), "{layers}");
        let work = with(|s| (s.gpt.layers, s.gpt.width, s.gpt.context) = (2, 600, 512));
        assert_eq!(work, SpecError::TooMuchWork { limits: Limits::TAB });
        assert!(matches!(with(|s| s.gpt.layers = 0), SpecError::Zero { .. }));
        assert!(matches!(with(|s| s.batch = 0), SpecError::Zero { .. }));
        let merges = with(|s| s.tokens = Tokens::Pairs { merges: MERGES[1] + 1 });
        assert!(merges.to_string().contains("number of merges"), "{merges}");
        assert!(matches!(with(|s| s.gpt.dropout = f32::NAN), SpecError::OutOfRange { .. }));
        let nan = with(|s| s.optimizer.learning_rate = f32::NAN);
        assert!(nan.to_string().contains("learning rate"), "{nan}");
    }

    fn shape(layers: u32, heads: u32, width: u32, context: u32) -> GptSpec {
        GptSpec { layers, heads, width, context, ..spec().gpt }
    }

    #[test]
    fn outside_the_browser_models_may_be_larger() {
        // GPT-2, and the widest, deepest and longest that there can be.
        for (large, kept_out_by) in [
            (shape(12, 12, 768, 1024), "context"),
            (shape(2, 8, 736, 512), "million parameters"),
            (shape(48, 4, 256, 128), "number of layers"),
            (shape(1, 25, 100, 64), "number of heads"),
            (shape(1, 16, 2048, 64), "width"),
            (shape(1, 2, 16, 2048), "context"),
            (shape(4, 4, 512, 512), "million parameters"),
        ] {
            assert_eq!(large.validate(&Limits::NATIVE), Ok(()), "{large:?}");
            let sentence = large.validate(&Limits::TAB).unwrap_err().to_string();
            assert!(sentence.contains(kept_out_by), "{sentence}");
            assert!(sentence.contains("native engine"), "{sentence}");
        }
        // There are limits, too, and nothing else to turn to.
        for larger in [
            shape(49, 4, 64, 64),
            shape(1, 4, 64, 2049),
            shape(1, 26, 52, 64),
            shape(1, 4, 2052, 64),
            // GPT-2 medium.
            shape(24, 16, 1024, 1024),
        ] {
            let sentence = larger.validate(&Limits::NATIVE).unwrap_err().to_string();
            assert!(sentence.contains("in this engine"), "{sentence}");
            assert!(!sentence.contains("native"), "{sentence}");
        }
    }
}
