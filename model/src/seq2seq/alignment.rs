//! Alignment scores of a decoder's state with the encoder's states.

use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::softmax},
};
use unroll_protocol::AttentionKind;

use super::{Encoded, Execution, encoder::product};
use crate::{
    fused::{self, recurrent::tanh},
    parameters::{given_vector, uniform_matrix},
    random::Normals,
};

/// The parameters of an alignment score. None of them has a bias, as in the papers.
#[derive(Module, Debug)]
pub struct AlignmentLayer {
    /// `W_s`, `[H, A]`, of additive and concat; `W_a`, `[H, E]`, of general.
    pub query: Option<Param<Tensor<2>>>,
    /// `W_h`, `[E, A]`, of additive and concat.
    pub key: Option<Param<Tensor<2>>>,
    /// v, `[A]`, of additive and concat.
    pub vector: Option<Param<Tensor<1>>>,
}

/// Attention of one or more steps over a source of `S` states.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Queries as the score uses them, `[batch, T, A or E]`.
    pub(super) queries: Tensor<3>,
    /// -inf at padding, `[batch, T, S]`.
    pub(super) scores: Tensor<3>,
    /// `[batch, T, S]`; rows sum to 1.
    pub(super) weights: Tensor<3>,
    /// `c_i`, `[batch, T, E]`.
    pub(super) contexts: Tensor<3>,
}

impl AlignmentLayer {
    pub(super) fn new(
        kind: AttentionKind,
        [hidden, encoder, alignment]: [usize; 3],
        draws: &mut Normals,
        device: &Device,
    ) -> Option<Self> {
        let mut drawn = |rows: usize, columns: usize| {
            uniform_matrix([rows, columns], 1.0 / (rows as f64).sqrt(), draws, device)
        };
        let (query, key) = match kind {
            AttentionKind::None => return None,
            AttentionKind::Dot => (None, None),
            AttentionKind::General => (Some(drawn(hidden, encoder)), None),
            AttentionKind::Additive | AttentionKind::Concat => {
                (Some(drawn(hidden, alignment)), Some(drawn(encoder, alignment)))
            }
        };
        let vector = key.is_some().then(|| {
            given_vector(draws.uniform(alignment, 1.0 / (alignment as f64).sqrt()), device)
        });
        Some(Self { query, key, vector })
    }

    /// What the score uses of the encoder's states, computed once for all steps.
    ///
    /// # Shapes
    ///
    /// - states: `[batch, S, E]`
    /// - output: `[batch, S, A]`, or the states themselves
    pub(super) fn keys(&self, states: &Tensor<3>) -> Tensor<3> {
        match &self.key {
            Some(key) => product(states.clone(), key.val()),
            None => states.clone(),
        }
    }

    /// Attends with `T` steps, none of which depends on another's result.
    ///
    /// # Shapes
    ///
    /// - states, the decoder's: `[batch, T, H]`
    pub(super) fn attend(
        &self,
        states: Tensor<3>,
        encoded: &Encoded,
        execution: Execution,
    ) -> Seen {
        let keys = encoded.keys.clone().expect("encoded by a model with attention");
        let ([batch, steps, _], [_, length, width]) = (states.dims(), keys.dims());
        let queries = match &self.query {
            Some(query) => product(states, query.val()),
            None => states,
        };
        let scores = match &self.vector {
            Some(vector) if execution == Execution::Fused => {
                let (states, padding) = (encoded.states.clone(), encoded.padding.clone());
                let fused::recurrent::Additive { contexts, scores, weights } =
                    fused::recurrent::additive(
                        queries.clone(),
                        keys,
                        vector.val(),
                        states,
                        padding,
                    );
                return Seen { queries, scores, weights, contexts };
            }
            Some(vector) => {
                let sums = queries.clone().reshape([batch, steps, 1, width])
                    + keys.reshape([batch, 1, length, width]);
                let rows = tanh(sums).reshape([batch * steps * length, width]);
                rows.matmul(vector.val().reshape([width, 1])).reshape([batch, steps, length])
            }
            None => queries.clone().matmul(keys.swap_dims(1, 2)),
        };
        let scores = match &encoded.padding {
            Some(padding) => scores + padding.clone().reshape([batch, 1, length]),
            None => scores,
        };
        let weights = softmax(scores.clone(), 2);
        let contexts = weights.clone().matmul(encoded.states.clone());
        Seen { queries, scores, weights, contexts }
    }
}
