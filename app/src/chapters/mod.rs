//! The chapters, each named as its id in a link.
//!
//! The page starts with one of them, the GPT lab. Any other is fetched when it is first opened.

pub mod gpt;

mod alignment;
mod bigram;
mod birnn;
mod block;
mod bptt;
mod decode;
mod gates;
mod heads;
mod machine;
mod mask;
mod norm;
mod position;
mod qkv;
mod rnn;
mod seq2seq;
mod start;
mod tokens;

use leptos::prelude::*;
use unroll_protocol::{StudySpec, link::Chapter, study::norm::Models};

use crate::{
    course::{Borrow, Labs, MOST_CURVES, Neighbors},
    fetched::{Fetch, Fetched, View, part},
    store::Store,
};

#[cfg(test)]
pub use start::SCRIPT as START;

/// What a chapter says of itself.
pub struct Info {
    pub id: Chapter,
    /// Optimizer steps that a model nobody has trained takes by itself when the chapter opens.
    pub warm_steps: u32,
    /// How many of what it measures, from the first, are losses that the time bar draws together:
    /// [`MOST_CURVES`] at most.
    pub curves: usize,
    /// Whether its models learn the learner's text, rather than a generated task.
    pub uses_text: bool,
    pub view: View,
}

/// What the course knows of a chapter, also before it is fetched.
pub struct Entry {
    pub id: Chapter,
    pub warm_steps: u32,
    pub curves: usize,
    pub uses_text: bool,
    content: Content,
}

#[derive(Clone, Copy)]
enum Content {
    Here(View),
    Elsewhere(Fetch),
}

impl Entry {
    /// What the page calls it.
    pub fn title(&self) -> &'static str {
        self.id.label()
    }

    /// `info` without its view: whatever this table leads to is in the page's own wasm.
    const fn new(info: Info, content: Content) -> Self {
        let Info { id, warm_steps, curves, uses_text, view: _ } = info;
        assert!(curves >= 1 && curves <= MOST_CURVES);
        Self { id, warm_steps, curves, uses_text, content }
    }
}

/// The entry of a chapter that is part of the page's own wasm.
macro_rules! here {
    ($chapter:ident) => {
        &Entry::new($chapter::INFO, Content::Here($chapter::INFO.view))
    };
}

/// The entry of a chapter that is fetched.
macro_rules! elsewhere {
    ($chapter:ident) => {
        &Entry::new(
            $chapter::INFO,
            Content::Elsewhere(part!($chapter: View = || match use_context::<Borrow>() {
                Some(borrow) => borrow.lend(&$chapter::SCRIPT),
                None => visit(&$chapter::INFO),
            })),
        )
    };
}

/// What a fetched chapter shows.
fn visit(info: &Info) -> AnyView {
    expect_context::<Labs>().visit(info.id);
    (info.view)()
}

/// Makes [`ALL`] from the list of chapters: one that this page does not have does not compile.
macro_rules! all {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        /// Every chapter, in the course's order.
        pub static ALL: &[&Entry] =
            &[elsewhere!(start), $(elsewhere!($module),)+ elsewhere!(machine), elsewhere!(decode), here!(gpt)];
    };
}

unroll_protocol::with_chapters!(all);

/// The chapter with this id.
///
/// # Panics
///
/// Panics if [`ALL`] lacks it, which a test rules out.
pub fn info(id: Chapter) -> &'static Entry {
    ALL.iter().find(|entry| entry.id == id).expect("every chapter is listed")
}

/// Whether the chart of these models shows means of their losses, which are noisy.
pub fn shows_means(spec: &StudySpec) -> bool {
    match spec {
        StudySpec::Block(_) => true,
        StudySpec::Norm(spec) => !matches!(spec.models, Models::Outside),
        _ => false,
    }
}

/// What shows the chapter; where there is a [`Borrow`] around it, it lends its script instead.
pub fn lender(id: Chapter) -> Fetch {
    match info(id).content {
        Content::Here(_) => gpt::LATER,
        Content::Elsewhere(fetch) => fetch,
    }
}

/// The chapter itself, or its title until it is fetched.
pub fn view(id: Chapter) -> AnyView {
    let entry = info(id);
    let fetch = match entry.content {
        Content::Here(view) => return view(),
        Content::Elsewhere(fetch) => fetch,
    };
    let embedded = expect_context::<Store>().link.with_untracked(|link| link.embed);
    let around = move |notice: AnyView| {
        if embedded {
            return view! { <main id="main" class="embed">{notice}</main> }.into_any();
        }
        view! {
            <main id="main" class="chapter">
                <section class="story" aria-label="Story">
                    <div class="story-head">
                        <h1 id="chapter-title" tabindex="-1">{entry.title()}</h1>
                        {notice}
                    </div>
                    // The rest of the course is there, whatever becomes of this chapter.
                    <Neighbors/>
                </section>
                <section class="stage" aria-label="Stage"></section>
            </main>
        }
        .into_any()
    };
    view! { <Fetched fetch what="This chapter" style=Some(id.id()) around/> }.into_any()
}

#[cfg(test)]
mod notebooks;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod snippets;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chapter_of_the_link_is_listed_in_its_order() {
        let ids: Vec<Chapter> = ALL.iter().map(|entry| entry.id).collect();
        assert_eq!(ids, Chapter::ALL);
    }
}
