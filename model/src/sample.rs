//! Text generation.

use core::fmt;

use burn::tensor::Tensor;
use rand::rngs::ChaCha8Rng;
use unroll_protocol::SampleSpec;

use crate::{
    data::token_tensor,
    gpt::Gpt,
    random::{Purpose, stream, unit},
    read::{ReadError, read_all},
    tokenizer::CharTokenizer,
};

/// Why a model could not generate text. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleError {
    Temperature { value: f32 },
    NothingKnown,
    NotANumber,
    Read(ReadError),
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Temperature { value } => write!(
                f,
                "{value} is not a usable temperature: choose 0 (always the likeliest) or more."
            ),
            Self::NothingKnown => {
                write!(f, "The vocabulary is empty, so there is nothing to write with.")
            }
            Self::NotANumber => write!(
                f,
                "The model's logits are not numbers: training diverged, so it can't write. Go back \
                 to the last good step or start again."
            ),
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SampleError {}

/// Generates one token at a time, so that other work can run in between.
#[derive(Debug)]
pub struct Generator {
    tokenizer: CharTokenizer,
    /// The end of prompt and text that the model reads.
    window: Vec<u32>,
    written: Vec<u32>,
    length: usize,
    context: usize,
    temperature: f32,
    top_k: usize,
    rng: ChaCha8Rng,
}

impl Generator {
    /// Starts after the prompt. An empty prompt counts as a line break, or as the first known
    /// character if the vocabulary has no line break, since a model needs some context.
    pub fn new(
        tokenizer: &CharTokenizer,
        spec: &SampleSpec,
        context: usize,
    ) -> Result<Self, SampleError> {
        check_temperature(spec.temperature)?;
        let mut window = tokenizer.encode(&spec.prompt);
        if window.is_empty() {
            let first = *tokenizer.characters().first().ok_or(SampleError::NothingKnown)?;
            let newline = tokenizer.id('\n');
            window.push(if newline == 0 { tokenizer.id(first) } else { newline });
        }
        window.drain(..window.len().saturating_sub(context));
        Ok(Self {
            tokenizer: tokenizer.clone(),
            window,
            written: Vec::new(),
            length: spec.length as usize,
            context,
            temperature: spec.temperature,
            top_k: spec.top_k as usize,
            rng: stream(spec.seed, Purpose::Sample, [0; 3]),
        })
    }

    /// Whether the text has the requested length.
    pub fn is_done(&self) -> bool {
        self.written.len() >= self.length
    }

    /// The text generated so far, without the prompt.
    pub fn text(&self) -> String {
        self.tokenizer.decode(&self.written)
    }

    /// Generates one more token, unless the text is done.
    pub async fn advance(&mut self, model: &Gpt) -> Result<(), SampleError> {
        if self.is_done() {
            return Ok(());
        }
        let read = read_all([self.next_logits(model)]).await.map_err(SampleError::Read)?;
        self.push(&read[0])
    }

    /// Logits of the next token, still on the device.
    ///
    /// # Shapes
    ///
    /// - output: `[vocabulary]`
    pub fn next_logits(&self, model: &Gpt) -> Tensor<1> {
        model.forward_last(token_tensor(&self.window, 1, &model.device())).reshape([-1])
    }

    /// Chooses and appends the next token, given its logits.
    pub fn push(&mut self, logits: &[f32]) -> Result<(), SampleError> {
        let probabilities = distribution(logits, self.temperature, self.top_k)?;
        let token = choose(&probabilities, unit(&mut self.rng)) as u32;
        self.written.push(token);
        if self.window.len() == self.context {
            self.window.remove(0);
        }
        self.window.push(token);
        Ok(())
    }
}

/// The distribution a sampler draws from: softmax of the `top_k` largest logits (0 keeps all)
/// divided by the temperature. At temperature 0 the largest logit has probability 1. Ties between
/// equal logits go to the lower id.
pub fn distribution(
    logits: &[f32],
    temperature: f32,
    top_k: usize,
) -> Result<Vec<f32>, SampleError> {
    check_temperature(temperature)?;
    if logits.is_empty() {
        return Err(SampleError::NothingKnown);
    }
    // A logit of -inf rules a token out; +inf or NaN makes no distribution.
    if logits.iter().any(|logit| logit.is_nan() || *logit == f32::INFINITY) {
        return Err(SampleError::NotANumber);
    }
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
    let largest = logits[order[0]];
    if largest == f32::NEG_INFINITY {
        return Err(SampleError::NotANumber);
    }
    let kept = if temperature == 0.0 { 1 } else { top_k };
    if kept > 0 {
        order.truncate(kept);
    }
    let mut probabilities = vec![0.0; logits.len()];
    let mut sum = 0.0;
    for &id in &order {
        // Subtract before dividing: with a tiny temperature the logits themselves would overflow.
        let difference = f64::from(logits[id]) - f64::from(largest);
        let weight =
            if difference == 0.0 { 1.0 } else { libm::exp(difference / f64::from(temperature)) };
        probabilities[id] = weight as f32;
        sum += weight;
    }
    for probability in &mut probabilities {
        *probability = (f64::from(*probability) / sum) as f32;
    }
    Ok(probabilities)
}

/// The index at which the cumulative sum of `probabilities` exceeds `draw`.
pub(crate) fn choose(probabilities: &[f32], draw: f64) -> usize {
    let mut sum = 0.0;
    let mut last = 0;
    for (index, &probability) in probabilities.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        sum += f64::from(probability);
        last = index;
        if draw < sum {
            return index;
        }
    }
    // Rounding can leave the sum just below 1.
    last
}

fn check_temperature(value: f32) -> Result<(), SampleError> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(SampleError::Temperature { value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random logits, the same each time.
    fn cases() -> impl Iterator<Item = Vec<f32>> {
        (0..200u32).map(|case| {
            let mut rng = stream(case, Purpose::Sample, [1; 3]);
            let count = 1 + case as usize % 40;
            let scale = 10f64.powi(case as i32 % 7 - 3);
            (0..count).map(|_| ((unit(&mut rng) - 0.5) * scale) as f32).collect()
        })
    }

    #[test]
    fn distributions_sum_to_1_and_keep_the_order() {
        for (case, logits) in cases().enumerate() {
            let top_k = case % 12;
            let temperature = [0.0, 1e-6, 0.5, 1.0, 3.0][case % 5];
            let probabilities = distribution(&logits, temperature, top_k).unwrap();
            let sum: f32 = probabilities.iter().sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
            let kept = probabilities.iter().filter(|&&p| p > 0.0).count();
            assert!(top_k == 0 || kept <= top_k);
            for (a, pa) in logits.iter().zip(&probabilities) {
                for (b, pb) in logits.iter().zip(&probabilities) {
                    assert!(a <= b || pa >= pb, "{a} {b} {pa} {pb}");
                }
            }
        }
    }

    #[test]
    fn temperature_0_is_greedy_and_1_is_softmax() {
        for logits in cases() {
            let greedy = distribution(&logits, 0.0, 0).unwrap();
            let best = greedy.iter().position(|&p| p == 1.0).unwrap();
            assert!(logits.iter().all(|&logit| logit <= logits[best]));
            let plain = distribution(&logits, 1.0, 0).unwrap();
            for (p, a) in plain.iter().zip(&logits) {
                let odds = (f64::from(*a) - f64::from(logits[best])).exp() * f64::from(plain[best]);
                assert!((f64::from(*p) - odds).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn what_makes_no_distribution_is_refused() {
        let refused = |logits: &[f32], temperature| distribution(logits, temperature, 0).is_err();
        assert!(refused(&[1.0, f32::NAN], 1.0));
        assert!(refused(&[1.0, f32::INFINITY], 1.0));
        assert!(refused(&[f32::NEG_INFINITY; 2], 1.0));
        assert!(refused(&[], 1.0));
        assert!(refused(&[1.0], -0.5));
        assert!(refused(&[1.0], f32::NAN));
        assert!(refused(&[1.0], f32::INFINITY));
        assert_eq!(distribution(&[0.0, f32::NEG_INFINITY], 1.0, 0).unwrap(), [1.0, 0.0]);
    }

    #[test]
    fn choice_follows_the_probabilities_and_never_picks_0() {
        assert_eq!(choose(&[0.25, 0.0, 0.75], 0.0), 0);
        assert_eq!(choose(&[0.25, 0.0, 0.75], 0.25), 2);
        assert_eq!(choose(&[0.25, 0.0, 0.75], 0.999_999), 2);
        assert_eq!(choose(&[0.5, 0.499_999, 0.0], 0.999_999_9), 1);
    }
}
