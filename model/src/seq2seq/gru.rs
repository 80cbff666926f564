//! One step of a GRU, in several directions at once.

use burn::tensor::Tensor;

use crate::{
    fused::recurrent::{sigmoid, tanh},
    recurrent::Cell,
};

/// What steps of GRU cells (PyTorch's form, [`CellKind::Gru`](crate::CellKind::Gru)) need besides
/// their input. Several cells of equal width, each with its own batch, run together, because the
/// overhead of a small step is as large as its arithmetic.
pub(super) struct Gru {
    /// U of each cell, `[cells, H, 3H]`.
    recurrent: Tensor<3>,
    /// `b_hn` in the candidate's block and 0 elsewhere, `[cells * batch, 3H]`.
    bias: Tensor<2>,
    batch: usize,
}

impl Gru {
    pub(super) fn new(cells: &[&Cell], batch: usize) -> Self {
        let hidden = cells[0].hidden();
        let recurrent = cells.iter().map(|cell| cell.recurrent_weight.val());
        let recurrent = Tensor::stack::<3>(recurrent.collect(), 0);
        let biases = cells.iter().map(|cell| {
            let bias = cell.candidate_bias.as_ref().expect("a GRU has one").val();
            bias.unsqueeze::<2>()
        });
        let bias = Tensor::cat(biases.collect(), 0);
        let zeros = Tensor::zeros([cells.len(), 2 * hidden], &bias.device());
        let bias = Tensor::cat(vec![zeros, bias], 1)
            .reshape([cells.len(), 1, 3 * hidden])
            .expand([cells.len(), batch, 3 * hidden])
            .reshape([cells.len() * batch, 3 * hidden]);
        Self { recurrent, bias, batch }
    }

    /// The next states.
    ///
    /// All of a step but its product is elementwise. So its derivatives are computed while the
    /// values are available and attached to terms that are exactly 0, as in [`gelu`](crate::gelu):
    /// this records about half as many operations.
    ///
    /// # Shapes
    ///
    /// - input, `W x + b`: `[cells * batch, 3H]`
    /// - state and output: `[cells * batch, H]`
    pub(super) fn step(&self, input: Tensor<2>, state: Tensor<2>) -> Tensor<2> {
        let [rows, hidden] = state.dims();
        let cells = rows / self.batch;
        let from_state = state
            .clone()
            .reshape([cells, self.batch, hidden])
            .matmul(self.recurrent.clone())
            .reshape([rows, 3 * hidden])
            + self.bias.clone();

        let (x, u, h) = (input.clone().inner(), from_state.clone().inner(), state.clone().inner());
        let block = |all: &Tensor<2>, index| all.clone().narrow(1, index * hidden, hidden);
        let opened =
            sigmoid(x.clone().narrow(1, 0, 2 * hidden) + u.clone().narrow(1, 0, 2 * hidden));
        let (reset, update) = (block(&opened, 0), block(&opened, 1));
        let before_reset = block(&u, 2);
        let candidate = tanh(block(&x, 2) + reset.clone() * before_reset.clone());
        let fresh = update.clone().neg() + 1.0;
        // In this form z = 1 keeps the state to the last bit.
        let value = fresh.clone() * candidate.clone() + update.clone() * h.clone();
        if !from_state.is_tracked() {
            return value;
        }

        let of_candidate = fresh * ((candidate.clone() * candidate.clone()).neg() + 1.0);
        let slope = opened.clone() - opened.clone() * opened;
        let of_gates =
            Tensor::cat(vec![of_candidate.clone() * before_reset, h.clone() - candidate], 1)
                * slope;
        let of_input = Tensor::cat(vec![of_gates.clone(), of_candidate.clone()], 1);
        let of_from_state = Tensor::cat(vec![of_gates, of_candidate * reset], 1);
        let sums = (input - x) * of_input + (from_state - u) * of_from_state;
        let sums = sums.reshape([rows, 3, hidden]).sum_dim(1).reshape([rows, hidden]);
        sums + (state - h) * update + value
    }
}
