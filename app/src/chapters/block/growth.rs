//! How long the terms of the full model's stream became over training.

use leptos::prelude::*;
use unroll_protocol::study::block::{Growth, LAYERS, Source};

use super::{Page, stream::short};
use crate::{
    figures::{Dash, Hue, Line, Lines, LinesFigure, Stroke, YScale},
    reactive::memo,
};

pub fn view(page: Page) -> AnyView {
    let lines = memo(move || {
        let growth = page.growth.get();
        growth.map_or_else(Lines::default, |g| page.wakings.with(|wakings| lines(&g, wakings)))
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
        let growth = page.growth.get()?;
        Some(page.wakings.with(|wakings| order(&growth, wakings)))
    };
    view! {
        <LinesFigure name="block-growth" title="Length of every term over training, full model" lines
            provenance=page.provenance/>
        <p class="block-verdict" data-testid="block-growth-verdict">{verdict}</p>
        <p class="panel-note" data-testid="block-growth-passage">{note}</p>
    }
    .into_any()
}

/// From this step on the axis goes by equal factors: layers wake early.
const BY_FACTORS: u32 = 10;

fn lines(growth: &Growth, wakings: &Wakings) -> Lines {
    let last = growth.steps.last().copied().unwrap_or(0);
    let x_log = last >= BY_FACTORS;
    let line = |(term, source): (usize, &Source)| {
        let woke = when(wakings, *source);
        // Step 0 has no place on such an axis.
        let points = growth.points().filter(|(step, _)| !x_log || *step > 0);
        let points = points.flat_map(|(step, lengths)| {
            let point = (f64::from(step), f64::from(lengths[term]));
            // A point between gaps is marked with a dot.
            let gap = (point.0, f64::NAN);
            let dot = [point, gap, point, gap, point];
            dot.into_iter().take(if woke == Some(step) { dot.len() } else { 1 })
        });
        let (hue, dash, faded) = look(*source);
        let line = Line::new(short(*source), hue, dash, points.collect());
        // The one that the others are measured by stands out.
        let stroke = if *source == Source::Token { Stroke::Smooth } else { Stroke::Marked };
        Line { faded, stroke, ..line }
    };
    let x_range = Lines::steps(last);
    Lines {
        x_label: "step".into(),
        y_label: "mean length of the term".into(),
        series: growth.sources.iter().enumerate().map(line).collect(),
        // The crossings are where all are small.
        y_scale: YScale::Log,
        x_log,
        x_range: if x_log { x_range.map(|(_, end)| (1.0, end)) } else { x_range },
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

/// Layers whose terms outgrew the token embedding, each with the first step where one was longer.
pub type Wakings = Vec<(Source, u32)>;

/// When this layer woke.
fn when(wakings: &Wakings, layer: Source) -> Option<u32> {
    wakings.iter().find(|(source, _)| *source == layer).map(|(_, step)| *step)
}

/// Whether the two layers of a block woke in their order, in words.
pub fn woke(wakings: &Wakings) -> String {
    if wakings.is_empty() {
        return "no layer is awake yet".to_owned();
    }
    let in_order = |block: &u32| {
        let step = |layer| when(wakings, layer).unwrap_or(u32::MAX);
        step(Source::Attention(*block)) < step(Source::FeedForward(*block))
    };
    let count = match (1..=LAYERS).filter(in_order).count() {
        0 => "none".to_owned(),
        count => count.to_string(),
    };
    format!("attention woke before feed-forward in {count} of the {LAYERS} blocks")
}

/// What the dots say, in words.
fn order(growth: &Growth, wakings: &Wakings) -> String {
    const DOT: &str = "A dot marks when a term first grew longer than the token embedding";
    let Some((first, (last, now))) = wakings.first().zip(growth.points().next_back()) else {
        return format!("{DOT}: none so far.");
    };
    let (step, awake) = (first.1, wakings.len());
    let together = wakings.iter().take_while(|waking| waking.1 == step);
    let names: Vec<_> = together.map(|waking| short(waking.0)).collect();
    let later = match awake - names.len() {
        0 => String::new(),
        more => format!(", and {more} more by step {}", wakings[awake - 1].1),
    };
    let longer = longer(growth, now).len();
    format!(
        "{DOT}: {} at step {step}{later}. Still longer at step {last}: {longer} of these {awake}.",
        names.join(", ")
    )
}

/// The layers whose terms are longer than the token embedding, where the terms have these lengths.
fn longer(growth: &Growth, lengths: &[f32]) -> Vec<Source> {
    let terms = || growth.sources.iter().copied().zip(lengths);
    let Some((_, token)) = terms().find(|term| term.0 == Source::Token) else { return Vec::new() };
    let is_layer = |source| matches!(source, Source::Attention(_) | Source::FeedForward(_));
    terms().filter(|term| is_layer(term.0) && term.1 > token).map(|term| term.0).collect()
}

/// In the order in which the layers woke.
pub fn wakings(growth: &Growth) -> Wakings {
    let mut wakings = Wakings::new();
    for (step, lengths) in growth.points() {
        let mut now = longer(growth, lengths);
        now.retain(|layer| when(&wakings, *layer).is_none());
        wakings.extend(now.into_iter().map(|layer| (layer, step)));
    }
    wakings
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
        let both = vec![(Source::Attention(1), 8), (Source::FeedForward(1), 8)];
        assert_eq!(wakings(&growth), both);
        assert!(order(&growth, &both).ends_with(
            "embedding: attn 1, feed 1 at step 8. Still longer at step 12: 0 of these 2."
        ));
        assert!(woke(&both).ends_with("in none of the 6 blocks"));
        let later = vec![both[0], (both[1].0, 9)];
        assert!(order(&growth, &later).contains(": attn 1 at step 8, and 1 more by step 9."));
        assert!(woke(&later).ends_with("in 1 of the 6 blocks"));
        assert_eq!(gained_most(&growth), Some((Source::Token, 1.0, 4.0)));
        let start = Growth {
            steps: vec![0],
            lengths: Array { shape: vec![1, 3], values: growth.lengths.values[..3].to_vec() },
            ..growth
        };
        assert_eq!(gained_most(&start), None);
        assert_eq!(woke(&wakings(&start)), "no layer is awake yet");
    }

    #[test]
    fn every_term_has_a_line_of_its_own_look() {
        let lines = lines(&grown(), &wakings(&grown()));
        assert_eq!(lines.x_range, Some((1.0, 12.0)));
        assert_eq!(lines.series[0].points, [(8.0, 1.5), (12.0, 4.0)]);
        // Where it woke a dot, between two gaps.
        let gaps = lines.series[2].points.iter().filter(|point| point.1.is_nan()).count();
        assert_eq!((gaps, lines.series[2].at(8.0)), (2, Some((8.0, f64::from(1.7f32)))));
        let layers = (1..=LAYERS).flat_map(|b| [Source::Attention(b), Source::FeedForward(b)]);
        let all = [Source::Token, Source::Position, Source::NormOffsets].into_iter().chain(layers);
        let looks: Vec<_> = all.map(look).collect();
        assert!((1..looks.len()).all(|i| !looks[..i].contains(&looks[i])));
        // Of one kind are those of one color, whatever their block, and the deeper the paler.
        let kind = |block| look(Source::FeedForward(block));
        assert!((1..LAYERS).all(|b| kind(b).0 == kind(b + 1).0 && kind(b).2 < kind(b + 1).2));
    }
}
