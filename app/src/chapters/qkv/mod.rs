//! `qkv`: queries, keys and values, and the whole sum behind one weight.

mod cell;
mod check;
mod cost;
mod lanes;
mod more;
mod notebooks;
mod order;
mod scale;
mod shuffle;
mod words;

use leptos::prelude::*;
use unroll_protocol::{
    Link, RunState, StudySpec,
    link::Chapter,
    study::qkv::{Cost, Experiment, Models},
};

use super::Info;
use crate::{
    course::{
        ChapterFrame, Lab, StageView, further, live_setting, use_lab, use_short_sentence,
        use_together,
    },
    reactive::memo,
    store::Store,
    teaching::{Live, live},
};

#[cfg(test)]
pub use more::NAMES;
#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Qkv,
    warm_steps: 200,
    curves: 3,
    uses_text: true,
    view: || view! { <QkvChapter/> }.into_any(),
};

#[component]
fn QkvChapter() -> impl IntoView {
    let store = expect_context::<Store>();
    use_short_sentence();
    use_together(
        |link| &mut link.qkv.experiment,
        |view| Some(Experiment::from_id(view).unwrap_or(Experiment::Cell)),
        view_of,
    );
    let models = memo(move || store.link.with(|link| link.qkv.spec(link.seed).models));
    let costs = RwSignal::new(Vec::new());
    let model = Signal::derive(move || {
        let model = match models.get() {
            Models::Text => "2 layers of 2 heads",
            Models::Order => "three small readers",
        };
        model.to_owned()
    });
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(costs)
            asks=vec![("qkv", ViewFn::from(check::check))]
            more=more::more
            views=vec![
                StageView::new("cell", "One cell", cell::worked),
                StageView::new("vectors", "Q, K, V", cell::vectors_view),
                StageView::new("scale", "Scale", scale::view),
                StageView::new("shuffle", "Shuffle", shuffle::view),
                StageView::new("order", "Order", order::view),
                StageView::new("cost", "Cost", move || cost::view(costs)),
            ]
            settings=move || settings(models)
            model
        />
    }
}

/// What the text reads off the settings and this machine.
fn lives(costs: RwSignal<Vec<Cost>>) -> Vec<Live> {
    let cost = memo(move || costs.with(|costs| cost::quicker(costs)));
    let lab = use_lab();
    let trains = memo(move || lab.state.get() == RunState::Running);
    vec![
        live_setting("width", |link| link.qkv.dimensions.to_string()),
        live("steady", move || {
            let asks = match trains.get() {
                true => "Pause training to measure undisturbed.",
                false => "Press “Measure again.”",
            };
            asks.to_owned()
        }),
        live("slower", move || {
            let attention = costs.with(|costs| cost::is_attention_slower(costs));
            let asks = match attention {
                Some(true) => "Why is attention slower here?",
                Some(false) => "Why is attention faster even here?",
                None => "Which time curve ends lower?",
            };
            asks.to_owned()
        }),
        live("cost", move || cost.get().unwrap_or("Both are being measured.").to_owned()),
    ]
}

/// What is to be known of the models; nothing of them can be changed.
fn settings(models: Memo<Models>) -> AnyView {
    let about = move || match models.get() {
        Models::Text => {
            "A small GPT learns your text. It has 2 layers of 2 heads, is 32 units wide, and reads 24 \
             characters at a time, with positions and a causal mask. You can switch the mask off in the figures. \
             What the shuffle, the random vectors \
             and the cost show does not depend on what it has learned."
        }
        Models::Order => {
            "All three have 2 layers of 2 heads, the same seed and the same batches. They differ only in \
             what tells them order. One has nothing, one a causal mask, and one learned positions without \
             a mask."
        }
    };
    view! {
        <div class="course-controls">
            <p>{about}</p>
            <p class="hint">
                "Every measurement in the view “Cost” is the fastest of a few runs. It is taken by the \
                 engine that trains the models, so other work on the machine makes some runs slower. Pause \
                 training and measure again: the fastest of all runs is kept."
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

/// Whether the models on show are these yet.
fn is_of(lab: Lab, wanted: Models) -> bool {
    lab.started.with(|started| {
        let spec = started.as_ref().map(|started| &started.spec);
        matches!(spec, Some(StudySpec::Qkv(spec)) if spec.models == wanted)
    })
}
