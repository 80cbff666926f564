//! Which model is built, for which text, and how the one before it can be brought back.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{Checkpoint, Command, Link, link::Corpus, text::Accepted};

use super::{Heard, Past, Run, Severity, Source, Store, pace::Starting, state::first_source};
use crate::{corpora, figures::Curve, kept::Keeping};

/// The model as it was before the last start over.
pub struct Previous {
    link: Link,
    source: Source,
    curve: Curve,
    checkpoint: Box<Checkpoint>,
    past: Option<Past>,
}

impl Store {
    /// Changes settings in the form. A model that nobody has trained is rebuilt at once; one that was
    /// trained, here or elsewhere, stays until [`Self::start_over`].
    pub fn change_settings(self, change: impl FnOnce(&mut Link)) {
        self.link.update(change);
        let is_at_hand = !self.is_trained() && !untrack(|| self.is_given());
        if is_at_hand && self.needs_start_over() {
            self.start_over();
        }
    }

    /// Whether the form describes another model than the present one. Tracks both.
    pub fn needs_start_over(self) -> bool {
        self.link.with(|link| {
            self.built.with(|built| {
                link.experiment() != built.experiment() || link.gpt.workers != built.gpt.workers
            })
        })
    }

    /// Puts the form back to the present model's settings.
    pub fn undo_settings(self) {
        let built = self.built.get_untracked();
        self.link.update(|link| *link = link.clone().with_experiment_of(&built));
    }

    /// Builds a new model from the form's settings for the present text. The old one can be
    /// brought back.
    pub fn start_over(self) {
        let source = self.source.get_untracked();
        if let Err(reason) = self.begin(source) {
            self.notify(Severity::Refusal, reason);
        }
    }

    /// Learns a built-in text instead, unless the learner asks for something else before it is here.
    pub fn choose_corpus(self, corpus: Corpus) {
        let number = self.keeping(Keeping::ask);
        wasm_bindgen_futures::spawn_local(async move {
            let name = corpora::name(corpus).to_owned();
            let loaded = corpora::load(corpus).await;
            if self.keeping(|keeping| keeping.asked) != number {
                return;
            }
            match loaded {
                Ok(text) => self.learn(Source { corpus, name, text }, Vec::new()),
                Err(sentence) => self.refuse_text(sentence),
            }
        });
    }

    /// Learns the learner's own text instead. `name` is the file's, if it came from one.
    pub fn choose_own_text(self, accepted: Accepted, name: Option<String>) {
        self.keeping(Keeping::ask);
        let name = name.unwrap_or_else(|| "Your text".to_owned());
        let source = Source { corpus: Corpus::Own, name, text: accepted.text.into() };
        self.learn(source, accepted.notes);
    }

    fn learn(self, source: Source, notes: Vec<String>) {
        if let Err(reason) = self.begin(source) {
            return self.refuse_text(format!(
                "The text was not changed, because the settings have no model for it. {reason}"
            ));
        }
        self.forget_text();
        notes.into_iter().for_each(|note| self.note_on_text(note));
    }

    /// Goes back to a text that another has replaced: with the model that learned it, where it is the last one
    /// replaced. `false` for a text of the learner's that is gone.
    pub fn back_to_text(self, corpus: Corpus) -> bool {
        let with_model = self.previous.try_with_value(|previous| {
            previous.as_ref().is_some_and(|previous| previous.source.corpus == corpus)
        });
        if with_model == Some(true) {
            self.bring_back();
            return true;
        }
        if corpus == Corpus::Own {
            return false;
        }
        self.choose_corpus(corpus);
        true
    }

    /// Refused with a sentence where the form's settings describe no model.
    fn begin(self, source: Source) -> Result<(), String> {
        let link = Link { corpus: source.corpus, ..self.link.get_untracked() };
        link.experiment().validate(untrack(|| self.limits())).map_err(|error| error.to_string())?;
        // The old model is kept first: the engine answers commands in order.
        self.keep_previous();
        self.keeping(|keeping| keeping.anew(None));
        if !self.is_open() {
            self.take_source(source);
            self.built.set(link);
            return Ok(());
        }
        self.send_start(Starting { link, source, curve: None, past: None }, None);
        Ok(())
    }

    /// Begins with the usual model and text, where what the link asked for can't be built: the page
    /// is never without a model.
    pub(super) fn begin_as_usual(self) {
        let usual = Link::default();
        let (source, _) = first_source(&usual);
        if self.built.get_untracked().experiment() == usual.experiment()
            && self.source.get_untracked() == source
        {
            return;
        }
        self.build_as_usual();
        self.source.set(source);
        self.start_over();
    }

    /// The next engine builds the usual model.
    pub(super) fn build_as_usual(self) {
        self.link.update(|link| *link = link.clone().with_experiment_of(&Link::default()));
        self.built.set(self.link.get_untracked());
    }

    /// Has another text be the one that is learned. A sentence the learner did not touch follows it.
    pub(super) fn take_source(self, source: Source) {
        let untouched = self.source.with_untracked(|old| {
            let probe = self.probe.get_untracked();
            corpora::is_first_probe(&probe, old.corpus, &old.text)
        });
        if untouched && self.source.with_untracked(|old| old.text != source.text) {
            self.probe.set(corpora::probe_for(source.corpus, &source.text));
        }
        self.link.update(|form| form.corpus = source.corpus);
        self.source.set(source);
    }

    /// Sends a start, whose answer [`Self::on_started`] takes up with what is kept here.
    pub(super) fn send_start(self, starting: Starting, resume: Option<Box<Checkpoint>>) {
        let (spec, text) = (starting.link.experiment(), starting.source.text.to_string());
        let workers = self.workers_for(&starting.link);
        self.pace.update_value(|pace| pace.starting.push_back(starting));
        self.send(&Command::Start { spec, text, resume, workers });
    }

    /// Goes on with another run. The present one can be brought back.
    pub fn take_up_run(self, run: Run) {
        let Run { link, source, curve, probe, checkpoint, file, past } = run;
        self.keep_previous();
        self.link.update(|form| *form = form.clone().with_experiment_of(&link));
        self.probe.set(probe);
        self.keeping(|keeping| {
            keeping.ask();
            keeping.anew(file);
        });
        let link = Link { corpus: source.corpus, ..self.link.get_untracked() };
        if !self.is_open() {
            // The first engine goes on from what was saved last.
            self.built.set(link);
            self.take_source(source);
            self.curve.set(curve);
            self.pace.update_value(|pace| {
                pace.saved = Some(Arc::from(checkpoint));
                pace.past = past;
            });
            return;
        }
        self.send_start(Starting { link, source, curve: Some(curve), past }, Some(checkpoint));
    }

    /// Keeps the present model, which can be brought back: another is about to take its place. `heard` is told
    /// when that is done.
    pub fn make_room(self, heard: Heard) {
        self.hear(Some(heard));
        if self.has_no_engine() || !self.keep_previous() {
            self.on_heard(Ok(()));
        }
    }

    /// Asks for the state of the present model, to which the learner can return. `false` if it was not
    /// trained, or a native engine keeps it.
    fn keep_previous(self) -> bool {
        let trained = self.is_trained() && self.kept_apart().is_none();
        if trained {
            self.send(&Command::Save);
        }
        self.pace.update_value(|pace| pace.keep_previous = trained);
        trained
    }

    /// The state that [`Self::keep_previous`] asked for has come.
    pub(super) fn on_previous(self, checkpoint: Box<Checkpoint>) {
        self.on_heard(Ok(()));
        self.can_bring_back.set(Some(checkpoint.step));
        self.previous.set_value(Some(Previous {
            link: self.built.get_untracked(),
            source: self.source.get_untracked(),
            curve: self.curve.get_untracked(),
            checkpoint,
            past: self.pace.with_value(|pace| pace.past.clone()),
        }));
    }

    /// Brings back the model that the last start over replaced.
    pub fn bring_back(self) {
        let Some(previous) = self.previous.try_update_value(Option::take).flatten() else { return };
        self.can_bring_back.set(None);
        let Previous { link, source, curve, checkpoint, past } = previous;
        self.keeping(|keeping| {
            keeping.ask();
            keeping.anew(None);
        });
        self.link.update(|form| *form = form.clone().with_experiment_of(&link));
        self.send_start(Starting { link, source, curve: Some(curve), past }, Some(checkpoint));
    }
}
