//! The WebGPU engine: large, and loaded only if there is an adapter for it.

// Defined by the linker.
#[cfg(target_arch = "wasm32")]
unsafe extern "C" {
    fn __wasm_call_ctors();
}

#[cfg(target_arch = "wasm32")]
fn main() {
    // CubeCL's compiler registers its operations in static constructors. Where nothing calls them by name, the
    // linker takes the module for a command, whose exports each run all of them first: then most of a training
    // step goes into them.
    // SAFETY: this is the first thing that runs, and it runs once.
    unsafe { __wasm_call_ctors() };
    unroll_engine::host::report_panics();
    wasm_bindgen_futures::spawn_local(async {
        match unroll_engine::device::webgpu().await {
            Ok((device, report)) => {
                unroll_engine::serve::<unroll_engine::session::NoStudies>(device, report).await;
            }
            Err(message) => {
                unroll_engine::host::post(&unroll_protocol::Event::Failed { message });
            }
        }
    });
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("This binary runs in a Web Worker: see `cargo xtask serve`.");
}
