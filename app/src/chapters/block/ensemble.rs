//! Dropout: many sub-networks in one.

use leptos::prelude::*;
use unroll_protocol::study::block::{Ensemble, MASKS, ask};

use super::Page;
use crate::{
    controls::SliderField,
    course::{Sentence, use_setting},
    figures::{Matrix, MatrixFigure, ValueMap, largest, percent},
    questions::use_answer,
    reactive::memo,
};

/// Likeliest tokens on show.
const TOP: usize = 8;

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
    let verdict = move || {
        ensemble.with(|e| {
            let e = e.as_ref()?;
            let width = e.full.len().max(1);
            let each = e.each.values.chunks(width).map(|row| apart(row, &e.full)).sum::<f32>() / MASKS as f32;
            let mean = apart(&e.mean, &e.full);
            Some(view! {
                "On average, a sub-network gives "
                <b data-testid="block-each-off" data-value=each.to_string()>{percent(each, 1)}</b>
                " of the probability to other characters than the full model does. Their mean gives "
                <b data-testid="block-mean-off" data-value=mean.to_string()>{percent(mean, 1)}</b>" to others."
            })
        })
    };
    view! {
        <Sentence label="Your sentence" problem=answered.problem/>
        <p class="view-note">
            "Each row is the full model with other activations set to 0, chosen at random by a mask."
        </p>
        <div class="view-bar"><SliderField name="block-dropout" step=0.05/></div>
        <MatrixFigure name="block-ensemble" title="The next character, by sub-networks of the full model" matrix
            provenance=page.provenance/>
        <p class="block-verdict" data-testid="block-ensemble-verdict">{verdict}</p>
    }
    .into_any()
}

/// Probability that lies elsewhere: half the sum of all differences.
fn apart(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f32>() / 2.0
}

fn matrix(ensemble: &Ensemble, vocabulary: &[String]) -> Matrix {
    let top: Vec<usize> = largest(&ensemble.full, TOP).into_iter().map(|t| t.0).collect();
    let width = ensemble.full.len().max(1);
    let rows = ensemble.each.values.chunks(width).chain([&ensemble.mean[..], &ensemble.full[..]]);
    let values = rows.flat_map(|row| top.iter().map(|id| row[*id]).collect::<Vec<_>>()).collect();
    let mut names: Vec<String> = (1..=MASKS).map(|mask| format!("mask {mask}")).collect();
    names.extend(["their mean".to_owned(), "full network".to_owned()]);
    Matrix {
        row_axis: "network".into(),
        column_axis: "next character".into(),
        rows: names,
        columns: top.iter().map(|id| vocabulary.get(*id).cloned().unwrap_or_default()).collect(),
        values,
        map: ValueMap::Probability,
        value_name: "probability".into(),
        absent: String::new(),
    }
}
