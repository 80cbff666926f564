//! Sub-networks under dropout, and the neurons of one feed-forward layer.

use burn::tensor::{Tensor, TensorData, activation::softmax};
use unroll_protocol::{
    Array,
    architecture::NormPlacement,
    study::block::{CURVES, Ensemble, LAYERS, MASKS, Neurons, Shown, Without, grid},
};

use super::{Passage, Refusal, Study, forward};
use crate::{
    Dropout, activate,
    fused::{linear, normalize},
    read_all, token_tensor,
};

/// Used in place of a training step, for masks that no step uses.
const NO_STEP: u32 = u32::MAX;

impl Study {
    /// Predictions of random sub-networks of the full model at the position. Srivastava et al.
    /// 2014, section 1: the full network with scaled activations approximates the mean of them all.
    pub(super) async fn ensemble(&self, passage: Passage, rate: f32) -> Result<Ensemble, Refusal> {
        if !(0.0..=0.9).contains(&rate) {
            return Err(Refusal(format!("{rate} is no share to drop: choose 0 to 0.9.")));
        }
        let model = self.training.model(0);
        let seen = &passage.ids[..=passage.position];
        let predictions = |count: usize, dropout: &Dropout| {
            let tokens = token_tensor(&seen.repeat(count), count, &self.device);
            let logits = forward(model, tokens, dropout).narrow(1, seen.len() - 1, 1);
            softmax(logits, 2).reshape([-1])
        };
        // Every sequence of a batch has its own masks.
        let dropped = Dropout::new(rate, self.spec.seed, NO_STEP, 0);
        let read =
            read_all([predictions(MASKS as usize, &dropped), predictions(1, &Dropout::off())]);
        let mut read = read.await?.into_iter();
        let (each, full) = (read.next().unwrap_or_default(), read.next().unwrap_or_default());
        let mut mean = vec![0.0; full.len()];
        for row in each.chunks(full.len()) {
            mean.iter_mut().zip(row).for_each(|(sum, p)| *sum += p / MASKS as f32);
        }
        Ok(Ensemble {
            position: passage.position as u32,
            each: Array { shape: vec![MASKS, full.len() as u32], values: each },
            mean,
            full,
        })
    }

    /// Sums and activations of the hidden neurons of `layer`, counted from 1, at the position.
    pub(super) async fn neurons(
        &self,
        passage: Passage,
        shown: Shown,
        layer: u32,
    ) -> Result<Neurons, Refusal> {
        if !(1..=LAYERS).contains(&layer) {
            return Err(Refusal(format!("There is no block {layer}: there are {LAYERS}.")));
        }
        let without = "This model has no feed-forward layers, so it has no hidden neurons.";
        if self.lacks(shown, Without::FeedForward) {
            return Err(Refusal(without.to_owned()));
        }
        let model = self.model(shown);
        let index = layer as usize - 1;
        let tokens = token_tensor(&passage.ids, 1, &self.device);
        let traced = model.forward_traced(tokens, None);
        let block = &model.blocks[index];
        let Some(feed_forward) = &block.feed_forward else {
            return Err(Refusal(without.to_owned()));
        };
        let stream = traced.layers[index].between.clone().narrow(1, passage.position, 1);
        let input = match &block.feed_forward_norm {
            Some(norm) if model.architecture().norm == NormPlacement::Pre => {
                normalize(norm, stream)
            }
            _ => stream,
        };
        let before = linear(&feed_forward.hidden, input.clone());
        let points: Vec<f32> = grid().collect();
        let count = points.len();
        let points = Tensor::<1>::from_data(TensorData::new(points, [count]), &self.device);
        let mut tensors = vec![before.reshape([-1]), feed_forward.neurons(input).reshape([-1])];
        tensors.extend(CURVES.iter().map(|curve| activate(*curve, points.clone())));
        let mut read = read_all(tensors).await?.into_iter();
        Ok(Neurons {
            layer,
            activation: self.spec.activation,
            before: read.next().unwrap_or_default(),
            after: read.next().unwrap_or_default(),
            curves: read.collect(),
        })
    }
}
