//! `qkv`: queries, keys and values, and the whole sum behind one weight.

mod cell;
mod check;
mod cost;
mod more;
mod order;
mod scale;
mod shuffle;

use leptos::prelude::*;
use unroll_protocol::{
    StudySpec,
    link::Chapter,
    study::qkv::{Experiment, Memory, Models},
};

use super::Info;
use crate::{
    controls::ChoiceField,
    course::{ChapterFrame, Idea, Lab, StageView, Try, use_setting},
    figures::Hue,
    teaching::{Sym, Term, Word},
};

pub const INFO: Info = Info {
    id: Chapter::Qkv,
    title: "Query, key, value",
    warm_steps: 200,
    uses_text: true,
    view: || view! { <QkvChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[
    Idea {
        title: "An inner product in place of the little network",
        text: "Each token asks with a query and is found by its key. One row of weights is one query's; pick a \
               cell and read its sum.",
        set: |_| {},
    },
    Idea {
        title: "Keys and values from elsewhere",
        text: "The queries stay the sentence's, keys and values come from another text: cross-attention, as between \
               encoder and decoder.",
        set: |link| link.qkv.memory = Memory::Other,
    },
    Idea {
        title: "The variance of q · k is d_k",
        text: "Sums of more products spread wider. At 256 the largest score is so far ahead that softmax gives it \
               nearly everything.",
        set: |link| (link.qkv.experiment, link.qkv.dimensions) = (Experiment::Scale, 256),
    },
    Idea {
        title: "Attention alone does not see order",
        text: "The tokens are shuffled. Every token's output is what it was, only in another place.",
        set: |link| link.qkv.experiment = Experiment::Shuffle,
    },
    Idea {
        title: "A causal mask brings order in",
        text: "The same shuffle under a causal mask: who stands before whom now decides what each token sees.",
        set: |link| (link.qkv.experiment, link.qkv.causal) = (Experiment::Shuffle, true),
    },
    Idea {
        title: "One step of T² work",
        text: "A recurrent layer takes T steps one after another. Attention does more work, but all of it at once.",
        set: |link| link.qkv.experiment = Experiment::Cost,
    },
];

#[component]
fn QkvChapter() -> impl IntoView {
    let experiment = use_setting(|link| &mut link.qkv.experiment);
    let page = cell::use_page();
    let figure = move || {
        view! {
            <ChoiceField name="qkv-experiment"/>
            {move || match experiment.get() {
                Experiment::Cell => cell::figure(page),
                Experiment::Scale => scale::figure(),
                Experiment::Shuffle => shuffle::figure(),
                Experiment::Order => order::figure(),
                Experiment::Cost => cost::figure(),
            }}
        }
        .into_any()
    };
    let controls = move || match experiment.get() {
        Experiment::Cell => cell::controls(page),
        Experiment::Scale => scale::controls(),
        Experiment::Shuffle => shuffle::controls(),
        Experiment::Order => order::controls(),
        Experiment::Cost => cost::controls(),
    };
    let further = move || match experiment.get() {
        Experiment::Cell => cell::further(page),
        Experiment::Scale => scale::further(),
        _ => ().into_any(),
    };
    view! {
        <ChapterFrame
            before="Alignment let a decoder look back at every state of the encoder, but a small network had to score \
                    each pair of them."
            intro=intro
            ideas=IDEAS
            tries=tries()
            check=check::check
            more=more::more
            views=vec![
                StageView::new("figure", "Figure", figure),
                StageView::new("further", "Further", move || view! { {further} }),
            ]
            settings=move || view! { {controls} }
            model=Signal::stored(String::new())
        />
    }
}

fn intro() -> impl IntoView {
    view! {
        <p>
            "Put an inner product in the little network's place. The decoder's state s becomes the "
            <Term of=Word::Query/>" "<Sym part="q" role=Hue::Query>"q"</Sym>": what is looked for. The encoder's state h \
            did two jobs, so it becomes two vectors: the "<Term of=Word::Key/>" "<Sym part="k" role=Hue::Key>"k"</Sym>
            ", by which it is found, and the "<Term of=Word::Value/>" "<Sym part="v" role=Hue::Value>"v"</Sym>
            ", which is handed over. Let all three come from the same sentence, each by a learned matrix: "
            <strong>"self-attention"</strong>"."
        </p>
        <p>
            "Multiply "<Sym part="q" role=Hue::Query>"q"</Sym>" and "<Sym part="k" role=Hue::Key>"k"</Sym>
            " number by number and add up; divide by √d"<sub>"k"</sub>"; "<Term of=Word::Softmax/>" over the row; mix the "
            <Sym part="v" role=Hue::Value>"v"</Sym>" by these weights. Pick a cell: which product of its sum will be the \
            largest?"
        </p>
    }
    .into_any()
}

/// Experiments with a surprise in them.
fn tries() -> Vec<ViewFn> {
    vec![
        ViewFn::from(|| {
            view! {
                "Pick the first row. Whatever its score, its one weight is 1. Then go down a row: two weights, and raising \
                 both scores by 5 would change neither. " <Try label="First row" id="first"
                    set=|link| (link.qkv.query, link.qkv.key) = (1, 1)/>
            }
        }),
        ViewFn::from(|| {
            view! {
                "Let keys and values come from another text. Do the rows still add up to 1? Is anything blocked? "
                <Try label="Another text" id="other" set=|link| link.qkv.memory = Memory::Other/>
            }
        }),
        ViewFn::from(|| {
            view! {
                "256 numbers in each vector. How many of 16 random keys does a query still look at without the root? "
                <Try label="256 numbers" id="wide"
                    set=|link| (link.qkv.experiment, link.qkv.dimensions) = (Experiment::Scale, 256)/>
            }
        }),
        ViewFn::from(|| {
            view! {
                "Shuffle under a causal mask, without positions. Guess first: does any token keep its output? "
                <Try label="Shuffle, causal" id="causal"
                    set=|link| (link.qkv.experiment, link.qkv.causal) = (Experiment::Shuffle, true)/>
            }
        }),
        ViewFn::from(|| {
            view! {
                "Three models are to name a word's first letter; two of them are told no positions. Which of those two \
                 learns it all the same? " <Try label="Train them" id="order"
                    set=|link| link.qkv.experiment = Experiment::Order/>
            }
        }),
    ]
}

/// Whether the models on show are these yet.
fn is_of(lab: Lab, wanted: Models) -> bool {
    lab.started.with(|started| {
        let spec = started.as_ref().map(|started| &started.spec);
        matches!(spec, Some(StudySpec::Qkv(spec)) if spec.models == wanted)
    })
}
