//! What positions say of each other: products, scores, and the size of an integer.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Positions,
    study::position::{COMPARED, CONTEXT, OFFSETS, Products, Scores, Swamping, ask},
};

use super::{Page, compare, encodings, look, numbered, round_up, typographic, unless_refused};
use crate::{
    figures::{
        Dash, Hue, Line, Lines, LinesFigure, Matrix, MatrixFigure, ValueMap, decimals, short,
    },
    reactive::memo,
};

/// How near two positions are, by what is added and by what a head makes of it; or, where nothing is
/// added, what the head makes of it and what comes of that.
pub fn view(page: Page) -> AnyView {
    // Where no vectors are added there is nothing to compare.
    let alone = memo(move || scores_alone(page.encoding.get()));
    let figures = move || match alone.get() {
        Some(why) => view! {
            <p class="view-note" data-testid="products-problem">{why}</p>
            <div class="view-split position-pair">
                <div>{scores(page)}</div>
                <div>{compare::curves(page)}</div>
            </div>
        }
        .into_any(),
        None => view! {
            <div class="view-split position-pair">
                <div>{products(page)}</div>
                <div>{scores(page)}</div>
            </div>
        }
        .into_any(),
    };
    view! { {encodings::chooser(page)} {figures} }.into_any()
}

/// Why an encoding has no vectors to compare; `None` where it has some.
fn scores_alone(positions: Positions) -> Option<&'static str> {
    match positions {
        Positions::None => Some("Without positions nothing is added to a token."),
        Positions::Rotary => {
            Some("Rotary positions turn queries and keys, and add nothing to a token.")
        }
        Positions::Alibi => Some("ALiBi changes the scores, and adds nothing to a token."),
        _ => None,
    }
}

/// Dot products of position vectors by offset.
fn products(page: Page) -> AnyView {
    let asked = page.ask(|s| Some(ask::Products { positions: s.encoding, at: s.at }));
    let (products, problem) = (asked.answer, asked.problem);
    // The last answer is of the encoding before, where this one has none.
    let current = memo(move || {
        products
            .get()
            .filter(|p| p.positions == page.encoding.get() && problem.with(Option::is_none))
    });
    let lines = memo(move || current.get().map_or(Lines::default(), |p| by_offset(&p)));
    view! {
        <LinesFigure name="position-products" title="How near positions are: PE(p) · PE(p + offset)" lines provenance=page.provenance
            hint="Nothing to multiply here."/>
        <p class="field-error" role="alert" data-testid="products-problem">{move || problem.get().as_deref().map(typographic)}</p>
        <p class="view-note" data-testid="products-verdict">{move || current.get().map(|p| apart(&p))}</p>
    }
    .into_any()
}

fn by_offset(products: &Products) -> Lines {
    let looks =
        [(Hue::First, Dash::Solid), (Hue::Second, Dash::Dashed), (Hue::Third, Dash::Dotted)];
    let lines = products.lines.iter().zip(looks).map(|((p, points), (hue, dash))| {
        Line::new(
            format!("p = {p}"),
            hue,
            dash,
            points.iter().map(|(offset, product)| (f64::from(*offset), *product)).collect(),
        )
    });
    let reach = f64::from(OFFSETS);
    Lines {
        x_label: "offset".into(),
        y_label: "dot product".into(),
        series: lines.collect(),
        x_range: Some((-reach, reach)),
        ..Lines::default()
    }
}

/// Whether the lines coincide.
fn apart(products: &Products) -> String {
    let mut most = 0f64;
    for (_, line) in &products.lines {
        for (offset, value) in line {
            for (_, other) in &products.lines {
                let same = other.iter().find(|point| point.0 == *offset);
                most = most.max(same.map_or(0.0, |point| (point.1 - value).abs()));
            }
        }
    }
    match products.positions {
        Positions::Sinusoidal => format!(
            "Every p has the same curve, up to {} of rounding: the product is a sum of cos(offset · speed), and p is not in it.",
            short(most)
        ),
        _ => format!(
            "Each p has its own curve, up to {} apart at the same offset: how near two positions seem depends on \
             where they are.",
            short(most)
        ),
    }
}

/// Scores of one symbol with itself, everywhere: its query and key differ by position alone.
pub fn scores(page: Page) -> AnyView {
    let asked = page.ask(|s| Some(ask::Scores { positions: s.encoding }));
    let (scores, problem) = (asked.answer, asked.problem);
    let matrix = memo(move || scores.get().map_or(Matrix::default(), |s| of_head(&s)));
    unless_refused(problem, "scores-problem", move || {
        view! {
            <MatrixFigure name="position-scores" title="Head 1: scores of one symbol with itself" matrix
                describe=numbered(matrix) provenance=page.provenance/>
            <p class="view-note" data-testid="scores-verdict">{move || scores.get().map(|s| drifted(&s))}</p>
        }
        .into_any()
    })
}

fn of_head(scores: &Scores) -> Matrix {
    let length = scores.scores.shape.last().copied().unwrap_or(0);
    let values = scores.scores.block(&[0]).unwrap_or_default().to_vec();
    let limit = round_up(values.iter().fold(0f32, |most, v| most.max(v.abs())).max(0.01));
    let names: Vec<String> = (0..length).map(|position| position.to_string()).collect();
    Matrix {
        row_axis: "query at".into(),
        column_axis: "key at".into(),
        rows: names.clone(),
        columns: names,
        values,
        map: ValueMap::Signed { limit },
        value_name: "score".into(),
        absent: String::new(),
    }
}

fn drifted(scores: &Scores) -> AnyView {
    let most = |values: &[f32]| f64::from(values.iter().copied().fold(0.0, f32::max));
    let (drift, spread) = (most(&scores.drift), most(&scores.spread));
    let means = if spread < 1e-4 {
        "all scores are the same, so nothing here knows a position."
    } else if drift < 1e-3 * spread {
        "each diagonal is the same up to rounding: the score depends on the offset alone, wherever the two stand."
    } else {
        "scores differ along a diagonal: they depend on the places, not on the offset alone."
    };
    view! {
        "At the same offset scores differ by at most "
        <b data-testid="scores-drift" data-value=drift.to_string()>{short(drift)}</b>
        ", and over all offsets by at most "
        <b data-testid="scores-spread" data-value=spread.to_string()>{short(spread)}</b>
        {format!(" (all heads). {}: {means}", scores.positions.label())}
    }
    .into_any()
}

/// Why a raw integer is a bad idea.
pub fn swamping(page: Page) -> AnyView {
    let asked = page.ask(|_| Some(ask::Swamping {}));
    let (swamping, problem) = (asked.answer, asked.problem);
    let lines = memo(move || swamping.get().map_or(Lines::default(), |s| likeness(&s)));
    view! {
        <LinesFigure name="position-swamping" title="How alike two symbols look to the model" lines provenance=page.provenance/>
        <p class="field-error" role="alert">{problem}</p>
        <div class="view-note" data-testid="swamping-verdict">{move || swamping.get().map(|s| swamped(&s))}</div>
    }
    .into_any()
}

/// The lines' names in the engine, and whose they are. What is not here is told in words.
const LIKENESSES: [(&str, Positions); 3] = [
    ("integer, in one dimension", Positions::Integer),
    ("sinusoidal", Positions::Sinusoidal),
    ("learned", Positions::Learned),
];

fn likeness(swamping: &Swamping) -> Lines {
    // Where the sinusoidal model is refused, its line is not there.
    let line = |(name, positions): &(&str, Positions)| {
        let (_, cosines) = swamping.lines.iter().find(|line| line.0 == *name)?;
        let (hue, dash) = look(*positions);
        let points = cosines.iter().enumerate().map(|(p, c)| (p as f64, f64::from(*c))).collect();
        let name = match positions {
            Positions::Learned => format!("Learned (to {})", CONTEXT - 1),
            other => other.label().to_owned(),
        };
        Some(Line::new(name, hue, dash, points))
    };
    Lines {
        x_label: "position".into(),
        y_label: "cosine".into(),
        series: LIKENESSES.iter().filter_map(line).collect(),
        y_range: Some((-1.0, 1.0)),
        ..Lines::default()
    }
}

fn swamped(swamping: &Swamping) -> AnyView {
    let [a, b] = &swamping.symbols;
    let last = swamping.lines.first().and_then(|line| line.1.last()).copied();
    let (all, one) = (f64::from(swamping.moved_by_all), f64::from(swamping.moved_by_one));
    view! {
        <p>
            {format!(
                "A cosine of 1 means the same direction. At position {} the cosine of ‘{a}’ and ‘{b}’ is {} in the integer model.",
                COMPARED - 1,
                decimals(last.unwrap_or(f32::NAN), 2)
            )}
        </p>
        <details class="disclosure">
            <summary>"Why add it to one dimension only?"</summary>
            <p>
                "Added to every dimension, it would be lost: LayerNorm subtracts the mean, and its output for ‘"{a.clone()}"’ moves by "
                <b data-testid="swamping-all" data-value=all.to_string()>{short(all)}</b>
                ". Added to dimension 0 alone, it moves that output by "
                <b data-testid="swamping-one" data-value=one.to_string()>{short(one)}</b>"."
            </p>
        </details>
    }
    .into_any()
}
