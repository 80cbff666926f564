//! Has the linker note what in the app's wasm refers to what, so that `cargo xtask` can divide it
//! (see xtask/src/split.rs).

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-bins=--emit-relocs");
    }
}
