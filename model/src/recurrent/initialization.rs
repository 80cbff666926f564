//! Initialization of recurrent weights.

use burn::{
    module::Param,
    tensor::{Device, Tensor},
};

use crate::{
    parameters::{given_matrix, uniform_matrix},
    random::Normals,
};

/// How the recurrent matrices are initialized; everything else is always initialized as in PyTorch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialization {
    /// PyTorch's U(-1/sqrt(hidden), 1/sqrt(hidden)). Such a U has a spectral radius of about
    /// 1/sqrt(3) = 0.58, so that a plain RNN starts with gradients that vanish within a few steps.
    Uniform,
    /// Orthogonal blocks (Saxe et al. 2014): all singular values are 1, so that U by itself neither
    /// shrinks nor stretches a gradient in any direction. This is better for a plain RNN that has
    /// to remember.
    Orthogonal,
}

/// A recurrent matrix of `blocks` blocks of shape `[output, hidden]`, side by side.
pub(super) fn recurrent(
    initialization: Initialization,
    [output, hidden]: [usize; 2],
    blocks: usize,
    bound: f64,
    draws: &mut Normals,
    device: &Device,
) -> Param<Tensor<2>> {
    let shape = [output, blocks * hidden];
    match initialization {
        Initialization::Uniform => uniform_matrix(shape, bound, draws, device),
        Initialization::Orthogonal => {
            let mut values = vec![0.0; output * blocks * hidden];
            for block in 0..blocks {
                let drawn = orthogonal([output, hidden], draws);
                for (row, drawn) in drawn.chunks_exact(hidden).enumerate() {
                    let start = row * blocks * hidden + block * hidden;
                    values[start..start + hidden].copy_from_slice(drawn);
                }
            }
            given_matrix(values, shape, device)
        }
    }
}

/// A random matrix whose rows, or columns if there are fewer of them, are orthonormal.
fn orthogonal([rows, columns]: [usize; 2], draws: &mut Normals) -> Vec<f32> {
    let (count, width) = (rows.min(columns), rows.max(columns));
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(count);
    while basis.len() < count {
        let mut vector: Vec<f64> = draws.draw(width, 1.0).into_iter().map(f64::from).collect();
        // Two passes: a single one leaves rounding errors as large as what was subtracted (Kahan's
        // "twice is enough").
        for _ in 0..2 {
            for other in &basis {
                let overlap = dot(&vector, other);
                vector.iter_mut().zip(other).for_each(|(x, y)| *x -= overlap * y);
            }
        }
        let norm = dot(&vector, &vector).sqrt();
        // A draw inside the span of the others has probability 0, but rounding could produce one.
        if norm > 1e-6 {
            basis.push(vector.into_iter().map(|x| x / norm).collect());
        }
    }
    let entry = |row: usize, column: usize| {
        if rows <= columns { basis[row][column] } else { basis[column][row] }
    };
    (0..rows * columns).map(|index| entry(index / columns, index % columns) as f32).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn the_shorter_side_is_orthonormal() {
        for [rows, columns] in [[7, 7], [3, 8], [8, 3]] {
            let mut draws = Normals::new(stream(1, Purpose::RecurrentWeights, [0; 3]));
            let matrix = orthogonal([rows, columns], &mut draws);
            let vector = |index: usize| -> Vec<f64> {
                let entry = |at| f64::from(matrix[at]);
                if rows <= columns {
                    (0..columns).map(|column| entry(index * columns + column)).collect()
                } else {
                    (0..rows).map(|row| entry(row * columns + index)).collect()
                }
            };
            for i in 0..rows.min(columns) {
                for j in 0..rows.min(columns) {
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert!((dot(&vector(i), &vector(j)) - expected).abs() < 1e-6);
                }
            }
        }
    }
}
