//! The two models side by side: their losses, and how far back their gradients reach.

use leptos::prelude::*;
use unroll_protocol::study::block::{Depths, Shown, Without};

use super::Page;
use crate::{
    controls::tiny_share,
    course::SMOOTHED,
    figures::{Dash, Hue, Line, Lines, LinesFigure, YScale, brief},
    reactive::memo,
};

/// Steps and losses.
type Curve = Vec<(f64, f64)>;

/// The series of the full model's losses, and of the other's.
const LOSSES: [&str; 2] = ["full loss", "loss without"];

/// What leaving something out costs, and what it does to the gradient.
pub fn view(page: Page) -> AnyView {
    view! {
        <div class="view-split block-halves"
            class:block-gradient-first=move || page.without.get() == Without::Residuals && page.shown.get() == Shown::Cut>
            <div>{losses(page)}</div>
            <div>{gradients(page)}</div>
        </div>
    }
    .into_any()
}

fn losses(page: Page) -> AnyView {
    let curves: Memo<[Curve; 2]> =
        memo(move || page.lab.history.with(|h| LOSSES.map(|name| h.smoothed(name))));
    let line = |name: String, hue, dash, curve: Curve| {
        let says = curve.last().map_or_else(String::new, |(_, loss)| brief(*loss));
        Line { says, ..Line::new(name, hue, dash, curve) }
    };
    let lines = memo(move || Lines {
        x_label: "step".into(),
        y_label: format!("mean of up to {SMOOTHED} losses"),
        series: curves.with(|[full, cut]| {
            vec![
                line("full".to_owned(), Hue::First, Dash::Solid, full.clone()),
                line(page.cut(), Hue::Second, Dash::Dashed, cut.clone()),
            ]
        }),
        y_scale: YScale::Close,
        x_range: Lines::steps(page.lab.step.get()),
        ..Lines::default()
    });
    let last =
        move |curve: usize| curves.with(|curves| curves[curve].last().map(|(_, loss)| *loss));
    // The lines have their numbers.
    let verdict = move || {
        let (full, cut) = last(0).zip(last(1))?;
        // Of fewer losses the mean says little.
        let enough = curves.with(|curves| curves.iter().all(|curve| curve.len() >= SMOOTHED));
        enough.then(|| match cut - full {
            gap if gap.abs() < 0.03 => "Hardly any difference so far.",
            gap if gap > 0.0 => "The full model is ahead.",
            _ => "The full model is behind so far.",
        })
    };
    view! {
        <LinesFigure name="block-loss" title="Losses of the two models, each a mean of 20 batches" lines
            hint="The losses begin at step 1." provenance=page.provenance/>
        <p class="block-verdict" data-testid="block-loss-verdict" data-full=move || last(0) data-cut=move || last(1)>
            {verdict}
        </p>
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
            let says = depths.norms.last().map_or_else(String::new, |&n| brief(f64::from(n)));
            let norms = depths.norms.iter().enumerate();
            let points = norms.map(|(depth, &n)| (depth as f64, norm(f64::from(n)))).collect();
            // As the losses: each name with the number that its line comes to.
            Line { says, ..Line::new(name, hue, dash, points) }
        };
        let looks =
            [("full".to_owned(), Hue::First, Dash::Solid), (page.cut(), Hue::Second, Dash::Dashed)];
        Lines {
            x_label: "after block".into(),
            y_label: "size of the gradient".into(),
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
            <b data-testid="block-ratio-cut" data-value=cut.to_string()>{times(cut)}</b>" "{page.cut()}". "
            {(full > 1.05).then_some("It can grow: on the way back, each layer adds a gradient of its own. ")}
            {heard(full, cut)}
        })
    };
    view! {
        <LinesFigure name="block-depth" title="The gradient, right to left" lines
            provenance=page.provenance/>
        <p class="block-verdict" data-testid="block-depth-verdict">{verdict}</p>
    }
    .into_any()
}

/// The smoothed loss of the series with this name, as it is now.
fn loss(page: Page, name: &str) -> Option<f64> {
    page.lab.history.with(|h| h.smoothed(name).last().map(|point| point.1))
}

/// The gradient before the first block, over that after the last.
pub fn reach(page: Page, model: usize) -> Option<f64> {
    page.depths.with(|depths| {
        let norms = &depths.as_ref()?.get(model)?.norms;
        Some(f64::from(*norms.first()?) / f64::from(*norms.last()?))
    })
}

/// Losses nearer to each other than this are called alike.
const ALIKE: f64 = 0.05;
/// By this step the curves of a model with attention and of one without are apart, with what is set as it
/// comes.
const APART: u32 = 400;

/// What is to be said of the gap between the losses, where the second model has no attention.
pub fn parted(page: Page) -> String {
    if page.without.get() != Without::Attention {
        return String::new();
    }
    let [Some(full), Some(cut)] = LOSSES.map(|name| loss(page, name)) else { return String::new() };
    apart(cut - full, page.lab.step.get()).to_owned()
}

/// What a gap says after so many steps.
fn apart(gap: f64, step: u32) -> &'static str {
    match gap {
        gap if gap.abs() < ALIKE && step < APART => {
            "For the first hundred steps both learn the same thing: which character follows which. Attention pays off \
             later."
        }
        gap if gap.abs() < ALIKE => "So far the two losses are still close together.",
        gap if gap > 0.0 => "The gap between the losses is what attention has brought so far.",
        _ => "The full model is behind so far.",
    }
}

/// How much of the gradient after the last block is left before the first, of the second model and of the
/// full one, in words.
pub fn left(cut: f64, full: f64) -> String {
    let second = match grown(cut) {
        Some(times) => {
            format!(
                "In your second model the gradient has grown to {times} its size by the first block."
            )
        }
        None => {
            format!(
                "In your second model {} of the gradient is left at the first block.",
                share(cut)
            )
        }
    };
    match grown(full) {
        Some(times) => format!("{second} In the full model it has grown to {times} its size."),
        None => format!("{second} In the full model {} is left.", share(full)),
    }
}

/// Less of the gradient than this is called too little.
const FAINT: f64 = 0.01;

/// In which of the models enough of the gradient arrives at the first block.
fn heard(full: f64, cut: f64) -> &'static str {
    match (full < FAINT, cut < FAINT) {
        (false, true) => {
            "Only in the full model does enough arrive for the first block to learn from."
        }
        (true, false) => {
            "Only in the second model does enough arrive for the first block to learn from."
        }
        (false, false) => "In both, enough arrives for the first block to learn from.",
        (true, true) => "In both, too little arrives for the first block to learn from.",
    }
}

/// How much the gradient has grown, where it has.
fn grown(ratio: f64) -> Option<String> {
    match ratio {
        3.0.. => Some(format!("about {ratio:.0} times")),
        1.05.. => Some(format!("about {ratio:.1} times")),
        _ => None,
    }
}

/// A share in words.
fn share(ratio: f64) -> String {
    match ratio {
        0.95.. => return "nearly all".to_owned(),
        0.0095.. => return format!("about {:.0}%", 100.0 * ratio),
        _ => {}
    }
    match tiny_share(ratio) {
        Some((1.0, name)) => format!("about one {name}th"),
        Some((count, name)) => format!("about {count} {name}ths"),
        None => "next to nothing".to_owned(),
    }
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
        format!("{:.1}\u{a0}·\u{a0}10{raised} times", ratio / 10f64.powf(exponent))
    } else {
        format!("{ratio:.2} times")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_gradient_is_said_in_words() {
        assert_eq!(
            left(4.1e-9, 8.36),
            "In your second model about 4 billionths of the gradient is left at the first block. In the full model \
             it has grown to about 8 times its size."
        );
        assert_eq!(
            left(1.3, 0.6),
            "In your second model the gradient has grown to about 1.3 times its size by the first block. In the full \
             model about 60% is left."
        );
        for (ratio, says) in [
            (0.98, "nearly all"),
            (0.012, "about 1%"),
            (0.0012, "about one thousandth"),
            (9.4e-4, "about 940 millionths"),
            (1e-20, "next to nothing"),
        ] {
            assert_eq!(share(ratio), says);
        }
    }

    #[test]
    fn a_small_gap_is_no_result() {
        assert!(apart(0.0, 80).contains("pays off later"));
        assert!(apart(0.04, 500).contains("still close"));
        assert!(apart(0.13, 427).contains("has brought"));
        assert!(apart(-0.2, 427).contains("behind"));
    }
}
