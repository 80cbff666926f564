//! A right factor that is multiplied many times, copied into the product's own layout once: in a
//! recurrent network the same matrix meets a small one in every step, where the copy would cost as
//! much as some of the product.

use super::matmul::{self, DEPTH, Left, Onto, Place, View, gather_panel, gather_rows};

/// A right factor as [`matmul::product`] reads it. Products are the same to the last bit.
#[derive(Debug)]
pub struct Panels {
    shape: [usize; 2],
    packed: Vec<f32>,
}

impl Panels {
    pub fn new(right: View) -> Self {
        let [depth, columns] = right.shape;
        let (mut packed, mut panel) = (Vec::new(), Vec::new());
        for from in (0..depth).step_by(DEPTH) {
            let deep = DEPTH.min(depth - from);
            let mut column = 0;
            while column < columns {
                let wide = columns - column >= 16;
                let width = if wide { 16 } else { 8.min(columns - column) };
                if wide {
                    gather_panel::<16>(right, from, deep, column, width, &mut panel);
                } else {
                    gather_panel::<8>(right, from, deep, column, width, &mut panel);
                }
                packed.extend_from_slice(&panel);
                column += width;
            }
        }
        Self { shape: right.shape, packed }
    }

    /// Computes `onto + left · right` into `result`, whose rows are `apart` numbers apart.
    ///
    /// # Panics
    ///
    /// Panics if the shapes do not agree or a slice is too short.
    pub fn product(&self, left: View, onto: Onto, result: &mut [f32], apart: usize) {
        assert_eq!(left.shape[1], self.shape[0], "the inner dimensions agree");
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { self.product_avx2(left, onto, result, apart) };
        }
        self.multiply(left, onto, result, apart, |a, b, sum| sum + a * b);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn product_avx2(&self, left: View, onto: Onto, result: &mut [f32], apart: usize) {
        self.multiply(left, onto, result, apart, f32::mul_add);
    }

    #[inline(always)]
    fn multiply(
        &self,
        left: View,
        onto: Onto,
        result: &mut [f32],
        apart: usize,
        add: impl Fn(f32, f32, f32) -> f32 + Copy,
    ) {
        let ([rows, depth], [_, columns]) = (left.shape, self.shape);
        if depth == 0 {
            return matmul::start(onto, result, apart, rows, columns);
        }
        let mut packed = Vec::new();
        // A 1 the compiler can't see: where it knows that the sums are stored as they are, it makes
        // worse code of the tiles (in wasm they take a third longer).
        let scale = core::hint::black_box(1.0);
        for from in (0..depth).step_by(DEPTH) {
            let deep = DEPTH.min(depth - from);
            let onto = if from == 0 { onto } else { Onto::Result };
            gather_rows(left, from, deep, &mut packed);
            let left = Left { rows, deep, packed: &packed };
            let mut column = 0;
            while column < columns {
                // Written out as in `matmul`: with the width from a function, the compiler left the
                // tiles scalar.
                let wide = columns - column >= 16;
                let width = if wide { 16 } else { 8.min(columns - column) };
                let panel = &self.packed[from * columns.next_multiple_of(8) + deep * column..];
                let place = Place { onto, scale, apart, column, width };
                if wide {
                    left.times::<2, 16>(panel, place, result, add);
                } else {
                    left.times::<4, 8>(panel, place, result, add);
                }
                column += width;
            }
        }
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
        for [rows, depth, columns] in [[1, 3, 7], [16, 64, 192], [5, 513, 23], [3, 0, 4]] {
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
