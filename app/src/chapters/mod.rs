//! The chapters, each named as its id in a link.

pub mod gpt;
