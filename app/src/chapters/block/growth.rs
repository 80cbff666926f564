//! How long the terms of the full model's stream became over training.

use leptos::prelude::*;
use unroll_protocol::study::block::{Growth, LAYERS, Source};

use super::{Page, stream::short, wiring::block};
use crate::{
    figures::{Matrix, MatrixFigure, ValueMap, brief},
    reactive::memo,
};

const TITLE: &str = "Length of every term over training, full model";

pub fn view(page: Page) -> AnyView {
    let shown = memo(move || {
        let growth = page.growth.get();
        growth.map_or_else(Shown::default, |g| page.wakings.with(|wakings| Shown::new(&g, wakings)))
    });
    let describe = Callback::new(move |(row, column, _)| {
        shown.with_untracked(|shown| shown.describe(row, column))
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
                "These are the lengths before training. Train to see the terms grow.".to_owned(),
            );
        }
        let growth = page.growth.get()?;
        page.wakings.with(|wakings| order(&growth, wakings))
    };
    view! {
        // What the beat asks for stands between the title and the picture, in sight on every screen.
        <div class="block-growth-head">
            <h3 class="figure-title">{TITLE}</h3>
            <p class="block-verdict" data-testid="block-growth-verdict">{verdict}</p>
        </div>
        <MatrixFigure name="block-growth" title=TITLE
            matrix=Signal::derive(move || shown.with(|shown| shown.matrix.clone()))
            dotted=Signal::derive(move || shown.with(|shown| shown.woke.clone()))
            groups=Signal::derive(move || shown.with(|shown| shown.groups.clone()))
            describe hint="Equal steps in color are equal factors (a log scale). Dots: first longer than the token embedding."
            provenance=page.provenance small=true/>
        <p class="panel-note" data-testid="block-growth-passage">{note}</p>
    }
    .into_any()
}

/// More columns than this would be too narrow to be pointed at.
const MOST_COLUMNS: usize = 30;

/// The terms in their order in the stream, by steps.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shown {
    matrix: Matrix,
    sources: Vec<Source>,
    steps: Vec<u32>,
    /// Where layers woke.
    woke: Vec<(usize, usize)>,
    /// First rows of a block.
    groups: Vec<usize>,
}

impl Shown {
    fn new(growth: &Growth, wakings: &Wakings) -> Self {
        let sources = growth.sources.clone();
        let columns = columns(&growth.steps, wakings);
        let points: Vec<_> = growth.points().collect();
        let length = |term: usize, column: &usize| {
            points.get(*column).map_or(f32::NAN, |(_, lengths)| lengths[term])
        };
        let values: Vec<f32> = (0..sources.len())
            .flat_map(|term| columns.iter().map(move |column| length(term, column)))
            .collect();
        let steps: Vec<u32> = columns.iter().map(|column| growth.steps[*column]).collect();
        let place = |(row, source): (usize, &Source)| {
            let step = when(wakings, *source)?;
            Some((row, steps.iter().position(|at| *at == step)?))
        };
        let begins = |row: &usize| block(sources[*row]) != block(sources[row - 1]);
        Self {
            woke: sources.iter().enumerate().filter_map(place).collect(),
            groups: (1..sources.len()).filter(begins).collect(),
            matrix: Matrix {
                row_axis: "term".into(),
                column_axis: "step".into(),
                rows: sources.iter().map(|source| short(*source)).collect(),
                columns: steps.iter().map(|step| format!("step {step}")).collect(),
                // They grow a hundredfold, and wake while all are small.
                map: ValueMap::factors_of(&values),
                values,
                value_name: "length (log scale)".into(),
                absent: String::new(),
            },
            sources,
            steps,
        }
    }

    fn describe(&self, row: usize, column: usize) -> String {
        let read = || Some((self.sources.get(row)?, self.steps.get(column)?));
        let Some((source, step)) = read() else { return String::new() };
        let length = |row: usize| brief(self.matrix.value(row, column).into());
        let token = self.sources.iter().position(|source| *source == Source::Token);
        let token = token.filter(|token| *token != row);
        let token = token.map_or_else(String::new, |token| {
            let woke = if self.woke.contains(&(row, column)) { " First longer here." } else { "" };
            format!(" (token embedding {}).{woke}", length(token))
        });
        format!("{}, step {step}: length {}{token}", short(*source), length(row))
    }
}

/// Which of the steps have a column: all where these are few, else ever fewer of the later ones. The last has
/// one, and so has each where a layer woke; the first, before training, only where there is no other: its
/// lengths are so small that the scale would have little left for the rest.
fn columns(steps: &[u32], wakings: &Wakings) -> Vec<usize> {
    let apart = |factor: f64| {
        let mut next = 0.0;
        let is_shown = |at: &usize| {
            let step = f64::from(steps[*at]);
            let is_due = step >= next;
            if is_due {
                next = step * factor;
            }
            (is_due && step > 0.0)
                || at + 1 == steps.len()
                || wakings.iter().any(|waking| waking.1 == steps[*at])
        };
        (0..steps.len()).filter(is_shown).collect::<Vec<_>>()
    };
    let mut factor = 1.0;
    loop {
        let columns = apart(factor);
        if columns.len() <= MOST_COLUMNS || factor > 3.0 {
            return columns;
        }
        factor += 0.02;
    }
}

/// Layers whose terms outgrew the token embedding, each with the first step where one was longer.
pub type Wakings = Vec<(Source, u32)>;

/// When this layer woke.
fn when(wakings: &Wakings, layer: Source) -> Option<u32> {
    wakings.iter().find(|(source, _)| *source == layer).map(|(_, step)| *step)
}

/// Whether the two layers of a block outgrew the token embedding in their order, in words.
pub fn woke(wakings: &Wakings) -> String {
    if wakings.is_empty() {
        return "no layer has outgrown the token embedding yet".to_owned();
    }
    let in_order = |block: &u32| {
        let step = |layer| when(wakings, layer).unwrap_or(u32::MAX);
        step(Source::Attention(*block)) < step(Source::FeedForward(*block))
    };
    let count = match (1..=LAYERS).filter(in_order).count() {
        0 => "none".to_owned(),
        count => count.to_string(),
    };
    format!(
        "attention outgrew the token embedding before feed-forward did in {count} of the {LAYERS} blocks"
    )
}

/// Which layer's term is the longest by now, and what its dot says, in words.
fn order(growth: &Growth, wakings: &Wakings) -> Option<String> {
    let (last, now) = growth.points().next_back()?;
    let terms = || growth.sources.iter().copied().zip(now.iter().copied());
    let layers = terms().filter(|term| is_layer(term.0));
    let (longest, length) = layers.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let token = terms().find(|term| term.0 == Source::Token)?.1;
    let dot = match (when(wakings, longest), wakings.first()) {
        (_, None) => "No layer has outgrown the token embedding yet.".to_owned(),
        (None, Some(_)) => "It has not outgrown the token embedding so far.".to_owned(),
        (Some(step), Some((_, first))) if step == *first => {
            let count = wakings.iter().filter(|waking| waking.1 == step).count();
            let place = if count == 1 { "the first" } else { "among the first" };
            format!("It was {place} to outgrow the token embedding, at step {step}.")
        }
        (Some(step), Some((_, first))) => {
            let earlier = wakings.iter().filter(|waking| waking.1 < step).count();
            format!(
                "It outgrew the token embedding at step {step}: {earlier} had done so before, the first at step {first}."
            )
        }
    };
    Some(format!(
        "Longest layer at step {last}: {}, length {} (token embedding {}). {dot}",
        short(longest),
        brief(length.into()),
        brief(token.into())
    ))
}

fn is_layer(source: Source) -> bool {
    matches!(source, Source::Attention(_) | Source::FeedForward(_))
}

/// The layers whose terms are longer than the token embedding, where the terms have these lengths.
fn longer(growth: &Growth, lengths: &[f32]) -> Vec<Source> {
    let terms = || growth.sources.iter().copied().zip(lengths);
    let Some((_, token)) = terms().find(|term| term.0 == Source::Token) else { return Vec::new() };
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
        let said = |wakings: &Wakings| order(&growth, wakings).expect("a step");
        assert_eq!(
            said(&both),
            "Longest layer at step 12: feed 1, length 2 (token embedding 4). It was among the first to outgrow the \
             token embedding, at step 8."
        );
        assert!(woke(&both).ends_with("in none of the 6 blocks"));
        let later = vec![both[0], (both[1].0, 9)];
        assert!(said(&later).ends_with("at step 9: 1 had done so before, the first at step 8."));
        assert!(said(&vec![both[0]]).ends_with("It has not outgrown the token embedding so far."));
        assert!(said(&Vec::new()).ends_with("No layer has outgrown the token embedding yet."));
        assert!(woke(&later).ends_with("in 1 of the 6 blocks"));
        assert_eq!(gained_most(&growth), Some((Source::Token, 1.0, 4.0)));
        let start = Growth {
            steps: vec![0],
            lengths: Array { shape: vec![1, 3], values: growth.lengths.values[..3].to_vec() },
            ..growth
        };
        assert_eq!(gained_most(&start), None);
        assert_eq!(woke(&wakings(&start)), "no layer has outgrown the token embedding yet");
    }

    #[test]
    fn terms_keep_their_order_and_have_a_dot_where_they_woke() {
        let growth = grown();
        let shown = Shown::new(&growth, &wakings(&growth));
        assert_eq!(shown.matrix.rows, ["token", "attn 1", "feed 1"]);
        assert_eq!(
            (shown.steps.clone(), &shown.matrix.values[..2]),
            (vec![8, 12], &[1.5, 4.0][..])
        );
        assert_eq!((shown.woke.clone(), shown.groups.clone()), (vec![(1, 0), (2, 0)], vec![1]));
        assert_eq!(
            shown.describe(1, 0),
            "attn 1, step 8: length 1.6 (token embedding 1.5). First longer here."
        );
        assert_eq!(shown.describe(0, 1), "token, step 12: length 4");
        assert_eq!(Shown::new(&Growth::default(), &Vec::new()).matrix.shape(), (0, 0));
    }

    #[test]
    fn there_are_few_columns_and_a_dot_always_has_one() {
        let steps: Vec<u32> = (0..2000).filter(|step| *step < 300 || step % 17 == 0).collect();
        let woke = vec![(Source::Attention(1), 3), (Source::FeedForward(1), 277)];
        let columns: Vec<u32> =
            columns(&steps, &woke).into_iter().map(|column| steps[column]).collect();
        assert!((20..=MOST_COLUMNS).contains(&columns.len()), "{columns:?}");
        assert_eq!(columns[..4], [1, 2, 3, 4]);
        assert!(columns.contains(&277) && columns.last() == steps.last());
        assert_eq!(super::columns(&steps[..20], &woke).len(), 19);
        assert_eq!(super::columns(&steps[..1], &Vec::new()), [0]);
    }
}
