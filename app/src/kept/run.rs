//! A run that goes on elsewhere: it leaves as an archive with a script for PyTorch, and comes back as a
//! folder, or an archive of one, whose every model is a moment of the run.

use core::{future::ready, iter::once};

use js_sys::{Array, Date, Reflect, Uint8Array};
use leptos::prelude::*;
use serde_json::Value;
use unroll_model_file::{Outgoing, is_gpt2_but_for_norms};
use unroll_protocol::{
    Checkpoint, CurvePoint, ExperimentSpec, Link, OptimizerKind, Recorded, Tokens,
    link::{Chapter, Corpus},
    spec::MAX_PARAMETERS,
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
    model_file::{Attempt, Parts, bytes, head_of, pour},
    moments::{Earlier, left_out, past},
    settings,
};
use crate::{
    controls::MEMORY,
    corpora,
    course::go,
    figures::Curve,
    reactive::next_task,
    store::{Run, Severity, Source, Store},
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
/// The largest model with what its optimizer kept, and 16 MB for the head and what files from elsewhere
/// hold besides.
const MOST_OF_MODEL: u64 = 3 * 4 * MAX_PARAMETERS + 16_000_000;
/// Bytes that all compressed files of an archive may have together.
pub const MOST_UNPACKED: u64 = 2_000_000_000;

#[wasm_bindgen]
extern "C" {
    /// web-sys counts it among what may still change.
    type DecompressionStream;

    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<DecompressionStream, JsValue>;
}

/// Why the script can't continue a model of these settings, as a sentence.
pub fn obstacle(link: &Link, tokens: Tokens) -> Option<&'static str> {
    if tokens == Tokens::Given {
        return Some("train.py continues a run. This model was opened, not trained here.");
    }
    if link.gpt.optimizer != OptimizerKind::AdamW {
        return Some(
            "train.py only works with the AdamW optimizer. This model uses a different one.",
        );
    }
    (!is_gpt2_but_for_norms(&link.gpt.architecture)).then_some(
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
    let head = outgoing.header(link, &source.name);
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
    path: String,
    /// `None` if it is larger than any of its kind may be.
    blob: Option<Blob>,
}

impl Named {
    /// A file of a folder that was chosen.
    fn of(file: &File) -> Self {
        let path = Reflect::get(file, &"webkitRelativePath".into()).ok();
        let path = path.and_then(|path| path.as_string()).filter(|path| !path.is_empty());
        Self { path: path.unwrap_or_else(|| file.name()), blob: Some((**file).clone()) }
    }

    fn name(&self) -> &str {
        apart(&self.path).1
    }
}

/// The folder that a path leads to, and the name in it.
fn apart(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The path of what has this name in a folder.
fn inside(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Where the losses of a run are, and where its text may be, given where its last model is.
fn places_beside(model: &str) -> (String, [String; 2]) {
    let (folder, _) = apart(model);
    let above = inside(apart(folder).0, TEXT);
    (inside(folder, LOSSES), [above, inside(folder, TEXT)])
}

/// What the models of a run have in common: what it was built with, but for the learning rate, which may be
/// changed at any time; the name of its text, and its vocabulary.
type Identity = (ExperimentSpec, Option<Value>, Option<Value>);

/// A model of a run.
#[derive(Clone)]
struct Moment {
    step: u32,
    run: Identity,
    path: String,
    blob: Blob,
}

impl Moment {
    /// The model in a file, if it is one of the lab's.
    async fn of(path: &str, blob: &Blob) -> Result<Option<Self>, Refusal> {
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
            Self { step, run, path: path.to_owned(), blob: blob.clone() }
        }))
    }
}

/// Goes on with the run in a folder or an archive, from its last sound model on; the others are its
/// moments.
pub async fn bring_back(attempt: &Attempt, files: &[File]) -> Result<(), Refusal> {
    let store = attempt.store;
    let files = match files {
        [file] if is_archive(file) => unpacked(file).await?,
        _ => files.iter().map(Named::of).collect(),
    };
    // What macOS writes beside files has their names too, behind a dot.
    let files: Vec<Named> =
        files.into_iter().filter(|file| !file.name().starts_with('.')).collect();
    let mut moments = Vec::new();
    let (mut broken, mut large) = (0, 0);
    for file in files.iter().filter(|file| file.name().ends_with(MODEL)) {
        let Some(blob) = &file.blob else {
            large += 1;
            continue;
        };
        match Moment::of(&file.path, blob).await {
            Ok(moment) => moments.extend(moment),
            // The script may have been stopped while it wrote this one.
            Err(_) => broken += 1,
        }
    }
    moments.sort_by_key(|moment| moment.step);
    let (incoming, unsound) = last_sound(&mut moments).await?;
    let last = moments.last().cloned().ok_or(Refusal::NoRun)?;
    let all = moments.len();
    moments.retain(|moment| moment.run == last.run);
    let others = all - moments.len();
    moments.dedup_by_key(|moment| moment.step);
    let find = |path: &str| files.iter().find(|file| file.path == path);
    let (losses, texts) = places_beside(&last.path);
    let text = texts.iter().find_map(|path| find(path)).and_then(|file| file.blob.as_ref());
    let (source, missing) = source(store, &incoming, text).await?;
    // Without its losses it is a run all the same. The script may be writing to them just now.
    let losses = match find(&losses).map(|file| &file.blob) {
        Some(Some(table)) => curve(table, last.step).await,
        Some(None) => Err(Refusal::Truncated),
        None => Ok(Curve::default()),
    };
    attempt.check()?;
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
        missing,
        lost.to_owned(),
        unsound,
        left_out(broken, "couldn’t be read", "couldn’t be read"),
        left_out(large, "is too large for the lab", "are too large for the lab"),
        left_out(others, "is from a different run", "are from a different run"),
        if is_thinned { thinned(moments.len(), count, most, megabytes) } else { String::new() },
    ];
    notes
        .into_iter()
        .filter(|note| !note.is_empty())
        .for_each(|note| store.notify(Severity::Note, note));
    moments.pop();
    let past = past(move || {
        let earlier = moments.iter().map(|moment| {
            let blob = moment.blob.clone();
            let load = async move { Ok(whole(&blob, true).await?.checkpoint()) };
            Earlier { step: moment.step, load: Box::pin(load) }
        });
        Box::pin(ready(earlier.collect()))
    });
    if !store.link.with_untracked(|link| link.chapter.shows_lab()) {
        go(store, Chapter::Gpt, 0);
    }
    let (link, probe) = (incoming.link.clone(), store.probe.get_untracked());
    let checkpoint = Box::new(incoming.checkpoint());
    store.take_up_run(Run { link, source, curve, probe, checkpoint, file: None, past: Some(past) });
    Ok(())
}

/// Drops the last of these moments until one is sound. Returns its whole model, and what is said of those
/// that went.
async fn last_sound(moments: &mut Vec<Moment>) -> Result<(Incoming, String), Refusal> {
    let mut first = None;
    let all = moments.len();
    while let Some(moment) = moments.last() {
        match whole(&moment.blob, false).await {
            Ok(incoming) => {
                let said = first.map(|(step, refusal)| {
                    let which = match all - moments.len() {
                        1 => format!("The model from step {step} was left out."),
                        count => format!(
                            "The last {count} models were left out. The latest is from step {step}."
                        ),
                    };
                    format!("{which} {refusal} The run continues from step {}.", moment.step)
                });
                return Ok((incoming, said.unwrap_or_default()));
            }
            Err(refusal) => {
                first.get_or_insert((moment.step, refusal));
                moments.pop();
            }
        }
    }
    Err(first.map_or(Refusal::NoRun, |(_, refusal)| refusal))
}

/// Why not all moments of a run are shown, where there may be at most so many.
fn thinned(shown: usize, all: usize, most: usize, megabytes: u32) -> String {
    let shows = format!("The time bar shows {shown} of this run’s {all} moments");
    if most as u64 >= Recorded::MOST {
        format!("{shows}, the most that it has room for.")
    } else if MEMORY.iter().all(|more| *more <= megabytes) {
        format!("{shows}: no more fit in {megabytes} MB, the most memory that they can have.")
    } else {
        format!(
            "{shows}: no more fit in {megabytes} MB. To see more, open the device at the top of the page, allow more memory, and open the folder again."
        )
    }
}

/// All of the model in a file; `is_past` leaves out what its optimizer kept.
async fn whole(blob: &Blob, is_past: bool) -> Result<Incoming, Refusal> {
    let head = head_of(blob).await?;
    let incoming = Incoming::new(&head, blob.size() as u64, &Beside::default(), settings)?;
    let mut incoming = if is_past { incoming.without_optimizer() } else { incoming };
    pour(blob, incoming.ranges(), |number, bytes| incoming.take(number, bytes)).await?;
    Ok(incoming)
}

/// A built-in text, unless it is the learner's own.
pub async fn built_in(corpus: Corpus) -> Result<Option<Source>, Refusal> {
    if corpus == Corpus::Own {
        return Ok(None);
    }
    let text = corpora::load(corpus).await.map_err(Refusal::Vocabulary)?;
    Ok(Some(Source { corpus, name: corpora::name(corpus).to_owned(), text }))
}

/// The text of a run: a built-in one, or what is beside its models. Else the page's own, with what is said
/// of that.
async fn source(
    store: Store,
    incoming: &Incoming,
    text: Option<&Blob>,
) -> Result<(Source, String), Refusal> {
    if let Some(source) = built_in(incoming.link.corpus).await? {
        return Ok((source, String::new()));
    }
    let present = store.source.get_untracked();
    let corpus = Corpus::Own;
    let beside = match text.filter(|text| text.size() <= MAX_BYTES as f64) {
        Some(text) => bytes(text, 0.0, text.size()).await.ok(),
        None => None,
    };
    let name = incoming.text.clone();
    let accepted = beside.and_then(|bytes| text::from_bytes(&bytes).ok());
    if let Some(accepted) = accepted {
        return Ok((Source { corpus, name, text: accepted.text.into() }, String::new()));
    }
    let now = &present.name;
    let note = format!(
        "This run trained on a text of its author’s, “{name}”, which couldn’t be read from its files. It now continues on the text of this page, “{now}”."
    );
    Ok((present, note))
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
    let mut files = Vec::new();
    let mut room = MOST_UNPACKED;
    for entry in archive::entries(&tail, size as u64)? {
        let most = match apart(&entry.path).1 {
            name if name.ends_with(MODEL) => MOST_OF_MODEL,
            TEXT => MAX_BYTES,
            LOSSES => LONGEST_LOSSES as u64,
            // The others may be large, and are of no use here.
            _ => continue,
        };
        let blob = unpack(archive, &entry, most.min(room)).await?;
        if blob.is_none() && most > room {
            return Err(Refusal::LargeZip);
        }
        if let Some(blob) = blob.as_ref().filter(|_| entry.is_deflated) {
            room -= blob.size() as u64;
        }
        files.push(Named { path: entry.path, blob });
    }
    Ok(files)
}

/// A file in an archive; `None` if it was compressed and has more than `most` bytes: it may claim to be
/// endless.
async fn unpack(archive: &File, entry: &Entry, most: u64) -> Result<Option<Blob>, Refusal> {
    let header = entry.header();
    let header = bytes(archive, header.start as f64, header.end as f64).await?;
    let body = entry.body(&header).ok_or(Refusal::NotZip)?;
    let packed = archive
        .slice_with_f64_and_f64(body.start as f64, body.end as f64)
        .map_err(|_| Refusal::NotZip)?;
    if !entry.is_deflated {
        return Ok(Some(packed));
    }
    let inflater = DecompressionStream::new("deflate-raw").map_err(|_| Refusal::NoUnzip)?;
    let Some(parts) = inflated(&packed, inflater, most).await.map_err(|_| Refusal::NotZip)? else {
        return Ok(None);
    };
    Blob::new_with_u8_array_sequence(&parts).map(Some).map_err(|_| Refusal::NotZip)
}

/// What DEFLATE made these bytes of, in pieces; `None` if that is more than `most`.
async fn inflated(
    packed: &Blob,
    inflater: DecompressionStream,
    most: u64,
) -> Result<Option<Array>, JsValue> {
    let pair = inflater.unchecked_into::<ReadableWritablePair>();
    let reader = packed.stream().pipe_through(&pair).get_reader();
    let reader = reader.unchecked_into::<ReadableStreamDefaultReader>();
    let (parts, mut room) = (Array::new(), most);
    loop {
        let read = JsFuture::from(reader.read()).await?;
        let Ok(part) = Reflect::get(&read, &"value".into())?.dyn_into::<Uint8Array>() else {
            return Ok(Some(parts));
        };
        match room.checked_sub(part.length().into()) {
            Some(left) => room = left,
            None => {
                JsFuture::from(reader.cancel()).await?;
                return Ok(None);
            }
        }
        parts.push(&part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_beside_the_models_and_the_text_is_beside_their_folder_or_in_it() {
        for (model, losses, texts) in [
            ("a/run/m", "a/run/losses.csv", ["a/text.txt", "a/run/text.txt"]),
            ("run/m", "run/losses.csv", ["text.txt", "run/text.txt"]),
            ("m", "losses.csv", ["text.txt", "text.txt"]),
        ] {
            assert_eq!(places_beside(model), (losses.to_owned(), texts.map(str::to_owned)));
        }
    }

    #[test]
    fn why_moments_are_not_shown_is_true() {
        let largest = MEMORY[MEMORY.len() - 1];
        let parameters = 5_000_000;
        let said = |megabytes, parameters| {
            thinned(9, 400, Recorded::most(megabytes, parameters), megabytes)
        };
        assert!(said(64, parameters).contains("allow more memory"));
        assert!(
            said(largest, parameters).ends_with("1024 MB, the most memory that they can have.")
        );
        for megabytes in [64, largest] {
            assert!(said(megabytes, 1000).ends_with("the most that it has room for."));
        }
    }
}
