//! `qkv`: a small GPT whose attention can be worked out, and experiments with attention itself.

mod cost;
mod head;
mod order;
mod scale;
mod shuffle;

use core::slice;

use burn::tensor::Device;
use unroll_protocol::{
    Architecture, Ask, GptSpec, Initialization, OptimizerSpec, Packed,
    study::qkv::{CONTEXT, HEADS, LAYERS, Models, Question, Reader, Spec, WIDTH, ask},
};

use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner, steady, usable_rate},
};
use crate::{
    AttentionRules, CharTokenizer, Dataset, GptConfig, Mask, Named, cross_entropy,
    data::token_tensor, gpt::Gpt,
};
use order::Order;
use scale::Draw;

const OPTIMIZER: OptimizerSpec = steady(0.005);
/// Windows of the text in a batch.
const BATCH: usize = 8;

/// See the module.
pub struct Study {
    seed: u32,
    device: Device,
    rate: f64,
    models: Trained,
    /// The last draw of random queries and keys, because the slider keeps asking about the same
    /// ones.
    draw: Option<Draw>,
}

#[allow(clippy::large_enum_variant, reason = "there is one for each engine")]
enum Trained {
    Text(Text),
    Order(Order),
}

/// The GPT and the text it is trained on.
struct Text {
    tokenizer: CharTokenizer,
    data: Dataset,
    learner: Learner<Gpt>,
}

impl Text {
    /// The rules of attention over so many tokens, with a causal mask or without any.
    fn rules(&self, length: usize, causal: bool) -> AttentionRules {
        let mask = if causal { Mask::causal(length) } else { Mask::full(length, length) };
        AttentionRules::new(mask, &self.learner.model.device())
    }

    fn new(seed: u32, text: &str, device: &Device) -> Result<Self, Refusal> {
        let tokenizer = CharTokenizer::from_text(text);
        let data = Dataset::new(tokenizer.encode(text), CONTEXT as usize)?;
        let spec = GptSpec {
            layers: LAYERS,
            heads: HEADS,
            width: WIDTH,
            context: CONTEXT,
            dropout: 0.0,
            tied: true,
            architecture: Architecture::GPT2,
        };
        let model = GptConfig {
            spec,
            vocabulary: tokenizer.len(),
            initialization: Initialization::Gpt2,
            seed,
        }
        .init(device);
        Ok(Self { tokenizer, data, learner: Learner::new(model, &OPTIMIZER) })
    }

    /// Loss and gradients of the batch of a step.
    fn gradients(&self, seed: u32, device: &Device) -> Gradients {
        let batch = self.data.batch(seed, self.learner.steps(), BATCH, CONTEXT as usize);
        let tracked = self.learner.tracked();
        let logits = tracked.forward(token_tensor(&batch.inputs, BATCH, device));
        let targets = token_tensor(&batch.targets, BATCH, device);
        Gradients::of(&tracked, cross_entropy(logits, targets))
    }

    async fn advance(&mut self, seed: u32, rate: f64, device: &Device) -> StudySlice {
        let gradients = self.gradients(seed, device);
        let loss = match Gradients::losses(slice::from_ref(&gradients)).await {
            Ok(losses) => losses[0],
            Err(diverged) => return diverged,
        };
        self.learner.update(gradients, rate);
        StudySlice::Step(vec![Some(loss)])
    }
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        let models = match spec.models {
            Models::Text => Trained::Text(Text::new(spec.seed, text, device)?),
            Models::Order => Trained::Order(Order::new(spec.seed, device)),
        };
        let (seed, device) = (spec.seed, device.clone());
        Ok(Self { seed, device, rate: f64::from(OPTIMIZER.learning_rate), models, draw: None })
    }

    fn built(&self) -> Built {
        match &self.models {
            Trained::Text(text) => Built {
                parameters: text.learner.parameters(),
                vocabulary: text.tokenizer.vocabulary(),
                series: vec!["loss".to_owned()],
                notes: text.data.notes.clone(),
            },
            Trained::Order(order) => {
                let series = |what: &'static str| {
                    Reader::ALL.iter().map(move |reader| format!("{} {what}", reader.label()))
                };
                Built {
                    parameters: order.parameters(),
                    series: series("loss").chain(series("accuracy")).collect(),
                    ..Built::default()
                }
            }
        }
    }

    fn step(&self) -> u32 {
        match &self.models {
            Trained::Text(text) => text.learner.steps(),
            Trained::Order(order) => order.steps(),
        }
    }

    async fn advance(&mut self) -> StudySlice {
        match &mut self.models {
            Trained::Text(text) => text.advance(self.seed, self.rate, &self.device).await,
            Trained::Order(order) => order.advance(self.rate, &self.device).await,
        }
    }

    fn discard(&mut self) {
        if let Trained::Order(order) = &mut self.models {
            order.discard();
        }
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.rate = usable_rate(rate)?;
        Ok(())
    }

    fn named_parameters(&self, model: usize) -> Vec<Named> {
        match &self.models {
            Trained::Text(text) => Learner::parameters_of(slice::from_ref(&text.learner), model),
            Trained::Order(order) => order.named_parameters(model),
        }
    }

    fn hold(&mut self, holder: &mut Holder<'_>) {
        match &mut self.models {
            Trained::Text(text) => holder.hold(&mut text.learner, Learner::held),
            Trained::Order(order) => order.hold(holder),
        }
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        match &mut self.models {
            Trained::Text(text) => text.learner.keep("model", keeper),
            Trained::Order(order) => order.keep(keeper),
        }
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        Ok(match question {
            Question::Head(question @ ask::Head { text, memory, causal, layer, head, query }) => {
                let cell = [*layer, *head, *query].map(|at| at as usize);
                let head = head::head(self.text()?, text, *memory, *causal, cell).await?;
                question.answered(&head)
            }
            Question::Shuffle(question @ ask::Shuffle { text, draw, positions, causal }) => {
                let shuffle =
                    shuffle::shuffle(self.text()?, text, *draw, *positions, *causal).await?;
                question.answered(&shuffle)
            }
            Question::Scale(question @ ask::Scale { dimensions, draw }) => {
                if self.draw.as_ref().is_none_or(|kept| kept.number != *draw) {
                    self.draw = Some(Draw::new(self.seed, *draw));
                }
                let Some(kept) = &self.draw else {
                    return Err(Refusal("Nothing was drawn.".to_owned()));
                };
                question.answered(&kept.scale(*dimensions)?)
            }
            Question::Cost(question @ ask::Cost { length, attention, round }) => {
                question.answered(&cost::cost(*length, *attention, *round, &self.device).await?)
            }
            Question::Word(question @ ask::Word { draw }) => match &self.models {
                Trained::Order(order) => question.answered(&order.word(*draw, &self.device).await?),
                Trained::Text(_) => {
                    return Err(Refusal("The model in training reads text.".to_owned()));
                }
            },
        })
    }
}

impl Study {
    fn text(&self) -> Result<&Text, Refusal> {
        match &self.models {
            Trained::Text(text) => Ok(text),
            Trained::Order(_) => Err(Refusal("The models in training read no text.".to_owned())),
        }
    }
}

impl Text {
    /// The last tokens of `text` that the model can read, and how many don't fit.
    fn tokens(&self, text: &str) -> Result<(Vec<u32>, u32), Refusal> {
        let mut tokens = self.tokenizer.encode(text);
        if tokens.is_empty() {
            let sentence = "There is no sentence to read: write at least one character.";
            return Err(Refusal(sentence.to_owned()));
        }
        let dropped = tokens.len().saturating_sub(CONTEXT as usize);
        Ok((tokens.split_off(dropped), dropped as u32))
    }

    fn names(&self, tokens: &[u32]) -> Vec<String> {
        tokens.iter().map(|&token| self.tokenizer.character(token).to_string()).collect()
    }
}
