//! The WebGPU engine: large, and loaded only if there is an adapter for it.

#[cfg(target_arch = "wasm32")]
fn main() {
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
