//! `block`: the residual stream and everything that writes into it.

mod arithmetic;
mod check;
mod depths;
mod ensemble;
mod growth;
mod neurons;
mod notebooks;
mod stream;
mod wiring;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    link::Chapter,
    study::block::{Depths, Growth, Shown, Stream, Without, ask},
};

use super::Info;
use crate::{
    controls::{ChoiceField, Segments},
    course::{
        ChapterFrame, Lab, StageView, further, use_lab, use_provenance, use_setting,
        use_short_sentence,
    },
    figures::{Provenance, Slot},
    questions::use_answer,
    reactive::memo,
    store::Store,
    teaching::{Live, live},
};

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Block,
    warm_steps: 80,
    curves: 2,
    uses_text: true,
    view: || view! { <BlockChapter/> }.into_any(),
};

/// What the parts of the chapter share.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    lab: Lab,
    provenance: Signal<Provenance>,
    shown: Slot<Shown>,
    without: Slot<Without>,
    position: Slot<u32>,
    token: Slot<u32>,
    term: Slot<u32>,
    /// Why the sentence has no stream.
    problem: Signal<Option<String>>,
    stream: Signal<Option<Arc<Stream>>>,
    vocabulary: Memo<Vec<String>>,
    /// How far back the gradient reaches, in the full model and in the other.
    depths: Signal<Option<Arc<Vec<Depths>>>>,
    /// How long the terms were over training.
    growth: Signal<Option<Arc<Growth>>>,
    wakings: Memo<growth::Wakings>,
}

impl Page {
    /// What the second model is called.
    fn cut(self) -> String {
        format!("without {}", name_of(self.without.get()))
    }
}

/// The choice between the two models, the second named by what it lacks.
fn models(page: Page) -> AnyView {
    let model = move |&shown: &Shown| {
        let name = match shown {
            Shown::Full => "Full".into_any(),
            Shown::Cut => (move || format!("Without {}", name_of(page.without.get()))).into_any(),
        };
        (shown, shown.id(), name)
    };
    view! {
        <fieldset class="choice-field" data-testid="control-block-shown">
            <legend>"Model"</legend>
            <Segments name="control-block-shown" choices=Shown::ALL.iter().map(model).collect()
                chosen=move || page.shown.get() on_choose=move |shown| page.shown.set(shown)/>
        </fieldset>
    }
    .into_any()
}

/// What is left out, in running text.
fn name_of(without: Without) -> &'static str {
    match without {
        Without::Residuals => "residuals",
        Without::Norms => "norms",
        Without::Attention => "attention",
        Without::FeedForward => "feed-forward layers",
    }
}

#[component]
fn BlockChapter() -> impl IntoView {
    let store = expect_context::<Store>();
    use_short_sentence();
    let lab = use_lab();
    let shown = use_setting(|link| &mut link.block.shown);
    let position = use_setting(|link| &mut link.block.position);
    let token = use_setting(|link| &mut link.block.token);
    let answered = use_answer(lab, move || {
        let text = store.probe.get();
        let (shown, position, token) = (shown.get(), position.get(), token.get());
        Some(ask::Stream { text, shown, position, token })
    })
    .shown_in(lab.on_view("wiring"))
    .shown_in(lab.on_view("stream"));
    let growth = use_answer(lab, || Some(ask::Growth {}))
        .shown_in(lab.on_view("growth"))
        .shown_in(lab.check_seen)
        .answer;
    let page = Page {
        store,
        lab,
        provenance: use_provenance(),
        shown,
        without: use_setting(|link| &mut link.block.without),
        position,
        token,
        term: use_setting(|link| &mut link.block.term),
        problem: answered.problem,
        stream: answered.answer,
        vocabulary: memo(move || {
            lab.started.with(|s| s.as_ref().map_or_else(Vec::new, |s| s.vocabulary.clone()))
        }),
        depths: use_answer(lab, || Some(ask::Depths {}))
            .shown_in(lab.on_view("without"))
            .shown_in(lab.check_seen)
            .answer,
        growth,
        wakings: memo(move || {
            growth.with(|g| g.as_ref().map_or_else(Vec::new, |g| growth::wakings(g)))
        }),
    };
    let model = Signal::derive(move || {
        store.link.with(|link| {
            let block = &link.block;
            let without = name_of(block.without);
            // What the story is about first: the button cuts what is too long for it.
            format!(
                "{}, {}; with and without {without}",
                block.norm.label(),
                block.activation.label()
            )
        })
    });
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(page)
            asks=vec![
                ("block", ViewFn::from(move || check::check(page))),
                ("block-reach", ViewFn::from(move || check::reach(page))),
                ("block-gained", ViewFn::from(move || check::gained(page))),
            ]
            more=words::more
            views=vec![
                StageView::new("wiring", "A block", move || wiring::view(page)),
                StageView::new("stream", "The stream", move || stream::view(page)),
                StageView::new("without", "Retrained", move || depths::view(page)),
                StageView::new("growth", "Over training", move || growth::view(page)),
                StageView::new("neurons", "Neurons", move || neurons::view(page)),
                StageView::new("dropout", "Dropout", move || ensemble::view(page)),
            ]
            settings=move || view! {
                <div class="course-controls">
                    <ChoiceField name="block-without"/>
                    <ChoiceField name="block-norm"/>
                    <ChoiceField name="block-activation"/>
                </div>
            }
            model
        />
    }
}

/// What the text reads off the models.
fn lives(page: Page) -> Vec<Live> {
    let parted = memo(move || depths::parted(page));
    vec![
        live("woke", move || match page.growth.with(Option::is_some) {
            true => page.wakings.with(growth::woke),
            false => "…".to_owned(),
        }),
        live("parted", move || parted.get()),
    ]
}
