//! The engine for models of another's making, loaded when one is opened. It can do all that the GPT lab's CPU
//! engine can.

#[cfg(target_arch = "wasm32")]
fn main() {
    unroll_engine::host::report_panics();
    wasm_bindgen_futures::spawn_local(async {
        let (device, report) = unroll_engine::device::cpu();
        unroll_engine::serve::<unroll_engine::session::NoStudies<()>>(device, report).await;
    });
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("This binary runs in a Web Worker: see `cargo xtask serve`.");
}
