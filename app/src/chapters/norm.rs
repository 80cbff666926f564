//! `norm`: what normalization averages over, and what follows from it.

mod check;
mod figure;
mod layers;
mod more;
mod outside;
mod time;

use leptos::prelude::*;
use unroll_protocol::{
    StudySpec,
    link::Chapter,
    study::norm::{Axis, Experiment, LAYERS, Models, Statistics, Treatment, Version},
};

use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{
        ChapterFrame, Idea, Lab, StageView, trial, use_lab, use_provenance, use_setting,
        use_together,
    },
    figures::{Dash, Hue, Line, Lines, LinesFigure},
    store::Store,
    teaching::{Sym, Term, Word},
};

pub const INFO: Info = Info {
    id: Chapter::Norm,
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
        set: |link| {
            link.norm.experiment = Experiment::Outside;
            link.view = "outside".into();
        },
    },
    Idea {
        title: "Time steps are not alike",
        text: "A recurrent layer's first sums vary far less than later ones, so BatchNorm needs statistics for \
               every step, and has none beyond the last it trained on.",
        set: |link| {
            link.norm.experiment = Experiment::Time;
            link.view = "time".into();
        },
    },
];

/// The experiment that a view shows; `None` shows whichever is on.
fn experiment_of(view: &str) -> Option<Experiment> {
    match view {
        "outside" => Some(Experiment::Outside),
        "time" => Some(Experiment::Time),
        "losses" => None,
        _ => Some(Experiment::Layers),
    }
}

/// The view that shows an experiment, as the link names it.
fn view_of(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::Layers => "",
        Experiment::Outside => "outside",
        Experiment::Time => "time",
    }
}

#[component]
fn NormChapter() -> impl IntoView {
    let store = expect_context::<Store>();
    use_together(|link| &mut link.norm.experiment, experiment_of, view_of);
    let experiment = use_setting(|link| &mut link.norm.experiment);
    let settings = move || {
        let what = move || {
            match experiment.get() {
            Experiment::Layers => view! {
                <SliderField name="norm-batch"/>
                <SliderField name="norm-scale" log=true/>
                <ChoiceField name="norm-activation"/>
            }
            .into_any(),
            Experiment::Outside => {
                view! { <p class="hint">"Nothing to set: the step size is the same for all three."</p> }
                    .into_any()
            }
            Experiment::Time => {
                view! { <p class="hint">"Nothing to set: the two networks differ in their norm only."</p> }
                    .into_any()
            }
        }
        };
        view! { <div class="course-controls">{what}</div> }
    };
    let model = Signal::derive(move || {
        store.link.with(|link| match link.norm.experiment {
            Experiment::Layers => {
                let (activation, batch) = (link.norm.activation.label(), link.norm.batch);
                format!("{LAYERS} layers, {activation}, batch of {batch}")
            }
            Experiment::Outside => "one layer, three ways".to_owned(),
            Experiment::Time => "two RNNs, two norms".to_owned(),
        })
    });
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
                StageView::new("layers", "One layer", layers::one),
                StageView::new("depth", "Depth", layers::depth),
                StageView::new("outside", "Runaway b", outside::view),
                StageView::new("time", "Over time", time::view),
                StageView::new("losses", "Losses", losses),
            ]
            settings
            model
        />
    }
}

fn intro() -> impl IntoView {
    view! {
        <p>
            "Too large a sum, and tanh sits at its limit and passes no "<Term of=Word::Gradient/>" on. "
            <Term of=Word::Normalization/>" pulls the sums "
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
            |link| {
                link.norm.scale = 0.2;
                link.view = "depth".into();
            },
        ),
        trial(
            "In the RNN, use the statistics of step 12 at every step instead of step 1's. Which matters more?",
            "Step 12's",
            "time",
            |link| {
                (link.norm.experiment, link.norm.time) = (Experiment::Time, 12);
                link.view = "time".into();
            },
        ),
    ]
}

/// Losses a point of a curve is the mean of: batches are small and their losses noisy.
const SMOOTHED: usize = 20;

/// The curve of the lab's series with this name, every point the mean of the last few values.
fn smoothed(lab: Lab, name: &str) -> Vec<(f64, f64)> {
    let points = lab.history.with(|h| h.named(name).map_or(Vec::new(), |series| series.points()));
    let mut sum = 0.0;
    let mut means = Vec::with_capacity(points.len());
    for (i, &(step, value)) in points.iter().enumerate() {
        sum += value;
        if i >= SMOOTHED {
            sum -= points[i - SMOOTHED].1;
        }
        means.push((step, sum / (i + 1).min(SMOOTHED) as f64));
    }
    means
}

/// The losses of all models of the experiment that is on.
fn losses() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let provenance = use_provenance();
    let experiment = Memo::new(move |_| store.link.with(|link| link.norm.experiment));
    let curves = |lab: Lab, looks: &[(&'static str, Hue, Dash)]| -> Vec<Line> {
        let line = |&(name, hue, dash): &(&'static str, Hue, Dash)| {
            Line::new(name, hue, dash, smoothed(lab, name))
        };
        looks.iter().map(line).collect()
    };
    let lines = Signal::derive(move || {
        let (y_label, series) = match experiment.get() {
            Experiment::Layers => {
                let looks = [
                    (Version::Plain.label(), Hue::Muted, Dash::Dotted),
                    (Version::Batch.label(), Hue::Ink, Dash::Solid),
                    (Version::Layer.label(), Hue::Hidden, Dash::Dashed),
                ];
                (format!("loss, mean of {SMOOTHED} batches"), curves(lab, &looks))
            }
            Experiment::Time => {
                let looks = [
                    (Axis::Batch.label(), Hue::Ink, Dash::Solid),
                    (Axis::Layer.label(), Hue::Hidden, Dash::Dashed),
                ];
                (format!("loss, mean of {SMOOTHED} batches"), curves(lab, &looks))
            }
            Experiment::Outside => {
                return outside::lines(lab, |t: Treatment| t.label().to_owned(), "loss");
            }
        };
        let x_range = Lines::steps(lab.step.get());
        Lines { x_label: "step".into(), y_label, series, x_range, ..Lines::default() }
    });
    let seed = Memo::new(move |_| store.link.with(|link| link.seed));
    let title = Signal::derive(move || match experiment.get() {
        Experiment::Layers => {
            format!("Three networks, the same first weights and batches (seed {})", seed.get())
        }
        Experiment::Outside => "Three treatments of the mean, the same data".to_owned(),
        Experiment::Time => "Two recurrent networks, the same first weights and batches".to_owned(),
    });
    let without_batch = Memo::new(move |_| {
        store.link.with(|link| link.norm.experiment == Experiment::Layers && link.norm.batch == 1)
    });
    view! {
        <LinesFigure name="norm-loss" title lines provenance/>
        {move || without_batch.get().then(|| view! {
            <p class="view-note" data-testid="norm-no-batch">
                "There is no curve for BatchNorm: it can't train on a batch of 1."
            </p>
        })}
    }
    .into_any()
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
