//! Settings of the link as signals, for figures that know no link.

use leptos::prelude::*;
use unroll_protocol::Link;

use crate::store::Store;

/// A signal of one field of the link. Written either way.
pub fn use_setting<T>(field: fn(&mut Link) -> &mut T) -> RwSignal<T>
where
    T: Clone + PartialEq + Send + Sync + 'static,
{
    let store = expect_context::<Store>();
    let of_link = move |mut link: Link| field(&mut link).clone();
    let signal = RwSignal::new(of_link(store.link.get_untracked()));
    Effect::new(move |first: Option<()>| {
        let value = signal.get();
        // At first the link is right: another control may have written it since the signal was made.
        if first.is_some() && of_link(store.link.get_untracked()) != value {
            store.link.update(|link| *field(link) = value);
        }
    });
    Effect::new(move |_| {
        let value = of_link(store.link.get());
        if signal.with_untracked(|signal| *signal != value) {
            signal.set(value);
        }
    });
    signal
}
