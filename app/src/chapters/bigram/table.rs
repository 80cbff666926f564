//! The table of pairs, and beside it the row that is picked.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::study::bigram::{Matrix, NONE, Row, View, ask, smoothed};

use super::{
    SmoothingField, code_point, named,
    row::{GuessRow, PinnedRow, RowChoice, use_row, use_suggested_row},
    use_vocabulary,
};
use crate::{
    controls::ChoiceField,
    course::{use_lab, use_provenance, use_setting},
    figures::{Matrix as Picture, MatrixFigure, ValueMap},
    questions::use_answer,
    reactive::memo,
    store::Store,
};

/// Differences of probabilities are drawn up to this.
const LARGEST_DIFFERENCE: f32 = 0.25;

/// The last beat that has the row guessed at.
const GUESSED_IN: u32 = 1;

/// The matrix, and the row that was picked in it. `row_seen` is whether the row that the page suggests
/// was on show before.
#[component]
pub fn Table(row_seen: RwSignal<bool>) -> impl IntoView {
    let (store, lab) = (expect_context::<Store>(), use_lab());
    let vocabulary = use_vocabulary();
    let view = use_setting(|link| &mut link.bigram.view);
    let order = use_setting(|link| &mut link.bigram.order);
    let most = use_setting(|link| &mut link.bigram.shown);
    let k = use_setting(|link| &mut link.bigram.k);
    let row = use_setting(|link| &mut link.bigram.row);
    let next = use_setting(|link| &mut link.bigram.next);
    let asked = use_answer(lab, move || Some(ask::Matrix { order: order.get(), most: most.get() }));
    let (matrix, problem) = (asked.answer, asked.problem);
    let (pinned, suggested) = (use_row(), use_suggested_row());
    let id_of = |row: Signal<Option<Arc<Row>>>| row.with(|row| row.as_ref().map(|row| row.id));
    let place_of = move |row| {
        let id = id_of(row)?;
        matrix.with(|m| m.as_ref()?.ids.iter().position(|&other| other == id))
    };
    let picked = memo(move || row.get() != NONE || next.get() != NONE);
    // Who has picked the suggested row itself wants to see it.
    let is_picked = memo(move || {
        let code = |id| vocabulary.with(|v| code_point(v, id));
        picked.get() && (row.get() == NONE || id_of(suggested).map(code) == Some(row.get()))
    });
    let seen = row_seen.get_untracked();
    let asks = memo(move || {
        let told = store.link.with(|link| link.idea <= GUESSED_IN);
        let is_known = seen || is_picked.get() || (picked.get() && row_seen.get());
        told && !is_known
    });
    let is_open = memo(move || asks.get() && !row_seen.get());
    let place = memo(move || place_of(pinned));
    // The row that is asked about would answer, in each of the pictures.
    let hidden = memo(move || place_of(suggested).filter(|_| is_open.get()));
    let shows_row =
        memo(move || !is_open.get() || (picked.get() && id_of(pinned) != id_of(suggested)));
    let picture = memo(move || {
        let matrix = matrix.get()?;
        let mut picture = vocabulary.with(|v| picture(&matrix, v, view.get(), k.get()));
        if let Some(row) = hidden.get() {
            let n = picture.columns.len();
            picture.values[row * n..(row + 1) * n].fill(f32::NAN);
            picture.absent = "hidden, or nothing followed it".to_owned();
        }
        Some(picture)
    });
    let describe = Callback::new(move |(row, column, _): (usize, usize, f32)| {
        matrix.with(|m| {
            m.as_ref().map_or_else(String::new, |m| match hidden.get() == Some(row) {
                true => "Guess first. Then this row is shown.".to_owned(),
                false => vocabulary.with(|v| reading(m, v, (row, column), view.get(), k.get())),
            })
        })
    });
    let pick = Callback::new(move |(at, column): (usize, usize)| {
        if hidden.get_untracked() == Some(at) {
            return;
        }
        matrix.with_untracked(|m| {
            let Some(m) = m else { return };
            let (Some(&current), Some(&follower)) = (m.ids.get(at), m.ids.get(column)) else {
                return;
            };
            let (current, follower) =
                vocabulary.with_untracked(|v| (code_point(v, current), code_point(v, follower)));
            // Both at once: what shows the row is built anew in between and reads the link.
            store.link.update(|link| (link.bigram.row, link.bigram.next) = (current, follower));
        });
    });
    // The cell whose arithmetic is open.
    let marked = memo(move || {
        let column = matrix.with(|m| {
            let ids = &m.as_ref()?.ids;
            vocabulary.with(|v| ids.iter().position(|&id| code_point(v, id) == next.get()))
        });
        let chosen = column.filter(|_| next.get() > 0);
        place.get().zip(chosen).into_iter().collect::<Vec<_>>()
    });
    let cut = move || {
        let (shown, all) =
            (matrix.with(|m| m.as_ref().map(|m| m.ids.len()))?, vocabulary.with(Vec::len));
        (shown < all).then(|| {
            format!(
                "The {shown} most frequent of {all} characters. Choose any other from the list of rows."
            )
        })
    };
    let smooths = memo(move || view.get() == View::Smoothed);
    let title = memo(move || match view.get() {
        View::Counts => "P(next | current), counted".to_owned(),
        View::Smoothed => format!("P(next | current), counted with {} added to each pair", k.get()),
        View::Trained => "P(next | current), the softmax of a trained table".to_owned(),
        View::Difference => "Trained minus counted".to_owned(),
    });
    view! {
        <div class="view-bar">
            <ChoiceField name="bigram-view"/>
            {move || smooths.get().then(|| view! { <SmoothingField/> })}
        </div>
        <p class="field-error" role="alert">{move || problem.get()}</p>
        <div class="view-side bigram-table">
            <div>
                <MatrixFigure
                    name="bigram-matrix"
                    title=title
                    matrix=Signal::derive(move || picture.get().unwrap_or_default())
                    provenance=use_provenance()
                    describe=describe
                    row=place
                    marked=marked
                    on_pick=pick
                />
                <p class="view-note" data-testid="bigram-cut">{cut}</p>
            </div>
            <div class="bigram-row" data-part="next">
                <RowChoice suggested/>
                {move || asks.get().then(|| view! { <GuessRow row=suggested seen=row_seen/> })}
                {move || shows_row.get().then(|| view! { <PinnedRow row=pinned/> })}
            </div>
        </div>
    }
    .into_any()
}

/// The share counted; `None` where nothing ever followed the row's token.
fn counted(matrix: &Matrix, row: usize, column: usize, k: f32, vocabulary: usize) -> Option<f64> {
    let count = matrix.counts[row * matrix.ids.len() + column];
    smoothed(count, matrix.totals[row], f64::from(k), vocabulary)
}

fn picture(matrix: &Matrix, vocabulary: &[String], view: View, k: f32) -> Picture {
    let n = matrix.ids.len();
    let labels: Vec<String> = matrix
        .ids
        .iter()
        .map(|&id| vocabulary.get(id as usize).cloned().unwrap_or_default())
        .collect();
    let value = |row: usize, column: usize| {
        let trained = matrix.trained.values[row * n + column];
        let share = |k| {
            counted(matrix, row, column, k, vocabulary.len()).map_or(f32::NAN, |share| share as f32)
        };
        match view {
            View::Counts => share(0.0),
            View::Smoothed => share(k),
            View::Trained => trained,
            View::Difference => trained - share(0.0),
        }
    };
    let (map, value_name) = if view == View::Difference {
        (ValueMap::Signed { limit: LARGEST_DIFFERENCE }, "trained − counted")
    } else {
        (ValueMap::Probability, "probability of the next character")
    };
    Picture {
        row_axis: "current character".to_owned(),
        column_axis: "next character".to_owned(),
        rows: labels.clone(),
        columns: labels,
        values: (0..n * n).map(|i| value(i / n, i % n)).collect(),
        map,
        value_name: value_name.to_owned(),
        absent: "nothing ever followed it".to_owned(),
    }
}

/// Whether the smoothed and the trained table have been come to where the matrix shows `view`.
pub fn is_reached(view: View) -> (bool, bool) {
    (view != View::Counts, matches!(view, View::Trained | View::Difference))
}

/// What a cell says.
fn reading(
    matrix: &Matrix,
    vocabulary: &[String],
    at: (usize, usize),
    view: View,
    k: f32,
) -> String {
    let (row, column) = at;
    let (Some(&current), Some(&next)) = (matrix.ids.get(row), matrix.ids.get(column)) else {
        return String::new();
    };
    let n = matrix.ids.len();
    let (count, total) = (matrix.counts[row * n + column], matrix.totals[row]);
    let probability = |k| {
        counted(matrix, row, column, k, vocabulary.len())
            .map_or_else(|| "unknown".to_owned(), |share| format!("{share:.4}"))
    };
    let mut said = format!(
        "After {}, {} came {count} of {total} times: {}.",
        named(vocabulary, current),
        named(vocabulary, next),
        probability(0.0),
    );
    let (smoothed, trained) = is_reached(view);
    if smoothed {
        said += &format!(" Smoothed {}", probability(k));
        said += &match trained {
            true => format!(", trained {:.4}.", matrix.trained.values[row * n + column]),
            false => ".".to_owned(),
        };
    }
    said
}
