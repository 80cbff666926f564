//! The kept runs on the page: the last one is offered when the page opens, all are listed in the
//! settings.

use core::cell::Cell;
use std::{rc::Rc, sync::Arc};

use js_sys::{Array, Date};
use leptos::{ev, html, prelude::*, task::spawn_local};
use unroll_protocol::{
    LearningRateSchedule, Link,
    link::{Corpus, settings},
};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Element, HtmlElement};

use super::{
    MOST, RUN, elsewhere,
    file::{Head, checksum},
    folder::{self, Entry, RUNS, Trouble},
    go_on, head_of, is_twin, labels, model_file, moments, new_name, resumed, shelf, studies,
};
use crate::{
    controls::{counted, four_digits, general, grouped, in_words, pairs_of},
    reactive::{effect, memo},
    store::{Run, Severity, Store},
};

/// The button that takes a deletion back.
const UNDO: &str = "kept-undo";
/// The button that deletes all.
const ALL: &str = "kept-all";
const HEADING: &str = "kept-heading";
/// Frames in which the focus is passed on.
const FRAMES: u32 = 10;
/// What can be done with a run. Whoever was on one that is gone is on the first that is there.
const ACTIONS: [&str; 4] = ["continue", "rename", "duplicate", "delete"];

/// Width and height of the picture of a run's losses, in pixels.
const SPARK: [f32; 2] = [96.0, 28.0];

/// A kept run, as the list has it.
#[derive(Clone)]
struct Row {
    file: String,
    /// What the learner calls it.
    name: Option<String>,
    /// When it was kept, in milliseconds since 1970.
    at: f64,
    bytes: f64,
    /// `None` where the file is damaged.
    head: Option<Head>,
    /// Whether it is the run of another tab.
    elsewhere: bool,
}

impl Row {
    fn is_twin(&self) -> bool {
        is_twin(&self.file)
    }
}

/// All kept runs, the newest first.
async fn rows(store: Store) -> Result<Vec<Row>, Trouble> {
    let others = elsewhere(store).await;
    let mut rows = Vec::new();
    for entry in folder::entries(RUNS).await? {
        let head = head_of(&entry).await.ok();
        let elsewhere = others.contains(&entry.name);
        let name = labels::name_of(&entry.name);
        // A file that was copied, or brought back, is younger than what it holds.
        let at = head.as_ref().and_then(|head| head.at).unwrap_or(entry.at);
        rows.push(Row { file: entry.name, name, at, bytes: entry.bytes, head, elsewhere });
    }
    rows.sort_by(|a, b| b.at.total_cmp(&a.at));
    Ok(rows)
}

/// How long ago, in words.
pub fn ago(milliseconds: f64) -> String {
    let minutes = (milliseconds / 60_000.0).max(0.0);
    let (number, noun) = match minutes {
        ..1.0 => return "just now".to_owned(),
        ..60.0 => (minutes, "minute"),
        ..1440.0 => (minutes / 60.0, "hour"),
        _ => (minutes / 1440.0, "day"),
    };
    format!("{} ago", counted(number as u64, noun))
}

/// A run in a line: what it is called, and the rest.
fn said(row: &Row) -> [String; 2] {
    let when = ago(Date::now() - row.at);
    let run = match &row.head {
        None => format!("A damaged file, {when}"),
        Some(head) => {
            let loss =
                head.loss.map_or(String::new(), |loss| format!(", loss {}", four_digits(loss)));
            let step = grouped(head.step.into());
            format!("{}: {}, step {step}{loss}, {when}", head.text, head.model)
        }
    };
    match &row.name {
        Some(name) => [name.clone(), format!(" ({run})")],
        None => [run, String::new()],
    }
}

/// The learner's own text that the model on the page learns: what it is called, and its checksum.
type OwnText = Option<(String, u32)>;

fn own_text(store: Store, sum: Memo<u32>) -> OwnText {
    store
        .source
        .with(|source| (source.corpus == Corpus::Own).then(|| (source.name.clone(), sum.get())))
}

/// What a run has otherwise than the model on the page: "Layers: 2, not 4".
fn differences(head: &Head, built: &Link, own: &OwnText) -> Vec<String> {
    if head.query.is_empty() {
        return Vec::new();
    }
    let pairs = pairs_of(&head.query);
    let (kept, _) = Link::parse_query(pairs.iter().map(|(name, value)| (&**name, &**value)));
    let mut differences = Vec::new();
    if kept.corpus == Corpus::Own {
        // All texts of the learner's own are one setting.
        differences.extend(other_text(head, own));
    }
    for setting in settings() {
        let [theirs, ours] = [&kept, built].map(|link| (setting.get)(link));
        let mut with = built.clone();
        (setting.set)(&mut with, theirs.clone());
        if with.corpus != built.corpus || with.experiment() != built.experiment() {
            let label = general(setting.name).label;
            differences.push(format!(
                "{label}: {}, not {}",
                in_words(setting, &theirs),
                in_words(setting, &ours)
            ));
        }
    }
    differences
}

/// How a run's text of the learner's own is another than that on the page.
fn other_text(head: &Head, own: &OwnText) -> Option<String> {
    let (theirs, (name, ours)) = head.text_sum.zip(own.as_ref())?;
    (theirs != *ours).then(|| match head.text == *name {
        true => "Text: a different one with the same name".to_owned(),
        false => format!("Text: {}, not {name}", head.text),
    })
}

/// The points of a line through the losses, from the upper left to the lower right.
fn spark(losses: &[f32]) -> String {
    let [width, height] = SPARK;
    let (low, high) =
        losses.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), loss| {
            (low.min(*loss), high.max(*loss))
        });
    let range = (high - low).max(f32::MIN_POSITIVE);
    let last = (losses.len().max(2) - 1) as f32;
    let point = |(at, loss): (usize, &f32)| {
        // A line of its own width stays inside.
        let (x, y) = (at as f32 / last, (high - loss) / range);
        format!("{:.1},{:.1}", 1.0 + x * (width - 2.0), 1.0 + y * (height - 2.0))
    };
    losses.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
}

/// Offers the newest run that no other tab has open. That of a twin comes with the run beside it.
pub(super) async fn offer(store: Store) {
    let Ok(rows) = rows(store).await else { return };
    let newest =
        rows.into_iter().find(|row| row.head.is_some() && !row.elsewhere && !row.is_twin());
    // The learner may have begun, and been kept, in the meantime.
    let Some(row) = newest.filter(|_| store.keeping(|keeping| keeping.file.is_none())) else {
        return;
    };
    store.offer.set(Some(Arc::new(move || card(store, row.clone()))));
}

/// See [`Act::Rejoin`](super::Act::Rejoin).
pub(super) async fn rejoin(store: Store, most: u32) {
    let Ok(entries) = folder::entries(RUNS).await else { return };
    let others = elsewhere(store).await;
    let mut furthest: Option<(u32, Entry)> = None;
    for entry in entries.into_iter().filter(|entry| is_twin(&entry.name)) {
        let Ok(head) = head_of(&entry).await else { continue };
        let is_further = furthest.as_ref().is_none_or(|(step, _)| head.step > *step);
        if is_further && head.step <= most && !others.contains(&entry.name) && fits(store, &head) {
            furthest = Some((head.step, entry));
        }
    }
    let Some((_, entry)) = furthest else { return };
    // Where its file is damaged it trains from where it is.
    let Ok(run) = resumed(store, &entry).await else { return };
    // Meanwhile the learner may have ended the twin, or changed what it is.
    let still = store.link.try_with_untracked(|link| link.experiment() == run.link.experiment());
    // One whose rate was changed on the way came there otherwise than this twin would.
    let schedule = LearningRateSchedule::new(&run.link.experiment().optimizer);
    let mut points = run.curve.points().iter();
    let is_steady = points.all(|point| point.learning_rate == schedule.at(point.step) as f32);
    let is_same = || store.source.with_untracked(|source| source.text == run.source.text);
    if still == Some(true) && is_steady && is_same() {
        // One sentence for both.
        let probe = store.probe.get_untracked();
        store.take_up_run(Run { probe, ..run });
    }
}

/// Whether what was kept is further than the model on show, and of the same settings and text.
fn fits(store: Store, head: &Head) -> bool {
    let Some(step) = store.step.try_get_untracked() else { return false };
    let pairs = pairs_of(&head.query);
    let (kept, _) = Link::parse_query(pairs.iter().map(|(name, value)| (&**name, &**value)));
    let sum = store.source.with_untracked(|source| checksum(source.text.as_bytes()));
    head.step > step
        && !head.query.is_empty()
        && head.text_sum == Some(sum)
        && store.link.with_untracked(|link| link.experiment() == kept.experiment())
}

fn card(store: Store, row: Row) -> AnyView {
    let close = move || store.offer.set(None);
    let sentence = said(&row).concat();
    let name = row.file;
    let go = {
        let name = name.clone();
        move |_| {
            let name = name.clone();
            close();
            spawn_local(async move { go_on(store, &name).await });
        }
    };
    let delete = move |_| {
        let name = name.clone();
        close();
        spawn_local(async move { remove(store, &[name]).await });
    };
    view! {
        <div class="notice kept-offer" role="status" data-testid="kept-offer">
            <div>
                <p><strong>"Your last run is still here. "</strong><span translate="no">{sentence}</span>"."</p>
                <div class="button-row">
                    <button type="button" class="button button-primary" data-testid="kept-continue"
                        aria-disabled=move || store.started.with(Option::is_none).then_some("true")
                        on:click=move |event| if store.started.with_untracked(Option::is_some) { go(event) }>
                        "Continue it"
                    </button>
                    <button type="button" class="button" data-testid="kept-delete" on:click=delete>"Delete it"</button>
                </div>
            </div>
            <button type="button" class="notice-close" aria-label="Dismiss this message" on:click=move |_| close()>
                "×"
            </button>
        </div>
    }
    .into_any()
}

async fn remove(store: Store, files: &[String]) {
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
struct Bin {
    store: Store,
    runs: RwSignal<Vec<Deleted>, LocalStorage>,
    /// The chapters' models that were deleted with them.
    studies: RwSignal<Vec<Deleted>, LocalStorage>,
    /// How many were to go too, but are another tab's.
    others: RwSignal<usize>,
    /// The file of a run that comes back: where the focus goes.
    back: StoredValue<Option<String>>,
}

struct Deleted {
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
    fn new(store: Store) -> Self {
        let (others, back) = (RwSignal::new(0), StoredValue::new(None));
        let [runs, studies] = [(); 2].map(|()| RwSignal::new_local(Vec::new()));
        Self { store, runs, studies, others, back }
    }

    /// Deletes files, unless another tab has them open, and holds what was in them.
    async fn take(self, mut files: Vec<String>) {
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
    async fn take_all(self, files: Vec<String>) {
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

    async fn bring_back(self) {
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
            super::save(self.store).await;
        }
        self.store.kept.notify();
        focus_one_of(vec![UNDO.to_owned()], None);
    }
}

/// The id of a button of a run's.
fn id(action: &str, file: &str) -> String {
    format!("kept-{action}-{file}")
}

/// Where the focus goes when a run's button or the list's is gone that had it: to another of that run, or
/// to what takes the deletion back.
fn instead_of(focused: &str) -> Vec<String> {
    let of_run = ACTIONS.iter().find_map(|action| focused.strip_prefix(&id(action, "")));
    let mut to = vec![focused.to_owned()];
    to.extend(of_run.into_iter().flat_map(|file| ACTIONS.map(|action| id(action, file))));
    to.push(UNDO.to_owned());
    to
}

/// Puts the focus on the first of these that is there, if it is nowhere, or still on what had it: a list
/// that is drawn anew uses the elements of one run for another.
fn focus_one_of(to: Vec<String>, had: Option<Element>) {
    focus_within(FRAMES, to, had);
}

/// The same within so many frames, for what is to have the focus may not be drawn yet. A focus that is
/// nowhere by then goes to the list's heading, until there is something better.
fn focus_within(frames: u32, to: Vec<String>, had: Option<Element>) {
    request_animation_frame(move || {
        let page = document();
        let focused = page.active_element().filter(|element| element.tag_name() != "BODY");
        let is_nowhere = focused.as_ref().is_none_or(|element| element.id() == HEADING);
        if !is_nowhere && focused != had {
            return;
        }
        let find = |id: &str| page.get_element_by_id(id);
        let found = to.iter().find_map(|id| find(id));
        if found.is_none() && frames > 1 {
            return focus_within(frames - 1, to, had);
        }
        if let Some(element) = found.or_else(|| find(HEADING).filter(|_| is_nowhere)) {
            _ = element.unchecked_into::<HtmlElement>().focus();
        }
    });
}

/// Copies a run into a file of its own.
async fn duplicate(store: Store, file: &str) {
    let entries = folder::entries(RUNS).await.unwrap_or_default();
    if entries.len() >= MOST {
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

/// The name of a run, to be changed.
fn renaming(store: Store, file: String, name: String, close: Callback<()>) -> AnyView {
    let input = NodeRef::<html::Input>::new();
    effect(move || {
        if let Some(input) = input.get() {
            let _ = input.focus();
            input.select();
        }
    });
    let save = move || {
        let Some(input) = input.get_untracked() else { return };
        if !labels::rename(&file, &input.value()) {
            store.notify(
                Severity::Refusal,
                "This browser could not save that name. The run itself is safe.",
            );
        }
        close.run(());
    };
    let saving = save.clone();
    let enter = move |event: ev::KeyboardEvent| {
        // Where characters are composed, Enter ends one of them.
        if event.key() == "Enter" && !event.is_composing() {
            event.prevent_default();
            saving();
        }
    };
    let escape = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            // The panel stays open.
            event.stop_propagation();
            close.run(());
        }
    };
    view! {
        <div class="kept-name" on:keydown=escape>
            <input type="text" aria-label="Run name" data-testid="kept-name" maxlength=labels::LONGEST.to_string()
                value=name node_ref=input on:keydown=enter/>
            <button type="button" class="button" on:click=move |_| save()>"Save"</button>
            <button type="button" class="button" on:click=move |_| close.run(())>"Cancel"</button>
        </div>
    }
    .into_any()
}

/// One run of the list. `renamed` holds the file of the one whose name is being changed.
fn item(row: Row, bin: Bin, renamed: RwSignal<Option<String>>, sum: Memo<u32>) -> AnyView {
    let store = bin.store;
    let own = store.keeping(|keeping| keeping.file.as_ref() == Some(&row.file));
    let (damaged, elsewhere) = (row.head.is_none(), row.elsewhere);
    let beside = match (row.is_twin(), elsewhere) {
        (true, true) => " (open as a twin)",
        (true, false) => " (trained as a twin)",
        (false, true) => " (open in another tab)",
        (false, false) => "",
    };
    let [title, rest] = said(&row);
    let head = row.head.clone();
    let otherwise = move || {
        let differences = head
            .as_ref()
            .filter(|_| !own)
            .map(|head| store.built.with(|built| differences(head, built, &own_text(store, sum))));
        differences.filter(|all| !all.is_empty()).map(|all| {
            view! {
                <p class="hint" data-testid="kept-differs">
                    {format!("Differs from the model on this page. {}.", all.join(". "))}
                </p>
            }
        })
    };
    let losses = row.head.map(|head| head.losses).filter(|losses| losses.len() > 1);
    let [width, height] = SPARK;
    let picture = losses.map(|losses| {
        view! {
            <svg class="kept-spark" width=width.to_string() height=height.to_string() aria-hidden="true">
                <polyline points=spark(&losses)/>
            </svg>
        }
    });
    let file = StoredValue::new(row.file);
    let name = StoredValue::new(row.name.unwrap_or_default());
    let button = NodeRef::<html::Button>::new();
    let close = Callback::new(move |()| {
        renamed.set(None);
        if let Some(button) = button.get_untracked() {
            let _ = button.focus();
        }
        // The list has waited for this.
        store.kept.notify();
    });
    let id = move |part: &str| id(part, &file.get_value());
    // Many runs have the same buttons, so each is named with its run.
    let named = move |action: &str| format!("{} {}", id(action), id("title"));
    let go = move |_| {
        renamed.set(None);
        spawn_local(async move { go_on(store, &file.get_value()).await });
    };
    let delete = move |_| {
        renamed.set(None);
        spawn_local(bin.take(vec![file.get_value()]));
    };
    let copy = move |_| spawn_local(async move { duplicate(store, &file.get_value()).await });
    let form = move || {
        let is_this = renamed.with(|renamed| renamed.as_ref() == Some(&file.get_value()));
        is_this.then(|| renaming(store, file.get_value(), name.get_value(), close))
    };
    view! {
        <li data-testid="kept-run">
            <div class="kept-line">
                <p>
                    <span translate="no"><span id=id("title")>{title}</span>{rest}</span>
                    {if own { " (the run on this page)" } else { beside }}
                </p>
                {picture}
            </div>
            {otherwise}
            {form}
            <div class="button-row">
                {(!damaged && !own).then(|| view! {
                    <button type="button" class="button" id=id("continue") aria-labelledby=named("continue") on:click=go>
                        "Continue"
                    </button>
                })}
                {(!damaged).then(|| view! {
                    <button type="button" class="button" id=id("rename") aria-labelledby=named("rename")
                        node_ref=button on:click=move |_| renamed.set(Some(file.get_value()))>
                        "Rename"
                    </button>
                    <button type="button" class="button" id=id("duplicate") aria-labelledby=named("duplicate")
                        on:click=copy>
                        "Duplicate"
                    </button>
                })}
                {(!elsewhere).then(|| view! {
                    <button type="button" class="button" id=id("delete") aria-labelledby=named("delete")
                        on:click=delete>
                        "Delete"
                    </button>
                })}
            </div>
        </li>
    }
    .into_any()
}

/// What was deleted, of the chapters too, and what was not because other tabs have it open.
fn deletion(count: usize, chapters: usize, others: usize) -> String {
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
             are kept. The newest {} also keep earlier steps of their training, so you can go back in time.",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_said_in_a_line() {
        let at = |minutes: f64| ago(minutes * 60_000.0);
        assert_eq!([-1.0, 0.9].map(at), ["just now", "just now"]);
        assert_eq!(
            [1.0, 59.9, 61.0, 3000.0].map(at),
            ["1 minute ago", "59 minutes ago", "1 hour ago", "2 days ago"]
        );
    }

    #[test]
    fn two_texts_of_the_learners_own_are_told_apart() {
        let ours = Some(("notes.txt".to_owned(), 7));
        let of = |text: &str, text_sum, ours: &OwnText| {
            let head = Head {
                step: 1,
                loss: None,
                text: text.to_owned(),
                model: String::new(),
                parameters: 1,
                losses: Vec::new(),
                query: String::new(),
                text_sum,
                at: None,
            };
            other_text(&head, ours).unwrap_or_default()
        };
        assert_eq!(of("notes.txt", Some(8), &ours), "Text: a different one with the same name");
        assert_eq!(of("story.txt", Some(8), &ours), "Text: story.txt, not notes.txt");
        // The same text, also under another name.
        assert_eq!(of("notes.txt", Some(7), &ours), "");
        assert_eq!(of("story.txt", Some(7), &ours), "");
        // Files of earlier releases do not say, and a built-in text beside one's own is another setting.
        assert_eq!(of("notes.txt", None, &ours), "");
        assert_eq!(of("notes.txt", Some(8), &None), "");
    }

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

    #[test]
    fn the_focus_stays_with_its_run() {
        let to = instead_of("kept-continue-run-1-00ff");
        assert_eq!(to[0], "kept-continue-run-1-00ff");
        assert!(to.contains(&id("delete", "run-1-00ff")), "{to:?}");
        assert_eq!(to[to.len() - 1], UNDO);
        assert_eq!(instead_of(ALL), [ALL, UNDO]);
    }

    #[test]
    fn losses_are_a_line_from_left_to_right() {
        assert_eq!(spark(&[4.0, 2.0, 3.0]), "1.0,1.0 48.0,27.0 95.0,14.0");
        // A straight one has no height.
        assert_eq!(spark(&[2.0, 2.0]), "1.0,1.0 95.0,1.0");
    }
}
