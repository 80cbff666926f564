//! A right factor that is multiplied many times, copied into the product's own layout once: in a
//! recurrent network the same matrix meets a small one in every step, where the copy would cost as
//! much as some of the product.

use super::{
    matmul::{self, Onto, Right, View},
    tiles::Tiles,
};

/// A right factor as [`matmul::product`] reads it. Products are the same to the last bit.
#[derive(Debug)]
pub struct Panels {
    shape: [usize; 2],
    packed: Vec<f32>,
}

impl Panels {
    pub fn new(right: View) -> Self {
        Self { shape: right.shape, packed: matmul::pack(right) }
    }

    /// Computes `onto + left · right` into `result`, whose rows are `apart` numbers apart.
    ///
    /// # Panics
    ///
    /// Panics if the shapes do not agree or a slice is too short.
    pub fn product(&self, left: View, onto: Onto, result: &mut [f32], apart: usize) {
        let right = Right::Packed { shape: self.shape, panels: &self.packed };
        matmul::multiply(Tiles::quickest(), left, &right, 1.0, onto, result, apart);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_product_to_the_last_bit() {
        let values = |count: usize, seed: usize| -> Vec<f32> {
            (0..count).map(|i| ((i * 37 + seed) % 101) as f32 / 17.0 - 2.7).collect()
        };
        for [rows, depth, columns] in
            [[1, 3, 7], [16, 64, 192], [5, 513, 23], [300, 20, 17], [3, 0, 4]]
        {
            let (left, right) = (values(rows * depth, 1), values(depth * columns, 5));
            let (left, right) =
                (View::rows(&left, [rows, depth]), View::rows(&right, [depth, columns]));
            let row = values(columns, 9);
            for onto in [Onto::Zero, Onto::Row(&row), Onto::Result] {
                let apart = columns + 2;
                let (mut expected, mut found) =
                    (values(rows * apart, 11), values(rows * apart, 11));
                matmul::product(left, right, 1.0, onto, &mut expected, apart);
                Panels::new(right).product(left, onto, &mut found, apart);
                assert_eq!(found, expected);
            }
        }
    }
}
