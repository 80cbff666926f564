//! The engine outside the browser: the session that the page's workers have, on this computer's processor or
//! GPU, behind a server for one page.
//!
//! [`start`] serves the built page and, beside it, a WebSocket with the same commands and events as a
//! worker's port. The session belongs to this process and not to the page: it trains on when the page is
//! closed, and a page that opens later finds the run as it is by then.

mod device;
mod door;
mod engine;
mod keep;
mod line;
mod request;
mod run;
mod secret;
mod site;

use std::{
    io::{self, Write},
    net::{IpAddr, SocketAddr, TcpListener},
    path::PathBuf,
    sync::{
        atomic::AtomicU64,
        mpsc::{self, Sender},
    },
    thread,
};

use unroll_protocol::native::SECRET;

use device::Place;
pub use device::Wanted;
use door::Door;
use engine::Said;
use secret::Secret;

/// Why: see Cargo.toml. It serves whatever links this library.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How an engine is started.
pub struct Options {
    /// The built page.
    pub site: PathBuf,
    pub listen: IpAddr,
    /// 0 for any that is free.
    pub port: u16,
    /// Threads that may share a step on the processor.
    pub threads: u32,
    pub device: Wanted,
    /// The GPU among several: its number in the list, or a part of its name.
    pub adapter: Option<String>,
    /// Where the states of runs are kept that are too large for the page. Made when it is needed.
    pub keep: PathBuf,
}

/// An engine that runs, for as long as the process.
pub struct Running {
    pub address: SocketAddr,
    pub secret: String,
    engine: Sender<Said>,
}

impl Running {
    /// Keeps the run's last state, where that is not the page's to keep, before the process ends. Training goes
    /// on until then.
    pub fn keep(&self) {
        let (done, is_done) = mpsc::channel();
        if self.engine.send(Said::End(done)).is_ok() {
            let _ = is_done.recv();
        }
    }

    /// The page's address, with the secret where browsers send it to nobody.
    pub fn link(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            // It is reached through any address of this computer, also this one.
            address.set_ip(match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("http://{address}/?chapter=gpt#{SECRET}{}", self.secret)
    }
}

/// Tells whoever sits at the terminal; a terminal that is gone must not end a run.
fn say(sentence: &str) {
    let _ = writeln!(io::stdout(), "{sentence}");
}

/// Starts an engine. Where that is a GPU, this takes seconds: its kernels are compiled and checked first.
///
/// # Errors
///
/// A sentence, if there is no page, the port can't be had, or no such device is in this program.
pub fn start(options: Options) -> Result<Running, String> {
    let Options { site, listen, port, threads, device, adapter, keep } = options;
    if !site.join("index.html").is_file() {
        return Err(format!("There is no built page in {}.", site.display()));
    }
    let at = SocketAddr::new(listen, port);
    let trouble = |error| format!("{at} can’t be used ({error}). Choose another port with --port.");
    let listener = TcpListener::bind(at).map_err(trouble)?;
    let address = listener.local_addr().map_err(trouble)?;
    let secret = Secret::new()?;
    let place = Place::find(device, adapter.as_deref(), threads)?;
    let (engine, pages) = (engine::start(place, keep), AtomicU64::new(0));
    let running = Running { address, secret: secret.text().to_owned(), engine: engine.clone() };
    thread::spawn(move || door::serve(listener, Door { address, site, secret, engine, pages }));
    Ok(running)
}
