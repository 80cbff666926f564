//! What the model makes of one source.

use burn::tensor::activation::{log_softmax, softmax};
use unroll_protocol::{
    Array, PairTask,
    study::seq2seq::{BEYOND, MOST_SOURCE, Odds, Prefix, Reading},
    transduction::{Candidate, MOST_BEAM},
};

use super::{Refusal, Study};
use crate::{END, Hypothesis, PairBatch, Pairs, Source, TextPair, read_all, token_tensor};

/// What a search found, as text.
pub(in crate::study) fn candidate(pairs: &Pairs, found: Hypothesis) -> Candidate {
    let Hypothesis { tokens, log_probability, ended } = found;
    Candidate { text: pairs.decode(&tokens), log_probability, ended }
}

impl Study {
    pub(super) async fn reading(
        &self,
        text: Option<&str>,
        example: u32,
        beam: usize,
    ) -> Result<Reading, Refusal> {
        let whole = match text {
            Some(text) => text.to_owned(),
            None => self.example(example)?.source,
        };
        let source: String = whole.chars().take(MOST_SOURCE as usize).collect();
        if source.is_empty() {
            return Err(Refusal(
                "There is nothing to read: write a source of at least one character.".to_owned(),
            ));
        }
        let ids = self.task.encode(&source);
        let mut tokens: Vec<String> = source.chars().map(String::from).collect();
        if self.spec.backwards {
            tokens.reverse();
        }
        let read = self.read(vec![ids.clone()]).concat();
        // Space for outputs that are longer than they should be.
        let most = match self.task.task() {
            PairTask::Dates => self.task.longest_target() + 3,
            _ => ids.len().max(self.spec.longest as usize) + 3,
        };

        let model = self.training.model(0);
        let one = Source::new(core::slice::from_ref(&read), &self.device);
        let mut written = model.decode_greedy(&one, most).await?.concat();
        if written.len() < most {
            written.push(END);
        }
        let steps = written.len();
        let previous: Vec<u32> =
            core::iter::once(END).chain(written[..steps - 1].iter().copied()).collect();
        let trace = model.forward_traced(&one, token_tensor(&previous, 1, &self.device));
        let probabilities = softmax(trace.logits, 2);
        let mut numbers = read_all([
            trace.states.reshape([-1]),
            trace.summary.reshape([-1]),
            trace.decoder.reshape([-1]),
            probabilities.reshape([-1]),
        ])
        .await?
        .into_iter();
        let mut next = || numbers.next().unwrap_or_default();
        let array = |values: Vec<f32>, rows: usize| Array {
            shape: vec![rows as u32, (values.len() / rows) as u32],
            values,
        };
        let states = array(next(), read.len());
        let summary = next();
        let (decoder, probabilities) = (array(next(), steps), array(next(), steps));

        let width = beam.clamp(1, MOST_BEAM as usize);
        let found = model.decode_beam(&one, width, most).await?;
        let beam = found.into_iter().map(|found| candidate(&self.task, found));

        // The state after each character is the last state of the source that ends there.
        let beginnings: Vec<Vec<u32>> = (1..=read.len()).map(|end| read[..end].to_vec()).collect();
        let from_each = model.decode_greedy(&Source::new(&beginnings, &self.device), most).await?;
        let prefixes = from_each.iter().zip(1..).map(|(written, end)| {
            let mut begun: Vec<&str> = tokens[..end].iter().map(String::as_str).collect();
            if self.spec.backwards {
                begun.reverse();
            }
            Prefix { written: self.task.decode(written), right: self.task.answer(&begun.concat()) }
        });
        Ok(Reading {
            unknown: ids.iter().filter(|&&id| id == 0).count() as u32,
            dropped: (whole.chars().count() - ids.len()) as u32,
            right: self.task.answer(&source),
            longest: self.task.longest_source() as u32,
            states,
            summary,
            decoder,
            symbols: self.task.target_symbols(),
            written,
            probabilities,
            beam: beam.collect(),
            prefixes: prefixes.collect(),
            tokens,
            ids: read,
            source,
        })
    }

    /// A held-out pair; strings take turns in length, beginning with the longest trained on.
    fn example(&self, number: u32) -> Result<TextPair, Refusal> {
        let task = match self.task.task() {
            PairTask::Dates => self.task,
            task => {
                let longest = self.spec.longest;
                let turn = longest - 1 + 7 * (number.max(1) - 1) % longest;
                Pairs::new(task, 1 + (turn % longest) as usize)?
            }
        };
        Ok(task.held_out(self.spec.seed, number))
    }

    /// Four held-out sources of different lengths, shortest first.
    pub(super) async fn odds(&self, number: u32) -> Result<Vec<Odds>, Refusal> {
        let longest = self.spec.longest;
        let lengths = [2, longest / 2 + 1, longest, longest + BEYOND];
        let pairs = lengths.into_iter().zip(0..).map(|(length, index)| {
            let task = match self.task.task() {
                PairTask::Dates => Ok(self.task),
                task => Pairs::new(task, length as usize),
            };
            task.map(|task| task.held_out(self.spec.seed, 1000 + 4 * number + index))
        });
        let mut pairs = pairs.collect::<Result<Vec<_>, _>>()?;
        pairs.sort_by_key(|pair| pair.source.len());
        let targets = pairs.iter().map(|pair| {
            let ids = self.task.encode_target(&pair.target).unwrap_or_default();
            ids.into_iter().chain([END]).collect()
        });
        let batch = PairBatch {
            sources: self.read(pairs.iter().map(|pair| self.task.encode(&pair.source)).collect()),
            targets: targets.collect(),
            pairs,
        };
        let tensors = batch.tensors(&self.device);
        let logits = self.training.model(0).forward(&tensors.source, tensors.previous);
        let [rows, length, _] = logits.dims();
        let chosen = log_softmax(logits, 2)
            .gather(2, tensors.targets.reshape([rows, length, 1]))
            .reshape([rows, length]);
        let sums = (chosen * tensors.weights).sum_dim(1).reshape([rows]);
        let sums = read_all([sums]).await?.concat();
        let odds = batch.pairs.into_iter().zip(sums).map(|(pair, log_probability)| Odds {
            source: pair.source,
            right: pair.target,
            log_probability,
        });
        Ok(odds.collect())
    }
}
