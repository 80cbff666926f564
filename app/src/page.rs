//! The page's frame: what is around every chapter.

use leptos::prelude::*;

use crate::{
    chapters::gpt,
    controls::{CopyLink, DeviceBadge, Notices, ThemeChoice, read_url, use_theme, use_url},
    embed::{Exports, use_embed},
    figures::{FigureTheme, attention_json, loss_json},
    store::Store,
    teaching::{Glossary, provide_lit},
};

/// The whole page, or the figure alone where the link says so.
#[component]
pub fn Page() -> impl IntoView {
    let (link, problems) = read_url();
    let embedded = link.embed;
    let store = Store::new(link, &problems);
    provide_context(store);
    provide_context(FigureTheme { dark: use_theme(store) });
    use_url(store);
    provide_lit();
    store.open();
    if embedded {
        use_embed(store, exports(store));
        return view! { <gpt::EmbeddedChapter/> <Notices/> }.into_any();
    }
    view! {
        <a class="skip-link" href="#main">"Skip to the figure"</a>
        <header class="page-header">
            <a class="wordmark" href="./">"Unroll"</a>
            <span class="tagline">"See how sequence models work, on models that train in your tab"</span>
            <div class="page-tools">
                <DeviceBadge/>
                <Glossary/>
                <CopyLink/>
                <ThemeChoice/>
            </div>
        </header>
        <Notices/>
        <gpt::Chapter/>
    }
    .into_any()
}

/// What `export` messages are answered with: the same JSON as the figures' own menus give.
fn exports(store: Store) -> Exports {
    let provenance = gpt::use_provenance(store);
    Exports {
        attention: Callback::new(move |()| {
            let (layer, head) = store.link.with_untracked(|link| (link.layer, link.head));
            let trace = store.trace.get_untracked()?;
            attention_json(&trace, layer, head, &provenance.get_untracked())
        }),
        loss: Callback::new(move |()| {
            let vocabulary =
                store.started.with_untracked(|s| s.as_ref().map(|s| s.vocabulary.len()))?;
            let provenance = provenance.get_untracked();
            Some(store.curve.with_untracked(|curve| loss_json(curve, vocabulary, &provenance)))
        }),
    }
}
