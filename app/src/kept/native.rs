//! The run of an engine outside the browser: found when the page opens, and described to the engine for the
//! page that opens next.

use core::{cell::Cell, time::Duration};
use std::{rc::Rc, sync::Arc};

use js_sys::{Object, Reflect, Uint8Array};
use leptos::{prelude::*, task::spawn_local};
use unroll_protocol::{
    Checkpoint, DeviceKind,
    link::Corpus,
    native::{FOUND, Found, NOTE, Note, SECRET},
    wire,
};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Response;

use super::hold;
use crate::{
    corpora,
    figures::Curve,
    reactive::effect,
    store::{Run, Severity, Source, Store},
    worker::secret,
};

/// What changes in a row is described once.
const PAUSE: Duration = Duration::from_millis(200);

/// Takes up the run that the engine has, and starts to talk to it. Where it can't be had, the page says so
/// and computes in the tab.
pub async fn join(store: Store) {
    let begun = store.keeping(|keeping| keeping.begun());
    match find().await {
        Ok(found) => {
            // What the learner began meanwhile is not replaced.
            let found = found.filter(|_| store.keeping(|keeping| keeping.begun()) == begun);
            let is_found = found.is_some();
            if let Some(found) = found {
                take_up(store, found).await;
            }
            // For as long as the page.
            let owner = Owner::new();
            owner.with(|| follow(store, is_found));
            core::mem::forget(owner);
            store.open_native();
        }
        Err(sentence) => {
            store.notify(
                Severity::Failure,
                format!("{sentence} This page computes in its tab instead."),
            );
            store.open_in_tab();
        }
    }
}

async fn find() -> Result<Option<Found>, String> {
    let unreachable = "The native engine that this link leads to can’t be reached.";
    let response = request(FOUND, &[]).await.ok_or(unreachable)?;
    let is_ok = response.ok();
    let body = if is_ok { response.array_buffer() } else { response.text() };
    let body = JsFuture::from(body.map_err(|_| unreachable)?).await.map_err(|_| unreachable)?;
    if !is_ok {
        // Its own sentence.
        return Err(body.as_string().unwrap_or_default());
    }
    wire::decode(&Uint8Array::new(&body).to_vec())
        .map_err(|error| format!("The native engine is of another release than this page. {error}"))
}

async fn take_up(store: Store, found: Found) {
    let Found { started, workers, text, points, note } = found;
    let Note { text: name, probe, file, .. } = note.unwrap_or_default();
    let source = source(name, text.into()).await;
    let probe = match probe.is_empty() {
        true => corpora::probe_for(source.corpus, &source.text),
        false => probe,
    };
    // Where another tab has it open, this one keeps the run in a file of its own.
    let file = match file {
        Some(name) => hold(store, &name).await.then_some(name),
        None => None,
    };
    let mut link = store.link.get_untracked();
    link.seed = started.spec.seed;
    link.gpt = link.gpt.with_spec(&started.spec);
    link.gpt.workers = workers;
    // The run is where it is.
    (link.autostart, link.step) = (false, 0);
    // Points that are missing here come with the run.
    let known = points.last().map_or(0, |point| point.step);
    let checkpoint = Box::new(Checkpoint::of_present(started.spec, known));
    let mut curve = Curve::default();
    curve.extend(&points);
    store.take_up_run(Run { link, source, curve, probe, checkpoint, file, past: None });
}

/// The text of that name: one of the page's own if it is that.
async fn source(name: String, text: Arc<str>) -> Source {
    for corpus in [Corpus::Tales, Corpus::Names, Corpus::Brackets] {
        if name == corpora::name(corpus) && corpora::load(corpus).await.as_ref() == Ok(&text) {
            return Source { corpus, name, text };
        }
    }
    let name = if name.is_empty() { "Your text".to_owned() } else { name };
    Source { corpus: Corpus::Own, name, text }
}

/// Describes the run to the engine whenever something of it changes that only the page knows.
/// Of a run that it `is_found` to have, the engine knows how it was trained.
fn follow(store: Store, is_found: bool) {
    let is_found = Rc::new(Cell::new(is_found));
    let (waits, is_saved) = (Rc::new(Cell::new(false)), Cell::new(false));
    let told_of = Rc::new(Cell::new(None));
    effect(move || {
        store.source.track();
        store.probe.track();
        store.kept.track();
        store.device.track();
        let Some(step) = store.started.with(|started| started.as_ref().map(|s| s.step)) else {
            return;
        };
        // From here on it could be continued in the tab.
        if step > 0 && !is_saved.replace(true) {
            store.save_now();
        }
        if waits.replace(true) {
            return;
        }
        let (waits, told_of, is_found) = (waits.clone(), told_of.clone(), is_found.clone());
        set_timeout(
            move || {
                waits.set(false);
                if store.is_on(DeviceKind::Native) {
                    let model = Some(store.generation());
                    let is_new = told_of.replace(model) != model && !is_found.replace(false);
                    spawn_local(describe(store, if is_new { step } else { 0 }));
                }
            },
            PAUSE,
        );
    });
}

/// Describes the run, and how it was trained up to this step.
async fn describe(store: Store, step: u32) {
    let note = Note {
        text: store.source.with_untracked(|source| source.name.clone()),
        probe: store.probe.get_untracked(),
        file: store.keeping(|keeping| keeping.file.clone()),
        before: store.curve.with_untracked(|curve| {
            let points = curve.points().iter().filter(|point| point.step <= step);
            points.copied().collect()
        }),
    };
    // An engine that is gone says so elsewhere.
    request(NOTE, &wire::encode(&note)).await;
}

/// The engine's answer; `None` if there is none.
async fn request(path: &str, body: &[u8]) -> Option<Response> {
    let (init, headers) = (Object::new(), Object::new());
    let set = |object: &Object, name: &str, value: &JsValue| {
        // A fresh object takes anything.
        let _ = Reflect::set(object, &name.into(), value);
    };
    set(&headers, "authorization", &secret().trim_start_matches(SECRET).into());
    set(&init, "headers", &headers);
    set(&init, "method", &"POST".into());
    set(&init, "body", &Uint8Array::from(body));
    let promise = window().fetch_with_str_and_init(path, init.unchecked_ref());
    JsFuture::from(promise).await.ok()?.dyn_into().ok()
}
