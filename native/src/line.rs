//! The line to a page: a WebSocket, read by one thread and written by another.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use tungstenite::{
    Message, WebSocket,
    protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
};
use unroll_protocol::{Event, wire};

/// A start holds a text of at most 5 MB and a checkpoint of three times 4 bytes for each parameter.
const LONGEST: usize = 1 << 30;
/// A page that takes nothing for so long is gone, or might as well be: training must not wait for it.
const PATIENCE: Duration = Duration::from_secs(20);

fn config() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(LONGEST)).max_frame_size(Some(LONGEST))
}

/// Where events are sent.
pub struct Mouth(WebSocket<TcpStream>);

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
    let mouth = WebSocket::from_raw_socket(stream.try_clone()?, Role::Server, Some(config()));
    let ear = WebSocket::from_partially_read(ReadOnly(stream), rest, Role::Server, Some(config()));
    Ok((Mouth(mouth), Ear(ear)))
}

impl Mouth {
    /// Sends an event. `false` if the page is gone.
    pub fn say(&mut self, event: &Event) -> bool {
        self.0.send(Message::Binary(wire::encode(event).into())).is_ok()
    }

    /// Ends the line with a sentence of at most 123 bytes for the page.
    pub fn end(mut self, sentence: &'static str) {
        // The first code that is free for applications, see engine/native.js.
        let frame = CloseFrame { code: CloseCode::Library(4000), reason: sentence.into() };
        let _ = self.0.close(Some(frame));
        let _ = self.0.flush();
    }
}

impl Drop for Mouth {
    fn drop(&mut self) {
        // The browser closes its side then, and the reader ends. What was written still arrives.
        let _ = self.0.get_ref().shutdown(Shutdown::Write);
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
