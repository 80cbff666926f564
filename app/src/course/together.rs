//! A setting that goes together with the view on the stage.

use crate::reactive::effect_with_last;
use leptos::prelude::*;
use unroll_protocol::Link;

use super::use_setting;
use crate::store::Store;

/// Keeps the setting that says what is trained and the view that shows it together: whichever of the
/// two is changed, the other follows. A link that names only one of them means both.
///
/// `shown_by` is what a view shows, `None` if it shows whatever is trained; `view_of` is the view of a
/// value as the link names it.
pub fn use_together<T: Copy + PartialEq + Send + Sync + 'static>(
    setting: fn(&mut Link) -> &mut T,
    shown_by: fn(&str) -> Option<T>,
    view_of: fn(T) -> &'static str,
) {
    let store = expect_context::<Store>();
    let chapter = store.link.with_untracked(|link| link.chapter);
    let value = use_setting(setting);
    let agree = move |before: Option<&str>| {
        let (here, view) = store.link.with(|link| (link.chapter == chapter, link.view.clone()));
        let now = value.get();
        if let Some(shown) = shown_by(&view).filter(|shown| here && *shown != now) {
            // When the page opens, a view that is named leads.
            if before.map_or(!view.is_empty(), |before| before != view) {
                value.set(shown);
            } else {
                store.link.update(|link| link.view = view_of(now).to_owned());
            }
        }
        view
    };
    let opened = untrack(|| agree(None));
    effect_with_last(move |before: Option<String>| agree(Some(before.as_ref().unwrap_or(&opened))));
}
