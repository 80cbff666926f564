//! What attention depends on besides queries and keys: mask, ALiBi, rotations.

use burn::tensor::{Device, Tensor, TensorData};

use super::Mask;
use crate::position::{Rotation, alibi_slopes};

/// What attention layers need besides their input. It is made once for a sequence length and shared
/// by all layers of a model.
#[derive(Clone, Debug)]
pub struct AttentionRules {
    mask: Mask,
    /// One slope per head; empty without ALiBi.
    slopes: Vec<f32>,
    /// Mask and ALiBi combined, `[1 or batch, 1 or heads, queries, keys]`; `None` if it would be
    /// all zeros.
    bias: Option<Tensor<4>>,
    rotation: Option<Rotation>,
}

impl AttentionRules {
    /// A mask and nothing else.
    pub fn new(mask: Mask, device: &Device) -> Self {
        let bias = (!mask.is_full()).then(|| mask.bias(device).unsqueeze());
        Self { mask, slopes: Vec::new(), bias, rotation: None }
    }

    /// A mask for each sequence of a batch, as padding requires. [`mask`](Self::mask) returns the
    /// first.
    ///
    /// # Panics
    ///
    /// Panics if there is none or if they differ in size.
    pub fn of_batch(masks: &[Mask], device: &Device) -> Self {
        let biases = masks.iter().map(|mask| mask.bias(device).unsqueeze::<4>()).collect();
        Self { bias: Some(Tensor::cat(biases, 0)), ..Self::new(masks[0].clone(), device) }
    }

    /// Adds ALiBi: each score is lowered by the distance between query and key times the head's
    /// slope (Press, Smith and Lewis 2022). The mask's first query stands at position `first`, its
    /// first key at 0.
    pub fn with_alibi(self, heads: usize, first: usize, device: &Device) -> Self {
        let slopes = alibi_slopes(heads);
        let (queries, keys) = (self.mask.queries(), self.mask.keys());
        let mut lowered = Vec::with_capacity(heads * queries * keys);
        for &slope in &slopes {
            for query in 0..queries {
                lowered.extend((0..keys).map(|key| penalty(slope, first + query, key)));
            }
        }
        let data = TensorData::new(lowered, [1, heads, queries, keys]);
        let lowered = Tensor::from_data(data, &device.clone().inner());
        let bias = Some(self.bias.map_or(lowered.clone(), |mask| mask + lowered));
        Self { slopes, bias, ..self }
    }

    /// Adds rotary positions: queries and keys are rotated by their position (Su et al. 2021).
    pub fn with_rotation(self, rotation: Rotation) -> Self {
        Self { rotation: Some(rotation), ..self }
    }

    /// Which keys each query may attend to.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// What ALiBi adds to the score of `query` with `key` in `head`; 0 without ALiBi.
    pub fn alibi(&self, head: usize, query: usize, key: usize) -> f32 {
        self.slopes.get(head).map_or(0.0, |&slope| penalty(slope, query, key))
    }

    /// Whether these rules change scores only: no rotation before them.
    pub(super) fn are_of_scores_only(&self) -> bool {
        self.rotation.is_none()
    }

    /// Rotates queries or keys by their position, if positions are rotary.
    ///
    /// # Shapes
    ///
    /// - queries or keys: `[batch, heads, T, d]`
    /// - output: the same
    pub(super) fn rotate(&self, vectors: Tensor<4>) -> Tensor<4> {
        match &self.rotation {
            Some(rotation) => rotation.apply(vectors),
            None => vectors,
        }
    }

    /// What is added to every score, minus infinity where the mask blocks; `None` if it would be
    /// all zeros.
    ///
    /// # Shapes
    ///
    /// - output: `[1 or batch, 1 or heads, queries, keys]`
    pub(super) fn bias(&self) -> Option<&Tensor<4>> {
        self.bias.as_ref()
    }

    /// Adds mask and ALiBi.
    ///
    /// # Shapes
    ///
    /// - scores: `[batch, heads, queries, keys]`
    /// - output: the same
    pub(super) fn add_bias(&self, scores: Tensor<4>) -> Tensor<4> {
        match &self.bias {
            Some(bias) => scores + bias.clone(),
            None => scores,
        }
    }
}

fn penalty(slope: f32, query: usize, key: usize) -> f32 {
    -slope * query.abs_diff(key) as f32
}
