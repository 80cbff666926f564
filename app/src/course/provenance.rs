//! Where a chapter's numbers come from, for exports.

use leptos::prelude::*;

use super::Lab;
use crate::{
    chapters,
    figures::{Experiment, Provenance},
    store::{Device, Store},
};

/// What an export of a chapter's figure says of where its numbers come from.
pub fn use_provenance(lab: Lab) -> Signal<Provenance> {
    use_task_provenance(lab, || None)
}

/// The same where `task` names what is learnt instead of the learner's text.
pub fn use_task_provenance(
    lab: Lab,
    task: impl Fn() -> Option<&'static str> + Send + Sync + 'static,
) -> Signal<Provenance> {
    let store = expect_context::<Store>();
    let uses_text = chapters::info(lab.chapter).uses_text;
    Memo::new(move |_| {
        let started = lab.started.get();
        let text = match task() {
            Some(task) => task.to_owned(),
            None if uses_text => store.source.with(|source| source.name.clone()),
            None => String::new(),
        };
        Provenance {
            experiment: started.as_ref().map(|s| Experiment::Study(s.spec.clone())),
            parameters: started.map(|started| started.parameters),
            text,
            device: lab.device.with(|device| match device {
                Device::Ready { report, .. } => report.name.clone(),
                Device::Loading | Device::Unavailable(_) => String::new(),
            }),
            workers: None,
        }
    })
    .into()
}
