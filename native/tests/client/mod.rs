//! A page without a browser: what it sends to an engine, and what it hears.

use std::{
    env, fs,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::PathBuf,
    process,
    time::Duration,
};

use tungstenite::{Message, WebSocket, client::IntoClientRequest, http::HeaderValue};
use unroll_native::{Options, Running, Wanted, start};
use unroll_protocol::{
    Command, Event, ExperimentSpec,
    native::{FOUND, Found, LINE, LINE_PROTOCOL, NOTE, Note},
    wire,
};

/// Nothing here takes so long: what does not come then, never comes.
const PATIENCE: Duration = Duration::from_secs(120);

/// An engine on the CPU, with a page of one file.
pub fn engine(name: &str, threads: u32) -> Running {
    engine_on(name, threads, Wanted::Cpu, None).unwrap()
}

/// An engine on another device. The error is a sentence.
pub fn engine_on(
    name: &str,
    threads: u32,
    device: Wanted,
    adapter: Option<&str>,
) -> Result<Running, String> {
    let (listen, adapter) = (Ipv4Addr::LOCALHOST.into(), adapter.map(str::to_owned));
    let (site, keep) = (site(name), kept(name));
    start(Options { site, listen, port: 0, threads, device, adapter, keep })
}

/// Where an engine of this name keeps what is too large for the page.
pub fn kept(name: &str) -> PathBuf {
    env::temp_dir().join(format!("unroll-native-{}-{name}-runs", process::id()))
}

fn site(name: &str) -> PathBuf {
    let site = env::temp_dir().join(format!("unroll-native-{}-{name}", process::id()));
    fs::create_dir_all(&site).unwrap();
    fs::write(site.join("index.html"), "the page").unwrap();
    site
}

/// A line to an engine.
pub struct Client(WebSocket<TcpStream>);

/// Asks for a line as a page of `origin` does that was opened at `host` with this secret. The error is the
/// status and the sentence of the refusal.
pub fn connect_as(
    address: SocketAddr,
    host: &str,
    origin: &str,
    secret: &str,
) -> Result<Client, (u16, String)> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = format!("ws://{host}/{LINE}").into_client_request().unwrap();
    let offered = format!("{LINE_PROTOCOL}, {secret}");
    let headers = [("origin", origin), ("sec-websocket-protocol", &offered)];
    for (name, value) in headers {
        request.headers_mut().insert(name, HeaderValue::from_str(value).unwrap());
    }
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(Client(socket)),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            let body = response.body().clone().unwrap_or_default();
            Err((response.status().as_u16(), String::from_utf8(body).unwrap()))
        }
        Err(error) => panic!("{error}"),
    }
}

/// A line of the engine's own page.
pub fn connect(running: &Running) -> Client {
    let host = running.address.to_string();
    let line = connect_as(running.address, &host, &format!("http://{host}"), &running.secret);
    line.map_err(|refusal| refusal.1).unwrap()
}

impl Client {
    pub fn say(&mut self, command: &Command) {
        self.say_bytes(wire::encode(command));
    }

    pub fn say_bytes(&mut self, bytes: Vec<u8>) {
        self.0.send(Message::Binary(bytes.into())).unwrap();
    }

    /// Whether the engine still takes what is said.
    pub fn is_taken(&mut self, command: &Command) -> bool {
        self.0.send(Message::Binary(wire::encode(command).into())).is_ok()
    }

    /// The next event; the sentence of the farewell if the line ended.
    pub fn hear(&mut self) -> Result<Event, String> {
        match self.0.read() {
            Ok(Message::Binary(bytes)) => Ok(wire::decode(&bytes).unwrap()),
            Ok(Message::Close(frame)) => {
                Err(frame.map_or_else(String::new, |frame| frame.reason.to_string()))
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => panic!("{error}"),
        }
    }

    /// All events until one of them is what is waited for, that one included.
    pub fn until(&mut self, done: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut heard = Vec::new();
        loop {
            let event = self.hear().expect("the line is open");
            heard.push(event);
            if heard.last().is_some_and(&done) {
                return heard;
            }
        }
    }

    /// Starts a model.
    pub fn begin(&mut self, spec: ExperimentSpec, text: &str, workers: u32) {
        let text = text.to_owned();
        self.say(&Command::Start { spec, text, resume: None, workers });
        self.until(|event| matches!(event, Event::Started(_)));
    }
}

/// What an address answers to a request with these lines in its head: the status, and the body.
pub fn ask(address: SocketAddr, path: &str, head: &str) -> (u16, Vec<u8>) {
    send(address, format!("GET /{path} HTTP/1.1\r\n{head}\r\n").as_bytes())
}

fn send(address: SocketAddr, request: &[u8]) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let status = str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
    (status, answer[end + 4..].to_vec())
}

/// The run that an engine has.
pub fn find(running: &Running) -> Option<Found> {
    let Running { address, secret, .. } = running;
    let head =
        format!("Host: {address}\r\nOrigin: http://{address}\r\nAuthorization: {secret}\r\n");
    let (status, body) = ask(*address, FOUND, &head);
    assert_eq!(status, 200);
    wire::decode(&body).unwrap()
}

/// Leaves a note with the engine.
pub fn note(running: &Running, note: &Note) {
    let (Running { address, secret, .. }, body) = (running, wire::encode(note));
    let head = format!(
        "POST /{NOTE} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
         Authorization: {secret}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    assert_eq!(send(*address, &[head.as_bytes(), &body].concat()).0, 204);
}
