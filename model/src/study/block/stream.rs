//! The residual stream as a sum of terms, and a logit as a sum over the same terms.

use burn::tensor::activation::softmax;
use unroll_protocol::{
    Array,
    architecture::NormPlacement,
    study::block::{Shown, Source, Stream},
};

use super::{Passage, Refusal, Study};
use crate::{Gpt, read_all, token_tensor};

/// Added to a variance by every norm of a [`Gpt`].
const EPSILON: f64 = 1e-5;

/// A norm's gain and bias.
struct Norm {
    gamma: Vec<f64>,
    beta: Vec<f64>,
}

/// The stream of one model as a sum. Every term is `[T, width]`.
struct Sum {
    width: usize,
    residual: bool,
    terms: Vec<(Source, Vec<f64>)>,
}

impl Sum {
    /// Adds a layer's output. Without residual connections it replaces everything before.
    fn write(&mut self, source: Source, output: Vec<f64>) {
        if !self.residual {
            self.terms.clear();
        }
        // The norms' biases stay last.
        let offsets = self.terms.iter().position(|(source, _)| *source == Source::NormOffsets);
        self.terms.insert(offsets.unwrap_or(self.terms.len()), (source, output));
    }

    /// The sum of all terms.
    fn total(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.terms[0].1.len()];
        for (_, term) in &self.terms {
            total.iter_mut().zip(term).for_each(|(sum, value)| *sum += value);
        }
        total
    }

    /// Euclidean norm of each term at each position, term by term.
    fn sizes(&self) -> Vec<f32> {
        self.terms.iter().flat_map(|(_, term)| term.chunks(self.width).map(length)).collect()
    }

    /// Applies a norm of the sum to every term. Given the deviation, a norm is linear: each term
    /// loses its own mean and is divided and scaled like the rest, and the bias β is one more term.
    fn normalize(&mut self, norm: &Norm) {
        let width = self.width;
        let deviations: Vec<f64> = self.total().chunks(width).map(deviation).collect();
        for (_, term) in &mut self.terms {
            for (row, deviation) in term.chunks_mut(width).zip(&deviations) {
                let mean = mean(row);
                for (value, gamma) in row.iter_mut().zip(&norm.gamma) {
                    *value = (*value - mean) / deviation * gamma;
                }
            }
        }
        if self.terms.last().is_none_or(|(source, _)| *source != Source::NormOffsets) {
            let nothing = vec![0.0; deviations.len() * width];
            self.terms.push((Source::NormOffsets, nothing));
        }
        if let Some((_, offsets)) = self.terms.last_mut() {
            for row in offsets.chunks_mut(width) {
                row.iter_mut().zip(&norm.beta).for_each(|(value, beta)| *value += beta);
            }
        }
    }
}

fn mean(row: &[f64]) -> f64 {
    row.iter().sum::<f64>() / row.len() as f64
}

/// The standard deviation by which a norm divides a row.
fn deviation(row: &[f64]) -> f64 {
    let mean = mean(row);
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / row.len() as f64;
    (variance + EPSILON).sqrt()
}

fn length(row: &[f64]) -> f32 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt() as f32
}

impl Study {
    /// Decomposes the stream over `passage`, and the logit of `token`, counted from 1 (0 is the
    /// likeliest), at the passage's position.
    pub(super) async fn stream(
        &self,
        passage: Passage,
        shown: Shown,
        token: u32,
    ) -> Result<Stream, Refusal> {
        let vocabulary = self.tokenizer.len();
        if token as usize > vocabulary {
            return Err(Refusal(format!(
                "There is no token {token}: this text has {vocabulary} different ones."
            )));
        }
        let model = self.model(shown);
        let read = Computed::of(model, &passage).await?;
        let Computed { sum, final_norm, head, logits, probabilities } = read;
        let (width, position) = (sum.width, passage.position);
        let token = match token.checked_sub(1) {
            Some(token) => token as usize,
            None => (0..vocabulary)
                .max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]))
                .unwrap_or(0),
        };
        let row = |term: &[f64]| term[position * width..][..width].to_vec();
        let total = sum.total();
        let deviation = final_norm.as_ref().map(|_| deviation(&row(&total)));
        let unembedding: Vec<f64> = (0..width).map(|i| head[i * vocabulary + token]).collect();
        let gamma = final_norm.as_ref().map_or_else(|| vec![1.0; width], |n| n.gamma.clone());
        let contribution = |term: &[f64]| -> f64 {
            let (mean, scale) = match deviation {
                Some(deviation) => (mean(term), deviation),
                None => (0.0, 1.0),
            };
            let parts = term.iter().zip(&gamma).zip(&unembedding);
            parts.map(|((x, gamma), u)| (x - mean) / scale * gamma * u).sum()
        };
        let offset: f64 = final_norm
            .as_ref()
            .map_or(0.0, |norm| norm.beta.iter().zip(&unembedding).map(|(beta, u)| beta * u).sum());
        let small = |values: &[f64]| -> Vec<f32> { values.iter().map(|v| *v as f32).collect() };
        let terms: Vec<Vec<f64>> = sum.terms.iter().map(|(_, term)| row(term)).collect();
        let count = sum.terms.len() as u32;
        Ok(Stream {
            shown,
            tokens: passage
                .ids
                .iter()
                .map(|id| self.tokenizer.character(*id).to_string())
                .collect(),
            dropped: passage.dropped as u32,
            position: position as u32,
            token: token as u32,
            next: passage.ids.get(position + 1).copied(),
            sources: sum.terms.iter().map(|(source, _)| *source).collect(),
            sizes: Array { shape: vec![count, passage.ids.len() as u32], values: sum.sizes() },
            whole: total.chunks(width).map(length).collect(),
            contributions: terms.iter().map(|term| contribution(term) as f32).collect(),
            terms: Array {
                shape: vec![count, width as u32],
                values: terms.iter().flat_map(|term| small(term)).collect(),
            },
            deviation: deviation.map(|deviation| deviation as f32),
            gamma: small(&gamma),
            unembedding: small(&unembedding),
            offset: offset as f32,
            logit: logits[token],
            probabilities,
        })
    }
}

/// The sources of a model's terms, and the mean over the passage's positions of each one's length.
pub(super) async fn mean_sizes(
    model: &Gpt,
    passage: &Passage,
) -> Result<(Vec<Source>, Vec<f32>), Refusal> {
    let Computed { sum, .. } = Computed::of(model, passage).await?;
    let mean = |sizes: &[f32]| {
        (sizes.iter().map(|size| f64::from(*size)).sum::<f64>() / sizes.len() as f64) as f32
    };
    let sources = sum.terms.iter().map(|(source, _)| *source).collect();
    Ok((sources, sum.sizes().chunks(passage.ids.len()).map(mean).collect()))
}

/// What one pass computed, read back.
struct Computed {
    sum: Sum,
    final_norm: Option<Norm>,
    /// `[width, V]`
    head: Vec<f64>,
    /// At the selected position, `V`.
    logits: Vec<f32>,
    probabilities: Vec<f32>,
}

impl Computed {
    async fn of(model: &Gpt, passage: &Passage) -> Result<Self, Refusal> {
        let tokens = token_tensor(&passage.ids, 1, &model.device());
        let traced = model.forward_traced(tokens, None);
        let [_, _, width] = traced.embeddings.dims();
        let architecture = model.architecture();
        let post = architecture.norm == NormPlacement::Post;

        let logits = traced.logits.narrow(1, passage.position, 1);
        let mut tensors = vec![
            logits.clone().reshape([-1]),
            softmax(logits, 2).reshape([-1]),
            match &model.head {
                Some(head) => head.weight.val().reshape([-1]),
                None => model.token_embedding.weight.val().transpose().reshape([-1]),
            },
            traced.tokens.reshape([-1]),
        ];
        let mut written = vec![Source::Token];
        if let Some(positions) = traced.positions {
            tensors.push(positions.reshape([-1]));
            written.push(Source::Position);
        }
        for (index, (layer, block)) in traced.layers.into_iter().zip(&model.blocks).enumerate() {
            let number = index as u32 + 1;
            for (source, output, norm) in [
                (Source::Attention(number), layer.attention_output, &block.attention_norm),
                (Source::FeedForward(number), layer.feed_forward_output, &block.feed_forward_norm),
            ] {
                let Some(output) = output else { continue };
                tensors.push(output.reshape([-1]));
                written.push(source);
                let norm = norm.as_ref().filter(|_| post);
                tensors.extend(norm.map(|norm| norm.gain_and_bias()).into_iter().flatten());
            }
        }
        let last = model.final_norm.as_ref();
        tensors.extend(last.map(|norm| norm.gain_and_bias()).into_iter().flatten());

        let mut read = read_all(tensors).await?.into_iter();
        let mut plain = || read.next().unwrap_or_default();
        let (logits, probabilities) = (plain(), plain());
        let mut next = || plain().into_iter().map(f64::from).collect::<Vec<f64>>();
        let head = next();
        let mut sum = Sum { width, residual: true, terms: Vec::new() };
        for source in written {
            let output = next();
            let embedded = matches!(source, Source::Token | Source::Position);
            sum.residual = embedded || architecture.residual;
            sum.write(source, output);
            if post && !embedded {
                let norm = Norm { gamma: next(), beta: next() };
                sum.normalize(&norm);
            }
        }
        let final_norm = model.final_norm.is_some().then(|| Norm { gamma: next(), beta: next() });
        Ok(Self { sum, final_norm, head, logits, probabilities })
    }
}
