//! One quantity of every unit at every step, and what the model answers.

use leptos::prelude::*;
use unroll_protocol::study::gates::{
    Forced, Guess, HoldChoice, Quantity, ReachChoice, Seen, TaskChoice,
};

use super::{
    held::{EditBar, HeldList, says},
    state::{Gates, beyond, from_state, named, three},
    strips,
    sums::Pinned,
    text::BRACKETED,
    units::Follows,
};
use crate::{
    controls::{ChoiceField, SliderField},
    course::Sentence,
    figures::{
        Dash, Hue, Line, Lines, LinesFigure, Matrix, MatrixFigure, StepRow, ValueMap, token,
    },
    pointer::worded,
    reactive::memo,
};

/// The view.
#[component]
pub fn EveryUnit(gates: Gates) -> impl IntoView {
    let reading = move || {
        if gates.is_drawn.get() {
            let problem = move || gates.seen.problem.get();
            view! { <p class="field-error gates-problem" role="alert" data-testid="gates-problem">{problem}</p> }
                .into_any()
        } else {
            view! {
                <Sentence label="Reads" problem=gates.seen.problem/>
                <p class="view-note gates-meaning">{move || meaning(gates)} {move || offer(gates)}</p>
            }
            .into_any()
        }
    };
    view! {
        <div class="view-bar gates-bar" class:gates-edit-on=gates.edit>
            <Quantities gates/>
            <EditBar gates/>
            <Show when=move || !gates.edit.get()>
                <div class="gates-reads">
                    <ChoiceField name="gates-sentence"/>
                    <Show when=move || gates.is_drawn.get()>
                        <SliderField name="gates-sample" most=20.0/>
                    </Show>
                </div>
            </Show>
        </div>
        {reading}
        <Cells gates/>
        <div class="gates-foot">
            <Pinned gates/>
            <Outcome gates/>
            <HeldList gates/>
        </div>
    }
    .into_any()
}

/// What a generated task makes of the learner's characters.
fn meaning(gates: Gates) -> &'static str {
    match gates.task.get() {
        TaskChoice::Brackets => {
            "“(”, “[” and “{” open; “)”, “]” and “}” close. To this model, all other characters are one letter."
        }
        TaskChoice::Quotes => {
            "This model knows the quotation mark. It reads each remaining character as one of four letters."
        }
        TaskChoice::Text => "",
    }
}

/// What puts brackets in place of the learner's sentence, which may have none to count.
fn offer(gates: Gates) -> Option<AnyView> {
    let take = move |_| gates.store.set_probe(BRACKETED.to_owned());
    (gates.task.get() == TaskChoice::Brackets).then(|| {
        view! {
            <button type="button" class="gates-link" data-testid="gates-bracketed" on:click=take>
                {format!("Read “{BRACKETED}”")}
            </button>
        }
        .into_any()
    })
}

/// Which quantity is drawn, and whose products the circuit shows.
#[component]
pub fn Quantities(gates: Gates) -> impl IntoView {
    let segment = move |quantity: Quantity| {
        let choose = move |_| gates.store.link.update(|l| l.gates.shown = quantity);
        view! {
            <label class="segment gates-quantity" data-part=part(quantity) title=quantity.label()>
                <input type="radio" name="gates-quantity" data-testid=format!("gates-show-{}", quantity.id())
                    prop:checked=move || gates.shown.get() == quantity on:change=choose/>
                <i class="gates-letter">{quantity.id()}</i>
                <span class="gates-name">{quantity.label().split(' ').next()}</span>
            </label>
        }
        .into_any()
    };
    let choices = move || gates.cell.get().quantities().iter().copied().map(segment).collect_view();
    view! {
        <div class="segments gates-quantities" role="radiogroup" aria-label="What is drawn">{choices}</div>
    }
    .into_any()
}

/// The name under which text, formula and figure speak of a quantity.
pub fn part(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Input => "input-gate",
        Quantity::Forget => "forget-gate",
        Quantity::Candidate | Quantity::New => "candidate",
        Quantity::Output => "output-gate",
        Quantity::Reset => "reset-gate",
        Quantity::Update => "update-gate",
        Quantity::Cell => "cell-state",
        Quantity::Hidden => "hidden-state",
    }
}

/// The colors of a quantity. A cell state has no bound, and one unit that only grows must not wash out all
/// others: each has its own scale.
fn map_of(quantity: Quantity) -> ValueMap {
    match quantity {
        Quantity::Cell => ValueMap::EachRow,
        _ if quantity.opens() => ValueMap::Probability,
        _ => ValueMap::Signed { limit: 1.0 },
    }
}

/// Whether the rows are so many that a number is all the name they have room for.
fn is_crowded(seen: &Seen) -> bool {
    seen.values.shape[0] > 20
}

/// What row `unit` of the quantity is called.
pub fn row_name(unit: usize) -> String {
    format!("unit {}", unit + 1)
}

#[component]
fn Cells(gates: Gates) -> impl IntoView {
    let matrix = memo(move || {
        gates
            .seen(|seen| Matrix {
                row_axis: if is_crowded(seen) { "unit".into() } else { String::new() },
                column_axis: String::new(),
                rows: if is_crowded(seen) {
                    (1..=seen.values.shape[0]).map(|unit| unit.to_string()).collect()
                } else {
                    (0..seen.values.shape[0] as usize).map(row_name).collect()
                },
                columns: seen.tokens.clone(),
                values: seen.values.values.clone(),
                map: map_of(seen.quantity),
                value_name: seen.quantity.id().into(),
                absent: String::new(),
            })
            .unwrap_or_default()
    });
    // The first beat asks which rows follow: until one is chosen none is framed.
    let framed_row = memo(move || {
        let is_open = gates.at.get().is_none() && !gates.edit.get();
        let asks = gates.store.link.with(|link| link.idea == 0 && link.gates.unit == 0);
        (!asks || !is_open).then(|| gates.unit.get())
    });
    let title = memo(move || {
        let quantity = gates.seen(|seen| seen.quantity).unwrap_or(gates.shown.get());
        let framed = framed_row.get().and_then(|unit| {
            let follows = Follows::new(gates)?.in_title();
            Some(format!("Framed: {}, {follows}", row_name(unit)))
        });
        let rest = framed.unwrap_or_else(|| "Each row is one unit".into());
        format!("{}. {rest}", named(quantity))
    });
    // What was held by a press lets go by one on the same cell: on another of its row a press only reads.
    let pressed = RwSignal::new(None);
    let describe = Callback::new(move |(unit, at, value): (usize, usize, f32)| {
        let is_pressed = gates.edit.get() && pressed.get() == Some((unit, at));
        gates.seen(|seen| sentence(seen, unit, at, value, is_pressed)).unwrap_or_default()
    });
    let held = memo(move || {
        let places = gates.seen(|seen| seen.held.clone()).unwrap_or_default();
        let mut places: Vec<(usize, usize)> =
            places.into_iter().map(|(unit, at)| (unit as usize, at as usize)).collect();
        places.extend(gates.at.get().map(|at| (gates.unit.get(), at)));
        places
    });
    let pick = Callback::new(move |(unit, at): (usize, usize)| {
        if !gates.edit.get_untracked() {
            gates.pin(unit, at);
            return;
        }
        let gate = gates.shown.get_untracked();
        if !gate.opens() {
            return;
        }
        let (open, from) = gates.store.link.with_untracked(|l| {
            let from = if l.gates.reach == ReachChoice::From { at as u32 + 1 } else { 1 };
            (l.gates.hold == HoldChoice::Open, from)
        });
        let held = Forced { gate, unit: unit as u32 + 1, open, from };
        let is_held = gates.forced.with_untracked(|forced| forced.contains(&held));
        let lets_go = is_held && pressed.get_untracked() == Some((unit, at));
        pressed.set((!lets_go).then_some((unit, at)));
        if lets_go || !is_held {
            gates.hold(held);
        }
    });
    let note = move || {
        gates.seen(|seen| seen.dropped).filter(|&dropped| dropped > 0).map(|dropped| {
            view! {
                <p class="view-note">
                    {format!("The first {} characters are drawn; {dropped} more are left out.",
                        unroll_protocol::study::gates::MOST_CHARACTERS)}
                </p>
            }
        })
    };
    view! {
        <div class="view-fill gates-cells" class:gates-editing=gates.edit
            class:gates-crowded=move || gates.seen(is_crowded) == Some(true)>
            <MatrixFigure name="gates-cells" title matrix describe marked=held hint=Signal::derive(move || says(gates))
                row=framed_row column=Signal::derive(move || gates.at.get())
                on_pick=pick provenance=gates.provenance above=strips::known(gates) below=strips::sure(gates)/>
        </div>
        {note}
    }
    .into_any()
}

/// The sentence for a cell: its value and the sum that made it, or how to let go of it.
fn sentence(seen: &Seen, unit: usize, at: usize, value: f32, is_pressed: bool) -> String {
    let name = seen.quantity.id();
    let character = seen.tokens.get(at).map_or(String::new(), |t| token::name_at(t, at));
    let place = format!("{}, after {character}: ", row_name(unit));
    let held = seen.held.contains(&(unit as u32, at as u32));
    let part = |array: &Option<unroll_protocol::Array>| array.as_ref()?.get(&[unit, at]);
    let (Some(a), Some(b)) = (part(&seen.from_input), part(&seen.from_state)) else {
        return format!("{place}{name} = {}", three(value));
    };
    let (first, second) = (three(a), three(b));
    let function = if seen.quantity.opens() { "σ" } else { "tanh" };
    let made = match seen.quantity {
        Quantity::Cell => {
            format!("f · c before = {second}, i · g = {first}; added: {name} = {}", three(value))
        }
        Quantity::Hidden if seen.cell.quantities().contains(&Quantity::Cell) => {
            format!("o = {first} times tanh(c) = {second}: {name} = {}", three(value))
        }
        Quantity::Hidden => {
            format!(
                "(1 − z) · n = {first}, z · h before = {second}; added: {name} = {}",
                three(value)
            )
        }
        _ => {
            let sum = three(a + b);
            let from = from_state(seen.quantity);
            let made = format!("W x + b = {first}, {from} = {second}, sum {sum}");
            if held && is_pressed {
                worded("held. Click it again to let go.").into_owned()
            } else if held {
                format!("held at {value}. With nothing held: {made}")
            } else {
                format!("{made}; {name} = {function}({sum}) = {}", three(value))
            }
        }
    };
    format!("{place}{made}")
}

/// The view of the answers: how sure the model is of the right one at every character, with and
/// without force.
#[component]
pub fn Answers(gates: Gates) -> impl IntoView {
    let lines = memo(move || {
        gates
            .seen(|seen| {
                let line = |name: &str, hue, dash, guesses: &[Guess]| {
                    // An answer that it does not have has no probability.
                    let right = |(at, guess): (usize, &Guess)| {
                        let right = guess.right.or_else(|| beyond(seen, at).map(|_| 0.0))?;
                        Some(((at + 1) as f64, right.into()))
                    };
                    let points = guesses.iter().enumerate().filter_map(right).collect();
                    Line::new(name, hue, dash, points)
                };
                let now = |name| line(name, Hue::Output, Dash::Solid, &seen.guesses);
                let free = seen.free_guesses.as_deref();
                let series = match free {
                    Some(free) => {
                        let learned = line("as learned", Hue::Muted, Dash::Dashed, free);
                        vec![learned, now("with force")]
                    }
                    None => vec![now("as learned")],
                };
                let (x_label, y_label) = ("character".into(), "p(right answer)".into());
                let y_range = Some((0.0, 1.0));
                Lines { x_label, y_label, series, y_range, ..Lines::default() }
            })
            .unwrap_or_default()
    });
    let tokens = Signal::derive(move || gates.seen(|seen| seen.tokens.clone()).unwrap_or_default());
    let choose = move |at: usize| gates.store.link.update(|l| l.gates.at = at as u32 + 1);
    let pick = Callback::new(move |x: f64| choose((x as usize).saturating_sub(1)));
    let marker = Signal::derive(move || gates.step.get().map(|at| (at + 1) as f64));
    let ruler = RwSignal::new(None);
    let said = move || {
        let at = gates.step.get()?;
        gates.seen(|seen| guessed(seen, at))
    };
    view! {
        <StepRow label="Character" tokens chosen=gates.step on_choose=Callback::new(choose) over=ruler/>
        <LinesFigure name="gates-predictions" title="Probability of the right answer" lines marker on_pick=pick ruler
            provenance=gates.provenance/>
        <div class="gates-foot">
            <p data-testid="gates-said">{said}</p>
            <Outcome gates/>
            <HeldList gates/>
        </div>
    }
    .into_any()
}

/// How many answers are right.
#[component]
fn Outcome(gates: Gates) -> impl IntoView {
    view! {
        <p class="gates-outcome" role="status" data-testid="gates-outcome">{move || outcome(gates)}</p>
    }
    .into_any()
}

/// What the model answers after the character at `at`.
fn guessed(seen: &Seen, at: usize) -> String {
    let Some(guess) = seen.guesses.get(at) else { return String::new() };
    let name =
        |answer: u32| seen.answers.get(answer as usize).map_or("?".into(), |a| token::mark(a));
    let character = token::name_at(seen.tokens.get(at).map_or("", |t| t), at);
    let says = format!(
        "After {character} it answers {} ({})",
        name(guess.likeliest),
        three(guess.probability)
    );
    match seen.right.get(at).copied().flatten() {
        Some(right) if right == guess.likeliest => format!("{says}, which is right."),
        Some(right) => {
            let sure = guess.right.map(three).unwrap_or_default();
            format!("{says}. The right answer is {}, which has {sure}.", name(right))
        }
        None => match beyond(seen, at) {
            Some(depth) => format!(
                "{says}. The right answer would be {depth}, but the model can’t give it: in training there were never \
                 more than {} brackets open.",
                seen.answers.len() - 1
            ),
            None => format!("{says}. The right answer is not known."),
        },
    }
}

/// How many answers are right, and what is different with the gates that are held.
pub fn outcome(gates: Gates) -> Option<String> {
    // As they were when the model was asked: the words change with the numbers, not before them.
    let what = gates.forced.with_untracked(|forced| match &forced[..] {
        [held] if held.open => "With the gate held open",
        [_] => "With the gate held shut",
        _ => "With these gates held",
    });
    gates.seen(|seen| went(seen, what))
}

fn went(seen: &Seen, what: &str) -> String {
    let right = |guesses: &[Guess]| {
        guesses.iter().zip(&seen.right).filter(|(g, r)| Some(g.likeliest) == **r).count()
    };
    let without = (0..seen.right.len()).filter(|at| beyond(seen, *at).is_some()).count();
    let asked = seen.right.iter().flatten().count() + without;
    let now = right(&seen.guesses);
    let Some(loss) = seen.loss else { return "No right answer is known here.".into() };
    match (&seen.free_guesses, seen.free_loss) {
        (Some(free), Some(free_loss)) => {
            let free = match right(free) {
                free if free == asked => format!("all {free}"),
                free => free.to_string(),
            };
            format!(
                "{what}, the right answers are {now} of {asked}. With nothing held: {free}. The loss on this string goes from {} to {}.",
                three(free_loss),
                three(loss)
            )
        }
        _ if without > 0 => format!(
            "{now} of {asked} answers are right. For {without} of them, the model has no right answer to give. \
             Over the others, the loss is {}. No gate is held.",
            three(loss)
        ),
        _ => format!(
            "{now} of {asked} answers are right; the loss on this string is {}. No gate is held.",
            three(loss)
        ),
    }
}
