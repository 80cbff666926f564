//! The page's end of the worker boundary: starting engines, sending commands, receiving events.

mod adapter;
mod client;
mod deaths;
mod native;
mod room;

pub use adapter::find_gpu;
pub use client::{EngineBinary, EngineClient, Incoming, build_id, introduce};
pub use deaths::Deaths;
pub use native::{apart, secret, take_secret};
pub use room::{EngineRoom, SharedEngine};
