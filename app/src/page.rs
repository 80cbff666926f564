//! The page's frame: what is around every chapter.

use leptos::{prelude::*, task::spawn_local};
use unroll_protocol::{Link, link::LinkProblem};

use crate::{
    chapters,
    controls::{CopyLink, DeviceBadge, Notices, ThemeChoice, use_face, use_theme, use_url},
    course::{ChapterMenu, Labs, Progress, Rail, gpt_provenance, use_navigation},
    embed::{self, Exports, use_embed},
    fetched::{Fetch, Settled, part},
    figures::{
        Exporters, FigureTheme, attention_json, loss_json, provide_exporters, view::HeadView,
    },
    reactive::memo,
    store::{Severity, Store},
    teaching::{Glossary, Note, provide_lit},
};

/// The whole page, or the figure alone where the link says so.
pub fn page(link: Link, given: Vec<String>, problems: &[LinkProblem]) -> AnyView {
    let embedded = link.embed;
    let store = Store::new(link, given, problems);
    let labs = Labs::new(store);
    let progress = Progress::read();
    provide_context(store);
    provide_context(labs.clone());
    provide_context(progress);
    provide_context(FigureTheme { dark: use_theme(store), face: use_face() });
    use_url(store);
    let chapter = memo(move || store.link.with(|link| link.chapter));
    let view = move || {
        let chapter = chapter.get();
        if chapter.shows_lab() {
            store.open();
        }
        chapters::view(chapter)
    };
    provide_lit();
    provide_context(Settled(RwSignal::new(false)));
    let exporters = provide_exporters();
    if embedded {
        fetch_embed(store, labs, exporters);
        return view! { {view} <Notices/> }.into_any();
    }
    use_navigation(store, progress);
    let badge_labs = labs.clone();
    let lab = memo(move || chapter.with(|chapter| badge_labs.follow(*chapter).map(|l| l.device)));
    let device = move || lab.get().map_or_else(|| store.device.get(), |device| device.get());
    let retry = move || match labs.of(chapter.get_untracked()) {
        Some(lab) => lab.retry_engine(),
        None => store.retry_engine(),
    };
    view! {
        <a class="skip-link" href="#stage-view">"Skip to the figure"</a>
        <header class="page-header">
            <a class="wordmark" href="./" aria-label="Unroll" translate="no">
                <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1 1h4v4h4v4h4v6H1z"/></svg>
                <span>"Unroll"</span>
            </a>
            <ChapterMenu/>
            <Rail/>
            <div class="page-tools">
                <DeviceBadge device=Signal::derive(device) retry=Callback::new(move |()| retry())/>
                <Glossary/>
                <Note/>
                <CopyLink/>
                <ThemeChoice/>
            </div>
        </header>
        <Notices/>
        {view}
    }
    .into_any()
}

/// Speaks with the page around this one, once the part that can is fetched.
fn fetch_embed(store: Store, labs: Labs, exporters: Exporters) {
    if !embed::is_framed() {
        return;
    }
    let fetch: Fetch<fn(Store, Labs, Exporters)> = part!(embed: fn(Store, Labs, Exporters) =
        |store, labs, exporters| use_embed(store, labs, exports(store), exporters));
    let owner = Owner::current().unwrap_or_default();
    spawn_local(async move {
        match fetch().await {
            Ok(use_embed) => owner.with(|| use_embed(store, labs, exporters)),
            Err(_) => store.notify(
                Severity::Failure,
                "The page around this one can’t reach it: a file could not be loaded. Reload to try again.",
            ),
        }
    });
}

/// What `export` messages are answered with: the same JSON as the figures' own menus give.
fn exports(store: Store) -> Exports {
    Exports {
        attention: Callback::new(move |()| {
            let (layer, head) = store.link.with_untracked(|link| (link.gpt.layer, link.gpt.head));
            let view = HeadView::new(store.own_trace()?, layer, head)?;
            Some(attention_json(&view, &gpt_provenance(store)))
        }),
        loss: Callback::new(move |()| {
            let vocabulary =
                store.started.with_untracked(|s| s.as_ref().map(|s| s.vocabulary.len()))?;
            let provenance = gpt_provenance(store);
            Some(store.curve.with_untracked(|curve| loss_json(curve, vocabulary, &provenance)))
        }),
    }
}
