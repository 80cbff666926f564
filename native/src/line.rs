//! The line to a page: a WebSocket, read by one thread and written by another.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    sync::mpsc::{self, Receiver, SyncSender, TrySendError},
    thread,
    time::Duration,
};

use tungstenite::{
    Message, WebSocket,
    protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
};
use unroll_protocol::{Event, wire};

/// A start holds a text of at most 5 MB and a checkpoint of three times 4 bytes for each parameter.
const LONGEST: usize = 1 << 30;
/// A page that takes nothing for so long is gone, or might as well be.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most events that may wait for a page. Training tells of itself twenty times a second: this is more than
/// [`PATIENCE`] lets pile up, unless the page asks much and reads nothing.
const MOST_WAITING: usize = 1000;

fn config() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(LONGEST)).max_frame_size(Some(LONGEST))
}

/// Where events are sent. It never waits for the page: another thread does.
pub struct Mouth {
    waiting: SyncSender<Words>,
    stream: TcpStream,
}

/// What the writing thread is to send.
enum Words {
    Event(Vec<u8>),
    /// The last words, a sentence of at most 123 bytes.
    Farewell(&'static str),
}

/// Why a line has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The page takes nothing any more, and too much waits for it.
    Silent,
    /// It is gone.
    Gone,
}

/// Where commands come from.
pub struct Ear(WebSocket<ReadOnly>);

/// A stream that only its other owner writes to. What the reader would write by itself are answers to
/// pings, which no browser sends, and to a farewell, after which nothing follows; in the middle of the
/// other's message they would be noise.
struct ReadOnly(TcpStream);

impl Read for ReadOnly {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for ReadOnly {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Both ends of a line on a stream whose handshake is done. `rest` was read already.
pub fn open(stream: TcpStream, rest: Vec<u8>) -> io::Result<(Mouth, Ear)> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let socket = WebSocket::from_raw_socket(stream.try_clone()?, Role::Server, Some(config()));
    let (waiting, words) = mpsc::sync_channel(MOST_WAITING);
    let mouth = Mouth { waiting, stream: stream.try_clone()? };
    let ear = WebSocket::from_partially_read(ReadOnly(stream), rest, Role::Server, Some(config()));
    thread::spawn(move || write(socket, &words));
    Ok((mouth, Ear(ear)))
}

/// Sends what there is until there will be no more.
fn write(mut socket: WebSocket<TcpStream>, words: &Receiver<Words>) {
    while let Ok(word) = words.recv() {
        let sent = match word {
            Words::Event(bytes) => socket.send(Message::Binary(bytes.into())),
            Words::Farewell(sentence) => {
                // The first code that is free for applications, see engine/native.js.
                let frame = CloseFrame { code: CloseCode::Library(4000), reason: sentence.into() };
                let _ = socket.close(Some(frame)).and_then(|()| socket.flush());
                break;
            }
        };
        if sent.is_err() {
            // The reader must end, too: it may wait for a page that is there, and hangs.
            let _ = socket.get_ref().shutdown(Shutdown::Both);
            return;
        }
    }
    // The browser closes its side then, and the reader ends. What was written still arrives.
    let _ = socket.get_ref().shutdown(Shutdown::Write);
}

impl Mouth {
    /// Has an event sent.
    ///
    /// # Errors
    ///
    /// If the page is gone or takes nothing any more: the line has ended then.
    pub fn say(&self, event: &Event) -> Result<(), Ended> {
        self.waiting.try_send(Words::Event(wire::encode(event))).map_err(|error| match error {
            TrySendError::Full(_) => {
                // The writing thread waits in the middle of an event.
                let _ = self.stream.shutdown(Shutdown::Both);
                Ended::Silent
            }
            TrySendError::Disconnected(_) => Ended::Gone,
        })
    }

    /// Ends the line with a sentence of at most 123 bytes for the page.
    pub fn end(self, sentence: &'static str) {
        // A page for which too much waits would not read it.
        if self.waiting.try_send(Words::Farewell(sentence)).is_err() {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
    }
}

impl Ear {
    /// Waits for the next command; `None` if the page is gone.
    pub fn hear(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.0.read() {
                Ok(Message::Binary(bytes)) => return Some(bytes.into()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}
