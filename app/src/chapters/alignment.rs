//! `alignment`.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Info;
use crate::course::{ChapterFrame, Idea};

pub const INFO: Info = Info {
    id: Chapter::Alignment,
    title: "Attention is born",
    warm_steps: 0,
    uses_text: false,
    view: || view! { <AlignmentChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[];

#[component]
fn AlignmentChapter() -> impl IntoView {
    view! {
        <ChapterFrame
            before="The whole source had to fit into one vector."
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
