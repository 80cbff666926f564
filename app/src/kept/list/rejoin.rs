//! A twin that is far behind goes on from what was kept of it.

use leptos::prelude::*;
use unroll_protocol::LearningRateSchedule;

use crate::{
    kept::{
        Keeping, elsewhere,
        file::{Head, checksum},
        folder::{self, Entry, RUNS},
        head_of, is_twin, resumed, settings, twin_of,
    },
    store::{Run, Store},
};

/// See [`Act::Rejoin`](crate::kept::Act::Rejoin).
pub async fn rejoin(store: Store, most: u32) {
    let Ok(entries) = folder::entries(RUNS).await else { return };
    let others = elsewhere(store).await;
    let own =
        store.keeping(|keeping| keeping.leader.map(|run| twin_of(&run.keeping(Keeping::name))));
    // One that stood beside this very run is right even where it was kept later, and so is ahead: the run will
    // come to where it is.
    let mut best: Option<((bool, u32), Entry)> = None;
    for entry in entries.into_iter().filter(|entry| is_twin(&entry.name)) {
        let Ok(head) = head_of(&entry).await else { continue };
        let is_own = own.as_ref().is_some_and(|own| entry.name.starts_with(own));
        let rank = (is_own, head.step);
        let is_better = best.as_ref().is_none_or(|(best, _)| rank > *best);
        let is_there = is_own || head.step <= most;
        if is_better && is_there && !others.contains(&entry.name) && fits(store, &head) {
            best = Some((rank, entry));
        }
    }
    let Some(((is_own, _), entry)) = best else { return };
    // Where its file is damaged it trains from where it is.
    let Ok(run) = resumed(store, &entry).await else { return };
    // Meanwhile the learner may have ended the twin, or changed what it is.
    let still = store.link.try_with_untracked(|link| link.experiment() == run.link.experiment());
    // Beside another run, one whose rate was changed on the way came there otherwise than this twin would.
    let schedule = LearningRateSchedule::new(&run.link.experiment().optimizer);
    let mut points = run.curve.points().iter();
    let is_steady = points.all(|point| point.learning_rate == schedule.at(point.step) as f32);
    let is_same = || store.source.with_untracked(|source| source.text == run.source.text);
    if still == Some(true) && (is_own || is_steady) && is_same() {
        // One sentence for both.
        let probe = store.probe.get_untracked();
        store.take_up_run(Run { probe, ..run });
    }
}

/// Whether what was kept is further than the model on show, and of the same settings and text.
fn fits(store: Store, head: &Head) -> bool {
    let Some(step) = store.step.try_get_untracked() else { return false };
    let kept = settings(&head.query);
    let sum = store.source.with_untracked(|source| checksum(source.text.as_bytes()));
    head.step > step
        && !head.query.is_empty()
        && head.text_sum == Some(sum)
        && store.link.with_untracked(|link| link.experiment() == kept.experiment())
}
