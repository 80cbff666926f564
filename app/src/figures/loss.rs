//! The loss figure: how training goes, step by step.

use crate::reactive::memo;
use leptos::{html, prelude::*};

use super::{
    canvas::use_latest,
    curve::Curve,
    download::{Choice, ExportMenu, LocalFile},
    export::Provenance,
    hue::{Dash, Hue},
    lines::{LinesBox, LinesReading},
    lines_data::{Line, Lines, Reference, Stroke, YScale},
    sight::use_visible,
    theme::{Colors, use_colors},
    writers::Writers,
};

/// Training and held-out loss in nats per token over steps, with the loss of knowing nothing.
///
/// `vocabulary` is V, 0 while unknown; `marker` is a step to mark. The axes are there before training
/// begins. `beside` is the curve of another run, with what that run is called: its training loss is drawn
/// too, on the same axes, but neither read nor exported.
#[component]
pub fn LossFigure(
    #[prop(into)] curve: Signal<Curve>,
    #[prop(into)] beside: Signal<Option<(&'static str, RwSignal<Curve>)>>,
    #[prop(into)] vocabulary: Signal<usize>,
    marker: Signal<Option<f64>>,
    #[prop(into)] provenance: Signal<Provenance>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let lines = Signal::derive(move || {
        let mut lines = curve.with(|curve| loss_lines(curve, vocabulary.get()));
        if let Some((name, other)) = beside.get() {
            // `None` when that run has just ended.
            lines.series.extend(other.try_with(|other| loss_beside(name, other)));
        }
        lines
    });
    let shown = use_latest(lines, use_visible(root));
    // Every step of what is drawn, which is a point of the first line.
    let xs = memo(move || shown.get().series[0].points.iter().map(|p| p.0).collect());
    let last = memo(move || xs.with(|xs: &Vec<f64>| xs.last().copied().unwrap_or(0.0)));
    let lines_reading = LinesReading::new(shown, xs, marker);
    let text = memo(move || {
        shown.track();
        let step = lines_reading.read.get().unwrap_or(0.0) as u32;
        curve.with_untracked(|curve| reading(curve, step))
    });
    view! {
        <section
            class="figure figure-loss"
            node_ref=root
            aria-label="Loss"
            data-testid="figure-loss"
            data-state=move || if last.get() == 0.0 { "empty" } else { "live" }
            data-step=move || last.get().to_string()
        >
            <LinesBox
                reading=lines_reading
                label="Step to read the loss at"
                spoken=text
                hint=Signal::derive(move || {
                    let hint = "Press Train: the loss falls as the model learns.";
                    if last.get() == 0.0 { hint.to_owned() } else { String::new() }
                })
            />
            <p class="readout" translate="no" data-testid="loss-readout">{text}</p>
            <div class="figure-foot">
                <ExportMenu
                    figure="loss"
                    choices=choices(curve, vocabulary, provenance, use_colors())
                />
            </div>
        </section>
    }
}

/// The mean training loss of the run beside this one.
fn loss_beside(name: &str, curve: &Curve) -> Line {
    let points = mean_losses(curve).collect();
    Line {
        stroke: Stroke::Smooth,
        ..Line::new(format!("train, {name}"), Hue::Muted, Dash::Dashed, points)
    }
}

/// The mean loss over neighboring steps, at each step.
fn mean_losses(curve: &Curve) -> impl Iterator<Item = (f64, f64)> {
    let points = curve.points().iter().enumerate();
    points.filter_map(|(i, p)| Some((f64::from(p.step), curve.smoothed(i)?)))
}

/// The curve as lines: the loss of every batch, its mean over neighboring steps, the held-out loss.
pub fn loss_lines(curve: &Curve, vocabulary: usize) -> Lines {
    let batches = curve.points().iter().map(|p| (f64::from(p.step), f64::from(p.loss)));
    let means = mean_losses(curve);
    let held_out = curve.held_out().map(|(step, loss)| (f64::from(step), f64::from(loss)));
    let line =
        |name, hue, stroke, points| Line { stroke, ..Line::new(name, hue, Dash::Solid, points) };
    let knows_nothing = (vocabulary > 1).then(|| (vocabulary as f64).ln());
    Lines {
        x_label: "step".into(),
        y_label: "loss (nats per token)".into(),
        series: vec![
            line("train, each batch", Hue::First, Stroke::Faint, batches.collect()),
            line("train", Hue::First, Stroke::Smooth, means.collect()),
            line("held-out", Hue::Second, Stroke::Dotted, held_out.collect()),
        ],
        references: knows_nothing
            .map(|y| Reference { name: format!("ln V = {y:.2}: knows nothing"), y })
            .into_iter()
            .collect(),
        y_scale: YScale::Close,
        x_range: Lines::steps(curve.last_step()),
        // Nothing to go by yet.
        y_range: (curve.is_empty() && knows_nothing.is_none()).then_some((0.0, 4.0)),
        ..Lines::default()
    }
}

/// What the curve says at `step`.
fn reading(curve: &Curve, step: u32) -> String {
    let Some(at) = curve.nearest(step) else { return "step 0".into() };
    let point = curve.points()[at];
    let mut text = format!("step {}: train {:.4}", point.step, point.loss);
    if let Some(smoothed) = curve.smoothed(at) {
        text += &format!(" (smoothed {smoothed:.4})");
    }
    match curve.held_out_before(point.step) {
        Some((step, loss)) if step == point.step => text += &format!(", held-out {loss:.4}"),
        Some((step, loss)) => text += &format!(", held-out {loss:.4} (step {step})"),
        None => {}
    }
    text
}

fn choices(
    curve: Signal<Curve>,
    vocabulary: Signal<usize>,
    provenance: Signal<Provenance>,
    colors: Memo<Colors>,
) -> Vec<Choice> {
    let choice = |id, label| Choice {
        id,
        label,
        make: Callback::new(move |writers: Writers| {
            let (provenance, colors) = (provenance.get_untracked(), colors.get_untracked());
            curve.with_untracked(|curve| {
                let vocabulary = vocabulary.get_untracked();
                let file = (writers.loss)(id, curve, vocabulary, &provenance, &colors)?;
                let name = format!("unroll-loss-step{}", curve.last_step());
                Some((name, LocalFile::new(file)))
            })
        }),
    };
    vec![choice("json", "JSON"), choice("csv", "CSV"), choice("svg", "SVG"), choice("png", "PNG")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{
        color::Palette, curve::tests::falling, frame::Caption, lines_plot::lines_svg,
    };

    #[test]
    fn draws_before_and_after_training() {
        let svg = |curve| {
            let (title, source) = ("Loss".into(), String::new());
            let caption = Caption { name: "loss", title, marker: None, source };
            lines_svg(&loss_lines(&curve, 65), &caption, &Colors::new(&Palette::LIGHT))
        };
        let empty = svg(Curve::default());
        assert!(empty.contains("ln V = 4.17: knows nothing") && empty.contains("</svg>"));
        let drawn = svg(falling(300));
        assert!(drawn.contains("held-out") && drawn.matches("<circle").count() >= 10);
        assert!(!drawn.contains("each batch"));
    }

    #[test]
    fn reads_exact_values() {
        let text = reading(&falling(25), 23);
        assert!(text.starts_with("step 23: train 3.3750 (smoothed 3."), "{text}");
        assert!(text.ends_with("held-out 3.5099 (step 20)"), "{text}");
        assert_eq!(reading(&Curve::default(), 0), "step 0");
    }
}
