//! Packing what the learner wrote into a link, and unpacking it: fetched when there is something
//! written, as most visits never need it.

use std::cell::Cell;

use leptos::prelude::*;
use unroll_protocol::link::{FragmentError, Written};

use crate::fetched::{Fetch, part};

/// The two ways.
#[derive(Clone, Copy)]
pub struct Packing {
    pub pack: fn(&Written) -> Result<String, FragmentError>,
    pub unpack: fn(&str) -> Result<Written, FragmentError>,
}

const FETCH: Fetch<Packing> =
    part!(packing: Packing = Packing { pack: Written::encode, unpack: Written::decode });

/// How far the fetching is.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Elsewhere,
    Underway,
    Here,
}

thread_local! {
    static HERE: Cell<Option<Packing>> = const { Cell::new(None) };
    static STATE: ArcRwSignal<State> = ArcRwSignal::new(State::Elsewhere);
}

/// Brings it; `None` where it can't be fetched.
pub async fn fetch() -> Option<Packing> {
    let state = STATE.with(Clone::clone);
    state.set(State::Underway);
    let packing = FETCH().await.ok();
    HERE.set(packing);
    state.set(if packing.is_some() { State::Here } else { State::Elsewhere });
    packing
}

/// Has what runs now run again once it is here.
pub fn track() {
    STATE.with(ArcRwSignal::track);
}

/// Whether somebody waits for it.
pub fn is_underway() -> bool {
    STATE.with(|state| state.get_untracked() == State::Underway)
}

/// Packs `written`. Until what does it is here, which this sees to, it counts as too long. Tracks
/// that.
pub fn pack(written: &Written) -> Result<String, FragmentError> {
    if *written == Written::default() {
        return Ok(String::new());
    }
    track();
    if let Some(packing) = HERE.get() {
        return (packing.pack)(written);
    }
    if STATE.with(|state| state.get_untracked() == State::Elsewhere) {
        wasm_bindgen_futures::spawn_local(async {
            fetch().await;
        });
    }
    Err(FragmentError::TooLong)
}
