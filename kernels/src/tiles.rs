//! The inner loop of a product: a tile of the result is kept in vector registers, and outer
//! products are added to it one at a time.
//!
//! The tiles here are for registers of four numbers, as in wasm's simd128. Their sizes were chosen
//! by measurement: in Chromium, larger tiles spill and run at half the speed. (The fused
//! multiply-add of relaxed SIMD was measured too: it gains nothing on processors that add and
//! multiply in parallel, and its rounding would differ between machines.) `avx` and `avx512` have
//! tiles for native processors with wider registers.

#[cfg(target_arch = "x86_64")]
use super::{avx, avx512};
use super::{
    four::{Four, LANES},
    matmul::Onto,
};

/// Columns of the wider panels of a right factor.
pub(super) const WIDE: usize = 16;
/// Columns of the narrower ones.
pub(super) const NARROW: usize = 8;
/// Rows of a left factor that are interleaved when packed.
pub(super) const GATHERED: usize = 4;

/// A packed block of columns of a left factor.
pub(super) struct Left<'a> {
    pub(super) rows: usize,
    pub(super) deep: usize,
    /// [`GATHERED`] rows interleaved, column by column, padded with zeros beyond the last row.
    pub(super) packed: &'a [f32],
}

/// Where a panel's result goes.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) onto: Onto<'a>,
    pub(super) scale: f32,
    pub(super) stride: usize,
    pub(super) column: usize,
    pub(super) width: usize,
}

/// Which implementation computes the tiles.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tiles {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx(avx::Avx),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
}

impl Tiles {
    /// The fastest implementation that the processor supports.
    pub(super) fn quickest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx512 = avx512::Avx512::new().map(Self::Avx512);
            if let Some(tiles) = avx512.or_else(|| avx::Avx::new().map(Self::Avx)) {
                return tiles;
            }
        }
        Self::Portable
    }

    /// Every implementation that the processor supports.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        let mut all = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(avx::Avx::new().map(Self::Avx));
            all.extend(avx512::Avx512::new().map(Self::Avx512));
        }
        all
    }

    /// Rows of a left factor that are packed and multiplied by all panels before the next are.
    #[inline(always)]
    pub(super) fn height(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx(_) | Self::Avx512(_) => avx::HEIGHT,
            Self::Portable => usize::MAX,
        }
    }

    /// Width of the next panel when `left` columns are left. The wider panel is a little faster; the
    /// narrower wastes less at the edge. With AVX-512 two wide ones are multiplied together.
    #[inline(always)]
    pub(super) fn next_width(self, left: usize) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) if left >= avx512::PAIR => avx512::PAIR,
            _ if left >= WIDE => WIDE,
            _ => NARROW.min(left),
        }
    }

    /// Multiplies all rows by a panel of [`WIDE`] columns (or two, see [`Tiles::next_width`]), or of
    /// [`NARROW`] if no more are needed.
    #[inline(always)]
    pub(super) fn times(self, left: &Left, panel: &[f32], place: Place, result: &mut [f32]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx(avx) => avx.times(left, panel, place, result),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(avx512) => avx512.times(left, panel, place, result),
            Self::Portable if place.width == WIDE => {
                left.times::<2, { WIDE / LANES }>(panel, place, result);
            }
            Self::Portable => left.times::<4, { NARROW / LANES }>(panel, place, result),
        }
    }
}

impl Left<'_> {
    /// Multiplies all rows, `HIGH` at a time, by a panel this many registers wide. Everything in it
    /// is inlined: with a call per panel, products take 5 to 20 % longer in wasm.
    #[inline(always)]
    fn times<const HIGH: usize, const WIDTH: usize>(
        &self,
        panel: &[f32],
        place: Place,
        result: &mut [f32],
    ) {
        let mut row = 0;
        while row + HIGH <= self.rows {
            self.tile::<HIGH, WIDTH>(row, panel, place, result);
            row += HIGH;
        }
        while row < self.rows {
            self.tile::<1, WIDTH>(row, panel, place, result);
            row += 1;
        }
    }

    #[inline(always)]
    fn tile<const HIGH: usize, const WIDTH: usize>(
        &self,
        row: usize,
        panel: &[f32],
        place: Place,
        result: &mut [f32],
    ) {
        let panel = &panel.as_chunks::<LANES>().0.as_chunks::<WIDTH>().0[..self.deep];
        let mut sums = [[Four::splat(0.0); WIDTH]; HIGH];
        let group = &self.packed[row / GATHERED * GATHERED * self.deep..][..GATHERED * self.deep];
        let offset = row % GATHERED;
        for (left, right) in group.as_chunks::<GATHERED>().0.iter().zip(panel) {
            let right = right.each_ref().map(Four::load);
            for (i, sums) in sums.iter_mut().enumerate() {
                let value = Four::splat(left[(offset + i) % GATHERED]);
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = value.times(right).plus(*sum);
                }
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            put(sums, row + i, place, result);
        }
    }
}

/// Writes the sums of a row.
#[inline(always)]
fn put<const WIDTH: usize>(sums: &[Four; WIDTH], row: usize, place: Place, result: &mut [f32]) {
    let Place { onto, scale, stride, column, width } = place;
    let result = &mut result[row * stride + column..][..width];
    let onto = match onto {
        Onto::Zero | Onto::Result => onto,
        Onto::Row(values) => Onto::Row(&values[column..][..width]),
    };
    let (whole, rest) = result.as_chunks_mut::<LANES>();
    for (at, sum) in sums.iter().enumerate() {
        let sum = sum.times(Four::splat(scale));
        if let Some(result) = whole.get_mut(at) {
            let sum = match onto {
                Onto::Zero => sum,
                Onto::Row(values) => Four::load(&values.as_chunks().0[at]).plus(sum),
                Onto::Result => Four::load(result).plus(sum),
            };
            sum.store(result);
        } else {
            let mut sums = [0.0; LANES];
            sum.store(&mut sums);
            let past = LANES * at;
            for (at, (result, sum)) in rest.iter_mut().zip(sums).enumerate() {
                *result = match onto {
                    Onto::Zero => sum,
                    Onto::Row(values) => values[past + at] + sum,
                    Onto::Result => *result + sum,
                };
            }
            return;
        }
    }
}
