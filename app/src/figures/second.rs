//! Figures and controls that are on the page a second time, in a twin.

use leptos::prelude::*;

/// Around what is on the page a second time.
#[derive(Clone, Copy)]
pub struct Second {
    /// Whether it stands at a much earlier step than the first.
    pub behind: Signal<bool>,
}

/// The id of `name`'s element of this kind, other than that of the first on the page.
pub fn own(kind: &str, name: &str) -> String {
    let end = if use_context::<Second>().is_some() { "-twin" } else { "" };
    [kind, "-", name, end].concat()
}
