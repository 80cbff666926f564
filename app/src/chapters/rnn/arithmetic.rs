//! The sum behind one unit at one step, and the matrices it takes its weights from.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::study::rnn::{MatrixChoice, Run, Unrolled};

use super::Shared;
use crate::figures::{Matrix, MatrixFigure, ValueMap, token, unrolled::signed};

/// Products written out before the rest is gathered.
const WRITTEN: usize = 5;
/// Weights beyond it have the colour of the map's end.
const LIMIT: f32 = 1.0;

/// One unit's way to its value.
struct Sum {
    tanh: bool,
    /// From 1.
    t: usize,
    unit: usize,
    token: String,
    from_input: f32,
    /// Unit of the state before (from 1), weight, its value, product; largest first.
    terms: Vec<(usize, f32, f32, f32)>,
    bias: Option<f32>,
    sum: f32,
    state: f32,
}

impl Sum {
    /// `at` and `unit` count from 1. `None` outside the sentence or the state.
    fn new(all: &Unrolled, at: u32, unit: u32) -> Option<Self> {
        let run: &Run = all.edited.as_ref().map_or(&all.run, |edited| &edited.1);
        let (t, i) = ((at as usize).checked_sub(1)?, (unit as usize).checked_sub(1)?);
        let id = *run.ids.get(t)? as usize;
        let weights = all.u.block(&[i])?;
        let zeros = vec![0.0; weights.len()];
        let before = match t.checked_sub(1) {
            Some(before) => run.states.block(&[before])?,
            None => &zeros,
        };
        let terms = weights.iter().zip(before).enumerate();
        let mut terms: Vec<_> = terms.map(|(j, (u, s))| (j + 1, *u, *s, u * s)).collect();
        terms.sort_by(|a, b| b.3.abs().total_cmp(&a.3.abs()));
        Some(Self {
            tanh: all.tanh,
            t: t + 1,
            unit: i + 1,
            token: token::mark(all.tokens.get(id)?),
            from_input: all.w.get(&[i, id])?,
            terms,
            bias: all.b.get(i).copied(),
            sum: run.sums.get(&[t, i])?,
            state: run.states.get(&[t, i])?,
        })
    }
}

/// The arithmetic of the pinned column, while one is pinned.
#[component]
pub fn Arithmetic(shared: Shared) -> impl IntoView {
    let open = Memo::new(move |_| {
        let (at, columns) = (shared.at.get(), shared.columns.get());
        let length = shared.all.with(|all| all.as_ref().map_or(0, |all| all.run.ids.len() as u32));
        at > 0 && at <= columns && at <= length
    });
    let unit = shared.unit;
    let hidden = Memo::new(move |_| shared.store.link.with(|link| link.rnn.hidden));
    let move_unit = move |by: i32| {
        let next = unit.get_untracked().saturating_add_signed(by).clamp(1, hidden.get_untracked());
        if next != unit.get_untracked() {
            unit.set(next);
        }
    };
    let sum = move || {
        let (at, unit) = (shared.at.get(), unit.get());
        shared.all.with(|all| all.as_ref().and_then(|all| Sum::new(all, at, unit)))
    };
    view! {
        <Show when=move || open.get()>
            <section class="rnn-arithmetic" data-testid="rnn-arithmetic" aria-label="Arithmetic of one unit">
                <div class="rnn-arithmetic-head">
                    <h3>{move || format!("Unit {} at t = {}", unit.get(), shared.at.get())}</h3>
                    <div class="rnn-buttons">
                        <button type="button" class="button" aria-label="Unit before" data-testid="rnn-unit-before"
                            aria-disabled=move || (unit.get() <= 1).then_some("true")
                            on:click=move |_| move_unit(-1)>"‹"</button>
                        <button type="button" class="button" aria-label="Next unit" data-testid="rnn-unit-next"
                            aria-disabled=move || (unit.get() >= hidden.get()).then_some("true")
                            on:click=move |_| move_unit(1)>"›"</button>
                        <button type="button" class="button button-quiet" data-testid="rnn-unpin"
                            on:click=move |_| shared.at.set(0)>"Close"</button>
                    </div>
                </div>
                {move || sum().map(|sum| view! { <SumTable sum/> })}
            </section>
        </Show>
    }
    .into_any()
}

#[component]
fn SumTable(sum: Sum) -> impl IntoView {
    let Sum { tanh, t, unit, token, from_input, terms, bias, sum, state } = sum;
    let from_state: f32 = terms.iter().map(|term| term.3).sum();
    let row = move |&(j, u, s, product): &(usize, f32, f32, f32)| {
        view! {
            <tr class="rnn-term">
                <td>"U"<sub>{format!("{unit},{j}")}</sub>" × unit "{j}" of s"<sub>{t - 1}</sub></td>
                <td class="number">{signed(u)}" × "{signed(s)}</td>
                <td class="number">{signed(product)}</td>
            </tr>
        }
    };
    let written = if t == 1 { 0 } else { WRITTEN.min(terms.len()) };
    let rest: f32 = terms[written..].iter().map(|term| term.3).sum();
    let rest_count = terms.len() - written;
    let rows = terms[..written].iter().map(row).collect_view();
    let others = terms[written..].iter().map(row).collect_view();
    let rest_words = match (t, rest_count) {
        (1, n) => format!("s0 is 0, so all {n} products are 0"),
        (_, 1) => "the other one".to_owned(),
        (_, n) => format!("the other {n} together"),
    };
    let f = if tanh { "tanh" } else { "σ" };
    view! {
        <div class="rnn-sum-scroller" tabindex="0" role="region" aria-label="Terms of the sum">
            <table class="rnn-sum">
                <thead>
                    <tr><th scope="col">"Term"</th><th scope="col">"Product"</th><th scope="col">"Value"</th></tr>
                </thead>
                <tbody>
                    <tr data-part="w">
                        <th scope="row">"W x"<sub>{t}</sub>": column ‘"{token}"’ of row "{unit}</th>
                        <td class="number">{signed(from_input)}" × 1"</td>
                        <td class="number" data-testid="rnn-from-input">{signed(from_input)}</td>
                    </tr>
                    <tr data-part="u">
                        <th scope="row">"U s"<sub>{t - 1}</sub>": row "{unit}" times the state before"</th>
                        <td></td>
                        <td class="number" data-testid="rnn-from-state">{signed(from_state)}</td>
                    </tr>
                    {rows}
                    {(rest_count > 0).then(|| view! {
                        <tr class="rnn-term">
                            <td colspan="2">{rest_words}</td>
                            <td class="number">{signed(rest)}</td>
                        </tr>
                    })}
                    <tr>
                        <th scope="row">{if bias.is_some() { "b: the bias of this unit" } else { "no bias" }}</th>
                        <td></td>
                        <td class="number" data-testid="rnn-bias">{signed(bias.unwrap_or(0.0))}</td>
                    </tr>
                    <tr class="rnn-total">
                        <th scope="row">"Sum"</th>
                        <td></td>
                        <td class="number" data-testid="rnn-sum">{signed(sum)}</td>
                    </tr>
                    <tr class="rnn-total" data-part="state">
                        <th scope="row">"s"<sub>{t}</sub>" of this unit"</th>
                        <td class="number">{f}"("{signed(sum)}")"</td>
                        <td class="number" data-testid="rnn-state">{signed(state)}</td>
                    </tr>
                </tbody>
            </table>
            {(t > 1 && rest_count > 0).then(|| view! {
                <details>
                    <summary>{format!("The other {rest_count} products")}</summary>
                    <table class="rnn-sum"><tbody>{others}</tbody></table>
                </details>
            })}
        </div>
    }
    .into_any()
}

/// The matrix that was opened.
#[component]
pub fn MatrixPanel(shared: Shared) -> impl IntoView {
    let open = Memo::new(move |_| shared.matrix.get() != MatrixChoice::None);
    let matrix = Signal::derive(move || {
        let choice = shared.matrix.get();
        shared.all.with(|all| all.as_ref().map_or_else(Matrix::default, |all| matrix(all, choice)))
    });
    let title = Signal::derive(move || {
        match shared.matrix.get() {
            MatrixChoice::W => "W: from each character to each unit, the same in every column",
            MatrixChoice::U => "U: from each unit of the state before, the same in every column",
            MatrixChoice::V | MatrixChoice::None => {
                "V: from each unit to each answer, the same in every column"
            }
        }
        .to_owned()
    });
    let pinned = move || (shared.at.get() > 0).then(|| shared.unit.get() as usize - 1);
    let row = Signal::derive(move || match shared.matrix.get() {
        MatrixChoice::W | MatrixChoice::U => pinned(),
        MatrixChoice::V | MatrixChoice::None => None,
    });
    let column = Signal::derive(move || match shared.matrix.get() {
        MatrixChoice::W => shared.all.with(|all: &Option<Arc<Unrolled>>| {
            let all = all.as_ref()?;
            let run = all.edited.as_ref().map_or(&all.run, |edited| &edited.1);
            run.ids.get((shared.at.get() as usize).checked_sub(1)?).map(|id| *id as usize)
        }),
        MatrixChoice::V => pinned(),
        MatrixChoice::U | MatrixChoice::None => None,
    });
    view! {
        <Show when=move || open.get()>
            <div class="rnn-matrix" data-testid="rnn-matrix-panel">
                <MatrixFigure name="rnn-matrix" title matrix provenance=shared.provenance row column/>
                <button type="button" class="button button-quiet" data-testid="rnn-matrix-close"
                    on:click=move |_| shared.matrix.set(MatrixChoice::None)>
                    "Close the matrix"
                </button>
            </div>
        </Show>
    }
    .into_any()
}

fn matrix(all: &Unrolled, choice: MatrixChoice) -> Matrix {
    let units = || -> Vec<String> {
        (1..=all.u.shape.first().copied().unwrap_or(0)).map(|unit| unit.to_string()).collect()
    };
    let (row_axis, column_axis, rows, columns, values) = match choice {
        MatrixChoice::W => ("unit", "character", units(), all.tokens.clone(), &all.w.values),
        MatrixChoice::U => ("unit", "unit before", units(), units(), &all.u.values),
        MatrixChoice::V | MatrixChoice::None => {
            ("answer", "unit", all.classes.clone(), units(), &all.v.values)
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
