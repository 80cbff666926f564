//! `tokens`: a text in three tokenizations, and an embedding that learns which token follows which.

mod log_bilinear;
mod plane;
mod text;

use burn::tensor::{Device, Int, Tensor, TensorData, activation::log_softmax};
use unroll_protocol::{
    Array, Ask, OptimizerSpec, Packed,
    study::tokens::{self as protocol, Question, Scheme, Spec, ask},
};

use self::{log_bilinear::LogBilinear, text::Tokenizer};
use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner},
    training::Training,
};
use crate::{
    BpeLearner, Named,
    bpe::{FIRST_MERGE, Pair},
    cross_entropy,
    data::token_tensor,
    random::{Purpose, below, stream},
    read_all,
};

/// Windows in one training step.
const ROWS: usize = 64;
/// The default learning rate.
const LEARNING_RATE: f32 = 0.02;
/// Longest stretch of text shown around a window.
const MOST_AROUND: usize = 256;

/// The length of a text.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    characters: u64,
    bytes: u64,
}

impl Lengths {
    fn of(text: &str) -> Self {
        let sum = |length: fn(&str) -> usize| {
            text::documents(text).map(|document| length(document) as u64 + 1).sum()
        };
        Self { characters: sum(|document| document.chars().count()), bytes: sum(str::len) }
    }
}

/// See the module.
pub struct Study {
    spec: Spec,
    /// The part of the text that is used.
    text: String,
    /// Its number of tokens in characters and in bytes, with an end token after each document.
    lengths: Lengths,
    /// The vocabulary of its characters, whatever the model reads.
    characters: Tokenizer,
    tokenizer: Tokenizer,
    /// The text as tokens: end, document, end, document, ..., end.
    stream: Vec<u32>,
    /// How often each token occurs in it.
    counts: Vec<u32>,
    notes: Vec<String>,
    training: Training<LogBilinear>,
    device: Device,
    /// Merges of the text for one setting of `words`, learned as far as was asked.
    learner: Option<(bool, BpeLearner)>,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        let refused = |sentence: &str| Err(Refusal(sentence.to_owned()));
        if text::documents(text).next().is_none() {
            return refused("There is no text to learn from: write or paste some.");
        }
        if !(2..=64).contains(&spec.width) || !(1..=64).contains(&spec.window) {
            return refused("A row needs 2 to 64 numbers and a window 1 to 64 tokens.");
        }
        let used = text::used(text);
        let mut notes = Vec::new();
        if used.len() < text.len() {
            notes.push(format!(
                "This chapter uses the first {} thousand bytes of the text.",
                used.len() / 1000
            ));
        }
        let learner = (spec.scheme == Scheme::Pairs).then(|| {
            let most = protocol::MAX_MERGES as usize;
            let mut learner = BpeLearner::new(text::documents(used), spec.words, most);
            learner.learn(spec.merges as usize);
            learner
        });
        let merges = learner.as_ref().map_or(&[][..], BpeLearner::merges);
        let characters = Tokenizer::characters(used);
        let tokenizer = match spec.scheme {
            Scheme::Characters => characters.clone(),
            Scheme::Bytes => Tokenizer::bytes(),
            Scheme::Pairs => Tokenizer::pairs(merges, spec.words),
        };
        let stream = text::stream(&tokenizer, used, learner.as_ref());
        let mut counts = vec![0; tokenizer.vocabulary()];
        for &id in &stream {
            counts[id as usize] += 1;
        }
        let device = device.clone().inner();
        let model =
            LogBilinear::new(tokenizer.vocabulary(), spec.width as usize, spec.seed, &device);
        // Every step counts the same: no warm-up and no decay; and rows of tokens that never occur
        // are never changed.
        let optimizer =
            OptimizerSpec { weight_decay: 0.0, clip_norm: 0.0, ..OptimizerSpec::default() };
        Ok(Self {
            spec: spec.clone(),
            text: used.to_owned(),
            lengths: Lengths::of(used),
            characters,
            tokenizer,
            stream,
            counts,
            notes,
            training: Training::new(vec![Learner::new(model, &optimizer)], LEARNING_RATE, 0),
            device,
            learner: learner.map(|learner| (spec.words, learner)),
        })
    }

    fn built(&self) -> Built {
        Built {
            parameters: self.training.parameters(),
            vocabulary: self.tokenizer.known_characters(),
            series: vec!["loss".to_owned(), "loss per character".to_owned()],
            notes: self.notes.clone(),
        }
    }

    fn step(&self) -> u32 {
        self.training.step()
    }

    async fn advance(&mut self) -> StudySlice {
        let (inputs, targets) = self.batch();
        let tracked = self.training.tracked();
        let device = self.device.clone();
        let logits = tracked.forward(token_tensor(&inputs, ROWS, &device));
        let loss = cross_entropy(logits, token_tensor(&targets, ROWS, &device));
        match self.training.advance([Gradients::of(&tracked, loss)], false).await {
            StudySlice::Step(losses) => {
                let per_character = self.tokens_per_character();
                let scaled = losses[0].map(|loss| loss * per_character);
                StudySlice::Step(vec![losses[0], scaled])
            }
            other => other,
        }
    }

    fn discard(&mut self) {
        self.training.discard();
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.training.set_rate(rate)
    }

    fn named_parameters(&self, model: usize) -> Vec<Named> {
        self.training.parameters_of(model)
    }

    fn hold(&mut self, holder: &mut Holder<'_>) {
        self.training.hold(holder);
    }

    fn vocabulary(&self) -> Vec<String> {
        self.tokenizer.labels()
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        self.training.keep(["model"], keeper);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        Ok(match question {
            Question::Levels(question @ ask::Levels { sentence, merges, words }) => {
                question.answered(&self.levels(sentence, *merges, *words)?)
            }
            Question::Embedding(question @ ask::Embedding { token }) => {
                question.answered(&self.embedding(*token).await?)
            }
            Question::Window(question @ ask::Window { at, first, around }) => {
                question.answered(&self.window(*at, *first, *around).await?)
            }
            Question::Chain(question @ ask::Chain { sentence }) => {
                question.answered(&self.chain(sentence).await?)
            }
        })
    }
}

impl Study {
    /// Number of tokens in a window: fewer than requested if the text is shorter.
    fn length(&self) -> usize {
        (self.spec.window as usize).min(self.stream.len() - 1)
    }

    /// The batch of the next step: windows at random places of the text.
    fn batch(&self) -> (Vec<u32>, Vec<u32>) {
        let length = self.length();
        let mut rng = stream(self.spec.seed, Purpose::Batch, [self.training.step(), 0, 0]);
        let (mut inputs, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..ROWS {
            let start = below(&mut rng, self.stream.len() - length);
            inputs.extend(&self.stream[start..start + length]);
            targets.extend(&self.stream[start + 1..=start + length]);
        }
        (inputs, targets)
    }

    /// Tokens of the text per character, with end tokens counted in both.
    fn tokens_per_character(&self) -> f32 {
        (self.stream.len() - 1) as f32 / self.lengths.characters as f32
    }

    fn levels(
        &mut self,
        sentence: &str,
        merges: u32,
        words: bool,
    ) -> Result<protocol::Levels, Refusal> {
        nothing(sentence)?;
        let merges = merges.min(protocol::MAX_MERGES) as usize;
        if self.learner.as_ref().is_none_or(|learner| learner.0 != words) {
            let most = protocol::MAX_MERGES as usize;
            let learner = BpeLearner::new(text::documents(&self.text), words, most);
            self.learner = Some((words, learner));
        }
        let Some((_, learner)) = &mut self.learner else {
            unreachable!("it was just made");
        };
        learner.learn(merges + 1);
        let learned = learner.merges();
        let made = &learned[..merges.min(learned.len())];
        let merged: u64 = made.iter().map(|merge| merge.count).sum();
        let level = |tokenizer: &Tokenizer, text_tokens: u64| {
            let pieces = tokenizer.sentence(sentence);
            let ids: Vec<u32> = pieces.iter().map(|piece| piece.id).collect();
            protocol::Level {
                decoded: tokenizer.decode(&ids),
                vocabulary: tokenizer.vocabulary() as u32,
                text_tokens,
                pieces,
            }
        };
        let named = named(learned);
        Ok(protocol::Levels {
            characters: level(&self.characters, self.lengths.characters),
            bytes: level(&Tokenizer::bytes(), self.lengths.bytes),
            pairs: level(&Tokenizer::pairs(made, words), self.lengths.bytes - merged),
            sentence_next: Tokenizer::pairs(&learned[..learned.len().min(merges + 1)], words)
                .encode(sentence)
                .len() as u32,
            next: named.get(made.len()).cloned(),
            merges: named[..made.len()].to_vec(),
            text_bytes: self.text.len() as u64,
        })
    }

    async fn embedding(&self, token: u32) -> Result<protocol::Embedding, Refusal> {
        let table = self.training.model(0).embedding.weight.val();
        let [vocabulary, width] = table.dims();
        let token = token.min(vocabulary as u32 - 1);
        let row = self.training.model(0).embedding.forward(token_tensor(&[token], 1, &self.device));
        let mut one_hot = vec![0.0; vocabulary];
        one_hot[token as usize] = 1.0;
        let one_hot = TensorData::new(one_hot, [1, vocabulary]);
        let product = Tensor::<2>::from_data(one_hot, &self.device).matmul(table.clone());
        let read =
            read_all([table.reshape([-1]), row.reshape([-1]), product.reshape([-1])]).await?;
        let [table, row, product] = <[Vec<f32>; 3]>::try_from(read).expect("three were asked for");
        // A rare token's row has learned little and should not turn the projection; the row of a
        // token that never occurs still has its initial values.
        let plane = plane::plane(&table, width, |id| f64::from(self.counts[id]).sqrt());
        let [rows, columns] = [vocabulary as u32, width as u32];
        Ok(protocol::Embedding {
            vocabulary: self.tokenizer.labels(),
            counts: self.counts.clone(),
            token,
            table: Array { shape: vec![rows, columns], values: table },
            row,
            product,
            map: Array { shape: vec![rows, 2], values: plane.points },
            share: plane.share,
        })
    }

    async fn window(&self, at: u32, first: u32, around: u32) -> Result<protocol::Window, Refusal> {
        let length = self.length();
        let last = self.stream.len() - 1 - length;
        let at = (at as usize).min(last);
        let first = (first as usize).min(self.stream.len() - 1);
        let around = (around as usize).min(MOST_AROUND).min(self.stream.len() - first);
        let row = &self.stream[at..=at + length];
        let read = self.log_probabilities(row).await?;
        let pieces =
            |ids: &[u32]| ids.iter().map(|&id| self.tokenizer.piece(id)).collect::<Vec<_>>();
        Ok(protocol::Window {
            pieces: pieces(&self.stream[first..first + around]),
            first: first as u32,
            at: at as u32,
            last: last as u32,
            length: length as u32,
            row: pieces(row),
            probabilities: read.into_iter().map(libm::expf).collect(),
            rows: ROWS as u32,
        })
    }

    async fn chain(&self, sentence: &str) -> Result<protocol::Chain, Refusal> {
        nothing(sentence)?;
        let mut pieces = vec![self.tokenizer.piece(self.tokenizer.end())];
        pieces.extend(self.tokenizer.sentence(sentence));
        let ids: Vec<u32> = pieces.iter().map(|piece| piece.id).collect();
        Ok(protocol::Chain {
            log_probabilities: self.log_probabilities(&ids).await?,
            vocabulary: self.tokenizer.vocabulary() as u32,
            characters: text::documents(sentence).map(|line| line.chars().count() as u32).sum(),
            pieces,
        })
    }

    /// ln p of each token after the first, given the previous one.
    async fn log_probabilities(&self, ids: &[u32]) -> Result<Vec<f32>, Refusal> {
        let (inputs, targets) = (&ids[..ids.len() - 1], &ids[1..]);
        let logits = self.training.model(0).forward(token_tensor(inputs, 1, &self.device));
        let targets: Tensor<3, Int> = token_tensor(targets, 1, &self.device).unsqueeze_dim(2);
        let picked = log_softmax(logits, 2).gather(2, targets);
        Ok(read_all([picked.reshape([-1])]).await?.swap_remove(0))
    }
}

/// Refuses a sentence without a non-blank line.
fn nothing(sentence: &str) -> Result<(), Refusal> {
    match text::documents(sentence).next() {
        Some(_) => Ok(()),
        None => Err(Refusal("Write at least one character to see its tokens.".to_owned())),
    }
}

/// Merges, with their tokens in written form.
fn named(merges: &[Pair]) -> Vec<protocol::Merge> {
    let tokenizer = Tokenizer::pairs(merges, true);
    let named = |(index, merge): (usize, &Pair)| protocol::Merge {
        id: FIRST_MERGE + index as u32,
        left: tokenizer.label(merge.left),
        right: tokenizer.label(merge.right),
        count: merge.count,
    };
    merges.iter().enumerate().map(named).collect()
}
