//! What the learner points at, shared by the parts of a figure.

use std::{ops::Deref, sync::Arc};

use crate::reactive::memo;
use leptos::prelude::*;

/// Owned by a figure; its parts hold copies and live within it.
///
/// Pointing shows for as long as it lasts; a pinned cell shows whenever nothing is pointed at.
pub struct Pointing<C: Send + Sync + 'static> {
    pointed: RwSignal<Option<C>>,
    pinned: RwSignal<Option<C>>,
    /// Whether the press under way counts when it ends: a finger's first tap only reads.
    press_counts: StoredValue<bool>,
    /// What is pinned, if it lies within the figure.
    held: Memo<Option<C>>,
    /// What is shown of the two, if it lies within the figure.
    shown: Memo<Option<C>>,
}

impl<C: Send + Sync + 'static> Clone for Pointing<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Send + Sync + 'static> Copy for Pointing<C> {}

impl<C: Copy + PartialEq + Send + Sync + 'static> Pointing<C> {
    /// `within` tracks the figure's size.
    pub fn new(within: impl Fn(&C) -> bool + Send + Sync + 'static) -> Self {
        let (pointed, pinned) = (RwSignal::new(None), RwSignal::new(None));
        let within = Arc::new(within);
        let lies_within = within.clone();
        let held = memo(move || pinned.get().filter(|c| lies_within(c)));
        let shown = memo(move || pointed.get().filter(|c| within(c)).or_else(|| held.get()));
        Self { pointed, pinned, press_counts: StoredValue::new(true), held, shown }
    }

    /// What the learner chose; `None` while nothing is pointed at or pinned.
    pub fn shown(&self) -> Option<C> {
        self.shown.get()
    }

    /// As [`Self::shown`], for event handlers.
    pub fn shown_untracked(&self) -> Option<C> {
        self.shown.get_untracked()
    }

    pub fn is_pinned(&self) -> bool {
        self.pinned.get().is_some() && self.pinned.get() == self.shown.get()
    }

    /// What is pinned, if it lies within the figure.
    pub fn pinned(&self) -> Option<C> {
        self.held.get()
    }

    /// Pins `cell` and lets go of any other.
    pub fn pin(&self, cell: C) {
        self.pinned.set(Some(cell));
    }

    pub fn point(&self, cell: C) {
        if self.pointed.get_untracked() != Some(cell) {
            self.pointed.set(Some(cell));
        }
    }

    pub fn leave(&self) {
        // A figure that goes while it has the focus hears of losing it when its signals are gone.
        if self.pointed.try_get_untracked().flatten().is_some() {
            self.pointed.set(None);
        }
    }

    /// A pointer goes down on `cell`.
    pub fn press(&self, cell: C, touch: bool) {
        self.press_counts.set_value(!touch || self.shown.get_untracked() == Some(cell));
        self.point(cell);
    }

    /// Whether the press that just ended is one that acts.
    pub fn press_counts(&self) -> bool {
        self.press_counts.get_value()
    }

    /// The press ends on `cell`.
    pub fn click(&self, cell: C) {
        if self.press_counts() {
            self.toggle_pin(cell);
        }
    }

    /// Pins `cell`, or lets go of it if it was pinned.
    pub fn toggle_pin(&self, cell: C) {
        self.pinned.update(|p| *p = if *p == Some(cell) { None } else { Some(cell) });
    }

    pub fn unpin(&self) {
        // As in `leave`.
        if self.pinned.try_get_untracked().flatten().is_some() {
            self.pinned.set(None);
        }
    }
}

/// A query token and, on the heatmap, one key: positions in the sentence, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub query: usize,
    pub key: Option<usize>,
}

/// What is pointed at in the attention figure.
#[derive(Clone, Copy)]
pub struct Selection {
    pointing: Pointing<Cell>,
    /// T, 0 without a trace.
    size: Memo<usize>,
    /// The token that is shown while the learner has chosen none, if not the last.
    rest: Signal<Option<usize>>,
}

impl Deref for Selection {
    type Target = Pointing<Cell>;

    fn deref(&self) -> &Pointing<Cell> {
        &self.pointing
    }
}

impl Selection {
    pub fn new(size: Memo<usize>) -> Self {
        Self::resting(size, Signal::stored(None))
    }

    /// At first on the token `rest`.
    pub fn resting(size: Memo<usize>, rest: Signal<Option<usize>>) -> Self {
        let within = move |c: &Cell| {
            let t = size.get();
            c.query < t && c.key.is_none_or(|key| key < t)
        };
        Self { pointing: Pointing::new(within), size, rest }
    }

    /// What the figure shows: the learner's choice, or else the token it rests on, which is the last where
    /// nothing else is said. `None` without tokens.
    pub fn focus(&self) -> Option<Cell> {
        self.shown().or_else(|| {
            let last = self.size.get().checked_sub(1)?;
            Some(Cell { query: self.rest.get().map_or(last, |rest| rest.min(last)), key: None })
        })
    }

    /// Hears of it when another token is the one to rest on.
    pub fn track_rest(&self) {
        self.rest.track();
    }

    pub fn size_untracked(&self) -> usize {
        self.size.get_untracked()
    }

    /// Where the keyboard starts from: what is shown, with the query's own key where there is no other.
    pub fn start(&self) -> Option<Cell> {
        let Cell { query, key } = untrack(|| self.focus())?;
        Some(Cell { query, key: Some(key.unwrap_or(query)) })
    }

    pub fn size(&self) -> usize {
        self.size.get()
    }
}
