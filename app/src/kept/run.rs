//! A run that goes on elsewhere: it leaves as an archive with a script for PyTorch, and comes back as a
//! folder, or an archive of one, whose every model is a moment of the run.

use core::iter::once;
use std::rc::Rc;

use js_sys::{Array, Date, Reflect, Uint8Array};
use leptos::{prelude::*, task::spawn_local};
use serde_json::Value;
use unroll_protocol::{
    Checkpoint, CurvePoint, ExperimentSpec, Link, OptimizerKind, Recorded, Tokens,
    link::{Chapter, Corpus},
    text::{self, MAX_BYTES},
};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File, ReadableStreamDefaultReader, ReadableWritablePair};

use super::{
    MODEL, PIECE,
    archive::{self, Entry, Pieces, TAIL},
    incoming::{About, Beside, Incoming, Refusal, metadata},
    losses,
    model_file::{Parts, bytes, head_of, pour, settings},
    outgoing::{Outgoing, is_gpt2},
};
use crate::{
    corpora,
    course::go,
    figures::Curve,
    reactive::next_task,
    store::{Past, Run, Severity, Source, Store},
};

/// The folder in the archive, and what it holds.
const FOLDER: &str = "unroll-run";
const SCRIPT: (&str, &str) = ("train.py", include_str!("../../../docs/train.py"));
const TEXT: &str = "text.txt";
const LOSSES: &str = "losses.csv";
const ARCHIVE: &str = ".zip";
/// Lines of the table that are written together.
const ROWS: usize = 1024;
/// The longest table of losses that is read: more than a million steps.
const LONGEST_LOSSES: f64 = 128e6;
/// Bytes that all compressed files of an archive may have together: a few of them can claim to be endless.
const MOST_UNPACKED: u64 = 2_000_000_000;

#[wasm_bindgen]
extern "C" {
    /// web-sys counts it among what may still change.
    type DecompressionStream;

    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<DecompressionStream, JsValue>;
}

/// Why the script can't continue a model of these settings, as a sentence.
pub fn obstacle(link: &Link, tokens: Tokens) -> Option<&'static str> {
    if tokens != Tokens::Characters {
        return Some(
            "train.py only works with models that read single characters. This one reads bytes or byte pairs.",
        );
    }
    if link.gpt.optimizer != OptimizerKind::AdamW {
        return Some(
            "train.py only works with the AdamW optimizer. This model uses a different one.",
        );
    }
    (!is_gpt2(&link.gpt.architecture)).then_some(
        "train.py only works with models built like GPT-2. This one is built differently.",
    )
}

/// What the archive holds of a run: its model, how it was trained so far, and its text.
pub fn contents<'a>(
    checkpoint: &'a Checkpoint,
    link: &Link,
    source: &'a Source,
    points: &'a [CurvePoint],
) -> [(String, Pieces<'a>); 4] {
    let outgoing = Outgoing::new(checkpoint, true);
    let head = outgoing.head(link, &source.name);
    let bodies = outgoing.into_bodies();
    let text = |text: &'a str| -> Pieces<'a> {
        Box::new(text.as_bytes().chunks(PIECE).map(<[u8]>::to_vec))
    };
    let columns = once(format!("{}\n", losses::COLUMNS));
    let table = columns.chain(points.chunks(ROWS).map(losses::written)).map(String::into_bytes);
    let model = format!("run/unroll-step-{}{MODEL}", checkpoint.step);
    [
        (SCRIPT.0, text(SCRIPT.1)),
        (TEXT, text(&source.text)),
        (&format!("run/{LOSSES}"), Box::new(table) as Pieces),
        (&model, Box::new([head].into_iter().chain(bodies))),
    ]
    .map(|(path, pieces)| (format!("{FOLDER}/{path}"), pieces))
}

/// Hands the present run over to the browser, as it was when it was saved.
pub async fn take_along(store: Store, checkpoint: &Checkpoint) {
    let (link, source) = (store.built.get_untracked(), store.source.get_untracked());
    let points = store.curve.with_untracked(|curve| {
        let points = curve.points().iter().filter(|point| point.step <= checkpoint.step);
        points.copied().collect::<Vec<_>>()
    });
    let parts = Parts::default();
    let files = contents(checkpoint, &link, &source, &points);
    let seconds = (Date::now() / 1000.0) as i64;
    let packed = archive::pack(files, seconds, async |piece| parts.push(piece).await).await;
    let name = format!("{FOLDER}-step-{}{ARCHIVE}", checkpoint.step);
    if packed.is_err() {
        store.notify(
            Severity::Refusal,
            "This run couldn’t be saved as a zip file. Your model is unchanged.",
        );
    } else {
        parts.hand_over(store, "application/zip", &name);
    }
}

pub fn is_archive(file: &File) -> bool {
    file.name().to_ascii_lowercase().ends_with(ARCHIVE)
}

/// A file of a folder or of an archive.
struct Named {
    name: String,
    blob: Blob,
}

/// What the models of a run have in common: what it was built with, but for the learning rate, which may be
/// changed at any time; the name of its text, and its vocabulary.
type Identity = (ExperimentSpec, Option<Value>, Option<Value>);

/// A model of a run.
#[derive(Clone)]
struct Moment {
    step: u32,
    run: Identity,
    blob: Blob,
}

impl Moment {
    /// The model in a file, if it is one of the lab's.
    async fn of(blob: &Blob) -> Result<Option<Self>, Refusal> {
        let head = head_of(blob).await?;
        let (metadata, _) = metadata(&head, blob.size() as u64)?;
        let About { unroll, vocabulary, .. } = About::new(&metadata);
        let said = |name| unroll.as_ref()?.get(name);
        let step = said("step").and_then(|step| u32::try_from(step.as_u64()?).ok());
        let query = said("settings").and_then(|settings| settings.as_str());
        let is_of_chapter = said("chapter").is_some();
        Ok(step.zip(query).filter(|_| !is_of_chapter).map(|(step, query)| {
            let mut spec = settings(query).experiment();
            spec.optimizer.learning_rate = 0.0;
            let run = (spec, said("text").cloned(), vocabulary);
            Self { step, run, blob: blob.clone() }
        }))
    }
}

/// Goes on with the run in a folder or an archive, from its last model on; the others are its moments.
pub async fn bring_back(store: Store, files: &[File]) -> Result<(), Refusal> {
    let files = match files {
        [file] if is_archive(file) => unpacked(file).await?,
        _ => files.iter().map(|file| Named { name: file.name(), blob: (**file).clone() }).collect(),
    };
    // What macOS writes beside files has their names too, behind a dot.
    let files: Vec<Named> = files.into_iter().filter(|file| !file.name.starts_with('.')).collect();
    let mut moments = Vec::new();
    let mut broken = 0;
    for file in files.iter().filter(|file| file.name.ends_with(MODEL)) {
        match Moment::of(&file.blob).await {
            Ok(moment) => moments.extend(moment),
            // The script may have been stopped while it wrote this one.
            Err(_) => broken += 1,
        }
    }
    moments.sort_by_key(|moment| moment.step);
    let last = moments.last().cloned().ok_or(Refusal::NoRun)?;
    let all = moments.len();
    moments.retain(|moment| moment.run == last.run);
    let others = all - moments.len();
    moments.dedup_by_key(|moment| moment.step);
    let head = head_of(&last.blob).await?;
    let size = last.blob.size() as u64;
    let mut incoming = Incoming::new(&head, size, &Beside::default(), settings)?;
    pour(&last.blob, incoming.ranges(), |number, bytes| incoming.take(number, bytes)).await?;
    let find = |name: &str| files.iter().find(|file| file.name == name).map(|file| &file.blob);
    let source = source(store, &incoming, find(TEXT)).await?;
    // Without its losses it is a run all the same. The script may be writing to them just now.
    let losses = match find(LOSSES) {
        Some(table) => curve(table, last.step).await,
        None => Ok(Curve::default()),
    };
    let lost = if losses.is_err() {
        "This run’s losses couldn’t be read, so its curve is empty. If train.py is still running, open the folder again later."
    } else {
        ""
    };
    let curve = losses.unwrap_or_default();
    let megabytes = store.link.with_untracked(|link| link.moments);
    let most = Recorded::most(megabytes, incoming.parameters());
    let count = moments.len();
    let is_thinned = Recorded::thin(&mut moments, |moment| moment.step, most, None);
    let notes = [
        incoming.notes.join(" "),
        lost.to_owned(),
        left_out(broken, "couldn’t be read", "couldn’t be read"),
        left_out(others, "is from a different run", "are from a different run"),
        match is_thinned {
            true => format!(
                "The time bar shows {} of this run’s {count} moments: no more fit in {megabytes} MB. To see more, open the device at the top of the page, allow more memory, and open the folder again.",
                moments.len()
            ),
            false => String::new(),
        },
    ];
    notes
        .into_iter()
        .filter(|note| !note.is_empty())
        .for_each(|note| store.notify(Severity::Note, note));
    moments.pop();
    let moments: Rc<[Moment]> = moments.into();
    let past: Past = Rc::new(move |store| spawn_local(recall(store, moments.clone())));
    if !store.link.with_untracked(|link| link.chapter.shows_lab()) {
        go(store, Chapter::Gpt, 0);
    }
    let (link, probe) = (incoming.link.clone(), store.probe.get_untracked());
    let checkpoint = Box::new(incoming.checkpoint());
    store.take_up_run(Run { link, source, curve, probe, checkpoint, file: None, past: Some(past) });
    Ok(())
}

/// What is said of so many models that are no moments.
fn left_out(count: usize, of_one: &str, of_more: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!("One model was left out because it {of_one}."),
        _ => format!("{count} models were left out because they {of_more}."),
    }
}

/// Tells the engine of earlier moments, one after the other, as long as it has their run.
async fn recall(store: Store, moments: Rc<[Moment]>) {
    let run = store.generation();
    let mut broken = 0;
    for moment in moments.iter() {
        let recalled = recalled(&moment.blob).await;
        if store.generation() != run {
            return;
        }
        match recalled {
            Ok(checkpoint) => store.recall(checkpoint),
            Err(_) => broken += 1,
        }
    }
    let note = left_out(broken, "couldn’t be read", "couldn’t be read");
    if !note.is_empty() {
        store.notify(Severity::Note, note);
    }
}

/// The model in a file, without what its optimizer kept.
async fn recalled(blob: &Blob) -> Result<Box<Checkpoint>, Refusal> {
    let head = head_of(blob).await?;
    let incoming = Incoming::new(&head, blob.size() as u64, &Beside::default(), settings)?;
    let mut incoming = incoming.without_optimizer();
    pour(blob, incoming.ranges(), |number, bytes| incoming.take(number, bytes)).await?;
    Ok(Box::new(incoming.checkpoint()))
}

/// The text of a run: a built-in one, or what is beside its models. Else the page's own, with a note.
async fn source(store: Store, incoming: &Incoming, text: Option<&Blob>) -> Result<Source, Refusal> {
    let present = store.source.get_untracked();
    let corpus = incoming.link.corpus;
    if corpus != Corpus::Own {
        if present.corpus == corpus {
            return Ok(present);
        }
        let text = corpora::load(corpus).await.map_err(Refusal::Vocabulary)?;
        return Ok(Source { corpus, name: corpora::name(corpus).to_owned(), text });
    }
    let beside = match text.filter(|text| text.size() <= MAX_BYTES as f64) {
        Some(text) => bytes(text, 0.0, text.size()).await.ok(),
        None => None,
    };
    let name = incoming.text.clone();
    let accepted = beside.and_then(|bytes| {
        let length = bytes.len() as u64;
        text::from_passages(&[bytes], length, |text| (text, None)).ok()
    });
    if let Some(accepted) = accepted {
        return Ok(Source { corpus, name, text: accepted.text.into() });
    }
    let now = &present.name;
    let note = format!(
        "This run trained on a text of its author’s, “{name}”, which couldn’t be read from its files. It now continues on the text of this page, “{now}”."
    );
    store.notify(Severity::Note, note);
    Ok(present)
}

/// The losses of the steps up to `last`.
async fn curve(table: &Blob, last: u32) -> Result<Curve, Refusal> {
    let mut curve = Curve::default();
    let (mut at, mut rest) = (0.0, Vec::new());
    let size = table.size().min(LONGEST_LOSSES);
    while at < size {
        let end = (at + PIECE as f64 / 4.0).min(size);
        // A line is not as long as that.
        if rest.len() > PIECE {
            rest.clear();
        }
        rest.extend(bytes(table, at, end).await?);
        at = end;
        let whole = if at < size {
            rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
        } else {
            rest.len()
        };
        let lines: Vec<u8> = rest.drain(..whole).collect();
        let lines = String::from_utf8_lossy(&lines);
        let points = lines.lines().filter_map(losses::read).filter(|point| point.step <= last);
        curve.extend(&points.collect::<Vec<_>>());
        next_task().await;
    }
    Ok(curve)
}

/// The files in an archive, unpacked where they must be.
async fn unpacked(archive: &File) -> Result<Vec<Named>, Refusal> {
    let size = archive.size();
    let tail = bytes(archive, (size - TAIL as f64).max(0.0), size).await?;
    let entries = archive::entries(&tail, size as u64).map_err(|_| Refusal::NotZip)?;
    let mut files = Vec::new();
    let mut room = MOST_UNPACKED;
    for entry in entries {
        let name = entry.path.rsplit('/').next().unwrap_or_default().to_owned();
        // The others may be large, and are of no use here.
        if name.ends_with(MODEL) || name == TEXT || name == LOSSES {
            let blob = unpack(archive, &entry, &mut room).await?;
            files.push(Named { name, blob });
        }
    }
    Ok(files)
}

/// A file in an archive; of one that was compressed there may be `room` bytes.
async fn unpack(archive: &File, entry: &Entry, room: &mut u64) -> Result<Blob, Refusal> {
    let header = entry.header();
    let header = bytes(archive, header.start as f64, header.end as f64).await?;
    let body = entry.body(&header).ok_or(Refusal::NotZip)?;
    let packed = archive
        .slice_with_f64_and_f64(body.start as f64, body.end as f64)
        .map_err(|_| Refusal::NotZip)?;
    if !entry.is_deflated {
        return Ok(packed);
    }
    let parts = inflated(&packed, room).await.map_err(|_| Refusal::NotZip)?;
    let parts = parts.ok_or(Refusal::LargeZip)?;
    Blob::new_with_u8_array_sequence(&parts).map_err(|_| Refusal::NotZip)
}

/// What DEFLATE made these bytes of, in pieces; `None` if that is more than `room`.
async fn inflated(packed: &Blob, room: &mut u64) -> Result<Option<Array>, JsValue> {
    let pair = DecompressionStream::new("deflate-raw")?.unchecked_into::<ReadableWritablePair>();
    let reader = packed.stream().pipe_through(&pair).get_reader();
    let reader = reader.unchecked_into::<ReadableStreamDefaultReader>();
    let parts = Array::new();
    loop {
        let read = JsFuture::from(reader.read()).await?;
        let Ok(part) = Reflect::get(&read, &"value".into())?.dyn_into::<Uint8Array>() else {
            return Ok(Some(parts));
        };
        match room.checked_sub(part.length().into()) {
            Some(left) => *room = left,
            None => {
                JsFuture::from(reader.cancel()).await?;
                return Ok(None);
            }
        }
        parts.push(&part);
    }
}
