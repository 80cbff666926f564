//! Kinds of recurrent cells.

/// The non-linearity of an Elman network's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    Tanh,
    Sigmoid,
}

/// A kind of recurrent cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellKind {
    /// `s_t = f(W x_t + U s_(t-1) + b)` (Elman 1990).
    Elman { activation: Activation, biases: bool },
    /// Graves 2013, equations 7 to 11, without peepholes: `i, f, o = sigma(...)`, `g = tanh(...)`,
    /// `c_t = f * c_(t-1) + i * g`, `h_t = o * tanh(c_t)`.
    ///
    /// With a projection (Sak et al. 2014) the layer outputs and feeds back `r_t = P h_t`, which is
    /// PyTorch's `proj_size`; the paper's optional second, non-recurrent projection is left out.
    Lstm {
        /// Width of the projection.
        projection: Option<usize>,
        /// Initial bias of the forget gate. At 0 the gate starts about half open and the cell
        /// forgets within a few steps; 1 is the advice of Gers et al. 2000.
        forget_bias: f32,
    },
    /// PyTorch's GRU: `r, z = sigma(...)`, `n = tanh(W x + b_n + r * (U h + b_hn))`,
    /// `h_t = (1 - z) * n + z * h_(t-1)`.
    Gru,
    /// Cho et al. 2014, equations 5 to 8 of the appendix: the reset gate acts before the product,
    /// `n = tanh(W x + b_n + U (r * h))`; everything else as in [`CellKind::Gru`].
    ChoGru,
}

/// One block of a cell's columns, as wide as the hidden state, with its own sum and non-linearity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// An Elman cell's only block, its new state.
    State,
    /// `i` of an LSTM.
    Input,
    /// `f` of an LSTM.
    Forget,
    /// What may be written: `g` of an LSTM, `n` of a GRU.
    Candidate,
    /// `o` of an LSTM.
    Output,
    /// `r` of a GRU.
    Reset,
    /// `z` of a GRU: how much of the old state stays.
    Update,
}

impl CellKind {
    /// PyTorch's `nn.RNN`: tanh, with biases.
    pub const RNN: Self = Self::Elman { activation: Activation::Tanh, biases: true };
    /// The network of Mikolov et al. 2010: sigmoid, no biases.
    pub const MIKOLOV: Self = Self::Elman { activation: Activation::Sigmoid, biases: false };
    /// An LSTM without projection whose forget gates start half open.
    pub const LSTM: Self = Self::Lstm { projection: None, forget_bias: 0.0 };

    /// The blocks in the order of their columns, which is PyTorch's.
    pub fn gates(self) -> &'static [Gate] {
        match self {
            Self::Elman { .. } => &[Gate::State],
            Self::Lstm { .. } => &[Gate::Input, Gate::Forget, Gate::Candidate, Gate::Output],
            Self::Gru | Self::ChoGru => &[Gate::Reset, Gate::Update, Gate::Candidate],
        }
    }

    /// Whether there is a cell state besides the output.
    pub fn has_cell_state(self) -> bool {
        matches!(self, Self::Lstm { .. })
    }

    /// Whether the sums include a bias.
    pub fn has_biases(self) -> bool {
        !matches!(self, Self::Elman { biases: false, .. })
    }

    /// Width of the output that is fed back.
    pub fn output_width(self, hidden: usize) -> usize {
        match self {
            Self::Lstm { projection: Some(width), .. } => width,
            _ => hidden,
        }
    }

    /// The range of `gate`: that of its non-linearity.
    pub fn range(self, gate: Gate) -> (f32, f32) {
        let tanh = match self {
            Self::Elman { activation, .. } => activation == Activation::Tanh,
            _ => gate == Gate::Candidate,
        };
        if tanh { (-1.0, 1.0) } else { (0.0, 1.0) }
    }
}

impl Gate {
    /// The common name of this kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Input => "input",
            Self::Forget => "forget",
            Self::Candidate => "candidate",
            Self::Output => "output",
            Self::Reset => "reset",
            Self::Update => "update",
        }
    }
}
