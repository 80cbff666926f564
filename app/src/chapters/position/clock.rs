//! The hands of a position and their turn by `k`.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::study::position::{CONTEXT, Clock, FARTHEST, TRIED, ask};

use super::clock_figure::ClockFigure;
use super::{Page, numbered, unless_refused};
use crate::{
    controls::SliderField,
    course::use_lab,
    figures::{Matrix, MatrixFigure, ValueMap, short},
    questions::use_fixed_answer,
    reactive::memo,
};

type Shown = Signal<Option<Arc<Clock>>>;

/// The clock of the position on show, and why there is none.
fn use_clock(page: Page) -> (Shown, Signal<Option<String>>) {
    // Nobody trains the sinusoidal code.
    let answered = use_fixed_answer(use_lab(), move || {
        Some(page.settings.with(|s| ask::Clock { at: s.at, k: s.k }))
    });
    let clock = answered.answer;
    (clock, answered.problem)
}

/// The hands alone.
pub fn hands(page: Page) -> AnyView {
    let (clock, problem) = use_clock(page);
    unless_refused(problem, "clock-problem", move || dial(page, clock))
}

fn dial(page: Page, clock: Shown) -> AnyView {
    let pair = Signal::derive(move || page.settings.with(|s| s.pair.saturating_sub(1) as usize));
    let go = Callback::new(move |at: u32| page.set(|settings| settings.at = at.min(FARTHEST)));
    let shift = Callback::new(move |k: u32| page.set(|settings| settings.k = k.min(FARTHEST)));
    let choose =
        Callback::new(move |pair: usize| page.set(|settings| settings.pair = pair as u32 + 1));
    view! { <ClockFigure clock pair go shift choose provenance=page.provenance/> }.into_any()
}

/// The hands beside the matrix that turns them.
pub fn view(page: Page) -> AnyView {
    let (clock, problem) = use_clock(page);
    let matrix = memo(move || clock.get().map_or(Matrix::default(), |clock| turns(&clock)));
    let title = Signal::derive(move || {
        let k = clock.with(|c| c.as_ref().map_or(0, |c| c.k));
        format!("M for k = {k}: a turn of each pair")
    });
    let figures = move || {
        view! {
            <div class="view-split position-pair">
                <div>{dial(page, clock)}</div>
                <div>
                    <MatrixFigure name="shift" title matrix describe=numbered(matrix) provenance=page.provenance/>
                    {move || clock.get().map(|clock| verdict(&clock))}
                </div>
            </div>
        }
        .into_any()
    };
    view! {
        <div class="view-bar position-sliders">
            <SliderField name="position-at" most=100.0/>
            <SliderField name="position-k" most=32.0/>
        </div>
        {unless_refused(problem, "clock-problem", figures)}
    }
    .into_any()
}

fn turns(clock: &Clock) -> Matrix {
    let names: Vec<String> = (0..clock.matrix.shape[0]).map(|i| i.to_string()).collect();
    Matrix {
        row_axis: "to dimension".into(),
        column_axis: "from dimension".into(),
        rows: names.clone(),
        columns: names,
        values: clock.matrix.values.clone(),
        map: ValueMap::Signed { limit: 1.0 },
        value_name: "entry of M".into(),
        absent: String::new(),
    }
}

/// What M does to this position, and to all.
fn verdict(clock: &Arc<Clock>) -> AnyView {
    let Clock { at, k, difference, largest, largest_at, .. } = **clock;
    let there = u64::from(at) + u64::from(k);
    let beyond = there >= u64::from(CONTEXT);
    view! {
        <p class="view-note position-verdict" data-testid="shift-verdict">
            "PE(p) is position p’s sines and cosines. M"<sub>{k}</sub>" PE("{at}") against PE("{there}"): the largest difference is "
            <b data-testid="shift-difference" data-value=difference.to_string()>{short(difference)}</b>
            ". The same M"<sub>{k}</sub>" at every position from 0 to "{TRIED}": at most "
            <b data-testid="shift-largest" data-value=largest.to_string()>{short(largest)}</b>
            {(largest > 0.0).then(|| format!(" (at {largest_at})"))}
            ". That is rounding: a step of "{k}" is one linear map wherever it starts."
            {beyond.then(|| format!(
                " Position {there} lies beyond every sequence in training (0 to {}); the turn is the same.",
                CONTEXT - 1
            ))}
        </p>
    }
    .into_any()
}
