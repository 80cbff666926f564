//! Where a figure's numbers come from, for exports.

use leptos::prelude::*;
use unroll_protocol::{RunState, Tokens, link::Value};

use super::{Lab, Labs};
use crate::{
    chapters,
    figures::{Experiment, Provenance},
    questions::Questions,
    reactive::memo,
    store::{Device, Store},
};

/// What an export of a figure of the chapter on show says of where its numbers come from.
pub fn use_provenance() -> Signal<Provenance> {
    use_task_provenance(|| None)
}

/// The same where `task` names what is learned instead of the learner's text.
pub fn use_task_provenance(
    task: impl Fn() -> Option<&'static str> + Send + Sync + 'static,
) -> Signal<Provenance> {
    let store = expect_context::<Store>();
    let chapter = store.link.with_untracked(|link| link.chapter);
    let uses_text = chapters::info(chapter).uses_text;
    let text = move || match task() {
        Some(task) => task.to_owned(),
        None if uses_text => store.source.with(|source| source.name.clone()),
        None => String::new(),
    };
    match expect_context::<Labs>().of(chapter) {
        Some(lab) => memo(move || of_lab(lab, text())).into(),
        None => memo(move || of_store(store, text())).into(),
    }
}

/// The GPT lab's, as it is now.
pub fn gpt_provenance(store: Store) -> Provenance {
    untrack(|| of_store(store, store.source.with(|source| source.name.clone())))
}

fn of_lab(lab: Lab, text: String) -> Provenance {
    let started = lab.started.get();
    Provenance {
        experiment: started.as_ref().map(|s| Experiment::Study(s.spec.clone())),
        step: settled_step(lab.into()),
        parameters: started.map(|started| started.parameters),
        text,
        device: lab.device.with(name),
        workers: None,
        off: String::new(),
    }
}

fn of_store(store: Store, text: String) -> Provenance {
    let off = Value::Heads(Questions::from(store).off.get()).to_string();
    let started = store.started.get();
    let parameters = started.as_ref().map(|s| s.parameters);
    let device = store.device.with(name);
    match started {
        Some(started) if started.spec.tokens == Tokens::Given => {
            let experiment = Some(Experiment::Given(started.spec.gpt));
            Provenance { experiment, parameters, device, off, ..Provenance::default() }
        }
        started => Provenance {
            experiment: started.as_ref().map(|s| Experiment::Gpt(s.spec)),
            step: settled_step(store.into()),
            parameters,
            text,
            device,
            workers: started.map(|s| s.workers),
            off,
        },
    }
}

/// The step of what is on show, unless it is about to be another.
fn settled_step(questions: Questions) -> Option<u32> {
    let at_rest = questions.state.get() == RunState::Paused;
    (at_rest || questions.at.get().is_some()).then(|| questions.shown())
}

fn name(device: &Device) -> String {
    match device {
        Device::Ready { report, .. } => report.name.clone(),
        Device::Loading | Device::Unavailable(_) => String::new(),
    }
}
