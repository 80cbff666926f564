//! `position`.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Info;
use crate::course::{ChapterFrame, Idea};

pub const INFO: Info = Info {
    id: Chapter::Position,
    title: "Where am I",
    warm_steps: 0,
    uses_text: false,
    view: || view! { <PositionChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[];

#[component]
fn PositionChapter() -> impl IntoView {
    view! {
        <ChapterFrame
            before="Attention alone cannot tell order."
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
