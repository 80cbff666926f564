//! One running engine.

use core::cell::Cell;
use std::rc::Rc;

use js_sys::{Array, ArrayBuffer, Reflect, Uint8Array};
use unroll_protocol::{Command, Event, wire};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{
    ErrorEvent, MessageChannel, MessageEvent, MessagePort, Worker, WorkerOptions, WorkerType,
};

use super::native::secret;

/// The engines: one source, four binaries, and one that is no worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineBinary {
    /// The GPT lab's, on the CPU.
    Cpu,
    /// The chapters', on the CPU.
    Course,
    /// The GPT lab's and that of models that are opened, on the CPU.
    Given,
    /// The GPT lab's, on the GPU.
    WebGpu,
    /// The GPT lab's outside the browser: the worker only passes on what is said.
    Native,
}

impl EngineBinary {
    /// The address of its worker.
    fn path(self) -> String {
        let (start, secret) = match self {
            Self::Cpu => ("worker.js?engine=engine_cpu&", String::new()),
            Self::Course => ("worker.js?engine=engine_course&", String::new()),
            Self::Given => ("worker.js?engine=engine_given&", String::new()),
            Self::WebGpu => ("worker.js?engine=engine_webgpu&", String::new()),
            Self::Native => ("native.js?", secret()),
        };
        format!("{start}v={}#{secret}", build_id())
    }
}

/// What comes from an engine.
pub enum Incoming {
    /// Anything but [`Event::Failed`].
    Event(Event),
    /// The engine could not start, or died. The sentence is for the page.
    Died(String),
}

thread_local! {
    /// Engines and sessions started so far.
    static STARTED: Cell<u32> = const { Cell::new(0) };
}

/// A number that no engine or session had before.
pub(super) fn next_number() -> u32 {
    STARTED.replace(STARTED.get() + 1)
}

/// A worker and the closures it calls. Dropping it ends the worker at once.
pub struct EngineClient {
    number: u32,
    worker: Worker,
    /// The buffer of a large message that the engine has read and given back.
    spare: Rc<Cell<Option<ArrayBuffer>>>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

impl EngineClient {
    /// Starts an engine. `receive` is called with its [`Self::number`] for everything it says;
    /// [`Event::Ready`] comes first, and nothing may be sent before it.
    pub fn start(
        binary: EngineBinary,
        receive: impl Fn(u32, Incoming) + Clone + 'static,
    ) -> Result<Self, String> {
        let worker = start_worker(binary)?;
        let number = next_number();
        let receive = move |incoming| match incoming {
            // Whoever hears it drops the client, and with it the closure that runs now.
            Incoming::Died(_) => {
                let receive = receive.clone();
                wasm_bindgen_futures::spawn_local(async move { receive(number, incoming) });
            }
            Incoming::Event(_) => receive(number, incoming),
        };
        let spare = Rc::<Cell<Option<ArrayBuffer>>>::default();
        let on_message = {
            let (receive, spare) = (receive.clone(), Rc::clone(&spare));
            Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
                match message.data().dyn_into() {
                    Ok(buffer) => spare.set(Some(buffer)),
                    Err(data) => receive(read(&data)),
                }
            })
        };
        let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(move |error: ErrorEvent| {
            // Reported to the learner in the page; the console is for what nobody handled.
            error.prevent_default();
            receive(Incoming::Died(describe_crash(&error.message())));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(Self { number, worker, spare, _on_message: on_message, _on_error: on_error })
    }

    /// Tells what this engine says from the last words of another.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Sends a command; its bytes are transferred, not copied.
    pub fn send(&self, command: &Command) {
        let (bytes, transfer) = encoded(command, self.spare.take());
        // Fails only for what can't be cloned or transferred; a fresh buffer always can.
        let _ = self.worker.post_message_with_transfer(&bytes, &transfer);
    }
}

/// A command as bytes, in a buffer given back from an earlier one if it holds them, and what to transfer of them.
pub(super) fn encoded(command: &Command, spare: Option<ArrayBuffer>) -> (Uint8Array, Array) {
    let encoded = wire::encode(command);
    let size = encoded.len() as u32;
    let spare = spare.filter(|spare| spare.byte_length() >= size);
    let buffer = spare.unwrap_or_else(|| ArrayBuffer::new(size));
    let bytes = Uint8Array::new_with_byte_offset_and_length(&buffer, 0, size);
    bytes.copy_from(&encoded);
    (bytes, Array::of1(&buffer))
}

/// Gives two running engines a line to each other: `helper` becomes helper `number`, counted from 1,
/// of `engine`.
pub fn introduce(engine: &EngineClient, helper: &EngineClient, number: u32) {
    // Fails in no browser that has workers.
    let Ok(channel) = MessageChannel::new() else { return };
    let send = |client: &EngineClient, number: u32, port: MessagePort| {
        let _ = client.worker.post_message_with_transfer(&number.into(), &Array::of1(&port));
    };
    send(engine, number, channel.port1());
    send(helper, 0, channel.port2());
}

impl Drop for EngineClient {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

pub(super) fn read(data: &JsValue) -> Incoming {
    if let Some(bytes) = data.dyn_ref::<Uint8Array>() {
        return match wire::decode(&bytes.to_vec()) {
            Ok(Event::Failed { message }) => Incoming::Died(message),
            Ok(event) => Incoming::Event(event),
            Err(error) => Incoming::Died(error.to_string()),
        };
    }
    // `worker.js` says so in a plain object when there is no engine to say it.
    let failed = Reflect::get(data, &"unroll_engine_failed".into()).ok();
    let sentence = failed.and_then(|value| value.as_string());
    Incoming::Died(sentence.map_or_else(
        || "The engine sent something that is not a message.".to_owned(),
        |message| describe_crash(&message),
    ))
}

/// Says a crash in plain words; what the browser said follows for those who can use it.
pub(super) fn describe_crash(message: &str) -> String {
    if message.is_empty() {
        // All a page learns when the worker's own script can't be loaded.
        return "The engine’s files could not be loaded. In a sandboxed frame, their host must allow \
                every origin to read them (Access-Control-Allow-Origin: *)."
            .to_owned();
    }
    let lower = message.to_ascii_lowercase();
    if lower.contains("memory") || lower.contains("allocation") {
        format!("The engine ran out of memory ({message}).")
    } else if lower.contains("unreachable") {
        // What a wasm module without a panic message ends with: nearly always a failed allocation.
        "The engine stopped, most likely because it ran out of memory.".to_owned()
    } else {
        message.to_owned()
    }
}

/// The build id that `cargo xtask` stamps into the page, so that a cached engine of an older build
/// is never used.
pub fn build_id() -> String {
    let document = web_sys::window().and_then(|window| window.document());
    let meta = document.and_then(|d| d.query_selector("meta[name=unroll-build]").ok().flatten());
    meta.and_then(|meta| meta.get_attribute("content")).unwrap_or_default()
}

pub(super) fn start_worker(binary: EngineBinary) -> Result<Worker, String> {
    let base =
        web_sys::window().and_then(|w| w.document()).and_then(|d| d.base_uri().ok().flatten());
    let url = web_sys::Url::new_with_base(&binary.path(), &base.unwrap_or_default())
        .map_err(|_| "The page’s address is not one an engine can be loaded from.".to_owned())?
        .href();
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    Worker::new_with_options(&url, &options)
        // In a sandboxed frame without an origin only a `data:` worker may start; it imports the
        // same file, which then needs Access-Control-Allow-Origin from its host.
        .or_else(|_| {
            let source = format!("import {};", js_sys::JSON::stringify(&url.clone().into())?);
            let source = js_sys::encode_uri_component(&source);
            Worker::new_with_options(&format!("data:text/javascript,{source}"), &options)
        })
        .map_err(|_: JsValue| "This browser did not allow the page to start a worker.".to_owned())
}
