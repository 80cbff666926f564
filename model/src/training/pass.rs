//! Loss and gradients of one batch, in slices.

use core::ops::Range;

use burn::{
    module::Module,
    tensor::{Device, Gradients, Int, Tensor},
};
use unroll_protocol::GptSpec;

use crate::{
    attention::AttentionRules,
    data::{Batch, token_tensor},
    dropout::Dropout,
    fused::backward_from,
    gpt::Gpt,
    loss::cross_entropy,
    parameters::GradientSum,
};

/// Most multiply-adds a slice's forward pass through one block costs, about 5 ms on one core in
/// wasm. It decides how a batch is split, and sums of floats depend on the split: changing it
/// changes the last bits of every run.
const SLICE_MULTIPLY_ADDS: u64 = 100_000_000;

/// How many sequences one slice takes at most. Depends on nothing but the model's shape, so that
/// how a batch is split, and with it every result, never depends on timing.
pub(super) fn sequences_per_slice(spec: &GptSpec, vocabulary: usize) -> usize {
    let block = spec.forward_multiply_adds() / u64::from(spec.layers);
    let head = u64::from(spec.context) * u64::from(spec.width) * vocabulary as u64;
    (SLICE_MULTIPLY_ADDS / block.max(head)).max(1) as usize
}

/// `count` as the fewest numbers that are at most `most` and differ by at most 1.
pub(super) fn split_evenly(count: usize, most: usize) -> Vec<usize> {
    let parts = count.div_ceil(most);
    (0..parts).map(|part| count / parts + usize::from(part < count % parts)).collect()
}

/// A step's forward and backward passes over some of its batch, a stage of one micro-batch at a
/// time.
///
/// The stages are the embeddings, each block, and the head with the loss. Each is an autodiff
/// graph of its own: its input is a leaf, and on the way back the gradient of the loss with
/// respect to that leaf is what the stage before starts from.
pub(super) struct Pass {
    /// The model with autodiff; its parameters are leaves shared by all graphs.
    model: Gpt,
    rules: AttentionRules,
    device: Device,
    batch: Batch,
    dropout: DropoutSource,
    /// Sequences of the whole batch.
    sequences: usize,
    micro_batches: Vec<usize>,
    /// The micro-batch under way and which sequence of the batch is its first.
    current: usize,
    before: usize,
    /// What its tokens are to predict. On the device from its start on: sending something to a GPU
    /// in the middle of its work has what is queued submitted first.
    targets: Option<Tensor<2, Int>>,
    stages: Stages,
    gradients: GradientSum,
    loss: Option<Tensor<1>>,
}

/// What decides the dropout masks of a step.
#[derive(Clone, Copy)]
pub(super) struct DropoutSource {
    pub rate: f32,
    pub seed: u32,
    pub step: u32,
}

/// How far a micro-batch is.
#[allow(clippy::large_enum_variant, reason = "there is one for each pass")]
enum Stages {
    /// The embeddings are next.
    Start,
    /// Block `blocks.len()` is next, or the head after the last; `stream` is its input.
    Forward { embedded: Tensor<3>, blocks: Vec<Stage>, stream: Tensor<3> },
    /// The loss is there; the way back starts at the head.
    Head { embedded: Tensor<3>, blocks: Vec<Stage>, input: Tensor<3>, loss: Tensor<1> },
    /// The last of `blocks` is next, or the embeddings after the first; `upstream` is the gradient
    /// with respect to its output.
    Backward { embedded: Tensor<3>, blocks: Vec<Stage>, upstream: Tensor<3> },
    /// Every micro-batch is through.
    Done,
}

/// The two ends of a block's graph.
struct Stage {
    input: Tensor<3>,
    output: Tensor<3>,
}

impl Pass {
    /// Over the sequences `rows` of a batch of `sequences`, at most `most` at a time.
    pub(super) fn new(
        model: &Gpt,
        rules: &AttentionRules,
        (batch, sequences): (Batch, usize),
        rows: Range<usize>,
        most: usize,
        dropout: DropoutSource,
    ) -> Self {
        Self {
            device: model.device(),
            model: model.clone().train(),
            rules: rules.clone(),
            batch,
            dropout,
            sequences,
            micro_batches: split_evenly(rows.len(), most),
            current: 0,
            before: rows.start,
            targets: None,
            stages: Stages::Start,
            gradients: GradientSum::default(),
            loss: None,
        }
    }

    /// Computes one slice more; true once nothing is left to compute.
    pub(super) fn advance(&mut self) -> bool {
        self.stages = match core::mem::replace(&mut self.stages, Stages::Done) {
            Stages::Start => self.embed(),
            Stages::Forward { embedded, blocks, stream } => self.forward(embedded, blocks, stream),
            Stages::Head { embedded, blocks, input, loss } => {
                let mut gradients = loss.backward();
                let loss = loss.inner();
                self.loss = Some(match self.loss.take() {
                    Some(earlier) => earlier + loss,
                    None => loss,
                });
                let upstream = take_gradient(&input, &mut gradients);
                self.gradients.add(&self.model, &mut gradients);
                Stages::Backward { embedded, blocks, upstream }
            }
            Stages::Backward { embedded, blocks, upstream } => {
                self.backward(embedded, blocks, upstream)
            }
            Stages::Done => Stages::Done,
        };
        matches!(self.stages, Stages::Done)
    }

    /// What the sequences add to the batch's mean loss and to its gradients, flat, one for each
    /// parameter.
    ///
    /// # Panics
    ///
    /// Panics unless [`advance`](Self::advance) returned true.
    pub(super) fn finish(self) -> (Tensor<1>, Vec<Tensor<1>>) {
        (self.loss.expect("the pass has ended"), self.gradients.finish())
    }

    fn embed(&mut self) -> Stages {
        let sequences = self.micro_batches[self.current];
        let on_device = |tokens| token_tensor(self.rows(tokens), sequences, &self.device);
        let (tokens, targets) = (on_device(&self.batch.inputs), on_device(&self.batch.targets));
        self.targets = Some(targets);
        let embedded = self.model.embed(tokens, &self.dropout());
        Stages::Forward { stream: embedded.clone().inner(), embedded, blocks: Vec::new() }
    }

    fn forward(
        &mut self,
        embedded: Tensor<3>,
        mut blocks: Vec<Stage>,
        stream: Tensor<3>,
    ) -> Stages {
        let input = stream.autodiff().require_grad();
        let Some(block) = self.model.blocks.get(blocks.len()) else {
            let sequences = self.micro_batches[self.current];
            let logits = self.model.logits(input.clone());
            let targets = self.targets.take().expect("sent with the tokens");
            // Weighted by its share of the batch: the sum over micro-batches is the batch's mean.
            let share = sequences as f64 / self.sequences as f64;
            let loss = cross_entropy(logits, targets) * share;
            return Stages::Head { embedded, blocks, input, loss };
        };
        let dropout = self.dropout().in_block(blocks.len());
        let output = block.forward(input.clone(), &self.rules, &dropout);
        let stream = output.clone().inner();
        blocks.push(Stage { input, output });
        Stages::Forward { embedded, blocks, stream }
    }

    fn backward(
        &mut self,
        embedded: Tensor<3>,
        mut blocks: Vec<Stage>,
        upstream: Tensor<3>,
    ) -> Stages {
        let stage = blocks.pop();
        let output = stage.as_ref().map_or(embedded.clone(), |stage| stage.output.clone());
        let mut gradients = backward_from(output, upstream);
        self.gradients.add(&self.model, &mut gradients);
        match stage {
            Some(stage) => {
                let upstream = take_gradient(&stage.input, &mut gradients);
                Stages::Backward { embedded, blocks, upstream }
            }
            None => {
                self.before += self.micro_batches[self.current];
                self.current += 1;
                let ended = self.current == self.micro_batches.len();
                if ended { Stages::Done } else { Stages::Start }
            }
        }
    }

    /// The tokens of the micro-batch under way.
    fn rows<'a>(&self, tokens: &'a [u32]) -> &'a [u32] {
        let context = tokens.len() / self.sequences;
        let end = self.before + self.micro_batches[self.current];
        &tokens[self.before * context..end * context]
    }

    fn dropout(&self) -> Dropout {
        let DropoutSource { rate, seed, step } = self.dropout;
        Dropout::new(rate, seed, step, self.before as u32)
    }
}

fn take_gradient(leaf: &Tensor<3>, gradients: &mut Gradients) -> Tensor<3> {
    leaf.grad_remove(gradients).expect("the loss depends on every stage")
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Architecture;

    use super::*;

    #[test]
    fn batches_split_into_the_fewest_even_parts() {
        assert_eq!(split_evenly(12, 12), [12]);
        assert_eq!(split_evenly(12, 5), [4, 4, 4]);
        assert_eq!(split_evenly(13, 12), [7, 6]);
        assert_eq!(split_evenly(3, 1), [1, 1, 1]);
    }

    #[test]
    fn a_slice_is_bounded_by_block_or_head_and_never_empty() {
        let mut spec = GptSpec {
            layers: 4,
            heads: 4,
            width: 128,
            context: 64,
            dropout: 0.0,
            tied: false,
            architecture: Architecture::GPT2,
        };
        // 12 * 128² * 64 + 2 * 64² * 128 = 13.6 million.
        assert_eq!(sequences_per_slice(&spec, 65), 7);
        spec.context = 4096;
        assert_eq!(sequences_per_slice(&spec, 65), 1);
        (spec.width, spec.context) = (8, 64);
        assert!(sequences_per_slice(&spec, 512) < sequences_per_slice(&spec, 2));
    }
}
