//! `mask`: two transformers that differ only in their attention mask, and what a mask does to them.

mod averages;
mod seen;
mod writing;

use burn::tensor::{Device, Tensor};
use unroll_protocol::{
    Architecture, Ask, GptSpec, Initialization, Packed,
    architecture::{MaskKind, Positions},
    study::mask::{CONTEXT, HEADS, LAYERS, Question, SERIES, Spec, Trained, WIDTH, ask},
};

use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{Gradients, Learner, steady},
    training::{Training, is_measured},
};
use crate::{
    CharTokenizer, Dataset, Gpt, GptConfig, Named, Window, cross_entropy, read_all, token_tensor,
};

/// Sequences in a batch.
const ROWS: usize = 4;
const RATE: f32 = 1e-2;
/// Steps between two measurements on what is not trained on.
const MEASURE_EVERY: u32 = 20;
/// Number of held-out windows measured, and how much of each is read before its next character is
/// asked for.
const MEASURED: usize = 48;
const READ: usize = 16;

/// See the module.
pub struct Study {
    seed: u32,
    device: Device,
    tokenizer: CharTokenizer,
    dataset: Dataset,
    /// Characters of a training sequence.
    window: usize,
    /// In the order of [`Trained::ALL`]; measured are losses on unseen characters.
    training: Training<Gpt, Vec<Tensor<1>>>,
}

fn model_spec(trained: Trained) -> GptSpec {
    let mask = match trained {
        Trained::Causal => MaskKind::Causal,
        Trained::Unmasked => MaskKind::Full,
    };
    let positions = Positions::Rotary;
    GptSpec {
        layers: LAYERS,
        heads: HEADS,
        width: WIDTH,
        context: CONTEXT,
        dropout: 0.0,
        tied: false,
        architecture: Architecture { mask, positions, ..Architecture::GPT2 },
    }
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        let tokenizer = CharTokenizer::from_text(text);
        let tokens = tokenizer.encode(text);
        // A sequence's last character is only a target, and the one before it only an input.
        let window = (CONTEXT as usize).min(tokens.len().saturating_sub(1)).max(2);
        let dataset = Dataset::new(tokens, window)?;
        let learners = Trained::ALL.iter().map(|&trained| {
            let spec_of = model_spec(trained);
            let config = GptConfig {
                spec: spec_of,
                vocabulary: tokenizer.len(),
                initialization: Initialization::Gpt2,
                seed: spec.seed,
            };
            Learner::new(config.init(device), &steady(RATE))
        });
        Ok(Self {
            seed: spec.seed,
            device: device.clone(),
            training: Training::new(learners.collect(), RATE, Trained::ALL.len()),
            tokenizer,
            dataset,
            window,
        })
    }

    fn built(&self) -> Built {
        let parameters = self.training.learners()[0].parameters();
        let mut notes = vec![format!(
            "Two models of {parameters} parameters each, with the same first weights and the same \
             batches."
        )];
        notes.extend(self.dataset.notes.iter().cloned());
        Built {
            parameters: self.training.parameters(),
            vocabulary: self.tokenizer.vocabulary(),
            series: SERIES.map(str::to_owned).to_vec(),
            notes,
        }
    }

    fn step(&self) -> u32 {
        self.training.step()
    }

    async fn advance(&mut self) -> StudySlice {
        let count = Trained::ALL.len();
        if let Some(mut pending) = self.training.take_pending() {
            // One slice measures one model.
            let unseen = &mut pending.measured;
            if let Some(loss) = self.unseen(self.training.model(unseen.len())) {
                unseen.push(loss);
                if unseen.len() < count {
                    return self.training.wait(pending);
                }
            }
            let unseen = core::mem::take(unseen);
            let measured = read_all(unseen).await.unwrap_or_default().concat();
            return pending.done((0..count).map(|index| measured.get(index).copied()));
        }
        // One slice computes one model's batch.
        let step = self.step();
        let gradients = self.batch_gradients(step);
        self.training.advance([gradients], is_measured(step, MEASURE_EVERY)).await
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
        self.training.keep(Trained::ALL.iter().map(|trained| trained.id()), keeper);
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        match question {
            Question::Look(look) => {
                let seen = seen::seen(self.model(look.model), &self.tokenizer, look).await?;
                Ok(look.answered(&seen))
            }
            Question::Writing(question @ ask::Writing { model, prompt, length }) => {
                let written = writing::writing(
                    self.model(*model),
                    &self.tokenizer,
                    prompt,
                    *length,
                    self.seed,
                );
                Ok(question.answered(&written.await?))
            }
        }
    }
}

impl Study {
    fn model(&self, trained: Trained) -> &Gpt {
        self.training.model(trained as usize)
    }

    /// The gradients of the next model for the batch of a step.
    ///
    /// Every position is asked for its next character except the last, whose next character lies
    /// outside the sequence: without a mask, every requested answer is in sight.
    fn batch_gradients(&self, step: u32) -> Gradients {
        let batch = self.dataset.batch(self.seed, step, ROWS, self.window);
        let inputs = token_tensor(&batch.inputs, ROWS, &self.device);
        let targets = token_tensor(&batch.targets, ROWS, &self.device);
        let tracked = self.training.tracked();
        let asked = self.window - 1;
        let logits = tracked.forward(inputs).narrow(1, 0, asked);
        let loss = cross_entropy(logits, targets.narrow(1, 0, asked));
        Gradients::of(&tracked, loss)
    }

    /// The mean loss on held-out characters when only what comes before them can be read, as in
    /// generation; `None` if nothing is held out.
    fn unseen(&self, model: &Gpt) -> Option<Tensor<1>> {
        let windows = self.dataset.held_out_windows(MEASURED, READ.min(self.window));
        let target = |window: &Window| window.targets.last().copied();
        let targets: Vec<u32> = windows.iter().filter_map(target).collect();
        if targets.is_empty() {
            return None;
        }
        let logits = model.forward_last(Window::inputs_of(&windows, &self.device));
        Some(cross_entropy(logits, token_tensor(&targets, windows.len(), &self.device)))
    }
}
