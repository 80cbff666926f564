//! Which engine the store talks to, and what happens when one is ready or dies.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    Checkpoint, Command, DeviceKind, DeviceReport, Event, Limits, Link, RunState,
    link::{Adapter, DeviceChoice},
};

use super::{
    Device, Heard, Severity, Store,
    contest::{Contest, Verdict},
    pace::{Pace, Starting},
};
use crate::{
    kept,
    worker::{Deaths, EngineBinary, EngineClient, Incoming, find_gpu, secret},
};

/// The engine in use and one that may replace it.
#[derive(Default)]
pub struct Engine {
    current: Option<EngineClient>,
    /// A WebGPU engine that is loading, checking itself, or waiting for the present model; or,
    /// where speed decides, whichever of the two is slower for the present model.
    candidate: Option<EngineClient>,
    /// The one that takes over a model of another's making, until that is complete.
    opening: Option<EngineClient>,
    /// That engine's report.
    opened_on: Option<DeviceReport>,
    /// The candidate's own report, once it has checked itself.
    checked: Option<DeviceReport>,
    /// The same, once it may take over.
    trusted: Option<DeviceReport>,
    contest: Contest,
    /// The model that is about to be started was judged already, on the other engine.
    moved: bool,
    /// Whether engines were asked for at all: a chapter of the course does without.
    open: bool,
    /// A native engine is asked what it has.
    joins: bool,
}

/// Why an opening ends that another takes the place of.
pub(super) const OTHER_FILE: &str = "Another file was opened meanwhile.";

/// Sends to the present engine, if there is one.
pub fn send(engine: StoredValue<Engine, LocalStorage>, command: &Command) {
    engine.with_value(|engine| {
        if let Some(client) = &engine.current {
            client.send(command);
        }
    });
}

impl Store {
    /// Starts the engines, if that was not done before: the native one where the link has its secret.
    pub fn open(self) {
        if self.engine.with_value(|engine| engine.open || engine.joins) {
            return;
        }
        if self.chosen_by_speed() && !secret().is_empty() {
            self.engine.update_value(|engine| engine.joins = true);
            kept::kept(self, kept::Act::Join);
        } else {
            self.open_in_tab();
        }
    }

    /// Starts the native engine.
    pub fn open_native(self) {
        self.engine.update_value(|engine| engine.open = true);
        self.start_engine(EngineBinary::Native);
    }

    /// The largest models of the present engine, or of the one that is to be it. Tracks which that is.
    pub fn limits(self) -> &'static Limits {
        let is_native = self.device.with(|device| match device {
            Device::Ready { report, .. } => report.kind == DeviceKind::Native,
            Device::Loading | Device::Unavailable(_) => self.engine.with_value(|e| e.joins),
        });
        if is_native { &Limits::NATIVE } else { &Limits::TAB }
    }

    /// Starts the CPU engine, and the WebGPU engine beside it where there is a GPU for it.
    pub fn open_in_tab(self) {
        self.engine.update_value(|engine| (engine.open, engine.joins) = (true, false));
        self.start_engine(EngineBinary::Cpu);
        let (choice, adapter) = self.link.with_untracked(|link| (link.device, link.adapter));
        if choice == DeviceChoice::Cpu {
            self.note_device(Some("chosen in the link"));
            return;
        }
        wasm_bindgen_futures::spawn_local(async move {
            match find_gpu(adapter == Adapter::Software).await {
                Ok(()) => {
                    self.note_device(Some("GPU engine is loading"));
                    self.start_engine(EngineBinary::WebGpu);
                }
                Err(reason) => self.note_device(Some(&reason.to_string())),
            }
        });
    }

    pub(super) fn is_open(self) -> bool {
        self.engine.with_value(|engine| engine.open)
    }

    /// Tries again after [`Device::Unavailable`].
    pub fn retry_engine(self) {
        self.pace.update_value(|pace| pace.deaths = Deaths::default());
        self.device.set(Device::Loading);
        self.start_engine(EngineBinary::Cpu);
    }

    pub(super) fn send(self, command: &Command) {
        send(self.engine, command);
    }

    /// Does something with the present engine, if there is one.
    pub(super) fn with_engine(self, act: impl FnOnce(&EngineClient)) {
        self.engine.with_value(|engine| {
            if let Some(client) = &engine.current {
                act(client);
            }
        });
    }

    /// Moves a trained model to the candidate, if one waits for it. True if it did.
    pub(super) fn hand_over(self, checkpoint: &Checkpoint) -> bool {
        // A start is on its way to the present engine and must not be lost with it: once it is
        // carried out, the new model is offered instead.
        if self.pace.with_value(|pace| pace.keep_previous || !pace.starting.is_empty()) {
            return false;
        }
        let Some(report) = self.engine.try_update_value(|e| e.trusted.take()).flatten() else {
            return false;
        };
        let running = self.state.get_untracked() == RunState::Running;
        let before = self.device.with_untracked(|device| match device {
            Device::Ready { report, .. } => Some(report.clone()),
            Device::Loading | Device::Unavailable(_) => None,
        });
        let by_speed = self.chosen_by_speed();
        self.engine.update_value(|engine| {
            core::mem::swap(&mut engine.current, &mut engine.candidate);
            // Where speed decides, the other may be the faster one for the next model.
            engine.checked = before.filter(|_| by_speed);
            match (&engine.checked, &engine.candidate) {
                (Some(_), Some(client)) => client.send(&Command::Pause),
                _ => engine.candidate = None,
            }
            engine.moved = true;
        });
        self.dismiss_helpers();
        self.pace.update_value(|pace| {
            pace.engine_gone();
            pace.run_on = running;
        });
        self.questions.engine_gone();
        let note = self.device_note.get_untracked().filter(|_| by_speed);
        self.device.set(Device::Ready { report, note });
        self.resume(Some(Box::new(checkpoint.clone())));
        true
    }

    pub(super) fn engine_ready(self, report: DeviceReport) {
        let note = self.device_note.get_untracked();
        self.device.set(Device::Ready { report, note });
        let saved = self.pace.try_update_value(|pace| pace.saved.take()).flatten();
        self.resume(saved.map(|saved| Box::new(Arc::unwrap_or_clone(saved))));
    }

    pub(super) fn engine_died(self, reason: &str) {
        let (on_gpu, on_native) = (self.is_on(DeviceKind::WebGpu), self.is_on(DeviceKind::Native));
        self.engine.update_value(|engine| (engine.current, engine.joins) = (None, false));
        self.dismiss_helpers();
        // Nobody waits for its last state any more.
        if self.pace.with_value(|pace| pace.keep_previous) {
            self.on_heard(Ok(()));
        }
        self.questions.set_state(RunState::Paused);
        let another = self.pace.try_update_value(|pace| {
            pace.engine_gone();
            let another = pace.deaths.one_more();
            // What killed it twice may be the saved state itself. What only a native engine has is gone.
            let is_lost = pace.saved.as_ref().is_some_and(|saved| saved.is_of_present());
            if pace.deaths.are_repeated() || is_lost {
                pace.saved = None;
            }
            another
        });
        self.questions.engine_gone();
        // A model that begins anew is not the one in the file.
        if self.pace.with_value(|pace| pace.saved.is_none()) {
            self.keeping(|keeping| keeping.anew(None));
        }
        if another != Some(true) {
            self.device.set(Device::Unavailable(reason.to_owned()));
            self.notify(Severity::Failure, Deaths::gave_up(reason));
            return;
        }
        let saved = self.pace.with_value(|pace| pace.saved.as_ref().map(|saved| saved.step));
        let from = match (saved, self.kept_apart()) {
            (Some(step), _) => {
                format!("a fresh one has taken over with the model as it was at step {step}")
            }
            (None, Some(file)) => {
                self.build_as_usual();
                format!(
                    "your run is too large for the tab, which begins with the usual model. What was kept of the \
                     run is in {file}"
                )
            }
            (None, None) => "a fresh one has taken over with a new, untrained model".to_owned(),
        };
        self.notify(Severity::Failure, format!("{reason} Nothing you wrote is lost; {from}."));
        if on_gpu {
            self.note_device(Some("the GPU engine stopped"));
        }
        if on_native {
            self.note_device(Some("the native engine is gone"));
        }
        self.device.set(Device::Loading);
        self.start_engine(EngineBinary::Cpu);
    }

    /// Starts the present model's spec and text on the present engine, from a checkpoint if given.
    fn resume(self, checkpoint: Option<Box<Checkpoint>>) {
        let (link, source) = (self.built.get_untracked(), self.source.get_untracked());
        // A model that begins anew has no past.
        let past = checkpoint.as_ref().and_then(|_| self.pace.with_value(|pace| pace.past.clone()));
        self.send_start(Starting { link, source, curve: None, past }, checkpoint);
    }

    /// Why this device, for the badge: kept across engines.
    fn note_device(self, note: Option<&str>) {
        let note = note.map(str::to_owned);
        self.device_note.set(note.clone());
        self.device.update(|device| {
            if let Device::Ready { note: shown, .. } = device {
                *shown = note;
            }
        });
    }

    fn start_engine(self, binary: EngineBinary) {
        match EngineClient::start(binary, move |number, said| self.incoming(number, said)) {
            Ok(client) => self.engine.update_value(|engine| {
                let slot = match binary {
                    EngineBinary::WebGpu => &mut engine.candidate,
                    EngineBinary::Given => &mut engine.opening,
                    EngineBinary::Cpu | EngineBinary::Course | EngineBinary::Native => {
                        &mut engine.current
                    }
                };
                *slot = Some(client);
            }),
            Err(sentence) if binary == EngineBinary::WebGpu => self.note_device(Some(&sentence)),
            Err(sentence) if binary == EngineBinary::Given => self.on_heard(Err(sentence)),
            Err(sentence) => self.device.set(Device::Unavailable(sentence)),
        }
    }

    fn incoming(self, number: u32, incoming: Incoming) {
        let is = |slot: &Option<EngineClient>| slot.as_ref().is_some_and(|e| e.number() == number);
        let (current, candidate) = self.engine.with_value(|e| (is(&e.current), is(&e.candidate)));
        if self.engine.with_value(|e| is(&e.opening)) {
            return self.opening_said(incoming);
        }
        match incoming {
            Incoming::Died(reason) if current => self.engine_died(&reason),
            Incoming::Event(event) if current => self.receive(event),
            Incoming::Event(Event::Ready(report)) if candidate => self.candidate_ready(report),
            Incoming::Event(Event::Measured { id, milliseconds_per_step }) if candidate => {
                self.engine.update_value(|e| e.contest.other_took(id, milliseconds_per_step));
            }
            Incoming::Died(reason) if candidate => self.reject_candidate(&reason),
            _ => {}
        }
    }

    /// Starts the engine that is to take over a model, in place of one that is at it; `heard` is told when
    /// it is ready. Returns its number.
    pub fn open_beside(self, heard: Heard) -> Option<u32> {
        self.hear(Some(heard));
        self.start_engine(EngineBinary::Given);
        self.engine.with_value(|engine| engine.opening.as_ref().map(EngineClient::number))
    }

    /// Tells the engine of this number, which takes over a model, something of it, and `heard` what it
    /// answers.
    pub fn tell_opening(self, number: Option<u32>, command: &Command, heard: Heard) {
        if !self.is_opening(number) {
            return heard(Err(OTHER_FILE.to_owned()));
        }
        self.hear(Some(heard));
        self.engine.with_value(|engine| {
            if let Some(client) = &engine.opening {
                client.send(command);
            }
        });
    }

    /// Gives up the model that the engine of this number takes over, and the memory it has taken.
    pub fn abandon(self, number: Option<u32>) {
        if self.is_opening(number) {
            self.hear(None);
            self.engine.update_value(|engine| engine.opening = None);
        }
    }

    fn is_opening(self, number: Option<u32>) -> bool {
        let now = |engine: &Engine| engine.opening.as_ref().map(EngineClient::number);
        number.is_some() && self.engine.with_value(now) == number
    }

    /// Whether no engine could be started.
    pub(super) fn has_no_engine(self) -> bool {
        self.engine.with_value(|engine| engine.current.is_none())
    }

    /// What the engine says that takes over a model.
    fn opening_said(self, incoming: Incoming) {
        match incoming {
            Incoming::Event(Event::Ready(report)) => {
                self.engine.update_value(|engine| engine.opened_on = Some(report));
                self.on_heard(Ok(()));
            }
            Incoming::Event(Event::Filled { .. }) => self.on_heard(Ok(())),
            Incoming::Event(Event::Refused { reason, .. }) => self.on_heard(Err(reason)),
            Incoming::Died(reason) => {
                self.engine.update_value(|engine| engine.opening = None);
                self.on_heard(Err(reason));
            }
            Incoming::Event(event @ Event::Started(_)) => {
                self.dismiss_helpers();
                if self.is_on(DeviceKind::Native) {
                    self.send(&Command::Pause);
                    self.notify(
                        Severity::Note,
                        "Your run waits in the native engine. To return to it, reload the page.",
                    );
                }
                self.pace.update_value(Pace::engine_gone);
                self.questions.engine_gone();
                self.engine.update_value(|engine| {
                    engine.current = engine.opening.take();
                    (engine.candidate, engine.checked, engine.trusted) = (None, None, None);
                });
                self.note_device(None);
                if let Some(report) = self.engine.try_update_value(|e| e.opened_on.take()).flatten()
                {
                    self.device.set(Device::Ready { report, note: None });
                }
                self.receive(event);
                // The last of its weights is answered by the model itself.
                self.on_heard(Ok(()));
            }
            Incoming::Event(_) => {}
        }
    }

    /// The GPU engine has checked itself against the CPU.
    fn candidate_ready(self, report: DeviceReport) {
        if !report.self_check.is_some_and(|check| check.passes()) {
            let reason = "the GPU computed wrong numbers in the self-check, so it is not used";
            wasm_bindgen_futures::spawn_local(async move { self.reject_candidate(reason) });
            return;
        }
        if self.chosen_by_speed() {
            self.engine.update_value(|engine| engine.checked = Some(report));
            self.measure_candidate();
        } else {
            self.engine.update_value(|engine| engine.trusted = Some(report));
            self.offer_hand_over();
        }
    }

    /// Whether the present engine computes there.
    pub fn is_on(self, kind: DeviceKind) -> bool {
        self.device.with_untracked(
            |device| matches!(device, Device::Ready { report, .. } if report.kind == kind),
        )
    }

    fn chosen_by_speed(self) -> bool {
        self.link.with_untracked(|link| link.device == DeviceChoice::Auto)
    }

    /// Has the candidate train a throw-away copy of the model that was just built, if one waits.
    pub(super) fn measure_candidate(self) {
        self.engine.update_value(|engine| {
            if core::mem::take(&mut engine.moved) {
                return;
            }
            let id = engine.contest.next_model();
            if let (Some(client), Some(_)) = (&engine.candidate, &engine.checked) {
                let spec = self.built.with_untracked(Link::experiment);
                let text = self.source.with_untracked(|source| source.text.to_string());
                client.send(&Command::Measure { id, spec, text });
            }
        });
    }

    /// The present engine took some steps more: the moment to see which engine is faster.
    pub(super) fn judge(self, steps: usize, milliseconds: f32) {
        let verdict = self.engine.try_update_value(|e| e.contest.present_took(steps, milliseconds));
        let Some(Verdict { other_wins, present, other }) = verdict.flatten() else { return };
        let (gpu, cpu) =
            if self.is_on(DeviceKind::WebGpu) { (present, other) } else { (other, present) };
        self.note_device(Some(&format!(
            "a step takes {} on the CPU, {} on the GPU",
            ms(cpu),
            ms(gpu)
        )));
        if other_wins {
            self.engine.update_value(|engine| engine.trusted = engine.checked.take());
            self.offer_hand_over();
        }
    }

    /// Asks for the checkpoint that [`Self::hand_over`] takes along, if a candidate waits for it.
    pub(super) fn offer_hand_over(self) {
        if self.engine.with_value(|engine| engine.trusted.is_some()) {
            self.send(&Command::Save);
        }
    }

    fn reject_candidate(self, reason: &str) {
        self.engine.update_value(|engine| {
            engine.candidate = None;
            engine.checked = None;
            engine.trusted = None;
        });
        self.note_device(Some(reason.trim_end_matches('.')));
    }
}

/// A duration for people: `8.3 ms`, `120 ms`.
fn ms(milliseconds: f32) -> String {
    match milliseconds < 100.0 {
        true => format!("{milliseconds:.1} ms"),
        false => format!("{milliseconds:.0} ms"),
    }
}
