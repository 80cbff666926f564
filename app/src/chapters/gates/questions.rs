//! A guess before gates are forced, and the question that checks oneself.

use leptos::prelude::*;
use unroll_protocol::study::gates::{Forced, MOST_SHUT, Outcome, Quantity, ReachChoice, Shut, ask};

use super::state::{Gates, ranking, three};
use crate::{
    course::use_right,
    questions::{Answered, use_answer},
    reactive::memo,
    teaching::{CheckYourself, GuessFirst},
};

/// What shutting `gate` of each of `units` costs, asked while the model stands still.
fn use_shut(
    gates: Gates,
    gate: impl Fn() -> Quantity + Send + Sync + 'static,
    units: Memo<Vec<u32>>,
) -> Answered<Shut> {
    use_answer(gates.lab, move || {
        let units = units.get();
        // A ranking of another moment is about to change, and with it the question.
        let is_of_now = gates.units(|ranked| ranked.step) == Some(gates.lab.shown());
        if units.is_empty() || !is_of_now || !gates.is_still() {
            return None;
        }
        Some(ask::Shut { sentence: gates.sentence.get(), gate: gate(), units })
    })
}

/// The answer, if it is about the model as it is and the units as they rank.
fn shut<R>(
    gates: Gates,
    answered: Answered<Shut>,
    units: Memo<Vec<u32>>,
    read: impl FnOnce(&Shut) -> R,
) -> Option<R> {
    let step = gates.lab.shown();
    let is_now = |shut: &Shut| shut.step == step && units.with(|units| *units == shut.units);
    answered.read(|shut| is_now(shut).then(|| read(shut))).flatten()
}

/// Share of the right answers that are still right.
fn kept(free: Outcome, now: Outcome) -> f32 {
    now.right as f32 / free.right.max(1) as f32
}

#[component]
pub fn Guess(gates: Gates) -> impl IntoView {
    let best = memo(move || {
        let best = gates.units(|units| ranking(units).first().map(|r| r.0 as u32)).flatten();
        best.into_iter().collect::<Vec<u32>>()
    });
    let answered = use_shut(gates, move || gates.keeper(), best);
    let unit = move || best.with(|best| best.first().map_or(1, |unit| unit + 1));
    let question = Signal::derive(move || {
        let what = if gates.keeper() == Quantity::Forget { "forget" } else { "update" };
        format!(
            "Unit {} follows the answer best. We hold its {what} gate shut at every character, so that it keeps \
             nothing. What happens to the answers that were right?",
            unit()
        )
    });
    let options = Signal::stored(
        [
            "Nearly all stay right: other units know it too",
            "Up to half of them go wrong",
            "Most of them go wrong",
        ]
        .map(str::to_owned)
        .to_vec(),
    );
    let answer = Signal::derive(move || {
        shut(gates, answered, best, |shut| match kept(shut.free, shut.outcomes[0]) {
            kept if kept > 0.9 => 0,
            kept if kept > 0.5 => 1,
            _ => 2,
        })
    });
    let explain = Signal::derive(move || {
        shut(gates, answered, best, |shut| {
            let now = shut.outcomes[0];
            format!(
                "{} of {} were right, {} still are; the loss goes from {} to {}.",
                shut.free.right,
                shut.free.asked,
                now.right,
                three(shut.free.loss),
                three(now.loss)
            )
        })
        .unwrap_or_default()
    });
    let held = move || Forced { gate: gates.keeper(), unit: unit(), open: false, from: 1 };
    let is_held = memo(move || gates.forced.with(|forced| forced.contains(&held())));
    let hold = move |_| {
        let (held, is_held) = untrack(|| (held(), is_held.get()));
        gates.store.link.update(|l| {
            if is_held {
                return l.gates.forced.clear();
            }
            l.view.clear();
            l.gates.shown = held.gate;
            l.gates.reach = ReachChoice::Every;
            l.gates.forced = vec![held];
        });
    };
    view! {
        <GuessFirst id="gates-shut" question options answer explain on_right=use_right("gates-shut")>
            <p>"See it character by character in the figure:"</p>
            <button type="button" class="button" data-testid="gates-shut-it" on:click=hold>
                {move || if is_held.get() { "Let it go" } else { "Hold it shut" }}
            </button>
        </GuessFirst>
    }
    .into_any()
}

#[component]
pub fn Check(gates: Gates) -> impl IntoView {
    // From best to worst, so that the ranking gives a hint and not the answer.
    let units = memo(move || {
        gates
            .units(|units| {
                let ranking = ranking(units);
                let ranking: Vec<u32> = if ranking.is_empty() {
                    (0..units.memory.len() as u32).collect()
                } else {
                    ranking.into_iter().map(|r| r.0 as u32).collect()
                };
                let last = ranking.len().saturating_sub(1);
                let parts = MOST_SHUT - 1;
                let mut picked: Vec<u32> =
                    (0..MOST_SHUT).map(|i| ranking[(i * last).div_ceil(parts)]).collect();
                picked.sort_unstable();
                picked.dedup();
                picked
            })
            .unwrap_or_default()
    });
    let gate = move || {
        if gates.keeper() == Quantity::Forget { Quantity::Output } else { Quantity::Update }
    };
    let answered = use_shut(gates, gate, units);
    let question = Signal::derive(move || {
        format!(
            "Hold the {} of one of these units shut at every character of the string in the figure. Which one \
             costs the model most?",
            gate().label()
        )
    });
    let options = Signal::derive(move || {
        units
            .with(|units| units.iter().map(|unit| format!("Unit {}", unit + 1)).collect::<Vec<_>>())
    });
    let worst = |shut: &Shut| {
        let losses = shut.outcomes.iter().map(|o| o.loss).enumerate();
        losses.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |worst| worst.0)
    };
    let answer = Signal::derive(move || {
        (units.with(Vec::len) > 1).then_some(())?;
        shut(gates, answered, units, worst)
    });
    let explain = Signal::derive(move || {
        shut(gates, answered, units, |shut| {
            let each = shut.units.iter().zip(&shut.outcomes);
            let each = each.map(|(unit, o)| format!("unit {}: {}", unit + 1, three(o.loss)));
            format!(
                "The loss is {} with nothing held, and with {} shut, {}.",
                three(shut.free.loss),
                shut.gate.id(),
                each.collect::<Vec<_>>().join(", ")
            )
        })
        .unwrap_or_default()
    });
    view! {
        <CheckYourself id="gates" question options answer explain on_right=use_right("gates")/>
        <p class="hint">"To find out, hold gates in the figure, or look at which units follow the answer."</p>
    }
    .into_any()
}
