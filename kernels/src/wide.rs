//! Loops over slices with the widest vectors there are.

/// Runs a block, natively compiled for AVX2 as well and so run where the processor has it: a build
/// for x86-64 has vectors of four numbers only. The results are the same to the last bit.
///
/// What the block calls must be marked `#[inline(always)]`, or it is not compiled anew.
#[cfg(target_arch = "x86_64")]
macro_rules! wide {
    ($work:block) => {
        // The block stands here twice and not in one closure: the compiler puts a function for
        // certain in the place of its call only where there is one call.
        if let Some(avx) = $crate::avx::Avx::new() { avx.run(|| $work) } else $work
    };
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! wide {
    ($work:block) => {
        $work
    };
}

pub(super) use wide;
