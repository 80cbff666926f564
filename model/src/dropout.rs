//! Dropout (Srivastava et al. 2014) whose masks can be replayed.

use burn::tensor::{Device, Tensor, TensorData};
use rand::Rng;

use crate::random::{Purpose, stream};

/// Which activations one pass over some of a batch's sequences drops: a pure function of seed,
/// step, sequence and site, drawn on the host. So every device drops the same ones, however the
/// batch is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    rate: f32,
    seed: u32,
    step: u32,
    /// Index of the pass's first sequence within its batch.
    first: u32,
    site: u32,
}

impl Dropout {
    /// Drops nothing, as in inference.
    pub fn off() -> Self {
        Self { rate: 0.0, seed: 0, step: 0, first: 0, site: 0 }
    }

    /// Drops each activation with probability `rate` and scales the others by `1 / (1 - rate)`. The
    /// first axis of the tensors it is applied to is the batch, starting with sequence `first`.
    ///
    /// # Panics
    ///
    /// Panics if `rate` is outside `[0, 1)`.
    pub fn new(rate: f32, seed: u32, step: u32, first: u32) -> Self {
        assert!((0.0..1.0).contains(&rate), "a dropout rate of {rate} is outside [0, 1)");
        Self { rate, seed, step, first, site: 0 }
    }

    /// The same pass as seen from block `layer`, whose masks differ from every other block's.
    pub(crate) fn in_block(self, layer: usize) -> Self {
        Self { site: 1 + 3 * layer as u32, ..self }
    }

    /// Applies the mask of a site: 0 for the embeddings, 0 to 2 in a block.
    pub(crate) fn apply<const D: usize>(&self, input: Tensor<D>, site: u32) -> Tensor<D> {
        let device = input.device();
        match self.mask(input.dims(), site, &device) {
            Some(mask) => input * mask,
            None => input,
        }
    }

    /// The factors of [`apply`](Self::apply), without autodiff; `None` if nothing is dropped.
    pub(crate) fn mask<const D: usize>(
        &self,
        shape: [usize; D],
        site: u32,
        device: &Device,
    ) -> Option<Tensor<D>> {
        if self.rate == 0.0 {
            return None;
        }
        let dropped_below = (f64::from(self.rate) * 2f64.powi(32)) as u32;
        let scale = 1.0 / (1.0 - self.rate);
        let each = shape[1..].iter().product();
        let mut mask = Vec::with_capacity(shape[0] * each);
        for sequence in 0..shape[0] as u32 {
            let place = [self.step, self.first + sequence, self.site + site];
            let mut rng = stream(self.seed, Purpose::Dropout, place);
            let draw = || if rng.next_u32() < dropped_below { 0.0 } else { scale };
            mask.extend(core::iter::repeat_with(draw).take(each));
        }
        Some(Tensor::from_data(TensorData::new(mask, shape), &device.clone().inner()))
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    fn values(dropout: Dropout, site: u32) -> Vec<f32> {
        let ones = Tensor::<2>::ones([100, 100], &Device::flex());
        dropout.apply(ones, site).into_data().try_into_vec().unwrap()
    }

    #[test]
    fn drops_its_share_and_keeps_the_mean() {
        let values = values(Dropout::new(0.25, 1, 2, 3), 0);
        let dropped = values.iter().filter(|&&v| v == 0.0).count();
        assert!((dropped as f32 / 1e4 - 0.25).abs() < 0.02, "{dropped}");
        assert!((values.iter().sum::<f32>() / 1e4 - 1.0).abs() < 0.02);
    }

    #[test]
    fn masks_are_replayable_and_differ_by_place() {
        let dropout = Dropout::new(0.5, 1, 2, 3);
        assert_eq!(values(dropout, 1), values(dropout, 1));
        assert_ne!(values(dropout, 1), values(dropout, 2));
        assert_ne!(values(dropout, 1), values(dropout.in_block(0), 1));
        assert_ne!(values(dropout, 1), values(Dropout::new(0.5, 1, 3, 3), 1));
        assert!(values(Dropout::off(), 1).iter().all(|&v| v == 1.0));
    }

    #[test]
    fn a_sequence_keeps_its_mask_however_the_batch_is_divided() {
        let whole = values(Dropout::new(0.5, 1, 2, 0), 1);
        let rest = values(Dropout::new(0.5, 1, 2, 40), 1);
        assert_eq!(whole[40 * 100..], rest[..60 * 100]);
    }
}
