//! An Elman network whose sums are normalized at every time step, over the batch (with separate
//! statistics for each step, which Cooijmans et al. 2017 found necessary) or over the layer (Ba et
//! al. 2016).

use burn::{
    module::{Module, Param},
    nn::Linear,
    tensor::{Device, Int, Tensor},
};
use unroll_protocol::study::norm::Axis;

use super::deep::Between;
use crate::{
    fused::{self, recurrent::tanh},
    norm::{BatchNorm, LayerNorm, NormTrace, RunningStatistics},
    parameters::{bias, matrix},
    random::{Normals, Purpose, stream},
};

/// Width of the state.
pub const UNITS: usize = 16;

/// `h_t = tanh(norm(W x_t + U h_(t-1)))`, with logits `V h_t + c` at every step; all steps share γ
/// and β, like W and U.
#[derive(Module, Debug)]
pub struct NormedRnn {
    /// One row for each token, `[vocabulary, UNITS]`
    input: Param<Tensor<2>>,
    /// `[UNITS, UNITS]`
    recurrent: Param<Tensor<2>>,
    between: Between,
    head: Linear,
}

/// Which statistics BatchNorm uses at a step.
#[derive(Clone, Copy)]
pub enum Use<'a> {
    /// The statistics of the batch at that step.
    Batch,
    /// The running statistics of that step; the sequence ends where there are none.
    Own(&'a [RunningStatistics]),
    /// The same statistics at every step.
    Fixed(&'a RunningStatistics),
}

impl NormedRnn {
    /// Draws the weights, the same for either axis.
    pub fn new(axis: Axis, vocabulary: usize, seed: u32, device: &Device) -> Self {
        let mut draws = Normals::new(stream(seed, Purpose::NormWeights, [2, 0, 0]));
        let deviation = 1.0 / (UNITS as f64).sqrt();
        let input = matrix([vocabulary, UNITS], 0.5, &mut draws, device);
        let recurrent = matrix([UNITS, UNITS], 2.0 * deviation, &mut draws, device);
        let head = matrix([UNITS, vocabulary], 0.3 * deviation, &mut draws, device);
        let between = match axis {
            Axis::Batch => Between::Batch(BatchNorm::new(UNITS, device)),
            Axis::Layer => Between::Layer(LayerNorm::new(UNITS, device)),
        };
        let head = Linear { weight: head, bias: Some(bias(vocabulary, device)) };
        Self { input, recurrent, between, head }
    }

    /// Logits `[B, T, vocabulary]`, and every step's trace. With [`Use::Own`], T is at most the
    /// number of statistics.
    ///
    /// # Shapes
    ///
    /// - tokens: `[B, T]`
    ///
    /// # Panics
    ///
    /// Panics on a batch of one with [`Use::Batch`], and on an empty sequence.
    pub fn forward(&self, tokens: Tensor<2, Int>, used: Use<'_>) -> (Tensor<3>, Vec<NormTrace>) {
        let [rows, length] = tokens.dims();
        let length = match (&self.between, used) {
            (Between::Batch(_), Use::Own(running)) => length.min(running.len()),
            _ => length,
        };
        let mut state: Option<Tensor<2>> = None;
        let (mut logits, mut traces) = (Vec::new(), Vec::new());
        for step in 0..length {
            let ids = tokens.clone().slice([0..rows, step..step + 1]).reshape([rows]);
            let mut sums = self.input.val().select(0, ids);
            // Before the first step the state is 0 and adds nothing.
            if let Some(state) = state {
                sums = sums + fused::product(state, self.recurrent.val());
            }
            let (normalized, trace) = match (&self.between, used) {
                (Between::Batch(norm), Use::Batch) => {
                    norm.forward_batch(sums).expect("more than one sequence")
                }
                (Between::Batch(norm), Use::Own(running)) => {
                    norm.forward_running(sums, &running[step])
                }
                (Between::Batch(norm), Use::Fixed(running)) => norm.forward_running(sums, running),
                (Between::Layer(norm), _) => norm.forward(sums),
                (Between::Plain(_), _) => unreachable!("neither version is plain"),
            };
            let new = tanh(normalized);
            logits.push(fused::linear(&self.head, new.clone()));
            traces.push(trace);
            state = Some(new);
        }
        (Tensor::stack(logits, 1), traces)
    }
}
