//! What runs again when a signal changes. The machinery around effects and memos is in the page once
//! here, not once for each of hundreds of closures.

use leptos::prelude::{Effect, Memo};

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
