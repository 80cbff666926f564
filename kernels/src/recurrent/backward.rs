//! Backpropagation through time.

use super::{Gradients, Inputs, Kept, Rule, Sequence};
use crate::{
    cells,
    matmul::{self, Onto, View},
    panels::Panels,
    rows::add_rows,
};

impl Sequence {
    /// Gradients with respect to all inputs. `upstream` is the gradient with respect to what
    /// [`forward`](Self::forward) returned, in the same layout.
    pub fn backward(
        &self,
        inputs: &Inputs,
        states: &[f32],
        kept: &Kept,
        upstream: &[f32],
    ) -> Gradients {
        let Self { rule, batch, steps, hidden, output, .. } = *self;
        let columns = rule.gates() * hidden;
        let (upstream, grad_last_cell) = upstream.split_at(steps * batch * output);
        let recurrent = Panels::new(self.at_once(inputs.recurrent).transposed());
        let candidate = (rule == Rule::ChoGru)
            .then(|| Panels::new(self.candidate(inputs.recurrent).transposed()));
        let projection = self
            .projected
            .then(|| Panels::new(View::rows(inputs.projection, [hidden, output]).transposed()));
        let mut deltas = vec![0.0; steps * batch * columns];
        // The gradient with respect to what the state adds to the sums, for the rule in which it
        // differs from the gradient with respect to the sums.
        let mut inner = vec![0.0; if rule == Rule::Gru { deltas.len() } else { 0 }];
        let mut grad_states = vec![0.0; if projection.is_some() { upstream.len() } else { 0 }];
        let mut grad_unprojected = vec![0.0; if projection.is_some() { batch * hidden } else { 0 }];
        let mut grad_kept = vec![0.0; if candidate.is_some() { batch * hidden } else { 0 }];
        let mut carried = vec![0.0; batch * output];
        let mut grad_state = vec![0.0; batch * output];
        let mut grad_cell = grad_last_cell.to_vec();
        for count in (0..steps).rev() {
            let at = self.place(count);
            let rows = |at: usize, width: usize| at * batch * width..(at + 1) * batch * width;
            let here = upstream[rows(at, output)].iter().zip(&carried);
            grad_state.iter_mut().zip(here).for_each(|(sum, (here, later))| *sum = here + later);
            let before = self.place_before(count);
            let previous = match before {
                Some(before) => &states[rows(before, output)],
                None => inputs.initial,
            };
            let delta = &mut deltas[rows(at, columns)];
            let each = delta.chunks_exact_mut(columns);
            match rule {
                Rule::ElmanTanh | Rule::ElmanSigmoid => {
                    let step = match rule {
                        Rule::ElmanTanh => cells::elman_tanh_backward,
                        _ => cells::elman_sigmoid_backward,
                    };
                    step(&states[rows(at, hidden)], &grad_state, delta);
                }
                Rule::Lstm => {
                    let previous = match before {
                        Some(before) => &kept.cells[rows(before, hidden)],
                        None => inputs.initial_cell,
                    };
                    let grad_result = match &projection {
                        Some(projection) => {
                            grad_states[rows(at, output)].copy_from_slice(&grad_state);
                            let left = View::rows(&grad_state, [batch, output]);
                            projection.product(left, Onto::Zero, &mut grad_unprojected, hidden);
                            &grad_unprojected
                        }
                        None => &grad_state,
                    };
                    let each = each
                        .zip(kept.gates[rows(at, columns)].chunks_exact(columns))
                        .zip(previous.chunks_exact(hidden))
                        .zip(kept.squashed[rows(at, hidden)].chunks_exact(hidden))
                        .zip(grad_result.chunks_exact(hidden))
                        .zip(grad_cell.chunks_exact_mut(hidden));
                    for (((((delta, gates), previous), squashed), upstream), grad_cell) in each {
                        cells::lstm_backward(gates, previous, squashed, upstream, grad_cell, delta);
                    }
                }
                Rule::Gru => {
                    let each = each
                        .zip(kept.gates[rows(at, columns)].chunks_exact(columns))
                        .zip(kept.reset[rows(at, hidden)].chunks_exact(hidden))
                        .zip(previous.chunks_exact(hidden))
                        .zip(grad_state.chunks_exact(hidden))
                        .zip(inner[rows(at, columns)].chunks_exact_mut(columns))
                        .zip(carried.chunks_exact_mut(hidden));
                    for ((((((delta, gates), reset), previous), upstream), inner), carried) in each
                    {
                        cells::mix_backward(gates, previous, upstream, delta, carried);
                        cells::gru_backward(gates, reset, delta, inner);
                    }
                }
                Rule::ChoGru => {
                    let gates = kept.gates[rows(at, columns)].chunks_exact(columns);
                    let each = each
                        .zip(gates.clone())
                        .zip(previous.chunks_exact(hidden))
                        .zip(grad_state.chunks_exact(hidden))
                        .zip(carried.chunks_exact_mut(hidden));
                    for ((((delta, gates), previous), upstream), carried) in each {
                        cells::mix_backward(gates, previous, upstream, delta, carried);
                    }
                    let candidate = candidate.as_ref().expect("this rule has it");
                    let left = View {
                        values: &delta[2 * hidden..],
                        shape: [batch, hidden],
                        strides: [columns, 1],
                    };
                    candidate.product(left, Onto::Zero, &mut grad_kept, hidden);
                    let each = delta
                        .chunks_exact_mut(columns)
                        .zip(gates)
                        .zip(previous.chunks_exact(hidden))
                        .zip(grad_kept.chunks_exact(hidden))
                        .zip(carried.chunks_exact_mut(hidden));
                    for ((((delta, gates), previous), grad_kept), carried) in each {
                        cells::cho_backward(gates, previous, grad_kept, delta, carried);
                    }
                }
            }
            let (sums, onto) = match rule {
                Rule::Gru => (&inner[rows(at, columns)], Onto::Result),
                Rule::ChoGru => (&deltas[rows(at, columns)], Onto::Result),
                _ => (&deltas[rows(at, columns)], Onto::Zero),
            };
            let left = View::rows(sums, [batch, columns]);
            let left = if candidate.is_some() { left.first_columns(2 * hidden) } else { left };
            recurrent.product(left, onto, &mut carried, output);
            if count > 0 && self.truncation.is_some_and(|every| count % every == 0) {
                carried.fill(0.0);
                grad_cell.fill(0.0);
            }
        }

        let grad_sums = if rule == Rule::Gru { &inner } else { &deltas };
        let grad_recurrent = self.recurrent_gradient(inputs, states, kept, grad_sums);
        let mut candidate_bias = Vec::new();
        if !inputs.candidate_bias.is_empty() {
            candidate_bias.resize(columns, 0.0);
            add_rows(&inner, &mut candidate_bias);
            candidate_bias.drain(..2 * hidden);
        }
        let mut grad_projection = vec![0.0; inputs.projection.len()];
        if projection.is_some() {
            let all_rows = steps * batch;
            let unprojected = View::rows(&kept.unprojected, [all_rows, hidden]).transposed();
            let grad_states = View::rows(&grad_states, [all_rows, output]);
            matmul::product(
                unprojected,
                grad_states,
                1.0,
                Onto::Zero,
                &mut grad_projection,
                output,
            );
        }
        Gradients {
            input: deltas,
            recurrent: grad_recurrent,
            candidate_bias,
            projection: grad_projection,
            initial: carried,
            initial_cell: grad_cell,
        }
    }

    /// The gradient with respect to U, as products over all steps. `grad_sums` is the gradient with
    /// respect to what the state adds to the sums, `[T * batch, gates * H]`.
    fn recurrent_gradient(
        &self,
        inputs: &Inputs,
        states: &[f32],
        kept: &Kept,
        grad_sums: &[f32],
    ) -> Vec<f32> {
        let Self { rule, batch, steps, hidden, output, .. } = *self;
        let (all_rows, columns) = (steps * batch, rule.gates() * hidden);
        let mut gradient = vec![0.0; inputs.recurrent.len()];
        let states = View::rows(&states[..all_rows * output], [all_rows, output]);
        let sums = View::rows(grad_sums, [all_rows, columns]);
        if rule == Rule::ChoGru {
            let opening = sums.first_columns(2 * hidden);
            self.previous_times(inputs.initial, states, opening, &mut gradient, columns);
            let candidates = View {
                values: &grad_sums[2 * hidden..],
                shape: [all_rows, hidden],
                strides: [columns, 1],
            };
            let reset = View::rows(&kept.reset, [all_rows, hidden]).transposed();
            let result = &mut gradient[2 * hidden..];
            matmul::product(reset, candidates, 1.0, Onto::Zero, result, columns);
        } else {
            self.previous_times(inputs.initial, states, sums, &mut gradient, columns);
        }
        gradient
    }

    /// Multiplies the transposed previous states of all steps by `rows`. This takes two products,
    /// since the first step's previous state is stored elsewhere.
    pub(crate) fn previous_times(
        &self,
        initial: &[f32],
        states: View,
        rows: View,
        result: &mut [f32],
        stride: usize,
    ) {
        let (batch, most) = (self.batch, (self.steps - 1) * self.batch);
        let (from, to, first) = if self.backward { (batch, 0, most) } else { (0, batch, 0) };
        let initial = View::rows(initial, [batch, states.shape[1]]).transposed();
        matmul::product(initial, rows.some_rows(first, batch), 1.0, Onto::Zero, result, stride);
        let left = states.some_rows(from, most).transposed();
        matmul::product(left, rows.some_rows(to, most), 1.0, Onto::Result, result, stride);
    }
}
