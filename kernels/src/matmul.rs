//! Products of matrices in slices, for one core.
//!
//! The inner loop keeps a tile of the result in eight vector registers and adds one outer product
//! to it at a time (the scheme of Goto and van de Geijn 2008, with a tile chosen by measurement: in
//! Chromium's wasm, larger tiles spill and run at half the speed). Written in plain Rust: the
//! compiler turns the tile into vectors, with simd128 in wasm and with AVX2 where a native
//! processor has it.

/// A matrix in a slice: the entry in row `i` and column `j` stands at
/// `i * strides[0] + j * strides[1]`.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub values: &'a [f32],
    pub shape: [usize; 2],
    pub strides: [usize; 2],
}

impl<'a> View<'a> {
    /// A matrix of `shape` whose rows follow each other.
    pub fn rows(values: &'a [f32], shape: [usize; 2]) -> Self {
        Self { values, shape, strides: [shape[1], 1] }
    }

    /// The same numbers with rows and columns exchanged.
    pub fn transposed(self) -> Self {
        let (shape, strides) = ([self.shape[1], self.shape[0]], [self.strides[1], self.strides[0]]);
        Self { shape, strides, ..self }
    }

    /// The rows from `start` on, `count` of them.
    pub fn some_rows(self, start: usize, count: usize) -> Self {
        let values = self.values.get(start * self.strides[0]..).unwrap_or_default();
        Self { values, shape: [count, self.shape[1]], ..self }
    }

    /// The first `count` columns.
    pub fn first_columns(self, count: usize) -> Self {
        Self { shape: [self.shape[0], count], ..self }
    }
}

/// What a product is added to.
#[derive(Clone, Copy, Debug)]
pub enum Onto<'a> {
    /// Nothing.
    Zero,
    /// The same row in every row.
    Row(&'a [f32]),
    /// What the result holds already.
    Result,
}

/// Longest sum a tile takes at once: a panel of the right factor then stays in the first cache.
pub(super) const DEPTH: usize = 512;

/// Computes `onto + scale * left · right` into `result`, whose rows are `apart` numbers apart.
/// The order of every sum depends on the shapes alone.
///
/// # Panics
///
/// Panics if the shapes do not agree or a slice is too short.
pub fn product(left: View, right: View, scale: f32, onto: Onto, result: &mut [f32], apart: usize) {
    assert_eq!(left.shape[1], right.shape[0], "the inner dimensions agree");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { product_avx2(left, right, scale, onto, result, apart) };
    }
    multiply(left, right, scale, onto, result, apart, |a, b, sum| sum + a * b);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn product_avx2(
    left: View,
    right: View,
    scale: f32,
    onto: Onto,
    result: &mut [f32],
    apart: usize,
) {
    multiply(left, right, scale, onto, result, apart, f32::mul_add);
}

/// [`product`] with `add(a, b, sum)` for `a * b + sum`.
#[inline(always)]
fn multiply(
    left: View,
    right: View,
    scale: f32,
    onto: Onto,
    result: &mut [f32],
    apart: usize,
    add: impl Fn(f32, f32, f32) -> f32 + Copy,
) {
    let ([rows, depth], [_, columns]) = (left.shape, right.shape);
    if depth == 0 {
        return start(onto, result, apart, rows, columns);
    }
    let (mut panel, mut packed) = (Vec::new(), Vec::new());
    for from in (0..depth).step_by(DEPTH) {
        let deep = DEPTH.min(depth - from);
        let onto = if from == 0 { onto } else { Onto::Result };
        gather_rows(left, from, deep, &mut packed);
        let left = Left { rows, deep, packed: &packed };
        let mut column = 0;
        while column < columns {
            // The wider tile is a little quicker; the narrower wastes less at the edge.
            let wide = columns - column >= 16;
            let width = if wide { 16 } else { 8.min(columns - column) };
            let place = Place { onto, scale, apart, column, width };
            if wide {
                gather_panel::<16>(right, from, deep, column, width, &mut panel);
                left.times::<2, 16>(&panel, place, result, add);
            } else {
                gather_panel::<8>(right, from, deep, column, width, &mut panel);
                left.times::<4, 8>(&panel, place, result, add);
            }
            column += width;
        }
    }
}

/// `onto` alone.
pub(super) fn start(onto: Onto, result: &mut [f32], apart: usize, rows: usize, columns: usize) {
    for row in 0..rows {
        let result = &mut result[row * apart..][..columns];
        match onto {
            Onto::Zero => result.fill(0.0),
            Onto::Row(values) => result.copy_from_slice(&values[..columns]),
            Onto::Result => {}
        }
    }
}

/// Rows gathered together in [`gather_rows`].
const GATHERED: usize = 4;

/// Copies a left factor: four rows side by side, one column after the other; beyond the last row
/// stand zeros. Then a tile reads one run of numbers, which is worth the copy.
#[inline(always)]
pub(super) fn gather_rows(left: View, from: usize, deep: usize, packed: &mut Vec<f32>) {
    let [rows, _] = left.shape;
    let [down, across] = left.strides;
    packed.clear();
    packed.resize(rows.div_ceil(GATHERED) * GATHERED * deep, 0.0);
    for (group, packed) in packed.chunks_exact_mut(GATHERED * deep).enumerate() {
        let row = group * GATHERED;
        let count = GATHERED.min(rows - row);
        let first = row * down + from * across;
        let tiles = packed.as_chunks_mut::<GATHERED>().0;
        if across == 1 && count == GATHERED {
            let runs: [&[f32]; GATHERED] =
                core::array::from_fn(|i| &left.values[first + i * down..][..deep]);
            let [a, b, c, d] = runs;
            for ((((tile, a), b), c), d) in tiles.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *tile = [*a, *b, *c, *d];
            }
        } else if down == 1 && count == GATHERED {
            for (at, tile) in tiles.iter_mut().enumerate() {
                tile.copy_from_slice(&left.values[first + at * across..][..GATHERED]);
            }
        } else {
            for (at, tile) in tiles.iter_mut().enumerate() {
                for (i, value) in tile.iter_mut().take(count).enumerate() {
                    *value = left.values[first + at * across + i * down];
                }
            }
        }
    }
}

/// Copies `width` columns of the right factor, row by row, `WIDE` numbers each; what is beyond the
/// matrix stays 0.
#[inline(always)]
pub(super) fn gather_panel<const WIDE: usize>(
    right: View,
    from: usize,
    deep: usize,
    column: usize,
    width: usize,
    panel: &mut Vec<f32>,
) {
    let [down, across] = right.strides;
    panel.clear();
    panel.resize(deep * WIDE, 0.0);
    let rows = panel.as_chunks_mut::<WIDE>().0;
    let first = from * down + column * across;
    if across == 1 && width == WIDE {
        for (at, row) in rows.iter_mut().enumerate() {
            row.copy_from_slice(&right.values[first + at * down..][..WIDE]);
        }
    } else if down == 1 {
        // Columns are runs of numbers: read each in one go.
        for j in 0..width {
            let values = &right.values[first + j * across..][..deep];
            for (row, &value) in rows.iter_mut().zip(values) {
                row[j] = value;
            }
        }
    } else {
        for (at, row) in rows.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().take(width).enumerate() {
                *value = right.values[first + at * down + j * across];
            }
        }
    }
}

/// Where a panel's result goes.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) onto: Onto<'a>,
    pub(super) scale: f32,
    pub(super) apart: usize,
    pub(super) column: usize,
    pub(super) width: usize,
}

/// Some columns of a left factor.
pub(super) struct Left<'a> {
    pub(super) rows: usize,
    pub(super) deep: usize,
    /// From [`gather_rows`].
    pub(super) packed: &'a [f32],
}

impl Left<'_> {
    /// Multiplies all rows, `HIGH` at a time, by a panel.
    #[inline(always)]
    pub(super) fn times<const HIGH: usize, const WIDE: usize>(
        &self,
        panel: &[f32],
        place: Place,
        result: &mut [f32],
        add: impl Fn(f32, f32, f32) -> f32 + Copy,
    ) {
        let mut row = 0;
        while row + HIGH <= self.rows {
            self.tile::<HIGH, WIDE>(row, panel, place, result, add);
            row += HIGH;
        }
        while row < self.rows {
            self.tile::<1, WIDE>(row, panel, place, result, add);
            row += 1;
        }
    }

    #[inline(always)]
    fn tile<const HIGH: usize, const WIDE: usize>(
        &self,
        row: usize,
        panel: &[f32],
        place: Place,
        result: &mut [f32],
        add: impl Fn(f32, f32, f32) -> f32 + Copy,
    ) {
        let panel = &panel.as_chunks::<WIDE>().0[..self.deep];
        let mut sums = [[0f32; WIDE]; HIGH];
        let group = &self.packed[row / GATHERED * GATHERED * self.deep..][..GATHERED * self.deep];
        let offset = row % GATHERED;
        for (left, right) in group.as_chunks::<GATHERED>().0.iter().zip(panel) {
            for i in 0..HIGH {
                let value = left[(offset + i) % GATHERED];
                for j in 0..WIDE {
                    sums[i][j] = add(value, right[j], sums[i][j]);
                }
            }
        }
        let Place { onto, scale, apart, column, width } = place;
        for (i, sums) in sums.iter().enumerate() {
            let result = &mut result[(row + i) * apart + column..][..width];
            match onto {
                Onto::Zero => write(result, sums, |_, sum| sum * scale),
                Onto::Result => write(result, sums, |held, sum| held + sum * scale),
                Onto::Row(values) => {
                    let values = &values[column..column + width];
                    for ((result, sum), value) in result.iter_mut().zip(sums).zip(values) {
                        *result = value + sum * scale;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn write(result: &mut [f32], sums: &[f32], with: impl Fn(f32, f32) -> f32) {
    for (result, sum) in result.iter_mut().zip(sums) {
        *result = with(*result, *sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole numbers from -4 to 4: every sum is exact, whatever its order.
    fn whole(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7 + seed * 3 + i / 5) % 9) as f32 - 4.0).collect()
    }

    fn entry(view: View, i: usize, j: usize) -> f32 {
        view.values[i * view.strides[0] + j * view.strides[1]]
    }

    #[test]
    fn agrees_with_the_definition_in_every_layout_and_at_every_edge() {
        for rows in [1, 2, 3, 4, 5, 9, 16] {
            for depth in [1, 3, 8, 513, 1030] {
                for columns in [1, 7, 8, 15, 16, 17, 24, 33] {
                    let (a, b) = (whole(rows * depth, 1), whole(depth * columns, 2));
                    let lefts =
                        [View::rows(&a, [rows, depth]), View::rows(&a, [depth, rows]).transposed()];
                    let rights = [
                        View::rows(&b, [depth, columns]),
                        View::rows(&b, [columns, depth]).transposed(),
                    ];
                    let bias = whole(columns, 3);
                    for left in lefts {
                        for right in rights {
                            for onto in [Onto::Zero, Onto::Row(&bias), Onto::Result] {
                                check(left, right, onto);
                            }
                        }
                    }
                }
            }
        }
    }

    fn check(left: View, right: View, onto: Onto) {
        let ([rows, depth], [_, columns]) = (left.shape, right.shape);
        let apart = columns + 3;
        let before = whole(rows * apart, 4);
        let mut result = before.clone();
        product(left, right, 0.5, onto, &mut result, apart);
        for i in 0..rows {
            for j in 0..apart {
                let at = i * apart + j;
                if j >= columns {
                    assert_eq!(result[at], before[at], "beyond the row");
                    continue;
                }
                let sum: f32 = (0..depth).map(|p| entry(left, i, p) * entry(right, p, j)).sum();
                let start = match onto {
                    Onto::Zero => 0.0,
                    Onto::Row(row) => row[j],
                    Onto::Result => before[at],
                };
                assert_eq!(result[at], start + 0.5 * sum, "{left:?} {right:?} {onto:?}");
            }
        }
    }

    #[test]
    fn parts_of_matrices_and_empty_sums() {
        let values = whole(12, 5);
        let view = View::rows(&values, [3, 4]);
        let mut result = [9.0; 4];
        let left = view.some_rows(1, 2).first_columns(0);
        let right = View::rows(&[], [0, 2]);
        product(left, right, 1.0, Onto::Row(&[1.0, 2.0]), &mut result, 2);
        assert_eq!(result, [1.0, 2.0, 1.0, 2.0]);
        assert_eq!(entry(view.some_rows(1, 2), 1, 3), values[11]);
    }
}
