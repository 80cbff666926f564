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
        ChapterFrame, Lab, SMOOTHED, StageView, further, use_lab, use_provenance, use_setting,
        use_together,
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
                StageView::new("outside", "Mean ignored", outside::view),
                StageView::new("time", "Over time", time::view),
                StageView::new("losses", "Losses", losses),
            ]
            settings
            model
        />
    }
}

/// How each of the three networks looks, in the order of [`Version::ALL`].
const LOOKS: [(Hue, Dash); 3] =
    [(Hue::First, Dash::Dotted), (Hue::Second, Dash::Solid), (Hue::Third, Dash::Dashed)];

/// The losses of all models of the experiment that is on.
fn losses() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let provenance = use_provenance();
    let experiment = memo(move || store.link.with(|link| link.norm.experiment));
    let curves = move |names: &[&'static str], looks: &[(Hue, Dash)]| -> Vec<Line> {
        let line = |(name, &(hue, dash)): (&&'static str, &(Hue, Dash))| {
            Line::new(*name, hue, dash, lab.history.with(|h| h.smoothed(name)))
        };
        names.iter().zip(looks).map(line).collect()
    };
    let lines = Signal::derive(move || {
        let series = match experiment.get() {
            Experiment::Layers => curves(
                &[Version::Plain, Version::Batch, Version::Layer].map(Version::label),
                &LOOKS,
            ),
            Experiment::Time => curves(&[Axis::Batch, Axis::Layer].map(Axis::label), &LOOKS[1..]),
            Experiment::Outside => {
                return outside::lines(lab, |t: Treatment| t.label().to_owned(), "loss");
            }
        };
        let x_range = Lines::steps(lab.step.get());
        let y_scale = YScale::Close;
        let y_label = format!("mean of up to {SMOOTHED} losses");
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
    let said = memo(move || match experiment.get() {
        Experiment::Layers => {
            let curve = |version: &Version| {
                let name = version.label();
                (name, lab.history.with(|h| h.smoothed(name)))
            };
            standing(&Version::ALL.iter().map(curve).collect::<Vec<_>>())
        }
        _ => None,
    });
    view! {
        <LinesFigure name="norm-loss" title lines provenance/>
        {move || said.get().map(|said| view! { <p class="norm-standing" data-testid="norm-standing">{said}</p> })}
        // The time bar has the colors of this figure.
        {move || (experiment.get() == Experiment::Time).then(|| view! { <i class="norm-of-time" hidden></i> })}
        {move || without_batch.get().then(|| view! {
            <p class="view-note" data-testid="norm-no-batch">
                "There is no curve for BatchNorm, because it can’t train on a batch of 1."
            </p>
        })}
    }
    .into_any()
}

/// How much lower than the first curve's, the plain network's, the other mean losses clearly are by now.
fn standing(curves: &[(&str, Vec<(f64, f64)>)]) -> Option<String> {
    let [(_, plain), others @ ..] = curves else { return None };
    // Earlier means are of fewer batches.
    let (step, loss) = *plain.get(SMOOTHED - 1..)?.last()?;
    let lower = others.iter().filter_map(|(name, means)| {
        let by = loss - means.last()?.1;
        (by > check::CLEAR).then(|| format!("{by:.3} lower with {name}"))
    });
    let lower = lower.collect::<Vec<_>>().join(" and ");
    Some(if lower.is_empty() {
        format!("By step {step} no network’s mean loss is clearly lower than the plain one’s.")
    } else {
        format!(
            "At step {step} the mean of the last {SMOOTHED} losses is {lower} than without normalization."
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_clearly_lower_is_said_to_be() {
        let flat = |loss: f64| (1..=30).map(|step| (f64::from(step), loss)).collect::<Vec<_>>();
        let said = |batch: f64, layer: f64| {
            standing(&[("plain", flat(3.0)), ("B", flat(batch)), ("L", flat(layer))]).unwrap()
        };
        let both = "At step 30 the mean of the last 20 losses is 0.500 lower with B and 0.250 lower with L than without normalization.";
        assert_eq!(said(2.5, 2.75), both);
        assert!(!said(2.95, 2.75).contains("with B"));
        assert!(said(2.95, 3.5).contains("no network’s mean loss is clearly lower"));
        assert_eq!(standing(&[("plain", flat(3.0)[..10].to_vec())]), None);
    }
}
