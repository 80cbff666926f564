//! One training run.

pub(crate) mod checkpoint;
mod evaluation;
mod pass;
mod shard;

use core::{fmt, ops::Range};

#[cfg(feature = "webgpu")]
use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Tensor};
use unroll_protocol::{ExperimentSpec, LearningRateSchedule, Limits, SpecError};

pub use checkpoint::CheckpointError;
pub use evaluation::{Evaluation, EvaluationSlice};
pub use shard::{Shard, ShardPass, ShardSlice};

use crate::{
    attention::AttentionRules,
    data::{DataError, Dataset},
    fused::has_kernels,
    gpt::{Gpt, GptConfig},
    optimizer::{Optimizer, global_norm},
    tokenizer::Tokenizer,
};
use pass::{DropoutSource, Pass, sequences_per_slice};

/// A model, its training data and its progress.
///
/// A step consists of calls to [`advance`](Self::advance) until it returns gradients, then
/// [`apply`](Self::apply) or [`discard`](Self::discard). Between any two calls the weights are
/// those after the last whole step, and any other method may be called.
pub struct Trainer {
    spec: ExperimentSpec,
    tokenizer: Tokenizer,
    dataset: Dataset,
    /// Remarks about the text, as sentences.
    notes: Vec<String>,
    rules: AttentionRules,
    device: Device,
    /// `None` only while the optimizer has it: a second owner of the weights would prevent updates
    /// in place.
    model: Option<Gpt>,
    optimizer: Optimizer,
    progress: Progress,
}

/// Copies every parameter to a buffer of its own.
#[cfg(feature = "webgpu")]
struct Apart;

#[cfg(feature = "webgpu")]
impl ModuleMapper for Apart {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, value, mapper) = param.consume();
        // Exact, and the only way to a copy: `clone` shares the buffer.
        Param::from_mapped_value(id, value.mul_scalar(1.0), mapper)
    }
}

/// Progress of the current step.
#[allow(clippy::large_enum_variant, reason = "there is one for each trainer")]
enum Progress {
    Idle,
    Computing(Box<Pass>),
    Computed { slice: StepGradients, gradients: Vec<Tensor<1>> },
}

/// Result of a slice of a training step.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "looked at and dropped, never stored")]
pub enum Slice {
    /// There is more to compute.
    More,
    /// The gradients are complete; next is [`Trainer::apply`] or [`Trainer::discard`].
    Gradients(StepGradients),
}

/// What is worth reading before a step is applied.
#[derive(Clone, Debug)]
pub struct StepGradients {
    /// Mean cross-entropy of the batch in nats per token, `[1]`.
    pub loss: Tensor<1>,
    /// Global norm of the gradient before clipping, `[1]`.
    pub gradient_norm: Tensor<1>,
}

/// A training state to return to. Cheap: tensors are shared until training overwrites them.
#[derive(Clone, Debug)]
pub struct Snapshot {
    model: Gpt,
    optimizer: Optimizer,
}

impl Snapshot {
    /// Number of steps taken.
    pub fn step(&self) -> u32 {
        self.optimizer.steps()
    }
}

/// Why a run could not be set up. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildError {
    Spec(SpecError),
    Data(DataError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spec(error) => error.fmt(f),
            Self::Data(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<SpecError> for BuildError {
    fn from(error: SpecError) -> Self {
        Self::Spec(error)
    }
}

impl From<DataError> for BuildError {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

impl Trainer {
    /// A new model for `text`, on a device without autodiff, as large as a tab can train.
    pub fn new(spec: &ExperimentSpec, text: &str, device: &Device) -> Result<Self, BuildError> {
        Self::new_within(&Limits::TAB, spec, text, device)
    }

    /// The same within other limits.
    pub fn new_within(
        limits: &Limits,
        spec: &ExperimentSpec,
        text: &str,
        device: &Device,
    ) -> Result<Self, BuildError> {
        spec.validate(limits)?;
        Self::build(limits, spec, Tokenizer::learn(spec.tokens, text), text, device)
    }

    /// Builds a trainer for a validated spec.
    fn build(
        limits: &Limits,
        spec: &ExperimentSpec,
        tokenizer: Tokenizer,
        text: &str,
        device: &Device,
    ) -> Result<Self, BuildError> {
        let dataset = Dataset::new(tokenizer.encode(text), spec.gpt.context as usize)
            .map_err(|error| error.of(spec.tokens.unit()))?;
        let learned = tokenizer.notes(spec.tokens, text);
        let notes = dataset.notes.iter().cloned().chain(learned).collect();
        limits.check_parameters(spec.gpt.parameter_count(tokenizer.len()))?;
        let device = device.clone().inner();
        let ExperimentSpec { seed, initialization, gpt, .. } = *spec;
        let config = GptConfig { spec: gpt, vocabulary: tokenizer.len(), initialization, seed };
        let model = config.init(&device);
        Ok(Self {
            spec: *spec,
            tokenizer,
            dataset,
            notes,
            rules: model.attention_rules(spec.gpt.context as usize),
            optimizer: Optimizer::new(&spec.optimizer, &model),
            device,
            model: Some(model),
            progress: Progress::Idle,
        })
    }

    /// Computes one more slice of the next step: a forward or backward pass of one micro-batch
    /// through one stage of the model. Once the gradients are complete, every further call returns
    /// them again.
    pub fn advance(&mut self) -> Slice {
        match &mut self.progress {
            Progress::Computed { slice, .. } => return Slice::Gradients(slice.clone()),
            Progress::Idle => {
                self.progress =
                    Progress::Computing(Box::new(self.start_pass(0..self.spec.batch as usize)));
                return self.advance();
            }
            Progress::Computing(pass) => {
                if !pass.advance() {
                    return Slice::More;
                }
            }
        }
        if let Progress::Computing(pass) = core::mem::replace(&mut self.progress, Progress::Idle) {
            let (loss, gradients) = pass.finish();
            let slice = StepGradients { loss, gradient_norm: global_norm(&gradients) };
            self.progress = Progress::Computed { slice, gradients };
        }
        self.advance()
    }

    /// Applies the step whose gradients [`advance`](Self::advance) returned.
    ///
    /// # Panics
    ///
    /// Panics if it has not returned them.
    pub fn apply(&mut self) {
        let rate = self.learning_rate_at_next_step();
        let Progress::Computed { slice, gradients } =
            core::mem::replace(&mut self.progress, Progress::Idle)
        else {
            panic!("a step is applied before its gradients are computed");
        };
        let model = self.model.take().expect("the model is back after every update");
        let norm = slice.gradient_norm;
        self.model = Some(self.optimizer.update(model, gradients, &norm, f64::from(rate)));
    }

    /// Drops what was computed for the next step. Computing it again gives the same numbers.
    pub fn discard(&mut self) {
        self.progress = Progress::Idle;
    }

    /// The gradients of the step that is fully computed, flat, before clipping, in the order of
    /// [`named_parameters`](crate::named_parameters).
    pub fn gradients(&self) -> Option<&[Tensor<1>]> {
        match &self.progress {
            Progress::Computed { gradients, .. } => Some(gradients),
            _ => None,
        }
    }

    /// Whether a step is under way: started, and neither applied nor discarded.
    pub fn is_midstep(&self) -> bool {
        !matches!(self.progress, Progress::Idle)
    }

    /// Number of steps taken.
    pub fn step(&self) -> u32 {
        self.optimizer.steps()
    }

    /// Changes the peak learning rate from the next update on.
    pub fn set_learning_rate(&mut self, rate: f32) -> Result<(), SpecError> {
        let mut optimizer = self.spec.optimizer;
        optimizer.learning_rate = rate;
        optimizer.validate()?;
        self.spec.optimizer = optimizer;
        Ok(())
    }

    /// The learning rate [`apply`](Self::apply) would use now.
    pub fn learning_rate_at_next_step(&self) -> f32 {
        LearningRateSchedule::new(&self.spec.optimizer).at(self.step().saturating_add(1)) as f32
    }

    /// The model with the present weights, without autodiff. Cheap; training does not change it,
    /// but as long as it is kept, the next update copies the weights.
    pub fn model(&self) -> Gpt {
        self.model.clone().expect("the model is back after every update")
    }

    /// The same, to be kept for long. On a GPU the weights are copied, without reading them back: there
    /// they lie in one buffer with the optimizer's moments, three times as large, which must not stay.
    pub fn model_to_keep(&self) -> Gpt {
        #[cfg(feature = "webgpu")]
        if self.reads_wait() {
            return self.model().map(&mut Apart);
        }
        self.model()
    }

    /// The experiment, with the present peak learning rate.
    pub fn spec(&self) -> &ExperimentSpec {
        &self.spec
    }

    /// The tokenizer of the model.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The text as tokens.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The device without autodiff.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Whether a read-back stalls the device.
    pub fn reads_wait(&self) -> bool {
        !has_kernels(self.device.clone())
    }

    /// Number of trained parameters.
    pub fn parameter_count(&self) -> u64 {
        self.spec.gpt.parameter_count(self.tokenizer.len())
    }

    /// Number of tokens that one step trains on.
    pub fn tokens_per_step(&self) -> u64 {
        u64::from(self.spec.batch) * u64::from(self.spec.gpt.context)
    }

    /// Remarks about the text, as sentences.
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The present weights and optimizer state, to [`restore`](Self::restore) later.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { model: self.model(), optimizer: self.optimizer.clone() }
    }

    /// Returns to a snapshot of this trainer and drops a half-done step. The learning rate stays as
    /// it was set last, because it may be what has to change for the run to go better this time.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.discard();
        self.model = Some(snapshot.model.clone());
        self.optimizer = snapshot.optimizer.clone();
    }

    /// A pass over the sequences `rows` of the next step's batch.
    fn start_pass(&self, rows: Range<usize>) -> Pass {
        let ExperimentSpec { seed, gpt, batch, .. } = self.spec;
        let (step, batch, context) = (self.step(), batch as usize, gpt.context as usize);
        Pass::new(
            self.model.as_ref().expect("the model is back after every update"),
            &self.rules,
            (self.dataset.batch(seed, step, batch, context), batch),
            rows,
            sequences_per_slice(&gpt, self.tokenizer.len()),
            DropoutSource { rate: gpt.dropout, seed, step },
        )
    }
}
