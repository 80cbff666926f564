//! Additive attention (Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015's "concat"): scores
//! `vᵀ tanh(q + k_j)`, their softmax over the source, and the mix of its states.

use super::{
    math::tanh,
    rows::{dot, softmax},
};

/// A batch of sources of `S` states.
#[derive(Clone, Copy, Debug)]
pub struct Additive<'a> {
    /// S
    pub length: usize,
    /// `[batch, S, A]`
    pub keys: &'a [f32],
    /// v, `[A]`
    pub vector: &'a [f32],
    /// Values that are mixed, `[batch, S, E]`.
    pub values: &'a [f32],
    /// 0 at tokens and -inf at padding, `[batch, S]`; empty if there is no padding.
    pub padding: &'a [f32],
}

/// What a number of queries saw of their sources.
#[derive(Clone, Debug)]
pub struct Attended {
    /// `tanh(q + k_j)`, `[queries, S, A]`.
    tanhs: Vec<f32>,
    /// `[queries, S]`
    pub scores: Vec<f32>,
    /// `[queries, S]`
    pub weights: Vec<f32>,
}

/// Gradients with respect to the fields of an [`Additive`], summed over all queries.
#[derive(Clone, Debug)]
pub struct Gradients {
    pub keys: Vec<f32>,
    pub vector: Vec<f32>,
    pub values: Vec<f32>,
}

impl Gradients {
    pub fn new(of: &Additive) -> Self {
        let zeros = |values: &[f32]| vec![0.0; values.len()];
        Self { keys: zeros(of.keys), vector: zeros(of.vector), values: zeros(of.values) }
    }
}

impl Attended {
    pub fn new(of: &Additive, queries: usize) -> Self {
        let scores = vec![0.0; queries * of.length];
        let tanhs = vec![0.0; scores.len() * of.vector.len()];
        Self { tanhs, weights: scores.clone(), scores }
    }
}

/// Adds `scale` times a row.
fn add_scaled(row: &[f32], scale: f32, sum: &mut [f32]) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum += scale * value;
    }
}

impl Additive<'_> {
    /// Width of the values.
    pub fn value_width(&self) -> usize {
        self.values.len() / (self.keys.len() / self.vector.len())
    }

    /// Attends to source `row` with the query numbered `at` in `attended`, and writes the mix of
    /// values to `context`.
    pub fn attend(
        &self,
        row: usize,
        query: &[f32],
        at: usize,
        attended: &mut Attended,
        context: &mut [f32],
    ) {
        let (length, width, mixed) = (self.length, self.vector.len(), context.len());
        let scores = &mut attended.scores[at * length..][..length];
        let tanhs = &mut attended.tanhs[at * length * width..][..length * width];
        let keys = self.keys[row * length * width..].chunks_exact(width);
        for ((score, tanhs), key) in scores.iter_mut().zip(tanhs.chunks_exact_mut(width)).zip(keys)
        {
            for ((value, query), key) in tanhs.iter_mut().zip(query).zip(key) {
                *value = tanh(query + key);
            }
            *score = dot(tanhs, self.vector);
        }
        if !self.padding.is_empty() {
            let padding = &self.padding[row * length..][..length];
            scores.iter_mut().zip(padding).for_each(|(score, padding)| *score += padding);
        }
        let weights = &mut attended.weights[at * length..][..length];
        weights.copy_from_slice(scores);
        softmax(weights);
        context.fill(0.0);
        let values = self.values[row * length * mixed..].chunks_exact(mixed);
        for (weight, value) in weights.iter().zip(values) {
            add_scaled(value, *weight, context);
        }
    }

    /// Backward pass of [`attend`](Self::attend). Takes the gradient with respect to its context,
    /// writes the one with respect to the query to `grad_query`, and adds the others to
    /// `gradients`.
    pub fn attend_backward(
        &self,
        row: usize,
        at: usize,
        attended: &Attended,
        grad_context: &[f32],
        grad_query: &mut [f32],
        gradients: &mut Gradients,
    ) {
        let (length, width, mixed) = (self.length, self.vector.len(), grad_context.len());
        let weights = &attended.weights[at * length..][..length];
        let tanhs = attended.tanhs[at * length * width..].chunks_exact(width);
        let values = self.values[row * length * mixed..].chunks_exact(mixed);
        let grad_weights = values.clone().map(|value| dot(grad_context, value));
        let along: f32 = weights.iter().zip(grad_weights).map(|(weight, of)| weight * of).sum();
        grad_query.fill(0.0);
        let grad_values = gradients.values[row * length * mixed..].chunks_exact_mut(mixed);
        let grad_keys = gradients.keys[row * length * width..].chunks_exact_mut(width);
        let each = weights.iter().zip(tanhs).zip(values.zip(grad_values).zip(grad_keys));
        for ((&weight, tanhs), ((value, grad_value), grad_key)) in each {
            // Mostly padding: no gradient flows through it.
            if weight == 0.0 {
                continue;
            }
            add_scaled(grad_context, weight, grad_value);
            let grad_score = weight * (dot(grad_context, value) - along);
            add_scaled(tanhs, grad_score, &mut gradients.vector);
            let each = grad_key.iter_mut().zip(&mut *grad_query).zip(tanhs).zip(self.vector);
            for (((grad_key, grad_query), y), v) in each {
                let grad_sum = grad_score * v * (1.0 - y * y);
                *grad_key += grad_sum;
                *grad_query += grad_sum;
            }
        }
    }

    /// Attends with several queries per source, `[batch, T, A]`. Returns the contexts,
    /// `[batch, T, E]`.
    pub fn forward(&self, queries: &[f32], steps: usize) -> (Vec<f32>, Attended) {
        let (width, mixed) = (self.vector.len(), self.value_width());
        let count = queries.len() / width;
        let mut attended = Attended::new(self, count);
        let mut contexts = vec![0.0; count * mixed];
        let each = queries.chunks_exact(width).zip(contexts.chunks_exact_mut(mixed));
        for (at, (query, context)) in each.enumerate() {
            self.attend(at / steps, query, at, &mut attended, context);
        }
        (contexts, attended)
    }

    /// Backward pass of [`forward`](Self::forward). Returns the gradient with respect to the
    /// queries, then all others.
    pub fn backward(
        &self,
        attended: &Attended,
        steps: usize,
        grad_contexts: &[f32],
    ) -> (Vec<f32>, Gradients) {
        let (width, mixed) = (self.vector.len(), self.value_width());
        let mut gradients = Gradients::new(self);
        let mut grad_queries = vec![0.0; grad_contexts.len() / mixed * width];
        let each = grad_contexts.chunks_exact(mixed).zip(grad_queries.chunks_exact_mut(width));
        for (at, (grad_context, grad_query)) in each.enumerate() {
            self.attend_backward(
                at / steps,
                at,
                attended,
                grad_context,
                grad_query,
                &mut gradients,
            );
        }
        (grad_queries, gradients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_derivatives, drawn, weighted};

    #[test]
    fn the_way_back_is_the_derivative() {
        let low = f32::NEG_INFINITY;
        let padding = [0.0, 0.0, 0.0, 0.0, 0.0, low];
        // Two sources of three states, two queries each, A = 9, E = 4.
        let parts = [drawn(2 * 2 * 9, 1), drawn(2 * 3 * 9, 2), drawn(9, 3), drawn(2 * 3 * 4, 4)];
        let upstream = drawn(2 * 2 * 4, 5);
        let loss = |[queries, keys, vector, values]: &[Vec<f32>; 4]| -> f64 {
            let source = Additive { length: 3, keys, vector, values, padding: &padding };
            weighted(&source.forward(queries, 2).0, &upstream)
        };
        let [queries, keys, vector, values] = &parts;
        let source = Additive { length: 3, keys, vector, values, padding: &padding };
        let (_, attended) = source.forward(queries, 2);
        assert_eq!(attended.weights[8..9], [0.0]);
        for weights in attended.weights.chunks(3) {
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
        let (grad_queries, others) = source.backward(&attended, 2, &upstream);
        let found = [grad_queries, others.keys, others.vector, others.values];
        assert_derivatives("two sources", &parts, &found, 2e-4, loss);
    }
}
