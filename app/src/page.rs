//! The page's frame: what is around every chapter.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use crate::{
    chapters::{self, gpt},
    controls::{CopyLink, DeviceBadge, Notices, ThemeChoice, read_url, use_theme, use_url},
    course::{CourseBar, Labs, Progress, use_navigation},
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
    let labs = Labs::new(store);
    let progress = Progress::read();
    provide_context(store);
    provide_context(labs.clone());
    provide_context(progress);
    provide_context(FigureTheme { dark: use_theme(store) });
    use_url(store);
    let chapter = Memo::new(move |_| store.link.with(|link| link.chapter));
    let view = move || {
        let chapter = chapter.get();
        if chapter == Chapter::Gpt {
            store.open();
        }
        (chapters::info(chapter).view)()
    };
    provide_lit();
    if embedded {
        use_embed(store, labs, exports(store));
        return view! { {view} <Notices/> }.into_any();
    }
    use_navigation(store, progress);
    let badge_labs = labs.clone();
    let lab = Memo::new(move |_| chapter.with(|chapter| badge_labs.of(*chapter).map(|l| l.device)));
    let device = move || lab.get().map_or_else(|| store.device.get(), |device| device.get());
    let retry = move || match labs.of(chapter.get_untracked()) {
        Some(lab) => lab.retry_engine(),
        None => store.retry_engine(),
    };
    view! {
        <a class="skip-link" href="#main">"Skip to the figure"</a>
        <header class="page-header">
            <a class="wordmark" href="./">"Unroll"</a>
            <span class="tagline">"See how sequence models work, on models that train in your tab"</span>
            <div class="page-tools">
                <DeviceBadge device=Signal::derive(device) retry=Callback::new(move |()| retry())/>
                <Glossary/>
                <CopyLink/>
                <ThemeChoice/>
            </div>
        </header>
        <CourseBar/>
        <Notices/>
        {view}
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
