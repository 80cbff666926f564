//! A recurrent cell over a whole sequence, forwards, and backwards through time.
//!
//! All rows of a step lie together, step by step in the order of positions, whichever way the cell
//! goes: `[T * batch, width]`. Forwards there is one product with U for each step, backwards one
//! with its transpose; the gradient of U is one product over all steps at the end.

use super::{
    cells,
    matmul::{self, Onto, View},
    panels::Panels,
    rows::add_rows,
};

/// What a cell computes; see [`crate::CellKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    ElmanTanh,
    ElmanSigmoid,
    Lstm,
    Gru,
    ChoGru,
}

impl Rule {
    pub fn gates(self) -> usize {
        match self {
            Self::ElmanTanh | Self::ElmanSigmoid => 1,
            Self::Gru | Self::ChoGru => 3,
            Self::Lstm => 4,
        }
    }
}

/// A sequence and how to go through it.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    pub rule: Rule,
    pub batch: usize,
    pub steps: usize,
    /// Units, H.
    pub hidden: usize,
    /// Width of what is put out and fed back: that of an LSTM's projection if it has one, or H.
    pub output: usize,
    /// From the end to the start.
    pub backward: bool,
    /// Of an LSTM.
    pub projected: bool,
    /// No gradient goes back from one so many steps to those before.
    pub truncation: Option<usize>,
}

/// What a sequence is computed from. What a rule does not have is empty.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `W x + b`, `[T * batch, gates * H]`.
    pub input: &'a [f32],
    /// U, `[output, gates * H]`.
    pub recurrent: &'a [f32],
    /// `b_hn` of PyTorch's GRU, `[H]`.
    pub candidate_bias: &'a [f32],
    /// `[H, output]`
    pub projection: &'a [f32],
    /// `[batch, output]`
    pub initial: &'a [f32],
    /// `[batch, H]`
    pub initial_cell: &'a [f32],
}

/// What the way back needs besides the states, for each step.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// `[T * batch, gates * H]`, but for Elman's cells, whose state is their gate.
    gates: Vec<f32>,
    /// `c_t` and its tanh, `[T * batch, H]`.
    cells: Vec<f32>,
    squashed: Vec<f32>,
    /// `o * tanh(c_t)` before a projection, `[T * batch, H]`.
    unprojected: Vec<f32>,
    /// `U h + b_hn` of PyTorch's GRU, or `r * h` of Cho's, `[T * batch, H]`.
    reset: Vec<f32>,
}

/// Derivatives, as long as what they are by.
#[derive(Clone, Debug)]
pub struct Gradients {
    pub input: Vec<f32>,
    pub recurrent: Vec<f32>,
    pub candidate_bias: Vec<f32>,
    pub projection: Vec<f32>,
    pub initial: Vec<f32>,
    pub initial_cell: Vec<f32>,
}

/// The states before a step and the place for those after it.
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
    /// The position the step after `count` others is at.
    fn place(&self, count: usize) -> usize {
        if self.backward { self.steps - 1 - count } else { count }
    }

    /// The position before that, in the order of going; none before the first.
    fn place_before(&self, count: usize) -> Option<usize> {
        count.checked_sub(1).map(|count| self.place(count))
    }

    /// U as a rule multiplies it at once: all of it, or of Cho's GRU r's and z's columns.
    fn at_once<'a>(&self, recurrent: &'a [f32]) -> View<'a> {
        let columns = self.rule.gates() * self.hidden;
        let all = View::rows(recurrent, [self.output, columns]);
        if self.rule == Rule::ChoGru { all.first_columns(2 * self.hidden) } else { all }
    }

    /// The candidate's columns of Cho's U.
    fn candidate<'a>(&self, recurrent: &'a [f32]) -> View<'a> {
        let columns = 3 * self.hidden;
        View {
            values: &recurrent[2 * self.hidden..],
            shape: [self.hidden, self.hidden],
            strides: [columns, 1],
        }
    }

    /// The states of all steps, `[T * batch, output]`, and of an LSTM the last `c_t` after them,
    /// `[batch, H]`, in one slice.
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
        // Added to the products: b_hn in the candidate's block.
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

    /// Gradients from `upstream`, that by what [`forward`](Self::forward) returned.
    pub fn backward(
        &self,
        inputs: &Inputs,
        states: &[f32],
        kept: &Kept,
        upstream: &[f32],
    ) -> Gradients {
        let Self { rule, batch, steps, hidden, output, .. } = *self;
        let columns = rule.gates() * hidden;
        let (upstream, of_last_cell) = upstream.split_at(steps * batch * output);
        let recurrent = Panels::new(self.at_once(inputs.recurrent).transposed());
        let candidate = (rule == Rule::ChoGru)
            .then(|| Panels::new(self.candidate(inputs.recurrent).transposed()));
        let projection = self
            .projected
            .then(|| Panels::new(View::rows(inputs.projection, [hidden, output]).transposed()));
        let mut deltas = vec![0.0; steps * batch * columns];
        // The gradient by what the state adds to the sums, where it is another than by the sums.
        let mut inner = vec![0.0; if rule == Rule::Gru { deltas.len() } else { 0 }];
        let mut of_states = vec![0.0; if projection.is_some() { upstream.len() } else { 0 }];
        let mut of_unprojected = vec![0.0; if projection.is_some() { batch * hidden } else { 0 }];
        let mut of_kept = vec![0.0; if candidate.is_some() { batch * hidden } else { 0 }];
        let mut carried = vec![0.0; batch * output];
        let mut of_state = vec![0.0; batch * output];
        let mut of_cell = of_last_cell.to_vec();
        for count in (0..steps).rev() {
            let at = self.place(count);
            let rows = |at: usize, width: usize| at * batch * width..(at + 1) * batch * width;
            let here = upstream[rows(at, output)].iter().zip(&carried);
            of_state.iter_mut().zip(here).for_each(|(sum, (here, later))| *sum = here + later);
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
                    step(&states[rows(at, hidden)], &of_state, delta);
                }
                Rule::Lstm => {
                    let previous = match before {
                        Some(before) => &kept.cells[rows(before, hidden)],
                        None => inputs.initial_cell,
                    };
                    let of_result = match &projection {
                        Some(projection) => {
                            of_states[rows(at, output)].copy_from_slice(&of_state);
                            let left = View::rows(&of_state, [batch, output]);
                            projection.product(left, Onto::Zero, &mut of_unprojected, hidden);
                            &of_unprojected
                        }
                        None => &of_state,
                    };
                    let each = each
                        .zip(kept.gates[rows(at, columns)].chunks_exact(columns))
                        .zip(previous.chunks_exact(hidden))
                        .zip(kept.squashed[rows(at, hidden)].chunks_exact(hidden))
                        .zip(of_result.chunks_exact(hidden))
                        .zip(of_cell.chunks_exact_mut(hidden));
                    for (((((delta, gates), previous), squashed), upstream), of_cell) in each {
                        cells::lstm_backward(gates, previous, squashed, upstream, of_cell, delta);
                    }
                }
                Rule::Gru => {
                    let each = each
                        .zip(kept.gates[rows(at, columns)].chunks_exact(columns))
                        .zip(kept.reset[rows(at, hidden)].chunks_exact(hidden))
                        .zip(previous.chunks_exact(hidden))
                        .zip(of_state.chunks_exact(hidden))
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
                        .zip(of_state.chunks_exact(hidden))
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
                    candidate.product(left, Onto::Zero, &mut of_kept, hidden);
                    let each = delta
                        .chunks_exact_mut(columns)
                        .zip(gates)
                        .zip(previous.chunks_exact(hidden))
                        .zip(of_kept.chunks_exact(hidden))
                        .zip(carried.chunks_exact_mut(hidden));
                    for ((((delta, gates), previous), of_kept), carried) in each {
                        cells::cho_backward(gates, previous, of_kept, delta, carried);
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
                of_cell.fill(0.0);
            }
        }

        let mut of_recurrent = vec![0.0; inputs.recurrent.len()];
        let all_rows = steps * batch;
        let states = View::rows(&states[..all_rows * output], [all_rows, output]);
        let of_sums = if rule == Rule::Gru { &inner } else { &deltas };
        let of_sums = View::rows(of_sums, [all_rows, columns]);
        if rule == Rule::ChoGru {
            let opening = of_sums.first_columns(2 * hidden);
            self.previous_times(inputs.initial, states, opening, &mut of_recurrent, columns);
            let of_candidates = View {
                values: &deltas[2 * hidden..],
                shape: [all_rows, hidden],
                strides: [columns, 1],
            };
            let reset = View::rows(&kept.reset, [all_rows, hidden]).transposed();
            let result = &mut of_recurrent[2 * hidden..];
            matmul::product(reset, of_candidates, 1.0, Onto::Zero, result, columns);
        } else {
            self.previous_times(inputs.initial, states, of_sums, &mut of_recurrent, columns);
        }
        let mut candidate_bias = Vec::new();
        if !inputs.candidate_bias.is_empty() {
            candidate_bias.resize(columns, 0.0);
            add_rows(&inner, &mut candidate_bias);
            candidate_bias.drain(..2 * hidden);
        }
        let mut of_projection = vec![0.0; inputs.projection.len()];
        if projection.is_some() {
            let unprojected = View::rows(&kept.unprojected, [all_rows, hidden]).transposed();
            let of_states = View::rows(&of_states, [all_rows, output]);
            matmul::product(unprojected, of_states, 1.0, Onto::Zero, &mut of_projection, output);
        }
        Gradients {
            input: deltas,
            recurrent: of_recurrent,
            candidate_bias,
            projection: of_projection,
            initial: carried,
            initial_cell: of_cell,
        }
    }

    /// The transpose of all steps' previous states times rows of the steps: a product, and one for
    /// the first step, whose previous state is elsewhere.
    pub(super) fn previous_times(
        &self,
        initial: &[f32],
        states: View,
        rows: View,
        result: &mut [f32],
        apart: usize,
    ) {
        let (batch, most) = (self.batch, (self.steps - 1) * self.batch);
        let (from, to, first) = if self.backward { (batch, 0, most) } else { (0, batch, 0) };
        let initial = View::rows(initial, [batch, states.shape[1]]).transposed();
        matmul::product(initial, rows.some_rows(first, batch), 1.0, Onto::Zero, result, apart);
        let left = states.some_rows(from, most).transposed();
        matmul::product(left, rows.some_rows(to, most), 1.0, Onto::Result, result, apart);
    }
}

/// A step of PyTorch's GRU for one row; what the reset gate multiplies is kept in `reset`.
pub(super) fn gru_row(
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

#[cfg(test)]
#[path = "recurrent_tests.rs"]
mod tests;
