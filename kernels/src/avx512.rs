//! The tiles of a product with AVX-512: registers of sixteen numbers, a row of a wide panel each.
//!
//! As in [`super::avx`], eight registers hold sums, here for eight rows. Narrow panels are left to
//! AVX2.

use core::arch::x86_64::{
    __m512, _mm512_add_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mul_ps, _mm512_set1_ps,
    _mm512_setzero_ps, _mm512_storeu_ps,
};

use super::{
    avx::Avx,
    matmul::Onto,
    tiles::{GATHERED, Left, Place, WIDE},
};

/// Proof that the processor has AVX-512F, AVX2 and FMA; only [`Avx512::new`] makes one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(Avx);

impl Avx512 {
    pub(super) fn new() -> Option<Self> {
        if std::arch::is_x86_feature_detected!("avx512f") { Avx::new().map(Self) } else { None }
    }

    /// Multiplies all rows by a panel; see [`super::tiles::Tiles::times`].
    pub(super) fn times(self, left: &Left, panel: &[f32], place: Place, result: &mut [f32]) {
        if place.width == WIDE {
            // SAFETY: the function asks for AVX-512's foundation alone, and `self` exists only where
            // `Avx512::new` found it.
            unsafe { times(left, panel, place, result) }
        } else {
            self.0.times(left, panel, place, result);
        }
    }
}

#[target_feature(enable = "avx512f")]
fn times(left: &Left, panel: &[f32], place: Place, result: &mut [f32]) {
    let panel = &panel.as_chunks::<WIDE>().0[..left.deep];
    let size = GATHERED * left.deep;
    for (pair, values) in left.packed.chunks(2 * size).enumerate() {
        let row = 2 * pair * GATHERED;
        if values.len() == size {
            let sums = tile([values], panel);
            put(sums.as_flattened(), row, left.rows, place, result);
        } else {
            let (first, second) = values.split_at(size);
            let sums = tile([first, second], panel);
            put(sums.as_flattened(), row, left.rows, place, result);
        }
    }
}

/// Products of groups of rows with a panel: for each row of each group in order, its sums.
#[target_feature(enable = "avx512f")]
#[inline]
fn tile<const GROUPS: usize>(
    groups: [&[f32]; GROUPS],
    panel: &[[f32; WIDE]],
) -> [[__m512; GATHERED]; GROUPS] {
    let groups = groups.map(|values| &values.as_chunks::<GATHERED>().0[..panel.len()]);
    let mut sums = [[_mm512_setzero_ps(); GATHERED]; GROUPS];
    for (at, numbers) in panel.iter().enumerate() {
        let right = load(numbers);
        for (sums, group) in sums.iter_mut().zip(groups) {
            for (sum, &value) in sums.iter_mut().zip(&group[at]) {
                *sum = _mm512_fmadd_ps(_mm512_set1_ps(value), right, *sum);
            }
        }
    }
    sums
}

/// Writes the sums of as many rows as there are, starting at `row`.
#[target_feature(enable = "avx512f")]
#[inline]
fn put(sums: &[__m512], row: usize, rows: usize, place: Place, result: &mut [f32]) {
    let Place { onto, scale, stride, column, .. } = place;
    for (row, &sum) in (row..rows).zip(sums) {
        let result = &mut result[row * stride + column..].as_chunks_mut().0[0];
        let sum = _mm512_mul_ps(sum, _mm512_set1_ps(scale));
        let sum = match onto {
            Onto::Zero => sum,
            Onto::Row(values) => _mm512_add_ps(load(&values[column..].as_chunks().0[0]), sum),
            Onto::Result => _mm512_add_ps(load(result), sum),
        };
        // SAFETY: the pointer is to sixteen numbers that may be written; they need not be aligned.
        unsafe { _mm512_storeu_ps(result.as_mut_ptr(), sum) }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(numbers: &[f32; WIDE]) -> __m512 {
    // SAFETY: the pointer is to sixteen numbers that may be read; they need not be aligned.
    unsafe { _mm512_loadu_ps(numbers.as_ptr()) }
}
