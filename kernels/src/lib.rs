//! The hot loops of a training step, over plain slices of f32 and for one core.
//!
//! Nothing here knows about tensors or autodiff: `unroll_model` (in `fused`) registers these
//! functions with burn as operations with their own backward passes. Everything is plain Rust that
//! compilers vectorize (`cargo xtask test` checks the wasm for vector instructions), so native
//! tests run the very code that browsers run. Only the tiles of matrix products use explicit
//! vectors, in `four` and, for x86-64, in `avx` and `avx512`; tests run all of them. The order of
//! every sum depends on shapes alone, so the same input gives the same bits.
//!
//! This is a separate crate because engines for browsers compile it for speed and nearly everything
//! else for size (see the profile `engine`).

pub mod alignment;
pub mod attention;
#[cfg(target_arch = "x86_64")]
mod avx;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod cells;
pub mod decoder;
mod four;
pub mod math;
pub mod matmul;
pub mod panels;
pub mod recurrent;
pub mod rows;
pub mod self_attention;
pub mod squash;
#[cfg(test)]
mod testing;
mod tiles;
mod wide;
