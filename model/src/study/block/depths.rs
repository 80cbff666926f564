//! The gradient's norm at each depth.

use burn::tensor::Tensor;
use unroll_protocol::study::block::Depths;

use super::{Refusal, Study};
use crate::{Dropout, Gpt, cross_entropy, read_all};

/// Number of sequences whose gradient is taken.
const SEQUENCES: usize = 4;

impl Study {
    /// The norms for the full and the reduced model, on the next step's batch without dropout.
    pub(super) async fn depths(&self) -> Result<Vec<Depths>, Refusal> {
        let mut depths = Vec::new();
        for learner in self.training.learners() {
            let (loss, norms) = self.gradients_by_depth(&learner.tracked());
            let mut read = read_all(core::iter::once(loss).chain(norms)).await?.concat();
            let loss = read.remove(0);
            depths.push(Depths { norms: read, loss });
        }
        Ok(depths)
    }

    /// The loss, and the norm of its gradient with respect to the stream before each block and
    /// after the last.
    fn gradients_by_depth(&self, tracked: &Gpt) -> (Tensor<1>, Vec<Tensor<1>>) {
        let (inputs, targets) = self.batch(self.training.step(), SEQUENCES);
        let [_, length] = inputs.dims();
        let rules = tracked.attention_rules(length);
        let device = self.device.clone().autodiff();
        let mut probes: Vec<Tensor<3>> = Vec::new();
        // The gradient with respect to a zero added at a point is the gradient at that point.
        let mut probed = |stream: Tensor<3>| {
            let zero = Tensor::<3>::zeros(stream.dims(), &device).require_grad();
            probes.push(zero.clone());
            stream + zero
        };
        let mut stream = probed(tracked.embed(inputs, &Dropout::off()));
        for block in &tracked.blocks {
            stream = probed(block.forward(stream, &rules, &Dropout::off()));
        }
        let loss = cross_entropy(tracked.logits(stream), targets);
        let gradients = loss.backward();
        let norms = probes.iter().map(|probe| {
            let gradient = probe.grad(&gradients).expect("the loss depends on every depth");
            // In f32 the square of a number far below 1e-19 is 0, so the largest entry is factored
            // out first.
            let largest = gradient.clone().abs().max().clamp_min(f32::MIN_POSITIVE);
            let shares = gradient / largest.clone().unsqueeze::<3>();
            (shares.clone() * shares).sum().sqrt() * largest
        });
        let norms = norms.collect();
        (loss.inner(), norms)
    }
}
