//! What runs again when a signal changes, and what waits for its turn. The machinery around effects and memos
//! is in the page once here, not once for each of hundreds of closures.

use js_sys::Promise;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// Lets the page do what has queued up, so that none of its tasks is long.
pub async fn next_task() {
    let promise = Promise::new(&mut |resolve, _| {
        // Where it fails, the page rests less.
        if window().set_timeout_with_callback(&resolve).is_err() {
            let _ = resolve.call0(&JsValue::UNDEFINED);
        }
    });
    let _ = JsFuture::from(promise).await;
}

/// Runs `run` now and whenever a signal that it read has changed, like [`Effect::new`].
pub fn effect(run: impl FnMut() + 'static) {
    fn erased(mut run: Box<dyn FnMut()>) {
        Effect::new(move |_| run());
    }
    erased(Box::new(run));
}

/// [`effect`] that is given what it returned the last time.
pub fn effect_with_last<T: 'static>(mut run: impl FnMut(Option<T>) -> T + 'static) {
    let mut last = None;
    effect(move || last = Some(run(last.take())));
}

/// What `compute` gives, computed again when a signal that it read has changed, like [`Memo::new`].
pub fn memo<T: PartialEq + Send + Sync + 'static>(
    compute: impl Fn() -> T + Send + Sync + 'static,
) -> Memo<T> {
    fn erased<T: PartialEq + Send + Sync + 'static>(
        compute: Box<dyn Fn() -> T + Send + Sync>,
    ) -> Memo<T> {
        Memo::new(move |_| compute())
    }
    erased(Box::new(compute))
}

/// What `read` gives, for what changes seldom and very many things follow. A memo wakes them all
/// whenever anything that it reads changes, only to tell them that it stayed as it was.
pub fn seldom<T: PartialEq + Clone + Send + Sync + 'static>(
    read: impl Fn() -> T + 'static,
) -> Signal<T> {
    let kept = RwSignal::new(untrack(&read));
    effect(move || {
        let now = read();
        if kept.with_untracked(|kept| *kept != now) {
            kept.set(now);
        }
    });
    kept.into()
}

/// What `now` gives, or while it gives nothing what it gave last; before that the default.
pub fn last_known<T: Default + PartialEq + Clone + Send + Sync + 'static>(
    now: impl Fn() -> Option<T> + Send + Sync + 'static,
) -> Memo<T> {
    Memo::new(move |last: Option<&T>| now().or_else(|| last.cloned()).unwrap_or_default())
}
