//! The labs of all chapters, and the one on show.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Lab;
use crate::store::Store;

/// The labs of the chapters visited so far, owned by the page's root.
#[derive(Clone)]
pub struct Labs {
    store: Store,
    owner: Owner,
    /// Whether a model takes some steps by itself once it is built.
    warms: bool,
    labs: RwSignal<Vec<(Chapter, Lab)>>,
}

impl Labs {
    /// No labs yet. Call in the page's root, which will own them.
    pub fn new(store: Store) -> Self {
        let owner = Owner::current().unwrap_or_default();
        Self { store, owner, warms: true, labs: RwSignal::default() }
    }

    /// As [`Self::new`], for models that are told how many steps to take.
    pub fn led(store: Store) -> Self {
        Self { warms: false, ..Self::new(store) }
    }

    /// The lab of a chapter that was visited; `None` where there is no model, or where it is the GPT
    /// lab's, which is the store's own.
    pub fn of(&self, chapter: Chapter) -> Option<Lab> {
        self.labs
            .with_untracked(|labs| labs.iter().find(|(of, _)| *of == chapter).map(|(_, lab)| *lab))
    }

    /// As [`Self::of`], and tracks the visits.
    pub fn follow(&self, chapter: Chapter) -> Option<Lab> {
        self.labs.track();
        self.of(chapter)
    }

    /// A chapter is visited: starts its lab, if it has one of its own and this is the first time, and
    /// provides it for [`use_lab`]. Called where chapters are fetched: the page opens without what labs
    /// are made of.
    pub fn visit(&self, chapter: Chapter) {
        let has_lab = chapter.has_model() && !chapter.shows_lab();
        if has_lab && self.of(chapter).is_none() {
            // All labs share one engine, which comes with the first of them.
            let first = self.labs.with_untracked(|labs| labs.first().map(|(_, lab)| *lab));
            let engine = first.map(Lab::engine).unwrap_or_default();
            let new = || Lab::new(self.store, chapter, self.warms, engine);
            let lab = self.owner.with(|| untrack(new));
            self.labs.update(|labs| labs.push((chapter, lab)));
        }
        if let Some(lab) = self.of(chapter) {
            provide_context(lab);
        }
    }
}

/// The lab of the chapter around this, also while another one is already coming on show.
///
/// # Panics
///
/// Panics outside a chapter with a lab of its own.
pub fn use_lab() -> Lab {
    expect_context()
}
