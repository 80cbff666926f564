//! The kept runs on the page: the last one is offered when the page opens, all are listed in the
//! settings.

mod deletion;
mod differences;
mod duplicate;
mod focus;
mod item;
mod offer;
mod rejoin;
mod renaming;
mod row;

use core::cell::Cell;
use std::rc::Rc;

use leptos::{prelude::*, task::spawn_local};
use unroll_protocol::link::Corpus;

use self::{
    deletion::{Bin, deletion},
    focus::{ACTIONS, ALL, HEADING, UNDO, focus_one_of, id, instead_of},
    item::item,
    row::{Row, rows},
};
pub(super) use self::{offer::offer, rejoin::rejoin, row::ago};
use super::{
    MOST, MOST_TWINS, file::checksum, folder::Trouble, model_file, moments, shelf, studies,
};
use crate::{
    controls::counted,
    reactive::{effect, memo},
    store::Store,
};

/// All kept runs.
pub(super) fn list() -> AnyView {
    let store = expect_context::<Store>();
    let all = RwSignal::new(None::<Result<Vec<Row>, Trouble>>);
    // How many chapters are kept, and their bytes.
    let chapters = RwSignal::new((0, 0.0));
    // The bytes of all runs' moments.
    let earlier = RwSignal::new(0.0);
    let renamed = RwSignal::new(None);
    let bin = Bin::new(store);
    let readings = Rc::new(Cell::new(0));
    effect(move || {
        store.kept.track();
        // Another run may be the one on the page now.
        store.started.track();
        let (begun, reading) = (readings.clone(), readings.get() + 1);
        begun.set(reading);
        spawn_local(async move {
            let now = rows(store).await;
            let kept = studies::entries().await;
            let bytes = moments::bytes().await;
            // A reading that began later may be done already. And what is being typed is not taken away.
            if begun.get() != reading || renamed.try_with_untracked(Option::is_none) != Some(true) {
                return;
            }
            // A run that trains is kept again and again: whoever is on a button stays on it.
            let had = document().active_element();
            let had = had.filter(|element| element.id().starts_with("kept-"));
            let focused = had.as_ref().map(|element| element.id()).filter(|id| id != HEADING);
            let is_there = |file: &String| {
                now.as_ref().is_ok_and(|rows| rows.iter().any(|row| row.file == *file))
            };
            let back = bin.back.try_update_value(|back| back.take_if(|file| is_there(file)));
            let back = back.flatten().map(|file| id(ACTIONS[0], &file));
            earlier.try_set(bytes);
            chapters.try_set((kept.len(), kept.iter().map(|entry| entry.bytes).sum()));
            all.try_set(Some(now));
            if let Some(focus) = back.or(focused) {
                focus_one_of(instead_of(&focus), had);
            }
        });
    });
    // A number alone: a memo of anything else is code that the chapters' shared file would have to hold.
    let sum = memo(move || {
        store.source.with(|source| match source.corpus {
            Corpus::Own => checksum(source.text.as_bytes()),
            _ => 0,
        })
    });
    let total = move || {
        let bytes = all.with(|all| match all {
            Some(Ok(rows)) => rows.iter().map(|row| row.bytes).sum(),
            _ => 0.0,
        });
        format!(
            "These runs take up {:.1} MB in this browser. Nothing is sent anywhere. The {MOST} newest runs \
             and {MOST_TWINS} twins are kept. The twins and the {} newest runs also keep earlier steps of their \
             training, so you can go back in time.",
            (bytes + earlier.get()) / 1e6,
            moments::MOST
        )
    };
    let delete_all = move |_| {
        let files = all.with_untracked(|all| match all {
            Some(Ok(rows)) => rows.iter().map(|row| row.file.clone()).collect(),
            _ => Vec::new(),
        });
        renamed.set(None);
        spawn_local(bin.take_all(files));
    };
    let of_chapters = move || {
        let (count, bytes) = chapters.get();
        (count > 0).then(|| {
            let models = counted(count as u64, "chapter");
            let sentence = format!(
                "The models of {models} are kept as well, in their latest state. They take up {:.1} MB.",
                bytes / 1e6
            );
            view! { <p class="hint" data-testid="kept-chapters">{sentence}</p> }
        })
    };
    let can_delete = move || {
        let has_runs = all.with(|all| matches!(all, Some(Ok(rows)) if !rows.is_empty()));
        has_runs || chapters.with(|(count, _)| *count > 0)
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
            <ul class="kept-list">
                {rows.into_iter().map(|row| item(row, bin, renamed, sum)).collect_view()}
            </ul>
            <p class="hint" data-testid="kept-total">{total}</p>
        }
        .into_any(),
    }
    };
    let deleted = move || {
        let [count, chapters] = [bin.runs, bin.studies].map(|bin| bin.with(Vec::len));
        let others = bin.others.get();
        (count + chapters + others > 0).then(|| {
            view! {
                <p class="kept-deleted">
                    {deletion(count, chapters, others)}
                    {(count + chapters > 0).then(|| view! {
                        <button type="button" class="button" id=UNDO data-testid=UNDO
                            on:click=move |_| spawn_local(bin.bring_back())>
                            "Undo"
                        </button>
                    })}
                </p>
            }
        })
    };
    view! {
        {model_file::section(store)}
        {shelf::section(store)}
        <section class="kept" data-testid="kept-runs">
            <h3 id=HEADING tabindex="-1">"Kept runs"</h3>
            {shown}
            {of_chapters}
            {move || can_delete().then(|| view! {
                <button type="button" class="button" id=ALL data-testid="kept-delete-all" on:click=delete_all>"Delete all"</button>
            })}
            <div role="status">{deleted}</div>
        </section>
    }
    .into_any()
}
