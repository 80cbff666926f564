//! `machine`: the whole machine.

pub mod others;
