//! The tiles of a product with AVX2 and FMA, which an x86-64 processor may have: registers of eight
//! numbers, sixteen of them.
//!
//! Left to itself, the compiler makes scalar code of tiles this large. A tile holds eight sums a
//! register, in eight registers: that many multiply-adds have to be under way for processors that
//! begin two in a cycle and take four cycles for each.

use core::arch::x86_64::{
    __m256, _mm256_add_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_storeu_ps,
};

use super::{
    matmul::Onto,
    tiles::{GATHERED, Left, Place, WIDE},
};

/// Numbers in a register.
const LANES: usize = 8;

/// Rows of the left factor packed at a time. The packed copy stays in the second-level cache while
/// it is multiplied by every panel.
pub(super) const HEIGHT: usize = 256;

/// Proof that the processor has AVX2 and FMA; only [`Avx::new`] makes one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx(());

impl Avx {
    #[inline(always)]
    pub(super) fn new() -> Option<Self> {
        let there = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma");
        there.then_some(Self(()))
    }

    /// Runs `work`, which the compiler inlines and so compiles for AVX2. The compiler never
    /// contracts a product and a sum into an FMA by itself, so results stay the same.
    #[inline(always)]
    pub(super) fn run<R>(self, work: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        fn run<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        // SAFETY: the function asks for AVX2 and FMA alone, and `self` exists only where
        // `Avx::new` found both.
        unsafe { run(work) }
    }

    /// Multiplies all rows by a panel; see [`super::tiles::Tiles::times`].
    pub(super) fn times(self, left: &Left, panel: &[f32], place: Place, result: &mut [f32]) {
        // SAFETY: the function asks for AVX2 and FMA alone, and `self` exists only where
        // `Avx::new` found both.
        unsafe { times(left, panel, place, result) }
    }
}

#[target_feature(enable = "avx2,fma")]
fn times(left: &Left, panel: &[f32], place: Place, result: &mut [f32]) {
    let panel = panel.as_chunks::<LANES>().0;
    let size = GATHERED * left.deep;
    if place.width == WIDE {
        for (group, values) in left.packed.chunks_exact(size).enumerate() {
            let sums = tile::<1, 2>([values], &panel[..2 * left.deep]);
            put(sums.as_flattened(), group * GATHERED, left.rows, place, result);
        }
    } else {
        // Two groups at a time, for as many sums.
        let panel = &panel[..left.deep];
        for (pair, values) in left.packed.chunks(2 * size).enumerate() {
            let row = 2 * pair * GATHERED;
            if values.len() == size {
                let sums = tile::<1, 1>([values], panel);
                put(sums.as_flattened(), row, left.rows, place, result);
            } else {
                let (first, second) = values.split_at(size);
                let sums = tile::<2, 1>([first, second], panel);
                put(sums.as_flattened(), row, left.rows, place, result);
            }
        }
    }
}

/// Products of groups of rows with a panel that is this many registers wide: for each row of each
/// group in order, its sums.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn tile<const GROUPS: usize, const WIDTH: usize>(
    groups: [&[f32]; GROUPS],
    panel: &[[f32; LANES]],
) -> [[[__m256; WIDTH]; GATHERED]; GROUPS] {
    let panel = panel.as_chunks::<WIDTH>().0;
    let groups = groups.map(|values| &values.as_chunks::<GATHERED>().0[..panel.len()]);
    let mut sums = [[[_mm256_setzero_ps(); WIDTH]; GATHERED]; GROUPS];
    for (at, numbers) in panel.iter().enumerate() {
        let mut right = [_mm256_setzero_ps(); WIDTH];
        for (right, numbers) in right.iter_mut().zip(numbers) {
            *right = load(numbers);
        }
        for (sums, group) in sums.iter_mut().zip(groups) {
            for (sums, &value) in sums.iter_mut().zip(&group[at]) {
                let value = _mm256_set1_ps(value);
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = _mm256_fmadd_ps(value, right, *sum);
                }
            }
        }
    }
    sums
}

/// Writes the sums of as many rows as there are, starting at `row`.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn put<const WIDTH: usize>(
    sums: &[[__m256; WIDTH]],
    row: usize,
    rows: usize,
    place: Place,
    result: &mut [f32],
) {
    let Place { onto, stride, column, width, .. } = place;
    let scale = _mm256_set1_ps(place.scale);
    for (row, sums) in (row..rows).zip(sums) {
        let result = &mut result[row * stride + column..][..width];
        let (whole, rest) = result.as_chunks_mut::<LANES>();
        let onto = match onto {
            Onto::Zero | Onto::Result => onto,
            Onto::Row(values) => Onto::Row(&values[column..][..width]),
        };
        for (at, &sum) in sums.iter().enumerate() {
            let sum = _mm256_mul_ps(sum, scale);
            match whole.get_mut(at) {
                Some(result) => {
                    let sum = match onto {
                        Onto::Zero => sum,
                        Onto::Row(values) => _mm256_add_ps(load(&values.as_chunks().0[at]), sum),
                        Onto::Result => _mm256_add_ps(load(result), sum),
                    };
                    store(sum, result);
                }
                None => {
                    let mut sums = [0.0; LANES];
                    store(sum, &mut sums);
                    for (at, (result, sum)) in rest.iter_mut().zip(sums).enumerate() {
                        *result = match onto {
                            Onto::Zero => sum,
                            Onto::Row(values) => values[at] + sum,
                            Onto::Result => *result + sum,
                        };
                    }
                }
            }
        }
    }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn load(numbers: &[f32; LANES]) -> __m256 {
    // SAFETY: the pointer is to eight numbers that may be read; they need not be aligned.
    unsafe { _mm256_loadu_ps(numbers.as_ptr()) }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn store(register: __m256, numbers: &mut [f32; LANES]) {
    // SAFETY: the pointer is to eight numbers that may be written; they need not be aligned.
    unsafe { _mm256_storeu_ps(numbers.as_mut_ptr(), register) }
}
