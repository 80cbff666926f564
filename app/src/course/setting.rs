//! Settings of the link as values, for figures that know no link.

use leptos::prelude::*;
use unroll_protocol::Link;

use crate::{figures::Slot, store::Store};

/// One field of the link, read and written.
pub fn use_setting<T>(field: fn(&mut Link) -> &mut T) -> Slot<T>
where
    T: Clone + PartialEq + Send + Sync + 'static,
{
    let store = expect_context::<Store>();
    // A field is named once, for reading and writing: it is read from a copy.
    let read = move || store.link.with(|link| field(&mut link.clone()).clone());
    Slot::new(read, move |value| store.link.update(|link| *field(link) = value))
}
