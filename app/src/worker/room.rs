//! Sessions that share one engine: each chapter has its own, and all of them one worker.

use core::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::Array;
use unroll_protocol::{Command, Event};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{ErrorEvent, MessageChannel, MessageEvent, MessagePort, Worker};

use super::client::{
    EngineBinary, Incoming, describe_crash, encoded, next_number, read, start_worker,
};

/// The one engine of many sessions. It starts with the first of them, ends with the last, and starts
/// anew when one is wanted after it died.
#[derive(Clone, Default)]
pub struct SharedEngine(Rc<RefCell<Weak<Shared>>>);

type OnMessage = Closure<dyn FnMut(MessageEvent)>;
type OnError = Closure<dyn FnMut(ErrorEvent)>;
/// A session's number, and how it is told that the engine is dead.
type Member = (u32, Rc<dyn Fn(Incoming)>);

struct Shared {
    worker: Worker,
    /// Ports of sessions that wait until the engine listens; `None` once it does.
    waiting: RefCell<Option<Vec<MessagePort>>>,
    /// Whom to tell that the engine is dead.
    members: RefCell<Vec<Member>>,
    is_dead: Cell<bool>,
    on_message: RefCell<Option<OnMessage>>,
    on_error: RefCell<Option<OnError>>,
}

/// One session of a [`SharedEngine`]. Dropping it ends the session.
pub struct EngineRoom {
    number: u32,
    port: MessagePort,
    shared: Rc<Shared>,
    _on_message: OnMessage,
}

impl SharedEngine {
    /// Begins a session. `receive` is called with its [number](EngineRoom::number) for everything the
    /// engine says to it; [`Event::Ready`] comes first, and nothing may be sent before it.
    pub fn join(
        &self,
        receive: impl Fn(u32, Incoming) + Clone + 'static,
    ) -> Result<EngineRoom, String> {
        let alive = self.0.borrow().upgrade().filter(|shared| !shared.is_dead.get());
        let shared = match alive {
            Some(shared) => shared,
            None => {
                let shared = Shared::start()?;
                *self.0.borrow_mut() = Rc::downgrade(&shared);
                shared
            }
        };
        let no_channel = |_: JsValue| "This browser gave the page no message channel.".to_owned();
        let channel = MessageChannel::new().map_err(no_channel)?;
        let number = next_number();
        let on_message = {
            let receive = receive.clone();
            OnMessage::new(move |message: MessageEvent| {
                receive(number, read(&message.data()));
            })
        };
        let port = channel.port1();
        port.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        shared.members.borrow_mut().push((number, Rc::new(move |said| receive(number, said))));
        shared.let_in(channel.port2());
        Ok(EngineRoom { number, port, shared, _on_message: on_message })
    }
}

impl Shared {
    fn start() -> Result<Rc<Self>, String> {
        let shared = Rc::new(Self {
            worker: start_worker(EngineBinary::Course)?,
            waiting: RefCell::new(Some(Vec::new())),
            members: RefCell::default(),
            is_dead: Cell::new(false),
            on_message: RefCell::default(),
            on_error: RefCell::default(),
        });
        let weak = Rc::downgrade(&shared);
        let on_message = OnMessage::new(move |message: MessageEvent| {
            let Some(shared) = weak.upgrade() else { return };
            match read(&message.data()) {
                Incoming::Event(Event::Ready(_)) => shared.open(),
                Incoming::Event(_) => {}
                Incoming::Died(reason) => shared.died(&reason),
            }
        });
        let weak = Rc::downgrade(&shared);
        let on_error = OnError::new(move |error: ErrorEvent| {
            // Reported to the learner in the page; the console is for what nobody handled.
            error.prevent_default();
            if let Some(shared) = weak.upgrade() {
                shared.died(&describe_crash(&error.message()));
            }
        });
        shared.worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        shared.worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        shared.on_message.replace(Some(on_message));
        shared.on_error.replace(Some(on_error));
        Ok(shared)
    }

    /// The engine listens.
    fn open(&self) {
        let waiting = self.waiting.borrow_mut().take();
        waiting.into_iter().flatten().for_each(|port| self.let_in(port));
    }

    /// Gives the engine the other end of a session's line, as soon as it listens.
    fn let_in(&self, port: MessagePort) {
        match &mut *self.waiting.borrow_mut() {
            Some(waiting) => waiting.push(port),
            None => {
                let transfer = Array::of1(&port);
                // A port that was never sent before can always be transferred.
                let _ = self.worker.post_message_with_transfer(&JsValue::NULL, &transfer);
            }
        }
    }

    fn died(&self, reason: &str) {
        self.is_dead.set(true);
        for (_, tell) in self.members.take() {
            let reason = reason.to_owned();
            // Whoever hears it drops its room, and the last one this engine with the closure that
            // runs now.
            wasm_bindgen_futures::spawn_local(async move { tell(Incoming::Died(reason)) });
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

impl EngineRoom {
    /// Tells what is said in this session from the last words of another.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Sends a command; its bytes are transferred, not copied.
    pub fn send(&self, command: &Command) {
        let (bytes, transfer) = encoded(command, None);
        // Fails only for what can't be cloned or transferred; a fresh buffer always can.
        let _ = self.port.post_message_with_transferable(&bytes, &transfer);
    }
}

impl Drop for EngineRoom {
    fn drop(&mut self) {
        self.shared.members.borrow_mut().retain(|(number, _)| *number != self.number);
        self.port.set_onmessage(None);
        // A session is told of its end; a port alone can close unnoticed.
        let _ = self.port.post_message(&JsValue::NULL);
    }
}
