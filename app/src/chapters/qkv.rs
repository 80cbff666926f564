//! `qkv`.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Info;
use crate::course::{ChapterFrame, Idea};

pub const INFO: Info = Info {
    id: Chapter::Qkv,
    title: "Query, key, value",
    warm_steps: 0,
    uses_text: false,
    view: || view! { <QkvChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[];

#[component]
fn QkvChapter() -> impl IntoView {
    view! {
        <ChapterFrame
            before="A small network scored every pair of states."
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
