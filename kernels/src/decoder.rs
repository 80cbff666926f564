//! A decoder that attends to the source before every step (Bahdanau et al. 2015): a GRU in
//! PyTorch's form whose input is the previous token and the context that additive attention
//! computes from the previous state. Rows are laid out step by step, as in [`super::recurrent`].

use super::{
    alignment::{self, Additive, Attended},
    cells,
    matmul::{self, Onto, View},
    panels::Panels,
    recurrent::{Rule, Sequence, gru_row},
    rows::add_rows,
};

/// Inputs of the decoder.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a> {
    pub batch: usize,
    pub steps: usize,
    /// H
    pub hidden: usize,
    pub source: Additive<'a>,
    /// `W_y y_(i-1) + b`, `[T * batch, 3H]`.
    pub input: &'a [f32],
    /// `W_c`, `[E, 3H]`.
    pub context_weight: &'a [f32],
    /// U, `[H, 3H]`.
    pub recurrent: &'a [f32],
    /// `b_hn`, `[H]`.
    pub candidate_bias: &'a [f32],
    /// `W_s`, `[H, A]`.
    pub query_weight: &'a [f32],
    /// `s_0`, `[batch, H]`.
    pub initial: &'a [f32],
}

/// What a decoder computed.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// `s_i` and `c_i` side by side, `[T * batch, H + E]`.
    pub both: Vec<f32>,
    /// `W_s s_(i-1)`, `[T * batch, A]`.
    pub queries: Vec<f32>,
    pub kept: Kept,
}

/// What the backward pass needs besides states and contexts.
#[derive(Clone, Debug)]
pub struct Kept {
    pub attended: Attended,
    /// `[T * batch, 3H]`
    gates: Vec<f32>,
    /// `U h + b_hn`, `[T * batch, H]`.
    reset: Vec<f32>,
}

/// Gradients with respect to the inputs, each of its input's length.
#[derive(Clone, Debug)]
pub struct Gradients {
    pub source: alignment::Gradients,
    pub input: Vec<f32>,
    pub context_weight: Vec<f32>,
    pub recurrent: Vec<f32>,
    pub candidate_bias: Vec<f32>,
    pub query_weight: Vec<f32>,
    pub initial: Vec<f32>,
}

impl Decoder<'_> {
    /// H, A, E, and the width of a row of states and contexts.
    fn widths(&self) -> [usize; 4] {
        let context = self.source.value_width();
        [self.hidden, self.source.vector.len(), context, self.hidden + context]
    }

    pub fn forward(&self) -> Decoded {
        let Self { batch, steps, .. } = *self;
        let [hidden, width, context, both_width] = self.widths();
        let columns = 3 * hidden;
        let rows = steps * batch;
        let query = Panels::new(View::rows(self.query_weight, [hidden, width]));
        let from_context = Panels::new(View::rows(self.context_weight, [context, columns]));
        let recurrent = Panels::new(View::rows(self.recurrent, [hidden, columns]));
        let mut bias = vec![0.0; columns];
        bias[2 * hidden..].copy_from_slice(self.candidate_bias);
        let mut both = vec![0.0; rows * both_width];
        let mut queries = vec![0.0; rows * width];
        let mut attended = Attended::new(&self.source, rows);
        let (mut gates, mut reset) = (vec![0.0; rows * columns], vec![0.0; rows * hidden]);
        let (mut sums, mut from_state) = (vec![0.0; batch * columns], vec![0.0; batch * columns]);
        let mut previous = self.initial.to_vec();
        for step in 0..steps {
            let block = |width: usize| step * batch * width..(step + 1) * batch * width;
            let state = View::rows(&previous, [batch, hidden]);
            query.product(state, Onto::Zero, &mut queries[block(width)], width);
            recurrent.product(state, Onto::Row(&bias), &mut from_state, columns);
            let both = &mut both[block(both_width)];
            let each =
                queries[block(width)].chunks_exact(width).zip(both.chunks_exact_mut(both_width));
            for (row, (query, both)) in each.enumerate() {
                let at = step * batch + row;
                self.source.attend(row, query, at, &mut attended, &mut both[hidden..]);
            }
            sums.copy_from_slice(&self.input[block(columns)]);
            let contexts =
                View { values: &both[hidden..], shape: [batch, context], strides: [both_width, 1] };
            from_context.product(contexts, Onto::Result, &mut sums, columns);
            let each = sums
                .chunks_exact(columns)
                .zip(from_state.chunks_exact(columns))
                .zip(previous.chunks_exact_mut(hidden))
                .zip(gates[block(columns)].chunks_exact_mut(columns))
                .zip(reset[block(hidden)].chunks_exact_mut(hidden))
                .zip(both.chunks_exact_mut(both_width));
            for (((((sums, from_state), previous), gates), reset), both) in each {
                let state = &mut both[..hidden];
                gru_row(sums, from_state, previous, gates, reset, state);
                previous.copy_from_slice(state);
            }
        }
        Decoded { both, queries, kept: Kept { attended, gates, reset } }
    }

    /// Gradients given the one with respect to [`Decoded::both`]; `both` is that output again.
    pub fn backward(&self, both: &[f32], kept: &Kept, upstream: &[f32]) -> Gradients {
        let Self { batch, steps, .. } = *self;
        let [hidden, width, context, both_width] = self.widths();
        let columns = 3 * hidden;
        let rows = steps * batch;
        let transposed = |values, shape| Panels::new(View::rows(values, shape).transposed());
        let query = transposed(self.query_weight, [hidden, width]);
        let from_context = transposed(self.context_weight, [context, columns]);
        let recurrent = transposed(self.recurrent, [hidden, columns]);
        let mut source = alignment::Gradients::new(&self.source);
        let (mut deltas, mut inner) = (vec![0.0; rows * columns], vec![0.0; rows * columns]);
        let mut grad_queries = vec![0.0; rows * width];
        let mut grad_contexts = vec![0.0; batch * context];
        let mut grad_state = vec![0.0; batch * hidden];
        let mut carried = vec![0.0; batch * hidden];
        for step in (0..steps).rev() {
            let block = |width: usize| step * batch * width..(step + 1) * batch * width;
            let upstream = &upstream[block(both_width)];
            let each = grad_state
                .chunks_exact_mut(hidden)
                .zip(grad_contexts.chunks_exact_mut(context))
                .zip(carried.chunks_exact(hidden))
                .zip(upstream.chunks_exact(both_width));
            for (((grad_state, grad_context), carried), upstream) in each {
                let (grad_states, grad_contexts) = upstream.split_at(hidden);
                for ((sum, here), later) in grad_state.iter_mut().zip(grad_states).zip(carried) {
                    *sum = here + later;
                }
                grad_context.copy_from_slice(grad_contexts);
            }
            let (previous, stride) = match step.checked_sub(1) {
                Some(before) => (&both[before * batch * both_width..], both_width),
                None => (self.initial, hidden),
            };
            let each = deltas[block(columns)]
                .chunks_exact_mut(columns)
                .zip(inner[block(columns)].chunks_exact_mut(columns))
                .zip(kept.gates[block(columns)].chunks_exact(columns))
                .zip(kept.reset[block(hidden)].chunks_exact(hidden))
                .zip(previous.chunks_exact(stride))
                .zip(grad_state.chunks_exact(hidden))
                .zip(carried.chunks_exact_mut(hidden));
            for ((((((delta, inner), gates), reset), previous), upstream), carried) in each {
                cells::mix_backward(gates, &previous[..hidden], upstream, delta, carried);
                cells::gru_backward(gates, reset, delta, inner);
            }
            let inner = View::rows(&inner[block(columns)], [batch, columns]);
            recurrent.product(inner, Onto::Result, &mut carried, hidden);
            let delta = View::rows(&deltas[block(columns)], [batch, columns]);
            from_context.product(delta, Onto::Result, &mut grad_contexts, context);
            let grad_queries = &mut grad_queries[block(width)];
            let each =
                grad_contexts.chunks_exact(context).zip(grad_queries.chunks_exact_mut(width));
            for (row, (grad_context, grad_query)) in each.enumerate() {
                let at = step * batch + row;
                self.source.attend_backward(
                    row,
                    at,
                    &kept.attended,
                    grad_context,
                    grad_query,
                    &mut source,
                );
            }
            let grad_queries = View::rows(grad_queries, [batch, width]);
            query.product(grad_queries, Onto::Result, &mut carried, hidden);
        }

        let states = View { values: both, shape: [rows, hidden], strides: [both_width, 1] };
        let order = Sequence {
            rule: Rule::Gru,
            batch,
            steps,
            hidden,
            output: hidden,
            backward: false,
            projected: false,
            truncation: None,
        };
        let by_previous = |of: &[f32], columns: usize| {
            let mut result = vec![0.0; hidden * columns];
            let of = View::rows(of, [rows, columns]);
            order.previous_times(self.initial, states, of, &mut result, columns);
            result
        };
        let contexts =
            View { values: &both[hidden..], shape: [rows, context], strides: [both_width, 1] };
        let mut context_weight = vec![0.0; context * columns];
        let grad_sums = View::rows(&deltas, [rows, columns]);
        let result = &mut context_weight;
        matmul::product(contexts.transposed(), grad_sums, 1.0, Onto::Zero, result, columns);
        let mut candidate_bias = vec![0.0; columns];
        add_rows(&inner, &mut candidate_bias);
        candidate_bias.drain(..2 * hidden);
        Gradients {
            source,
            context_weight,
            recurrent: by_previous(&inner, columns),
            candidate_bias,
            query_weight: by_previous(&grad_queries, width),
            initial: carried,
            input: deltas,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_derivatives, drawn, weighted};

    const SIZES: [usize; 6] = [2, 3, 4, 3, 5, 2];

    /// Inputs in the order of the gradients below.
    fn parts() -> [Vec<f32>; 9] {
        let [batch, steps, length, hidden, width, context] = SIZES;
        [
            drawn(steps * batch * 3 * hidden, 1),
            drawn(context * 3 * hidden, 2),
            drawn(hidden * 3 * hidden, 3),
            drawn(hidden, 4),
            drawn(hidden * width, 5),
            drawn(batch * hidden, 6),
            drawn(batch * length * width, 7),
            drawn(width, 8),
            drawn(batch * length * context, 9),
        ]
    }

    fn decoder<'a>(parts: &'a [Vec<f32>; 9], padding: &'a [f32]) -> Decoder<'a> {
        let [batch, steps, length, hidden, ..] = SIZES;
        let [input, context_weight, recurrent, candidate_bias, query_weight, initial, ..] = parts;
        let [.., keys, vector, values] = parts;
        let source = Additive { length, keys, vector, values, padding };
        Decoder {
            batch,
            steps,
            hidden,
            source,
            input,
            context_weight,
            recurrent,
            candidate_bias,
            query_weight,
            initial,
        }
    }

    #[test]
    fn the_way_back_is_the_derivative() {
        let low = f32::NEG_INFINITY;
        for padding in [&[][..], &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, low, low]] {
            let parts = parts();
            let Decoded { both, kept, .. } = decoder(&parts, padding).forward();
            let upstream = drawn(both.len(), 10);
            let loss = |parts: &[Vec<f32>; 9]| -> f64 {
                weighted(&decoder(parts, padding).forward().both, &upstream)
            };
            let of = decoder(&parts, padding).backward(&both, &kept, &upstream);
            let found = [
                of.input,
                of.context_weight,
                of.recurrent,
                of.candidate_bias,
                of.query_weight,
                of.initial,
                of.source.keys,
                of.source.vector,
                of.source.values,
            ];
            assert_derivatives(padding, &parts, &found, 4e-4, loss);
            if !padding.is_empty() {
                // The second source's last two states are padding.
                let [_, _, length, _, width, context] = SIZES;
                assert!(found[6][2 * length * width - 2 * width..].iter().all(|&of| of == 0.0));
                assert!(found[8][2 * length * context - 2 * context..].iter().all(|&of| of == 0.0));
            }
        }
    }
}
