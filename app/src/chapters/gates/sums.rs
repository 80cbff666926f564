//! One cell's full arithmetic: every sum, every product, and how they multiply out.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::study::gates::{CellChoice, GateSum, Quantity, Sums, Term};

use super::circuit::{CircuitFigure, gate_hue};
use super::{
    figure::{Quantities, part, row_name},
    state::{Gates, three},
    units::follows,
};
use crate::{
    course::bring_into_sight,
    figures::{StepRow, token},
    reactive::memo,
};

/// The view of the circuit, with the arithmetic below it.
#[component]
pub fn Circuit(gates: Gates) -> impl IntoView {
    let sums = memo(move || gates.sums(|sums| Arc::new(sums.clone())));
    let title = memo(move || {
        let place = gates.step.get().and_then(|at| place(gates, at));
        format!("{}{}", row_name(gates.unit.get()), place.unwrap_or_default())
    });
    let pick = Callback::new(move |gate: Quantity| {
        gates.store.link.update(|l| l.gates.shown = gate);
        request_animation_frame(show_line);
    });
    let tokens = Signal::derive(move || gates.seen(|seen| seen.tokens.clone()).unwrap_or_default());
    let step = Callback::new(move |at: usize| {
        gates.store.link.update(|l| l.gates.at = at as u32 + 1);
    });
    let body = move || {
        if let Some(problem) = gates.sums.problem.get() {
            return Some(view! { <p class="field-error">{problem}</p> }.into_any());
        }
        let shown = gates.shown.get();
        sums.with(|sums| sums.as_ref().map(|sums| arithmetic(sums, shown)))
    };
    view! {
        <div class="view-bar gates-bar">
            <Quantities gates/>
            <UnitStepper gates/>
        </div>
        <StepRow label="Character" tokens chosen=gates.step on_choose=step/>
        <div class="gates-circuit">
            <CircuitFigure name="gates-circuit" title sums shown=gates.shown on_pick=pick
                provenance=gates.provenance/>
            <section class="gates-sums" data-testid="gates-sums" aria-label="Arithmetic" tabindex="0">
                {body}
            </section>
        </div>
    }
    .into_any()
}

/// Brings the sum of the box that was pressed into sight, which on a phone is below.
fn show_line() {
    if let Ok(Some(line)) = document().query_selector(".gates-line") {
        bring_into_sight(&line);
    }
}

/// Goes from unit to unit.
#[component]
fn UnitStepper(gates: Gates) -> impl IntoView {
    let count = move || gates.store.link.with(|l| l.gates.units as usize).max(1);
    let go = move |by: isize| {
        let to = gates.unit.get_untracked().saturating_add_signed(by);
        gates.choose_unit(to.min(count() - 1));
    };
    let at_end = move |end: bool| {
        let unit = gates.unit.get();
        (if end { unit + 1 >= count() } else { unit == 0 }).then_some("true")
    };
    view! {
        <div class="gates-stepper" role="group" aria-label="Unit">
            <button type="button" aria-label="Unit before" data-testid="gates-unit-before"
                aria-disabled=move || at_end(false) on:click=move |_| go(-1)>"‹"</button>
            <span role="status">{move || row_name(gates.unit.get())}</span>
            <button type="button" aria-label="Next unit" data-testid="gates-unit-next"
                aria-disabled=move || at_end(true) on:click=move |_| go(1)>"›"</button>
        </div>
    }
    .into_any()
}

/// ` at ‘(’ (5)`, of the characters that are read.
fn place(gates: Gates, at: usize) -> Option<String> {
    let character = gates.seen(|seen| seen.tokens.get(at).cloned()).flatten()?;
    Some(format!(" at {}", token::name_at(&character, at)))
}

/// What is pinned, with what made it in one line.
#[component]
pub fn Pinned(gates: Gates) -> impl IntoView {
    let what = move || {
        let at = gates.at.get().and_then(|at| place(gates, at));
        format!("{}{}: ", row_name(gates.unit.get()), at.unwrap_or_default())
    };
    let made = move || match gates.sums.problem.get() {
        Some(problem) => problem,
        None => gates.sums(|sums| format!("{}.", made(sums).0)).unwrap_or_default(),
    };
    let to_circuit = move |_| gates.store.link.update(|l| l.view = "circuit".into());
    let close = move |_| gates.store.link.update(|l| l.gates.at = 0);
    view! {
        <Show when=move || gates.at.get().is_some()>
            <p class="gates-pinned" data-testid="gates-pinned">
                <b>{what}</b> <span>{move || follows(gates)}</span> " " <span>{made}</span>
                <button type="button" class="gates-link" data-testid="gates-to-circuit" on:click=to_circuit>
                    "Its circuit"
                </button>
                <button type="button" class="gates-link" data-testid="gates-sums-close" on:click=close>"Unpin"</button>
            </p>
        </Show>
    }
    .into_any()
}

fn product(term: &Term, letter: &'static str) -> AnyView {
    view! {
        <li>
            {format!("{letter}{}: ", term.unit + 1)}
            <span class="role-weight">{three(term.weight)}</span> " · "
            <span class="role-hidden">{three(term.value)}</span>
            {format!(" = {}", three(term.weight * term.value))}
        </li>
    }
    .into_any()
}

/// The chosen gate's sum in one line, with all its products.
fn gate_line(sum: &GateSum, cell: CellChoice) -> AnyView {
    let name = sum.gate.id();
    let function = if sum.gate.opens() { "σ" } else { "tanh" };
    let from_state = match (sum.gate, cell) {
        (Quantity::New, CellChoice::Gru) => "r · (U h + b_hn)",
        (Quantity::New, CellChoice::Cho) => "U (r · h)",
        _ => "U h",
    };
    let result = if sum.held {
        format!(
            "{name} is held at {}; with nothing held it would be {function}({})",
            sum.value,
            three(sum.sum)
        )
    } else {
        format!("{name} = {function}({}) = {}", three(sum.sum), three(sum.value))
    };
    let letter = if cell == CellChoice::Cho && sum.gate == Quantity::New { "r·h " } else { "h " };
    let inside = sum.state_bias.map(|bias| {
        let product: f32 = sum.terms.iter().map(|t| t.weight * t.value).sum::<f32>() + sum.rest;
        let r = sum.reset.unwrap_or(1.0);
        view! {
            <li>{format!("U h = {}, + b_hn = {}: {}", three(product), three(bias), three(product + bias))}</li>
            <li>{format!("times r = {}: {}", three(r), three(sum.from_state))}</li>
        }
    });
    let others = (sum.others > 0)
        .then(|| view! { <li>{format!("the other {}: {}", sum.others, three(sum.rest))}</li> });
    view! {
        <p class="gates-line" data-part=part(sum.gate)>
            <span>
                {format!("W x + b = {}, {from_state} = {}, sum {}; ",
                    three(sum.weight + sum.bias), three(sum.from_state), three(sum.sum))}
            </span>
            <b>{result}</b>
        </p>
        <ul class="gates-terms" data-testid="gates-terms">
            <li>
                "W x: " <span class="role-weight">{three(sum.weight)}</span>
                {format!(" (the row of W for this character); bias b: {}", three(sum.bias))}
            </li>
            {sum.terms.iter().map(|t| product(t, letter)).collect_view()}
            {others}
            {inside}
        </ul>
    }
    .into_any()
}

fn arithmetic(sums: &Sums, shown: Quantity) -> AnyView {
    // Of the others the drawing has the sums.
    let chosen = sums.gates.iter().find(|sum| sum.gate == shown);
    let line = chosen.map(|sum| gate_line(sum, sums.cell));
    let next = if line.is_some() { "another" } else { "a" };
    let (first, second) = made(sums);
    let hue = gate_hue(sums.cell.memory()).class();
    view! {
        <p class=hue data-part=part(sums.cell.memory()) data-testid="gates-made">{first}</p>
        {second.map(|line| view! { <p class="role-hidden" data-part="hidden-state">{line}</p> })}
        {projection(sums)}
        {line}
        <p class="hint">
            {format!("Rounded to three decimals here; the model computes with all digits. Choose {next} gate to see its products.")}
        </p>
    }
    .into_any()
}

/// How the gates make the carried state, and of an LSTM what they let out of it, multiplied out.
fn made(sums: &Sums) -> (String, Option<String>) {
    let value = |gate: Quantity| {
        three(sums.gates.iter().find(|sum| sum.gate == gate).map_or(f32::NAN, |sum| sum.value))
    };
    let [before, after] = [sums.before, sums.after].map(three);
    match sums.cell {
        CellChoice::Lstm | CellChoice::Projected => {
            let (i, f, g, o) = (
                value(Quantity::Input),
                value(Quantity::Forget),
                value(Quantity::Candidate),
                value(Quantity::Output),
            );
            let hidden = sums.hidden.map(three).unwrap_or_default();
            let tanh = three(sums.after.tanh());
            (
                format!("c = f · c before + i · g = {f} · {before} + {i} · {g} = {after}"),
                Some(format!("o · tanh(c) = {o} · {tanh} = {hidden}")),
            )
        }
        CellChoice::Gru | CellChoice::Cho => {
            let (z, n) = (value(Quantity::Update), value(Quantity::New));
            let line = format!(
                "h = (1 − z) · n + z · h before = (1 − {z}) · {n} + {z} · {before} = {after}"
            );
            (line, None)
        }
    }
}

fn projection(sums: &Sums) -> Option<AnyView> {
    let (terms, rest, output) = sums.projected.as_ref()?;
    let number = sums.unit + 1;
    Some(
        view! {
            <p class="role-hidden">
                {format!("Output {number} of the projection is the sum {}:", three(*output))}
            </p>
            <ul class="gates-terms">
                {terms.iter().map(|t| product(t, "o·tanh(c) ")).collect_view()}
                <li>{format!("the others: {}", three(*rest))}</li>
            </ul>
        }
        .into_any(),
    )
}
