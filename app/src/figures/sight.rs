//! Which parts of the page somebody can see. The one place that knows: figures are drawn, and the
//! model is asked for what they show, only there.

use leptos::{html::ElementType, prelude::*, tachys::html::node_ref::NodeRefContainer};
use wasm_bindgen::JsCast;
use web_sys::{Element, IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit};

use super::canvas::use_observer;

/// How far outside of the window something counts as in sight, above and below: what scrolls in is
/// up to date by then.
const MARGIN: &str = "160px 0px";

/// Whether the element is within the window, or about to be. What is scrolled away, folded up, or in
/// a frame that its host has scrolled away is not.
pub fn use_visible<E>(target: NodeRef<E>) -> Signal<bool>
where
    E: ElementType + 'static,
    E::Output: JsCast + Clone + AsRef<Element> + 'static,
    NodeRef<E>: NodeRefContainer<E>,
{
    let visible = RwSignal::new(false);
    use_observer(
        target,
        |callback, element| {
            let options = IntersectionObserverInit::new();
            options.set_root_margin(MARGIN);
            let observer = IntersectionObserver::new_with_options(callback, &options).ok()?;
            observer.observe(element);
            Some(Box::new(move || observer.disconnect()))
        },
        move |entries| {
            let entry: IntersectionObserverEntry = entries.at(-1).unchecked_into();
            visible.try_maybe_update(|v| {
                let changed = *v != entry.is_intersecting();
                *v = entry.is_intersecting();
                (changed, ())
            });
        },
    );
    visible.into()
}

/// The parts of the page that show one thing. `Copy`: a handle of the owner it was made under.
#[derive(Clone, Copy)]
pub struct Sight {
    /// `None` before the first is named.
    parts: RwSignal<Option<Vec<Signal<bool>>>>,
}

impl Sight {
    /// Of something whose parts are still to be named.
    pub fn new() -> Self {
        Self { parts: RwSignal::new(None) }
    }

    /// Names one more part, as [`use_visible`] sees it, for as long as the present owner lives.
    pub fn add(self, part: Signal<bool>) {
        self.parts.update(|parts| parts.get_or_insert_default().push(part));
        // A signal that is gone tells nobody so: whoever follows it would believe what it said last.
        on_cleanup(move || {
            self.parts.try_update(|parts| {
                parts.get_or_insert_default().retain(|other| *other != part);
            });
        });
    }

    /// Whether any part is in sight. What has no part named may be anywhere, and always is. Tracks.
    pub fn is_on(self) -> bool {
        let seen = |part: &Signal<bool>| part.try_get().unwrap_or(false);
        self.parts.with(|parts| parts.as_ref().is_none_or(|parts| parts.iter().any(seen)))
    }
}
