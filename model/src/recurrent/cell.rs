//! One recurrent cell: its parameters, and one step of it.

use burn::{
    module::{Module, Param},
    nn::Linear,
    tensor::{Device, Tensor},
};

use super::{
    Activation, CellKind, Gate, Initialization, elman, gru,
    initialization::recurrent,
    lstm,
    watch::{Record, Watch},
};
use crate::{
    fused::{
        self,
        recurrent::{Cells, Rule, Sequence},
    },
    parameters::{given_vector, uniform_matrix},
    random::Normals,
};

/// Configuration of a [`Cell`].
#[derive(Clone, Copy, Debug)]
pub struct CellConfig {
    pub kind: CellKind,
    /// Width of what it reads.
    pub inputs: usize,
    /// Number of units.
    pub hidden: usize,
    pub initialization: Initialization,
}

/// A recurrent cell of any kind, with `hidden` units. Its matrices have one block of `hidden`
/// columns for each of the kind's [`gates`](CellKind::gates), so that one product serves all of
/// them.
///
/// PyTorch has two biases, `b_ih` and `b_hh`, which are redundant in all but one block: only their
/// sum matters, and both have the gradient of the sum. Here there is one bias, as in the papers,
/// and the block that is not redundant, `b_hn`, is [`candidate_bias`](Self::candidate_bias).
#[derive(Module, Debug)]
pub struct Cell {
    /// W, `[inputs, gates * hidden]`: the transpose of PyTorch's `weight_ih`.
    pub input_weight: Param<Tensor<2>>,
    /// U, `[output, gates * hidden]`: the transpose of PyTorch's `weight_hh`.
    pub recurrent_weight: Param<Tensor<2>>,
    /// b, `[gates * hidden]`.
    pub bias: Option<Param<Tensor<1>>>,
    /// `b_hn` of PyTorch's GRU, `[hidden]`: part of what the reset gate multiplies.
    pub candidate_bias: Option<Param<Tensor<1>>>,
    /// P, `[hidden, projection]`: the transpose of PyTorch's `weight_hr`.
    pub projection: Option<Param<Tensor<2>>>,
    #[module(skip)]
    kind: CellKind,
}

/// What a cell carries from step to step.
#[derive(Clone, Debug)]
pub struct State {
    /// The layer's output that is fed back: `s_t`, `h_t`, or `r_t` of a projected LSTM,
    /// `[batch, output]`.
    pub hidden: Tensor<2>,
    /// `c_t` of an LSTM, `[batch, hidden]`.
    pub cell: Option<Tensor<2>>,
}

impl State {
    /// The same values, detached from the autodiff graph.
    pub fn detach(self) -> Self {
        Self { hidden: self.hidden.detach(), cell: self.cell.map(Tensor::detach) }
    }

    pub(super) fn inner(self) -> Self {
        Self { hidden: self.hidden.inner(), cell: self.cell.map(Tensor::inner) }
    }
}

/// The parameters a step needs, sliced once for a whole sequence: a new slice in every step would
/// have a gradient as large as the whole matrix in every step.
pub(super) struct Weights {
    pub(super) recurrent: Tensor<2>,
    pub(super) candidate: Option<Tensor<2>>,
    pub(super) candidate_bias: Option<Tensor<2>>,
    pub(super) projection: Option<Tensor<2>>,
}

impl Weights {
    fn inner(self) -> Self {
        let Self { recurrent, candidate, candidate_bias, projection } = self;
        Self {
            recurrent: recurrent.inner(),
            candidate: candidate.map(Tensor::inner),
            candidate_bias: candidate_bias.map(Tensor::inner),
            projection: projection.map(Tensor::inner),
        }
    }
}

/// The rows that each step began with: those of the step before it, or the initial ones.
fn before(initial: Tensor<2>, after: Tensor<2>, backward: bool) -> Tensor<2> {
    let ([rows, _], [batch, _]) = (after.dims(), initial.dims());
    match rows - batch {
        0 => initial,
        rest if backward => Tensor::cat(vec![after.narrow(0, batch, rest), initial], 0),
        rest => Tensor::cat(vec![initial, after.narrow(0, 0, rest)], 0),
    }
}

impl CellConfig {
    /// Draws the cell's weights from U(-1/sqrt(hidden), 1/sqrt(hidden)) as in PyTorch, except for
    /// what [`Initialization`] and the forget gate's bias specify.
    ///
    /// # Panics
    ///
    /// Panics if a width is 0.
    pub(crate) fn init(&self, draws: &mut Normals, device: &Device) -> Cell {
        let Self { kind, inputs, hidden, initialization } = *self;
        let output = kind.output_width(hidden);
        assert!(inputs > 0 && hidden > 0 && output > 0, "a cell is at least one unit wide");
        let columns = kind.gates().len() * hidden;
        let bound = 1.0 / (hidden as f64).sqrt();
        let input_weight = uniform_matrix([inputs, columns], bound, draws, device);
        let recurrent_weight =
            recurrent(initialization, [output, hidden], kind.gates().len(), bound, draws, device);
        let bias = kind.has_biases().then(|| {
            let mut values = draws.uniform(columns, bound);
            if let CellKind::Lstm { forget_bias, .. } = kind {
                values[hidden..2 * hidden].fill(forget_bias);
            }
            given_vector(values, device)
        });
        let candidate_bias =
            (kind == CellKind::Gru).then(|| given_vector(draws.uniform(hidden, bound), device));
        let projection = (output != hidden
            || matches!(kind, CellKind::Lstm { projection: Some(_), .. }))
        .then(|| uniform_matrix([hidden, output], bound, draws, device));
        Cell { input_weight, recurrent_weight, bias, candidate_bias, projection, kind }
    }
}

impl Cell {
    pub fn kind(&self) -> CellKind {
        self.kind
    }

    /// Number of units.
    pub fn hidden(&self) -> usize {
        let [_, columns] = self.recurrent_weight.dims();
        columns / self.kind.gates().len()
    }

    /// Width of the output that is fed back.
    pub fn output_width(&self) -> usize {
        let [output, _] = self.recurrent_weight.dims();
        output
    }

    /// Index of `gate`'s first column.
    ///
    /// # Panics
    ///
    /// Panics if the kind has no such gate.
    pub fn column(&self, gate: Gate) -> usize {
        let index = self.kind.gates().iter().position(|&g| g == gate);
        index.expect("a gate of this kind") * self.hidden()
    }

    /// The state before the first step.
    pub fn zero_state(&self, batch: usize) -> State {
        let device = self.recurrent_weight.val().device();
        let zeros = |width| Tensor::zeros([batch, width], &device);
        State {
            hidden: zeros(self.output_width()),
            cell: self.kind.has_cell_state().then(|| zeros(self.hidden())),
        }
    }

    /// `W x + b` of all gates for any number of inputs, as one product.
    ///
    /// # Shapes
    ///
    /// - rows: `[n, inputs]`
    /// - output: `[n, gates * hidden]`
    pub(super) fn project(&self, rows: Tensor<2>) -> Tensor<2> {
        let (weight, bias) = (self.input_weight.clone(), self.bias.clone());
        fused::linear(&Linear { weight, bias }, rows)
    }

    /// `W x + b` for every possible one-hot x: the rows of W plus the bias.
    ///
    /// # Shapes
    ///
    /// - output: `[inputs, gates * hidden]`
    pub(crate) fn project_one_hot(&self) -> Tensor<2> {
        let rows = self.input_weight.val();
        match &self.bias {
            Some(bias) => rows + bias.val().unsqueeze::<2>(),
            None => rows,
        }
    }

    /// Runs all steps of a sequence at once, on devices with [kernels](fused::has_kernels) for it.
    /// Returns the hidden states and the last state, which equal those of repeated
    /// [`step`](Self::step)s to the last bit.
    ///
    /// # Shapes
    ///
    /// - input, from [`project`](Self::project), in the order of positions:
    ///   `[T * batch, gates * hidden]`
    /// - output: `[T * batch, output]`
    pub(crate) fn sequence(
        &self,
        input: Tensor<2>,
        state: State,
        backward: bool,
        truncation: Option<usize>,
    ) -> (Tensor<2>, State) {
        let ([rows, _], [batch, output]) = (input.dims(), state.hidden.dims());
        let rule = match self.kind {
            CellKind::Elman { activation: Activation::Tanh, .. } => Rule::ElmanTanh,
            CellKind::Elman { activation: Activation::Sigmoid, .. } => Rule::ElmanSigmoid,
            CellKind::Lstm { .. } => Rule::Lstm,
            CellKind::Gru => Rule::Gru,
            CellKind::ChoGru => Rule::ChoGru,
        };
        let sequence = Sequence {
            rule,
            batch,
            steps: rows / batch,
            hidden: self.hidden(),
            output,
            backward,
            projected: self.projection.is_some(),
            truncation,
        };
        let cells = Cells {
            recurrent: self.recurrent_weight.val(),
            candidate_bias: self.candidate_bias.as_ref().map(Param::val),
            projection: self.projection.as_ref().map(Param::val),
            initial: state.hidden,
            initial_cell: state.cell,
        };
        let (states, cell) = fused::recurrent::sequence(sequence, input, cells);
        let last = if backward { 0 } else { rows - batch };
        let hidden = states.clone().narrow(0, last, batch);
        (states, State { hidden, cell })
    }

    /// What every step of a [`sequence`](Self::sequence) computed, as one step of `T * batch` rows: once the
    /// hidden states are known, hardly anything has to wait for the step before. `input` and `state` are those
    /// that the sequence began with, `hidden` the states it came to; all of them are untracked.
    pub(super) fn record(
        &self,
        input: Tensor<2>,
        state: State,
        hidden: Tensor<2>,
        backward: bool,
    ) -> Record {
        let weights = self.weights().inner();
        let previous = before(state.hidden, hidden, backward);
        let cell = state.cell.map(|initial| {
            let (input, previous) = (input.clone(), previous.clone());
            let cells = lstm::cells(&weights, input, previous, initial.clone(), backward);
            before(initial, cells, backward)
        });
        let mut watch = Watch { record: Some(Record::default()), ..Watch::default() };
        self.step(&weights, input, State { hidden: previous, cell }, &mut watch);
        watch.record.unwrap_or_default()
    }

    pub(super) fn weights(&self) -> Weights {
        let recurrent = self.recurrent_weight.val();
        let hidden = self.hidden();
        let (recurrent, candidate) = match self.kind {
            CellKind::ChoGru => (
                recurrent.clone().narrow(1, 0, 2 * hidden),
                Some(recurrent.narrow(1, 2 * hidden, hidden)),
            ),
            _ => (recurrent, None),
        };
        Weights {
            recurrent,
            candidate,
            candidate_bias: self.candidate_bias.as_ref().map(|bias| bias.val().unsqueeze()),
            projection: self.projection.as_ref().map(Param::val),
        }
    }

    /// The next state. `input` holds a step's rows of what [`project`](Self::project) returned.
    pub(super) fn step(
        &self,
        weights: &Weights,
        input: Tensor<2>,
        state: State,
        watch: &mut Watch,
    ) -> State {
        if let Some(record) = &mut watch.record {
            record.previous = Some(state.clone().inner());
        }
        let state = match self.kind {
            CellKind::Elman { activation, .. } => {
                elman::step(activation, weights, input, state, watch)
            }
            CellKind::Lstm { .. } => lstm::step(weights, input, state, watch),
            CellKind::Gru => gru::step(weights, input, state, watch),
            CellKind::ChoGru => gru::cho_step(weights, input, state, watch),
        };
        if let Some(record) = &mut watch.record {
            record.state = Some(state.clone().inner());
        }
        state
    }
}
