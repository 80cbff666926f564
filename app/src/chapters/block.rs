//! `block`.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Info;
use crate::course::{ChapterFrame, Idea};

pub const INFO: Info = Info {
    id: Chapter::Block,
    title: "The rest of the transformer",
    warm_steps: 0,
    uses_text: false,
    view: || view! { <BlockChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[];

#[component]
fn BlockChapter() -> impl IntoView {
    view! {
        <ChapterFrame
            before="Attention only mixes what is there."
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
