//! The tiles of a product with AVX-512: registers of sixteen numbers, a row of a wide panel each.
//!
//! Of its 32 registers, up to 24 hold sums: twelve rows by two panels. Each number of a panel that is loaded
//! then serves twelve multiply-adds and each of the left factor two, so that loads don't set the pace.
//! Narrow panels are left to AVX2.

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

    /// Multiplies all rows by a panel, or by [`PAIR`]; see [`super::tiles::Tiles::times`].
    pub(super) fn times(self, left: &Left, panel: &[f32], place: Place, result: &mut [f32]) {
        // SAFETY: the functions ask for AVX-512's foundation alone, and `self` exists only where
        // `Avx512::new` found it.
        match place.width {
            PAIR => unsafe { times::<2>(left, panel, place, result) },
            WIDE => unsafe { times::<1>(left, panel, place, result) },
            _ => self.0.times(left, panel, place, result),
        }
    }
}

/// Columns of two wide panels, which are multiplied together.
pub(super) const PAIR: usize = 2 * WIDE;

/// Groups of rows in a tile.
const GROUPS: usize = 3;

#[target_feature(enable = "avx512f")]
fn times<const PANELS: usize>(left: &Left, panels: &[f32], place: Place, result: &mut [f32]) {
    let rows = panels.as_chunks::<WIDE>().0;
    let panels: [_; PANELS] = core::array::from_fn(|at| &rows[at * left.deep..][..left.deep]);
    let size = GATHERED * left.deep;
    for (at, values) in left.packed.chunks(GROUPS * size).enumerate() {
        let row = at * GROUPS * GATHERED;
        let group = |at: usize| &values[at * size..][..size];
        match values.len() / size {
            1 => put(&tile([group(0)], panels), row, left.rows, place, result),
            2 => put(&tile([group(0), group(1)], panels), row, left.rows, place, result),
            _ => put(&tile([group(0), group(1), group(2)], panels), row, left.rows, place, result),
        }
    }
}

/// The sums of a group's rows, each in as many registers as there are panels.
type Sums<const PANELS: usize> = [[__m512; PANELS]; GATHERED];

/// Products of groups of rows with panels.
#[target_feature(enable = "avx512f")]
#[inline]
fn tile<const GROUPS: usize, const PANELS: usize>(
    groups: [&[f32]; GROUPS],
    panels: [&[[f32; WIDE]]; PANELS],
) -> [Sums<PANELS>; GROUPS] {
    let deep = panels[0].len();
    let panels = panels.map(|panel| &panel[..deep]);
    let groups = groups.map(|values| &values.as_chunks::<GATHERED>().0[..deep]);
    let mut sums = [[[_mm512_setzero_ps(); PANELS]; GATHERED]; GROUPS];
    for at in 0..deep {
        let mut right = [_mm512_setzero_ps(); PANELS];
        for (right, panel) in right.iter_mut().zip(panels) {
            *right = load(&panel[at]);
        }
        for (sums, group) in sums.iter_mut().zip(groups) {
            let values = &group[at];
            for (i, sums) in sums.iter_mut().enumerate() {
                let value = _mm512_set1_ps(values[i]);
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = _mm512_fmadd_ps(value, right, *sum);
                }
            }
        }
    }
    sums
}

/// Writes the sums of as many rows as there are, starting at `row`.
#[target_feature(enable = "avx512f")]
#[inline]
fn put<const PANELS: usize>(
    groups: &[Sums<PANELS>],
    row: usize,
    rows: usize,
    place: Place,
    result: &mut [f32],
) {
    let Place { onto, scale, stride, column, .. } = place;
    for (row, sums) in (row..rows).zip(groups.as_flattened()) {
        let result = &mut result[row * stride + column..].as_chunks_mut().0[..PANELS];
        for (at, (&sum, result)) in sums.iter().zip(result).enumerate() {
            let sum = _mm512_mul_ps(sum, _mm512_set1_ps(scale));
            let sum = match onto {
                Onto::Zero => sum,
                Onto::Row(values) => _mm512_add_ps(load(&values[column..].as_chunks().0[at]), sum),
                Onto::Result => _mm512_add_ps(load(result), sum),
            };
            // SAFETY: the pointer is to sixteen numbers that may be written; they need not be aligned.
            unsafe { _mm512_storeu_ps(result.as_mut_ptr(), sum) }
        }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(numbers: &[f32; WIDE]) -> __m512 {
    // SAFETY: the pointer is to sixteen numbers that may be read; they need not be aligned.
    unsafe { _mm512_loadu_ps(numbers.as_ptr()) }
}
