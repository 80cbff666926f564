//! What the learner points at, shared by the tokens, the arcs, the heatmap and the readouts.

use leptos::prelude::*;

/// A query token and, on the heatmap, one key: positions in the sentence, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub query: usize,
    pub key: Option<usize>,
}

/// Owned by the attention figure; its parts hold copies and live within it.
///
/// Pointing shows for as long as it lasts; a pinned cell shows whenever nothing is pointed at.
#[derive(Clone, Copy)]
pub struct Selection {
    pointed: RwSignal<Option<Cell>>,
    pinned: RwSignal<Option<Cell>>,
    /// Whether the press under way pins when it ends: a finger's first tap only reads.
    press_pins: StoredValue<bool>,
    /// What is shown of the two, if it lies within the sentence.
    shown: Memo<Option<Cell>>,
    /// T, 0 without a trace.
    size: Memo<usize>,
}

impl Selection {
    pub fn new(size: Memo<usize>) -> Self {
        let (pointed, pinned) = (RwSignal::new(None), RwSignal::new(None));
        let shown = Memo::new(move |_| {
            let t = size.get();
            let within = |c: &Cell| c.query < t && c.key.is_none_or(|key| key < t);
            pointed.get().filter(within).or(pinned.get().filter(within))
        });
        Self { pointed, pinned, press_pins: StoredValue::new(true), shown, size }
    }

    /// What the learner chose; `None` while nothing is pointed at or pinned.
    pub fn shown(&self) -> Option<Cell> {
        self.shown.get()
    }

    /// What the figure shows: the learner's choice, or else the last token. `None` without tokens.
    pub fn focus(&self) -> Option<Cell> {
        self.shown
            .get()
            .or_else(|| self.size.get().checked_sub(1).map(|query| Cell { query, key: None }))
    }

    /// As [`Self::shown`], for event handlers.
    pub fn shown_untracked(&self) -> Option<Cell> {
        self.shown.get_untracked()
    }

    pub fn size_untracked(&self) -> usize {
        self.size.get_untracked()
    }

    /// Where the keyboard starts from: what is shown, or else the last token's own cell.
    pub fn start(&self) -> Option<Cell> {
        let last = self.size_untracked().checked_sub(1)?;
        let Cell { query, key } = self.shown_untracked().unwrap_or(Cell { query: last, key: None });
        Some(Cell { query, key: Some(key.unwrap_or(query)) })
    }

    pub fn is_pinned(&self) -> bool {
        self.pinned.get().is_some() && self.pinned.get() == self.shown.get()
    }

    pub fn size(&self) -> usize {
        self.size.get()
    }

    pub fn point(&self, cell: Cell) {
        if self.pointed.get_untracked() != Some(cell) {
            self.pointed.set(Some(cell));
        }
    }

    pub fn leave(&self) {
        if self.pointed.get_untracked().is_some() {
            self.pointed.set(None);
        }
    }

    /// A pointer goes down on `cell`.
    pub fn press(&self, cell: Cell, touch: bool) {
        self.press_pins.set_value(!touch || self.shown.get_untracked() == Some(cell));
        self.point(cell);
    }

    /// The press ends on `cell`.
    pub fn click(&self, cell: Cell) {
        if self.press_pins.get_value() {
            self.toggle_pin(cell);
        }
    }

    /// Pins `cell`, or lets go of it if it was pinned.
    pub fn toggle_pin(&self, cell: Cell) {
        self.pinned.update(|p| *p = if *p == Some(cell) { None } else { Some(cell) });
    }

    pub fn unpin(&self) {
        self.pinned.set(None);
    }
}
