//! Inputs of a recurrent layer, and their products with W.

use burn::tensor::{Int, Tensor};

use super::Cell;
use crate::fused::recurrent::look_up;

/// A batch of sequences as a stack of layers reads it.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time, never a list of them")]
pub enum SequenceInput {
    /// Any vectors, `[batch, T, inputs]`.
    Vectors(Tensor<3>),
    /// Tokens as one-hot vectors, `[batch, T]`. Their product with W is a row of W, so it is looked
    /// up.
    OneHot(Tensor<2, Int>),
    /// Tokens as rows of an embedding.
    Embedded {
        /// `[vocabulary, inputs]`
        table: Tensor<2>,
        /// `[batch, T]`
        ids: Tensor<2, Int>,
    },
}

impl SequenceInput {
    /// Batch and length.
    pub fn size(&self) -> [usize; 2] {
        match self {
            Self::Vectors(vectors) => {
                let [batch, length, _] = vectors.dims();
                [batch, length]
            }
            Self::OneHot(ids) | Self::Embedded { ids, .. } => ids.dims(),
        }
    }

    pub(super) fn source(self) -> Source {
        match self {
            Self::Vectors(vectors) => {
                let [batch, length, width] = vectors.dims();
                Source::Rows(vectors.swap_dims(0, 1).reshape([length * batch, width]))
            }
            Self::OneHot(ids) => Source::Tokens { table: None, ids: steps_first(ids) },
            Self::Embedded { table, ids } => {
                Source::Tokens { table: Some(table), ids: steps_first(ids) }
            }
        }
    }
}

fn steps_first(ids: Tensor<2, Int>) -> Tensor<1, Int> {
    let [batch, length] = ids.dims();
    ids.swap_dims(0, 1).reshape([length * batch])
}

/// The same, step by step: the rows of one step are contiguous.
#[allow(clippy::large_enum_variant, reason = "there is one at a time, never a list of them")]
pub(super) enum Source {
    /// `[T * batch, inputs]`
    Rows(Tensor<2>),
    Tokens {
        /// `None` for one-hot vectors.
        table: Option<Tensor<2>>,
        /// `[T * batch]`
        ids: Tensor<1, Int>,
    },
}

impl Source {
    /// `W x_t + b` of all gates and all steps, with at most one product.
    ///
    /// # Shapes
    ///
    /// - output: `[T * batch, gates * hidden]`
    pub(super) fn project(&self, cell: &Cell) -> Tensor<2> {
        match self {
            Self::Rows(rows) => cell.project(rows.clone()),
            Self::Tokens { table: None, ids } => look_up(cell.project_one_hot(), ids.clone()),
            Self::Tokens { table: Some(table), ids } => {
                let ([vocabulary, _], [tokens]) = (table.dims(), ids.dims());
                // Whichever order multiplies fewer rows.
                if vocabulary <= tokens {
                    look_up(cell.project(table.clone()), ids.clone())
                } else {
                    cell.project(look_up(table.clone(), ids.clone()))
                }
            }
        }
    }

    /// The input vectors, untracked, `[T * batch, inputs]`.
    pub(super) fn vectors(&self, cell: &Cell) -> Tensor<2> {
        match self {
            Self::Rows(rows) => rows.clone().inner(),
            Self::Tokens { table, ids } => {
                let table = table.clone().map(Tensor::inner).unwrap_or_else(|| {
                    let weight = cell.input_weight.val().inner();
                    let [vocabulary, _] = weight.dims();
                    Tensor::eye(vocabulary, &weight.device())
                });
                table.select(0, ids.clone().inner())
            }
        }
    }
}

/// Splits `[steps * rows, width]` into one tensor for each step.
///
/// Splits in halves: the gradient of a slice is a tensor as large as what it was taken from.
/// Slicing each step from the whole would touch the whole `steps` times in the backward pass; this
/// touches it `log2(steps)` times.
pub(crate) fn steps_of(all: Tensor<2>, steps: usize) -> Vec<Tensor<2>> {
    if steps <= 1 {
        return vec![all];
    }
    let [rows, _] = all.dims();
    let first = steps / 2;
    let cut = rows / steps * first;
    let mut cuts = steps_of(all.clone().narrow(0, 0, cut), first);
    cuts.extend(steps_of(all.narrow(0, cut, rows - cut), steps - first));
    cuts
}
