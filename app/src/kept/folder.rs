//! Where runs and opened models are kept: the browser's private file system, which only this page can read.
//!
//! It was chosen over IndexedDB because a file that is written there takes the old one's place only
//! when it is closed: a tab that ends in the middle leaves the old run whole. And a file is written in
//! pieces, so that no task of the page copies a whole model.

use std::cell::RefCell;

use js_sys::{Array, AsyncIterator, Function, IteratorNext, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, DomException, File, FileSystemDirectoryHandle, FileSystemFileHandle,
    FileSystemGetDirectoryOptions, FileSystemGetFileOptions, FileSystemRemoveOptions,
    FileSystemWritableFileStream,
};

/// The folder of all runs.
pub const RUNS: &str = "runs";
/// The folder of models that were opened.
pub const MODELS: &str = "models";
/// The folder of the runs' moments: one folder for each run, named after its file, in which each moment is
/// a file, named after its step.
pub const MOMENTS: &str = "moments";

/// Why something can't be kept. `Display` would say it to the learner: see [`Trouble::sentence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The browser has no such place, or does not let this page have one.
    NoPlace,
    Full,
    Other,
}

impl Trouble {
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NoPlace => {
                "This browser keeps no runs for this page. The window may be private, the browser old, or \
                 storage turned off. If you reload, training starts over."
            }
            Self::Full => {
                "The browser has no room left, so this run is not kept. Open “Model” and delete a kept run."
            }
            Self::Other => {
                "The browser could not keep this run. What was kept before is still there."
            }
        }
    }
}

impl From<JsValue> for Trouble {
    fn from(error: JsValue) -> Self {
        let name = error.dyn_ref::<DomException>().map(DomException::name);
        match name.as_deref() {
            Some("QuotaExceededError") => Self::Full,
            Some("SecurityError" | "NotAllowedError" | "UnknownError") => Self::NoPlace,
            _ => Self::Other,
        }
    }
}

async fn result<T: JsCast>(promise: Promise) -> Result<T, Trouble> {
    Ok(JsFuture::from(promise).await?.unchecked_into())
}

/// The folder of this path, made if it is not there.
async fn folder(path: &str) -> Result<FileSystemDirectoryHandle, Trouble> {
    let storage = leptos::prelude::window().navigator().storage();
    // Missing where the page did not come over https, and in older browsers.
    let has = |object: &JsValue, name: &str| {
        Reflect::get(object, &name.into()).is_ok_and(|value| value.is_function())
    };
    if !storage.is_object() || !has(&storage, "getDirectory") {
        return Err(Trouble::NoPlace);
    }
    let mut folder: FileSystemDirectoryHandle =
        result(storage.get_directory()).await.map_err(|_| Trouble::NoPlace)?;
    let options = FileSystemGetDirectoryOptions::new();
    options.set_create(true);
    for name in path.split('/') {
        folder = result(folder.get_directory_handle_with_options(name, &options)).await?;
    }
    Ok(folder)
}

/// What a folder yields, one after the other.
async fn all<T: JsCast>(of: AsyncIterator) -> Result<Vec<T>, Trouble> {
    let mut all = Vec::new();
    loop {
        let next: IteratorNext = result(of.next()?).await?;
        if next.done() {
            return Ok(all);
        }
        all.push(next.value().unchecked_into());
    }
}

/// One kept file.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: String,
    /// When it was written, in milliseconds since 1970.
    pub at: f64,
    pub bytes: f64,
    pub file: File,
}

/// All files of a folder, the newest first.
pub async fn entries(of: &str) -> Result<Vec<Entry>, Trouble> {
    let mut entries = Vec::new();
    for handle in all::<FileSystemFileHandle>(folder(of).await?.values()).await? {
        // One that another tab has just deleted is no longer there.
        if let Ok(file) = result::<File>(handle.get_file()).await
            && file.size() > 0.0
        {
            entries.push(Entry {
                name: handle.name(),
                at: file.last_modified(),
                bytes: file.size(),
                file,
            });
        }
    }
    entries.sort_by(|a, b| b.at.total_cmp(&a.at));
    Ok(entries)
}

/// The names of all that is in a folder.
pub async fn names(of: &str) -> Result<Vec<String>, Trouble> {
    let names: Vec<JsValue> = all(folder(of).await?.keys()).await?;
    Ok(names.iter().filter_map(JsValue::as_string).collect())
}

/// Deletes a folder in a folder with all that is in it.
pub async fn delete_folder(of: &str, name: &str) -> Result<(), Trouble> {
    let options = FileSystemRemoveOptions::new();
    options.set_recursive(true);
    JsFuture::from(folder(of).await?.remove_entry_with_options(name, &options)).await?;
    Ok(())
}

pub async fn delete(of: &str, name: &str) -> Result<(), Trouble> {
    JsFuture::from(folder(of).await?.remove_entry(name)).await?;
    Ok(())
}

/// Writes a file of this content; the browser does it, and no byte goes through the page.
pub async fn put(of: &str, name: &str, content: &Blob) -> Result<(), Trouble> {
    write(of, name, async |writer| {
        JsFuture::from(writer.0.write_with_blob(content)?).await?;
        Ok(())
    })
    .await
}

/// Writes a file as `pour` does, whole or not at all: then the old one stays.
pub async fn write(
    of: &str,
    name: &str,
    pour: impl AsyncFnOnce(&Writer) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let writer = Writer::open(of, name).await?;
    match pour(&writer).await {
        Ok(()) => writer.close().await,
        Err(trouble) => {
            writer.abandon().await;
            Err(trouble)
        }
    }
}

/// A file that is being written, see [`write`]. It takes the old one's place once it is whole.
pub struct Writer(FileSystemWritableFileStream);

impl Writer {
    async fn open(of: &str, name: &str) -> Result<Self, Trouble> {
        let options = FileSystemGetFileOptions::new();
        options.set_create(true);
        let handle: FileSystemFileHandle =
            result(folder(of).await?.get_file_handle_with_options(name, &options)).await?;
        if !Reflect::get(&handle, &"createWritable".into()).is_ok_and(|f| f.is_function()) {
            return Err(Trouble::NoPlace);
        }
        Ok(Self(result(handle.create_writable()).await?))
    }

    pub async fn write(&self, bytes: &[u8]) -> Result<(), Trouble> {
        // Copied: the page's memory may move before it is written.
        let bytes = Uint8Array::from(bytes);
        JsFuture::from(self.0.write_with_buffer_source(&bytes)?).await?;
        Ok(())
    }

    async fn close(self) -> Result<(), Trouble> {
        JsFuture::from(self.0.close()).await?;
        Ok(())
    }

    /// Gives up: the old file stays.
    async fn abandon(self) {
        let _ = JsFuture::from(self.0.abort()).await;
    }
}

/// The browser's locks: names that one tab at a time can hold, until it ends. `None` where it has none.
fn locks() -> Option<Object> {
    let locks = Reflect::get(&leptos::prelude::window().navigator(), &"locks".into()).ok()?;
    locks.dyn_into().ok()
}

fn method(of: &Object, name: &str) -> Option<Function> {
    Reflect::get(of, &name.into()).ok()?.dyn_into().ok()
}

thread_local! {
    /// What lets go of each run that is held, by name.
    static HELD: RefCell<Vec<(String, Function)>> = const { RefCell::new(Vec::new()) };
}

/// Holds a run no more.
pub fn let_go(name: &str) {
    let held = HELD.with_borrow_mut(|held| {
        held.iter().position(|(of, _)| of == name).map(|at| held.swap_remove(at).1)
    });
    if let Some(settle) = held {
        let _ = settle.call0(&JsValue::UNDEFINED);
    }
}

/// Holds a run for this tab until it is [let go](let_go), or the tab ends. `false` if it is held already.
pub async fn hold(name: &str) -> bool {
    let Some((locks, request)) =
        locks().and_then(|locks| Some((locks.clone(), method(&locks, "request")?)))
    else {
        return true;
    };
    let options = Object::new();
    let _ = Reflect::set(&options, &"ifAvailable".into(), &true.into());
    let mut asked = Err(JsValue::UNDEFINED);
    let granted = Promise::new(&mut |resolve, _| {
        let of = name.to_owned();
        let callback = Closure::once_into_js(move |lock: JsValue| -> JsValue {
            let held = lock.is_object();
            let _ = resolve.call1(&JsValue::UNDEFINED, &held.into());
            // Held as long as this is not settled.
            let mut keep = |settle, _| HELD.with_borrow_mut(|held| held.push((of.clone(), settle)));
            if held { Promise::new(&mut keep).into() } else { JsValue::UNDEFINED }
        });
        asked = request.call3(&locks, &name.into(), &options, &callback);
    });
    match asked {
        Ok(_) => JsFuture::from(granted).await.is_ok_and(|held| held.is_truthy()),
        // Locks that are not to be had are nobody's.
        Err(_) => true,
    }
}

/// The names that any tab holds.
pub async fn held() -> Vec<String> {
    let asked = locks().and_then(|locks| method(&locks, "query")?.call0(&locks).ok());
    let Some(asked) = asked.and_then(|asked| asked.dyn_into::<Promise>().ok()) else {
        return Vec::new();
    };
    let held = JsFuture::from(asked).await.and_then(|all| Reflect::get(&all, &"held".into()));
    let held: Array = held.map_or_else(|_| Array::new(), |held| Array::from(&held));
    let name = |lock: JsValue| Reflect::get(&lock, &"name".into()).ok()?.as_string();
    held.iter().filter_map(name).collect()
}
