//! Whether this browser has a GPU worth loading the WebGPU engine for.

use core::fmt;

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Why the CPU is used. `Display` completes "CPU: ...".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoGpu {
    NoWebGpu,
    NoAdapter,
    Software,
    NoTimestamps,
}

impl fmt::Display for NoGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoWebGpu => "this browser has no WebGPU",
            Self::NoAdapter => "no graphics adapter found",
            Self::Software => "only a software graphics adapter",
            Self::NoTimestamps => "the GPU lacks timestamp queries",
        })
    }
}

/// Asks for an adapter with what burn needs; with `allow_software` also a software one.
///
/// Done without web-sys' unstable WebGPU bindings, which would need a compiler flag for four reads.
pub async fn find_gpu(allow_software: bool) -> Result<(), NoGpu> {
    let get = |object: &JsValue, name: &str| {
        Reflect::get(object, &name.into()).unwrap_or(JsValue::UNDEFINED)
    };
    let navigator = web_sys::window().map(|w| w.navigator()).ok_or(NoGpu::NoWebGpu)?;
    let gpu = get(&navigator, "gpu");
    let request: Function = get(&gpu, "requestAdapter").dyn_into().map_err(|_| NoGpu::NoWebGpu)?;
    let promise: Promise =
        request.call0(&gpu).and_then(JsCast::dyn_into).map_err(|_| NoGpu::NoAdapter)?;
    let adapter = JsFuture::from(promise).await.map_err(|_| NoGpu::NoAdapter)?;
    if adapter.is_null() || adapter.is_undefined() {
        return Err(NoGpu::NoAdapter);
    }
    let info = get(&adapter, "info");
    let fallback = |object: &JsValue| get(object, "isFallbackAdapter").is_truthy();
    let described: String = ["vendor", "architecture", "device", "description"]
        .iter()
        .filter_map(|name| get(&info, name).as_string())
        .collect::<Vec<_>>()
        .join(" ")
        .to_ascii_lowercase();
    let software = fallback(&adapter)
        || fallback(&info)
        || ["swiftshader", "llvmpipe", "lavapipe", "software"]
            .iter()
            .any(|s| described.contains(s));
    if software && !allow_software {
        return Err(NoGpu::Software);
    }
    // burn's WebGPU set-up panics on an adapter without it.
    let features = get(&adapter, "features");
    let has = get(&features, "has").dyn_into::<Function>();
    let timestamps = has.and_then(|has| has.call1(&features, &"timestamp-query".into()));
    if timestamps.is_ok_and(|value| value.is_truthy()) { Ok(()) } else { Err(NoGpu::NoTimestamps) }
}
