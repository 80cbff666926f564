//! `decode`: from the model's logits to written text, on the lab's live model.

mod beside;
mod bets;
mod branches;
mod cache;
mod choose;
mod kept_rows;
mod picture;
mod skyline;
mod surprise;
mod tree;
mod words;
mod wrap;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    gpt::{After, ask},
    link::Chapter,
};

use super::{
    Info,
    gpt::{SETTINGS, use_model_name},
    machine::number,
};
use crate::{
    course::{ChapterFrame, StageView, further, use_setting},
    fetched::fetched,
    figures::Slot,
    questions::{Answered, Questions, use_answer},
    reactive::memo,
    store::Store,
};
use bets::Bets;

#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Decode,
    warm_steps: 200,
    curves: 2,
    uses_text: true,
    view: || view! { <Decode/> }.into_any(),
};

/// What the views share. `Copy`: handles of the chapter's owner.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    questions: Questions,
    /// Logits after the sentence.
    after: Answered<After>,
    /// The next character as the settings would have it chosen, or why it can't be.
    bets: Memo<Option<Result<Arc<Bets>, String>>>,
    /// Which series of random numbers is drawn.
    draw: Slot<u32>,
    beams: Slot<u32>,
    /// The text as it was before the model wrote on, and with what it wrote.
    written: RwSignal<(String, String)>,
    /// The text whose surprise is read, once the learner has changed it.
    text: RwSignal<Option<String>>,
}

impl Page {
    fn new() -> Self {
        let store = expect_context::<Store>();
        // What the lab writes is not shown here: it need not write.
        store.writing_sight.add(Signal::stored(false));
        let questions = Questions::from(store);
        let after = use_answer(questions, move || {
            let text = store.probe.get();
            Some(ask::After { text, endings: vec![Vec::new()] })
        });
        let draw = use_setting(|link| &mut link.decode.draw);
        let beams = use_setting(|link| &mut link.decode.beams);
        let bets = memo(move || {
            let after = after.answer.get()?;
            let seed = store.link.with(|link| link.seed).wrapping_mul(10_000);
            let number = number(seed.wrapping_add(draw.get()), &after.text);
            let sampling = store.link.with(|link| link.gpt.sampling());
            let (vocabulary, logits) = (after.vocabulary.clone(), after.logits.values.clone());
            let tinted = store.has_tinted_tokens();
            let bets = Bets::new(vocabulary, logits, &sampling, number, tinted);
            Some(bets.map(Arc::new).map_err(|error| error.to_string()))
        });
        let (written, text) = (RwSignal::default(), RwSignal::new(None));
        Self { store, questions, after, bets, draw, beams, written, text }
    }
}

#[component]
fn Decode() -> impl IntoView {
    let page = Page::new();
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=choose::lives(page)
            asks=vec![("decode-cut", ViewFn::from(move || choose::how_many(page)))]
            more=words::more
            views=vec![
                StageView::new("choose", "Choice", move || view! { <choose::Choose page/> }),
                StageView::new("beside", "Samples", move || view! { <beside::Beside page/> }),
                StageView::new("tree", "Tree", move || view! { <tree::Tree page/> }),
                StageView::new("surprise", "Surprise", move || view! { <surprise::Read page/> }),
                StageView::new("cache", "Cache", move || view! { <cache::Cache page/> }),
            ]
            settings=|| fetched(SETTINGS, "The settings")
            model=use_model_name(page.store)
        />
    }
}
