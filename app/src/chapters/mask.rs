//! `mask`.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Info;
use crate::course::{ChapterFrame, Idea};

pub const INFO: Info = Info {
    id: Chapter::Mask,
    title: "Who may look at whom",
    warm_steps: 0,
    uses_text: false,
    view: || view! { <MaskChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[];

#[component]
fn MaskChapter() -> impl IntoView {
    view! {
        <ChapterFrame
            before="Every token could look at every other."
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
