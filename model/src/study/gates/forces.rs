//! Gates held open or shut, as far as the layer has them.

use unroll_protocol::study::gates::{CellChoice, Forced, Quantity};

use super::Study;
use crate::{Force, Gate};

/// The block of columns that a quantity belongs to; `None` for a state.
pub fn gate(quantity: Quantity) -> Option<Gate> {
    Some(match quantity {
        Quantity::Input => Gate::Input,
        Quantity::Forget => Gate::Forget,
        Quantity::Candidate | Quantity::New => Gate::Candidate,
        Quantity::Output => Gate::Output,
        Quantity::Reset => Gate::Reset,
        Quantity::Update => Gate::Update,
        Quantity::Cell | Quantity::Hidden => return None,
    })
}

/// The gates to hold, and why some can't be held.
#[derive(Default)]
pub struct Forces {
    pub forces: Vec<Force>,
    held: Vec<Forced>,
    /// Sentences about gates that can't be held.
    pub left_out: Vec<String>,
}

impl Forces {
    /// Whether `gate` of a unit is held at a step, both counted from 0.
    pub fn holds(&self, gate: Quantity, unit: usize, at: usize) -> bool {
        self.held.iter().any(|held| {
            held.gate == gate && held.unit as usize == unit + 1 && held.from as usize <= at + 1
        })
    }

    pub fn is_empty(&self) -> bool {
        self.forces.is_empty()
    }
}

impl Study {
    /// Those of the requested gates that the layer has, over a string of `length`. Where two
    /// concern the same gate, the later one wins from the step at which it begins.
    pub fn forces(&self, asked: &[Forced], length: usize) -> Forces {
        let mut forces = Forces::default();
        for forced in asked {
            let Forced { gate: quantity, unit, open, from } = *forced;
            let said = format!("the {} of unit {unit}", quantity.label());
            let units = self.spec.units;
            let problem = if !has(self.spec.cell, quantity) {
                Some(format!("{} has no {}.", self.spec.cell.label(), quantity.label()))
            } else if unit == 0 || unit > units {
                let count = if units == 1 { "1 unit" } else { &format!("{units} units") };
                Some(format!("there are {count} now."))
            } else if from as usize > length {
                Some(format!("it is held from step {from}, and there are {length}."))
            } else {
                None
            };
            if let Some(problem) = problem {
                forces.left_out.push(format!("Not held: {said}, for {problem}"));
                continue;
            }
            let Some(gate) = gate(quantity) else { continue };
            forces.held.push(*forced);
            forces.forces.extend((from.max(1) as usize - 1..length).map(|step| Force {
                layer: 0,
                backward: false,
                row: None,
                gate,
                unit: Some(unit as usize - 1),
                step: Some(step),
                value: if open { 1.0 } else { 0.0 },
            }));
        }
        forces
    }
}

fn has(cell: CellChoice, quantity: Quantity) -> bool {
    quantity.opens() && cell.quantities().contains(&quantity)
}
