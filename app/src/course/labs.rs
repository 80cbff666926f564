//! The labs of all chapters, and the one on show.

use std::cell::RefCell;

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Lab;
use crate::store::Store;

/// The labs of the chapters visited so far, owned by the page's root.
#[derive(Clone)]
pub struct Labs {
    store: Store,
    owner: Owner,
    labs: StoredValue<RefCell<Vec<(Chapter, Lab)>>, LocalStorage>,
}

impl Labs {
    /// No labs yet. Call in the page's root, which will own them.
    pub fn new(store: Store) -> Self {
        let owner = Owner::current().unwrap_or_default();
        Self { store, owner, labs: StoredValue::new_local(RefCell::default()) }
    }

    /// The lab of a chapter, started by the first visit; `None` where there is no model, or where it
    /// is the GPT lab's, which is the store's own.
    pub fn of(&self, chapter: Chapter) -> Option<Lab> {
        if chapter.shows_lab() || !chapter.has_model() {
            return None;
        }
        self.labs.with_value(|labs| {
            let known = labs.borrow().iter().find(|(of, _)| *of == chapter).map(|(_, lab)| *lab);
            Some(known.unwrap_or_else(|| {
                let lab = self.owner.with(|| untrack(|| Lab::new(self.store, chapter)));
                labs.borrow_mut().push((chapter, lab));
                lab
            }))
        })
    }
}

/// The lab of the chapter on show.
///
/// # Panics
///
/// Panics outside a chapter of the course.
pub fn use_lab() -> Lab {
    let store = expect_context::<Store>();
    let chapter = store.link.with_untracked(|link| link.chapter);
    expect_context::<Labs>().of(chapter).expect("a chapter with a lab of its own")
}
