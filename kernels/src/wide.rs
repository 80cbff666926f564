//! Loops over slices with the widest vectors available.

/// Runs a block. On x86-64 it is also compiled for AVX2, and that version runs if the processor
/// supports it: a baseline build has only vectors of four numbers. The results are the same to the
/// last bit.
///
/// Whatever the block calls must be `#[inline(always)]`, or it is not compiled for AVX2.
#[cfg(target_arch = "x86_64")]
macro_rules! wide {
    ($work:block) => {
        // The block appears twice instead of in one closure: the compiler is only certain to inline
        // a function with a single call site.
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
