//! A value that a figure reads and writes and that is kept elsewhere.

use crate::reactive::memo;
use leptos::prelude::*;

/// One value in somebody else's hands, read and written as a signal of one's own would be. `Copy`: a
/// handle of the owner it was made under.
pub struct Slot<T: Send + Sync + 'static> {
    value: Memo<T>,
    write: Callback<T>,
}

impl<T: Send + Sync + 'static> Clone for Slot<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Slot<T> {}

impl<T: Clone + PartialEq + Send + Sync + 'static> Slot<T> {
    /// `read` tracks what it reads; `write` hears only of values that differ.
    pub fn new(
        read: impl Fn() -> T + Send + Sync + 'static,
        write: impl Fn(T) + Send + Sync + 'static,
    ) -> Self {
        Self { value: memo(read), write: Callback::new(write) }
    }

    pub fn get(self) -> T {
        self.value.get()
    }

    pub fn get_untracked(self) -> T {
        self.value.get_untracked()
    }

    pub fn with<R>(self, read: impl FnOnce(&T) -> R) -> R {
        self.value.with(read)
    }

    pub fn with_untracked<R>(self, read: impl FnOnce(&T) -> R) -> R {
        self.value.with_untracked(read)
    }

    pub fn track(self) {
        self.value.track();
    }

    pub fn set(self, value: T) {
        if self.value.with_untracked(|now| *now != value) {
            self.write.run(value);
        }
    }

    pub fn update(self, change: impl FnOnce(&mut T)) {
        let mut value = self.get_untracked();
        change(&mut value);
        self.set(value);
    }
}

impl<T: Clone + PartialEq + Send + Sync + 'static> From<Slot<T>> for Signal<T> {
    fn from(slot: Slot<T>) -> Self {
        slot.value.into()
    }
}
