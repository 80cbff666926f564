//! An encoding position by position, beside what it does.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Positions,
    study::position::{DRAWN, Encoding, ask},
};

use super::{Page, clock, numbered, relations, round_up, unless_refused};
use crate::{
    controls::Segments,
    figures::{Matrix, MatrixFigure, ValueMap},
    questions::Answered,
    reactive::memo,
};

pub fn view(page: Page) -> AnyView {
    let companion = move || match page.encoding.get() {
        Positions::Sinusoidal => clock::hands(page),
        Positions::Integer => relations::swamping(page),
        _ => relations::scores(page),
    };
    let asked = page.ask(|s| Some(ask::Encoding { positions: s.encoding }));
    let figures = move || {
        view! {
            <div class="view-split position-pair">
                <div>{heatmap(page, asked)}</div>
                <div>{companion}</div>
            </div>
        }
        .into_any()
    };
    view! { {chooser(page)} {unless_refused(asked.problem, "position-problem", figures)} }
        .into_any()
}

/// Chooses the encoding on show.
pub fn chooser(page: Page) -> AnyView {
    let choice = |of: &Positions| (*of, of.id(), of.label().into_any());
    view! {
        <fieldset class="view-bar position-encodings" data-testid="position-encodings">
            <legend class="visually-hidden">"Encoding"</legend>
            <Segments name="position-encoding" choices=Positions::ALL.iter().map(choice).collect()
                chosen=move || page.encoding.get()
                on_choose=move |positions| page.set(|settings| settings.encoding = positions)/>
        </fieldset>
    }
    .into_any()
}

/// The encoding on show, position by position.
fn heatmap(page: Page, asked: Answered<Encoding>) -> AnyView {
    let matrix = memo(move || asked.answer.get().map_or(Matrix::default(), |e| drawn(&e)));
    let title = Signal::derive(move || {
        match page.encoding.get() {
            Positions::None => "Nothing is added to any embedding",
            Positions::Integer => "Integer: what is added to the embedding, all in dimension 0",
            Positions::Sinusoidal => "Sinusoidal: what is added to the embedding",
            Positions::Learned => "Learned: what is added to the embedding, as trained so far",
            Positions::Rotary => "Rotary: the angle by which each pair of a query or key is turned",
            Positions::Alibi => "ALiBi: what is added to a score at each distance",
        }
        .to_owned()
    });
    // The position that the clock beside it shows.
    let row = Signal::derive(move || {
        page.settings.with(|s| {
            let is_read = s.encoding == Positions::Sinusoidal && s.at < DRAWN;
            is_read.then_some(s.at as usize)
        })
    });
    let on_pick = Callback::new(move |(row, column): (usize, usize)| {
        let paired = match page.encoding.get_untracked() {
            Positions::Sinusoidal | Positions::Learned => Some(column / 2),
            Positions::Rotary => Some(column),
            _ => None,
        };
        page.set(|settings| {
            settings.at = row as u32;
            if let Some(pair) = paired {
                settings.pair = (pair as u32 + 1).min(32);
            }
        });
    });
    view! {
        <MatrixFigure name="encoding" title matrix row describe=numbered(matrix) on_pick provenance=page.provenance/>
        {move || (page.encoding.get() == Positions::Learned).then(|| view! {
            <p class="view-note" data-testid="position-no-rows">
                "The table ends with the longest sequence in training. Positions after it have no row at all."
            </p>
        })}
    }
    .into_any()
}

fn drawn(encoding: &Encoding) -> Matrix {
    let positions = encoding.positions;
    let (rows, columns) = (encoding.values.shape[0], encoding.values.shape[1]);
    let most =
        encoding.values.values.iter().filter(|v| v.is_finite()).fold(0f32, |m, v| m.max(v.abs()));
    let (column_axis, value_name) = match positions {
        Positions::Rotary => ("pair of a head’s dimensions", "angle in radians"),
        Positions::Alibi => ("head", "added to the score"),
        _ => ("dimension", "added to the embedding"),
    };
    let limit = match positions {
        Positions::None | Positions::Sinusoidal => 1.0,
        Positions::Rotary => core::f32::consts::PI,
        // Its largest number is a position.
        Positions::Integer => most.max(1.0),
        _ => round_up(most.max(1e-3)),
    };
    let first = if positions == Positions::Alibi { 1 } else { 0 };
    Matrix {
        row_axis: if positions == Positions::Alibi { "distance" } else { "position" }.into(),
        column_axis: column_axis.into(),
        rows: (0..rows).map(|row| row.to_string()).collect(),
        columns: (first..columns + first).map(|column| column.to_string()).collect(),
        values: encoding.values.values.clone(),
        map: ValueMap::Signed { limit },
        value_name: value_name.into(),
        absent: "no row".into(),
    }
}
