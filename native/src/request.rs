//! What a browser asks for, and what it is answered, in HTTP.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// The longest head of a request.
const LONGEST_HEAD: usize = 16 << 10;
/// The longest body: a note may hold the losses of millions of steps.
const LONGEST_BODY: usize = 64 << 20;
/// Browsers send about twenty headers.
const MOST_HEADERS: usize = 64;

/// The head of a request.
#[derive(Debug, PartialEq)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub query: String,
    headers: Vec<(String, String)>,
    /// What was read behind the head.
    pub rest: Vec<u8>,
}

impl Request {
    /// Reads the head of a request; `None` if there is none, or one that no browser sends.
    pub fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
            bytes.extend(&piece[..count]);
            if let Some(request) = Self::parse(&bytes)? {
                return Some(request);
            }
            if bytes.len() > LONGEST_HEAD {
                return None;
            }
        }
    }

    /// `Some(None)` if the head has not ended yet.
    fn parse(bytes: &[u8]) -> Option<Option<Self>> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let httparse::Status::Complete(length) = head.parse(bytes).ok()? else { return Some(None) };
        let target = head.path?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = head.headers.iter().map(|header| {
            Some((header.name.to_ascii_lowercase(), str::from_utf8(header.value).ok()?.to_owned()))
        });
        Some(Some(Self {
            method: head.method?.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers.collect::<Option<_>>()?,
            rest: bytes[length..].to_vec(),
        }))
    }

    /// The header of this name, in small letters. One that is there twice is as good as none: two
    /// readers may take it for different ones.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter().filter(|(header, _)| header == name);
        let (_, value) = all.next()?;
        all.next().is_none().then_some(value)
    }

    /// Whether the header has this word in its list.
    pub fn lists(&self, name: &str, word: &str) -> bool {
        let list = self.header(name).unwrap_or_default();
        list.split(',').any(|listed| listed.trim().eq_ignore_ascii_case(word))
    }

    /// The body; `None` if it is too long, or does not come.
    pub fn body(self, stream: &mut TcpStream) -> Option<Vec<u8>> {
        let length: usize = self.header("content-length")?.parse().ok()?;
        if length > LONGEST_BODY || self.rest.len() > length {
            return None;
        }
        let mut body = self.rest;
        let have = body.len();
        body.resize(length, 0);
        stream.read_exact(&mut body[have..]).ok()?;
        Some(body)
    }
}

/// Sends an answer. Who is gone needs none.
pub fn answer(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n{headers}\r\n",
        body.len()
    );
    // In one piece: some clients read no sentence that comes behind a refusal.
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

/// Sends a sentence.
pub fn refuse(stream: &mut TcpStream, status: &str, sentence: &str) {
    let kind = "Content-Type: text/plain; charset=utf-8\r\n";
    answer(stream, status, kind, sentence.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_once_it_is_whole() {
        let whole =
            b"GET /a?v=1 HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\n\r\nmore";
        assert_eq!(Request::parse(&whole[..40]), Some(None));
        let request = Request::parse(whole).flatten().unwrap();
        assert_eq!((&*request.path, &*request.query, &*request.rest), ("/a", "v=1", &b"more"[..]));
        assert_eq!(request.header("host"), Some("x"));
        assert!(request.lists("connection", "upgrade") && !request.lists("connection", "close"));
        assert_eq!(Request::parse(b"\0\0\0\0 / HTTP/1.1\r\n\r\n"), None);
    }

    #[test]
    fn a_header_that_is_there_twice_counts_for_none() {
        let twice = b"GET / HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n";
        assert_eq!(Request::parse(twice).flatten().unwrap().header("host"), None);
    }
}
