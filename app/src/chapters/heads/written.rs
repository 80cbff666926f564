//! W_O's part: what each head adds to one token's residual stream.

use leptos::prelude::*;
use unroll_protocol::study::heads::{self, HeadAt, Written};

use super::{name, state::Page};
use crate::{
    figures::{Matrix, MatrixFigure, ValueMap, power_of_ten, token},
    questions::use_answer,
    reactive::memo,
};

#[component]
pub fn WhatIsWritten(page: Page) -> impl IntoView {
    // The query of the pinned cell, or else the last token.
    let query = memo(move || {
        let last = page.trace.with(|t| t.as_ref().map(|t| t.tokens.len().saturating_sub(1)))?;
        Some(page.cell.get().map_or(last, |(query, _)| query.min(last)))
    });
    let answered = use_answer(page.lab, move || {
        let (text, off) = (page.store.probe.get(), page.settings.with(|s| s.off.clone()));
        let (layer, query) = (page.at.get().layer, query.get()? as u32);
        Some(heads::ask::Written { text, off, layer, query })
    });
    let written = memo(move || answered.read(Clone::clone));
    let matrix = memo(move || written.with(|w| w.as_ref().map_or_else(Matrix::default, rows)));
    let title = Signal::derive(move || {
        written.with(|w| {
            w.as_ref().map_or("What each head writes".to_owned(), |w| {
                let at = page.trace.with(|t| {
                    let token = t.as_ref()?.tokens.get(w.query as usize)?.clone();
                    Some(token::name_at(&token, w.query as usize))
                });
                format!("Layer {}, at {}", w.layer, at.unwrap_or_default())
            })
        })
    });
    let apart = memo(move || written.with(|w| w.as_ref().map(difference)));
    let marked = Signal::derive(Vec::new);
    view! {
            <p class="view-note">
                "Joining the heads and multiplying by Wᴼ is the same as giving each head its own rows of Wᴼ and \
                 adding up what comes out. So, column by column, the rows here add up to the last one. A head \
                 that is off writes exactly 0."
            </p>
            <p class="view-note" data-testid="heads-written-sum">
                {move || apart.get().map(|apart| format!(
                    "Largest difference between the sum of the rows and what the layer computed: {}. \
                     Pin a cell in “One head” to choose the token.",
                    power_of_ten(apart, 1)
                ))}
            </p>
            <MatrixFigure name="heads-written" title matrix provenance=page.provenance marked
                row=Signal::derive(move || {
                    let heads = page.shape.get().1;
                    Some(page.at.get().head as usize - 1).filter(|row| *row < heads as usize)
                })
                on_pick=Callback::new(move |(row, _): (usize, usize)| {
                    let head = row as u32 + 1;
                    if head <= page.shape.get_untracked().1 {
                        page.head.set(head);
                    }
                })/>
            <p class="view-note" data-testid="heads-lengths">
                {move || written.with(|w| w.as_ref().map(lengths))}
            </p>
            <p class="field-error">{answered.problem}</p>
    }
    .into_any()
}

fn length(row: &[f32]) -> f64 {
    row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

/// What the rows are called: heads, bias, and their sum.
fn names(written: &Written, count: usize) -> Vec<String> {
    let name = |row: usize| match count - row {
        1 => "sum".to_owned(),
        2 => "bias".to_owned(),
        _ => name(HeadAt { layer: written.layer, head: row as u32 + 1 }),
    };
    (0..count).map(name).collect()
}

/// Each row's length (Euclidean norm), in words.
fn lengths(written: &Written) -> String {
    let width = written.output.len().max(1);
    let heads = written.heads.values.chunks(width);
    let lengths: Vec<f64> =
        heads.chain([&written.bias[..], &written.output[..]]).map(length).collect();
    let names = names(written, lengths.len());
    let each = names.iter().zip(&lengths).map(|(name, length)| format!("{name} {length:.3}"));
    format!("Lengths of the rows: {}.", each.collect::<Vec<_>>().join(", "))
}

/// Heads, bias and their sum as rows.
fn rows(written: &Written) -> Matrix {
    let width = written.output.len().max(1);
    let heads = written.heads.values.chunks(width);
    let parts: Vec<&[f32]> = heads.chain([&written.bias[..], &written.output[..]]).collect();
    let values = parts.concat();
    let largest = values.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
    // Up to the next half of its leading digit: a scale that can be read.
    let unit = 10f32.powf(largest.log10().floor()) / 2.0;
    Matrix {
        row_axis: "added by".to_owned(),
        column_axis: "dimension of the residual stream".to_owned(),
        rows: names(written, parts.len()),
        columns: (1..=width).map(|column| column.to_string()).collect(),
        values,
        map: ValueMap::Signed { limit: (largest / unit).ceil() * unit },
        value_name: "added".to_owned(),
        absent: String::new(),
    }
}

/// How far the sum of heads and bias is from the layer's output, at most.
fn difference(written: &Written) -> f64 {
    let width = written.output.len().max(1);
    let sum = |column: usize| {
        let heads = written.heads.values.iter().skip(column).step_by(width);
        heads.chain(written.bias.get(column)).map(|&value| f64::from(value)).sum::<f64>()
    };
    let each = written.output.iter().enumerate();
    each.map(|(column, &output)| (sum(column) - f64::from(output)).abs()).fold(0.0, f64::max)
}
