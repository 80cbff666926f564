//! A worker's side of the message port.

use std::{
    cell::RefCell,
    collections::VecDeque,
    future::poll_fn,
    rc::Rc,
    task::{Poll, Waker},
};

use js_sys::{Array, Uint8Array};
use unroll_protocol::{Event, wire};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent};

/// Work goes on at most this long, in milliseconds, before waiting messages are let in.
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
    let bytes = Uint8Array::from(wire::encode(event).as_slice());
    let transfer = Array::of1(&bytes.buffer());
    // Fails only for what can't be cloned or transferred; a fresh buffer always can.
    let _ = scope().post_message_with_transfer(&bytes, &transfer);
}

/// Has a panic tell the page before it ends the worker.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("no reason given");
        let place = panic.location().map_or_else(String::new, |l| format!(" at {l}"));
        post(&Event::Failed {
            message: format!("The engine hit an error it can't go on from ({text}{place})."),
        });
    }));
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Vec<u8>>,
    /// Set by [`Inbox::breathe`] once the event loop has come round.
    came_round: bool,
    waker: Option<Waker>,
}

impl Queue {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Messages from the page, in order.
pub struct Inbox {
    queue: Rc<RefCell<Queue>>,
    /// A message to ourselves: the one way to let the event loop run that timers do not clamp.
    round: MessageChannel,
    last_breath: f64,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_round: Closure<dyn FnMut(JsValue)>,
}

impl Inbox {
    /// Starts listening. Messages sent earlier are lost, so the page waits for
    /// [`Event::Ready`], which is to be posted after this.
    pub fn listen() -> Result<Self, JsValue> {
        let queue = Rc::new(RefCell::new(Queue::default()));
        let round = MessageChannel::new()?;
        let on_message = {
            let queue = Rc::clone(&queue);
            Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
                // What is not bytes becomes an empty message, which is refused like any other.
                let data = message.data().dyn_into::<Uint8Array>();
                let mut queue = queue.borrow_mut();
                queue.messages.push_back(data.map(|bytes| bytes.to_vec()).unwrap_or_default());
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
        Ok(Self { queue, round, last_breath: now(), _on_message: on_message, _on_round: on_round })
    }

    /// The next message, if one has come.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.queue.borrow_mut().messages.pop_front()
    }

    /// Waits for a message.
    pub async fn wait(&mut self) {
        self.until(|queue| !queue.messages.is_empty()).await;
        self.last_breath = now();
    }

    /// Lets messages in, if the last time is long enough ago.
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
