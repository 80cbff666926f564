//! What the models do with one source.

use burn::tensor::{Device, Tensor, activation::softmax};
use unroll_protocol::{
    Array, AttentionRow,
    study::alignment::{MOST_SOURCE, Output, Reading, Source as Given},
    transduction::{AttentionKind, MOST_BEAM, PairTask, Search},
};

use super::{super::seq2seq::reading::candidate, Learner, Refusal};
use crate::{END, Pairs, Seq2seq, Seq2seqTrace, Source, read_all, token_tensor};

/// Most characters produced, since a model that never ends must be stopped.
const MOST_OUTPUT: usize = 60;

/// The models and the task that a question is about.
pub struct Asked<'a> {
    pub pairs: &'a Pairs,
    pub seed: u32,
    pub learners: &'a [Learner<Seq2seq>],
    pub device: &'a Device,
}

/// A source as the models read it.
struct Read {
    ids: Vec<u32>,
    text: String,
    dropped: u32,
}

/// What one model did with a source.
struct Produced {
    /// Including the end token if it was reached.
    tokens: Vec<u32>,
    ended: bool,
    trace: Seq2seqTrace,
}

impl Asked<'_> {
    fn read(&self, given: &Given) -> Result<Read, Refusal> {
        let text = match given {
            Given::Example(number) => self.pairs.held_out(self.seed, (*number).max(1)).source,
            Given::Own(text) => text.clone(),
        };
        let most = MOST_SOURCE as usize;
        let dropped = text.chars().count().saturating_sub(most) as u32;
        let text: String = text.chars().take(most).collect();
        let ids = self.pairs.encode(&text);
        if ids.is_empty() {
            return Err(Refusal("There is nothing to read: type at least one character.".into()));
        }
        Ok(Read { ids, text, dropped })
    }

    /// How many characters are produced at most from so many.
    fn most(&self, read: usize) -> usize {
        let room = match self.pairs.task() {
            PairTask::Dates => 0,
            PairTask::Reverse | PairTask::Copy | PairTask::Sort => read + 1,
        };
        (room.max(self.pairs.longest_target()) + 2).min(MOST_OUTPUT)
    }

    /// Encodes a source and decodes greedily: each character produced is the next input.
    async fn produce(&self, model: &Seq2seq, ids: &[u32]) -> Result<Produced, Refusal> {
        let most = self.most(ids.len());
        let source = Source::new(&[ids.to_vec()], self.device);
        let mut tokens = model.decode_greedy(&source, most).await?.swap_remove(0);
        let ended = tokens.len() < most;
        if ended {
            tokens.push(END);
        }
        let previous: Vec<u32> =
            core::iter::once(END).chain(tokens.iter().copied()).take(tokens.len()).collect();
        let trace = model.forward_traced(&source, token_tensor(&previous, 1, self.device));
        Ok(Produced { tokens, ended, trace })
    }

    pub async fn reading(&self, given: &Given) -> Result<Reading, Refusal> {
        let Read { ids, text, dropped } = self.read(given)?;
        let symbols = self.pairs.target_symbols();
        let name = |ids: &[u32], symbols: &[String]| -> Vec<String> {
            ids.iter().map(|id| symbols[*id as usize].clone()).collect()
        };
        let wanted = self.pairs.answer(&text);
        let wanted = wanted.and_then(|answer| self.pairs.encode_target(&answer)).map(|mut ids| {
            ids.push(END);
            name(&ids, &symbols)
        });
        let mut outputs = Vec::new();
        for learner in self.learners {
            let Produced { tokens, ended, trace } = self.produce(&learner.model, &ids).await?;
            let kind = learner.model.attention_kind();
            let mut tensors: Vec<Tensor<1>> = vec![softmax(trace.logits, 2).reshape([-1])];
            tensors.extend(trace.attention.map(|attention| attention.weights.reshape([-1])));
            let mut read = read_all(tensors).await?.into_iter();
            let mut array = |columns: usize| Array {
                shape: vec![tokens.len() as u32, columns as u32],
                values: read.next().unwrap_or_default(),
            };
            let probabilities = array(symbols.len());
            let weights = (kind != AttentionKind::None).then(|| array(ids.len()));
            let tokens = name(&tokens, &symbols);
            outputs.push(Output { kind, tokens, probabilities, weights, ended });
        }
        let known = |c: &char| self.pairs.encode(&c.to_string()).iter().all(|id| *id != 0);
        let mut unknown: Vec<char> = Vec::new();
        for c in text.chars().filter(|c| !known(c)) {
            if !unknown.contains(&c) {
                unknown.push(c);
            }
        }
        Ok(Reading {
            source: name(&ids, &self.pairs.source_symbols()),
            wanted,
            symbols,
            outputs,
            longest_trained: self.pairs.longest_source() as u32,
            dropped,
            unknown,
        })
    }

    /// What the first model writes greedily, and what beam search of this width finds.
    pub async fn search(&self, given: &Given, width: usize) -> Result<Search, Refusal> {
        let Read { ids, text, .. } = self.read(given)?;
        let most = self.most(ids.len());
        let source = Source::new(&[ids], self.device);
        let model = &self.learners[0].model;
        // A beam of one is the greedy choice.
        let greedy = model.decode_beam(&source, 1, most).await?.swap_remove(0);
        let found = model.decode_beam(&source, width.clamp(1, MOST_BEAM as usize), most).await?;
        Ok(Search {
            right: self.pairs.answer(&text),
            source: text,
            greedy: candidate(self.pairs, greedy),
            found: found.into_iter().map(|found| candidate(self.pairs, found)).collect(),
        })
    }

    pub async fn row(
        &self,
        given: &Given,
        model: usize,
        at: usize,
    ) -> Result<AttentionRow, Refusal> {
        let Read { ids, .. } = self.read(given)?;
        let Some(learner) = self.learners.get(model) else {
            return Err(Refusal("There is no such model.".to_owned()));
        };
        let Produced { tokens, trace, .. } = self.produce(&learner.model, &ids).await?;
        let Some(token) = tokens.get(at) else {
            return Err(Refusal(format!(
                "There is no character {}: {} were produced.",
                at + 1,
                tokens.len()
            )));
        };
        let token = &self.pairs.target_symbols()[*token as usize];
        let symbols = self.pairs.source_symbols();
        let source: Vec<String> = ids.iter().map(|id| symbols[*id as usize].clone()).collect();
        let row = learner.model.attention_row(&trace, at, 0, token, &source).await?;
        row.ok_or_else(|| {
            Refusal("This model has no attention: it sees the encoder's last states only.".into())
        })
    }
}
