//! A worker's side of the message port.

use std::{
    cell::RefCell,
    collections::VecDeque,
    future::poll_fn,
    ops::Range,
    rc::Rc,
    task::{Poll, Waker},
};

use js_sys::{Array, Uint8Array, Uint32Array};
use unroll_protocol::{Event, wire};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, MessagePort};

use crate::pool::{Parcel, Sender};

/// Longest time in milliseconds that work continues before waiting messages are let in.
const BREATHE_AFTER: f64 = 4.0;

fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

/// Milliseconds on the worker's monotonic clock.
pub fn now() -> f64 {
    scope().performance().map_or(0.0, |performance| performance.now())
}

/// Sends an event to the page; its bytes are transferred, not copied.
pub fn post(event: &Event) {
    let (bytes, transfer) = parcelled(event);
    // This fails only for values that can't be cloned or transferred; a fresh buffer always can.
    let _ = scope().post_message_with_transfer(&bytes, &transfer);
}

/// An event as bytes, and what of them is transferred.
fn parcelled(event: &Event) -> (Uint8Array, Array) {
    let bytes = Uint8Array::from(wire::encode(event).as_slice());
    let transfer = Array::of1(&bytes.buffer());
    (bytes, transfer)
}

/// Makes a panic notify the page before it ends the worker.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("no reason given");
        let place = panic.location().map_or_else(String::new, |l| format!(" at {l}"));
        post(&Event::Failed {
            message: format!("The engine hit an error it can't go on from ({text}{place})."),
        });
    }));
}

/// Names one of the sessions that a worker holds.
pub type Room = u32;
/// The session that the page reaches through the worker itself, and not through a port of its own.
pub const FIRST: Room = 0;

/// What a worker receives.
pub enum Incoming {
    /// From the page: an encoded command to a session.
    Page(Room, Vec<u8>),
    /// The page wants another session, which it will reach through this port.
    Join(MessagePort),
    /// The page has no more use for this session.
    Leave(Room),
    /// A port from the page, and the number of the helper at its other end. Number 0 is the first
    /// worker, for which this worker then becomes a helper.
    Port(u32, MessagePort),
    /// From the worker of this number.
    Parcel(u32, Parcel),
}

/// A handler of a port's messages, kept alive as long as the port is in use.
type Listener = Closure<dyn FnMut(MessageEvent)>;

#[derive(Default)]
struct Queue {
    messages: VecDeque<Incoming>,
    /// Set by [`Inbox::breathe`] when the event loop has made a round.
    came_round: bool,
    /// Set by [`Inbox::wait_at_most`] when its time is up.
    timed_out: bool,
    waker: Option<Waker>,
}

impl Queue {
    fn push(&mut self, incoming: Incoming) {
        self.messages.push_back(incoming);
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Messages from the page and from other workers, in order.
pub struct Inbox {
    queue: Rc<RefCell<Queue>>,
    /// A message to ourselves: the only way to yield to the event loop that is not throttled like
    /// timers.
    round: MessageChannel,
    last_breath: f64,
    /// Ports to other workers, with their message handlers.
    ports: Vec<(MessagePort, Listener)>,
    /// Ports to the page, of all sessions but the first.
    rooms: Vec<(Room, MessagePort, Listener)>,
    on_timer: Closure<dyn FnMut()>,
    _on_message: Listener,
    _on_round: Closure<dyn FnMut(JsValue)>,
}

impl Inbox {
    /// Starts listening. Messages sent earlier are lost, so the page waits for [`Event::Ready`],
    /// which must be posted after this.
    pub fn listen() -> Result<Self, JsValue> {
        let queue = Rc::new(RefCell::new(Queue::default()));
        let round = MessageChannel::new()?;
        let on_message = {
            let queue = Rc::clone(&queue);
            Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
                let incoming = read_port(&message);
                queue.borrow_mut().push(incoming.unwrap_or_else(|| read_page(FIRST, &message)));
            })
        };
        let on_timer = {
            let queue = Rc::clone(&queue);
            Closure::<dyn FnMut()>::new(move || {
                let mut queue = queue.borrow_mut();
                queue.timed_out = true;
                queue.wake();
            })
        };
        let on_round = {
            let queue = Rc::clone(&queue);
            Closure::<dyn FnMut(JsValue)>::new(move |_| {
                let mut queue = queue.borrow_mut();
                queue.came_round = true;
                queue.wake();
            })
        };
        scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        round.port1().set_onmessage(Some(on_round.as_ref().unchecked_ref()));
        Ok(Self {
            queue,
            round,
            last_breath: now(),
            ports: Vec::new(),
            rooms: Vec::new(),
            on_timer,
            _on_message: on_message,
            _on_round: on_round,
        })
    }

    /// Listens to the page's commands to another session too. Returns a function that sends the
    /// session's events.
    pub fn join(&mut self, room: Room, port: MessagePort) -> impl FnMut(Event) + use<> {
        let queue = Rc::clone(&self.queue);
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
            let incoming = match message.data().is_null() {
                true => Incoming::Leave(room),
                false => read_page(room, &message),
            };
            queue.borrow_mut().push(incoming);
        });
        port.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        self.rooms.push((room, port.clone(), on_message));
        move |event| {
            let (bytes, transfer) = parcelled(&event);
            let _ = port.post_message_with_transferable(&bytes, &transfer);
        }
    }

    /// Listens no more to commands to this session.
    pub fn leave(&mut self, room: Room) {
        self.rooms.retain(|(other, port, _)| {
            if *other == room {
                port.set_onmessage(None);
                port.close();
            }
            *other != room
        });
    }

    /// Listens to another worker too, whose parcels arrive with `number`. Returns a function that
    /// sends parcels to it; their buffers are transferred, not copied.
    pub fn open(&mut self, number: u32, port: MessagePort) -> Sender {
        let queue = Rc::clone(&self.queue);
        let on_parcel = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
            if let Some(parcel) = read_parcel(&message.data()) {
                queue.borrow_mut().push(Incoming::Parcel(number, parcel));
            }
        });
        port.set_onmessage(Some(on_parcel.as_ref().unchecked_ref()));
        self.ports.push((port.clone(), on_parcel));
        Box::new(move |parcel| {
            let (data, buffer): (JsValue, JsValue) = match &parcel {
                Parcel::State(bytes) => {
                    let bytes = Uint8Array::from(bytes.as_slice());
                    (bytes.clone().into(), bytes.buffer().into())
                }
                Parcel::Numbers(words) => {
                    let words = Uint32Array::from(words.as_slice());
                    (words.clone().into(), words.buffer().into())
                }
            };
            // This fails only for values that can't be cloned or transferred; a fresh buffer always
            // can.
            let _ = port.post_message_with_transferable(&data, &Array::of1(&buffer));
        })
    }

    /// The next message, if one has arrived.
    pub fn take(&self) -> Option<Incoming> {
        self.queue.borrow_mut().messages.pop_front()
    }

    /// Waits for a message.
    pub async fn wait(&mut self) {
        self.until(|queue| !queue.messages.is_empty()).await;
        self.last_breath = now();
    }

    /// Waits for a message, but at most this many milliseconds. Returns whether one arrived.
    pub async fn wait_at_most(&mut self, milliseconds: f64) -> bool {
        self.queue.borrow_mut().timed_out = false;
        let timer = scope().set_timeout_with_callback_and_timeout_and_arguments_0(
            self.on_timer.as_ref().unchecked_ref(),
            milliseconds as i32,
        );
        self.until(|queue| !queue.messages.is_empty() || queue.timed_out).await;
        if let Ok(timer) = timer {
            scope().clear_timeout_with_handle(timer);
        }
        self.last_breath = now();
        !self.queue.borrow().messages.is_empty()
    }

    /// Lets messages in, unless that happened a moment ago.
    pub async fn breathe(&mut self) {
        if now() - self.last_breath < BREATHE_AFTER {
            return;
        }
        self.queue.borrow_mut().came_round = false;
        if self.round.port2().post_message(&JsValue::NULL).is_ok() {
            self.until(|queue| queue.came_round).await;
        }
        self.last_breath = now();
    }

    async fn until(&self, condition: impl Fn(&Queue) -> bool) {
        poll_fn(|context| {
            let mut queue = self.queue.borrow_mut();
            if condition(&queue) {
                return Poll::Ready(());
            }
            queue.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// What to do with the port that the page sent; `None` for any other message.
fn read_port(message: &MessageEvent) -> Option<Incoming> {
    let port = message.ports().get(0).dyn_into().ok()?;
    if message.data().is_null() {
        return Some(Incoming::Join(port));
    }
    let number = message.data().as_f64().filter(|number| (0.0..256.0).contains(number))?;
    Some(Incoming::Port(number as u32, port))
}

/// Sizes of buffers that the page gets back for its next message: the pieces of a model that is opened come by
/// the hundred, and all of their buffers would wait for the collector.
const GIVEN_BACK: Range<u32> = 1 << 18..1 << 22;

/// What the page said to a session. Anything that is not bytes becomes an empty message, which is
/// refused like any other unreadable one.
fn read_page(room: Room, message: &MessageEvent) -> Incoming {
    let Ok(bytes) = message.data().dyn_into::<Uint8Array>() else {
        return Incoming::Page(room, Vec::new());
    };
    let read = bytes.to_vec();
    let buffer = bytes.buffer();
    if room == FIRST && GIVEN_BACK.contains(&buffer.byte_length()) {
        // What came can always go back.
        let _ = scope().post_message_with_transfer(&buffer, &Array::of1(&buffer));
    }
    Incoming::Page(room, read)
}

fn read_parcel(data: &JsValue) -> Option<Parcel> {
    if let Some(words) = data.dyn_ref::<Uint32Array>() {
        return Some(Parcel::Numbers(words.to_vec()));
    }
    data.dyn_ref::<Uint8Array>().map(|bytes| Parcel::State(bytes.to_vec()))
}
