//! `bigram`: what comes next, by counting pairs and by training a table.

mod check;
mod drawing;
mod surprise;
mod table;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{Answer, Question, link::Chapter, study::bigram};

use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{ChapterFrame, Lab, use_answer, use_lab},
    figures::token,
};

pub const INFO: Info = Info {
    id: Chapter::Bigram,
    title: "What comes next, by counting",
    warm_steps: 60,
    uses_text: true,
    view: || view! { <BigramChapter/> }.into_any(),
};

#[component]
fn BigramChapter() -> impl IntoView {
    view! {
        <ChapterFrame
            before="Text is numbers now, but nothing yet says which number comes next."
            intro=words::intro
            figure=table::figure
            controls=|| view! {
                <ChoiceField name="bigram-view"/>
                <ChoiceField name="bigram-order"/>
                <SliderField name="bigram-k" most=10.0 step=0.01/>
                <table::RowChoice/>
                <SliderField name="bigram-shown"/>
            }
            further=|| view! {
                <drawing::Drawing/>
                <surprise::Terms/>
                <surprise::Scores/>
                <surprise::Smoothing/>
            }
            more=words::more
            tries=words::tries()
            check=check::check
            ideas=words::IDEAS
        />
    }
}

/// The part of an answer that `of` picks, of a standing question.
fn use_part<T: Clone + PartialEq + Send + Sync + 'static>(
    lab: Lab,
    part: impl Into<Signal<bool>>,
    question: impl Fn() -> bigram::Question + Send + Sync + 'static,
    of: fn(&bigram::Answer) -> Option<&T>,
) -> (Memo<Option<T>>, Signal<Option<String>>) {
    let answered = use_answer(lab, move || Some(Question::from(question()))).shown_in(part);
    let part = Memo::new(move |_| {
        let answer: Arc<Answer> = answered.answer.get()?;
        of(<&bigram::Answer>::try_from(&*answer).ok()?).cloned()
    });
    (part, answered.problem)
}

/// Every token as text, by id.
fn use_vocabulary() -> Memo<Vec<String>> {
    let lab = use_lab();
    Memo::new(move |_| {
        lab.started.with(|s| s.as_ref().map_or(Vec::new(), |s| s.vocabulary.clone()))
    })
}

/// A token in a sentence: `‘q’`, `a space`.
fn named(vocabulary: &[String], id: u32) -> String {
    vocabulary.get(id as usize).map_or_else(String::new, |token| match token.as_str() {
        " " => "a space".to_owned(),
        "\n" => "a new line".to_owned(),
        "\u{FFFD}" => "an unknown character".to_owned(),
        token => format!("‘{token}’"),
    })
}

/// A token in a narrow place: `q`, `␣`.
fn short(vocabulary: &[String], id: u32) -> String {
    vocabulary.get(id as usize).map_or_else(String::new, |token| token::short_mark(token, 2))
}

/// A surprise in nats, which may be infinite.
fn nats(surprise: f64) -> String {
    if surprise.is_infinite() { "∞".to_owned() } else { format!("{surprise:.4}") }
}
