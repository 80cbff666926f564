//! What the store's signals hold.

use std::{rc::Rc, sync::Arc};

use unroll_protocol::{Checkpoint, DeviceReport, Link, Packed, StudySpec, link::Corpus};

use super::Store;
use crate::{corpora, figures::Curve};

/// What computes, as the badge shows it.
#[derive(Clone, Debug, PartialEq)]
pub enum Device {
    Loading,
    Ready {
        report: DeviceReport,
        /// Why not the GPU, or that it is being prepared. A clause without a full stop.
        note: Option<String>,
    },
    /// No engine could be started; the sentence says why.
    Unavailable(String),
}

/// How fast training goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    pub tokens_per_second: f32,
    pub milliseconds_per_step: f32,
}

/// What the model has written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Writing {
    /// Optimizer steps the writing model had taken.
    pub step: u32,
    /// What it was given to go on from.
    pub opening: String,
    pub text: String,
    /// Its tokens, where they need not be characters.
    pub tokens: Vec<String>,
    pub done: bool,
}

/// Something the page says to the learner.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub id: u32,
    pub severity: Severity,
    pub sentence: String,
    pub lasts: Lasts,
}

/// How long a notice stays, unless the learner dismisses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// Until newer ones take its place.
    On,
    /// Until another text is chosen: it is about the one that is learned, or one that was refused.
    WithText,
    /// As long as it takes to read it: whoever misses it misses nothing.
    AWhile,
}

impl Notice {
    /// Whether it says why a text was not taken.
    pub fn refuses_text(&self) -> bool {
        self.lasts == Lasts::WithText && self.severity == Severity::Refusal
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Something asked for was not done; nothing was lost.
    Refusal,
    /// Something broke.
    Failure,
}

/// Training stopped because the numbers ran away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diverged {
    pub step: u32,
    pub loss: f32,
    /// Step that [`Store::restore_last_good`] goes back to.
    pub last_good: u32,
}

/// The text a model learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub corpus: Corpus,
    /// For people: `Tales`, or the name of an opened file.
    pub name: String,
    pub text: Arc<str>,
}

/// A run of the lab that is gone on with.
pub struct Run {
    /// Settings of its model.
    pub link: Link,
    pub source: Source,
    pub curve: Curve,
    /// The sentence that was looked at.
    pub probe: String,
    pub checkpoint: Box<Checkpoint>,
    /// Where it is kept, and is kept from now on.
    pub file: Option<String>,
    pub past: Option<Past>,
}

/// Recalls earlier moments of a run, see [`Store::recall`]: called whenever an engine has taken it up, and
/// when it goes on with it after all.
pub type Past = Rc<dyn Fn(Store)>;

/// Settles what waits for the engine's word about the model that is being opened: that it goes on, or the
/// reason why it is refused.
pub type Heard = Box<dyn FnOnce(Result<(), String>)>;

/// The text the URL asks for, and a sentence where it can't be had.
pub fn first_source(link: &Link) -> (Source, Option<String>) {
    let own = link.written.text.as_deref().map(unroll_protocol::text::from_str);
    let (corpus, missing) = match (link.corpus, own) {
        (Corpus::Own, Some(Ok(accepted))) => {
            let text = accepted.text.into();
            return (Source { corpus: Corpus::Own, name: "Your text".to_owned(), text }, None);
        }
        (Corpus::Own, Some(Err(error))) => (Corpus::Tales, Some(error.to_string())),
        (Corpus::Own, None) => (
            Corpus::Tales,
            Some(
                "This link was made with a text that is not included in it. The page uses the tales instead. \
                 To see the same as its author, paste or open that text."
                    .to_owned(),
            ),
        ),
        (corpus, _) if corpora::text(corpus).is_none() => (
            Corpus::Tales,
            Some("The text of the link could not be loaded, so the tales are used.".to_owned()),
        ),
        (corpus, _) => (corpus, None),
    };
    let text = corpora::text(corpus).unwrap_or_default();
    let missing = if text.is_empty() {
        let sentence = "The page’s texts could not be loaded. Are you offline? Reload the page, or paste a \
                        text of your own.";
        Some(sentence.to_owned())
    } else {
        missing
    };
    (Source { corpus, name: corpora::name(corpus).to_owned(), text }, missing)
}

/// Asked by who is about to build what this describes: a chapter's models out of a file, once.
pub type Opened = Box<dyn FnMut(&StudySpec) -> Opening>;

/// What a file that was opened has for a chapter's lab.
pub enum Opening {
    None,
    /// The text that the models learned is on its way.
    Waits,
    Models(Packed, Told),
}

/// Called once the engine has answered: with the reason if it did not take the models.
pub type Told = Box<dyn FnOnce(Option<&str>)>;
