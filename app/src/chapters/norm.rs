//! `norm`: what normalisation averages over, and what follows from it.

mod check;
mod layers;
mod more;
mod outside;
mod time;

use leptos::prelude::*;
use unroll_protocol::{
    StudySpec,
    link::Chapter,
    study::norm::{Axis, Experiment, Models, Statistics},
};

use super::Info;
use crate::{
    controls::ChoiceField,
    course::{ChapterFrame, Idea, Lab, Sentence, StageView, trial, use_setting},
    figures::Hue,
    teaching::{Sym, Term, Word},
};

pub const INFO: Info = Info {
    id: Chapter::Norm,
    title: "Keeping activations in range",
    warm_steps: 250,
    uses_text: true,
    view: || view! { <NormChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[
    Idea {
        title: "BatchNorm averages each feature over the batch",
        text: "Column by column: the mean of this feature over all examples is taken away, and what is left is \
               divided by its spread.",
        set: |link| (link.norm.row, link.norm.sweep) = (0, 5),
    },
    Idea {
        title: "LayerNorm averages each example over its features",
        text: "Row by row: no number of any other example is needed.",
        set: |link| (link.norm.axis, link.norm.row, link.norm.sweep) = (Axis::Layer, 0, 5),
    },
    Idea {
        title: "A batch couples its examples",
        text: "Example 2 is multiplied by 3. Its means are shared, so under BatchNorm every other row moves, too.",
        set: |_| {},
    },
    Idea {
        title: "A layer does not",
        text: "The same press under LayerNorm: the others move by exactly 0. Nor does the pressed row move much: \
               its own size is divided away.",
        set: |link| link.norm.axis = Axis::Layer,
    },
    Idea {
        title: "The mean belongs into the gradient",
        text: "Take the mean away but hide that from the gradient: b is pushed the same way at every step and \
               never stops growing, and the loss does not fall.",
        set: |link| link.norm.experiment = Experiment::Outside,
    },
    Idea {
        title: "Time steps are not alike",
        text: "A recurrent layer's first sums vary far less than later ones, so BatchNorm needs statistics for \
               every step, and has none beyond the last it trained on.",
        set: |link| link.norm.experiment = Experiment::Time,
    },
];

#[component]
fn NormChapter() -> impl IntoView {
    let experiment = use_setting(|link| &mut link.norm.experiment);
    let axis = use_setting(|link| &mut link.norm.axis);
    let coupling = layers::use_coupling();
    let figure = move || {
        view! {
            <ChoiceField name="norm-experiment"/>
            {move || match experiment.get() {
                Experiment::Layers => layers::figure(coupling),
                Experiment::Outside => outside::figure(),
                Experiment::Time => time::figure(),
            }}
        }
        .into_any()
    };
    let controls = move || {
        match experiment.get() {
        Experiment::Layers => view! {
            <ChoiceField name="norm-axis"/>
            {move || (axis.get() == Axis::Batch).then(|| view! { <ChoiceField name="norm-statistics"/> })}
            {layers::controls()}
            <Sentence label="Your sentence: a batch of its pieces" problem=coupling.problem/>
        }
        .into_any(),
        Experiment::Outside => outside::controls(),
        Experiment::Time => time::controls(),
    }
    };
    let further = move || match experiment.get() {
        Experiment::Layers => layers::further(),
        Experiment::Outside => outside::further(),
        Experiment::Time => time::further(),
    };
    view! {
        <ChapterFrame
            before="Reading both ways helps a network know more; but stack its layers deep, and the numbers in them \
                    soon grow too large or too small to learn from."
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
            "Too large a sum, and tanh sits at its limit and passes no "<Term of=Word::Gradient/>" on. "
            <Term of=Word::Normalisation/>" pulls the sums "
            <Sym part="x" role=Hue::Input>"x"</Sym>" back: it takes a mean μ away, divides by the spread σ, and lets \
            the model choose a new scale γ and offset β. That gives "<Sym part="y" role=Hue::Output>"y"</Sym>
            ". The question is what to average over."
        </p>
        <p>
            <strong>"BatchNorm"</strong>" averages each feature over the examples of the "<Term of=Word::Batch/>
            ": down a column. "<strong>"LayerNorm"</strong>" averages each example over its features: along a row. \
            Press a row to multiply it. Which other rows will move?"
        </p>
    }
    .into_any()
}

/// Experiments with a surprise in them.
fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "LayerNorm, a row times 8. The others stay put, of course; but look how little the pressed row itself moves. Why?",
            "Press it",
            "scale",
            |link| (link.norm.axis, link.norm.factor) = (Axis::Layer, 8.0),
        ),
        trial(
            "BatchNorm as it is used after training, by running statistics: press a row now.",
            "Use running statistics",
            "running",
            |link| link.norm.statistics = Statistics::Running,
        ),
        trial(
            "A batch of one example. What is its mean? What is left of it?",
            "Batch of 1",
            "one",
            |link| link.norm.batch = 1,
        ),
        trial(
            "Begin with weights a fifth of the usual. What do the histograms of the plain network look like at step 0, \
             and which of the three gets away first?",
            "Begin small",
            "small",
            |link| link.norm.scale = 0.2,
        ),
        trial(
            "In the RNN, use the statistics of step 12 at every step instead of step 1's. Which matters more?",
            "Step 12's",
            "time",
            |link| (link.norm.experiment, link.norm.time) = (Experiment::Time, 12),
        ),
    ]
}

/// The curve of the lab's series with this name, every point the mean of the `over` values up to
/// it: batches are small and their losses noisy.
fn smoothed(lab: Lab, name: &str, over: usize) -> Vec<(f64, f64)> {
    let points = lab.history.with(|h| h.named(name).map_or(Vec::new(), |series| series.points()));
    let mut sum = 0.0;
    let mut means = Vec::with_capacity(points.len());
    for (i, &(step, value)) in points.iter().enumerate() {
        sum += value;
        if i >= over {
            sum -= points[i - over].1;
        }
        means.push((step, sum / (i + 1).min(over) as f64));
    }
    means
}

/// Whether the models on show are those of this experiment yet.
fn is_of(lab: Lab, wanted: Experiment) -> bool {
    lab.started.with(|started| {
        let Some(StudySpec::Norm(spec)) = started.as_ref().map(|started| &started.spec) else {
            return false;
        };
        let shown = match spec.models {
            Models::Layers { .. } => Experiment::Layers,
            Models::Outside => Experiment::Outside,
            Models::Time => Experiment::Time,
        };
        shown == wanted
    })
}
