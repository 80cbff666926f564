//! The workers that share the training steps with the present engine.
//!
//! They start when training first does, never before the first picture. Each is an engine of its
//! own, which the page only introduces to the first one: from then on they talk through a port.

use leptos::prelude::*;
use unroll_protocol::{Command, DeviceKind, Event, Link, PoolReport, pool};

use super::{Severity, Store};
use crate::worker::{EngineBinary, EngineClient, Incoming, introduce};

/// The helpers of the present engine, in the order of their numbers, which begin at 1.
#[derive(Default)]
pub struct Helpers {
    places: Vec<Place>,
    /// Tells the helpers of an earlier engine from the present one's.
    generation: u32,
}

enum Place {
    Started(EngineClient),
    Lost,
}

impl Store {
    /// Workers that are to share each step of what `link` describes, on the present engine.
    pub(super) fn workers_for(self, link: &Link) -> u32 {
        if self.is_on(DeviceKind::Cpu) {
            pool::workers(&link.experiment(), link.gpt.workers, cores())
        } else if self.is_on(DeviceKind::Native) {
            // It has threads of its own.
            link.gpt.workers
        } else {
            1
        }
    }

    /// Starts the helpers that the present model's steps are divided for and that never were; not
    /// before the first picture is there, which they would hold up, and not for a head start, which ends
    /// before they pay for their memory.
    pub(super) fn call_helpers(self) {
        if self.is_on(DeviceKind::Native)
            || self.pace.with_value(|pace| pace.head_start > 0)
            || (self.trace.answer.with_untracked(Option::is_none)
                && self.trace.problem.with_untracked(Option::is_none))
        {
            return;
        }
        let workers = self.started.with_untracked(|s| s.as_ref().map_or(1, |s| s.workers));
        let Some((there, generation)) = self
            .helpers
            .try_with_value(|helpers| (helpers.places.len() as u32, helpers.generation))
        else {
            return;
        };
        for number in there + 1..workers {
            let receive = move |_, incoming| self.helper_said(generation, number, incoming);
            match EngineClient::start(EngineBinary::Cpu, receive) {
                Ok(client) => {
                    self.helpers.update_value(|h| h.places.push(Place::Started(client)));
                }
                Err(reason) => {
                    self.helpers.update_value(|h| h.places.push(Place::Lost));
                    self.on_helper_lost(number, &reason);
                }
            }
        }
    }

    /// The engine they help is gone, and they with it.
    pub(super) fn dismiss_helpers(self) {
        self.pool.set(PoolReport::default());
        let old = self.helpers.try_update_value(|helpers| {
            helpers.generation += 1;
            core::mem::take(&mut helpers.places)
        });
        // One of them may be speaking just now.
        wasm_bindgen_futures::spawn_local(async move { drop(old) });
    }

    /// The engine told of its helpers.
    pub(super) fn on_pool(self, report: PoolReport) {
        let known = self.helpers.with_value(|helpers| {
            helpers.places.iter().filter(|place| matches!(place, Place::Lost)).count() as u32
        });
        if report.lost > known && report.lost > self.pool.get_untracked().lost {
            self.notify(Severity::Note, without_helper("It stopped responding."));
        }
        self.pool.set(report);
    }

    fn helper_said(self, generation: u32, number: u32, incoming: Incoming) {
        if self.helpers.with_value(|helpers| helpers.generation) != generation {
            return;
        }
        match incoming {
            Incoming::Event(Event::Ready(_)) => self.helpers.with_value(|helpers| {
                if let Some(Place::Started(helper)) = helpers.places.get(number as usize - 1) {
                    self.with_engine(|engine| introduce(engine, helper, number));
                }
            }),
            Incoming::Died(reason) => self.lose_helper(number, &reason),
            Incoming::Event(_) => {}
        }
    }

    fn lose_helper(self, number: u32, reason: &str) {
        let newly = self.helpers.try_update_value(|helpers| {
            let place = helpers.places.get_mut(number as usize - 1)?;
            match core::mem::replace(place, Place::Lost) {
                Place::Started(client) => Some(client),
                Place::Lost => None,
            }
        });
        if let Some(Some(client)) = newly {
            drop(client);
            self.on_helper_lost(number, reason);
        }
    }

    fn on_helper_lost(self, number: u32, reason: &str) {
        self.notify(Severity::Note, without_helper(reason));
        self.send(&Command::HelperLost(number));
    }
}

/// What the learner is told when a helper is lost.
fn without_helper(reason: &str) -> String {
    format!(
        "One of the workers that share the training is lost. {reason} The others have taken over its share. \
         Training continues with the same results, only slower."
    )
}

/// Cores of this machine as far as the browser tells.
pub fn cores() -> u32 {
    let told = web_sys::window().map_or(1.0, |window| window.navigator().hardware_concurrency());
    // A whole number in every browser that tells; anything odd becomes 1.
    (told as u32).max(1)
}
