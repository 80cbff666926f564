//! The table of pairs, and beside it the row that is picked.

use std::{cmp::Reverse, sync::Arc};

use leptos::{html, prelude::*};
use unroll_protocol::{
    Array,
    study::bigram::{MOST_SHOWN, Matrix, NONE, Row, View, ask, smoothed},
};

use super::{
    SmoothingField, chance, code_point, named,
    row::{GuessRow, PairChoice, PinnedRow, gradient, use_row, use_suggested_row},
    use_vocabulary,
};
use crate::{
    controls::ChoiceField,
    course::{use_lab, use_provenance, use_setting},
    figures::{
        Matrix as Picture, MatrixFigure, ValueMap, canvas::use_size, four_decimals, scale::limit,
    },
    pointer::worded,
    questions::use_answer,
    reactive::memo,
    store::Store,
};

/// Differences of probabilities are drawn up to the largest there is, but not beyond this: before any
/// training a few are far larger than all others.
const LARGEST_DIFFERENCE: f64 = 0.25;
/// Nor does the scale shrink below this. The optimizer's steps never let the table rest: some rows always
/// tremble by about a tenth of it, which on a smaller scale would look like what they have yet to learn.
const SMALLEST_LIMIT: f64 = 0.02;

/// Where the matrix has less room than this, in CSS pixels, cells of every character would be too small for
/// a finger: it has the most frequent characters alone.
const NARROW: f64 = 440.0;
/// At most and at least so many of them.
const FEW: usize = 20;
const FEWEST: usize = 8;
/// Height of a row whose name has a line of its own, and of what stands above and below the rows.
const NAMED_ROW: f64 = 12.75;
const AROUND_ROWS: f64 = 186.0;
/// The same where the matrix is narrow and its scale takes two lines.
const AROUND_NARROW: f64 = 172.0;

/// The beat that has the row guessed at. Until then it is hidden.
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
    let (all, problem) = (asked.answer, asked.problem);
    let (pinned, suggested) = (use_row(), use_suggested_row());
    let id_of = |row: Signal<Option<Arc<Row>>>| row.with(|row| row.as_ref().map(|row| row.id));
    let room = NodeRef::<html::Div>::new();
    let size = use_size(room);
    // So many rows have room for their names, one below the other.
    let rows = |height: f64| (height / NAMED_ROW) as usize;
    let fitting = memo(move || {
        size.with(|size| match size.width {
            width if width <= 0.0 => usize::MAX,
            width if width < NARROW => rows(size.height - AROUND_NARROW).clamp(FEWEST, FEW),
            _ if most.get() < MOST_SHOWN => usize::MAX,
            _ => rows(size.height - AROUND_ROWS).max(FEW),
        })
    });
    let chosen = memo(move || {
        let code = next.get();
        let place = |v: &Vec<String>| (0..v.len() as u32).find(|&id| code_point(v, id) == code);
        vocabulary.with(place).filter(|_| code != NONE)
    });
    let matrix = memo(move || {
        let all = all.get()?;
        let told = [id_of(suggested), id_of(pinned), chosen.get()];
        let most = fitting.get();
        Some(if all.ids.len() > most { Arc::new(few(&all, &told, most)) } else { all })
    });
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
    // The first beat asks for something else.
    let is_early = memo(move || store.link.with(|link| link.idea < GUESSED_IN));
    let picture = memo(move || {
        let matrix = matrix.get()?;
        let mut picture = vocabulary.with(|v| picture(&matrix, v, view.get(), k.get()));
        if let Some(row) = hidden.get() {
            let n = picture.columns.len();
            picture.values[row * n..(row + 1) * n].fill(f32::NAN);
            picture.absent = "hidden or unseen".to_owned();
        }
        Some(picture)
    });
    let describe = Callback::new(move |(row, column, _): (usize, usize, f32)| {
        matrix.with(|m| {
            m.as_ref().map_or_else(String::new, |m| match hidden.get() == Some(row) {
                true => "This row stays hidden until you have made a guess.".to_owned(),
                false => {
                    let pinned = pinned.get();
                    let pinned = pinned.as_deref();
                    vocabulary.with(|v| reading(m, v, (row, column), view.get(), k.get(), pinned))
                }
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
        let column =
            matrix.with(|m| m.as_ref()?.ids.iter().position(|&id| Some(id) == chosen.get()));
        place.get().zip(column).into_iter().collect::<Vec<_>>()
    });
    // Only where the story asks for one of them.
    let never = memo(move || {
        let matrix = matrix.get().filter(|_| view.get() == View::Difference);
        matrix.map_or_else(Vec::new, |matrix| {
            let n = matrix.ids.len();
            let cells = (0..n * n).map(|at| (at / n, at % n));
            let is_never = |&(row, column): &(usize, usize)| {
                matrix.counts[row * n + column] == 0
                    && matrix.totals[row] > 0
                    && hidden.get() != Some(row)
            };
            cells.filter(is_never).collect()
        })
    });
    let cut = move || {
        let shown = matrix.with(|m| m.as_ref().map(|m| m.ids.len()))?;
        let all = vocabulary.with(Vec::len);
        let which = if shown as u32 == most.get() { "The most frequent " } else { "" };
        (shown < all).then(|| {
            format!("{which}{shown} of {all} characters. Choose any other from the lists.")
        })
    };
    let apart = memo(move || {
        let picture = picture.get().filter(|_| view.get() == View::Difference)?;
        matrix.with(|m| vocabulary.with(|v| farthest_apart(&picture, m.as_ref()?, v)))
    });
    let smooths = memo(move || view.get() == View::Smoothed);
    let title = memo(move || match view.get() {
        View::Counts => "What follows each character, counted".to_owned(),
        View::Smoothed => {
            format!("What follows each character, counted with {} added to each pair", k.get())
        }
        View::Trained => "What follows each character, by a trained table".to_owned(),
        View::Difference => "Trained minus counted (dot: pair never seen)".to_owned(),
    });
    view! {
        <div class="view-bar">
            <ChoiceField name="bigram-view"/>
            {move || smooths.get().then(|| view! { <SmoothingField/> })}
        </div>
        <p class="field-error" role="alert">{move || problem.get()}</p>
        <div class="view-side bigram-table">
            <PairChoice suggested/>
            <div node_ref=room>
                <MatrixFigure
                    name="bigram-matrix"
                    title=title
                    matrix=Signal::derive(move || picture.get().unwrap_or_default())
                    provenance=use_provenance()
                    describe=describe
                    row=place
                    marked=marked
                    dotted=never
                    on_pick=pick
                />
            </div>
            <div class="bigram-row" data-part="next">
                {move || asks.get().then(|| match is_early.get() {
                    true => view! {
                        <p class="hint">{worded("Click a cell to see its whole row here.")}</p>
                        <p class="hint" data-testid="bigram-second">
                            "The steps and losses at the foot of the page belong to a second table. It is trained to \
                             come close to this one. The story gets to it later."
                        </p>
                    }.into_any(),
                    false => view! { <GuessRow row=suggested seen=row_seen/> }.into_any(),
                })}
                {move || apart.get().map(|said| view! { <p class="view-note" data-testid="bigram-apart">{said}</p> })}
                {move || shows_row.get().then(|| view! { <PinnedRow row=pinned/> })}
                <p class="view-note" data-testid="bigram-cut">{cut}</p>
            </div>
        </div>
    }
    .into_any()
}

/// A matrix of fewer characters: those `told` of and the `most` frequent.
fn few(all: &Matrix, told: &[Option<u32>], most: usize) -> Matrix {
    let n = all.ids.len();
    let mut kept: Vec<usize> = (0..n).collect();
    kept.sort_by_key(|&at| (!told.contains(&Some(all.ids[at])), Reverse(all.totals[at])));
    kept.truncate(most);
    kept.sort_unstable();
    let cells = || kept.iter().flat_map(|row| kept.iter().map(move |column| row * n + column));
    let side = kept.len() as u32;
    Matrix {
        ids: kept.iter().map(|&at| all.ids[at]).collect(),
        counts: cells().map(|at| all.counts[at]).collect(),
        totals: kept.iter().map(|&at| all.totals[at]).collect(),
        trained: Array {
            shape: vec![side, side],
            values: cells().map(|at| all.trained.values[at]).collect(),
        },
    }
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
    let values: Vec<f32> = (0..n * n).map(|i| value(i / n, i % n)).collect();
    let (map, value_name) = if view == View::Difference {
        let sizes = values.iter().filter(|value| value.is_finite()).map(|&value| value.into());
        let limit = limit(sizes).clamp(SMALLEST_LIMIT, LARGEST_DIFFERENCE) as f32;
        (ValueMap::Signed { limit }, "trained − counted")
    } else {
        (ValueMap::Probability, "probability of the next character")
    };
    Picture {
        row_axis: "current character".to_owned(),
        column_axis: "next character".to_owned(),
        rows: labels.clone(),
        columns: labels,
        values,
        map,
        value_name: value_name.to_owned(),
        absent: "nothing ever followed it".to_owned(),
    }
}

/// Which pair of those on show is farthest from its count, and whether that is still to be seen.
fn farthest_apart(picture: &Picture, matrix: &Matrix, vocabulary: &[String]) -> Option<String> {
    let n = matrix.ids.len();
    let sizes = picture.values.iter().map(|value| value.abs()).enumerate();
    let (at, most) =
        sizes.filter(|(_, size)| size.is_finite()).max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let [current, next] = [at / n, at % n].map(|place| named(vocabulary, matrix.ids[place]));
    let most = f64::from(most);
    let agree = match most <= SMALLEST_LIMIT {
        true => format!("All pairs here agree to within {SMALLEST_LIMIT}. Still "),
        false => String::new(),
    };
    let farthest = if agree.is_empty() { "Farthest apart" } else { "farthest apart" };
    Some(format!("{agree}{farthest}: {next} after {current}, by {}.", chance(most)))
}

/// Whether the counts are compared with the smoothed or the trained table where the matrix shows `view`.
pub fn compared_with(view: View) -> (bool, bool) {
    (view == View::Smoothed, matches!(view, View::Trained | View::Difference))
}

/// What a cell says; the row that is picked has what the matrix has not.
fn reading(
    matrix: &Matrix,
    vocabulary: &[String],
    at: (usize, usize),
    view: View,
    k: f32,
    pinned: Option<&Row>,
) -> String {
    let (row, column) = at;
    let (Some(&current), Some(&next)) = (matrix.ids.get(row), matrix.ids.get(column)) else {
        return String::new();
    };
    let n = matrix.ids.len();
    let (count, total) = (matrix.counts[row * n + column], matrix.totals[row]);
    let probability = |k| {
        counted(matrix, row, column, k, vocabulary.len())
            .map_or_else(|| "unknown".to_owned(), chance)
    };
    let mut said = format!(
        "After {}, {} came {count} of {total} times: {}.",
        named(vocabulary, current),
        named(vocabulary, next),
        probability(0.0),
    );
    match compared_with(view) {
        (_, true) => {
            let trained = matrix.trained.values[row * n + column];
            said += &format!(" Trained {}", chance(trained.into()));
            let logits = pinned.filter(|pinned| pinned.id == current).map(|pinned| &pinned.logits);
            if let Some(logit) = logits.and_then(|logits| logits.get(next as usize)) {
                said += &format!(", logit {}", four_decimals(*logit));
            }
            let share = counted(matrix, row, column, 0.0, vocabulary.len());
            let pairs = pinned.map(|pinned| pinned.pairs);
            said += &share.zip(pairs).map_or_else(String::new, |(share, pairs)| {
                format!(", gradient {}", gradient(trained.into(), share, total, pairs))
            });
            said.push('.');
        }
        (true, false) => said += &format!(" Smoothed {}.", probability(k)),
        (false, false) => {}
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_matrix_has_the_most_frequent_and_those_that_are_told_of() {
        let n = FEW + 2;
        let all = Matrix {
            ids: (10..10 + n as u32).collect(),
            counts: (0..(n * n) as u32).collect(),
            totals: (0..n as u32).collect(),
            trained: Array {
                shape: vec![n as u32; 2],
                values: (0..n * n).map(|at| at as f32).collect(),
            },
        };
        let small = few(&all, &[Some(10), None, Some(31)], FEW);
        assert_eq!((small.ids.len(), &small.ids[..2]), (FEW, &[10, 13][..]));
        assert_eq!(small.counts[1], 3, "the cell of the first row and the fourth column");
        assert_eq!((small.totals[1], small.trained.values[FEW]), (3, 3.0 * n as f32));
    }
}
