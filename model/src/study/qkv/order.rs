//! Three models that are asked which letter of a word came first.

use burn::tensor::{Device, Int, Tensor, TensorData, activation::softmax};
use unroll_protocol::{
    Architecture, GptSpec, Initialization,
    architecture::{MaskKind, Positions},
    study::qkv::{HEADS, LAYERS, LETTERS, Reader, WIDTH, Word},
};

use super::{Holder, Keeper, OPTIMIZER, Refusal, StudySlice};
use crate::study::learner::{Gradients, Learner};
use crate::{
    GptConfig, Named, cross_entropy,
    data::token_tensor,
    gpt::Gpt,
    random::{Purpose, below, stream},
    read_all,
};

/// Words in a batch.
const BATCH: usize = 24;
/// Words in a measurement.
const MEASURED: usize = 100;
/// Steps between two measurements.
const MEASURE_EVERY: u32 = 10;

/// One model for each [`Reader`], and the step under way.
pub(super) struct Order {
    seed: u32,
    learners: Vec<Learner<Gpt>>,
    gradients: Vec<Gradients>,
}

impl Order {
    pub(super) fn new(seed: u32, device: &Device) -> Self {
        let learners = Reader::ALL.iter().map(|reader| {
            let positions = match reader {
                Reader::Positions => Positions::Learned,
                Reader::Bag | Reader::Causal => Positions::None,
            };
            let mask = if *reader == Reader::Causal { MaskKind::Causal } else { MaskKind::Full };
            let architecture = Architecture { positions, mask, ..Architecture::GPT2 };
            let spec = GptSpec {
                layers: LAYERS,
                heads: HEADS,
                width: WIDTH,
                context: LETTERS,
                dropout: 0.0,
                tied: false,
                architecture,
            };
            let model = GptConfig {
                spec,
                vocabulary: LETTERS as usize,
                initialization: Initialization::Gpt2,
                seed,
            }
            .init(device);
            Learner::new(model, &OPTIMIZER)
        });
        Self { seed, learners: learners.collect(), gradients: Vec::new() }
    }

    pub(super) fn parameters(&self) -> u64 {
        self.learners.iter().map(Learner::parameters).sum()
    }

    pub(super) fn named_parameters(&self, model: usize) -> Vec<Named> {
        Learner::parameters_of(&self.learners, model)
    }

    pub(super) fn hold(&mut self, holder: &mut Holder<'_>) {
        holder.hold(&mut self.learners, |learners| Learner::all_held(learners));
    }

    pub(super) fn keep(&mut self, keeper: &mut Keeper<'_>) {
        for (learner, reader) in self.learners.iter_mut().zip(Reader::ALL) {
            learner.keep(reader.id(), keeper);
        }
    }

    pub(super) fn steps(&self) -> u32 {
        self.learners[0].steps()
    }

    pub(super) fn discard(&mut self) {
        self.gradients.clear();
    }

    /// One model's batch a slice.
    pub(super) async fn advance(&mut self, rate: f64, device: &Device) -> StudySlice {
        let step = self.steps();
        let words = words(self.seed, [step, 0, 0], BATCH);
        let firsts =
            words.chunks_exact(LETTERS as usize).flat_map(|word| [word[0]; LETTERS as usize]);
        let firsts: Vec<u32> = firsts.collect();
        let learner = &self.learners[self.gradients.len()];
        let tracked = learner.tracked();
        let logits = tracked.forward(token_tensor(&words, BATCH, device));
        let loss = cross_entropy(logits, token_tensor(&firsts, BATCH, device));
        self.gradients.push(Gradients::of(&tracked, loss));
        if self.gradients.len() < self.learners.len() {
            return StudySlice::More;
        }
        let gradients = core::mem::take(&mut self.gradients);
        let due = step == 0 || (step + 1).is_multiple_of(MEASURE_EVERY);
        let mut read: Vec<Tensor<1>> =
            gradients.iter().flat_map(|g| [g.loss.clone(), g.norm.clone()]).collect();
        if due {
            // Measured before this step's update: one read-back is faster than two.
            read.extend(self.learners.iter().map(|learner| self.accuracy(&learner.model, device)));
        }
        let read = read_all(read).await.map_or(vec![f32::NAN], |read| read.concat());
        if let Some(&loss) = read.iter().find(|value| !value.is_finite()) {
            return StudySlice::Diverged { loss };
        }
        let count = self.learners.len();
        for (learner, gradients) in self.learners.iter_mut().zip(gradients) {
            learner.update(gradients, rate);
        }
        let losses = (0..count).map(|at| Some(read[2 * at]));
        let accuracies = (0..count).map(|at| due.then(|| read[2 * count + at]));
        StudySlice::Step(losses.chain(accuracies).collect())
    }

    /// Share of words, never trained on as such, for which the likeliest answer after the last
    /// letter is the first letter, `[1]`.
    fn accuracy(&self, model: &Gpt, device: &Device) -> Tensor<1> {
        // A place in the stream that no training step uses.
        let words = words(self.seed, [0, 1, 0], MEASURED);
        let firsts: Vec<i32> =
            words.chunks_exact(LETTERS as usize).map(|word| word[0] as i32).collect();
        let firsts: Tensor<2, Int> =
            Tensor::from_data(TensorData::new(firsts, [MEASURED, 1]), device);
        let logits = model.forward_last(token_tensor(&words, MEASURED, device));
        let guesses = logits.reshape([MEASURED, LETTERS as usize]).argmax(1);
        guesses.equal(firsts).float().mean()
    }

    /// Every model's answer to the word of this number.
    pub(super) async fn word(&self, draw: u32, device: &Device) -> Result<Word, Refusal> {
        let word = words(self.seed, [draw, 2, 0], 1);
        let answers = self.learners.iter().map(|learner| {
            let logits = learner.model.forward_last(token_tensor(&word, 1, device));
            softmax(logits.reshape([LETTERS as usize]), 0)
        });
        let probabilities = read_all(answers).await?;
        let letter = |id: u32| char::from(b'A' + id as u8).to_string();
        Ok(Word {
            letters: word.iter().map(|&id| letter(id)).collect(),
            probabilities,
            alphabet: (0..LETTERS).map(letter).collect(),
            target: word[0],
        })
    }
}

/// `count` words with every letter once each, so that a word's letters say nothing about which came
/// first.
fn words(seed: u32, place: [u32; 3], count: usize) -> Vec<u32> {
    let mut rng = stream(seed, Purpose::QkvWord, place);
    let mut words = Vec::with_capacity(count * LETTERS as usize);
    for _ in 0..count {
        let mut word: Vec<u32> = (0..LETTERS).collect();
        for last in (1..word.len()).rev() {
            word.swap(last, below(&mut rng, last + 1));
        }
        words.extend(word);
    }
    words
}
