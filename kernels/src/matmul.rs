//! Matrix products over slices, for one core.
//!
//! The scheme is that of Goto and van de Geijn 2008: pieces of both factors are packed into the
//! order in which [`super::tiles`] reads them, small enough to stay in a cache until they are read.

use std::cell::Cell;

use super::tiles::{GATHERED, Left, NARROW, Place, Tiles, WIDE};

/// A strided matrix in a slice: the entry in row `i` and column `j` is at
/// `i * strides[0] + j * strides[1]`.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub values: &'a [f32],
    pub shape: [usize; 2],
    pub strides: [usize; 2],
}

impl<'a> View<'a> {
    /// A contiguous row-major matrix.
    pub fn rows(values: &'a [f32], shape: [usize; 2]) -> Self {
        Self { values, shape, strides: [shape[1], 1] }
    }

    /// The transposed matrix over the same numbers.
    pub fn transposed(self) -> Self {
        let (shape, strides) = ([self.shape[1], self.shape[0]], [self.strides[1], self.strides[0]]);
        Self { shape, strides, ..self }
    }

    /// `count` rows, starting at row `start`.
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
    /// The same row for every row of the result.
    Row(&'a [f32]),
    /// What the result already holds.
    Result,
}

/// Longest sum a tile computes at once. A panel of the right factor of this depth stays in the
/// first-level cache.
const DEPTH: usize = 512;

/// Computes `onto + scale * left · right` into `result`, whose row stride is `stride`. The order of
/// every sum depends on the shapes alone.
///
/// # Panics
///
/// Panics if the shapes do not agree or a slice is too short.
pub fn product(left: View, right: View, scale: f32, onto: Onto, result: &mut [f32], stride: usize) {
    let is_large = right.shape[0] * right.shape[1] >= LARGE;
    if left.shape[0] == 1 && is_large && right.strides.contains(&1) {
        return single(left, right, scale, onto, result);
    }
    multiply(Tiles::quickest(), left, &Right::Gathered(right), scale, onto, result, stride);
}

/// From so many numbers on, a right factor is not packed for a single row: each of its numbers is read
/// only once, so packing them would be most of the work.
const LARGE: usize = 1 << 18;

/// Numbers that are added beside each other.
const LANES: usize = 16;

/// [`product`] where the left factor is a single row, and the rows or the columns of the right one are
/// contiguous. Not inlined: where it is called it is rare.
#[inline(never)]
fn single(left: View, right: View, scale: f32, onto: Onto, result: &mut [f32]) {
    let ([_, depth], [right_depth, columns]) = (left.shape, right.shape);
    assert_eq!(depth, right_depth, "the inner dimensions agree");
    let result = &mut result[..columns];
    start(onto, result, columns, 1, columns);
    let factor = |at: usize| scale * left.values[at * left.strides[1]];
    let factors: Vec<f32> = (0..depth).map(factor).collect();
    let [down, across] = right.strides;
    if across == 1 {
        for (at, factor) in factors.iter().enumerate() {
            let row = &right.values[at * down..][..columns];
            result.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
        }
        return;
    }
    let (lanes, rest) = factors.as_chunks::<LANES>();
    for (at, sum) in result.iter_mut().enumerate() {
        let (values, left_over) = right.values[at * across..][..depth].as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for (factors, values) in lanes.iter().zip(values) {
            for ((sum, factor), value) in sums.iter_mut().zip(factors).zip(values) {
                *sum += factor * value;
            }
        }
        let rest = rest.iter().zip(left_over).map(|(factor, value)| factor * value);
        *sum += sums.into_iter().chain(rest).sum::<f32>();
    }
}

/// A right factor, which the product reads in panels of columns.
#[derive(Debug)]
pub(super) enum Right<'a> {
    /// Panels are packed when they are needed.
    Gathered(View<'a>),
    /// All panels one after another, from [`pack`].
    Packed { shape: [usize; 2], panels: &'a [f32] },
}

impl Right<'_> {
    fn shape(&self) -> [usize; 2] {
        match self {
            Self::Gathered(view) => view.shape,
            Self::Packed { shape, .. } => *shape,
        }
    }

    /// The panels of `width` columns starting at `column`, of the `deep` rows starting at `from`; packed
    /// into `scratch` if they are not packed yet.
    fn panels<'a>(
        &'a self,
        [from, deep]: [usize; 2],
        [column, width]: [usize; 2],
        scratch: &'a mut Vec<f32>,
    ) -> &'a [f32] {
        match self {
            Self::Gathered(view) => {
                gather_panels(*view, [from, deep], [column, width], scratch);
                scratch
            }
            Self::Packed { shape: [_, columns], panels } => {
                &panels[from * columns.next_multiple_of(NARROW) + deep * column..]
            }
        }
    }
}

/// Packs all panels of a right factor in the order in which the product reads them.
pub(super) fn pack(right: View) -> Vec<f32> {
    let [depth, columns] = right.shape;
    let (mut packed, mut panels) = (Vec::new(), Vec::new());
    for from in (0..depth).step_by(DEPTH) {
        gather_panels(right, [from, DEPTH.min(depth - from)], [0, columns], &mut panels);
        packed.extend_from_slice(&panels);
    }
    packed
}

/// Columns whose panels are packed together where several blocks of rows are multiplied by them: two
/// megabytes at most, which stay in a cache until the last block.
const STRETCH: usize = 1024;

/// [`product`] with these tiles and a right factor that may be packed.
pub(super) fn multiply(
    tiles: Tiles,
    left: View,
    right: &Right,
    scale: f32,
    onto: Onto,
    result: &mut [f32],
    stride: usize,
) {
    let ([rows, depth], [right_depth, columns]) = (left.shape, right.shape());
    assert_eq!(depth, right_depth, "the inner dimensions agree");
    if depth == 0 {
        return start(onto, result, stride, rows, columns);
    }
    let height = tiles.height();
    // Panels for a single block of rows are packed when they are needed, and then are in the first cache.
    let ahead = rows > height && matches!(right, Right::Gathered(_));
    let stretch = if ahead { STRETCH } else { columns.max(1) };
    let [mut packed, mut scratch] = SCRATCH.take();
    for from in (0..depth).step_by(DEPTH) {
        let deep = DEPTH.min(depth - from);
        let onto = if from == 0 { onto } else { Onto::Result };
        for first in (0..columns).step_by(stretch) {
            let end = columns.min(first + stretch);
            if ahead {
                right.panels([from, deep], [first, end - first], &mut scratch);
            }
            for row in (0..rows).step_by(height) {
                let rows = height.min(rows - row);
                gather_rows(left.some_rows(row, rows), from, deep, &mut packed);
                let left = Left { rows, deep, packed: &packed };
                let result = &mut result[row * stride..];
                let mut column = first;
                while column < end {
                    let width = tiles.next_width(end - column);
                    let panels = if ahead {
                        &scratch[deep * (column - first)..]
                    } else {
                        right.panels([from, deep], [column, width], &mut scratch)
                    };
                    tiles.times(
                        &left,
                        panels,
                        Place { onto, scale, stride, column, width },
                        result,
                    );
                    column += width;
                }
            }
        }
    }
    if packed.capacity().max(scratch.capacity()) <= KEPT {
        SCRATCH.set([packed, scratch]);
    }
}

/// Largest scratch buffer kept between products, in numbers: 4 MiB. For larger products an
/// allocation costs little in comparison.
const KEPT: usize = 1 << 20;

thread_local! {
    /// Scratch for packed rows and a packed panel. A small model's step takes hundreds of small
    /// products; two allocations each were two fifths of all its allocations.
    static SCRATCH: Cell<[Vec<f32>; 2]> = const { Cell::new([Vec::new(), Vec::new()]) };
}

/// Writes `onto` alone.
fn start(onto: Onto, result: &mut [f32], stride: usize, rows: usize, columns: usize) {
    for row in 0..rows {
        let result = &mut result[row * stride..][..columns];
        match onto {
            Onto::Zero => result.fill(0.0),
            Onto::Row(values) => result.copy_from_slice(&values[..columns]),
            Onto::Result => {}
        }
    }
}

/// Rows or columns of a factor that are packed before the next: their part of a row, or of a column, is then
/// read while it is in the first-level cache.
const RUN: usize = 32;

/// Packs a left factor: four rows interleaved, column by column, padded with zeros beyond the last
/// row. Tiles then read contiguous numbers, which is worth the copy.
fn gather_rows(left: View, from: usize, deep: usize, packed: &mut Vec<f32>) {
    let [rows, _] = left.shape;
    packed.resize(rows.next_multiple_of(GATHERED) * deep, 0.0);
    for start in (0..deep).step_by(RUN) {
        let run = RUN.min(deep - start);
        for (group, packed) in packed.chunks_exact_mut(GATHERED * deep).enumerate() {
            let row = group * GATHERED;
            let tiles = &mut packed.as_chunks_mut().0[start..][..run];
            gather_group(left, [row, GATHERED.min(rows - row)], from + start, tiles);
        }
    }
}

/// `count` rows starting at `row`, interleaved, from column `from` on.
#[inline(always)]
fn gather_group(left: View, [row, count]: [usize; 2], from: usize, tiles: &mut [[f32; GATHERED]]) {
    let [down, across] = left.strides;
    let first = row * down + from * across;
    if across == 1 && count == GATHERED {
        let runs: [&[f32]; GATHERED] =
            core::array::from_fn(|i| &left.values[first + i * down..][..tiles.len()]);
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
            *tile = [0.0; GATHERED];
            for (i, value) in tile.iter_mut().take(count).enumerate() {
                *value = left.values[first + at * across + i * down];
            }
        }
    }
}

/// Packs `width` columns of the right factor in panels, each row by row, the last padded with zeros to a
/// narrow panel's width.
fn gather_panels(
    right: View,
    [from, deep]: [usize; 2],
    [column, width]: [usize; 2],
    packed: &mut Vec<f32>,
) {
    packed.resize(deep * width.next_multiple_of(NARROW), 0.0);
    for start in (0..deep).step_by(RUN) {
        let rows = [from + start, RUN.min(deep - start)];
        let mut at = 0;
        while at < width {
            let panel = &mut packed[deep * at..];
            if width - at >= WIDE {
                gather::<WIDE>(right, rows, [column + at, WIDE], &mut panel[start * WIDE..]);
                at += WIDE;
            } else {
                let width = NARROW.min(width - at);
                gather::<NARROW>(right, rows, [column + at, width], &mut panel[start * NARROW..]);
                at += NARROW;
            }
        }
    }
}

fn gather<const WIDTH: usize>(
    right: View,
    [from, deep]: [usize; 2],
    [column, width]: [usize; 2],
    panel: &mut [f32],
) {
    let [down, across] = right.strides;
    let rows = &mut panel.as_chunks_mut::<WIDTH>().0[..deep];
    let first = from * down + column * across;
    if width < WIDTH {
        rows.fill([0.0; WIDTH]);
    }
    if across == 1 && width == WIDTH {
        for (at, row) in rows.iter_mut().enumerate() {
            row.copy_from_slice(&right.values[first + at * down..][..WIDTH]);
        }
    } else if down == 1 {
        // Columns are contiguous: copy each in one go.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Integers from -4 to 4: every sum is exact in any order.
    fn whole(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7 + seed * 3 + i / 5) % 9) as f32 - 4.0).collect()
    }

    fn entry(view: View, i: usize, j: usize) -> f32 {
        view.values[i * view.strides[0] + j * view.strides[1]]
    }

    #[test]
    fn agrees_with_the_definition_in_every_layout_and_at_every_edge() {
        for rows in [1, 2, 3, 4, 5, 9, 12, 16, 26] {
            for depth in [1, 3, 8, 513, 1030] {
                for columns in [1, 7, 8, 15, 16, 17, 24, 33, 57] {
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

    #[test]
    fn a_single_row_times_a_large_factor_is_the_same() {
        for [depth, columns] in [[513, 515], [515, 512], [1030, 257], [512, 512]] {
            let (a, b, bias) = (whole(2 * depth, 1), whole(depth * columns, 2), whole(columns, 3));
            let lefts = [
                View::rows(&a, [1, depth]),
                // Every other number of a column.
                View { values: &a, shape: [1, depth], strides: [1, 2] },
            ];
            let rights =
                [View::rows(&b, [depth, columns]), View::rows(&b, [columns, depth]).transposed()];
            for (left, right) in
                lefts.into_iter().flat_map(|left| rights.map(|right| (left, right)))
            {
                for onto in [Onto::Zero, Onto::Row(&bias), Onto::Result] {
                    let before = whole(columns + 3, 4);
                    let mut expected = before.clone();
                    let gathered = &Right::Gathered(right);
                    multiply(Tiles::quickest(), left, gathered, 0.5, onto, &mut expected, columns);
                    let mut found = before;
                    product(left, right, 0.5, onto, &mut found, columns);
                    assert_eq!(found, expected, "{left:?} {onto:?}");
                }
            }
        }
    }

    #[test]
    fn more_rows_and_columns_than_are_copied_at_a_time() {
        for shape in [[519, 515, 21], [261, 5, 2 * STRETCH + 41]] {
            check_large(shape);
        }
    }

    fn check_large([rows, depth, columns]: [usize; 3]) {
        let (a, b, bias) = (whole(rows * depth, 1), whole(depth * columns, 2), whole(columns, 3));
        let right = View::rows(&b, [depth, columns]);
        for onto in [Onto::Zero, Onto::Row(&bias), Onto::Result] {
            check(View::rows(&a, [rows, depth]), right, onto);
        }
        check(View::rows(&a, [depth, rows]).transposed(), right, Onto::Result);
    }

    fn check(left: View, right: View, onto: Onto) {
        for tiles in Tiles::all() {
            check_with(tiles, left, right, onto);
        }
    }

    fn check_with(tiles: Tiles, left: View, right: View, onto: Onto) {
        let ([rows, depth], [_, columns]) = (left.shape, right.shape);
        let stride = columns + 3;
        let before = whole(rows * stride, 4);
        let mut result = before.clone();
        multiply(tiles, left, &Right::Gathered(right), 0.5, onto, &mut result, stride);
        for i in 0..rows {
            for j in 0..stride {
                let at = i * stride + j;
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
                assert_eq!(result[at], start + 0.5 * sum, "{tiles:?} {left:?} {right:?} {onto:?}");
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
