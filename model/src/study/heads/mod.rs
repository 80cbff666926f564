//! `heads`: a small GPT on the learner's text, with all of its heads on show.

mod held_out;
mod seen;

use burn::tensor::Device;
use unroll_protocol::{
    Ask, Initialization, Limits, Packed,
    study::heads::{CONTEXT, Cost, HeadAt, Question, Spec, Track, ask},
};

use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner, steady},
    training::{Pending, Training},
};
use crate::{
    Named,
    data::{DataError, Dataset, Window, token_tensor},
    gpt::{Gpt, GptConfig},
    loss::cross_entropy,
    tokenizer::CharTokenizer,
};
use held_out::{Baseline, Record};

/// Chosen by experiment: heads differ after some hundred steps, and no default run diverges.
const LEARNING_RATE: f32 = 1e-2;
/// Most sequences in a step: heads find their roles in as many steps with four sequences as with
/// eight.
const MOST_SEQUENCES: usize = 4;
/// Most multiply-adds of a step's forward pass. A step costs three times as many, which takes one
/// slice in wasm.
const STEP_WORK: u64 = 60_000_000;
/// The same for one measurement on held-out text.
const COST_WORK: u64 = 120_000_000;
/// Steps between two measurements of the held-out loss.
const MEASURE_EVERY: u32 = 20;

/// See the module.
pub struct Study {
    spec: Spec,
    device: Device,
    tokenizer: CharTokenizer,
    dataset: Dataset,
    /// Sequences in a step.
    batch: usize,
    /// Windows on which the cost of switching heads off is measured; empty if nothing is held out.
    windows: Vec<Window>,
    training: Training<Gpt>,
    record: Record,
    baseline: Option<Baseline>,
}

/// How many sequences of one context fit into a budget of multiply-adds.
fn affordable(spec: &Spec, budget: u64, most: usize) -> usize {
    let one = spec.gpt().forward_multiply_adds().max(1);
    ((budget / one) as usize).clamp(2, most)
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        let gpt = spec.gpt();
        gpt.validate(&Limits::TAB)?;
        let context = CONTEXT as usize;
        let tokenizer = CharTokenizer::from_text(text);
        let dataset =
            Dataset::new(tokenizer.encode(text), context).map_err(|error| match error {
                DataError::Empty => Refusal(error.to_string()),
                DataError::TooShort { tokens: characters, .. } => Refusal(format!(
                    "The text has {characters} characters, and this model reads {context} at a \
                     time: use one of at least {}.",
                    context + 1
                )),
            })?;
        let vocabulary = tokenizer.len();
        let model = GptConfig {
            spec: gpt,
            vocabulary,
            initialization: Initialization::Gpt2,
            seed: spec.seed,
        }
        .init(device);
        let windows = dataset.held_out_windows(affordable(spec, COST_WORK, 16), context);
        Ok(Self {
            spec: spec.clone(),
            device: device.clone(),
            record: Record::new(&dataset),
            batch: affordable(spec, STEP_WORK, MOST_SEQUENCES),
            windows,
            tokenizer,
            dataset,
            training: Training::new(
                vec![Learner::new(model, &steady(LEARNING_RATE))],
                LEARNING_RATE,
                1,
            ),
            baseline: None,
        })
    }

    fn built(&self) -> Built {
        let Spec { heads, width, .. } = self.spec;
        let mut notes = self.dataset.notes.clone();
        notes.push(format!(
            "{heads} heads share a width of {width}: {} numbers each. A step learns from {} pieces \
             of {CONTEXT} characters.",
            width / heads,
            self.batch
        ));
        Built {
            parameters: self.training.parameters(),
            vocabulary: self.tokenizer.vocabulary(),
            series: vec!["loss".to_owned(), "held out".to_owned()],
            notes,
        }
    }

    fn step(&self) -> u32 {
        self.training.step()
    }

    async fn advance(&mut self) -> StudySlice {
        if let Some(pending) = self.training.take_pending() {
            return self.measured(pending).await;
        }
        let step = self.step();
        if step == 0 && self.record.add(0, self.training.model(0)).await.is_err() {
            return StudySlice::Diverged { loss: f32::NAN };
        }
        let (batch, context) = (self.batch, CONTEXT as usize);
        let drawn = self.dataset.batch(self.spec.seed, step, batch, context);
        let tokens = |ids: &[u32]| token_tensor(ids, batch, &self.device);
        let tracked = self.training.tracked();
        let logits = tracked.forward(tokens(&drawn.inputs));
        let gradients = Gradients::of(&tracked, cross_entropy(logits, tokens(&drawn.targets)));
        let due = self.record.is_due(step + 1) || (step + 1).is_multiple_of(MEASURE_EVERY);
        self.training.advance([gradients], due).await
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
        self.training.keep(["model"], keeper);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        let step = self.step();
        match question {
            Question::Seen(question @ ask::Seen { text, off, row }) => {
                let (pass, off) = self.pass(text, off)?;
                let row = row.filter(|(at, _)| self.has(*at).is_ok());
                Ok(question.answered(&pass.seen(step, off, row).await?))
            }
            Question::Written(question @ ask::Written { text, off, layer, query }) => {
                let (pass, _) = self.pass(text, off)?;
                let at = self.has(HeadAt { layer: *layer, head: 1 })?;
                Ok(question.answered(&pass.written(at.layer, *query).await?))
            }
            Question::Cost(question @ ask::Cost { off }) => {
                Ok(question.answered(&self.cost(&self.known(off)).await?))
            }
            Question::Track(question @ ask::Track { at }) => Ok(question.answered(&Track {
                at: self.has(*at)?,
                tokens: self.record.tokens(),
                length: self.record.length(),
                points: self.record.of(*at, self.spec.heads, self.training.step())?,
            })),
        }
    }
}

impl Study {
    /// The end of a step that is measured.
    async fn measured(&mut self, pending: Pending<Gpt, ()>) -> StudySlice {
        let step = self.training.step();
        if self.record.is_due(step) {
            // A failed reading leaves a gap in the record.
            let _ = self.record.add(step, self.training.model(0)).await;
        }
        let mut held_out = None;
        if step.is_multiple_of(MEASURE_EVERY) && !self.windows.is_empty() {
            held_out = self.baseline().await.ok().map(Baseline::mean);
        }
        pending.done([held_out])
    }

    /// Those of `heads` that the model has, each once, in the model's order.
    fn known(&self, heads: &[HeadAt]) -> Vec<HeadAt> {
        let all = (1..=self.spec.layers)
            .flat_map(|layer| (1..=self.spec.heads).map(move |head| HeadAt { layer, head }));
        all.filter(|at| heads.contains(at)).collect()
    }

    /// Returns `at` if the model has it.
    fn has(&self, at: HeadAt) -> Result<HeadAt, Refusal> {
        let Spec { layers, heads, .. } = self.spec;
        if (1..=layers).contains(&at.layer) && (1..=heads).contains(&at.head) {
            return Ok(at);
        }
        Err(Refusal(format!(
            "There is no layer {}, head {}: this model has {layers} layers of {heads} heads.",
            at.layer, at.head
        )))
    }

    fn pass(&self, text: &str, off: &[HeadAt]) -> Result<(seen::Pass<'_>, Vec<HeadAt>), Refusal> {
        let off = self.known(off);
        let pass = seen::Pass::new(self.shown(), &self.tokenizer, text, &off)?;
        Ok((pass, off))
    }

    /// The model as it is after [`step`](super::Study::step) steps: not that of a half-done one.
    fn shown(&self) -> &Gpt {
        self.training.model(0)
    }

    /// The held-out losses of the shown model with all heads on.
    async fn baseline(&mut self) -> Result<&Baseline, Refusal> {
        let step = super::Study::step(self);
        if self.baseline.as_ref().is_none_or(|baseline| baseline.step != step) {
            self.baseline = Some(Baseline::new(step, self.shown(), &self.windows).await?);
        }
        Ok(self.baseline.as_ref().expect("it was just measured"))
    }

    async fn cost(&mut self, off: &[HeadAt]) -> Result<Cost, Refusal> {
        if self.windows.is_empty() {
            return Err(Refusal(
                "The text is too short to hold any of it out, so there is nothing to measure a \
                 head's worth on."
                    .to_owned(),
            ));
        }
        let (model, windows) = (self.shown().clone(), self.windows.clone());
        self.baseline().await?.cost(&model, &windows, off).await
    }
}
