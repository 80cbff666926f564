//! One sequence, and where each model looks when it is asked.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Positions,
    study::position::{Asked, CountFrom, ModelReading, Reading, Settings, ask},
};

use super::{Page, compare::percent, in_words, typographic};
use crate::{
    controls::SliderField,
    figures::{CellInspector, Matrix, MatrixFigure, ValueMap},
    questions::Answered,
    reactive::memo,
};

/// The sequence on show.
pub fn asked(settings: &Settings) -> Asked {
    Asked { example: settings.example, length: settings.length, number: settings.number }
}

/// What every model makes of the sequence on show, and why there is none.
pub fn use_reading(page: Page) -> Answered<Reading> {
    page.ask(|s| Some(ask::Reading { asked: asked(s) }))
}

pub fn view(page: Page) -> AnyView {
    let asked = use_reading(page);
    let (reading, problem) = (asked.answer, asked.problem);
    let shown = memo(move || reading.get().map(|reading| Shown::new(&reading)));
    let matrix = memo(move || {
        shown.with(|shown| shown.as_ref().map_or(Matrix::default(), |shown| shown.matrix.clone()))
    });
    let place =
        Signal::derive(move || reading.with(|r| r.as_ref().map(|reading| reading.place as usize)));
    let on_pick = Callback::new(move |(row, key): (usize, usize)| {
        let Some((positions, head, last)) = shown.with_untracked(|shown| {
            let shown = shown.as_ref()?;
            let (positions, head) = *shown.rows.get(row)?;
            Some((positions, head, shown.matrix.columns.len()))
        }) else {
            return;
        };
        page.set(|settings| {
            settings.encoding = positions;
            settings.head = head + 1;
            (settings.query, settings.key) = (last as u32, key as u32 + 1);
        });
    });
    let open = memo(move || page.settings.with(|s| s.head > 0));
    let title = Signal::derive(move || {
        let (number, from) = page.settings.with(|s| (s.number, s.from));
        let back = if from == CountFrom::End { ", counted from the end" } else { "" };
        format!("Where each model looks when asked for symbol no. {number}{back}")
    });
    view! {
        {sequence(page)}
        <p class="field-error" role="alert" data-testid="position-asked-problem">{move || problem.get().as_deref().map(typographic)}</p>
        <div class="view-side has-aside position-reading" class:is-open=move || open.get()>
            <div>
                <MatrixFigure name="position-attention" title matrix column=place
                    on_pick provenance=page.provenance/>
                <p class="view-note">
                    "Each row is one head in the last layer of one model: where the number, the last token, looks. The \
                     outline marks the symbol that is asked for. Click a cell to see its arithmetic."
                </p>
            </div>
            <div class="view-scroll" tabindex="0" role="region" aria-label="Which models are right?">
                {move || (!open.get()).then(|| reading.get().map(|reading| answers(&reading)))}
                {inspector(page, open)}
            </div>
        </div>
    }
    .into_any()
}

/// Chooses the sequence on show.
pub fn sequence(page: Page) -> AnyView {
    let another = move |_| page.set(|settings| settings.example = settings.example % 200 + 1);
    view! {
        <div class="view-bar position-sliders">
            <SliderField name="position-length"/>
            <SliderField name="position-number"/>
            <button type="button" class="button" data-testid="position-another" on:click=another>
                "Another sequence"
            </button>
        </div>
    }
    .into_any()
}

/// The attention of all models as one matrix.
#[derive(Clone, PartialEq)]
struct Shown {
    matrix: Matrix,
    /// Whose each row is.
    rows: Vec<(Positions, u32)>,
}

impl Shown {
    fn new(reading: &Reading) -> Self {
        let mut rows = Vec::new();
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for model in &reading.models {
            let heads = model.weights.shape.first().copied().unwrap_or(0);
            for head in 0..heads {
                rows.push((model.positions, head));
                names.push(format!("{} {}", short_name(model.positions), head + 1));
            }
            values.extend_from_slice(&model.weights.values);
        }
        let matrix = Matrix {
            row_axis: "model and head".into(),
            column_axis: "token".into(),
            rows: names,
            columns: reading.tokens.clone(),
            values,
            map: ValueMap::Probability,
            value_name: "attention weight".into(),
            absent: String::new(),
        };
        Self { matrix, rows }
    }
}

/// As long as a matrix's row labels may be.
fn short_name(positions: Positions) -> &'static str {
    match positions {
        Positions::Sinusoidal => "Sinus.",
        other => other.label(),
    }
}

/// What a model answers with no more probability than this is a guess: right or wrong, it is luck.
const SURE: f32 = 0.5;

/// What each model answers.
fn answers(reading: &Reading) -> AnyView {
    let row = |model: &ModelReading| {
        let id = model.positions.id();
        let sure = model.refusal.is_none() && model.probability > SURE;
        let right = sure && model.answer == reading.right;
        let said = match &model.refusal {
            Some(refusal) => view! { <span class="hint">{typographic(refusal)}</span> }.into_any(),
            None => {
                let (sign, word) = match (sure, right) {
                    (false, _) => ("–", "guessing"),
                    (true, true) => ("✓", "right"),
                    (true, false) => ("✗", "wrong"),
                };
                let share = percent(model.probability);
                view! {
                    <code>{model.answer.clone()}</code>
                    <b role="img" aria-label=word>{sign}</b>
                    <span class="position-bar"><i style=format!("width:{share}")></i></span>
                    <span>{share.clone()}</span>
                }
                .into_any()
            }
        };
        view! {
            <dt>{model.positions.label()}</dt>
            <dd class:is-right=right class:is-guess=!sure data-testid=format!("position-answer-{id}")>{said}</dd>
            <dd class="position-told">{in_words(model.positions)}</dd>
        }
    };
    let number = reading.tokens.last().cloned().unwrap_or_default();
    let symbols = reading.tokens.len().saturating_sub(1);
    view! {
        <h3 class="position-asks">"Which models are right?"</h3>
        <p data-testid="position-sequence">
            <code class="position-tokens">{reading.tokens[..symbols].concat()}</code>
            {format!(" and the number {number}: the right answer is ‘{}’.", reading.right)}
        </p>
        <dl class="position-answers">{reading.models.iter().map(row).collect_view()}</dl>
        <p class="hint">"The percentage is how probable the model finds its own answer. At 50% or less, it is guessing (–)."</p>
    }
    .into_any()
}

/// The arithmetic of the open cell.
fn inspector(page: Page, open: Memo<bool>) -> AnyView {
    let answered = page.ask(|s| {
        let head = s.head.checked_sub(1)?;
        let query = s.query.min(s.length + 1).saturating_sub(1);
        Some(ask::Row { positions: s.encoding, asked: asked(s), head, query })
    });
    let row = Signal::derive(move || open.get().then(|| answered.answer.get()).flatten());
    let problem = move || open.get().then(|| answered.problem.get()).flatten();
    let key = Signal::derive(move || page.settings.with(|s| s.key.saturating_sub(1) as usize));
    let go = Callback::new(move |(query, key): (usize, usize)| {
        page.set(|settings| (settings.query, settings.key) = (query as u32 + 1, key as u32 + 1));
    });
    let close = Callback::new(move |()| page.set(|settings| settings.head = 0));
    view! {
        <p class="field-error" role="alert">{problem}</p>
        <CellInspector row key go close provenance=page.provenance/>
    }
    .into_any()
}
