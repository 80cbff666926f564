//! Recording and changing the intermediate results of a step.

use burn::tensor::Tensor;

use super::{Force, Gate, State, force};

/// Instrumentation of one step. Training uses an empty one, which costs nothing.
#[derive(Default)]
pub(super) struct Watch<'a> {
    pub(super) step: usize,
    pub(super) forces: &'a [Force],
    pub(super) record: Option<Record>,
}

/// What one step computed, each `[batch, ...]`, or all steps, each `[T * batch, ...]`; untracked.
/// Cells that compute their sums in several parts push several pieces, in the order of their columns.
#[derive(Default)]
pub(super) struct Record {
    pub(super) from_input: Vec<Tensor<2>>,
    pub(super) from_state: Vec<Tensor<2>>,
    pub(super) sums: Vec<Tensor<2>>,
    pub(super) gates: Vec<Tensor<2>>,
    pub(super) before_reset: Option<Tensor<2>>,
    pub(super) unprojected: Option<Tensor<2>>,
    pub(super) previous: Option<State>,
    pub(super) state: Option<State>,
    pub(super) probes: Option<StepProbes>,
}

/// Zeros added where a gradient is wanted: burn keeps gradients of leaves only, and the gradient
/// with respect to a term equals that with respect to the sum.
#[derive(Clone, Debug, Default)]
pub(super) struct StepProbes {
    pub(super) sums: Vec<Tensor<2>>,
    pub(super) hidden: Option<Tensor<2>>,
    pub(super) cell: Option<Tensor<2>>,
}

/// `value` plus a leaf of zeros, and that leaf.
fn probed(value: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let probe = Tensor::zeros(value.shape(), &value.device()).require_grad();
    (value + probe.clone(), probe)
}

impl Watch<'_> {
    /// The sum of a block's two parts.
    pub(super) fn sum(&mut self, from_input: Tensor<2>, from_state: Tensor<2>) -> Tensor<2> {
        let Some(record) = &mut self.record else {
            return from_input + from_state;
        };
        record.from_input.push(from_input.clone().inner());
        record.from_state.push(from_state.clone().inner());
        let sum = from_input + from_state;
        record.sums.push(sum.clone().inner());
        match &mut record.probes {
            Some(probes) => {
                let (sum, probe) = probed(sum);
                probes.sums.push(probe);
                sum
            }
            None => sum,
        }
    }

    /// A block after its non-linearity, or the value it is forced to.
    pub(super) fn gate(&mut self, gate: Gate, value: Tensor<2>) -> Tensor<2> {
        let value = force::apply(self.forces, gate, self.step, value);
        if let Some(record) = &mut self.record {
            record.gates.push(value.clone().inner());
        }
        value
    }

    pub(super) fn before_reset(&mut self, value: &Tensor<2>) {
        if let Some(record) = &mut self.record {
            record.before_reset = Some(value.clone().inner());
        }
    }

    pub(super) fn unprojected(&mut self, value: &Tensor<2>) {
        if let Some(record) = &mut self.record {
            record.unprojected = Some(value.clone().inner());
        }
    }

    /// A new cell state.
    pub(super) fn cell(&mut self, value: Tensor<2>) -> Tensor<2> {
        match self.record.as_mut().and_then(|record| record.probes.as_mut()) {
            Some(probes) => {
                let (value, probe) = probed(value);
                probes.cell = Some(probe);
                value
            }
            None => value,
        }
    }

    /// A new hidden state.
    pub(super) fn hidden(&mut self, value: Tensor<2>) -> Tensor<2> {
        match self.record.as_mut().and_then(|record| record.probes.as_mut()) {
            Some(probes) => {
                let (value, probe) = probed(value);
                probes.hidden = Some(probe);
                value
            }
            None => value,
        }
    }
}
