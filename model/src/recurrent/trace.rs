//! Intermediate results of a recurrent layer, and the gradients inside it.

use burn::tensor::{Gradients, Tensor};

use super::{
    Cell, CellKind, Gate,
    input::Source,
    watch::{Record, StepProbes},
};

/// One layer, direction by direction.
#[derive(Clone, Debug)]
pub struct RecurrentLayerTrace {
    pub forward: RecurrentTrace,
    pub backward: Option<RecurrentTrace>,
}

/// One cell's run over a batch of sequences. Every tensor is untracked and has the shape
/// `[batch, T, ...]` in the order of positions, even if the cell reads backward. The blocks of
/// `gates * hidden` are in the order of [`CellKind::gates`].
#[derive(Clone, Debug)]
pub struct RecurrentTrace {
    pub kind: CellKind,
    /// x_t, `[batch, T, inputs]`; one-hot vectors are written out.
    pub inputs: Tensor<3>,
    /// The hidden state a step began with, `[batch, T, output]`.
    pub previous: Tensor<3>,
    /// The cell state a step of an LSTM began with, `[batch, T, hidden]`.
    pub previous_cell: Option<Tensor<3>>,
    /// `W x_t + b`, `[batch, T, gates * hidden]`.
    pub from_input: Tensor<3>,
    /// What the state adds to it: `U h_(t-1)`, but `r * (U h + b_hn)` in the candidate of PyTorch's
    /// GRU and `U (r * h)` in that of Cho's. `[batch, T, gates * hidden]`.
    pub from_state: Tensor<3>,
    /// The sum of the two, to the last bit, `[batch, T, gates * hidden]`.
    pub sums: Tensor<3>,
    /// After the non-linearity, or as forced, `[batch, T, gates * hidden]`.
    pub gates: Tensor<3>,
    /// `U h + b_hn` of PyTorch's GRU before the reset gate, `[batch, T, hidden]`.
    pub before_reset: Option<Tensor<3>>,
    /// `o * tanh(c)` of a projected LSTM, `[batch, T, hidden]`.
    pub unprojected: Option<Tensor<3>>,
    /// The cell state after the step, `[batch, T, hidden]`.
    pub cell: Option<Tensor<3>>,
    /// The hidden state after the step, `[batch, T, output]`.
    pub hidden: Tensor<3>,
    probes: Vec<StepProbes>,
}

/// One gate's part of a [`RecurrentTrace`], each `[batch, T, hidden]`.
#[derive(Clone, Debug)]
pub struct GateTrace {
    pub from_input: Tensor<3>,
    pub from_state: Tensor<3>,
    pub sum: Tensor<3>,
    pub value: Tensor<3>,
}

/// Gradients of a loss with respect to what one cell computed. They are total derivatives: every
/// path to the loss counts, including those through later steps and later layers.
#[derive(Clone, Debug)]
pub struct RecurrentGradients {
    /// With respect to the sums, the delta of each step, `[batch, T, gates * hidden]`.
    pub sums: Tensor<3>,
    /// With respect to the hidden state after the step, `[batch, T, output]`.
    pub hidden: Tensor<3>,
    /// With respect to the cell state after the step, through later cell states as well as through
    /// the output, `[batch, T, hidden]`.
    pub cell: Option<Tensor<3>>,
}

/// What each step adds to the gradients with respect to a cell's parameters. The sum over the steps
/// is the gradient.
#[derive(Clone, Debug)]
pub struct Contributions {
    /// x_t times delta_t, `[T, inputs, gates * hidden]`.
    pub input_weight: Tensor<3>,
    /// h_(t-1) times delta_t, `[T, output, gates * hidden]`; in a GRU's candidate, with the reset
    /// gate at the place where the kind has it.
    pub recurrent_weight: Tensor<3>,
    /// delta_t, `[T, gates * hidden]`.
    pub bias: Option<Tensor<2>>,
    /// `[T, hidden]`
    pub candidate_bias: Option<Tensor<2>>,
    /// `[T, hidden, output]`
    pub projection: Option<Tensor<3>>,
}

impl RecurrentTrace {
    /// `records` are of one step each, or one of all `length` steps, in the order of positions.
    pub(super) fn new(cell: &Cell, source: &Source, length: usize, records: Vec<Record>) -> Self {
        let mut probes = Vec::new();
        let batch_first = |rows: Tensor<2>| {
            let [count, width] = rows.dims();
            rows.reshape([length, count / length, width]).swap_dims(0, 1)
        };
        let stacked = |part: &dyn Fn(&Record) -> Option<Tensor<2>>| {
            let steps: Option<Vec<_>> = records.iter().map(part).collect();
            steps.map(|steps| batch_first(Tensor::cat(steps, 0)))
        };
        let joined = |part: &dyn Fn(&Record) -> &Vec<Tensor<2>>| {
            stacked(&|record| Some(Tensor::cat(part(record).clone(), 1)))
                .expect("every step has it")
        };
        let always = "every step has states";
        let trace = Self {
            kind: cell.kind(),
            inputs: batch_first(source.vectors(cell)),
            previous: stacked(&|r| r.previous.as_ref().map(|s| s.hidden.clone())).expect(always),
            previous_cell: stacked(&|r| r.previous.as_ref().and_then(|s| s.cell.clone())),
            from_input: joined(&|record| &record.from_input),
            from_state: joined(&|record| &record.from_state),
            sums: joined(&|record| &record.sums),
            gates: joined(&|record| &record.gates),
            before_reset: stacked(&|record| record.before_reset.clone()),
            unprojected: stacked(&|record| record.unprojected.clone()),
            cell: stacked(&|r| r.state.as_ref().and_then(|s| s.cell.clone())),
            hidden: stacked(&|r| r.state.as_ref().map(|s| s.hidden.clone())).expect(always),
            probes: Vec::new(),
        };
        probes.extend(records.into_iter().filter_map(|record| record.probes));
        Self { probes, ..trace }
    }

    /// Number of units.
    fn units(&self) -> usize {
        let [_, _, columns] = self.sums.dims();
        columns / self.kind.gates().len()
    }

    /// The part of one gate.
    ///
    /// # Panics
    ///
    /// Panics if the kind has no such gate.
    pub fn gate(&self, gate: Gate) -> GateTrace {
        let part = |all: &Tensor<3>| self.block(all, gate);
        GateTrace {
            from_input: part(&self.from_input),
            from_state: part(&self.from_state),
            sum: part(&self.sums),
            value: part(&self.gates),
        }
    }

    fn block(&self, all: &Tensor<3>, gate: Gate) -> Tensor<3> {
        let index = self.kind.gates().iter().position(|&g| g == gate);
        let index = index.expect("a gate of this kind");
        all.clone().narrow(2, index * self.units(), self.units())
    }

    /// Extracts the gradients inside the cell from what a loss's `backward` returned.
    ///
    /// # Panics
    ///
    /// Panics if the run had no [`probes`](super::RunOptions::probes).
    pub fn gradients(&self, gradients: &Gradients) -> RecurrentGradients {
        assert!(!self.probes.is_empty(), "the run was asked for probes");
        // Gradients contain no entry for what the loss does not depend on: its derivative is 0.
        let of = |probe: &Tensor<2>| {
            let found = probe.grad(gradients);
            found.unwrap_or_else(|| Tensor::zeros(probe.shape(), &self.hidden.device()))
        };
        let stacked = |part: &dyn Fn(&StepProbes) -> Option<Tensor<2>>| {
            let steps: Option<Vec<_>> = self.probes.iter().map(part).collect();
            steps.map(|steps| Tensor::stack::<3>(steps, 1))
        };
        let sums = |probes: &StepProbes| Tensor::cat(probes.sums.iter().map(of).collect(), 1);
        RecurrentGradients {
            sums: stacked(&|probes| Some(sums(probes))).expect("every step has sums"),
            hidden: stacked(&|probes| probes.hidden.as_ref().map(of)).expect("and a hidden state"),
            cell: stacked(&|probes| probes.cell.as_ref().map(of)),
        }
    }
}

impl RecurrentGradients {
    /// What each step of `trace` adds to the gradients with respect to the cell's parameters.
    /// `trace` must be the run that these gradients are from.
    pub fn contributions(&self, trace: &RecurrentTrace) -> Contributions {
        let units = trace.units();
        // `[T, rows, columns]`: for each step the sum over the batch of outer products.
        let outer = |rows: &Tensor<3>, columns: &Tensor<3>| {
            let rows = rows.clone().swap_dims(0, 1).swap_dims(1, 2);
            rows.matmul(columns.clone().swap_dims(0, 1))
        };
        let summed = |x: &Tensor<3>| x.clone().sum_dim(0).squeeze_dim::<2>(0);
        let reset = || trace.block(&trace.gates, Gate::Reset);
        let opening = || self.sums.clone().narrow(2, 0, 2 * units);
        let candidate = || self.sums.clone().narrow(2, 2 * units, units);
        let recurrent_weight = match trace.kind {
            CellKind::Gru => {
                let inside = Tensor::cat(vec![opening(), reset() * candidate()], 2);
                outer(&trace.previous, &inside)
            }
            CellKind::ChoGru => {
                let kept = reset() * trace.previous.clone();
                let parts = vec![outer(&trace.previous, &opening()), outer(&kept, &candidate())];
                Tensor::cat(parts, 2)
            }
            _ => outer(&trace.previous, &self.sums),
        };
        Contributions {
            input_weight: outer(&trace.inputs, &self.sums),
            recurrent_weight,
            bias: trace.kind.has_biases().then(|| summed(&self.sums)),
            candidate_bias: (trace.kind == CellKind::Gru).then(|| summed(&(reset() * candidate()))),
            projection: trace.unprojected.as_ref().map(|input| outer(input, &self.hidden)),
        }
    }
}

/// The Euclidean norm at each step, over the batch and the units.
///
/// # Shapes
///
/// - values: `[batch, T, width]`
/// - output: `[T]`
pub fn norm_per_step(values: &Tensor<3>) -> Tensor<1> {
    let [_, length, _] = values.dims();
    let squares = values.clone() * values.clone();
    squares.sum_dim(2).sum_dim(0).reshape([length]).sqrt()
}
