//! The forward pass.

use super::{Inputs, Kept, Rule, Sequence};
use crate::{
    cells,
    matmul::{Onto, View},
    panels::Panels,
};

/// The states before a step, and the slice for those after it.
fn before_and_after<'a>(
    initial: &'a [f32],
    states: &'a mut [f32],
    [before, after]: [Option<usize>; 2],
) -> (&'a [f32], &'a mut [f32]) {
    let size = initial.len();
    let block = |at: usize| at * size..(at + 1) * size;
    let after = block(after.expect("a step's own place"));
    match before {
        None => (initial, &mut states[after]),
        Some(before) => {
            let [before, after] =
                states.get_disjoint_mut([block(before), after]).expect("steps lie apart");
            (before, after)
        }
    }
}

impl Sequence {
    /// The states of all steps, `[T * batch, output]`; for an LSTM followed by the last `c_t`,
    /// `[batch, H]`, in the same slice.
    pub fn forward(&self, inputs: &Inputs) -> (Vec<f32>, Kept) {
        let Self { rule, batch, steps, hidden, output, .. } = *self;
        let (columns, units) = (rule.gates() * hidden, steps * batch * hidden);
        let mut states = vec![0.0; steps * batch * output];
        let mut kept = Kept::default();
        let is_elman = rule.gates() == 1;
        kept.gates.resize(if is_elman { 0 } else { units * rule.gates() }, 0.0);
        if rule == Rule::Lstm {
            kept.cells.resize(units, 0.0);
            kept.squashed.resize(units, 0.0);
        }
        let projection = self.projected.then(|| {
            kept.unprojected.resize(units, 0.0);
            Panels::new(View::rows(inputs.projection, [hidden, output]))
        });
        if matches!(rule, Rule::Gru | Rule::ChoGru) {
            kept.reset.resize(units, 0.0);
        }
        let recurrent = Panels::new(self.at_once(inputs.recurrent));
        let candidate =
            (rule == Rule::ChoGru).then(|| Panels::new(self.candidate(inputs.recurrent)));
        let width = self.at_once(inputs.recurrent).shape[1];
        // Added to the products: b_hn in the candidate's block, zeros elsewhere.
        let mut bias = vec![0.0; width];
        if !inputs.candidate_bias.is_empty() {
            bias[2 * hidden..].copy_from_slice(inputs.candidate_bias);
        }
        let mut from_state = vec![0.0; batch * width];
        let mut from_kept = vec![0.0; if rule == Rule::ChoGru { batch * hidden } else { 0 }];
        for count in 0..steps {
            let (at, before) = (self.place(count), self.place_before(count));
            let (previous, state) =
                before_and_after(inputs.initial, &mut states, [before, Some(at)]);
            let left = View::rows(previous, [batch, output]);
            recurrent.product(left, Onto::Row(&bias), &mut from_state, width);
            let rows = |width: usize| at * batch * width..(at + 1) * batch * width;
            let input = inputs.input[rows(columns)].chunks_exact(columns);
            let from_state = from_state.chunks_exact(width);
            match rule {
                Rule::ElmanTanh | Rule::ElmanSigmoid => {
                    let step = match rule {
                        Rule::ElmanTanh => cells::elman_tanh,
                        _ => cells::elman_sigmoid,
                    };
                    let each = input.zip(from_state).zip(state.chunks_exact_mut(hidden));
                    each.for_each(|((input, from_state), state)| step(input, from_state, state));
                }
                Rule::Lstm => {
                    let (previous, cell) =
                        before_and_after(inputs.initial_cell, &mut kept.cells, [before, Some(at)]);
                    let result: &mut [f32] = match projection {
                        Some(_) => &mut kept.unprojected[rows(hidden)],
                        None => state,
                    };
                    let each = input
                        .zip(from_state)
                        .zip(previous.chunks_exact(hidden))
                        .zip(kept.gates[rows(columns)].chunks_exact_mut(columns))
                        .zip(cell.chunks_exact_mut(hidden))
                        .zip(kept.squashed[rows(hidden)].chunks_exact_mut(hidden))
                        .zip(result.chunks_exact_mut(hidden));
                    for ((((((input, from_state), previous), gates), cell), squashed), state) in
                        each
                    {
                        cells::lstm(input, from_state, previous, gates, cell, squashed, state);
                    }
                    if let Some(projection) = &projection {
                        let left = View::rows(&kept.unprojected[rows(hidden)], [batch, hidden]);
                        projection.product(left, Onto::Zero, &mut states[rows(output)], output);
                    }
                }
                Rule::Gru => {
                    let each = input
                        .zip(from_state)
                        .zip(previous.chunks_exact(hidden))
                        .zip(kept.gates[rows(columns)].chunks_exact_mut(columns))
                        .zip(kept.reset[rows(hidden)].chunks_exact_mut(hidden))
                        .zip(state.chunks_exact_mut(hidden));
                    for (((((input, from_state), previous), gates), reset), state) in each {
                        gru_row(input, from_state, previous, gates, reset, state);
                    }
                }
                Rule::ChoGru => {
                    let gates = &mut kept.gates[rows(columns)];
                    let reset = &mut kept.reset[rows(hidden)];
                    let each = input
                        .clone()
                        .zip(from_state)
                        .zip(previous.chunks_exact(hidden))
                        .zip(gates.chunks_exact_mut(columns))
                        .zip(reset.chunks_exact_mut(hidden));
                    for ((((input, from_state), previous), gates), reset) in each {
                        let opened = &mut gates[..2 * hidden];
                        cells::reset_and_update(&input[..2 * hidden], from_state, opened);
                        for ((reset, r), previous) in reset.iter_mut().zip(opened).zip(previous) {
                            *reset = *r * previous;
                        }
                    }
                    let candidate = candidate.as_ref().expect("this rule has it");
                    let left = View::rows(reset, [batch, hidden]);
                    candidate.product(left, Onto::Zero, &mut from_kept, hidden);
                    let each = input
                        .zip(from_kept.chunks_exact(hidden))
                        .zip(previous.chunks_exact(hidden))
                        .zip(gates.chunks_exact_mut(columns))
                        .zip(state.chunks_exact_mut(hidden));
                    for ((((input, from_kept), previous), gates), state) in each {
                        cells::cho_candidate(input, from_kept, gates);
                        cells::mix(gates, previous, state);
                    }
                }
            }
        }
        if rule == Rule::Lstm {
            let last = self.place(steps - 1) * batch * hidden;
            states.extend_from_slice(&kept.cells[last..][..batch * hidden]);
        }
        (states, kept)
    }
}

/// One step of PyTorch's GRU for one row; `reset` receives what the reset gate multiplies.
pub(crate) fn gru_row(
    input: &[f32],
    from_state: &[f32],
    previous: &[f32],
    gates: &mut [f32],
    reset: &mut [f32],
    state: &mut [f32],
) {
    let both = 2 * previous.len();
    cells::reset_and_update(&input[..both], &from_state[..both], &mut gates[..both]);
    reset.copy_from_slice(&from_state[both..]);
    cells::gru_candidate(input, reset, gates);
    cells::mix(gates, previous, state);
}
