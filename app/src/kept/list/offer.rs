//! The run that was kept last is offered when the page opens.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};

use super::{
    deletion::remove,
    row::{Row, rows, said},
};
use crate::{
    kept::go_on,
    reactive::{effect_with_last, memo},
    store::Store,
};

/// Offers the newest run that no other tab has open. That of a twin comes with the run beside it.
pub async fn offer(store: Store) {
    let Ok(rows) = rows(store).await else { return };
    let newest =
        rows.into_iter().find(|row| row.head.is_some() && !row.elsewhere && !row.is_twin());
    // The learner may have begun, and been kept, in the meantime.
    let Some(row) = newest.filter(|_| store.keeping(|keeping| keeping.file.is_none())) else {
        return;
    };
    store.offer.set(Some(Arc::new(move || card(store, row.clone()))));
}

fn card(store: Store, row: Row) -> AnyView {
    let close = move || store.offer.set(None);
    // Who goes on in the story has begun without it, and finds it in the list.
    let idea = memo(move || store.link.with(|link| link.idea));
    effect_with_last(move |last| {
        let now = idea.get();
        if last.is_some_and(|last| last != now) {
            close();
        }
        now
    });
    let sentence = said(&row).concat();
    let name = row.file;
    let go = {
        let name = name.clone();
        move |_| {
            let name = name.clone();
            close();
            spawn_local(async move { go_on(store, &name).await });
        }
    };
    let delete = move |_| {
        let name = name.clone();
        close();
        spawn_local(async move { remove(store, &[name]).await });
    };
    view! {
        <div class="notice kept-offer" role="status" data-testid="kept-offer">
            <div>
                <p><strong>"Your last run is still here. "</strong><span translate="no">{sentence}</span>"."</p>
                <div class="button-row">
                    <button type="button" class="button button-primary" data-testid="kept-continue"
                        aria-disabled=move || store.started.with(Option::is_none).then_some("true")
                        on:click=move |event| if store.started.with_untracked(Option::is_some) { go(event) }>
                        "Continue it"
                    </button>
                    <button type="button" class="button" data-testid="kept-delete" on:click=delete>"Delete it"</button>
                </div>
            </div>
            <button type="button" class="notice-close" aria-label="Dismiss this message" on:click=move |_| close()>
                "×"
            </button>
        </div>
    }
    .into_any()
}
