//! A source read character by character into one vector, and what is written from that vector.

use std::sync::Arc;

use leptos::{html, prelude::*};
use unroll_protocol::Array;

use crate::figures::{
    canvas::put_pixels,
    export::Provenance,
    frame::{Files, Frame, choices},
    matrix_data::{Matrix, matrix_csv, matrix_json},
    matrix_svg::matrix_svg,
    reading::{At, Buttons},
    scale::{ScaleBar, ValueMap},
    theme::{Colors, use_colors},
    token,
};
use crate::{
    pointer::worded,
    reactive::{effect, memo},
};

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// The source's characters in the order they are read.
    pub source: Vec<String>,
    /// The state after each, `[S, H]`.
    pub states: Array,
    pub written: Vec<Written>,
    /// The decoder's state behind each, `[T, H]`.
    pub decoder: Array,
}

impl Transfer {
    /// All states, the encoder's and then the decoder's, for exports.
    fn states(&self) -> Matrix {
        let units = self.states.shape.get(1).copied().unwrap_or(0);
        let named = |what: &str, token: &String| format!("{what} {}", token::mark(token));
        let read = self.source.iter().map(|token| named("read", token));
        let written = self.written.iter().map(|step| named("written", &step.token));
        Matrix {
            row_axis: "after".to_owned(),
            column_axis: "no.".to_owned(),
            rows: read.chain(written).collect(),
            columns: (1..=units).map(|unit| format!("no. {unit}")).collect(),
            values: [&self.states.values[..], &self.decoder.values[..]].concat(),
            map: ValueMap::Signed { limit: 1.0 },
            value_name: "state".to_owned(),
            absent: String::new(),
        }
    }
}

/// One step of the decoder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    pub token: String,
    pub probability: f32,
    /// Whether it stands in the right answer at this place; `None` where there is none.
    pub right: Option<bool>,
}

/// One column a state, one row a number, drawn from -1 to 1, which is all that such a state can hold.
fn strips(states: &Array, range: core::ops::Range<usize>, colors: &Colors) -> (Vec<u8>, u32) {
    let units = states.shape.get(1).map_or(0, |units| *units as usize);
    let columns = range.len();
    let mut pixels = vec![0; columns * units * 4];
    for (column, state) in range.enumerate() {
        for (unit, value) in states.block(&[state]).unwrap_or_default().iter().enumerate() {
            let at = unit * columns + column;
            let color = colors.signed.at(*value);
            pixels[4 * at..4 * at + 4].copy_from_slice(&color.pixel(255));
        }
    }
    (pixels, columns as u32)
}

/// The figure: row 0 is the source, row 1 what is written. `shown` steps of the decoder are written
/// so far; step by step, `chosen` is the last of them. `on_pick` hears of a click on a written character.
/// `root` tells who makes `transfer` whether the figure is seen.
#[component]
pub fn TransferFigure(
    root: NodeRef<html::Section>,
    transfer: Memo<Arc<Transfer>>,
    #[prop(into)] shown: Signal<usize>,
    #[prop(into)] chosen: Signal<Option<usize>>,
    #[prop(into)] provenance: Signal<Provenance>,
    on_pick: Callback<usize>,
) -> impl IntoView {
    let colors = use_colors();
    let length = memo(move || transfer.get().source.len());
    let steps = memo(move || transfer.get().written.len());
    let units = memo(move || transfer.get().states.shape.get(1).copied().unwrap_or(0));
    let cells = Buttons::new(memo(move || vec![length.get(), steps.get()]));
    let read = memo(move || cells.pointing.shown());

    let canvases = [(); 3].map(|()| NodeRef::<html::Canvas>::new());
    effect(move || {
        let (data, written) = (transfer.get(), shown.get());
        let (read, last) = (data.source.len(), data.source.len().saturating_sub(1));
        colors.with(|colors| {
            let parts = [
                (&data.states, 0..read),
                (&data.states, last..read),
                (&data.decoder, 0..written.min(data.written.len())),
            ];
            for (canvas, (states, range)) in canvases.iter().zip(parts) {
                if let (Some(canvas), false) = (canvas.get(), range.is_empty()) {
                    let (pixels, columns) = strips(states, range, colors);
                    put_pixels(&canvas, &pixels, columns);
                }
            }
        });
    });

    let state = move |row: usize, column: usize| {
        view! {
            <span class="transfer-state" data-cell=format!("{row}-{column}")
                class:is-lit=move || read.get().is_some_and(|at| (at.row, at.column) == (row, column))>
            </span>
        }
    };
    let source_cell = move |column: usize| {
        let text = memo(move || transfer.get().source.get(column).cloned().unwrap_or_default());
        view! {
            <button type="button" class="transfer-cell transfer-in" data-cell=format!("0-{column}")
                tabindex=move || cells.tab_index(0, column)
                aria-label=move || format!("read {}: {}", column + 1, token::spoken(&text.get()))>
                {move || token::mark(&text.get())}
            </button>
        }
        .into_any()
    };
    let written_cell = move |column: usize| {
        let step = memo(move || transfer.get().written.get(column).cloned().unwrap_or_default());
        let there = memo(move || column < shown.get());
        let label = move || {
            let step = step.get();
            if !there.get() {
                return format!("step {}, not written yet", column + 1);
            }
            let right = match step.right {
                Some(true) => ", right",
                Some(false) => ", wrong",
                None => "",
            };
            let name = token::spoken(&step.token);
            format!("step {}: {name}, probability {:.4}{right}", column + 1, step.probability)
        };
        let mark = move || {
            let right = there.get().then(|| step.with(|step| step.right)).flatten();
            right.map_or("", |right| if right { "✓" } else { "✗" })
        };
        view! {
            <button type="button" class="transfer-cell transfer-out" data-cell=format!("1-{column}")
                tabindex=move || cells.tab_index(1, column)
                class:is-wrong=move || there.get() && step.with(|s| s.right == Some(false))
                class:is-chosen=move || chosen.get() == Some(column)
                aria-pressed=move || (chosen.get() == Some(column)).to_string()
                aria-label=label
                on:click=move |_| on_pick.run(column)>
                <span class="transfer-token" class:is-long=move || there.get() && step.with(|s| s.token.chars().nth(1).is_some())>
                    {move || if there.get() { token::mark(&step.with(|s| s.token.clone())) } else { "·".to_owned() }}
                </span>
                <i class="transfer-bar" aria-hidden="true">
                    <b style=move || {
                        let share = if there.get() { step.with(|s| s.probability) } else { 0.0 };
                        format!("height:{:.1}%", share * 100.0)
                    }></b>
                </i>
                <span class="transfer-mark" aria-hidden="true">{mark}</span>
            </button>
        }
        .into_any()
    };
    let title = Signal::stored("From the source through one vector to what is written".to_owned());
    let states = memo(move || Arc::new(transfer.get().states()));
    let files = Files { json: matrix_json, csv: matrix_csv, svg: matrix_svg };
    let none = Signal::stored(None);
    view! {
        <Frame name="transfer" kind="transfer" title root
            empty=Signal::derive(move || length.get() == 0)
            choices=choices("transfer", title, states, none, provenance, colors, files)>
            <div {..cells.handlers()} class="figure-box transfer-box" role="group"
                aria-label="Arrow keys move from character to character.">
                <div class="transfer-flow" style=move || format!(
                    "--read:{0};--steps:{1};--shown:{2};\
                     grid-template-columns:{0}fr var(--between) var(--one) var(--between) {1}fr",
                    length.get().max(1),
                    steps.get().max(1),
                    shown.get().min(steps.get()),
                )>
                    <p class="transfer-label transfer-left">"The encoder reads"</p>
                    <p class="transfer-label transfer-right">"The decoder writes"</p>
                    // The decoder is given c at every step.
                    <i class="transfer-rail" aria-hidden="true"></i>
                    <div class="transfer-feeds" aria-hidden="true">
                        {move || (0..steps.get()).map(|column| view! {
                            <i class:is-fed=move || column < shown.get()></i>
                        }).collect_view()}
                    </div>
                    <div class="transfer-states transfer-left" data-units=units>
                        <canvas node_ref=canvases[0] aria-hidden="true"></canvas>
                        {move || (0..length.get()).map(|c| state(0, c)).collect_view()}
                    </div>
                    <span class="transfer-arrow transfer-in-arrow" aria-hidden="true">"→"</span>
                    <div class="transfer-one" data-part="seq2seq-c" class:is-lit=move || {
                        read.get().is_some_and(|at| at.row == 0 && at.column + 1 == length.get())
                    }>
                        <canvas node_ref=canvases[1] aria-hidden="true"></canvas>
                    </div>
                    <span class="transfer-arrow transfer-out-arrow" aria-hidden="true">"→"</span>
                    <div class="transfer-states transfer-right" data-units=units>
                        <canvas class="transfer-part" node_ref=canvases[2] aria-hidden="true"></canvas>
                        {move || (0..steps.get()).map(|c| state(1, c)).collect_view()}
                    </div>
                    // What is written is what the decoder is given next.
                    <div class="transfer-backs" aria-hidden="true">
                        {move || (1..steps.get()).map(|column| view! {
                            <i class:is-fed=move || column < shown.get() style=format!("grid-column:{}", column + 1)></i>
                        }).collect_view()}
                    </div>
                    <div class="transfer-row transfer-left" data-testid="transfer-source">
                        {move || (0..length.get()).map(source_cell).collect_view()}
                    </div>
                    <div class="transfer-scale transfer-left">
                        <ScaleBar short=true label="number" map=Signal::stored(ValueMap::Signed { limit: 1.0 })
                            value=Signal::stored(None) colors/>
                    </div>
                    <p class="transfer-c role-hidden">
                        <strong>"c"</strong>
                        <span><span data-testid="transfer-units">{units}</span>" numbers"</span>
                    </p>
                    <div class="transfer-row transfer-right" data-testid="transfer-written">
                        {move || (0..steps.get()).map(written_cell).collect_view()}
                    </div>
                </div>
            </div>
            <p class="readout" role="status" data-testid="transfer-readout">
                {move || sentence(&transfer.get(), read.get(), shown.get(), chosen.get().is_some())}
            </p>
        </Frame>
    }
    .into_any()
}

/// What the bars and the shade below the written characters are.
fn legend(shades: bool) -> String {
    let shaded = if shades { " Shaded: written last." } else { "" };
    let legend = format!("Bar: probability.{shaded} Click a character to stop there.");
    worded(&legend).into_owned()
}

/// What is under the pointer or the focus.
fn sentence(data: &Transfer, at: Option<At>, shown: usize, shades: bool) -> String {
    let Some(At { row, column, unit }) = at else { return legend(shades) };
    let states = if row == 0 { &data.states } else { &data.decoder };
    if row == 1 && column >= shown {
        return format!("Step {} is not written yet.", column + 1);
    }
    let Some(state) = states.block(&[column]) else { return String::new() };
    let read = |column: usize| {
        data.source.get(column).map(|token| token::name_at(token, column)).unwrap_or_default()
    };
    let written = data.written.get(column).map(|w| token::name_at(&w.token, column));
    let name = if row == 0 { read(column) } else { written.unwrap_or_default() };
    if let Some(value) = unit.and_then(|unit| state.get(unit)) {
        return format!("State after {name}: number {} is {value}", unit.unwrap_or(0) + 1);
    }
    if row == 1 {
        let probability = data.written.get(column).map_or(0.0, |w| w.probability);
        return format!("Step {}: {name} was chosen with probability {probability}", column + 1);
    }
    let moves = moves(states);
    let by = |column: usize| moves.get(column).copied().unwrap_or(0.0);
    let most = (0..moves.len()).max_by(|a, b| by(*a).total_cmp(&by(*b))).unwrap_or(column);
    let moved = format!("{name} moved the state by {:.2}", by(column));
    if most == column {
        format!("{moved}, more than any other character.")
    } else {
        format!("{moved}. {} moved it most: {:.2}.", read(most), by(most))
    }
}

/// How far each character moved the state: the length of the difference.
fn moves(states: &Array) -> Vec<f32> {
    let count = states.shape.first().map_or(0, |count| *count as usize);
    let mut before: &[f32] = &[];
    let mut moves = Vec::with_capacity(count);
    for state in (0..count).filter_map(|column| states.block(&[column])) {
        let start = before.iter().chain(core::iter::repeat(&0.0));
        moves.push(state.iter().zip(start).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt());
        before = state;
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_a_character_moved_the_state_is_said_beside_the_most() {
        let data = Transfer {
            source: vec!["b".to_owned(), "a".to_owned()],
            states: Array { shape: vec![2, 2], values: vec![0.3, 0.4, 0.3, 0.6] },
            ..Transfer::default()
        };
        let said = |column| {
            let at = At { row: 0, column, unit: None };
            sentence(&data, Some(at), 0, false)
        };
        assert_eq!(said(0), "‘b’ (1) moved the state by 0.50, more than any other character.");
        assert_eq!(said(1), "‘a’ (2) moved the state by 0.20. ‘b’ (1) moved it most: 0.50.");
    }
}
