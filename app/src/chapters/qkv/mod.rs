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
    Link, StudySpec,
    link::Chapter,
    study::qkv::{Experiment, Memory, Models},
};

use super::Info;
use crate::{
    course::{ChapterFrame, Idea, Lab, StageView, Try, use_together},
    figures::Hue,
    store::Store,
    teaching::{Sym, Term, Word},
};

pub const INFO: Info = Info {
    id: Chapter::Qkv,
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
        set: |link| {
            put(link, Experiment::Scale);
            link.qkv.dimensions = 256;
        },
    },
    Idea {
        title: "Attention alone does not see order",
        text: "The tokens are shuffled. Every token's output is what it was, only in another place.",
        set: |link| put(link, Experiment::Shuffle),
    },
    Idea {
        title: "A causal mask brings order in",
        text: "The same shuffle under a causal mask: who stands before whom now decides what each token sees.",
        set: |link| {
            put(link, Experiment::Shuffle);
            link.qkv.causal = true;
        },
    },
    Idea {
        title: "One step of T² work",
        text: "A recurrent layer takes T steps one after another. Attention does more work, but all of it at once.",
        set: |link| put(link, Experiment::Cost),
    },
];

#[component]
fn QkvChapter() -> impl IntoView {
    let store = expect_context::<Store>();
    use_together(
        |link| &mut link.qkv.experiment,
        |view| Some(Experiment::from_id(view).unwrap_or(Experiment::Cell)),
        view_of,
    );
    let models = Memo::new(move |_| store.link.with(|link| link.qkv.spec(link.seed).models));
    let model = Signal::derive(move || {
        let model = match models.get() {
            Models::Text => "2 layers of 2 heads",
            Models::Order => "three small readers",
        };
        model.to_owned()
    });
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
                StageView::new("cell", "One cell", cell::worked),
                StageView::new("vectors", "Q, K, V", cell::vectors_view),
                StageView::new("scale", "Scale", scale::view),
                StageView::new("shuffle", "Shuffle", shuffle::view),
                StageView::new("order", "Order", order::view),
                StageView::new("cost", "Cost", cost::view),
            ]
            settings=move || settings(models)
            model
        />
    }
}

/// What is to be known of the models; nothing of them can be changed.
fn settings(models: Memo<Models>) -> AnyView {
    let about = move || match models.get() {
        Models::Text => {
            "A small GPT learns your text: 2 layers of 2 heads, 32 units wide, 24 characters at a time, \
             with positions and a causal mask. What is said of a shuffle, of random vectors and of time \
             holds of any weights."
        }
        Models::Order => {
            "All three have 2 layers of 2 heads, the same seed and the same batches. Only what tells them \
             order differs: nothing; a causal mask; learned positions without a mask."
        }
    };
    view! {
        <div class="course-controls">
            <p>{about}</p>
            <p class="hint">
                "Each time in the view Cost is the quickest of a few runs, in the engine that trains the models. \
                 Whatever else the machine does makes some slower: pause training and measure again, and the \
                 quickest of all stays."
            </p>
        </div>
    }
    .into_any()
}

/// Sets an experiment up: each is a view.
fn put(link: &mut Link, experiment: Experiment) {
    link.view = view_of(experiment).to_owned();
    link.qkv.experiment = experiment;
}

/// The name of the view in links, where it is not the first.
fn view_of(experiment: Experiment) -> &'static str {
    if experiment == Experiment::Cell { "" } else { experiment.id() }
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
                    set=|link| {
                        put(link, Experiment::Scale);
                        link.qkv.dimensions = 256;
                    }/>
            }
        }),
        ViewFn::from(|| {
            view! {
                "Shuffle under a causal mask, without positions. Guess first: does any token keep its output? "
                <Try label="Shuffle, causal" id="causal"
                    set=|link| {
                        put(link, Experiment::Shuffle);
                        link.qkv.causal = true;
                    }/>
            }
        }),
        ViewFn::from(|| {
            view! {
                "Three models are to name a word's first letter; two of them are told no positions. Which of those two \
                 learns it all the same? " <Try label="Train them" id="order"
                    set=|link| put(link, Experiment::Order)/>
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
