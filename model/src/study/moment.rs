//! Moments of a study's training: what its answers are computed from, kept to be asked about later.

use core::{any::Any, slice};

/// Whatever training had changed of a study after some step, and its answers are computed from.
///
/// Weights are shared with the study until it trains on, so taking one costs next to nothing.
#[derive(Debug)]
pub struct Moment(Vec<Box<dyn Any>>);

impl Moment {
    /// The present of the study whose `hold` this is.
    pub(super) fn taken(hold: impl FnOnce(&mut Holder<'_>)) -> Self {
        let mut values = Vec::new();
        hold(&mut Holder(Doing::Copying(&mut values)));
        Self(values)
    }

    /// Exchanges the moment and the present of the study whose `hold` this is. A second exchange undoes it.
    pub(super) fn exchanged(&mut self, hold: impl FnOnce(&mut Holder<'_>)) {
        hold(&mut Holder(Doing::Exchanging(self.0.iter_mut())));
    }
}

/// What goes through all that training changes of a study, see [`Study::hold`](super::Study::hold).
pub struct Holder<'a>(Doing<'a>);

enum Doing<'a> {
    Copying(&'a mut Vec<Box<dyn Any>>),
    Exchanging(slice::IterMut<'a, Box<dyn Any>>),
}

impl Holder<'_> {
    /// A value that is copied whole.
    pub(super) fn value<T: Clone + 'static>(&mut self, value: &mut T) {
        self.hold(value, T::clone);
    }

    /// A value of which `copy` makes what answers need.
    ///
    /// # Panics
    ///
    /// Panics if the moment is another study's.
    pub(super) fn hold<T: 'static>(&mut self, value: &mut T, copy: impl FnOnce(&T) -> T) {
        match &mut self.0 {
            Doing::Copying(values) => values.push(Box::new(copy(value))),
            Doing::Exchanging(values) => {
                let held = values.next().and_then(|held| held.downcast_mut());
                core::mem::swap(value, held.expect("a study holds the same values each time"));
            }
        }
    }
}
