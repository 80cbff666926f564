//! Sequence-to-sequence models with recurrent networks: an encoder and a decoder, connected by one
//! vector (Cho et al. 2014) or by attention (Bahdanau et al. 2015, Luong et al. 2015).

mod alignment;
mod decode;
mod decoder;
mod encoder;
mod gru;
mod trace;

use burn::{
    module::{Module, Param},
    nn::Linear,
    tensor::{Device, Int, Tensor},
};
use unroll_protocol::AttentionKind;

pub use alignment::AlignmentLayer;
pub use decode::Hypothesis;
pub use decoder::DecoderState;
pub use encoder::{Encoded, Source};
pub use trace::{AlignmentTrace, Seq2seqTrace};

use crate::{
    fused::has_kernels,
    loss::masked_cross_entropy,
    parameters::{given_vector, uniform_matrix},
    random::{Normals, Purpose, stream},
    recurrent::{Cell, CellConfig, CellKind, Initialization},
    tasks::PairTensors,
};

/// How the steps of an encoder or decoder run.
#[derive(Clone, Copy, PartialEq)]
enum Execution {
    /// All steps as one operation, which needs kernels.
    Fused,
    /// One step after another, composed of burn's operations.
    StepByStep,
}

impl Execution {
    /// The faster of those that `device` supports.
    fn on(device: Device) -> Self {
        if has_kernels(device) { Self::Fused } else { Self::StepByStep }
    }
}

/// Configuration of a [`Seq2seq`].
#[derive(Clone, Copy, Debug)]
pub struct Seq2seqConfig {
    /// Number of tokens it reads.
    pub sources: usize,
    /// Number of tokens it writes; the token of id 0 ends the target.
    pub targets: usize,
    /// Units of the decoder and of each of the encoder's directions.
    pub hidden: usize,
    pub bidirectional: bool,
    pub attention: AttentionKind,
    /// Width of the scoring network of additive and concat attention.
    pub alignment: usize,
    /// Decides every initial weight.
    pub seed: u32,
}

/// An encoder GRU and a decoder GRU. Tokens are one-hot vectors on both sides.
///
/// The summary c is the encoder's last state, of both directions if it has two, and
/// `s_0 = tanh(V c + b)` (Cho et al. 2014, appendix A.1). Then
///
/// - without attention, `s_i = GRU(s_(i-1), [y_(i-1); c])` with the same c in every step;
/// - Bahdanau's, `s_i = GRU(s_(i-1), [y_(i-1); c_i])`, with `c_i` mixed from the encoder's states
///   by what `s_(i-1)` scores (section 3.1);
/// - Luong's, `s_i = GRU(s_(i-1), y_(i-1))`, with `c_i` mixed afterwards by what `s_i` scores, and
///   logits from `h~ = tanh(W_c [c_i; s_i])` (equation 5), without input feeding.
///
/// In the first two, logits are `O_s s_i + O_c c_i + O_y y_(i-1) + b`, where the papers have a
/// maxout layer in between.
#[derive(Module, Debug)]
pub struct Seq2seq {
    pub forward: Cell,
    /// The backward cell of a bidirectional encoder.
    pub backward: Option<Cell>,
    /// P, `[E, H]`: projects the states of a bidirectional encoder to the decoder's width, for
    /// [`AttentionKind::Dot`].
    pub projection: Option<Param<Tensor<2>>>,
    /// V and b, from the summary to `s_0`.
    pub initial: Linear,
    /// Reads `[y_(i-1); c]`, or `y_(i-1)` alone with Luong's attention.
    pub decoder: Cell,
    pub attention: Option<AlignmentLayer>,
    /// `W_c`, `[E + H, H]`, the context's rows first; with Luong's attention.
    pub mix: Option<Param<Tensor<2>>>,
    /// `[O_s; O_c]` and b; with Luong's attention from `h~`.
    pub readout: Linear,
    /// `O_y`, `[targets, targets]`; not with Luong's attention.
    pub from_previous: Option<Param<Tensor<2>>>,
    #[module(skip)]
    kind: AttentionKind,
}

/// Whether scores use the decoder's new state, after its step.
fn is_luongs(kind: AttentionKind) -> bool {
    matches!(kind, AttentionKind::Dot | AttentionKind::General | AttentionKind::Concat)
}

impl Seq2seqConfig {
    /// Draws the weights, the same on every device: from U(-1/sqrt(n), 1/sqrt(n)) as in PyTorch,
    /// where n is the number of units of a cell or the width of a layer's input; the cells'
    /// recurrent matrices are orthogonal, as in Bahdanau et al. 2015, appendix B.1.
    ///
    /// # Panics
    ///
    /// Panics if a width is 0.
    pub fn init(&self, device: &Device) -> Seq2seq {
        let Self { sources, targets, hidden, bidirectional, attention: kind, .. } = *self;
        let draws = &mut Normals::new(stream(self.seed, Purpose::Seq2seqWeights, [0; 3]));
        let cell = |inputs, draws: &mut Normals| {
            let initialization = Initialization::Orthogonal;
            CellConfig { kind: CellKind::Gru, inputs, hidden, initialization }.init(draws, device)
        };
        let square = |shape: [usize; 2], draws: &mut Normals| {
            uniform_matrix(shape, 1.0 / (shape[0] as f64).sqrt(), draws, device)
        };
        let linear = |shape: [usize; 2], draws: &mut Normals| Linear {
            weight: square(shape, draws),
            bias: Some(given_vector(
                draws.uniform(shape[1], 1.0 / (shape[0] as f64).sqrt()),
                device,
            )),
        };
        let forward = cell(sources, draws);
        let backward = bidirectional.then(|| cell(sources, draws));
        let summary = if bidirectional { 2 * hidden } else { hidden };
        let projected = bidirectional && kind == AttentionKind::Dot;
        let projection = projected.then(|| square([summary, hidden], draws));
        let context = if projected { hidden } else { summary };
        let luongs = is_luongs(kind);
        let initial = linear([summary, hidden], draws);
        let decoder = cell(if luongs { targets } else { targets + context }, draws);
        let attention = AlignmentLayer::new(kind, [hidden, context, self.alignment], draws, device);
        let mix = luongs.then(|| square([context + hidden, hidden], draws));
        let readout = linear([if luongs { hidden } else { hidden + context }, targets], draws);
        let from_previous = (!luongs).then(|| square([targets, targets], draws));
        Seq2seq {
            forward,
            backward,
            projection,
            initial,
            decoder,
            attention,
            mix,
            readout,
            from_previous,
            kind,
        }
    }
}

impl Seq2seq {
    /// Logits of every step, each given the correct previous token (teacher forcing).
    ///
    /// # Shapes
    ///
    /// - previous, `y_(i-1)`: `[batch, T]`
    /// - output: `[batch, T, targets]`
    ///
    /// # Panics
    ///
    /// Panics unless there is one row of previous tokens for each source.
    pub fn forward(&self, source: &Source, previous: Tensor<2, Int>) -> Tensor<3> {
        let encoded = self.encode(source);
        let start = self.start(&encoded);
        self.run(&encoded, start, previous).logits
    }

    /// Mean cross-entropy in nats per target token, end tokens included, `[1]`.
    pub fn loss(&self, batch: &PairTensors) -> Tensor<1> {
        let logits = self.forward(&batch.source, batch.previous.clone());
        masked_cross_entropy(logits, batch.targets.clone(), batch.weights.clone())
    }

    /// Like [`forward`](Self::forward), and returns the intermediate results, untracked.
    pub fn forward_traced(&self, source: &Source, previous: Tensor<2, Int>) -> Seq2seqTrace {
        let encoded = self.encode(source);
        let start = self.start(&encoded);
        let run = self.run(&encoded, start.clone(), previous);
        Seq2seqTrace::new(self, encoded, start, run)
    }

    pub fn attention_kind(&self) -> AttentionKind {
        self.kind
    }

    /// Units of the decoder.
    pub fn hidden(&self) -> usize {
        self.decoder.hidden()
    }

    /// Width of the encoder's states as the decoder sees them.
    pub fn encoder_width(&self) -> usize {
        match (&self.projection, &self.backward) {
            (None, Some(_)) => 2 * self.hidden(),
            _ => self.hidden(),
        }
    }

    /// Number of tokens it reads.
    pub fn sources(&self) -> usize {
        self.forward.input_weight.dims()[0]
    }

    /// Number of tokens it writes.
    pub fn targets(&self) -> usize {
        self.readout.weight.dims()[1]
    }

    /// The device that holds the weights.
    pub fn device(&self) -> Device {
        self.readout.weight.device().inner()
    }
}
