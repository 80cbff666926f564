//! The latest state of each chapter's models: one file for each chapter, which begins as a run's does. The
//! models stay packed, so that the page need not understand them: the engine looks through them.
//!
//! No tab holds them. Where two have a chapter open, the file is that of whoever wrote last.

use core::ops::Range;

use js_sys::Uint8Array;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use unroll_protocol::{Packed, link::Chapter};
use wasm_bindgen_futures::JsFuture;

use super::{
    KeptStudy, PIECE, STUDIES,
    file::{self, Damaged, Reader},
    folder::{self, Entry, Trouble},
};
use crate::{
    course::storage,
    reactive::next_task,
    store::{Severity, Store},
};

/// The folder of all of them.
pub const FOLDER: &str = "chapters";

/// While another tab replaces a file, there is none for a moment.
const ATTEMPTS: usize = 5;

/// What decides whether models can go on from it.
#[derive(Serialize, Deserialize)]
struct Head {
    spec: Packed,
    text: u32,
}

/// The whole file.
fn written(kept: &KeptStudy) -> Vec<u8> {
    let KeptStudy { spec, text, models, history } = kept;
    let head = Head { spec: spec.clone(), text: *text };
    [file::beginning(), file::record(&head), file::record(history), file::record(models)].concat()
}

/// What `read` gives of a file of so many bytes.
fn parsed(read: impl Fn(Range<usize>) -> Vec<u8>, length: usize) -> Result<KeptStudy, Damaged> {
    let mut reader = Reader::new(read, length)?;
    let Head { spec, text } = reader.next()?;
    Ok(KeptStudy { spec, text, history: reader.next()?, models: reader.next()? })
}

/// Notes whether the chapter of this file is kept: a visit to any other looks no further.
pub fn mark(name: &str, is_kept: bool) {
    let Some(storage) = storage() else { return };
    let marked = storage.get_item(STUDIES).ok().flatten().unwrap_or_default();
    let mut names: Vec<&str> = marked.split_whitespace().filter(|other| *other != name).collect();
    if is_kept {
        names.push(name);
    }
    // Where that is refused, the chapter begins anew, and the file stays.
    let _ = storage.set_item(STUDIES, &names.join(" "));
}

/// All that are kept.
pub async fn entries() -> Vec<Entry> {
    folder::entries(FOLDER).await.unwrap_or_default()
}

pub async fn delete(name: &str) -> Result<(), Trouble> {
    folder::delete(FOLDER, name).await?;
    mark(name, false);
    Ok(())
}

/// Puts it in place of what was kept of the chapter; nothing, where there is none.
pub async fn put(store: Store, chapter: Chapter, kept: Option<&KeptStudy>) {
    let name = chapter.id();
    let done = match kept {
        Some(kept) => write(name, &written(kept)).await,
        None => delete(name).await,
    };
    match done {
        Ok(()) => mark(name, kept.is_some()),
        // What is not there can't be deleted.
        Err(_) if kept.is_none() => mark(name, false),
        Err(trouble) => {
            let told = store.keeping(|keeping| keeping.told.replace(trouble));
            if told != Some(trouble) {
                store.notify(Severity::Note, trouble.sentence());
            }
        }
    }
    store.kept.notify();
}

async fn write(name: &str, bytes: &[u8]) -> Result<(), Trouble> {
    folder::write(FOLDER, name, async |writer| {
        for piece in bytes.chunks(PIECE) {
            writer.write(piece).await?;
        }
        Ok(())
    })
    .await
}

/// What is kept of the chapter.
pub async fn read(chapter: Chapter) -> Result<Option<KeptStudy>, Damaged> {
    let mut entry = None;
    for _ in 0..ATTEMPTS {
        entry = entries().await.into_iter().find(|entry| entry.name == chapter.id());
        if entry.is_some() {
            break;
        }
        next_task().await;
    }
    let Some(entry) = entry else { return Ok(None) };
    let buffer = JsFuture::from(entry.file.array_buffer()).await.map_err(|_| Damaged)?;
    let bytes = Uint8Array::new(&buffer);
    let piece = |range: Range<usize>| bytes.subarray(range.start as u32, range.end as u32).to_vec();
    parsed(piece, bytes.length() as usize).map(Some)
}

#[cfg(test)]
mod tests {
    use unroll_protocol::StudyPoint;

    use super::*;
    use crate::course::History;

    #[test]
    fn a_state_survives_the_trip_with_its_curve_and_damage_is_noticed() {
        let mut history = History::new(&["loss".into(), "held out".into()]);
        for step in 1..=9000 {
            let held_out = (step % 100 == 0).then_some(2.5);
            history.push(&StudyPoint { step, values: vec![Some(1.0 / step as f32), held_out] });
        }
        let packed = |bytes: &[u8]| Packed::from_bytes(bytes.to_vec());
        let (spec, models) = (packed(b"spec"), packed(&[7; 100_000]));
        let kept = KeptStudy { spec, text: 5, models, history };
        let file = written(&kept);
        let read = |file: &[u8]| parsed(|range| file[range].to_vec(), file.len());
        assert_eq!(read(&file).unwrap(), kept);
        assert_eq!(read(&file[..file.len() - 1]), Err(Damaged));
        for at in [3, 20, file.len() / 2, file.len() - 1] {
            let mut other = file.clone();
            other[at] ^= 1;
            assert_eq!(read(&other), Err(Damaged), "{at}");
        }
    }
}
