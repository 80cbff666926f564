//! A right factor that is used many times, packed once. In a recurrent network every step
//! multiplies a small matrix by the same large one, and packing it each time would cost nearly as
//! much as the product.

use super::{
    matmul::{self, Onto, Right, View},
    tiles::Tiles,
};

/// A right factor packed for [`matmul::product`]. Products are the same to the last bit.
#[derive(Debug)]
pub struct Panels {
    shape: [usize; 2],
    packed: Vec<f32>,
}

impl Panels {
    pub fn new(right: View) -> Self {
        Self { shape: right.shape, packed: matmul::pack(right) }
    }

    /// Computes `onto + left · right` into `result`, whose row stride is `stride`.
    ///
    /// # Panics
    ///
    /// Panics if the shapes do not agree or a slice is too short.
    pub fn product(&self, left: View, onto: Onto, result: &mut [f32], stride: usize) {
        let right = Right::Packed { shape: self.shape, panels: &self.packed };
        matmul::multiply(Tiles::quickest(), left, &right, 1.0, onto, result, stride);
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
                let stride = columns + 2;
                let (mut expected, mut found) =
                    (values(rows * stride, 11), values(rows * stride, 11));
                matmul::product(left, right, 1.0, onto, &mut expected, stride);
                Panels::new(right).product(left, onto, &mut found, stride);
                assert_eq!(found, expected);
            }
        }
    }
}
