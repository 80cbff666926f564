//! The kept runs on the page: the last one is offered when the page opens, all are listed in the
//! settings.

use std::sync::Arc;

use js_sys::Date;
use leptos::{prelude::*, task::spawn_local};

use super::{
    elsewhere,
    file::Head,
    folder::{self, Trouble},
    go_on, head_of, model_file,
};
use crate::{
    controls::{counted, four_digits, grouped},
    reactive::effect,
    store::{Severity, Store},
};

/// A kept run, as the list has it.
#[derive(Clone)]
struct Row {
    name: String,
    /// When it was written, in milliseconds since 1970.
    at: f64,
    bytes: f64,
    /// `None` where the file is damaged.
    head: Option<Head>,
    /// Whether it is the run of another tab.
    elsewhere: bool,
}

async fn rows(store: Store) -> Result<Vec<Row>, Trouble> {
    let others = elsewhere(store).await;
    let mut rows = Vec::new();
    for entry in folder::entries().await? {
        let head = head_of(&entry).await.ok();
        let elsewhere = others.contains(&entry.name);
        rows.push(Row { name: entry.name, at: entry.at, bytes: entry.bytes, head, elsewhere });
    }
    Ok(rows)
}

/// How long ago, in words.
fn ago(milliseconds: f64) -> String {
    let minutes = (milliseconds / 60_000.0).max(0.0);
    let (number, noun) = match minutes {
        ..1.0 => return "just now".to_owned(),
        ..60.0 => (minutes, "minute"),
        ..1440.0 => (minutes / 60.0, "hour"),
        _ => (minutes / 1440.0, "day"),
    };
    format!("{} ago", counted(number as u64, noun))
}

/// A run in a line.
fn said(row: &Row) -> String {
    let when = ago(Date::now() - row.at);
    match &row.head {
        None => format!("A damaged file, {when}"),
        Some(head) => {
            let loss =
                head.loss.map_or(String::new(), |loss| format!(", loss {}", four_digits(loss)));
            let step = grouped(head.step.into());
            format!("{}: {}, step {step}{loss}, {when}", head.text, head.model)
        }
    }
}

/// Offers the newest run that no other tab has open.
pub(super) async fn offer(store: Store) {
    let Ok(rows) = rows(store).await else { return };
    let newest = rows.into_iter().find(|row| row.head.is_some() && !row.elsewhere);
    // The learner may have begun, and been kept, in the meantime.
    let Some(row) = newest.filter(|_| store.keeping(|keeping| keeping.file.is_none())) else {
        return;
    };
    store.offer.set(Some(Arc::new(move || card(store, row.clone()))));
}

fn card(store: Store, row: Row) -> AnyView {
    let close = move || store.offer.set(None);
    let sentence = said(&row);
    let name = row.name;
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
        spawn_local(async move { delete(store, vec![name]).await });
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

async fn delete(store: Store, names: Vec<String>) {
    for name in names {
        if folder::delete(&name).await.is_err() {
            store.notify(Severity::Refusal, "A kept run could not be deleted.");
        }
        store.keeping(|keeping| {
            if keeping.file.as_ref() == Some(&name) {
                keeping.deleted = true;
            }
        });
    }
    store.kept.notify();
}

/// All kept runs, each to go on with or to delete.
pub(super) fn list() -> AnyView {
    let store = expect_context::<Store>();
    let all = RwSignal::new(None::<Result<Vec<Row>, Trouble>>);
    effect(move || {
        store.kept.track();
        spawn_local(async move {
            let now = rows(store).await;
            all.try_set(Some(now));
        });
    });
    let total = move || {
        let bytes = all.with(|all| match all {
            Some(Ok(rows)) => rows.iter().map(|row| row.bytes).sum(),
            _ => 0.0,
        });
        format!("{:.1} MB in this browser. None of it is sent anywhere.", bytes / 1e6)
    };
    let delete_all = move |_| {
        let names = all.with_untracked(|all| match all {
            Some(Ok(rows)) => rows.iter().map(|row| row.name.clone()).collect(),
            _ => Vec::new(),
        });
        spawn_local(async move { delete(store, names).await });
    };
    let item = move |row: Row| {
        let (own, elsewhere) =
            (store.keeping(|keeping| keeping.file.as_ref() == Some(&row.name)), row.elsewhere);
        let can_go_on = row.head.is_some() && !own;
        let sentence = said(&row);
        let (going, deleted) = (row.name.clone(), row.name);
        let go = move |_| {
            let name = going.clone();
            spawn_local(async move { go_on(store, &name).await });
        };
        let remove = move |_| {
            let name = deleted.clone();
            spawn_local(async move { delete(store, vec![name]).await });
        };
        view! {
            <li data-testid="kept-run">
                <p>
                    <span translate="no">{sentence}</span>
                    {own.then_some(" (the run on this page)")}{elsewhere.then_some(" (open in another tab)")}
                </p>
                <div class="button-row">
                    {can_go_on.then(|| view! {
                        <button type="button" class="button" on:click=go>"Continue"</button>
                    })}
                    {(!elsewhere).then(|| view! {
                        <button type="button" class="button" on:click=remove>"Delete"</button>
                    })}
                </div>
            </li>
        }
    };
    let shown = move || {
        match all.get() {
        None => ().into_any(),
        Some(Err(trouble)) => view! { <p class="hint">{trouble.sentence()}</p> }.into_any(),
        Some(Ok(rows)) if rows.is_empty() => view! {
            <p class="hint">"None yet. While a run trains, it is saved here about every ten seconds, and again when training stops."</p>
        }
        .into_any(),
        Some(Ok(rows)) => view! {
            <ul class="kept-list">{rows.into_iter().map(item).collect_view()}</ul>
            <p class="hint" data-testid="kept-total">{total}</p>
            <button type="button" class="button" data-testid="kept-delete-all" on:click=delete_all>"Delete all"</button>
        }
        .into_any(),
    }
    };
    view! {
        {model_file::section(store)}
        <section class="kept" data-testid="kept-runs">
            <h3>"Kept runs"</h3>
            {shown}
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_said_in_a_line() {
        let at = |minutes: f64| ago(minutes * 60_000.0);
        assert_eq!([-1.0, 0.9].map(at), ["just now", "just now"]);
        assert_eq!(
            [1.0, 59.9, 61.0, 3000.0].map(at),
            ["1 minute ago", "59 minutes ago", "1 hour ago", "2 days ago"]
        );
    }
}
