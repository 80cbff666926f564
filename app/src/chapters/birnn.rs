//! `birnn`

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Info;
use crate::course::{ChapterFrame, Idea};

pub const INFO: Info = Info {
    id: Chapter::Birnn,
    title: "Birnn",
    warm_steps: 0,
    uses_text: true,
    view: || view! { <BirnnChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[];

#[component]
fn BirnnChapter() -> impl IntoView {
    view! {
        <ChapterFrame
            before=""
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
