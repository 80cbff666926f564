//! One cell's full arithmetic: every sum, every product, and how they multiply out.

use leptos::prelude::*;
use unroll_protocol::study::gates::{CellChoice, GateSum, Quantity, Sums, Term};

use super::{
    figure::{part, row_name},
    state::{Gates, three},
};
use crate::figures::token;

#[component]
pub fn Arithmetic(gates: Gates) -> impl IntoView {
    let body = move || {
        gates.at.get()?;
        if let Some(problem) = gates.sums.problem.get() {
            return Some(view! { <p class="field-error">{problem}</p> }.into_any());
        }
        let shown = gates.shown.get();
        gates.sums(|sums| arithmetic(sums, shown))
    };
    let title = move || {
        let at = gates.at.get()?;
        let character = gates.seen(|seen| seen.tokens.get(at).cloned()).flatten()?;
        Some(format!("{} at {}", row_name(gates.unit.get()), token::name_at(&character, at)))
    };
    let close = move |_| gates.store.link.update(|l| l.gates.at = 0);
    view! {
        <Show when=move || gates.at.get().is_some()>
            <section class="gates-sums" data-testid="gates-sums" aria-label="Arithmetic">
                <div class="gates-sums-head">
                    <h3>{title}</h3>
                    <button type="button" class="button button-quiet" data-testid="gates-sums-close"
                        on:click=close>"Close"</button>
                </div>
                {body}
            </section>
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

/// The gate's sum in one line; with all its products if it is the one that is drawn.
fn gate_line(sum: &GateSum, cell: CellChoice, shown: Quantity) -> AnyView {
    let name = sum.gate.id();
    let function = if sum.gate.opens() { "σ" } else { "tanh" };
    let from_state = match (sum.gate, cell) {
        (Quantity::New, CellChoice::Gru) => "r · (U h + b_hn)",
        (Quantity::New, CellChoice::Cho) => "U (r · h)",
        _ => "U h",
    };
    let result = if sum.held {
        format!("{name} is held at {}; let go, {function}({}) would act", sum.value, three(sum.sum))
    } else {
        format!("{name} = {function}({}) = {}", three(sum.sum), three(sum.value))
    };
    let letter = if cell == CellChoice::Cho && sum.gate == Quantity::New { "r·h " } else { "h " };
    let open = sum.gate == shown;
    let products = open.then(|| {
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
            <ul class="gates-terms" data-testid="gates-terms">
                <li>
                    "W x: " <span class="role-weight">{three(sum.weight)}</span>
                    {format!(" (the row of W for this character), + b = {}", three(sum.bias))}
                </li>
                {sum.terms.iter().map(|t| product(t, letter)).collect_view()}
                {others}
                {inside}
            </ul>
        }
    });
    view! {
        <li data-part=part(sum.gate)>
            <span>
                {format!("W x + b = {}, {from_state} = {}, sum {}; ",
                    three(sum.weight + sum.bias), three(sum.from_state), three(sum.sum))}
            </span>
            <b>{result}</b>
            {products}
        </li>
    }
    .into_any()
}

fn arithmetic(sums: &Sums, shown: Quantity) -> AnyView {
    let lines = sums.gates.iter().map(|sum| gate_line(sum, sums.cell, shown)).collect_view();
    let value = |gate: Quantity| {
        three(sums.gates.iter().find(|sum| sum.gate == gate).map_or(f32::NAN, |sum| sum.value))
    };
    let [before, after] = [sums.before, sums.after].map(three);
    let made = match sums.cell {
        CellChoice::Lstm | CellChoice::Projected => {
            let (i, f, g, o) = (
                value(Quantity::Input),
                value(Quantity::Forget),
                value(Quantity::Candidate),
                value(Quantity::Output),
            );
            let hidden = sums.hidden.map(three).unwrap_or_default();
            let tanh = three(sums.after.tanh());
            view! {
                <p class="role-cell" data-part="cell-state" data-testid="gates-made">
                    {format!("c = f · c before + i · g = {f} · {before} + {i} · {g} = {after}")}
                </p>
                <p class="role-hidden" data-part="hidden-state">
                    {format!("o · tanh(c) = {o} · {tanh} = {hidden}")}
                </p>
                {projection(sums)}
            }
            .into_any()
        }
        CellChoice::Gru | CellChoice::Cho => {
            let (z, n) = (value(Quantity::Update), value(Quantity::New));
            view! {
                <p class="role-hidden" data-part="hidden-state" data-testid="gates-made">
                    {format!(
                        "h = (1 − z) · n + z · h before = (1 − {z}) · {n} + {z} · {before} = {after}"
                    )}
                </p>
            }
            .into_any()
        }
    };
    view! {
        <ul class="gates-lines">{lines}</ul>
        {made}
        <p class="hint">
            "Shown to three decimals; the model adds the whole numbers. Choose another gate above to open its \
             products."
        </p>
    }
    .into_any()
}

fn projection(sums: &Sums) -> Option<AnyView> {
    let (terms, rest, output) = sums.projected.as_ref()?;
    let number = sums.unit + 1;
    Some(
        view! {
            <p class="role-hidden">
                {format!("Output {number} of the projection adds up to {}:", three(*output))}
            </p>
            <ul class="gates-terms">
                {terms.iter().map(|t| product(t, "o·tanh(c) ")).collect_view()}
                <li>{format!("the others: {}", three(*rest))}</li>
            </ul>
        }
        .into_any(),
    )
}
