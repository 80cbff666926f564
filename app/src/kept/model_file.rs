//! Models as files: saved for other programs and for later, and opened again.

use core::{cell::Cell, ops::Range, time::Duration};

use js_sys::{Array, ArrayBuffer, Promise, Reflect, Uint8Array};
use leptos::{html, prelude::*, task::spawn_local};
use serde_json::Value;
use unroll_model_file::{Outgoing, is_gpt2};
use unroll_protocol::{
    Command, Link, Packed, StudyCheckpoint, StudySpec, TokenizerFile, Tokens,
    link::{Chapter, Corpus},
};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, File, ReadableStreamByobReader};

use super::{
    MODEL,
    arriving::Arriving,
    files_of,
    incoming::{Beside, Incoming, PREAMBLE, Refusal, head_length},
    is_model, is_pickle, run, settings,
    shelf::Opened,
    study_file::{Reading, written},
};
use crate::{
    chapters, corpora,
    course::{go, use_lab},
    figures::{Curve, hand_over},
    reactive::{effect, next_task},
    store::{Heard, Opening, Run, Severity, Source, Store, Told},
};

/// So long a file is opened before the page says so.
const LONG: Duration = Duration::from_millis(500);
/// Most bytes of a file that the page itself understands: a list of characters is never longer, and to read
/// one takes no longer than a page may stand still.
const LONGEST_READ: usize = 1 << 18;
/// Most bytes of a file that says something about a model.
const LONGEST_BESIDE: f64 = 8e6;

/// What the next checkpoint is wanted for.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    File,
    Run,
}

/// Saves and opens the lab's model, in the settings.
pub fn section(store: Store) -> AnyView {
    let with_optimizer = RwSignal::new(true);
    let wanted = StoredValue::new(Vec::new());
    effect(move || {
        store.kept.track();
        if wanted.with_value(Vec::is_empty) {
            return;
        }
        let Some(checkpoint) = store.saved() else { return };
        for wanted in wanted.try_update_value(core::mem::take).unwrap_or_default() {
            let checkpoint = checkpoint.clone();
            spawn_local(async move {
                match wanted {
                    Wanted::File => {
                        let link = store.built.get_untracked();
                        let text = store.source.with_untracked(|source| source.name.clone());
                        let outgoing = Outgoing::new(&checkpoint, with_optimizer.get_untracked());
                        let header = outgoing.header(&link, &text);
                        let pieces = [header].into_iter().chain(outgoing.into_bodies());
                        hand_over_pieces(store, pieces, "unroll".to_owned(), checkpoint.step).await;
                    }
                    Wanted::Run => run::take_along(store, &checkpoint).await,
                }
            });
        }
    });
    let is_kept_apart =
        move || store.started.with(|started| started.as_ref().is_some_and(|s| s.kept.is_some()));
    let is_started = move || store.started.with(Option::is_some) && !is_kept_apart();
    let is_ready = move || is_started() && !store.is_given();
    let ask = move |what| {
        wanted.update_value(|wanted| {
            wanted.retain(|other| *other != what);
            wanted.push(what);
        });
        store.save_now();
    };
    let note = move || match store.built.with(|link| is_gpt2(&link.gpt.architecture)) {
        _ if store.is_given() => {
            "This model was opened, not trained here. Only models that were trained here can be saved to a file."
        }
        _ if is_kept_apart() => {
            "This model is too large for the page. The native engine keeps it in a file of the same format, and its terminal says where."
        }
        true if store.tokens() != Tokens::Characters => {
            "The file holds the weights and the tokenizer. The weights have the names and shapes of GPT-2 in Hugging Face’s transformers, so transformers can use them, and tokenizers can read the tokenizer. PyTorch can read the weights with the safetensors library."
        }
        true => {
            "The file holds the weights and the vocabulary. The weights have the names and shapes of GPT-2 in Hugging Face’s transformers, so transformers can use them. PyTorch can read them with the safetensors library."
        }
        false => {
            "The file holds the weights and what the tokens are. PyTorch can read the weights with the safetensors library. This model is not built like GPT-2, so Hugging Face’s transformers can’t run it."
        }
    };
    let obstacle = move || store.built.with(|link| run::obstacle(link, store.tokens()));
    let can_leave = move || is_started() && obstacle().is_none();
    let about_run = move || {
        obstacle().unwrap_or(
            "Keep training this model on your own GPU, or on several. You get a zip file with the model, its text, its losses so far, and train.py, a 200-line PyTorch script. The script trains on the same batches as this page would. Afterward, open the run folder here and drag the time bar back through the saved moments.",
        )
    };
    view! {
        {form(store, note, with_optimizer, is_ready, move || ask(Wanted::File))}
        <p class="hint" data-testid="model-elsewhere">
            "“Open a file …” also reads models from elsewhere, if they are built like GPT-2 and have at most 200 \
             million parameters. You can look into such a model, but not train it. Download "
            <code>"model.safetensors"</code>", "<code>"tokenizer.json"</code>" and "<code>"config.json"</code>" from "
            {elsewhere("openai-community/gpt2")}" (548 MB), or from the smaller "
            {elsewhere("distilbert/distilgpt2")}" (353 MB). Then press “Open a file …” and choose all three together."
        </p>
        <section class="kept" data-testid="run-file">
            <h3>"Continue in PyTorch"</h3>
            <p class="hint">{about_run}</p>
            <div class="button-row">
                <button type="button" class="button" data-testid="run-take"
                    on:click=move |_| if untrack(can_leave) { ask(Wanted::Run) }
                    aria-disabled=move || (!can_leave()).then_some("true")>
                    "Take this run to PyTorch"
                </button>
                {chooser(store, "Open a run folder …", "run-open", true)}
            </div>
        </section>
    }
    .into_any()
}

/// Saves and opens the models of the chapter around this, in its settings.
pub fn study_section() -> AnyView {
    let (store, lab) = (expect_context::<Store>(), use_lab());
    let with_optimizer = RwSignal::new(true);
    let save = move || {
        // What was built, though the settings may be about to change.
        let source = store.source.get_untracked();
        let link = Link { corpus: source.corpus, ..store.link.get_untracked() };
        let with_optimizer = with_optimizer.get_untracked();
        let then = move |saved: Packed| {
            let Ok(checkpoint) = saved.unpack::<StudyCheckpoint>() else { return };
            let pieces = written(&checkpoint, &link, &source.name, with_optimizer);
            let name = format!("unroll-{}", lab.chapter.id());
            spawn_local(hand_over_pieces(store, pieces, name, checkpoint.step));
        };
        lab.save(Box::new(then));
    };
    let is_ready = move || lab.started.with(Option::is_some) && lab.problem.with(Option::is_none);
    let note = || "The file holds the weights of all models in this chapter, and the chapter’s settings. PyTorch can read the weights with the safetensors library.";
    form(store, note, with_optimizer, is_ready, save)
}

/// A model's page at Hugging Face, which opens beside this one.
fn elsewhere(name: &'static str) -> impl IntoView {
    let address = format!("https://huggingface.co/{name}/tree/main");
    view! { <a href=address target="_blank" rel="noopener noreferrer">{name}</a> }
}

fn form(
    store: Store,
    note: impl Fn() -> &'static str + Send + 'static,
    with_optimizer: RwSignal<bool>,
    is_ready: impl Fn() -> bool + Copy + Send + 'static,
    save: impl Fn() + Send + 'static,
) -> AnyView {
    view! {
        <section class="kept" data-testid="model-file">
            <h3>"Model file"</h3>
            <p class="hint">{note}</p>
            <label class="kept-option">
                <input type="checkbox" data-testid="model-with-optimizer" checked=true
                    on:change=move |event| with_optimizer.set(event_target_checked(&event))/>
                "Include the optimizer’s state, so that training can continue exactly from here"
            </label>
            <div class="button-row">
                <button type="button" class="button" data-testid="model-save"
                    on:click=move |_| if untrack(is_ready) { save() }
                    aria-disabled=move || (!is_ready()).then_some("true")>
                    "Save to a file"
                </button>
                {chooser(store, "Open a file …", "model-open", false)}
            </div>
        </section>
    }
    .into_any()
}

/// Opens files that are chosen, or all of a folder.
fn chooser(
    store: Store,
    words: &'static str,
    name: &'static str,
    is_folder: bool,
) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let opened = move |_| {
        if let Some(input) = input.get_untracked() {
            let files = input.files().as_ref().map_or_else(Vec::new, files_of);
            open(store, files, is_folder, None);
            // The same file may be chosen again after it was changed.
            input.set_value("");
        }
    };
    view! {
        <label class="button button-file">
            {words}
            <input type="file" class="visually-hidden" data-testid=name multiple=true prop:webkitdirectory=is_folder
                accept=(!is_folder).then_some(".safetensors,.json,.txt,.zip") node_ref=input on:change=opened/>
        </label>
    }
}

/// A file that is handed over to the browser in pieces.
#[derive(Default)]
pub struct Parts(Array);

impl Parts {
    pub async fn push(&self, piece: Vec<u8>) {
        self.0.push(&Uint8Array::from(&*piece));
        next_task().await;
    }

    pub fn hand_over(self, store: Store, kind: &str, name: &str) {
        let options = BlobPropertyBag::new();
        options.set_type(kind);
        let done = Blob::new_with_u8_array_sequence_and_options(&self.0, &options)
            .and_then(|blob| hand_over(&blob, name));
        if done.is_err() {
            store.notify(Severity::Refusal, "The browser could not save the file.");
        }
    }
}

/// Hands a model file over to the browser, made of these pieces.
async fn hand_over_pieces(
    store: Store,
    pieces: impl IntoIterator<Item = Vec<u8>>,
    name: String,
    step: u32,
) {
    let parts = Parts::default();
    for piece in pieces {
        parts.push(piece).await;
    }
    parts.hand_over(store, "application/octet-stream", &format!("{name}-step-{step}{MODEL}"));
}

/// Opens the model among some files, with what the others say about it; or a whole run, if they are a
/// folder or one is an archive. `kept` is where they are kept in the browser, if they come from there.
pub fn open(store: Store, files: Vec<File>, is_folder: bool, kept: Option<String>) {
    let model = files.iter().find(|file| is_model(file));
    let archive = files.iter().find(|file| run::is_archive(file));
    let pickle = files.iter().find(|file| is_pickle(file));
    let chosen = model.or(archive).or(pickle).or(files.first()).cloned();
    let Some(chosen) = chosen else { return };
    let name =
        if is_folder { "This folder".to_owned() } else { format!("“{}”", chosen.name()) };
    let attempt = Attempt::begin(store, if is_folder { "the folder" } else { &name });
    spawn_local(async move {
        let done = match is_folder {
            true => run::bring_back(&attempt, &files).await,
            false if run::is_archive(&chosen) => run::bring_back(&attempt, &[chosen]).await,
            false => take(&attempt, &chosen, &files, kept).await,
        };
        let refused = match done {
            Ok(()) => return,
            Err(Refusal::Late) => format!("{name} was not opened. {}", Refusal::Late),
            Err(refusal) => {
                format!("{name} can’t be opened. {refusal} The model you see is unchanged.")
            }
        };
        store.notify(Severity::Refusal, refused);
    });
}

/// Files that are being opened. While that takes long, the page says so.
pub struct Attempt {
    pub store: Store,
    /// See [`Keeping::begun`].
    number: (u32, u32),
    /// What the page says meanwhile.
    sentence: String,
    timer: Option<TimeoutHandle>,
}

impl Attempt {
    fn begin(store: Store, name: &str) -> Self {
        let number = store.keeping(|keeping| {
            keeping.ask();
            keeping.begun()
        });
        let sentence = format!("Opening {name} …");
        let said = sentence.clone();
        let say = move || store.notify(Severity::Note, said);
        let timer = set_timeout_with_handle(say, LONG).ok();
        Self { store, number, sentence, timer }
    }

    /// Leaves it to others to say that it goes on.
    fn quiet(&self) {
        self.timer.iter().for_each(TimeoutHandle::clear);
    }

    /// That the learner began nothing else meanwhile, which this would replace.
    pub fn check(&self) -> Result<(), Refusal> {
        let is_latest = self.store.keeping(|keeping| keeping.begun()) == self.number;
        if is_latest { Ok(()) } else { Err(Refusal::Late) }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.quiet();
        self.store.notices.update(|said| said.retain(|notice| notice.sentence != self.sentence));
    }
}

async fn take(
    attempt: &Attempt,
    model: &File,
    files: &[File],
    kept: Option<String>,
) -> Result<(), Refusal> {
    let store = attempt.store;
    let (size, head) = (model.size(), head_of(model).await?);
    if let Some(mut reading) = Reading::new(&head, size as u64, settings)? {
        pour(model, reading.ranges(), |number, bytes| reading.take(number, bytes)).await?;
        return take_study(attempt, model.name(), &reading).await;
    }
    let mut beside = Beside {
        heads: store.built.with_untracked(|link| link.gpt.heads),
        present: store
            .started
            .get_untracked()
            .filter(|started| started.spec.tokens == Tokens::Characters)
            .map_or_else(Vec::new, |started| started.vocabulary.clone()),
        ..Beside::default()
    };
    let mut is_given = false;
    let mut all = vec![model.clone()];
    for file in files.iter().filter(|file| !is_model(file) && file.size() <= LONGEST_BESIDE) {
        all.push(file.clone());
        let text = bytes(file, 0.0, file.size()).await?;
        let text = String::from_utf8_lossy(&text).into_owned();
        is_given |= beside.add(file.name(), text);
    }
    if is_given {
        let opened = Opened { files: all, kept };
        return take_given(attempt, model, Arriving::new(&head, size as u64, &beside)?, opened)
            .await;
    }
    let mut incoming = Incoming::new(&head, size as u64, &beside, settings)?;
    pour(model, incoming.ranges(), |number, bytes| incoming.take(number, bytes)).await?;
    let learned = run::built_in(incoming.link.corpus).await?;
    attempt.check()?;
    // With a trained model, a text of the learner's can be brought back.
    let is_own = store.source.with_untracked(|present| present.corpus == Corpus::Own);
    if let Some(learned) = learned.as_ref().filter(|_| is_own && !store.is_trained()) {
        return Err(Refusal::OtherText(corpora::name(learned.corpus)));
    }
    for note in &incoming.notes {
        store.notify(Severity::Note, note.clone());
    }
    let source = learned.unwrap_or_else(|| {
        let present = store.source.get_untracked();
        if let Some(note) = other_text(&incoming, &present) {
            store.notify(Severity::Note, note);
        }
        present
    });
    if !store.link.with_untracked(|link| link.chapter.shows_lab()) {
        go(store, Chapter::Gpt, 0);
    }
    let link = incoming.link.clone();
    let probe = store.probe.get_untracked();
    let checkpoint = Box::new(incoming.checkpoint());
    let curve = Curve::default();
    store.take_up_run(Run { link, source, curve, probe, checkpoint, file: None, past: None });
    Ok(())
}

/// What is said before a model trains on the page's text that learned another, or nobody here knows which.
fn other_text(incoming: &Incoming, present: &Source) -> Option<String> {
    let lacks = incoming.lacks_some_of(&present.text);
    if present.corpus == Corpus::Own && present.name == incoming.text && !lacks {
        return None;
    }
    let learned = match incoming.text.as_str() {
        "" => "The text that this model learned is not in its file.".to_owned(),
        name => format!("This model learned “{name}”, a text that is not in its file."),
    };
    let unknown = if lacks { "; characters that the model doesn’t know become □" } else { "" };
    let name = &present.name;
    Some(format!("{learned} Training goes on with the text of this page, “{name}”{unknown}."))
}

/// Waits for the engine's word about the model that is being opened. `ask` is given whom to tell.
async fn told(ask: impl FnOnce(Heard)) -> Result<(), Refusal> {
    let mut ask = Some(ask);
    let said = Promise::new(&mut |goes_on, refused| {
        let heard: Heard = Box::new(move |said| {
            let _ = match said {
                Ok(()) => goes_on.call0(&JsValue::UNDEFINED),
                Err(reason) => refused.call1(&JsValue::UNDEFINED, &reason.into()),
            };
        });
        if let Some(ask) = ask.take() {
            ask(heard);
        }
    });
    let said = JsFuture::from(said).await.map(drop);
    said.map_err(|reason| Refusal::Engine(reason.as_string().unwrap_or_default()))
}

/// Hands a model of another's making to an engine of its own, piece by piece. The model on show stays until
/// it is complete.
async fn take_given(
    attempt: &Attempt,
    model: &File,
    arriving: Arriving,
    opened: Opened,
) -> Result<(), Refusal> {
    attempt.quiet();
    let (store, mut notice, number) = (attempt.store, None, Cell::new(None));
    let done = hand_on(attempt, model, &arriving, (&mut notice, &number)).await;
    notice.into_iter().for_each(|id| store.dismiss(id));
    match done {
        Ok(true) => {
            store.keeping(|keeping| keeping.opened = Some(opened));
            store.kept.notify();
            arriving.notes.into_iter().for_each(|note| store.notify(Severity::Note, note));
            // What is said of it is another story, from its beginning.
            if store.link.with_untracked(|link| link.chapter == Chapter::Gpt) {
                store.link.update(|link| {
                    link.idea = 0;
                    link.view.clear();
                    link.twin.clear();
                });
            }
        }
        Ok(false) => store.abandon(number.get()),
        Err(refusal) => {
            store.abandon(number.get());
            return Err(refusal);
        }
    }
    Ok(())
}

/// `false` if the learner stopped it.
async fn hand_on(
    attempt: &Attempt,
    model: &File,
    arriving: &Arriving,
    (notice, number): (&mut Option<u32>, &Cell<Option<u32>>),
) -> Result<bool, Refusal> {
    let store = attempt.store;
    let tell =
        |command: Command| told(move |heard| store.tell_opening(number.get(), &command, heard));
    let mut there = 0;
    let mut restate = |there: u64| {
        // Often enough to see that it goes on, and seldom enough to be read out.
        let percent = 20 * there / arriving.values().max(1) * 5;
        let name = model.name();
        store.restate(notice, format!("Opening “{name}”: {percent}%. Close this message to stop."))
    };
    restate(there);
    chapters::gpt::bring_opened().await;
    told(|heard| number.set(store.open_beside(heard))).await?;
    tell(Command::Open(Packed::of(&arriving.model))).await?;
    for piece in arriving.pieces() {
        if !restate(there) {
            return Ok(false);
        }
        attempt.check()?;
        let Range { start, end } = piece.bytes;
        let bytes = bytes(model, start as f64, end as f64).await?;
        for weights in arriving.weights(&piece, &bytes)? {
            there += weights.values.len() as u64;
            if there == arriving.values() {
                // The engine would refuse it as it refuses others, but only after the model on show was put
                // aside for it.
                if !weights.values.iter().all(|value| value.is_finite()) {
                    return Err(Refusal::NotFinite);
                }
                told(|heard| store.make_room(heard)).await?;
                attempt.check()?;
                // From here on it is the model on show.
                if !store.link.with_untracked(|link| link.chapter.shows_lab()) {
                    go(store, Chapter::Gpt, 0);
                }
            }
            tell(Command::Weights(Packed::of(&weights))).await?;
        }
    }
    Ok(true)
}

/// Shows the chapter of these models as it was when they were saved, and hands them to its lab.
async fn take_study(attempt: &Attempt, file: String, reading: &Reading) -> Result<(), Refusal> {
    let (store, saved) = (attempt.store, &reading.link);
    let uses_text = chapters::info(saved.chapter).uses_text;
    // A text of one's own is not in the file: the engine says whether the one on the page will do.
    let corpus = (uses_text && saved.corpus != Corpus::Own).then_some(saved.corpus);
    let source = store.source.get_untracked();
    let other = corpus.filter(|corpus| *corpus != source.corpus);
    if let Some(corpus) = other {
        if source.corpus == Corpus::Own {
            return Err(Refusal::OtherText(corpora::name(corpus)));
        }
        // Before anything changes: it may not be there to be had.
        corpora::load(corpus).await.map_err(Refusal::Vocabulary)?;
    }
    attempt.check()?;
    let learned = reading.text.clone();
    let note = (uses_text && corpus.is_none() && source.name != learned).then(|| {
        let name = &source.name;
        format!("These models learned “{learned}”. They now continue on the text of this page, “{name}”.")
    });
    let before = store.link.get_untracked();
    go(store, saved.chapter, 0);
    let given = Link { seed: saved.seed, step: 0, ..store.link.get_untracked() };
    let mut link = given.with_chapter_of(saved);
    // What was drawn is not in the file.
    link.mask.drawn = before.mask.drawn.clone();
    let Some(spec) = link.study() else { return Ok(()) };
    let told = move |refusal: Option<&str>| match refusal {
        None => note.into_iter().for_each(|note| store.notify(Severity::Note, note)),
        Some(reason) => {
            store.notify(Severity::Refusal, format!("“{file}” can’t be opened. {reason}"));
            store.link.set(before);
        }
    };
    let mut models = Some((Packed::of(reading.checkpoint()), Box::new(told) as Told));
    let take = move |wanted: &StudySpec| {
        let is_text = |corpus| store.source.with_untracked(|source| source.corpus == corpus);
        if models.is_none() || *wanted != spec {
            Opening::None
        } else if corpus.is_none_or(is_text) {
            models.take().map_or(Opening::None, |(models, told)| Opening::Models(models, told))
        } else {
            Opening::Waits
        }
    };
    store.opened.set_value(Some(Box::new(take)));
    if let Some(corpus) = other {
        store.choose_corpus(corpus);
    }
    store.link.set(link);
    store.opened_study.notify();
    Ok(())
}

/// What a model file says about its tensors.
pub async fn head_of(model: &Blob) -> Result<Vec<u8>, Refusal> {
    let begin = PREAMBLE as f64;
    let preamble = bytes(model, 0.0, begin).await?;
    let length = head_length(&preamble, model.size() as u64)? as f64;
    bytes(model, begin, begin + length).await
}

/// Reads these ranges of a file one after the other; `take` gets the bytes of each with its number.
pub async fn pour(
    model: &Blob,
    ranges: Vec<Range<u64>>,
    mut take: impl FnMut(usize, &[u8]) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    for (number, range) in ranges.into_iter().enumerate() {
        take(number, &bytes(model, range.start as f64, range.end as f64).await?)?;
    }
    Ok(())
}

/// Most bytes that are read from a file at a time.
const AT_ONCE: u32 = 1 << 20;

thread_local! {
    /// What files are read into. In buffers of their own, hundreds of megabytes of a large file would wait
    /// for the collector.
    static BUFFER: Cell<Option<ArrayBuffer>> = const { Cell::new(None) };
}

/// Bytes of a file. What can't be read is as good as a file that ends there.
pub async fn bytes(file: &Blob, from: f64, to: f64) -> Result<Vec<u8>, Refusal> {
    let slice = file.slice_with_f64_and_f64(from, to).map_err(|_| Refusal::Truncated)?;
    let read = match ReadableStreamByobReader::new(&slice.stream()) {
        Ok(reader) => streamed(&reader, slice.size() as usize).await,
        // The browser lets no one choose what it reads a file into.
        Err(_) => {
            JsFuture::from(slice.array_buffer()).await.map(|all| Uint8Array::new(&all).to_vec())
        }
    };
    read.map_err(|_| Refusal::Truncated)
}

async fn streamed(reader: &ReadableStreamByobReader, size: usize) -> Result<Vec<u8>, JsValue> {
    let mut buffer = BUFFER.take().unwrap_or_else(|| ArrayBuffer::new(AT_ONCE));
    let (mut bytes, mut filled) = (vec![0; size], 0);
    while filled < size {
        let room = AT_ONCE.min((size - filled) as u32);
        let room = Uint8Array::new_with_byte_offset_and_length(&buffer, 0, room);
        let read = JsFuture::from(reader.read_with_array_buffer_view(&room)).await?;
        let part = Reflect::get(&read, &"value".into())?.dyn_into::<Uint8Array>()?;
        let count = part.length() as usize;
        if count == 0 {
            break;
        }
        part.copy_to(&mut bytes[filled..filled + count]);
        filled += count;
        buffer = part.buffer();
    }
    bytes.truncate(filled);
    BUFFER.set(Some(buffer));
    JsFuture::from(reader.cancel()).await?;
    Ok(bytes)
}

impl Beside {
    /// Takes what a file says that was chosen together with the model. Returns whether it belongs to the
    /// tokenizer of a model that reads more than single characters.
    fn add(&mut self, name: String, text: String) -> bool {
        let is_long = text.len() > LONGEST_READ;
        let is_merges = name.ends_with("merges.txt");
        let value = if is_long || is_merges { None } else { serde_json::from_str(&text).ok() };
        let value: Value = value.unwrap_or_default();
        if ["n_head", "n_embd", "model_type", "architectures"]
            .iter()
            .any(|name| value.get(name).is_some())
        {
            self.config = Some(value);
            return false;
        }
        let merges = value.pointer("/model/merges").and_then(Value::as_array);
        // Other files lie beside models, too, such as a README.
        let may_be = is_merges || name.ends_with(".json");
        let is_given = is_long || is_merges || merges.is_some_and(|merges| !merges.is_empty());
        if may_be {
            self.tokenizer.push(TokenizerFile { name, text });
        }
        let is_list = value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
        let is_ids = value.as_object().is_some_and(|ids| ids.values().all(Value::is_u64));
        if let Some(vocabulary) = value.pointer("/model/vocab") {
            self.vocabulary = Some(vocabulary.clone());
        } else if is_list || (is_ids && value.get("model_max_length").is_none()) {
            self.vocabulary = Some(value);
        }
        may_be && is_given
    }
}
