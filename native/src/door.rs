//! The one port: the page's files, and the line to the engine for the page that may have it.
//!
//! Any page in the browser can reach a port of this computer, and any name can be made to lead to it. So
//! every request must be addressed to this server by a name that nobody else can have, and what belongs to
//! the engine needs the secret and comes from this server's own page, before anything else of it is read.

use std::{
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Sender},
    },
    thread,
    time::Duration,
};

use tungstenite::handshake::derive_accept_key;
use unroll_protocol::{
    native::{FOUND, LINE, LINE_PROTOCOL, NOTE},
    wire,
};

use crate::{
    engine::Said,
    line,
    request::{Request, answer, refuse},
    secret::Secret,
    site,
};

/// How long a request may take to come.
const PATIENCE: Duration = Duration::from_secs(10);
/// A hash in the address makes such a file another one when it changes. The page must be able to start its
/// own engine, and to show its other parts, when this process is gone.
const FOR_EVER: &str = "Cache-Control: public, max-age=31536000, immutable\r\n";
const ASK_AGAIN: &str = "Cache-Control: no-cache\r\n";

/// Where the names of the page's files are, a line each: see engine/native.js.
const FILES: &str = "engine/files";

/// What every connection needs.
pub struct Door {
    pub address: SocketAddr,
    pub site: PathBuf,
    pub secret: Secret,
    pub engine: Sender<Said>,
    pub pages: AtomicU64,
}

/// Serves whoever comes, for as long as the process.
pub fn serve(listener: TcpListener, door: Door) {
    let door = Arc::new(door);
    for stream in listener.incoming().flatten() {
        let door = Arc::clone(&door);
        thread::spawn(move || door.receive(stream));
    }
}

impl Door {
    fn receive(&self, mut stream: TcpStream) {
        let timeouts = stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        let Some(request) = timeouts.ok().and_then(|()| Request::read(&mut stream)) else { return };
        let Some(host) = self.host(&request) else {
            let sentence = "This address does not lead to the page here: open the link that the \
                            engine printed.";
            return refuse(&mut stream, "403 Forbidden", sentence);
        };
        let path = request.path.trim_start_matches('/').to_owned();
        if path == FILES {
            let kind = format!("Content-Type: text/plain; charset=utf-8\r\n{ASK_AGAIN}");
            return answer(
                &mut stream,
                "200 OK",
                &kind,
                site::list(&self.site).join("\n").as_bytes(),
            );
        }
        if ![LINE, FOUND, NOTE].contains(&&*path) {
            return self.file(&mut stream, &request);
        }
        if let Err(sentence) = self.admits(&request, &host, &path) {
            return refuse(&mut stream, "403 Forbidden", sentence);
        }
        match &*path {
            LINE => self.line(stream, request),
            FOUND => self.found(&mut stream),
            _ => self.note(stream, request),
        }
    }

    /// The host and port that the request is addressed to, if these are this server's.
    fn host(&self, request: &Request) -> Option<String> {
        let host = request.header("host")?;
        let port = self.address.port();
        if let Some(name) = host.strip_suffix(&format!(":{port}")) {
            let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
            let own = match address {
                // An address can't be made to lead elsewhere; a name can.
                Ok(address) => address == self.address.ip() || self.address.ip().is_unspecified(),
                Err(_) => name == "localhost",
            };
            return own.then(|| host.to_owned());
        }
        None
    }

    /// Whether this request may have to do with the engine.
    fn admits(&self, request: &Request, host: &str, path: &str) -> Result<(), &'static str> {
        let own = format!("http://{host}");
        // The page posts what it could read, too: browsers leave the origin out of what is only read.
        if request.header("origin") != Some(&own) {
            return Err("Only the engine’s own page may talk to it.");
        }
        let given = match path {
            LINE => request.header("sec-websocket-protocol").and_then(|offered| {
                let (protocol, secret) = offered.split_once(',')?;
                (protocol.trim() == LINE_PROTOCOL).then(|| secret.trim())
            }),
            _ => request.header("authorization"),
        };
        match given {
            Some(given) if self.secret.is(given) => Ok(()),
            _ => {
                Err("The secret in this link is not the one of the engine that runs now: open the \
                      link that it printed.")
            }
        }
    }

    fn line(&self, mut stream: TcpStream, request: Request) {
        let key = request.header("sec-websocket-key").map(|key| derive_accept_key(key.as_bytes()));
        let is_one = request.method == "GET"
            && request.lists("connection", "upgrade")
            && request.lists("upgrade", "websocket")
            && request.header("sec-websocket-version") == Some("13");
        let Some(key) = key.filter(|_| is_one) else {
            return refuse(&mut stream, "400 Bad Request", "Here is a WebSocket.");
        };
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {key}\r\nSec-WebSocket-Protocol: {LINE_PROTOCOL}\r\n\r\n"
        );
        if std::io::Write::write_all(&mut stream, head.as_bytes()).is_err() {
            return;
        }
        let Ok((mouth, mut ear)) = line::open(stream, request.rest) else { return };
        let page = self.pages.fetch_add(1, Ordering::Relaxed);
        // Fails only when the process ends.
        let _ = self.engine.send(Said::Came(page, mouth));
        while let Some(bytes) = ear.hear() {
            let _ = self.engine.send(Said::Command(page, bytes));
        }
        let _ = self.engine.send(Said::Left(page));
    }

    fn found(&self, stream: &mut TcpStream) {
        let (send, receive) = mpsc::channel();
        let _ = self.engine.send(Said::Find(send));
        if let Ok(bytes) = receive.recv() {
            let headers = "Content-Type: application/octet-stream\r\nCache-Control: no-store\r\n";
            answer(stream, "200 OK", headers, &bytes);
        }
    }

    fn note(&self, mut stream: TcpStream, request: Request) {
        let is_post = request.method == "POST";
        let note = request.body(&mut stream).filter(|_| is_post);
        match note.and_then(|bytes| wire::decode(&bytes).ok()) {
            Some(note) => {
                let _ = self.engine.send(Said::Note(note));
                answer(&mut stream, "204 No Content", "", &[]);
            }
            None => refuse(&mut stream, "400 Bad Request", "This is no note."),
        }
    }

    fn file(&self, stream: &mut TcpStream, request: &Request) {
        if request.method != "GET" {
            return refuse(stream, "405 Method Not Allowed", "Files can only be read.");
        }
        match site::file(&self.site, &request.path) {
            Some(file) => {
                let has_build = request.query.split('&').any(|pair| pair.starts_with("v="));
                let stays = has_build || site::has_hash(&request.path);
                let cache = if stays { FOR_EVER } else { ASK_AGAIN };
                let headers = format!("Content-Type: {}\r\n{cache}", file.kind);
                answer(stream, "200 OK", &headers, &file.bytes);
            }
            None => refuse(stream, "404 Not Found", "The page has no such file."),
        }
    }
}
