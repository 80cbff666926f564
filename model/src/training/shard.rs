//! A step divided among several workers.
//!
//! The batch of a step is a function of seed and step, so a worker with a replica of the trainer
//! only needs to know which of its sequences to compute. Their contribution to the gradient of the
//! batch's mean loss is a [`Shard`]; the sum of all shards, in order, is the gradient of the batch.
//! The result is the same to the last bit whichever worker computed a shard, and whenever.

use core::ops::Range;

use burn::tensor::{Tensor, TensorData};

use super::{Progress, StepGradients, Trainer, pass::Pass};
use crate::{
    optimizer::global_norm,
    parameters::named_parameters,
    read::{ReadError, read_all},
};

/// Contribution of some of a batch's sequences to the batch's mean loss and its gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct Shard {
    /// The loss in nats per token, weighted by the shard's share of the batch.
    pub loss: f32,
    /// The gradients with respect to every parameter, concatenated in the order of
    /// [`named_parameters`](crate::named_parameters) and weighted likewise.
    pub gradient: Vec<f32>,
}

impl Shard {
    /// Adds the next shard in order.
    ///
    /// # Panics
    ///
    /// Panics if it is from another model.
    pub fn add(&mut self, next: &Self) {
        assert_eq!(self.gradient.len(), next.gradient.len(), "shards of one model");
        self.loss += next.loss;
        for (sum, gradient) in self.gradient.iter_mut().zip(&next.gradient) {
            *sum += gradient;
        }
    }
}

/// A shard being computed. It holds on to the weights it started with, so training alongside it has
/// to copy them.
pub struct ShardPass {
    pass: Box<Pass>,
}

/// Result of a slice of a [`ShardPass`].
#[allow(clippy::large_enum_variant, reason = "looked at and dropped, never stored")]
pub enum ShardSlice {
    /// There is more to compute.
    More(ShardPass),
    /// It is computed, and can be read from the device.
    Computed(ComputedShard),
}

/// A shard that is still on its device.
pub struct ComputedShard {
    loss: Tensor<1>,
    gradients: Vec<Tensor<1>>,
}

impl ShardPass {
    /// Computes one more slice, like [`Trainer::advance`].
    pub fn advance(mut self) -> ShardSlice {
        if !self.pass.advance() {
            return ShardSlice::More(self);
        }
        let (loss, gradients) = self.pass.finish();
        ShardSlice::Computed(ComputedShard { loss, gradients })
    }
}

impl ComputedShard {
    /// Reads the shard in one await.
    pub async fn read(self) -> Result<Shard, ReadError> {
        let length = self.gradients.iter().map(|gradient| gradient.dims()[0]).sum();
        let read = read_all(core::iter::once(self.loss).chain(self.gradients)).await?;
        let loss = read[0].first().copied().unwrap_or(f32::NAN);
        let mut gradient = Vec::with_capacity(length);
        for part in &read[1..] {
            gradient.extend_from_slice(part);
        }
        Ok(Shard { loss, gradient })
    }
}

impl Trainer {
    /// Starts shard `index` of `count` of the next step's batch. A shard consists of consecutive
    /// sequences. Sizes differ by at most one, and the first shards are the smaller ones.
    ///
    /// # Panics
    ///
    /// Panics unless `index < count` and there is a sequence for every shard.
    pub fn start_shard(&self, index: usize, count: usize) -> ShardPass {
        let rows = shard_rows(self.spec().batch as usize, index, count);
        ShardPass { pass: Box::new(self.start_pass(rows)) }
    }

    /// Makes [`apply`](Self::apply) take the next step with the sum of all its shards, in place of
    /// what [`advance`](Self::advance) would compute. Returns `None` and changes nothing if the sum
    /// is not from this model.
    pub fn set_gradients(&mut self, sum: Shard) -> Option<StepGradients> {
        let model = self.model.as_ref().expect("the model is back after every update");
        let sizes: Vec<usize> =
            named_parameters(model).iter().map(|(_, shape, _)| shape.iter().product()).collect();
        let Shard { loss, gradient } = sum;
        let count = gradient.len();
        if sizes.iter().sum::<usize>() != count {
            return None;
        }
        let device = self.device();
        // One tensor, of which each parameter's gradient is a view: nothing is copied.
        let all = Tensor::<1>::from_data(TensorData::new(gradient, [count]), device);
        let mut start = 0;
        let mut gradients = Vec::with_capacity(sizes.len());
        for size in sizes {
            gradients.push(all.clone().narrow(0, start, size));
            start += size;
        }
        let gradient_norm = global_norm(&gradients);
        let slice = StepGradients { loss: Tensor::from_data([loss], device), gradient_norm };
        self.progress = Progress::Computed { slice: slice.clone(), gradients };
        Some(slice)
    }
}

/// Sequences of shard `index` of `count` of a batch. The first worker, which has other work to do,
/// gets the smallest shard.
fn shard_rows(batch: usize, index: usize, count: usize) -> Range<usize> {
    assert!(index < count && count <= batch, "shard {index} of {count} of {batch} sequences");
    let start =
        |index: usize| index * (batch / count) + (index + batch % count).saturating_sub(count);
    start(index)..start(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_a_batch_in_order_and_the_first_is_the_smallest() {
        let all =
            |batch, count| (0..count).map(|i| shard_rows(batch, i, count)).collect::<Vec<_>>();
        assert_eq!(shard_rows(12, 0, 1), 0..12);
        assert_eq!(all(12, 2), [0..6, 6..12]);
        assert_eq!(all(8, 3), [0..2, 2..5, 5..8]);
        assert_eq!(all(7, 3), [0..2, 2..4, 4..7]);
        assert_eq!(all(3, 3), [0..1, 1..2, 2..3]);
    }
}
