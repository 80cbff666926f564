//! What a training step spends its time on, over plain slices of f32 and for one core.
//!
//! Nothing here knows of tensors or gradients: `unroll_model`, in `fused`, gives these to burn as
//! operations with backward passes of their own. Everything is plain Rust that compilers turn into
//! vector instructions (`cargo xtask test` looks for them in what browsers get), so that native tests
//! run the very code the browser runs; only the tiles of products ask for vectors by name, in `four`
//! and, for x86-64, in `avx` and `avx512`, and tests run all. Sums have an order that depends on
//! shapes alone: the same input gives the same bits.
//!
//! A crate of its own, because in the engines that browsers load this code is compiled for speed
//! and nearly all else for size (see the profile `engine`).

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
