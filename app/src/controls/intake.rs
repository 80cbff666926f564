//! The way of a learner's own text into the page: pasted, opened or dropped.

use leptos::{ev, prelude::*};
use unroll_protocol::{
    link::Corpus,
    text::{self, Accepted, MAX_BYTES, TextError},
};
use web_sys::{DragEvent, File, FileList, HtmlTextAreaElement};

use super::text_file::{self, Read};
use crate::{
    fetched::{Fetch, part},
    kept::{self, Keeping},
    reactive::{effect, memo},
    store::{Notice, Severity, Store},
};

/// What reads files; nobody needs it before there is one.
const READER: Fetch<Read> = part!(text_file: Read = text_file::read);

/// Takes texts in, and remembers why the last one was refused. `Copy`: handles of its owner.
#[derive(Clone, Copy)]
pub struct Intake {
    store: Store,
    /// Why the last text was not taken, as a sentence.
    pub refusal: RwSignal<Option<String>>,
}

impl Intake {
    /// An intake of the present owner.
    pub fn new(store: Store) -> Self {
        let refusal = RwSignal::new(None);
        // The page says it in a notice, whoever finds out: only the engine knows how many characters a
        // model needs.
        let said = memo(move || {
            let refused =
                |notices: &Vec<Notice>| notices.iter().find(|n| n.refuses_text()).cloned();
            store.notices.with(refused)
        });
        effect(move || refusal.set(said.get().map(|notice| notice.sentence)));
        Self { store, refusal }
    }

    /// Learns a built-in text.
    pub fn take_corpus(self, corpus: Corpus) {
        self.next();
        self.store.choose_corpus(corpus);
    }

    /// Takes what stands in a text area. Its length is looked at before it is copied.
    pub fn take_area(self, area: &HtmlTextAreaElement) {
        self.next();
        // Lone surrogates become U+FFFD on their way from UTF-16, and are counted as such.
        let accepted = too_long(area).map_or_else(|| text::from_str(&area.value()), Err);
        self.take(accepted, None);
    }

    /// Takes the first of some files.
    pub fn take_files(self, files: Option<FileList>) {
        let Some(files) = files.filter(|files| files.length() > 0) else { return };
        if kept::opened(self.store, &files) {
            return;
        }
        if let Some(file) = files.get(0) {
            if files.length() > 1 {
                self.store.notify(
                    Severity::Note,
                    format!("Only the first of these files is used: {}.", file.name()),
                );
            }
            self.take_file(file);
        }
    }

    /// The number of a text that is asked for now: what earlier ones still bring comes too late, and what
    /// was said of them is over.
    fn next(self) -> u32 {
        self.refusal.set(None);
        self.store.keeping(Keeping::ask)
    }

    fn take_file(self, file: File) {
        let number = self.next();
        wasm_bindgen_futures::spawn_local(async move {
            let read = match READER().await {
                Ok(read) => read(file.clone()).await,
                Err(_) => Err(
                    "The file was not opened: part of this page could not be loaded. Try again."
                        .into(),
                ),
            };
            if self.store.keeping(|keeping| keeping.asked) == number {
                self.take(read, Some(file.name()));
            }
        });
    }

    /// The present model goes on where it is not taken.
    fn take(self, accepted: Result<Accepted, impl ToString>, name: Option<String>) {
        match accepted {
            Ok(accepted) => self.store.choose_own_text(accepted, name),
            Err(error) => self.store.refuse_text(error.to_string()),
        }
    }
}

/// Why a text area holds too much, from its length alone.
pub fn too_long(area: &HtmlTextAreaElement) -> Option<TextError> {
    // UTF-16 units: no text has fewer bytes in UTF-8.
    let units = u64::from(area.text_length());
    (units > MAX_BYTES).then_some(TextError::TooLarge { bytes: units })
}

/// Lets files be dropped anywhere on the page. True while some are held over it.
pub fn use_drop(intake: Intake) -> Signal<bool> {
    // Every element entered sends an event, and the one left sends another after it.
    let depth = RwSignal::new(0u32);
    let enter = window_event_listener(ev::dragenter, move |event| {
        if has_files(&event) {
            event.prevent_default();
            depth.update(|depth| *depth += 1);
        }
    });
    let leave = window_event_listener(ev::dragleave, move |event| {
        if has_files(&event) {
            depth.update(|depth| *depth = depth.saturating_sub(1));
        }
    });
    // Without this the browser would leave the page and show the file.
    let over = window_event_listener(ev::dragover, |event| {
        if has_files(&event) {
            event.prevent_default();
        }
    });
    let drop = window_event_listener(ev::drop, move |event| {
        if has_files(&event) {
            event.prevent_default();
            depth.set(0);
            intake.take_files(event.data_transfer().and_then(|data| data.files()));
        }
    });
    on_cleanup(move || {
        for listener in [enter, leave, over, drop] {
            listener.remove();
        }
    });
    Signal::derive(move || depth.get() > 0)
}

/// Whether files are dragged. Text dragged from field to field is left to the browser.
fn has_files(event: &DragEvent) -> bool {
    event.data_transfer().is_some_and(|data| data.types().includes(&"Files".into(), 0))
}
