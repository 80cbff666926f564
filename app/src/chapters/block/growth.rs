//! How long the terms of the full model's stream became over training.

use leptos::prelude::*;
use unroll_protocol::study::block::{Growth, LAYERS, Source};

use super::{Page, stream::short};
use crate::{
    figures::{Dash, Hue, Line, Lines, LinesFigure},
    reactive::memo,
};

pub fn view(page: Page) -> AnyView {
    let lines = memo(move || {
        page.growth.with(|growth| growth.as_ref().map_or_else(Lines::default, |g| lines(g)))
    });
    let note = move || {
        let passage = page.growth.with(|growth| Some(growth.as_ref()?.passage.clone()))?;
        Some(format!(
            "Each length is the mean over the characters of one held-out text, the same at every step: “{}”",
            passage.replace('\n', "↵")
        ))
    };
    let verdict = move || {
        if page.lab.shown() == 0 {
            return Some(
                "These are the lengths before training. Train to see the lines grow.".to_owned(),
            );
        }
        page.growth.with(|growth| Some(format!("In this run, {}.", woke(growth.as_ref()?))))
    };
    view! {
        <LinesFigure name="block-growth" title="Length of every term over training, full model" lines
            provenance=page.provenance/>
        <p class="block-verdict" data-testid="block-growth-verdict">{verdict}</p>
        <p class="panel-note" data-testid="block-growth-passage">{note}</p>
    }
    .into_any()
}

fn lines(growth: &Growth) -> Lines {
    let line = |(term, source): (usize, &Source)| {
        let points =
            growth.points().map(|(step, lengths)| (f64::from(step), f64::from(lengths[term])));
        let (hue, dash, faded) = look(*source);
        Line { faded, ..Line::new(short(*source), hue, dash, points.collect()) }
    };
    Lines {
        x_label: "step".into(),
        y_label: "mean length of the term".into(),
        series: growth.sources.iter().enumerate().map(line).collect(),
        x_range: Lines::steps(growth.steps.last().copied().unwrap_or(0)),
        ..Lines::default()
    }
}

/// How much paler the last block's lines are than the first's.
const PALEST: f64 = 0.55;

/// No two terms look alike: the color tells the kind, and the deeper the block, the paler it is. The
/// dashes tell neighbors apart.
fn look(source: Source) -> (Hue, Dash, f64) {
    let of_block = |block: u32, hue: Hue| {
        let place = block.saturating_sub(1);
        let dash = [Dash::Solid, Dash::Dashed, Dash::Dotted][place as usize % 3];
        (hue, dash, PALEST * (f64::from(place) / f64::from(LAYERS.max(2) - 1)).min(1.0))
    };
    match source {
        Source::Token => (Hue::Input, Dash::Solid, 0.0),
        Source::Position => (Hue::Input, Dash::Dashed, 0.0),
        Source::Attention(block) => of_block(block, Hue::Query),
        Source::FeedForward(block) => of_block(block, Hue::Weight),
        Source::NormOffsets => (Hue::Muted, Dash::Mixed, 0.0),
    }
}

/// The first layer whose term outgrew the token embedding, in words.
pub fn woke(growth: &Growth) -> String {
    first_longer(growth).map_or_else(
        || "no layer is awake yet".to_owned(),
        |(source, step)| format!("“{}” was the first to wake, at step {step}", source.name()),
    )
}

/// The first layer measured with a term longer than the token embedding, and the step; of several,
/// the longest.
fn first_longer(growth: &Growth) -> Option<(Source, u32)> {
    let token = growth.sources.iter().position(|source| *source == Source::Token)?;
    growth.points().find_map(|(step, lengths)| {
        let longer = growth.sources.iter().zip(lengths).filter(|(source, length)| {
            matches!(source, Source::Attention(_) | Source::FeedForward(_))
                && **length > lengths[token]
        });
        longer.max_by(|a, b| a.1.total_cmp(b.1)).map(|(source, _)| (*source, step))
    })
}

/// The layer or embedding whose term gained most length since step 0, with its lengths then and now;
/// `None` before training.
pub fn gained_most(growth: &Growth) -> Option<(Source, f32, f32)> {
    let (_, first) = growth.points().next()?;
    let (step, last) = growth.points().next_back()?;
    let terms = growth.sources.iter().zip(first.iter().zip(last));
    let terms = terms.filter(|(source, _)| **source != Source::NormOffsets);
    let most = terms.max_by(|(_, a), (_, b)| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    most.filter(|_| step > 0).map(|(source, (first, last))| (*source, *first, *last))
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    fn grown() -> Growth {
        let sources = vec![Source::Token, Source::Attention(1), Source::FeedForward(1)];
        let values = vec![1.0, 0.1, 0.2, 1.5, 1.6, 1.7, 4.0, 0.9, 2.0];
        let lengths = Array { shape: vec![3, 3], values };
        Growth { passage: String::new(), sources, steps: vec![0, 8, 12], lengths }
    }

    #[test]
    fn terms_are_told_by_what_they_gained() {
        let growth = grown();
        assert_eq!(first_longer(&growth), Some((Source::FeedForward(1), 8)));
        assert_eq!(gained_most(&growth), Some((Source::Token, 1.0, 4.0)));
        let start = Growth {
            steps: vec![0],
            lengths: Array { shape: vec![1, 3], values: growth.lengths.values[..3].to_vec() },
            ..growth
        };
        assert_eq!(gained_most(&start), None);
        assert_eq!(woke(&start), "no layer is awake yet");
    }

    #[test]
    fn every_term_has_a_line_of_its_own_look() {
        let lines = lines(&grown());
        assert_eq!(
            lines.series[2].points,
            [(0.0, 0.2f32), (8.0, 1.7), (12.0, 2.0)].map(|(x, y)| (x, f64::from(y)))
        );
        let layers = (1..=LAYERS).flat_map(|b| [Source::Attention(b), Source::FeedForward(b)]);
        let all = [Source::Token, Source::Position, Source::NormOffsets].into_iter().chain(layers);
        let looks: Vec<_> = all.map(look).collect();
        assert!((1..looks.len()).all(|i| !looks[..i].contains(&looks[i])));
        // Of one kind are those of one color, whatever their block, and the deeper the paler.
        let kind = |block| look(Source::FeedForward(block));
        assert!((1..LAYERS).all(|b| kind(b).0 == kind(b + 1).0 && kind(b).2 < kind(b + 1).2));
    }
}
