//! Runs outlive the page: the lab's present run is kept in the browser as it trains, and offered when the
//! page is opened again. Chapters go on from the state in which their models were left. Nothing of it leaves
//! the browser, unless the learner saves its model as a file.

mod archive;
mod arriving;
mod file;
mod folder;
mod incoming;
mod labels;
mod list;
mod losses;
mod model_file;
mod moments;
mod native;
mod run;
mod shelf;
mod studies;
mod study_file;

use core::{ops::Range, pin::Pin};
use std::{rc::Rc, sync::Arc};

use js_sys::{Date, Math, Uint8Array};
use leptos::{prelude::*, task::spawn_local};
use unroll_protocol::{Checkpoint, Link, Packed, checkpoint::SavedParameter, link::Chapter};
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileList};

pub use self::{file::checksum, moments::Moments};
use self::{
    file::{Body, Damaged, Head, Reader, has_merges},
    folder::{Entry, RUNS, Trouble, Writer},
};
use crate::{
    controls::{model_name, pairs_of},
    course::{History, storage},
    fetched::{Fetch, View, part},
    figures::Curve,
    reactive::next_task,
    store::{Run, Severity, Source, Store},
};

/// Runs kept at most; beyond them the oldest goes. Twins cost none of them.
const MOST: usize = 12;
const MOST_TWINS: usize = 4;
/// Bytes that are written or read at a time, so that no task of the page is long.
const PIECE: usize = 1 << 20;
/// How the name of a model file ends.
const MODEL: &str = ".safetensors";
/// The head of a file is within so many bytes.
const HEAD: f64 = 8192.0;
/// How the name of a run's file begins, and that of a twin's run.
const RUN: &str = "run";
const TWIN: &str = "twin";
/// Which chapters are kept, in the browser's local storage.
const STUDIES: &str = "unroll-kept-chapters";

/// What the part does that has all of this.
struct Keep {
    act: fn(Store, Act) -> Task,
    open: fn(Store, Vec<File>),
    let_go: fn(Vec<String>),
    list: View,
    study: View,
    put_study: fn(Store, Chapter, Option<Rc<KeptStudy>>) -> Task,
    read_study: fn(Chapter) -> Task<Result<Option<KeptStudy>, Damaged>>,
}

/// The latest state of a chapter's models.
#[derive(Debug, PartialEq)]
pub struct KeptStudy {
    /// What they were built by: a packed [`StudySpec`](unroll_protocol::StudySpec).
    pub spec: Packed,
    /// The checksum of the text that they learn.
    pub text: u32,
    /// A packed [`StudyCheckpoint`](unroll_protocol::StudyCheckpoint).
    pub models: Packed,
    pub history: History,
}

type Task<T = ()> = Pin<Box<dyn Future<Output = T>>>;

/// What was kept of a chapter, or a sentence that says why that can't be had.
pub type Found = Result<Option<KeptStudy>, &'static str>;

/// What is done about runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Keeps the last checkpoint.
    Keep,
    /// Keeps the moment that came, see [`Moments::take_in`].
    Moment,
    /// Offers the run that was kept last, if there is one.
    Offer,
    /// Has a twin go on with what was kept of it: what stood beside its run, or else what came furthest with the
    /// same settings, but no further than this step.
    Rejoin(u32),
    /// Finds the run that a native engine has, and starts that engine.
    Join,
}

const KEEP: Fetch<Keep> = part!(keep: Keep = Keep {
    act: |store, act| Box::pin(async move {
        match act {
            Act::Keep => save(store).await,
            Act::Moment => moments::came(store).await,
            Act::Offer => list::offer(store).await,
            Act::Rejoin(most) => list::rejoin(store, most).await,
            Act::Join => native::join(store).await,
        }
    }),
    open: |store, files| model_file::open(store, files, false, None),
    let_go: |runs| runs.iter().for_each(|run| folder::let_go(run)),
    list: list::list,
    study: model_file::study_section,
    put_study: |store, chapter, kept| Box::pin(async move {
        studies::put(store, chapter, kept.as_deref()).await;
    }),
    read_study: |chapter| Box::pin(studies::read(chapter)),
});

/// The list of kept runs.
pub const LIST: Fetch = || Box::pin(async { KEEP().await.map(|keep| keep.list) });

/// Saves and opens the models of the chapter around it.
pub const STUDY_FILE: Fetch = || Box::pin(async { KEEP().await.map(|keep| keep.study) });

/// Does it as soon as the part is there. Where that can't be fetched, the next one tries again.
pub fn kept(store: Store, act: Act) {
    spawn_local(async move {
        match KEEP().await {
            Ok(keep) => (keep.act)(store, act).await,
            // The page is not without a model.
            Err(_) if act == Act::Join => {
                let sentence = "A part of the page could not be loaded, so it computes in its tab.";
                store.notify(Severity::Failure, sentence);
                store.open_in_tab();
            }
            Err(_) => {}
        }
    });
}

/// Has a twin that is far behind go on from what was kept of it, see [`Act::Rejoin`].
pub async fn rejoin(store: Store, most: u32) {
    // Where the part can't be fetched, the twin trains from where it is.
    if let Ok(keep) = KEEP().await {
        (keep.act)(store, Act::Rejoin(most)).await;
    }
}

/// These runs are held no more: the twin whose they were is gone.
pub fn let_go(runs: Vec<String>) {
    if !runs.is_empty() {
        spawn_local(async move {
            if let Ok(keep) = KEEP().await {
                (keep.let_go)(runs);
            }
        });
    }
}

/// Whether a state of the chapter's models is kept. Answers at once, and fetches nothing.
pub fn has_study(chapter: Chapter) -> bool {
    let marked = storage().and_then(|storage| storage.get_item(STUDIES).ok().flatten());
    marked.is_some_and(|names| names.split_whitespace().any(|name| name == chapter.id()))
}

/// Keeps this state of the chapter's models, or none, and calls `then`.
pub fn put_study(
    store: Store,
    chapter: Chapter,
    kept: Option<Rc<KeptStudy>>,
    then: Box<dyn FnOnce()>,
) {
    if kept.is_none() && !has_study(chapter) {
        return then();
    }
    spawn_local(async move {
        // Where the part can't be fetched, the next state tries again.
        if let Ok(keep) = KEEP().await {
            (keep.put_study)(store, chapter, kept).await;
        }
        then();
    });
}

/// Calls `then` with what is kept of the chapter.
pub fn read_study(chapter: Chapter, then: Box<dyn FnOnce(Found)>) {
    spawn_local(async move {
        let read = match KEEP().await {
            Ok(keep) => (keep.read_study)(chapter).await.map_err(|Damaged| {
                "What this browser has kept of this chapter is damaged, so its training starts over."
            }),
            Err(_) => Err("A part of the page could not be loaded, so this chapter’s training starts over. To go on \
                           where you left it, reload the page."),
        };
        then(read);
    });
}

/// Opens the model or the run among some files, if there is one, or says why not. Otherwise `false`.
pub fn opened(store: Store, files: &FileList) -> bool {
    let files = files_of(files);
    let is_one = |file| is_model(file) || run::is_archive(file) || is_pickle(file);
    let has_model = files.iter().any(is_one);
    if has_model {
        spawn_local(async move {
            match KEEP().await {
                Ok(keep) => (keep.open)(store, files),
                Err(_) => store.notify(
                    Severity::Refusal,
                    "The model was not opened: part of this page could not be loaded. Try again.",
                ),
            }
        });
    }
    has_model
}

fn files_of(files: &FileList) -> Vec<File> {
    (0..files.length()).filter_map(|at| files.get(at)).collect()
}

fn is_model(file: &File) -> bool {
    file.name().ends_with(MODEL)
}

/// Whether this is named as the models that PyTorch writes by itself, which are refused with a reason.
fn is_pickle(file: &File) -> bool {
    let name = file.name();
    [".bin", ".pt", ".pth", ".ckpt", ".pkl"].iter().any(|end| name.ends_with(end))
}

/// How the present run is kept.
#[derive(Default)]
pub struct Keeping {
    /// Its file; `None` before the first time.
    pub file: Option<String>,
    /// The name that its file will have, see [`Self::name`].
    next: Option<String>,
    /// The run whose twin it is: it goes on beside that, and is not offered by itself.
    leader: Option<Store>,
    /// All files that this tab holds, also those of runs that it has left.
    mine: Vec<String>,
    /// It is being written.
    busy: bool,
    /// The learner deleted it: it is not kept any more.
    deleted: bool,
    /// So many of its steps were taken by themselves.
    pub warmed: u32,
    /// The learner was told of this trouble.
    told: Option<Trouble>,
    /// How often another run took the place of the one before.
    runs: u32,
    /// How often the learner asked for another text, run or file: a text that comes after the next of them
    /// comes too late.
    pub asked: u32,
    /// Where the model on show came from, if it was opened from files.
    opened: Option<shelf::Opened>,
    pub moments: Moments,
}

impl Keeping {
    /// All files that it holds; it forgets them.
    pub fn held(&mut self) -> Vec<String> {
        core::mem::take(&mut self.mine)
    }

    /// From now on it is that of a twin beside this run.
    pub fn follow(&mut self, leader: Store) {
        self.leader = Some(leader);
    }

    pub fn is_twin(&self) -> bool {
        self.leader.is_some()
    }

    /// The name of its file, also before there is one: a twin's says which run it stood beside all along, and
    /// may be needed before that is kept for the first time.
    fn name(&mut self) -> String {
        if let Some(name) = self.file.as_ref().or(self.next.as_ref()) {
            return name.clone();
        }
        let name = match self.leader {
            Some(leader) => new_name(&twin_of(&leader.keeping(Self::name))),
            None => new_name(RUN),
        };
        self.next = Some(name.clone());
        name
    }

    /// Of another run.
    pub fn anew(&mut self, file: Option<String>) {
        self.file = file;
        self.next = None;
        self.deleted = false;
        self.warmed = 0;
        self.moments = Moments::default();
        self.runs += 1;
    }

    /// The learner asks for something: its number.
    pub fn ask(&mut self) -> u32 {
        self.asked += 1;
        self.asked
    }

    /// Another one whenever the learner began something, if only over again.
    pub fn begun(&self) -> (u32, u32) {
        (self.runs, self.asked)
    }
}

/// How the files of a run's twins begin.
fn twin_of(run: &str) -> String {
    format!("{TWIN}-{run}")
}

/// Whether a run's file is a twin's.
fn is_twin(file: &str) -> bool {
    file.starts_with(TWIN)
}

async fn save(store: Store) {
    let Some(checkpoint) = store.saved() else { return };
    // A model that nobody has trained can be had again.
    let busy = store.keeping(|keeping| {
        checkpoint.step <= keeping.warmed
            || keeping.deleted
            || core::mem::replace(&mut keeping.busy, true)
    });
    if busy {
        store.kept.notify();
        return;
    }
    let (head, body) = untrack(|| contents(store, &checkpoint));
    let (is_known, name, run) =
        store.keeping(|keeping| (keeping.file.is_some(), keeping.name(), keeping.runs));
    let done = match is_known || hold(store, &name).await {
        true => write(&name, &head, &body, &checkpoint).await,
        // A name that nobody had before.
        false => Err(Trouble::Other),
    };
    // A run comes before the moments of runs.
    let done = match done {
        Err(Trouble::Full) => {
            moments::prune(&[], &elsewhere(store).await).await;
            store.keeping(|keeping| keeping.moments.stop());
            write(&name, &head, &body, &checkpoint).await
        }
        done => done,
    };
    let now = store.saved();
    store.keeping(|keeping| {
        keeping.busy = false;
        // Unless another run has begun meanwhile; one that was just built has no state yet.
        if done.is_ok() && keeping.file.is_none() && keeping.runs == run && now.is_some() {
            keeping.file = Some(name.clone());
        }
    });
    // A state that came meanwhile has found this one being written.
    if now.is_some_and(|now| !Arc::ptr_eq(&now, &checkpoint)) {
        kept(store, Act::Keep);
    }
    match done {
        Ok(()) => {
            prune(store).await;
            moments::update(store).await;
        }
        Err(trouble) => {
            let told = store.keeping(|keeping| keeping.told.replace(trouble));
            if told != Some(trouble) {
                store.notify(Severity::Note, trouble.sentence());
            }
        }
    }
    store.kept.notify();
}

/// A name that no file has, which begins with `kind`.
fn new_name(kind: &str) -> String {
    format!("{kind}-{:.0}-{:04x}", Date::now(), (Math::random() * 65536.0) as u32)
}

/// Holds a run for this tab. `false` if another tab holds it.
async fn hold(store: Store, name: &str) -> bool {
    if store.keeping(|keeping| keeping.mine.iter().any(|mine| mine == name)) {
        return true;
    }
    let held = folder::hold(name).await;
    if held {
        store.keeping(|keeping| keeping.mine.push(name.to_owned()));
    }
    held
}

fn contents(store: Store, checkpoint: &Checkpoint) -> (Head, Body) {
    let Checkpoint { spec, step, vocabulary, parameters, .. } = checkpoint;
    let (link, source) = (store.built.get(), store.source.get());
    let points = store.curve.with(|curve| {
        let points = curve.points().iter().filter(|point| point.step <= *step);
        points.copied().collect::<Vec<_>>()
    });
    let losses: Vec<f32> = points.iter().map(|point| point.loss).collect();
    let model = model_name(&link);
    let query = Link { corpus: source.corpus, chapter: Chapter::Gpt, ..link }.query();
    let head = Head {
        step: *step,
        loss: losses.last().copied(),
        text: source.name,
        model,
        parameters: parameters.len() as u32,
        losses: file::thinned(&losses),
        query: file::short(&query),
        text_sum: Some(file::checksum(source.text.as_bytes())),
        at: Some(Date::now()),
    };
    let body = Body {
        query,
        text: source.text.to_string(),
        probe: store.probe.get(),
        points,
        spec: (*spec).into(),
        vocabulary: vocabulary.clone(),
    };
    (head, body)
}

async fn write(
    name: &str,
    head: &Head,
    body: &Body,
    checkpoint: &Checkpoint,
) -> Result<(), Trouble> {
    let start = [file::beginning(), file::record(head), file::record(body)].concat();
    let end = match has_merges(checkpoint.spec.tokens) {
        true => file::record(&checkpoint.merges),
        false => Vec::new(),
    };
    folder::write(RUNS, name, async |writer| {
        pour(writer, start, &checkpoint.parameters, &end).await
    })
    .await
}

/// Writes a file of parameters, `start` before them and `end` after them.
async fn pour(
    writer: &Writer,
    start: Vec<u8>,
    parameters: &[SavedParameter],
    end: &[u8],
) -> Result<(), Trouble> {
    let mut piece = start;
    for parameter in parameters {
        if piece.len() > PIECE {
            writer.write(&piece).await?;
            piece.clear();
        }
        piece.extend(file::record(parameter));
    }
    piece.extend(end);
    writer.write(&piece).await
}

/// The next `count` records of a file, each a parameter.
async fn parameters<R: Fn(Range<usize>) -> Vec<u8>>(
    reader: &mut Reader<R>,
    count: u32,
) -> Result<Vec<SavedParameter>, Damaged> {
    let (mut parameters, mut since) = (Vec::new(), reader.at());
    for _ in 0..count {
        parameters.push(reader.next()?);
        if reader.at() - since > PIECE {
            since = reader.at();
            next_task().await;
        }
    }
    Ok(parameters)
}

/// The runs that other tabs hold.
async fn elsewhere(store: Store) -> Vec<String> {
    let mut held = folder::held().await;
    let mine = store.keeping(|keeping| keeping.mine.clone());
    held.retain(|name| !mine.contains(name));
    held
}

/// Lets the oldest runs go that no tab has open: those whose files are the oldest, so that one that was
/// just brought back stays. Of the runs that stay, only the newest keep their moments; all twins do.
async fn prune(store: Store) {
    let Ok(entries) = folder::entries(RUNS).await else { return };
    let elsewhere = elsewhere(store).await;
    let (twins, entries): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| is_twin(&entry.name));
    let old = entries.iter().skip(MOST).chain(twins.iter().skip(MOST_TWINS));
    for entry in old.filter(|entry| !elsewhere.contains(&entry.name)) {
        // What can't be deleted now will be the next time.
        if folder::delete(RUNS, &entry.name).await.is_ok() {
            labels::rename(&entry.name, "");
        }
    }
    let newest = entries.into_iter().take(moments::MOST).chain(twins.into_iter().take(MOST_TWINS));
    let newest = newest.map(|entry| entry.name);
    moments::prune(&newest.collect::<Vec<_>>(), &elsewhere).await;
}

/// The head of a file.
async fn head_of(entry: &Entry) -> Result<Head, Damaged> {
    let slice = entry.file.slice_with_f64_and_f64(0.0, HEAD).map_err(|_| Damaged)?;
    let bytes = JsFuture::from(slice.array_buffer()).await.map_err(|_| Damaged)?;
    let bytes = Uint8Array::new(&bytes).to_vec();
    Reader::new(|range| bytes[range].to_vec(), bytes.len())?.head()
}

/// The settings that were kept as the query of a link.
fn settings(query: &str) -> Link {
    let pairs = pairs_of(query);
    Link::parse_query(pairs.iter().map(|(name, value)| (&**name, &**value))).0
}

async fn read(entry: &Entry) -> Result<Run, Damaged> {
    let buffer = JsFuture::from(entry.file.array_buffer()).await.map_err(|_| Damaged)?;
    let bytes = Uint8Array::new(&buffer);
    let piece = |range: Range<usize>| bytes.subarray(range.start as u32, range.end as u32).to_vec();
    let mut reader = Reader::new(piece, bytes.length() as usize)?;
    let head = reader.head()?;
    let body: Body = reader.next()?;
    let parameters = parameters(&mut reader, head.parameters).await?;
    let link = settings(&body.query);
    let merges = match has_merges(link.experiment().tokens) {
        true => reader.next()?,
        false => Vec::new(),
    };
    let checkpoint = Box::new(file::checkpoint(&head, &body, &link, parameters, merges));
    let source = Source { corpus: link.corpus, name: head.text, text: body.text.into() };
    let mut curve = Curve::default();
    curve.extend(&body.points);
    Ok(Run { link, source, curve, probe: body.probe, checkpoint, file: None, past: None })
}

/// Goes on with a kept run.
async fn go_on(store: Store, name: &str) {
    let entries = folder::entries(RUNS).await.unwrap_or_default();
    let Some(entry) = entries.into_iter().find(|entry| entry.name == name) else {
        store.notify(
            Severity::Refusal,
            "That run is gone: it was deleted, or newer runs took its place.",
        );
        return;
    };
    match resumed(store, &entry).await {
        Ok(run) => store.take_up_run(run),
        Err(Damaged) => store.notify(
            Severity::Refusal,
            "That run can’t be opened: its file is damaged. The model you see is unchanged.",
        ),
    }
}

/// A kept run, to go on with.
async fn resumed(store: Store, entry: &Entry) -> Result<Run, Damaged> {
    let run = read(entry).await?;
    let name = &entry.name;
    // Where another tab has it open, this one goes on in a file of its own. So does a twin's run that becomes
    // the page's.
    let is_of_kind = is_twin(name) == store.keeping(|keeping| keeping.is_twin());
    let file = (is_of_kind && hold(store, name).await).then(|| name.clone());
    let past = Some(moments::past_of(name.clone(), &run.checkpoint));
    Ok(Run { file, past, ..run })
}
