//! Text generation.

use core::fmt;

use burn::tensor::Tensor;
use rand::rngs::ChaCha8Rng;
use unroll_protocol::{
    architecture::MaskKind,
    gpt::{SampleSpec, Sampling, SamplingError, choose, shares, surprise},
};

use crate::{
    data::token_tensor,
    decode::filled,
    gpt::{Gpt, KeysAndValues},
    random::{Purpose, stream, unit},
    read::{ReadError, read_all},
    tokenizer::Tokenizer,
    trace::{TraceError, as_text},
};

/// Why a model could not generate text. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleError {
    Empty,
    LooksAhead,
    NoClock,
    Sampling(SamplingError),
    Read(ReadError),
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => TraceError::Empty.fmt(f),
            Self::LooksAhead => write!(
                f,
                "This model may look at later characters. So each new one changes what all others \
                 compute, and there is nothing to keep: choose a causal mask."
            ),
            Self::NoClock => write!(f, "There is no clock here to measure with."),
            Self::Sampling(error) => error.fmt(f),
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SampleError {}

impl From<SamplingError> for SampleError {
    fn from(error: SamplingError) -> Self {
        Self::Sampling(error)
    }
}

/// Generates one token at a time, so that other work can run in between.
#[derive(Debug)]
pub struct Generator {
    tokenizer: Tokenizer,
    /// The end of prompt and text that the model reads.
    window: Vec<u32>,
    written: Vec<u32>,
    surprises: Vec<f32>,
    length: usize,
    context: usize,
    sampling: Sampling,
    rng: ChaCha8Rng,
    /// Keys and values of the tokens at the beginning of the window, as long as it has not moved.
    cache: Vec<KeysAndValues>,
    /// How many these are.
    cached: usize,
    has_moved: bool,
}

impl Generator {
    /// Starts after the prompt. An empty prompt counts as [`Tokenizer::beginning`], since a model
    /// needs some context.
    pub fn new(
        tokenizer: &Tokenizer,
        spec: &SampleSpec,
        context: usize,
    ) -> Result<Self, SampleError> {
        // A sampling that can't be used is refused before the model has worked for it.
        shares(&[0.0], &spec.sampling)?;
        let mut window = tokenizer.read(&spec.prompt).tokens;
        if window.is_empty() {
            window.push(tokenizer.beginning().ok_or(SamplingError::NothingKnown)?);
        }
        window.drain(..window.len().saturating_sub(context));
        Ok(Self {
            tokenizer: tokenizer.clone(),
            window,
            written: Vec::new(),
            surprises: Vec::new(),
            length: spec.length as usize,
            context,
            sampling: spec.sampling,
            rng: stream(spec.seed, Purpose::Sample, [0; 3]),
            cache: Vec::new(),
            cached: 0,
            has_moved: false,
        })
    }

    /// Whether the text has the requested length.
    pub fn is_done(&self) -> bool {
        self.written.len() >= self.length
    }

    /// The text generated so far, without the prompt. A character whose last bytes are still to come
    /// is held back.
    pub fn text(&self) -> String {
        self.tokenizer.written(&self.written)
    }

    /// The tokens generated so far, as text.
    pub fn tokens(&self) -> Vec<String> {
        as_text(&self.tokenizer, &self.written)
    }

    /// How surprising the model itself finds each token that was generated: minus the logarithm of
    /// its share at temperature 1, without cuts, in nats.
    pub fn surprises(&self) -> &[f32] {
        &self.surprises
    }

    /// Generates one more token, unless the text is done.
    pub async fn advance(&mut self, model: &Gpt) -> Result<(), SampleError> {
        if self.is_done() {
            return Ok(());
        }
        let read = read_all([self.next_logits(model)]).await.map_err(SampleError::Read)?;
        self.push(&read[0])
    }

    /// Logits of the next token, still on the device. Always of the same model: keys and values of what
    /// was read before are kept.
    ///
    /// Once the window moves, every token stands at another position, and nothing that was kept is true
    /// any more.
    ///
    /// # Shapes
    ///
    /// - output: `[vocabulary]`
    pub fn next_logits(&mut self, model: &Gpt) -> Tensor<1> {
        let tokens = |tokens: &[u32]| token_tensor(tokens, 1, &model.device());
        if self.has_moved || model.architecture().mask == MaskKind::Full {
            self.cache.clear();
            return model.forward_last(tokens(&self.window)).reshape([-1]);
        }
        let (&last, before) = self.window.split_last().expect("there is always a token");
        if self.cached != before.len() {
            self.cache = filled(model, before);
        }
        self.cached = self.window.len();
        model.forward_next(tokens(&[last]), before.len(), &mut self.cache).logits.reshape([-1])
    }

    /// Chooses and appends the next token, given its logits.
    pub fn push(&mut self, logits: &[f32]) -> Result<(), SampleError> {
        let drawn_from = shares(logits, &self.sampling)?;
        let token = choose(&drawn_from, unit(&mut self.rng));
        self.surprises.push(surprise(logits, token));
        let token = token as u32;
        self.written.push(token);
        if self.window.len() == self.context {
            self.window.remove(0);
            self.has_moved = true;
        }
        self.window.push(token);
        Ok(())
    }
}
