//! The chapters, each named as its id in a link.

pub mod gpt;

mod bigram;
mod birnn;
mod bptt;
mod gates;
mod norm;
mod rnn;
mod tokens;

use leptos::prelude::AnyView;
use unroll_protocol::link::Chapter;

/// What the course knows of a chapter.
pub struct Info {
    pub id: Chapter,
    pub title: &'static str,
    /// Optimizer steps its lab takes by itself when the chapter opens.
    pub warm_steps: u32,
    /// Whether its models learn the learner's text, rather than a generated task.
    pub uses_text: bool,
    pub view: fn() -> AnyView,
}

/// Every chapter, in the course's order.
pub const ALL: [&Info; 8] = [
    &tokens::INFO,
    &bigram::INFO,
    &rnn::INFO,
    &bptt::INFO,
    &gates::INFO,
    &birnn::INFO,
    &norm::INFO,
    &gpt::INFO,
];

/// The chapter with this id.
///
/// # Panics
///
/// Panics if [`ALL`] lacks it, which a test rules out.
pub fn info(id: Chapter) -> &'static Info {
    ALL.iter().find(|info| info.id == id).expect("every chapter is listed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chapter_of_the_link_is_listed_in_its_order() {
        let ids: Vec<Chapter> = ALL.iter().map(|info| info.id).collect();
        assert_eq!(ids, Chapter::ALL);
    }
}
