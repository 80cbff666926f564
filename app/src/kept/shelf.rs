//! Models that were opened from files and are kept in the browser, for those who wish that.

use js_sys::{Array, Date};
use leptos::{prelude::*, task::spawn_local};
use unroll_protocol::Started;
use web_sys::File;

use super::{
    folder::{self, Entry, MODELS, Trouble},
    is_model,
    list::ago,
    model_file, new_name,
};
use crate::{
    controls::shape_name,
    reactive::effect,
    store::{Severity, Store},
};

/// Between what a kept file belongs to and its own name.
const APART: char = '~';
/// Most characters of a file's own name, counted from its end.
const LONGEST_NAME: usize = 60;

/// The files of the model on show, if it was opened from some.
pub struct Opened {
    pub files: Vec<File>,
    /// The kept model that they are.
    pub kept: Option<String>,
}

/// A kept model.
#[derive(Clone)]
struct Model {
    /// What all its files are named after: what it is, and a number that no other has.
    id: String,
    at: f64,
    bytes: f64,
    files: Vec<File>,
}

impl Model {
    /// What it is.
    fn title(&self) -> &str {
        self.id.split(APART).next().unwrap_or_default()
    }

    /// Without the weights, which come last, the copy was never finished.
    fn is_whole(&self) -> bool {
        self.files.iter().any(is_model)
    }
}

/// The model that a file belongs to, and the file's own name.
fn apart(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once(APART)
}

/// The name under which a model's file is kept.
fn file_name(id: &str, own: &str) -> String {
    let skipped = own.chars().count().saturating_sub(LONGEST_NAME);
    let own: String = own.chars().skip(skipped).filter(|letter| *letter != APART).collect();
    format!("{id}{APART}{own}")
}

/// What a model is, in a few words.
fn described(started: &Started) -> String {
    let gpt = started.spec.gpt;
    let millions = started.parameters as f64 / 1e6;
    let digits = usize::from(millions < 10.0);
    format!("{}, {millions:.digits$} million parameters", shape_name(gpt.layers, gpt.heads))
}

fn megabytes(bytes: f64) -> String {
    let megabytes = bytes / 1e6;
    if megabytes < 10.0 { format!("{megabytes:.1} MB") } else { format!("{megabytes:.0} MB") }
}

/// All kept models, the newest first.
async fn models() -> Result<Vec<Model>, Trouble> {
    let mut models: Vec<Model> = Vec::new();
    for Entry { name, at, bytes, file } in folder::entries(MODELS).await? {
        let Some((id, own)) = apart(&name) else { continue };
        // Under its own name again, which says what is in it.
        let Ok(file) = File::new_with_blob_sequence(&Array::of1(&file), own) else { continue };
        match models.iter_mut().find(|model| model.id == id) {
            Some(model) => {
                model.bytes += bytes;
                model.files.push(file);
            }
            None => models.push(Model { id: id.to_owned(), at, bytes, files: vec![file] }),
        }
    }
    Ok(models)
}

/// Copies files into the browser's storage. No byte of them goes through the page.
async fn copy(title: &str, files: &[File]) -> Result<String, Trouble> {
    let id = new_name(&format!("{title}{APART}model"));
    let (weights, others): (Vec<&File>, Vec<&File>) = files.iter().partition(|file| is_model(file));
    for file in others.into_iter().chain(weights) {
        if let Err(trouble) = folder::put(MODELS, &file_name(&id, &file.name()), file).await {
            remove(&id).await?;
            return Err(trouble);
        }
    }
    Ok(id)
}

async fn remove(id: &str) -> Result<(), Trouble> {
    for entry in folder::entries(MODELS).await? {
        if apart(&entry.name).is_some_and(|(of, _)| of == id) {
            folder::delete(MODELS, &entry.name).await?;
        }
    }
    Ok(())
}

/// Why a model is not kept.
fn sentence(trouble: Trouble, bytes: f64) -> String {
    match trouble {
        Trouble::NoPlace => {
            "This browser can’t keep models for this page. You may be in a private window, the browser may be too old, \
             or storage may be turned off."
                .to_owned()
        }
        Trouble::Full => format!(
            "The browser doesn’t have the {} that this model needs, so it was not kept. Delete what you no longer need \
             under “Model”, then try again.",
            megabytes(bytes)
        ),
        Trouble::Other => "The browser could not keep this model.".to_owned(),
    }
}

fn size(files: &[File]) -> f64 {
    files.iter().map(|file| file.size()).sum()
}

/// Keeps the model on show.
async fn keep(store: Store) {
    let files = store.keeping(|keeping| Some(keeping.opened.as_ref()?.files.clone()));
    let title = store.started.with_untracked(|started| started.as_deref().map(described));
    let Some((files, title)) = files.zip(title) else { return };
    let mut notice = None;
    let bytes = size(&files);
    store.restate(
        &mut notice,
        format!("Copying {} into this browser’s storage …", megabytes(bytes)),
    );
    let done = copy(&title, &files).await;
    notice.into_iter().for_each(|id| store.dismiss(id));
    match done {
        Ok(id) => {
            store.keeping(|keeping| {
                // Unless another model was opened meanwhile.
                let opened = keeping.opened.as_mut();
                if let Some(opened) = opened.filter(|opened| opened.files == files) {
                    opened.kept = Some(id);
                }
            });
            // The browser may refuse, and then deletes it only when it runs out of room.
            let _ = window().navigator().storage().persist();
            let said = "The model is now stored in this browser. When you come back, open it under “Model”.";
            store.notify(Severity::Note, said);
        }
        Err(trouble) => store.notify(Severity::Refusal, sentence(trouble, bytes)),
    }
    store.kept.notify();
}

/// The opened models that are kept, and the way to keep the one on show.
pub fn section(store: Store) -> impl IntoView {
    let all = RwSignal::new_local(Vec::<Model>::new());
    let busy = RwSignal::new(false);
    effect(move || {
        store.kept.track();
        store.started.track();
        spawn_local(async move {
            // What can't be kept has no list, and pressing the button says why.
            let now = models().await.unwrap_or_default();
            all.try_set(now);
        });
    });
    // Tracks the same: whether the model on show is a kept one.
    let kept = move || {
        all.track();
        store.keeping(|keeping| keeping.opened.as_ref()?.kept.clone())
    };
    let wish = move || {
        // Read first, whatever the answer: it says when to look again.
        let kept = kept();
        let files = store.keeping(|keeping| Some(size(&keeping.opened.as_ref()?.files)));
        let bytes = files.filter(|_| store.is_given() && kept.is_none())?;
        let press = move |_| {
            if busy.get_untracked() {
                return;
            }
            busy.set(true);
            spawn_local(async move {
                keep(store).await;
                busy.try_set(false);
            });
        };
        Some(view! {
            <p class="hint">
                "This model is gone when you reload or close the page. Keep a copy in this browser, and you can open it \
                 again without its files."
            </p>
            <button type="button" class="button" data-testid="shelf-keep" on:click=press
                aria-disabled=move || busy.get().then_some("true")>
                {format!("Keep it in this browser ({})", megabytes(bytes))}
            </button>
        })
    };
    let item = move |model: Model| {
        let (id, open) = (model.id.clone(), model.clone());
        let own = kept().as_ref() == Some(&id) && store.is_given();
        let state = match (own, model.is_whole()) {
            (true, _) => " (open now)",
            (_, false) => " (incomplete copy)",
            _ => "",
        };
        let (title, when) = (model.title().to_owned(), ago(Date::now() - model.at));
        let label = |action: &str| format!("{action}: {title}, {when}");
        let (open_label, delete_label) = (label("Open"), label("Delete"));
        let delete = move |_| {
            let id = id.clone();
            spawn_local(async move {
                if remove(&id).await.is_err() {
                    let sentence = "The browser could not delete this model.";
                    store.notify(Severity::Refusal, sentence);
                }
                store.keeping(|keeping| {
                    let opened = keeping.opened.as_mut();
                    if let Some(opened) = opened.filter(|o| o.kept.as_ref() == Some(&id)) {
                        opened.kept = None;
                    }
                });
                store.kept.notify();
            });
        };
        view! {
            <li data-testid="shelf-model">
                <p>{format!("{title}: {}, kept {when}{state}", megabytes(model.bytes))}</p>
                <div class="button-row">
                    {(!own && model.is_whole()).then(|| view! {
                        <button type="button" class="button" aria-label=open_label
                            on:click=move |_| model_file::open(store, open.files.clone(), false, Some(open.id.clone()))>
                            "Open"
                        </button>
                    })}
                    <button type="button" class="button" aria-label=delete_label on:click=delete>"Delete"</button>
                </div>
            </li>
        }
    };
    let list = move || {
        let models = all.get();
        (!models.is_empty()).then(|| {
            view! { <ul class="kept-list">{models.into_iter().map(item).collect_view()}</ul> }
        })
    };
    let is_there = move || store.is_given() || all.with(|all| !all.is_empty());
    view! {
        <section class="kept" data-testid="shelf" hidden=move || !is_there()>
            <h3>"Opened models"</h3>
            {wish}
            {list}
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_their_model() {
        let id = "12 layers, 12 heads, 124 million parameters~model-1800000000000-00ff";
        let name = file_name(id, "model.safetensors");
        assert_eq!(apart(&name), Some((id, "model.safetensors")));
        // A long name keeps its end, which says what the file is. What would mislead is left out.
        let long = file_name(id, &format!("{}~merges.txt", "x".repeat(300)));
        let (of, own) = apart(&long).unwrap();
        assert_eq!((of, own.len()), (id, LONGEST_NAME - 1));
        assert!(own.ends_with("xmerges.txt"));
        assert_eq!(apart("something else"), None);
        let model = Model { id: id.to_owned(), at: 0.0, bytes: 0.0, files: Vec::new() };
        assert_eq!(model.title(), "12 layers, 12 heads, 124 million parameters");
        assert!(!model.is_whole());
    }

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!(
            [497_764_120.0, 94_000.0, 9_949_999.0].map(megabytes),
            ["498 MB", "0.1 MB", "9.9 MB"]
        );
        assert!(sentence(Trouble::Full, 497_764_120.0).contains("the 498 MB that"));
    }
}
