//! `empty`: the least that a chapter shows.

use leptos::prelude::*;
use unroll_protocol::{link::Chapter, study::empty::ask};

use super::Info;
use crate::{
    course::{ChapterFrame, Script, StageView, further, use_lab},
    questions::use_answer,
};

pub const SCRIPT: Script = Script { before: "", beats: &[], tries: &[], quizzes: &[] };

pub const INFO: Info = Info {
    id: Chapter::Empty,
    warm_steps: 0,
    curves: 1,
    uses_text: false,
    view: || view! { <EmptyChapter/> }.into_any(),
};

#[component]
fn EmptyChapter() -> impl IntoView {
    let view = || {
        let numbers = use_answer(use_lab(), || Some(ask::Numbers {})).answer;
        let said = move || numbers.get().map(|numbers| format!("{numbers:?}"));
        view! { <p data-testid="figure-empty">{said}</p> }
    };
    view! {
        <ChapterFrame script=&SCRIPT further views=vec![StageView::new("numbers", "Numbers", view)]/>
    }
}
