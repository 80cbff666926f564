//! `norm`: what normalization averages over, and what follows from it.

mod check;
mod figure;
mod layers;
mod more;
mod notebooks;
mod outside;
mod time;
mod words;

use leptos::prelude::*;
use unroll_protocol::{
    StudySpec,
    link::Chapter,
    study::norm::{Axis, Experiment, LAYERS, Models, Treatment, Version},
};

use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{
        ChapterFrame, Lab, StageView, further, use_lab, use_provenance, use_setting, use_together,
    },
    figures::{Dash, Hue, Line, Lines, LinesFigure, YScale},
    reactive::memo,
    store::Store,
};

#[cfg(test)]
pub use more::NAMES;
#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Norm,
    warm_steps: 250,
    curves: 3,
    uses_text: true,
    view: || view! { <NormChapter/> }.into_any(),
};

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
                view! { <p class="hint">"There is nothing to set. All three take steps of the same size."</p> }
                    .into_any()
            }
            Experiment::Time => {
                view! { <p class="hint">"There is nothing to set. The two networks differ only in their normalization."</p> }
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
            script=&words::SCRIPT
            further
            asks=vec![
                ("norm-loss", ViewFn::from(check::loss)),
                ("norm", ViewFn::from(check::check)),
            ]
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
    let experiment = memo(move || store.link.with(|link| link.norm.experiment));
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
                    (Version::Plain.label(), Hue::First, Dash::Dotted),
                    (Version::Batch.label(), Hue::Second, Dash::Solid),
                    (Version::Layer.label(), Hue::Third, Dash::Dashed),
                ];
                (format!("loss, mean of {SMOOTHED} batches"), curves(lab, &looks))
            }
            Experiment::Time => {
                let looks = [
                    (Axis::Batch.label(), Hue::First, Dash::Solid),
                    (Axis::Layer.label(), Hue::Second, Dash::Dashed),
                ];
                (format!("loss, mean of {SMOOTHED} batches"), curves(lab, &looks))
            }
            Experiment::Outside => {
                return outside::lines(lab, |t: Treatment| t.label().to_owned(), "loss");
            }
        };
        let x_range = Lines::steps(lab.step.get());
        let y_scale = YScale::Close;
        Lines { x_label: "step".into(), y_label, series, x_range, y_scale, ..Lines::default() }
    });
    let seed = memo(move || store.link.with(|link| link.seed));
    let title = Signal::derive(move || match experiment.get() {
        Experiment::Layers => {
            format!("Three networks, the same first weights and batches (seed {})", seed.get())
        }
        Experiment::Outside => "Three treatments of the mean, the same data".to_owned(),
        Experiment::Time => "Two recurrent networks, the same first weights and batches".to_owned(),
    });
    let without_batch = memo(move || {
        store.link.with(|link| link.norm.experiment == Experiment::Layers && link.norm.batch == 1)
    });
    view! {
        <LinesFigure name="norm-loss" title lines provenance/>
        {move || without_batch.get().then(|| view! {
            <p class="view-note" data-testid="norm-no-batch">
                "There is no curve for BatchNorm, because it can’t train on a batch of 1."
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
