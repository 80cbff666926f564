//! The two models side by side: their losses, and how far back their gradients reach.

use leptos::prelude::*;
use unroll_protocol::study::block::Depths;

use super::Page;
use crate::{
    figures::{Dash, Hue, Line, Lines, LinesFigure, YScale},
    reactive::memo,
};

/// Steps and losses.
type Curve = Vec<(f64, f64)>;

/// The series of the full model's losses, and of the other's.
pub const LOSSES: [&str; 2] = ["full loss", "loss without"];
/// Losses a point of the curve is the mean of.
const SMOOTHED: usize = 20;

/// The curve of the series with this name, every point the mean of the last few: batches are small
/// and their losses noisy.
fn smoothed(page: Page, name: &str) -> Curve {
    let points = page.lab.history.with(|h| h.named(name).map_or(Vec::new(), |s| s.points()));
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

/// What leaving something out costs, and what it does to the gradient.
pub fn view(page: Page) -> AnyView {
    view! {
        <div class="view-split block-halves">
            <div>{losses(page)}</div>
            <div>{gradients(page)}</div>
        </div>
    }
    .into_any()
}

fn losses(page: Page) -> AnyView {
    let curves: Memo<[Curve; 2]> = memo(move || LOSSES.map(|name| smoothed(page, name)));
    let lines = memo(move || Lines {
        x_label: "step".into(),
        y_label: format!("loss, mean of {SMOOTHED} batches"),
        series: vec![
            Line::new("full", Hue::Ink, Dash::Solid, curves.with(|curves| curves[0].clone())),
            Line::new(
                page.cut(),
                Hue::Weight,
                Dash::Dashed,
                curves.with(|curves| curves[1].clone()),
            ),
        ],
        x_range: Lines::steps(page.lab.step.get()),
        ..Lines::default()
    });
    let verdict = move || {
        let last = |curve: usize| curves.with(|curves| curves[curve].last().map(|(_, loss)| *loss));
        let (full, cut) = last(0).zip(last(1))?;
        let how = match cut - full {
            gap if gap.abs() < 0.03 => "hardly any difference so far",
            gap if gap > 0.0 => "the full model is ahead",
            _ => "the full model is behind so far",
        };
        Some(view! {
            "Full: "<b data-testid="block-loss-full" data-value=full.to_string()>{format!("{full:.3}")}</b>"; "
            {page.cut()}": "<b data-testid="block-loss-cut" data-value=cut.to_string()>{format!("{cut:.3}")}</b>
            ": "{how}"."
        })
    };
    view! {
        <LinesFigure name="block-loss" title="Losses of the two models" lines
            provenance=page.provenance/>
        <p class="block-verdict" data-testid="block-loss-verdict">{verdict}</p>
    }
    .into_any()
}

fn gradients(page: Page) -> AnyView {
    let depths = page.depths;
    let lines = memo(move || {
        let Some(depths) = depths.get() else { return Lines::default() };
        let line = |depths: &Depths, name: String, hue, dash| {
            // A gradient of exactly 0 has no place on a logarithmic axis.
            let norm = |norm: f64| if norm > 0.0 { norm } else { f64::NAN };
            let norms = depths.norms.iter().enumerate();
            let points = norms.map(|(depth, &n)| (depth as f64, norm(f64::from(n)))).collect();
            Line::new(name, hue, dash, points)
        };
        let looks =
            [("full".to_owned(), Hue::Ink, Dash::Solid), (page.cut(), Hue::Gradient, Dash::Dashed)];
        Lines {
            x_label: "blocks passed".into(),
            y_label: "length of dL/dx".into(),
            y_scale: YScale::Log,
            x_range: Some((0.0, f64::from(unroll_protocol::study::block::LAYERS))),
            series: depths
                .iter()
                .zip(looks)
                .map(|(depths, (name, hue, dash))| line(depths, name, hue, dash))
                .collect(),
            ..Lines::default()
        }
    });
    let verdict = move || {
        let (full, cut) = (reach(page, 0)?, reach(page, 1)?);
        Some(view! {
            "Before the first block the gradient is "
            <b data-testid="block-ratio-full" data-value=full.to_string()>{times(full)}</b>
            " what it is after the last in the full model, and "
            <b data-testid="block-ratio-cut" data-value=cut.to_string()>{times(cut)}</b>" "{page.cut()}"."
        })
    };
    view! {
        <LinesFigure name="block-depth" title="How far back the gradient reaches" lines
            provenance=page.provenance/>
        <p class="block-verdict" data-testid="block-depth-verdict">{verdict}</p>
    }
    .into_any()
}

/// The smoothed loss of the series with this name, as it is now.
pub fn loss(page: Page, name: &str) -> Option<f64> {
    smoothed(page, name).last().map(|point| point.1)
}

/// The gradient before the first block, over that after the last.
pub fn reach(page: Page, model: usize) -> Option<f64> {
    page.depths.with(|depths| {
        let norms = &depths.as_ref()?.get(model)?.norms;
        Some(f64::from(*norms.first()?) / f64::from(*norms.last()?))
    })
}

/// A factor, in powers of ten where it is tiny.
pub fn times(ratio: f64) -> String {
    if ratio < 0.001 {
        let exponent = ratio.log10().floor();
        let raised: String = format!("{exponent}")
            .chars()
            .map(|c| match c {
                '-' => '⁻',
                digit => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize - '0' as usize).unwrap_or(digit),
            })
            .collect();
        format!("{:.1} · 10{raised} times", ratio / 10f64.powf(exponent))
    } else {
        format!("{ratio:.3} times")
    }
}
