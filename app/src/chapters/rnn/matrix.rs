//! The matrix that a unit takes its weights from.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::study::rnn::{MatrixChoice, Unrolled};

use super::{Shared, arithmetic::place};
use crate::{
    controls::Segments,
    figures::{Matrix, MatrixFigure, ValueMap},
};

/// Weights beyond it have the color of the map's end.
const LIMIT: f32 = 1.0;

/// What can be looked at, and its name.
const CHOICES: [(MatrixChoice, &str); 3] =
    [(MatrixChoice::W, "W"), (MatrixChoice::U, "U"), (MatrixChoice::V, "V")];

/// The matrix on show: the one that the state before comes through, where none is chosen.
fn chosen(shared: Shared) -> MatrixChoice {
    match shared.matrix.get() {
        MatrixChoice::None => MatrixChoice::U,
        chosen => chosen,
    }
}

/// Chooses the matrix.
#[component]
pub fn MatrixField(shared: Shared) -> impl IntoView {
    let choices = CHOICES.map(|(choice, name)| (choice, choice.id(), name.into_any())).into();
    view! {
        <fieldset class="choice-field" data-testid="control-rnn-matrix">
            <legend>"Matrix"</legend>
            <Segments name="control-rnn-matrix" choices chosen=move || chosen(shared)
                on_choose=move |choice| shared.matrix.set(choice)/>
        </fieldset>
    }
    .into_any()
}

/// The chosen matrix, with the row and the column that the sum uses.
#[component]
pub fn MatrixPanel(shared: Shared) -> impl IntoView {
    let matrix = Signal::derive(move || {
        let choice = chosen(shared);
        shared.all.with(|all| all.as_ref().map_or_else(Matrix::default, |all| matrix(all, choice)))
    });
    let title = Signal::derive(move || {
        match chosen(shared) {
            MatrixChoice::W => "W: from each character to each unit, the same at every step",
            MatrixChoice::V => "V: from each unit to each answer, the same at every step",
            MatrixChoice::U | MatrixChoice::None => {
                "U: from each unit of the state before, the same at every step"
            }
        }
        .to_owned()
    });
    let unit = move || Some(shared.unit.get() as usize - 1);
    let row = Signal::derive(move || unit().filter(|_| chosen(shared) != MatrixChoice::V));
    let column = Signal::derive(move || match chosen(shared) {
        MatrixChoice::W => shared.all.with(|all: &Option<Arc<Unrolled>>| {
            let all = all.as_ref()?;
            let run = all.edited.as_ref().map_or(&all.run, |edited| &edited.1);
            let t = place(shared.at.get(), run.ids.len());
            run.ids.get(t.checked_sub(1)?).map(|id| *id as usize)
        }),
        MatrixChoice::V => unit(),
        MatrixChoice::U | MatrixChoice::None => None,
    });
    view! {
        <div data-testid="rnn-matrix-panel">
            <MatrixFigure name="rnn-matrix" title matrix provenance=shared.provenance row column/>
        </div>
    }
    .into_any()
}

fn matrix(all: &Unrolled, choice: MatrixChoice) -> Matrix {
    let units = || -> Vec<String> {
        (1..=all.u.shape.first().copied().unwrap_or(0)).map(|unit| unit.to_string()).collect()
    };
    let (row_axis, column_axis, rows, columns, values) = match choice {
        MatrixChoice::W => ("unit", "character", units(), all.tokens.clone(), &all.w.values),
        MatrixChoice::V => ("answer", "unit", all.classes.clone(), units(), &all.v.values),
        MatrixChoice::U | MatrixChoice::None => {
            ("unit", "unit before", units(), units(), &all.u.values)
        }
    };
    Matrix {
        row_axis: row_axis.into(),
        column_axis: column_axis.into(),
        rows,
        columns,
        values: values.clone(),
        map: ValueMap::Signed { limit: LIMIT },
        value_name: "weight".into(),
        absent: String::new(),
    }
}
