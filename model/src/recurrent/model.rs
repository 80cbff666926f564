//! A recurrent network that maps tokens to an answer at every step.

use burn::{
    module::Module,
    nn::{Embedding, Linear},
    tensor::{Device, Int, Tensor},
};

use super::{
    CellKind, Initialization, LayerStates, Recurrent, RecurrentConfig, RecurrentLayerTrace,
    RunOptions, SequenceInput,
};
use crate::{
    fused::linear,
    parameters::{given_vector, matrix, uniform_matrix},
    random::{Normals, Purpose, stream},
};

/// Configuration of a [`SequenceModel`].
#[derive(Clone, Copy, Debug)]
pub struct SequenceConfig {
    /// Number of tokens it reads.
    pub vocabulary: usize,
    /// Number of answers to choose from.
    pub outputs: usize,
    /// Width of the embedding; `None` for one-hot vectors.
    pub embedding: Option<usize>,
    pub kind: CellKind,
    /// Units of each cell.
    pub hidden: usize,
    pub layers: usize,
    pub bidirectional: bool,
    pub initialization: Initialization,
    /// Decides every initial weight.
    pub seed: u32,
}

/// One-hot or embedded tokens, recurrent layers, and `V s_t + c` at every step.
#[derive(Module, Debug)]
pub struct SequenceModel {
    /// `None` for one-hot vectors.
    pub embedding: Option<Embedding>,
    pub recurrent: Recurrent,
    /// V and c.
    pub readout: Linear,
}

/// Output of a model.
#[derive(Clone, Debug)]
pub struct SequenceOutput {
    /// `[batch, T, outputs]`
    pub logits: Tensor<3>,
    /// The last state of every layer, from which another run can continue.
    pub finals: Vec<LayerStates>,
}

/// Output of a model with its intermediate results.
#[derive(Clone, Debug)]
pub struct SequenceTrace {
    /// `[batch, T, outputs]`
    pub logits: Tensor<3>,
    /// The last state of every layer.
    pub finals: Vec<LayerStates>,
    /// One for each layer.
    pub layers: Vec<RecurrentLayerTrace>,
}

impl SequenceConfig {
    /// Draws the weights, the same on every device, with PyTorch's scales: embeddings from N(0, 1),
    /// cells as [`Initialization`] says, the readout from U(-1/sqrt(n), 1/sqrt(n)), where n is the
    /// width of its input.
    ///
    /// # Panics
    ///
    /// Panics if a width or the number of layers is 0.
    pub fn init(&self, device: &Device) -> SequenceModel {
        let Self { vocabulary, outputs, kind, hidden, layers, bidirectional, .. } = *self;
        let initialization = self.initialization;
        let mut draws = Normals::new(stream(self.seed, Purpose::RecurrentWeights, [0; 3]));
        let embedding = self.embedding.map(|width| Embedding {
            weight: matrix([vocabulary, width], 1.0, &mut draws, device),
        });
        let inputs = self.embedding.unwrap_or(vocabulary);
        let recurrent =
            RecurrentConfig { kind, inputs, hidden, layers, bidirectional, initialization }
                .init(&mut draws, device);
        let width = kind.output_width(hidden) * if bidirectional { 2 } else { 1 };
        let bound = 1.0 / (width as f64).sqrt();
        let readout = Linear {
            weight: uniform_matrix([width, outputs], bound, &mut draws, device),
            bias: Some(given_vector(draws.uniform(outputs, bound), device)),
        };
        SequenceModel { embedding, recurrent, readout }
    }
}

impl SequenceModel {
    /// Logits of the answer at every step.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    /// - output: `[batch, T, outputs]`
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        self.run(tokens, &RunOptions::default()).logits
    }

    /// Like [`forward`](Self::forward), with `options`, and returns the last states too.
    ///
    /// # Panics
    ///
    /// Panics as [`Recurrent::forward`] does.
    pub fn run(&self, tokens: Tensor<2, Int>, options: &RunOptions) -> SequenceOutput {
        let output = self.recurrent.forward(self.input(tokens), options);
        SequenceOutput { logits: linear(&self.readout, output.outputs), finals: output.finals }
    }

    /// Like [`run`](Self::run), and returns the intermediate results. The logits are the same to
    /// the last bit.
    pub fn forward_traced(&self, tokens: Tensor<2, Int>, options: &RunOptions) -> SequenceTrace {
        let (output, layers) = self.recurrent.forward_traced(self.input(tokens), options);
        let logits = linear(&self.readout, output.outputs);
        SequenceTrace { logits, finals: output.finals, layers }
    }

    fn input(&self, ids: Tensor<2, Int>) -> SequenceInput {
        match &self.embedding {
            Some(embedding) => SequenceInput::Embedded { table: embedding.weight.val(), ids },
            None => SequenceInput::OneHot(ids),
        }
    }

    /// The device that holds the weights.
    pub fn device(&self) -> Device {
        self.readout.weight.device().inner()
    }
}
