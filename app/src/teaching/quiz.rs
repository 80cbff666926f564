//! Questions whose answer is known beforehand: choose the reason, find the error. Those that the
//! live model answers are a [`CheckYourself`] of their chapter.

use leptos::prelude::*;

use super::check::{CheckYourself, Kind};

/// A question with its options. Each says why it is right or wrong.
pub struct Quiz {
    /// Names it on the page and in what the browser remembers.
    pub id: &'static str,
    pub kind: Kind,
    pub asks: &'static str,
    /// Two to four: the option, and what is said to who picks it.
    pub options: &'static [(&'static str, &'static str)],
    /// Which of them is right.
    pub right: usize,
}

/// The question on the page.
pub fn quiz(quiz: &'static Quiz, on_right: Callback<()>) -> AnyView {
    let options: Vec<String> =
        quiz.options.iter().map(|(option, _)| (*option).to_owned()).collect();
    view! {
        <CheckYourself id=quiz.id kind=quiz.kind question=Signal::stored(quiz.asks.to_owned())
            options=Signal::stored(options) answer=Signal::stored(Some(quiz.right))
            explain=Signal::stored(String::new()) replies=quiz.options on_right/>
    }
    .into_any()
}
