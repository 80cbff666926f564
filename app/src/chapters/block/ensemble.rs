//! Dropout: many sub-networks in one.

use leptos::prelude::*;
use unroll_protocol::study::block::{Ensemble, MASKS, ask};

use super::Page;
use crate::{
    controls::SliderField,
    course::{Sentence, use_setting},
    figures::{ColumnStrip, Matrix, MatrixFigure, ValueMap, largest, percent, token::mark},
    questions::use_answer,
    reactive::memo,
};

/// Likeliest tokens on show.
const TOP: usize = 8;
/// Height of the bars over the columns, in CSS pixels.
const BARS: f64 = 56.0;
/// A narrower column has no room for its bar's number.
const NUMBERED: f64 = 34.0;

pub fn view(page: Page) -> AnyView {
    let dropout = use_setting(|link| &mut link.block.dropout);
    let answered = use_answer(page.lab, move || {
        let text = page.store.probe.get();
        Some(ask::Ensemble { text, position: page.position.get(), dropout: dropout.get() })
    });
    let ensemble = memo(move || answered.read(Clone::clone));
    let matrix = memo(move || {
        ensemble.with(|e| {
            page.vocabulary.with(|v| e.as_ref().map_or_else(Matrix::default, |e| matrix(e, v)))
        })
    });
    let describe = Callback::new(move |(row, column, off): (usize, usize, f32)| {
        let (matrix, full) =
            (matrix.get_untracked(), ensemble.with_untracked(|e| Some(e.as_ref()?.full.clone())));
        let full =
            full.and_then(|full| largest(&full, TOP).get(row).map(|t| t.1)).unwrap_or_default();
        let name = |of: &[String], at: usize| of.get(at).cloned().unwrap_or_default();
        format!(
            "{}, ‘{}’: {}, full network {}",
            name(&matrix.columns, column),
            mark(&name(&matrix.rows, row)),
            percent(full + off, 1),
            percent(full, 1)
        )
    });
    let verdict = move || {
        ensemble.with(|e| {
            let e = e.as_ref()?;
            let [mean, masks @ ..] = &distances(e)[..] else { return None };
            let each = masks.iter().sum::<f32>() / masks.len() as f32;
            let farther = masks.iter().filter(|mask| *mask > mean).count();
            Some(view! {
                "On average, a sub-network’s guesses differ from the full network’s by "
                <b data-testid="block-each-off" data-value=each.to_string()>{percent(each, 1)}</b>
                ". Their mean’s guesses differ by "
                <b data-testid="block-mean-off" data-value=mean.to_string()>{percent(*mean, 1)}</b>
                {match farther {
                    0 => ".".to_owned(),
                    farther => format!(": it is nearer than {farther} of the {MASKS}."),
                }}
            })
        })
    };
    let strip = ColumnStrip::new(Signal::stored(BARS), move |across| {
        let bars = move || {
            ensemble.with(|e| {
                let distances = distances(e.as_ref()?);
                let most = distances.iter().fold(1e-6, |most: f32, away| most.max(*away));
                let across = across.get();
                let bar = |(i, away): (usize, &f32)| {
                    let place = format!(
                        "left:{:.1}px;width:{:.1}px",
                        across.middle(i) - across.cell / 2.0,
                        across.cell
                    );
                    let is_narrow = across.cell < NUMBERED;
                    view! {
                        <li data-part="block-away" data-value=away.to_string() style=place>
                            <span class:visually-hidden=is_narrow>{percent(*away, 1)}</span>
                            <i style=format!("height:{:.1}%", 100.0 * away / most)></i>
                        </li>
                    }
                };
                Some(distances.iter().enumerate().map(bar).collect_view())
            })
        };
        view! {
            <ol class="block-away" data-testid="block-away"
                aria-label="How far their mean and each sub-network are from the full network">{bars}</ol>
        }
        .into_any()
    });
    view! {
        <Sentence label="Your sentence" problem=answered.problem/>
        <p class="view-note">
            "Each column: the full network with activations set to 0 at random. Color: how far each guess moves. Bars: how far \
             they move in all."
        </p>
        <div class="view-bar"><SliderField name="block-dropout" step=0.05/></div>
        <MatrixFigure name="block-ensemble" title="Each sub-network’s guesses, less the full network’s" matrix
            describe provenance=page.provenance above=strip tall=true/>
        <p class="block-verdict" data-testid="block-ensemble-verdict">{verdict}</p>
    }
    .into_any()
}

/// Probability that lies elsewhere: half the sum of all differences.
fn apart(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f32>() / 2.0
}

/// How far their mean is from the full network, and then each sub-network.
fn distances(ensemble: &Ensemble) -> Vec<f32> {
    rows(ensemble).map(|row| apart(row, &ensemble.full)).collect()
}

/// Their mean first, which is what the others are compared with.
fn rows(ensemble: &Ensemble) -> impl Iterator<Item = &[f32]> {
    let width = ensemble.full.len().max(1);
    [&ensemble.mean[..]].into_iter().chain(ensemble.each.values.chunks(width))
}

fn names() -> impl Iterator<Item = String> {
    let masks = (1..=MASKS).map(|mask| format!("mask {mask}"));
    ["mean".to_owned()].into_iter().chain(masks)
}

/// How much more probability their mean and each sub-network give than the full network: a column for each.
fn matrix(ensemble: &Ensemble, vocabulary: &[String]) -> Matrix {
    let top: Vec<usize> = largest(&ensemble.full, TOP).into_iter().map(|t| t.0).collect();
    let off = |id: &usize| {
        let id = *id;
        rows(ensemble).map(move |row| row[id] - ensemble.full[id])
    };
    let values: Vec<f32> = top.iter().flat_map(off).collect();
    Matrix {
        row_axis: "next character".into(),
        column_axis: "mask".into(),
        rows: top.iter().map(|id| vocabulary.get(*id).cloned().unwrap_or_default()).collect(),
        columns: names().collect(),
        map: ValueMap::around(&values),
        values,
        value_name: "difference".into(),
        absent: String::new(),
    }
}
