//! What decides who looks at whom besides queries and keys.

use burn::tensor::{Device, Tensor, TensorData};

use super::Mask;
use crate::position::{Rotation, alibi_slopes};

/// What attention layers need besides their input: the same for every layer of a model, unless
/// heads are switched off in one. Made once for a length.
#[derive(Clone, Debug)]
pub struct AttentionRules {
    mask: Mask,
    /// One for each head; empty without ALiBi.
    slopes: Vec<f32>,
    /// Mask and ALiBi together, `[1 or batch, 1 or heads, queries, keys]`; `None` if it would be 0
    /// throughout.
    bias: Option<Tensor<4>>,
    rotation: Option<Rotation>,
    /// 1 for each head that is on and 0 for one that is off, `[1, heads, 1, 1]`.
    heads_on: Option<Tensor<4>>,
}

impl AttentionRules {
    /// Nothing but a mask.
    pub fn new(mask: Mask, device: &Device) -> Self {
        let bias = (!mask.is_full()).then(|| mask.bias(device).unsqueeze());
        Self { mask, slopes: Vec::new(), bias, rotation: None, heads_on: None }
    }

    /// A mask for each sequence of a batch, as padding needs. [`mask`](Self::mask) is the first.
    ///
    /// # Panics
    ///
    /// Panics if there is none or they differ in size.
    pub fn of_batch(masks: &[Mask], device: &Device) -> Self {
        let biases = masks.iter().map(|mask| mask.bias(device).unsqueeze::<4>()).collect();
        Self { bias: Some(Tensor::cat(biases, 0)), ..Self::new(masks[0].clone(), device) }
    }

    /// Each score is lowered by the distance between query and key times the head's slope (Press,
    /// Smith and Lewis 2022).
    pub fn with_alibi(self, heads: usize, device: &Device) -> Self {
        let slopes = alibi_slopes(heads);
        let (queries, keys) = (self.mask.queries(), self.mask.keys());
        let mut lowered = Vec::with_capacity(heads * queries * keys);
        for &slope in &slopes {
            for query in 0..queries {
                lowered.extend((0..keys).map(|key| penalty(slope, query, key)));
            }
        }
        let data = TensorData::new(lowered, [1, heads, queries, keys]);
        let lowered = Tensor::from_data(data, &device.clone().inner());
        let bias = Some(self.bias.map_or(lowered.clone(), |mask| mask + lowered));
        Self { slopes, bias, ..self }
    }

    /// Queries and keys are turned by their position (Su et al. 2021).
    pub fn with_rotation(self, rotation: Rotation) -> Self {
        Self { rotation: Some(rotation), ..self }
    }

    /// What the heads that are not `on` found counts as 0.
    pub fn with_heads(self, on: &[bool], device: &Device) -> Self {
        let values: Vec<f32> = on.iter().map(|&on| f32::from(u8::from(on))).collect();
        let data = TensorData::new(values, [1, on.len(), 1, 1]);
        let device = device.clone().inner();
        Self { heads_on: Some(Tensor::from_data(data, &device)), ..self }
    }

    /// Who may look at whom.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// What ALiBi adds to the score of `query` with `key` in `head`; 0 without it.
    pub fn alibi(&self, head: usize, query: usize, key: usize) -> f32 {
        self.slopes.get(head).map_or(0.0, |&slope| penalty(slope, query, key))
    }

    /// Whether nothing happens between projections and scores or between mixing and output.
    pub(super) fn are_of_scores_only(&self) -> bool {
        self.rotation.is_none() && self.heads_on.is_none()
    }

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

    /// What is added to every score, minus infinity where the mask blocks; `None` if it would be 0
    /// throughout.
    ///
    /// # Shapes
    ///
    /// - output: `[1 or batch, 1 or heads, queries, keys]`
    pub(super) fn bias(&self) -> Option<&Tensor<4>> {
        self.bias.as_ref()
    }

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

    /// # Shapes
    ///
    /// - mixed values: `[batch, heads, T, d]`
    /// - output: the same
    pub(super) fn silence(&self, mixed: Tensor<4>) -> Tensor<4> {
        match &self.heads_on {
            Some(on) => mixed * on.clone(),
            None => mixed,
        }
    }
}

fn penalty(slope: f32, query: usize, key: usize) -> f32 {
    -slope * query.abs_diff(key) as f32
}
