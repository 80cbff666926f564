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

/// Most multiply-adds of a slice's forward pass through one block, in a tab: about 5 ms on one core in
/// wasm, where a worker has to answer between slices. It decides how a batch is split, and float sums
/// depend on the split: changing it changes the last bits of every run.
const IN_A_TAB: u64 = 100_000_000;
/// The same natively, where a core does so many in 15 to 40 ms, and needs large slices to be quick: every
/// slice packs all weights anew and adds to all gradients.
const NATIVELY: u64 = 10 * IN_A_TAB;

/// Most sequences in one slice. This depends on nothing but the model's shape and the kind of machine,
/// so how a batch is split, and with it every result, never depends on timing.
pub(super) fn sequences_per_slice(spec: &GptSpec, vocabulary: usize) -> usize {
    sequences_within(
        if cfg!(target_arch = "wasm32") { IN_A_TAB } else { NATIVELY },
        spec,
        vocabulary,
    )
}

fn sequences_within(multiply_adds: u64, spec: &GptSpec, vocabulary: usize) -> usize {
    let block = spec.forward_multiply_adds() / u64::from(spec.layers);
    let head = u64::from(spec.context) * u64::from(spec.width) * vocabulary as u64;
    (multiply_adds / block.max(head)).max(1) as usize
}

/// Splits `count` into as few numbers as possible that are at most `most` and differ by at most 1.
pub(super) fn split_evenly(count: usize, most: usize) -> Vec<usize> {
    let parts = count.div_ceil(most);
    (0..parts).map(|part| count / parts + usize::from(part < count % parts)).collect()
}

/// The forward and backward pass of a step over some of its batch, one stage of one micro-batch at
/// a time.
///
/// The stages are the embeddings, each block, and the head with the loss. Each has its own autodiff
/// graph whose input is a leaf; in the backward pass, the gradient with respect to that leaf is the
/// upstream gradient of the previous stage.
pub(super) struct Pass {
    /// The model with autodiff; its parameters are leaves shared by all graphs.
    model: Gpt,
    rules: AttentionRules,
    device: Device,
    batch: Batch,
    dropout: DropoutSource,
    /// Number of sequences in the whole batch.
    sequences: usize,
    micro_batches: Vec<usize>,
    /// Index of the current micro-batch, and of its first sequence within the batch.
    current: usize,
    before: usize,
    /// The targets of its tokens. They are uploaded at the start: an upload to a GPU in the middle
    /// of its work forces everything in the queue to be submitted first.
    targets: Option<Tensor<2, Int>>,
    stages: Stages,
    gradients: GradientSum,
    loss: Option<Tensor<1>>,
}

/// What the dropout masks of a step depend on.
#[derive(Clone, Copy)]
pub(super) struct DropoutSource {
    pub rate: f32,
    pub seed: u32,
    pub step: u32,
}

/// Progress of a micro-batch.
#[allow(clippy::large_enum_variant, reason = "there is one for each pass")]
enum Stages {
    /// The embeddings are next.
    Start,
    /// Block `blocks.len()` is next, or the head after the last; `stream` is its input.
    Forward { embedded: Tensor<3>, blocks: Vec<Stage>, stream: Tensor<3> },
    /// The loss is computed; the backward pass starts at the head.
    Head { embedded: Tensor<3>, blocks: Vec<Stage>, input: Tensor<3>, loss: Tensor<1> },
    /// The last of `blocks` is next, or the embeddings after the first; `upstream` is the gradient
    /// with respect to its output.
    Backward { embedded: Tensor<3>, blocks: Vec<Stage>, upstream: Tensor<3> },
    /// Every micro-batch is through.
    Done,
}

/// The input and output of a block's graph.
struct Stage {
    input: Tensor<3>,
    output: Tensor<3>,
}

impl Pass {
    /// A pass over the sequences `rows` of a batch of `sequences`, at most `most` at a time.
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

    /// Computes one more slice; returns true when nothing is left to compute.
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

    /// What the sequences contribute to the batch's mean loss and to its gradients; one flat
    /// gradient per parameter.
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
            // Weighted by its share of the batch, so that the sum over micro-batches is the batch's
            // mean.
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

    /// The tokens of the current micro-batch.
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
        assert_eq!(sequences_within(NATIVELY, &spec, 65), 73);
        let in_a_tab = |spec: &GptSpec, vocabulary| sequences_within(IN_A_TAB, spec, vocabulary);
        assert_eq!(in_a_tab(&spec, 65), 7);
        spec.context = 4096;
        assert_eq!(in_a_tab(&spec, 65), 1);
        (spec.width, spec.context) = (8, 64);
        assert!(in_a_tab(&spec, 512) < in_a_tab(&spec, 2));
    }
}
