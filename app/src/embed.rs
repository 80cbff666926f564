//! The embedding contract: what the page and the page around it say to each other.
//!
//! With `embed=1` in its address, inside a frame, the page posts these to `window.parent`:
//!
//! | `type` | besides `unroll: 1` | when |
//! |---|---|---|
//! | `ready` | `settings` (all of the table, by name), `figures` (those on the stage) | once, when there is a model (in a chapter without one, a picture); nothing sent earlier is answered |
//! | `size` | `width`, `height` in CSS pixels | whenever the content's size changes |
//! | `progress` | `step`, `loss` (or null), `tokens_per_second` (or null), `running` | at most four times a second |
//! | `exported` | `figure`, `data` | in answer to `export`, one for each figure, once there is one of the present model |
//! | `error` | `message` | something was not done, or broke |
//!
//! and takes these from it:
//!
//! | `type` | besides `unroll: 1` | does |
//! |---|---|---|
//! | `set` | `settings`: names and values of the table | the learning rate acts at once; an untrained model is rebuilt, a trained one stays until `reset`; another `corpus` starts a new model |
//! | `run`, `pause`, `step` | | as the buttons do |
//! | `reset` | | starts over with the settings as they stand |
//! | `export` | `figure`: the name of a figure on the stage (in the GPT lab also `attention` and `loss`), or none for all | asks for `exported` |
//!
//! An export holds what the figure shows, the sentence that the learner typed among it: the host can read
//! what is written into its frame, and the frame is the place to say so.
//!
//! Whatever is malformed is answered with `error` and changes nothing. There is no `trace` message:
//! a host that wants one asks for `export`, instead of being sent hundreds of kilobytes a second.

mod post;
mod request;

use core::time::Duration;

use leptos::{ev, prelude::*, task::spawn_local};
use unroll_protocol::{
    RunState,
    link::{Chapter, Corpus, settings},
};
use wasm_bindgen::JsValue;
use web_sys::{MessageEvent, Window};

use crate::{
    course::{Lab, Labs},
    fetched::Settled,
    figures::Exporters,
    reactive::{effect, effect_with_last},
    store::{Device, Severity, Store},
};
use post::{Outgoing, post, use_size};
use request::{Changes, Request, parse_request};

/// Version of the contract, in every message.
const VERSION: u64 = 1;
/// Between two `progress` messages.
const PROGRESS_PAUSE: Duration = Duration::from_millis(250);

/// A figure of the GPT lab that is exported whatever view is on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    Attention,
    Loss,
}

impl Figure {
    pub const ALL: [Self; 2] = [Self::Attention, Self::Loss];

    pub fn id(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Loss => "loss",
        }
    }
}

/// Their JSON; `None` while there is nothing to export.
#[derive(Clone, Copy)]
pub struct Exports {
    pub attention: Callback<(), Option<String>>,
    pub loss: Callback<(), Option<String>>,
}

impl Exports {
    fn of(self, figure: Figure) -> Option<String> {
        match figure {
            Figure::Attention => self.attention.run(()),
            Figure::Loss => self.loss.run(()),
        }
    }
}

/// Speaks with the page around this one, if the link says that there is one. Call once.
pub fn use_embed(store: Store, labs: Labs, exports: Exports, exporters: Exporters) {
    if !store.link.with_untracked(|link| link.embed) {
        return;
    }
    let chapter = store.link.with_untracked(|link| link.chapter);
    let owner = Owner::current().unwrap_or_default();
    let begun = StoredValue::new(false);
    // A chapter that is still being fetched has no lab yet.
    effect(move || {
        let is_here = labs.follow(chapter).is_some() || chapter.shows_lab() || !chapter.has_model();
        if is_here && !begun.get_value() {
            begun.set_value(true);
            owner.with(|| untrack(|| begin(store, &labs, chapter, exports, exporters)));
        }
    });
}

fn begin(store: Store, labs: &Labs, chapter: Chapter, exports: Exports, exporters: Exporters) {
    let Some(host) = host() else { return };
    let subject = match labs.of(chapter) {
        Some(lab) => Subject::Chapter(lab),
        None if chapter.has_model() => Subject::Gpt,
        None => Subject::Drawings(expect_context()),
    };
    let host = StoredValue::new_local(host);
    let say = move |message: Outgoing| {
        host.try_with_value(|host| post(host, &message));
    };

    use_size(move |width, height| say(Outgoing::Size { width, height }));
    say_when_ready(store, subject, exporters, say);
    say_progress(store, subject, say);
    say_troubles(store, subject, say);

    // Figures that were asked for and not sent yet, each once.
    let awaited = StoredValue::new(Vec::<Figure>::new());
    let send = move |figure: Figure| {
        match (exports.of(figure), store.trace.problem.get_untracked()) {
            (Some(data), _) => say(Outgoing::Exported { figure: figure.id(), data }),
            (None, Some(problem)) => {
                let message = format!("There is no {} to export: {problem}", figure.id());
                say(Outgoing::Error { message });
            }
            (None, None) => return false,
        }
        true
    };
    effect(move || {
        store.trace.answer.track();
        store.trace.problem.track();
        awaited.update_value(|awaited| awaited.retain(|figure| !send(*figure)));
    });
    let export = move |figure: Option<String>| {
        let named = |known: &str| figure.as_deref().is_none_or(|name| name == known);
        let lab = matches!(subject, Subject::Gpt);
        let of_lab: Vec<_> =
            Figure::ALL.into_iter().filter(|figure| lab && named(figure.id())).collect();
        let is_of_lab = |name: &str| of_lab.iter().any(|figure| figure.id() == name);
        let names = exporters.names();
        let others: Vec<_> =
            names.iter().copied().filter(|name| named(name) && !is_of_lab(name)).collect();
        if of_lab.is_empty() && others.is_empty() {
            return Err(match figure {
                Some(name) => format!(
                    "There is no figure “{name}” on the stage; there is: {}.",
                    names.join(", ")
                ),
                None => "There is no figure on the stage yet.".to_owned(),
            });
        }
        awaited.update_value(|awaited| {
            for figure in of_lab {
                if !send(figure) && !awaited.contains(&figure) {
                    awaited.push(figure);
                }
            }
        });
        for figure in others {
            spawn_local(async move {
                match exporters.json(figure).await {
                    Ok(data) => say(Outgoing::Exported { figure, data }),
                    Err(message) => say(Outgoing::Error { message }),
                }
            });
        }
        Ok(())
    };

    let listener = window_event_listener(ev::message, move |event: MessageEvent| {
        // Anything may post to a frame: other frames, extensions. Only the host is heard.
        let from_host = host.try_with_value(|host| {
            event.source().is_some_and(|source| js_sys::Object::is(&source, host))
        });
        if from_host != Some(true) {
            return;
        }
        let done = read(&event.data()).and_then(|request| obey(store, subject, request, export));
        if let Err(message) = done {
            say(Outgoing::Error { message });
        }
    });
    on_cleanup(move || listener.remove());
}

/// What the frame shows: chosen by its address, for good.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "there is one")]
enum Subject {
    Gpt,
    Chapter(Lab),
    /// Without a model; the signal is whether they are there.
    Drawings(Settled),
}

/// Whether there is a page around this one.
pub fn is_framed() -> bool {
    host().is_some()
}

/// The page around this one, if there is one.
fn host() -> Option<Window> {
    let window = window();
    let parent = window.parent().ok().flatten()?;
    (!js_sys::Object::is(&parent, &window)).then_some(parent)
}

/// Reads a message. What has cycles, big integers or no JSON at all makes `stringify` throw or
/// answer `undefined`; both are caught here.
fn read(data: &JsValue) -> Result<Request, String> {
    let json = js_sys::JSON::stringify(data).ok();
    let Some(json) = json.filter(|json| json.is_string()) else {
        return Err("A message is plain data that can be written as JSON.".to_owned());
    };
    // UTF-16 units: looked at before the string is copied.
    if json.length() as usize > request::MOST_BYTES {
        return Err(format!("A message may have at most {} bytes.", request::MOST_BYTES));
    }
    parse_request(&String::from(json))
}

fn obey(
    store: Store,
    subject: Subject,
    request: Request,
    export: impl FnOnce(Option<String>) -> Result<(), String>,
) -> Result<(), String> {
    let built = match subject {
        Subject::Gpt => store.started.with_untracked(Option::is_some),
        Subject::Chapter(lab) => lab.started.with_untracked(Option::is_some),
        Subject::Drawings(Settled(settled)) => settled.get_untracked(),
    };
    if !built {
        return Err("There is no model yet: wait for ready.".to_owned());
    }
    match (request, subject) {
        (Request::Export(figure), _) => export(figure)?,
        (Request::Set(changes), subject) => {
            require_view(store, &changes)?;
            match subject {
                Subject::Gpt => set(store, &changes)?,
                Subject::Chapter(_) | Subject::Drawings(_) => set_chapter(store, &changes),
            }
        }
        (Request::Run, Subject::Gpt) => store.run(),
        (Request::Run, Subject::Chapter(lab)) => lab.run(),
        (Request::Pause, Subject::Gpt) => store.pause(),
        (Request::Pause, Subject::Chapter(lab)) => lab.pause(),
        (Request::Step, Subject::Gpt) => store.take_steps(1),
        (Request::Step, Subject::Chapter(lab)) => lab.take_steps(1),
        (Request::Reset, Subject::Gpt) => {
            let limits = untrack(|| store.limits());
            let valid = store.link.with_untracked(|link| link.experiment().validate(limits));
            valid.map_err(|error| error.to_string())?;
            store.start_over();
        }
        (Request::Reset, Subject::Chapter(lab)) => lab.start_over(),
        (_, Subject::Drawings(_)) => {
            return Err("This chapter has no model: there is nothing to train.".to_owned());
        }
    }
    Ok(())
}

/// Refuses a view that the chapter on show does not have; without a name it is the first.
fn require_view(store: Store, changes: &Changes) -> Result<(), String> {
    let Some(view) = changes.view().filter(|view| !view.is_empty()) else { return Ok(()) };
    store.views.with_value(|views| match views.contains(&view) {
        true => Ok(()),
        false => Err(format!(
            "There is no view “{view}” in this chapter; there is: {}.",
            views.join(", ")
        )),
    })
}

/// Settings of a chapter act at once, each as its control does.
fn set_chapter(store: Store, changes: &Changes) {
    let before = store.link.with_untracked(|link| link.corpus);
    store.link.update(|link| changes.apply(link));
    let corpus = store.link.with_untracked(|link| link.corpus);
    if corpus != before && corpus != Corpus::Own {
        store.choose_corpus(corpus);
    }
}

/// Makes all changes or none.
fn set(store: Store, changes: &Changes) -> Result<(), String> {
    let before = store.link.get_untracked();
    let mut after = before.clone();
    changes.apply(&mut after);
    after.experiment().validate(untrack(|| store.limits())).map_err(|error| error.to_string())?;
    let (rate, corpus) = (after.gpt.learning_rate, after.corpus);
    // The text in use changes with the model that learns it, not with the form.
    after.corpus = before.corpus;
    store.change_settings(move |link| *link = after);
    if changes.names().any(|name| name == "lr") {
        store.set_learning_rate(rate);
    }
    if corpus != before.corpus && corpus != Corpus::Own {
        store.choose_corpus(corpus);
    } else if changes.names().any(|name| name == "temperature" || name == "topk") {
        store.write_again();
    }
    Ok(())
}

fn say_when_ready(
    store: Store,
    subject: Subject,
    exporters: Exporters,
    say: impl Fn(Outgoing) + 'static,
) {
    let missing = move || match subject {
        Subject::Gpt => store.started.with(Option::is_none),
        Subject::Chapter(lab) => lab.started.with(Option::is_none),
        Subject::Drawings(Settled(settled)) => !settled.get(),
    };
    effect_with_last(move |said: Option<bool>| {
        if said == Some(true) || missing() {
            return said == Some(true);
        }
        let settings = store
            .link
            .with_untracked(|link| settings().map(|row| (row.name, (row.get)(link))).collect());
        let mut figures = exporters.names();
        if let Subject::Gpt = subject {
            let of_lab = Figure::ALL.map(Figure::id);
            figures.retain(|name| !of_lab.contains(name));
            figures.extend(of_lab);
        }
        say(Outgoing::Ready { settings, figures });
        true
    });
}

fn say_progress(store: Store, subject: Subject, say: impl Fn(Outgoing) + Copy + 'static) {
    let (step, state) = match subject {
        Subject::Gpt => (store.step, store.state),
        Subject::Chapter(lab) => (lab.step, lab.state),
        Subject::Drawings(_) => return,
    };
    let waiting = StoredValue::new(false);
    effect_with_last(move |first: Option<()>| {
        step.track();
        state.track();
        if first.is_none() || waiting.get_value() {
            return;
        }
        waiting.set_value(true);
        let tell = move || {
            waiting.try_set_value(false);
            let Some(step) = step.try_get_untracked() else { return };
            let speed = store.speed.get_untracked();
            let loss = match subject {
                Subject::Gpt => {
                    store.curve.with_untracked(|c| c.points().last().map(|point| point.loss))
                }
                Subject::Chapter(lab) => lab
                    .history
                    .with_untracked(|history| history.series().first().and_then(|s| s.last())),
                Subject::Drawings(_) => None,
            };
            say(Outgoing::Progress {
                step,
                loss,
                tokens_per_second: speed.map(|speed| speed.tokens_per_second),
                running: state.get_untracked() == RunState::Running,
            });
        };
        set_timeout(tell, PROGRESS_PAUSE);
    });
}

/// Passes on what the page itself says about something that was not done, or broke.
fn say_troubles(store: Store, subject: Subject, say: impl Fn(Outgoing) + Copy + 'static) {
    effect_with_last(move |said: Option<Vec<String>>| {
        let said = said.unwrap_or_default();
        store.notices.with(|notices| {
            for notice in notices {
                if notice.severity != Severity::Note && !said.contains(&notice.sentence) {
                    say(Outgoing::Error { message: notice.sentence.clone() });
                }
            }
            notices.iter().map(|notice| notice.sentence.clone()).collect()
        })
    });
    effect(move || {
        let device = match subject {
            Subject::Gpt => store.device,
            Subject::Chapter(lab) => lab.device,
            Subject::Drawings(_) => return,
        };
        if let Device::Unavailable(message) = device.get() {
            say(Outgoing::Error { message });
        }
    });
    effect(move || {
        let diverged = match subject {
            Subject::Gpt => store.diverged.get().map(|diverged| diverged.step),
            Subject::Chapter(lab) => lab.diverged.get(),
            Subject::Drawings(_) => None,
        };
        if let Some(step) = diverged {
            let message = format!(
                "Training stopped at step {step}: the learning rate is too high, and the loss ran \
                 away."
            );
            say(Outgoing::Error { message });
        }
    });
}
