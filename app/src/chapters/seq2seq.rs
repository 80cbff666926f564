//! `seq2seq`.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Info;
use crate::course::{ChapterFrame, Idea};

pub const INFO: Info = Info {
    id: Chapter::Seq2seq,
    title: "The bottleneck",
    warm_steps: 0,
    uses_text: false,
    view: || view! { <Seq2seqChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[];

#[component]
fn Seq2seqChapter() -> impl IntoView {
    view! {
        <ChapterFrame
            before="Reading both ways helps, but one answer for each input is all the networks so far can give: what if the answer has a length of its own?"
            intro=|| ()
            figure=|| ()
            controls=|| ()
            more=|| ()
            tries=Vec::new()
            check=|| ()
            ideas=IDEAS
        />
    }
}
