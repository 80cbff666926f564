//! What runs again when a signal changes.

use leptos::prelude::Effect;

/// Runs `run` now and whenever a signal that it read has changed, like [`Effect::new`]. The machinery
/// around an effect is in the page once here, not once for each of some fifty closures.
pub fn effect(run: impl FnMut() + 'static) {
    fn erased(mut run: Box<dyn FnMut()>) {
        Effect::new(move |_| run());
    }
    erased(Box::new(run));
}
