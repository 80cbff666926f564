//! Recurrent networks, written so that every intermediate sum can be shown, changed and
//! differentiated.

mod cell;
mod elman;
mod force;
mod gru;
mod initialization;
mod input;
mod kind;
mod lstm;
mod model;
mod spectrum;
mod stack;
mod trace;
mod watch;

pub use cell::{Cell, CellConfig, State};
pub use force::{Force, ForceError};
pub use initialization::Initialization;
pub use input::SequenceInput;
pub use kind::{Activation, CellKind, Gate};
pub use model::{SequenceConfig, SequenceModel, SequenceOutput, SequenceTrace};
pub use spectrum::{RadiusError, rescale_to_radius, spectral_radius};
pub use stack::{
    LayerStates, Recurrent, RecurrentConfig, RecurrentLayer, RecurrentOutput, RunOptions,
};
pub use trace::{
    Contributions, GateTrace, RecurrentGradients, RecurrentLayerTrace, RecurrentTrace,
    norm_per_step,
};

use cell::Weights;
pub(crate) use input::steps_of;
