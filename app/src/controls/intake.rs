//! The way of a learner's own text into the page: pasted, opened or dropped.

use leptos::{ev, prelude::*};
use unroll_protocol::{
    link::Corpus,
    text::{self, MAX_BYTES, TextError},
};
use web_sys::{DragEvent, File, FileList, HtmlTextAreaElement};

use super::text_file::{self, Read};
use crate::{
    fetched::{Fetch, part},
    kept,
    reactive::effect,
    store::{Severity, Store},
};

/// What reads files; nobody needs it before there is one.
const READER: Fetch<Read> = part!(text_file: Read = text_file::read);

/// Takes texts in, and remembers why the last one was refused. `Copy`: handles of its owner.
#[derive(Clone, Copy)]
pub struct Intake {
    store: Store,
    /// Why the last text was not taken, as a sentence.
    pub refusal: RwSignal<Option<String>>,
    /// Whether a text is on its way to the engine, which may still refuse it.
    offered: StoredValue<bool>,
    /// Texts that were asked for.
    asked: StoredValue<u32>,
}

impl Intake {
    /// An intake of the present owner.
    pub fn new(store: Store) -> Self {
        let intake = Self {
            store,
            refusal: RwSignal::new(None),
            offered: StoredValue::new(false),
            asked: StoredValue::new(0),
        };
        // Only the engine knows how many characters a model needs; the store says it in a notice.
        effect(move || {
            let notices = store.notices.get();
            let refused = notices.last().filter(|notice| notice.severity == Severity::Refusal);
            if let Some(notice) = refused
                && intake.offered.get_value()
            {
                intake.offered.set_value(false);
                intake.refusal.set(Some(notice.sentence.clone()));
            }
        });
        effect(move || {
            store.started.track();
            intake.offered.set_value(false);
        });
        intake
    }

    /// Learns a built-in text.
    pub fn take_corpus(self, corpus: Corpus) {
        self.next();
        self.forget();
        if self.settings_allow() {
            self.offered.set_value(true);
            self.store.choose_corpus(corpus);
        }
    }

    /// Takes what stands in a text area. Its length is looked at before it is copied. True if it
    /// was taken.
    pub fn take_area(self, area: &HtmlTextAreaElement) -> bool {
        self.next();
        match too_long(area) {
            Some(error) => self.refuse(error),
            // Lone surrogates become U+FFFD on their way from UTF-16, and are counted as such.
            None => self.take(text::from_str(&area.value()), None),
        }
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

    /// The number of a text that is asked for now: what earlier ones still bring comes too late.
    fn next(self) -> Option<u32> {
        self.asked.try_update_value(|asked| {
            *asked += 1;
            *asked
        })
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
            if self.asked.try_get_value() == number {
                self.take(read, Some(file.name()));
            }
        });
    }

    fn take(self, accepted: Result<text::Accepted, impl ToString>, name: Option<String>) -> bool {
        let accepted = match accepted {
            Ok(accepted) => accepted,
            Err(error) => return self.refuse(error),
        };
        if !self.settings_allow() {
            return false;
        }
        self.forget();
        self.offered.set_value(true);
        self.store.choose_own_text(accepted, name);
        true
    }

    /// Whether a model can be built for any text now; says why not.
    fn settings_allow(self) -> bool {
        match self.store.link.with_untracked(|link| link.experiment().validate()) {
            Ok(()) => true,
            Err(error) => self.refuse(format!(
                "The text was not changed, because the settings have no model for it. {error}"
            )),
        }
    }

    /// Takes back what was said about the text before: it is no longer about anything.
    fn forget(self) {
        let Some(sentence) = self.refusal.get_untracked() else { return };
        self.refusal.set(None);
        let said = self.store.notices.with_untracked(|notices| {
            notices.iter().find(|notice| notice.sentence == sentence).map(|notice| notice.id)
        });
        if let Some(id) = said {
            self.store.dismiss(id);
        }
    }

    /// Says why a text was not taken, here and in the page. The present model goes on. Always
    /// false: it was not taken.
    fn refuse(self, reason: impl ToString) -> bool {
        let reason = reason.to_string();
        self.forget();
        self.refusal.set(Some(reason.clone()));
        self.store.refuse_text(reason);
        false
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
