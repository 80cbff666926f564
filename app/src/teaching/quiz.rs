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
    let order = (0..quiz.options.len()).collect();
    quiz_again(quiz, quiz.id, order, on_right, Callback::new(|()| ()))
}

/// The question on the page once more, named `id`, its options in this order.
pub fn quiz_again(
    quiz: &'static Quiz,
    id: &'static str,
    order: Vec<usize>,
    on_right: Callback<()>,
    on_wrong: Callback<()>,
) -> AnyView {
    let right = order.iter().position(|option| *option == quiz.right);
    let in_order = order.into_iter().filter_map(|option| quiz.options.get(option));
    let (options, replies): (Vec<String>, Vec<&'static str>) =
        in_order.map(|(option, reply)| ((*option).to_owned(), *reply)).unzip();
    view! {
        <CheckYourself id kind=quiz.kind question=Signal::stored(quiz.asks.to_owned())
            options=Signal::stored(options) answer=Signal::stored(right)
            explain=Signal::stored(String::new()) replies=Signal::stored(replies) on_right on_wrong/>
    }
    .into_any()
}
