//! The moments of the lab's runs as they outlive the page: each run has a folder, in which each moment is a
//! file named after its step.
//!
//! After each time that the run is kept, the engine is asked for the moments that are new, one after the
//! other, and those that it has thinned out go from the folder, too.

use core::{cell::Cell, ops::Range};
use std::rc::Rc;

use js_sys::Uint8Array;
use leptos::{prelude::*, task::spawn_local};
use serde::{Deserialize, Serialize};
use unroll_protocol::{Checkpoint, Recorded, checkpoint::SavedParameter};
use wasm_bindgen_futures::JsFuture;

use super::{
    Task,
    file::{self, Damaged, Reader},
    folder::{self, Entry, MOMENTS, Trouble},
    incoming::Refusal,
    parameters, pour,
};
use crate::{
    questions::Questions,
    store::{Past, Severity, Store},
};

/// So many runs keep their moments, the newest ones; the others keep their last state.
pub const MOST: usize = 6;
/// Megabytes that those of one run may take up, however many the engine may have.
const MEGABYTES: u32 = Recorded::BUDGET;

/// What such a file begins with.
#[derive(Serialize, Deserialize)]
struct Head {
    step: u32,
    /// The records that follow.
    parameters: u32,
}

/// What is known of the moments of the run on show.
#[derive(Default)]
pub struct Moments {
    /// The steps of those in its folder, in order; `None` before it was looked into.
    kept: Option<Vec<u32>>,
    /// The run's file, and the step of the moment that the engine was asked for.
    asked: Option<(String, u32)>,
    /// What the engine handed out.
    came: Option<Box<Checkpoint>>,
    /// The run went back to this step, so those after it are to go from the folder.
    back_at: Option<u32>,
    /// There was no room for the run itself: it is kept without them.
    is_stopped: bool,
}

impl Moments {
    /// Keeps none of this run any more.
    pub fn stop(&mut self) {
        *self = Self { is_stopped: true, ..Self::default() };
    }

    pub fn take_in(&mut self, moment: Box<Checkpoint>) {
        self.came = Some(moment);
    }

    /// The run is back at `step`: what comes now is not what came before.
    pub fn forget_after(&mut self, step: u32) {
        self.asked = None;
        self.back_at = Some(self.back_at.map_or(step, |at| at.min(step)));
    }
}

/// The folder of a run's moments.
fn place(run: &str) -> String {
    format!("{MOMENTS}/{run}")
}

/// All of a run's moments, with their steps, in order.
async fn entries(run: &str) -> Vec<(u32, Entry)> {
    let all = files(run).await.into_iter();
    let mut all: Vec<_> = all.filter_map(|entry| Some((entry.name.parse().ok()?, entry))).collect();
    all.sort_by_key(|(step, _)| *step);
    all
}

/// The files of a run's moments.
pub async fn files(run: &str) -> Vec<Entry> {
    folder::entries(&place(run)).await.unwrap_or_default()
}

/// Puts back a moment that was deleted.
pub async fn put(run: &str, entry: &str, content: &web_sys::Blob) -> Result<(), Trouble> {
    folder::put(&place(run), entry, content).await
}

/// Copies all of a run's moments to another run.
pub async fn copy(from: &str, to: &str) -> Result<(), Trouble> {
    for entry in files(from).await {
        put(to, &entry.name, &entry.file).await?;
    }
    Ok(())
}

/// Deletes all of a run's moments.
pub async fn delete(run: &str) {
    // Where that fails, there may be none. Else they go the next time that a run is kept.
    let _ = folder::delete_folder(MOMENTS, run).await;
}

/// Bytes that those of all runs take up.
pub async fn bytes() -> f64 {
    let mut bytes = 0.0;
    for run in folder::names(MOMENTS).await.unwrap_or_default() {
        bytes += files(&run).await.iter().map(|moment| moment.bytes).sum::<f64>();
    }
    bytes
}

/// Deletes those of all runs but `with`, and of none that is `held`.
pub async fn prune(with: &[String], held: &[String]) {
    for run in folder::names(MOMENTS).await.unwrap_or_default() {
        if !with.contains(&run) && !held.contains(&run) {
            delete(&run).await;
        }
    }
}

/// Which of the recorded moments a run's folder should have, given which it has and where the run's own
/// file is. What is there stays rather than being written again.
fn wanted(recorded: &Recorded, kept: &[u32], saved: u32, parameters: u64) -> Vec<u32> {
    let last = kept.last().copied();
    let is_wanted =
        |step: &u32| *step < saved && (last.is_none_or(|last| *step > last) || kept.contains(step));
    let mut steps: Vec<u32> = recorded.steps.iter().copied().filter(is_wanted).collect();
    let most = Recorded::most(MEGABYTES, parameters);
    Recorded::thin(&mut steps, |step| *step, most, None);
    steps
}

/// The file of the run on show and its last checkpoint, if it is kept with its moments.
fn present(store: Store) -> Option<(String, u32)> {
    let file = store.keeping(|keeping| {
        keeping.file.clone().filter(|_| !keeping.deleted && !keeping.moments.is_stopped)
    })?;
    Some((file, store.saved()?.step))
}

/// Brings the folder of the run on show up to date, after the run was kept.
pub async fn update(store: Store) {
    let Some((run, _)) = present(store) else { return };
    if store.keeping(|keeping| keeping.moments.kept.is_none()) {
        let steps = entries(&run).await.into_iter().map(|(step, _)| step).collect();
        store.keeping(|keeping| {
            if keeping.file.as_ref() == Some(&run) {
                keeping.moments.kept.get_or_insert(steps);
            }
        });
        // If its engine ends, the next one has them from here.
        if let Some(saved) = store.saved() {
            store.set_past(past_of(run, &saved));
        }
    }
    next(store).await;
}

/// Deletes what is not wanted any more, and asks for the first moment that is.
async fn next(store: Store) {
    let Some((run, saved)) = present(store) else { return };
    let recorded = Questions::from(store).recorded.get_untracked();
    let parameters =
        store.started.with_untracked(|started| started.as_ref().map(|started| started.parameters));
    let kept = store.keeping(|keeping| keeping.moments.kept.clone());
    let (Some(parameters), Some(kept)) = (parameters, kept) else { return };
    let back_at = store.keeping(|keeping| keeping.moments.back_at.take());
    let is_own = |step: &u32| back_at.is_none_or(|at| *step <= at);
    let own: Vec<u32> = kept.iter().copied().filter(is_own).collect();
    let wanted = wanted(&recorded, &own, saved, parameters);
    let stays = |step: &u32| is_own(step) && wanted.contains(step);
    for step in kept.iter().filter(|step| !stays(step)) {
        let _ = folder::delete(&place(&run), &step.to_string()).await;
    }
    store.keeping(|keeping| {
        if keeping.file.as_ref() != Some(&run) {
            return;
        }
        if let Some(kept) = &mut keeping.moments.kept {
            kept.retain(stays);
        }
        let new = wanted.iter().copied().find(|step| !(kept.contains(step) && is_own(step)));
        keeping.moments.asked = new.map(|step| (run, step));
    });
    if let Some((_, step)) = store.keeping(|keeping| keeping.moments.asked.clone()) {
        store.ask_for_moment(step);
    }
}

/// Keeps the moment that the engine has handed out, and goes on to the next.
pub async fn came(store: Store) {
    let moments = store.keeping(|keeping| {
        let Moments { asked, came, .. } = &mut keeping.moments;
        Some((asked.take(), came.take()))
    });
    // It may be of a run that is not on show any more.
    let Some((Some((run, step)), Some(moment))) = moments else { return };
    // Where there is no room, the run itself comes first, which says so.
    if moment.step != step || write(&run, &moment).await.is_err() {
        return;
    }
    store.keeping(|keeping| {
        let kept = keeping.moments.kept.as_mut().filter(|_| keeping.file.as_ref() == Some(&run));
        if let Some(kept) = kept {
            let at = kept.partition_point(|kept| *kept < step);
            kept.insert(at, step);
        }
    });
    next(store).await;
    if store.keeping(|keeping| keeping.moments.asked.is_none()) {
        // What runs take up is said with them.
        store.kept.notify();
    }
}

async fn write(run: &str, moment: &Checkpoint) -> Result<(), Trouble> {
    let (place, name) = (place(run), moment.step.to_string());
    let head = Head { step: moment.step, parameters: moment.parameters.len() as u32 };
    let start = [file::beginning(), file::record(&head)].concat();
    let written = folder::write(&place, &name, async |writer| {
        pour(writer, start, &moment.parameters, &[]).await
    })
    .await;
    if written.is_err() {
        // It would be there, empty.
        let _ = folder::delete(&place, &name).await;
    }
    written
}

/// The parameters in a moment's file, of `length` bytes, that `piece` reads, which is to be after `step`
/// steps and to have `count` of them.
async fn parsed(
    piece: impl Fn(Range<usize>) -> Vec<u8>,
    length: usize,
    (step, count): (u32, u32),
) -> Result<Vec<SavedParameter>, Damaged> {
    let mut reader = Reader::new(piece, length)?;
    let head: Head = reader.next()?;
    if (head.step, head.parameters) != (step, count) {
        return Err(Damaged);
    }
    parameters(&mut reader, count).await
}

async fn read(entry: &Entry, step: u32, shell: &Shell) -> Result<Checkpoint, Refusal> {
    let buffer = JsFuture::from(entry.file.array_buffer()).await;
    let bytes = Uint8Array::new(&buffer.map_err(|_| Refusal::Truncated)?);
    let piece = |range: Range<usize>| bytes.subarray(range.start as u32, range.end as u32).to_vec();
    let read = parsed(piece, bytes.length() as usize, (step, shell.parameters)).await;
    let parameters = read.map_err(|Damaged| Refusal::Truncated)?;
    Ok(Checkpoint { step, parameters, ..shell.checkpoint.clone() })
}

/// What all moments of a run have in common.
struct Shell {
    /// Without parameters.
    checkpoint: Checkpoint,
    parameters: u32,
}

/// Tells an engine that has the run in this file, at `checkpoint`, of its kept moments.
pub fn past_of(run: String, checkpoint: &Checkpoint) -> Past {
    let Checkpoint { spec, step, vocabulary, merges, parameters } = checkpoint;
    let (vocabulary, merges) = (vocabulary.clone(), merges.clone());
    let without = Checkpoint { spec: *spec, step: *step, vocabulary, merges, parameters: vec![] };
    let shell = Rc::new(Shell { checkpoint: without, parameters: parameters.len() as u32 });
    past(move || {
        let (run, shell) = (run.clone(), shell.clone());
        Box::pin(async move {
            let earlier = entries(&run).await.into_iter().map(|(step, entry)| {
                let shell = shell.clone();
                Earlier { step, load: Box::pin(async move { read(&entry, step, &shell).await }) }
            });
            earlier.collect()
        })
    })
}

/// Tells an engine of the moments that `list` finds.
pub fn past(list: impl Fn() -> Task<Vec<Earlier>> + 'static) -> Past {
    let calls = Rc::new(Cell::new(0));
    Rc::new(move |store| {
        let call = calls.get() + 1;
        calls.set(call);
        let (list, calls, run) = (list(), calls.clone(), store.generation());
        spawn_local(async move {
            let is_wanted = || calls.get() == call && store.has(run);
            recall(store, list.await, is_wanted).await;
        });
    })
}

/// An earlier moment of a run.
pub struct Earlier {
    pub step: u32,
    pub load: Task<Result<Checkpoint, Refusal>>,
}

/// Tells the engine of earlier moments that it does not have, one after the other, as long as it is to be
/// told.
async fn recall(store: Store, moments: Vec<Earlier>, is_wanted: impl Fn() -> bool) {
    let (mut broken, mut unusable) = (0, 0);
    for Earlier { step, load } in moments {
        if !is_wanted() {
            return;
        }
        let is_known = Questions::from(store)
            .recorded
            .with_untracked(|recorded| recorded.steps.contains(&step));
        // What came after the checkpoint that it goes on from comes again.
        if is_known || step >= store.step.get_untracked() {
            continue;
        }
        let recalled = load.await;
        if !is_wanted() {
            return;
        }
        match recalled {
            Ok(earlier) => store.recall(Box::new(earlier)),
            Err(Refusal::NotFinite) => unusable += 1,
            Err(_) => broken += 1,
        }
    }
    for note in [
        left_out(broken, "couldn’t be read", "couldn’t be read"),
        left_out(
            unusable,
            "has numbers that are NaN or infinite",
            "have numbers that are NaN or infinite",
        ),
    ] {
        if !note.is_empty() {
            store.notify(Severity::Note, note);
        }
    }
}

/// What is said of so many models that are no moments.
pub fn left_out(count: usize, of_one: &str, of_more: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!("One model was left out because it {of_one}."),
        _ => format!("{count} models were left out because they {of_more}."),
    }
}

#[cfg(test)]
mod tests {
    use core::{future::Future, task::Context};
    use std::{pin::pin, task::Waker};

    use unroll_protocol::Array;

    use super::*;

    fn recorded(steps: &[u32]) -> Recorded {
        Recorded { steps: steps.to_vec(), bytes: 0 }
    }

    #[test]
    fn new_moments_are_wanted_and_those_that_were_thinned_out_are_not() {
        // Small enough that all fit.
        let small =
            |steps: &[u32], kept: &[u32], saved| wanted(&recorded(steps), kept, saved, 1000);
        assert_eq!(small(&[0, 1, 2, 5], &[], 5), [0, 1, 2], "the run's own file has the last");
        assert_eq!(small(&[0, 2, 5, 7], &[0, 1, 2], 7), [0, 2, 5]);
        // One that came before the last that is kept could not be written, or is the engine's choice.
        assert_eq!(small(&[0, 1, 2, 3, 8], &[0, 3], 9), [0, 3, 8]);
        assert_eq!(small(&[4], &[], 4), [0_u32; 0]);
    }

    #[test]
    fn a_run_takes_up_no_more_than_its_share_however_many_the_engine_has() {
        // 20 MB each: room for three.
        let steps: Vec<u32> = (0..12).collect();
        let first = wanted(&recorded(&steps), &[], 100, 5_000_000);
        assert_eq!(first.len(), 3);
        assert_eq!((first[0], first[2]), (0, 11));
        let more = wanted(&recorded(&(0..20).collect::<Vec<_>>()), &first, 100, 5_000_000);
        assert_eq!((more.len(), more[0], more[2]), (3, 0, 19));
    }

    #[test]
    fn a_run_that_went_back_twice_is_where_it_was_first() {
        let mut moments = Moments { asked: Some(("run".into(), 10)), ..Moments::default() };
        [4, 9].into_iter().for_each(|step| moments.forget_after(step));
        assert_eq!((moments.back_at, moments.asked), (Some(4), None));
    }

    /// What is ready at once, as it is where nothing is long.
    fn ready<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            core::task::Poll::Ready(value) => value,
            core::task::Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn a_moment_comes_back_bit_for_bit_and_damage_is_noticed() {
        let parameter = |name: &str| SavedParameter {
            name: name.into(),
            value: Array { shape: vec![2], values: vec![-0.0, 1e-42] },
            first_moment: Vec::new(),
            second_moment: Vec::new(),
        };
        let all = [parameter("a"), parameter("b")];
        let head = Head { step: 7, parameters: 2 };
        let mut whole = [file::beginning(), file::record(&head)].concat();
        all.iter().for_each(|parameter| whole.extend(file::record(parameter)));
        let read = |file: &[u8], expected| {
            ready(parsed(|range| file[range].to_vec(), file.len(), expected))
        };
        let found = read(&whole, (7, 2)).unwrap();
        assert_eq!(found, all);
        assert!(found[0].value.values[0].is_sign_negative());
        assert_eq!(read(&whole, (8, 2)), Err(Damaged));
        assert_eq!(read(&whole, (7, 3)), Err(Damaged));
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end], (7, 2)), Err(Damaged), "cut off at {end}");
        }
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 0x10;
            assert_eq!(read(&other, (7, 2)), Err(Damaged), "changed at {at}");
        }
    }
}
