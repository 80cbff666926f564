//! Copies of kept runs.

use leptos::prelude::*;

use crate::{
    kept::{
        MOST, RUN,
        folder::{self, RUNS},
        head_of, is_twin, labels, moments, new_name,
    },
    store::{Severity, Store},
};

/// Copies a run into a file of its own.
pub(super) async fn duplicate(store: Store, file: &str) {
    let entries = folder::entries(RUNS).await.unwrap_or_default();
    if entries.iter().filter(|entry| !is_twin(&entry.name)).count() >= MOST {
        store.notify(
            Severity::Refusal,
            format!("At most {MOST} runs are kept. Delete one first, then duplicate this one."),
        );
        return;
    }
    let Some(entry) = entries.into_iter().find(|entry| entry.name == file) else { return };
    let copy = new_name(RUN);
    let text = head_of(&entry).await.map_or_else(|_| String::new(), |head| head.text);
    let copied = match folder::put(RUNS, &copy, &entry.file).await {
        Ok(()) => moments::copy(file, &copy).await,
        Err(trouble) => Err(trouble),
    };
    match copied {
        Ok(()) => {
            let name = labels::name_of(file).unwrap_or(text);
            labels::rename(&copy, &format!("Copy of {name}"));
        }
        Err(_) => {
            // What was begun of it.
            let _ = folder::delete(RUNS, &copy).await;
            moments::delete(&copy).await;
            store.notify(Severity::Refusal, "This run could not be duplicated.");
        }
    }
    store.kept.notify();
}
