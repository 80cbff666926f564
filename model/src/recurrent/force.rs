//! Holding gates at a chosen value, to see what they are for.

use core::fmt;

use burn::tensor::{Tensor, TensorData};

use super::{Gate, Recurrent};

/// Holds a gate at `value`, whatever it would have been: `g * (1 - mask) + value * mask`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Force {
    pub layer: usize,
    /// Whether this is about the cell that reads from the end.
    pub backward: bool,
    /// The sequence of the batch; `None` for all of them.
    pub row: Option<usize>,
    pub gate: Gate,
    /// The unit; `None` for all units.
    pub unit: Option<usize>,
    /// The position in the sequence; `None` for all of them.
    pub step: Option<usize>,
    pub value: f32,
}

/// Why a gate can't be forced. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceError {
    NoLayer { layer: usize, layers: usize },
    OneDirection { layer: usize },
    NoGate { gate: Gate },
    NoUnit { unit: usize, units: usize },
    NoStep { step: usize, steps: usize },
    OutOfRange { gate: Gate, value: f32, lowest: f32, highest: f32 },
}

impl fmt::Display for ForceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLayer { layer, layers } => {
                write!(f, "There is no layer {} to force a gate in: there are {layers}.", layer + 1)
            }
            Self::OneDirection { layer } => {
                write!(f, "Layer {} reads in one direction only.", layer + 1)
            }
            Self::NoGate { gate } => write!(f, "This cell has no {} gate.", gate.name()),
            Self::NoUnit { unit, units } => {
                write!(f, "There is no unit {} to force: the layer has {units}.", unit + 1)
            }
            Self::NoStep { step, steps } => {
                write!(f, "There is no step {} to force: the sequence has {steps}.", step + 1)
            }
            Self::OutOfRange { gate, value, lowest, highest } => write!(
                f,
                "The {} gate can't be {value}: it lies between {lowest} and {highest}.",
                gate.name()
            ),
        }
    }
}

impl std::error::Error for ForceError {}

impl Force {
    /// Checks that `recurrent` has such a gate on a sequence of `length` steps, and that the gate
    /// could take the value at all.
    pub fn validate(&self, recurrent: &Recurrent, length: usize) -> Result<(), ForceError> {
        let layers = recurrent.layers.len();
        let layer = recurrent
            .layers
            .get(self.layer)
            .ok_or(ForceError::NoLayer { layer: self.layer, layers })?;
        let cell = if self.backward { layer.backward.as_ref() } else { Some(&layer.forward) };
        let cell = cell.ok_or(ForceError::OneDirection { layer: self.layer })?;
        let gate = self.gate;
        if !cell.kind().gates().contains(&gate) {
            return Err(ForceError::NoGate { gate });
        }
        if let Some(unit) = self.unit.filter(|&unit| unit >= cell.hidden()) {
            return Err(ForceError::NoUnit { unit, units: cell.hidden() });
        }
        if let Some(step) = self.step.filter(|&step| step >= length) {
            return Err(ForceError::NoStep { step, steps: length });
        }
        let (lowest, highest) = cell.kind().range(gate);
        if !(lowest..=highest).contains(&self.value) {
            return Err(ForceError::OutOfRange { gate, value: self.value, lowest, highest });
        }
        Ok(())
    }
}

/// Applies the forces on one gate at one step; later ones win.
///
/// # Shapes
///
/// - value: `[batch, hidden]`
/// - output: `[batch, hidden]`
pub(super) fn apply(forces: &[Force], gate: Gate, step: usize, value: Tensor<2>) -> Tensor<2> {
    let meets = |force: &&Force| force.gate == gate && force.step.is_none_or(|at| at == step);
    if !forces.iter().any(|force| meets(&force)) {
        return value;
    }
    let [batch, hidden] = value.dims();
    let (mut free, mut forced) = (vec![1f32; batch * hidden], vec![0f32; batch * hidden]);
    for force in forces.iter().filter(meets) {
        let units = force.unit.map_or(0..hidden, |unit| unit..unit + 1);
        for row in force.row.map_or(0..batch, |row| row..row + 1) {
            let units = row * hidden + units.start..row * hidden + units.end;
            free[units.clone()].fill(0.0);
            forced[units].fill(force.value);
        }
    }
    let device = value.device();
    let all = |values| Tensor::<2>::from_data(TensorData::new(values, [batch, hidden]), &device);
    value * all(free) + all(forced)
}
