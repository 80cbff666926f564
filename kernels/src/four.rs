//! Four numbers computed at once.
//!
//! In wasm this is a register of simd128, requested explicitly: left to choose, compilers turn a
//! product's tile into scalar code after the smallest change, which is four times as slow.
//! Elsewhere it is an array, so that native tests run the same tiles as browsers. The results are
//! the same to the last bit.

#[cfg(target_arch = "wasm32")]
use core::arch::wasm32::{f32x4_add, f32x4_mul, f32x4_splat, v128, v128_load, v128_store};

/// Numbers in a register.
pub(super) const LANES: usize = 4;

#[derive(Clone, Copy)]
pub(super) struct Four(
    #[cfg(target_arch = "wasm32")] v128,
    #[cfg(not(target_arch = "wasm32"))] [f32; LANES],
);

#[cfg(target_arch = "wasm32")]
impl Four {
    #[inline(always)]
    pub(super) fn splat(value: f32) -> Self {
        Self(f32x4_splat(value))
    }

    #[inline(always)]
    pub(super) fn load(numbers: &[f32; LANES]) -> Self {
        // SAFETY: the pointer is to four numbers that may be read; they need not be aligned.
        Self(unsafe { v128_load(numbers.as_ptr().cast()) })
    }

    #[inline(always)]
    pub(super) fn store(self, numbers: &mut [f32; LANES]) {
        // SAFETY: the pointer is to four numbers that may be written; they need not be aligned.
        unsafe { v128_store(numbers.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        Self(f32x4_add(self.0, other.0))
    }

    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        Self(f32x4_mul(self.0, other.0))
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Four {
    #[inline(always)]
    pub(super) fn splat(value: f32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    pub(super) fn load(numbers: &[f32; LANES]) -> Self {
        Self(*numbers)
    }

    #[inline(always)]
    pub(super) fn store(self, numbers: &mut [f32; LANES]) {
        *numbers = self.0;
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        Self(core::array::from_fn(|i| self.0[i] + other.0[i]))
    }

    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        Self(core::array::from_fn(|i| self.0[i] * other.0[i]))
    }
}
