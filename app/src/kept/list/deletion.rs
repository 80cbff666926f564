//! Runs and chapters’ models that the learner deletes, and brings back.

use js_sys::Array;
use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use super::focus::{UNDO, focus_one_of};
use crate::{
    controls::counted,
    kept::{
        elsewhere,
        folder::{self, Entry, RUNS, Trouble},
        labels, moments, save, studies,
    },
    store::{Severity, Store},
};

pub(super) async fn remove(store: Store, files: &[String]) {
    for file in files {
        set_deleted(store, file, true);
        match folder::delete(RUNS, file).await {
            Ok(()) => {
                labels::rename(file, "");
                moments::delete(file).await;
            }
            Err(_) => store.notify(Severity::Refusal, "A kept run could not be deleted."),
        }
    }
    store.kept.notify();
}

/// Says whether the run in this file is kept no more, if it is the one on the page. Returns whether it is.
fn set_deleted(store: Store, file: &str, deleted: bool) -> bool {
    store.keeping(|keeping| {
        let own = keeping.file.as_deref() == Some(file);
        if own {
            keeping.deleted = deleted;
        }
        own
    })
}

/// What was deleted last, for second thoughts. It is in the page's memory alone, and goes with the list.
#[derive(Clone, Copy)]
pub(super) struct Bin {
    pub(super) store: Store,
    pub(super) runs: RwSignal<Vec<Deleted>, LocalStorage>,
    /// The chapters' models that were deleted with them.
    pub(super) studies: RwSignal<Vec<Deleted>, LocalStorage>,
    /// How many were to go too, but are another tab's.
    pub(super) others: RwSignal<usize>,
    /// The file of a run that comes back: where the focus goes.
    pub(super) back: StoredValue<Option<String>>,
}

pub(super) struct Deleted {
    file: String,
    name: String,
    content: Blob,
    /// Of a run.
    moments: Vec<Deleted>,
}

impl Deleted {
    /// What is in the file, and its name. A file that is gone can't be read any more, so its bytes are.
    async fn of(entry: Entry, name: String) -> Option<Self> {
        let bytes = JsFuture::from(entry.file.array_buffer()).await.ok()?;
        let content = Blob::new_with_buffer_source_sequence(&Array::of1(&bytes)).ok()?;
        Some(Self { file: entry.name, name, content, moments: Vec::new() })
    }

    /// A run with its moments.
    async fn run(entry: Entry, name: String) -> Option<Self> {
        let mut run = Self::of(entry, name).await?;
        for moment in moments::files(&run.file).await {
            run.moments.extend(Self::of(moment, String::new()).await);
        }
        Some(run)
    }

    async fn put_back(&self) -> Result<(), Trouble> {
        folder::put(RUNS, &self.file, &self.content).await?;
        for moment in &self.moments {
            moments::put(&self.file, &moment.file, &moment.content).await?;
        }
        Ok(())
    }
}

impl Bin {
    pub(super) fn new(store: Store) -> Self {
        let (others, back) = (RwSignal::new(0), StoredValue::new(None));
        let [runs, studies] = [(); 2].map(|()| RwSignal::new_local(Vec::new()));
        Self { store, runs, studies, others, back }
    }

    /// Deletes files, unless another tab has them open, and holds what was in them.
    pub(super) async fn take(self, mut files: Vec<String>) {
        // The button that was pressed goes with its run.
        let had = document().active_element();
        let (all, elsewhere) = (files.len(), elsewhere(self.store).await);
        files.retain(|file| !elsewhere.contains(file));
        let mut runs = Vec::new();
        for entry in folder::entries(RUNS).await.unwrap_or_default() {
            if !files.contains(&entry.name) {
                continue;
            }
            let name = labels::name_of(&entry.name).unwrap_or_default();
            runs.extend(Deleted::run(entry, name).await);
        }
        remove(self.store, &files).await;
        self.studies.try_set(Vec::new());
        // The learner may have left meanwhile.
        self.others.try_set(all - files.len());
        // With nothing deleted, what was before can still be brought back.
        if !runs.is_empty() {
            self.runs.try_set(runs);
        }
        focus_one_of(vec![UNDO.to_owned()], had);
    }

    /// Deletes what is kept of all chapters, too.
    pub(super) async fn take_all(self, files: Vec<String>) {
        let had = document().active_element();
        self.take(files).await;
        let mut taken = Vec::new();
        for entry in studies::entries().await {
            let name = entry.name.clone();
            let deleted = Deleted::of(entry, String::new()).await;
            match studies::delete(&name).await {
                Ok(()) => taken.extend(deleted),
                Err(_) => {
                    self.store.notify(Severity::Refusal, "A kept chapter could not be deleted.")
                }
            }
        }
        if !taken.is_empty() {
            self.studies.try_set(taken);
            self.store.kept.notify();
            focus_one_of(vec![UNDO.to_owned()], had);
        }
    }

    pub(super) async fn bring_back(self) {
        let mut is_own = false;
        self.others.try_set(0);
        for run in self.runs.try_update(core::mem::take).unwrap_or_default() {
            match run.put_back().await {
                Ok(()) => {
                    labels::rename(&run.file, &run.name);
                    is_own |= set_deleted(self.store, &run.file, false);
                    self.back.try_update_value(|back| _ = back.get_or_insert(run.file));
                }
                Err(trouble) => {
                    self.store.notify(Severity::Refusal, trouble.sentence());
                    self.runs.try_update(|runs| runs.push(run));
                }
            }
        }
        for study in self.studies.try_update(core::mem::take).unwrap_or_default() {
            match folder::put(studies::FOLDER, &study.file, &study.content).await {
                Ok(()) => studies::mark(&study.file, true),
                Err(trouble) => {
                    self.store.notify(Severity::Refusal, trouble.sentence());
                    self.studies.try_update(|studies| studies.push(study));
                }
            }
        }
        if is_own {
            // It may have been trained since. What is read while it is written looks damaged.
            save(self.store).await;
        }
        self.store.kept.notify();
        focus_one_of(vec![UNDO.to_owned()], None);
    }
}

/// What was deleted, of the chapters too, and what was not because other tabs have it open.
pub(super) fn deletion(count: usize, chapters: usize, others: usize) -> String {
    let chapters = (chapters > 0).then(|| counted(chapters as u64, "chapter"));
    let deleted = match ((count > 0).then(|| counted(count as u64, "run")), chapters) {
        (Some(runs), Some(chapters)) => format!("{runs} and models of {chapters} deleted. "),
        (None, Some(chapters)) => format!("Models of {chapters} deleted. "),
        (runs, None) => format!("{} deleted. ", runs.unwrap_or("0 runs".to_owned())),
    };
    match others {
        0 => deleted,
        1 => deleted + "1 run was kept: it is open in another tab. ",
        others => format!("{deleted}{others} runs were kept: they are open in other tabs. "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_says_what_stays() {
        assert_eq!(deletion(1, 0, 0), "1 run deleted. ");
        assert_eq!(
            deletion(2, 0, 1),
            "2 runs deleted. 1 run was kept: it is open in another tab. "
        );
        assert_eq!(
            deletion(1, 0, 2),
            "1 run deleted. 2 runs were kept: they are open in other tabs. "
        );
        assert_eq!(deletion(0, 1, 0), "Models of 1 chapter deleted. ");
        assert_eq!(deletion(2, 3, 0), "2 runs and models of 3 chapters deleted. ");
    }
}
