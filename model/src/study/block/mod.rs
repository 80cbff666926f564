//! `block`: a GPT and the same GPT without one ingredient, trained side by side.

mod depths;
mod growth;
mod stream;
mod what_if;

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Device, Int, Tensor},
};
use unroll_protocol::{
    Ask, Initialization, Packed,
    study::block::{BATCH, CONTEXT, Question, Shown, Spec, TRAINED_DROPOUT, Without, ask},
};

use self::growth::History;
use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner, steady},
    training::Training,
};
use crate::{
    CharTokenizer, Dataset, Dropout, Gpt, GptConfig, Named, cross_entropy, named_parameters,
    token_tensor, trace::TraceError,
};

/// Learning rate of both models.
const LEARNING_RATE: f32 = 3e-3;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    tokenizer: CharTokenizer,
    data: Dataset,
    /// The full model and the reduced one.
    training: Training<Gpt>,
    growth: History,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        let tokenizer = CharTokenizer::from_text(text);
        let data = Dataset::new(tokenizer.encode(text), CONTEXT as usize)?;
        let (vocabulary, seed) = (tokenizer.len(), spec.seed);
        let full =
            GptConfig { spec: spec.full(), vocabulary, initialization: Initialization::Gpt2, seed }
                .init(device);
        let cut =
            GptConfig { spec: spec.cut(), vocabulary, initialization: Initialization::Gpt2, seed }
                .init(device);
        let cut = with_weights_of(cut, &full);
        let learner = |model| Learner::new(model, &steady(LEARNING_RATE));
        Ok(Self {
            spec: spec.clone(),
            device: device.clone(),
            tokenizer,
            growth: History::new(&data),
            data,
            training: Training::new(vec![learner(full), learner(cut)], LEARNING_RATE, 0),
        })
    }

    fn built(&self) -> Built {
        let without = self.spec.without.label().to_lowercase();
        let [full, cut] = [0, 1].map(|index| self.training.learners()[index].parameters());
        Built {
            parameters: full + cut,
            vocabulary: self.tokenizer.vocabulary(),
            series: vec!["full loss".to_owned(), "loss without".to_owned()],
            notes: self
                .data
                .notes
                .iter()
                .cloned()
                .chain([format!("Full: {full} parameters; without {without}: {cut}.")])
                .collect(),
        }
    }

    fn step(&self) -> u32 {
        self.training.step()
    }

    async fn advance(&mut self) -> StudySlice {
        let step = self.step();
        // The lengths before a step are no part of it: a step that is dropped leaves them there.
        // Where the reading failed they are due again before the next step.
        let due = self.training.next() == 0 && self.growth.is_due(step);
        if due && self.measure().await.is_ok() {
            return StudySlice::More;
        }
        // One slice computes one model's batch.
        let tracked = self.training.tracked();
        let (inputs, targets) = self.batch(step, BATCH as usize);
        let dropout = Dropout::new(TRAINED_DROPOUT, self.spec.seed, step, 0);
        let loss = cross_entropy(forward(&tracked, inputs, &dropout), targets);
        self.training.advance([Gradients::of(&tracked, loss)], false).await
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

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        self.training.keep(["full", "without"], keeper);
        keeper.history(&mut self.growth.measured);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        match question {
            Question::Stream(question @ ask::Stream { text, shown, position, token }) => {
                let passage = self.passage(text, *position)?;
                let stream = self.stream(passage, *shown, *token).await?;
                Ok(question.answered(&stream))
            }
            Question::Growth(question) => Ok(question.answered(&self.grown().await?)),
            Question::Depths(question) => Ok(question.answered(&self.depths().await?)),
            Question::Ensemble(question @ ask::Ensemble { text, position, dropout }) => {
                let passage = self.passage(text, *position)?;
                Ok(question.answered(&self.ensemble(passage, *dropout).await?))
            }
            Question::Neurons(question @ ask::Neurons { text, shown, position, layer }) => {
                let passage = self.passage(text, *position)?;
                Ok(question.answered(&self.neurons(passage, *shown, *layer).await?))
            }
        }
    }
}

/// The end of a text as the models read it.
struct Passage {
    ids: Vec<u32>,
    dropped: usize,
    /// Counted from 0.
    position: usize,
}

impl Study {
    fn model(&self, shown: Shown) -> &Gpt {
        match shown {
            Shown::Full => self.training.model(0),
            Shown::Cut => self.training.model(1),
        }
    }

    /// `position` counts from 1; 0, or anything beyond the end, is the last position.
    fn passage(&self, text: &str, position: u32) -> Result<Passage, Refusal> {
        let mut ids = self.tokenizer.encode(text);
        if ids.is_empty() {
            return Err(TraceError::Empty.into());
        }
        let dropped = ids.len().saturating_sub(CONTEXT as usize);
        ids.drain(..dropped);
        let last = ids.len() - 1;
        let position = position.checked_sub(1).map_or(last, |at| last.min(at as usize));
        Ok(Passage { ids, dropped, position })
    }

    /// Inputs and targets of a step.
    fn batch(&self, step: u32, sequences: usize) -> (Tensor<2, Int>, Tensor<2, Int>) {
        let batch = self.data.batch(self.spec.seed, step, sequences, CONTEXT as usize);
        let tensor = |ids: &[u32]| token_tensor(ids, sequences, &self.device);
        (tensor(&batch.inputs), tensor(&batch.targets))
    }

    /// Whether a model lacks what is asked about, with the reason.
    fn lacks(&self, shown: Shown, without: Without) -> bool {
        shown == Shown::Cut && self.spec.without == without
    }
}

/// Logits with activations dropped.
fn forward(model: &Gpt, tokens: Tensor<2, Int>, dropout: &Dropout) -> Tensor<3> {
    let [_, length] = tokens.dims();
    let rules = model.attention_rules(length);
    let blocks = model.blocks.iter().enumerate();
    let stream = blocks.fold(model.embed(tokens, dropout), |stream, (layer, block)| {
        block.forward(stream, &rules, &dropout.in_block(layer))
    });
    model.logits(stream)
}

/// `model` with the weights of `other` wherever both have them, so that both start alike.
fn with_weights_of(model: Gpt, other: &Gpt) -> Gpt {
    struct Take {
        names: std::vec::IntoIter<String>,
        found: Vec<(String, Vec<usize>, Tensor<1>)>,
    }

    impl ModuleMapper for Take {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let name = self.names.next().unwrap_or_default();
            match self.found.iter().find(|(found, ..)| *found == name) {
                Some((_, _, value)) => param.map(|own| value.clone().reshape(own.dims())),
                None => param,
            }
        }
    }

    let names: Vec<String> = named_parameters(&model).into_iter().map(|p| p.0).collect();
    model.map(&mut Take { names: names.into_iter(), found: named_parameters(other) })
}
