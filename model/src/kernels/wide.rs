//! Loops over slices with the widest vectors there are.

#[cfg(target_arch = "x86_64")]
use super::avx::Avx;

/// Runs `work`, natively compiled for AVX2 where the processor has it: a build for x86-64 has
/// vectors of four numbers only. It must be a loop or a few, short enough that the compiler puts
/// them in place of the call. The results are the same to the last bit.
#[inline(always)]
pub(super) fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx) = Avx::new() {
        return avx.run(work);
    }
    work()
}
