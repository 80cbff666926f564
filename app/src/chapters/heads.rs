//! `heads`.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Info;
use crate::course::{ChapterFrame, Idea};

pub const INFO: Info = Info {
    id: Chapter::Heads,
    title: "Many questions at once",
    warm_steps: 0,
    uses_text: false,
    view: || view! { <HeadsChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[];

#[component]
fn HeadsChapter() -> impl IntoView {
    view! {
        <ChapterFrame
            before="One head asks one question."
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
