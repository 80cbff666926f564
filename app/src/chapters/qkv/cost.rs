//! What it costs: the time of a recurrent layer and of an attention layer against length.

use leptos::prelude::*;
use unroll_protocol::study::qkv::{Cost, LENGTHS, WIDTH, ask};

use crate::{
    course::{use_lab, use_provenance},
    figures::{Dash, Hue, Line, Lines, LinesFigure},
    questions::use_answer,
    reactive::{effect, memo},
};

/// What is measured: each length by both, in turn.
const ALL: usize = LENGTHS.len() * 2;

pub fn view() -> AnyView {
    let lab = use_lab();
    let provenance = use_provenance();
    let round = RwSignal::new(1u32);
    // Measured in this round; and the quickest of all rounds, for noise only ever makes one slower.
    let done = RwSignal::new(0usize);
    let costs = RwSignal::new(Vec::<Cost>::new());
    let next = memo(move || {
        let done = done.get();
        (done < ALL).then(|| (LENGTHS[done / 2], done % 2 == 1))
    });
    let answered = use_answer(lab, move || {
        let (length, attention) = next.get()?;
        lab.started.with(Option::is_some).then(|| ask::Cost {
            length,
            attention,
            round: round.get(),
        })
    });
    effect(move || {
        let Some(cost) = answered.answer.get() else { return };
        {
            let wanted = next.get_untracked();
            if wanted == Some((cost.length, cost.attention)) && cost.round == round.get_untracked()
            {
                let at = done.get_untracked();
                costs.update(|costs| match costs.get_mut(at) {
                    Some(before) if before.milliseconds <= cost.milliseconds => {}
                    Some(before) => *before = *cost,
                    None => costs.push(*cost),
                });
                done.set(at + 1);
            }
        }
    });
    let again = move |_| {
        round.update(|round| *round += 1);
        done.set(0);
    };
    let lines = Signal::derive(move || costs.with(|costs| curves(costs)));
    view! {
        <div class="view-bar qkv-bar">
            <p>"One layer of each, "{WIDTH}" units wide, timed now on this machine."</p>
            <button type="button" class="button" data-testid="qkv-cost-again" on:click=again>"Measure again"</button>
        </div>
        <LinesFigure name="qkv-cost" title="Time to read T vectors" lines provenance hint="Measuring …"/>
        <p class="view-note qkv-verdict" data-testid="qkv-cost" data-count=move || done.get().to_string()>
            {move || costs.with(|costs| verdict(costs, done.get()))}
        </p>
        <p class="field-error" role="alert">{move || answered.problem.get()}</p>
    }
    .into_any()
}

fn curves(costs: &[Cost]) -> Lines {
    let line = |attention: bool, name: &str, hue, dash| {
        Line::new(
            name,
            hue,
            dash,
            costs
                .iter()
                .filter(|cost| cost.attention == attention)
                .map(|cost| (f64::from(cost.length), f64::from(cost.milliseconds)))
                .collect(),
        )
    };
    Lines {
        x_label: "T".into(),
        y_label: "milliseconds".into(),
        series: vec![
            line(false, "recurrent, T steps", Hue::Hidden, Dash::Solid),
            line(true, "attention, 1 step", Hue::Key, Dash::Dashed),
        ],
        x_range: Some((0.0, f64::from(LENGTHS[LENGTHS.len() - 1]))),
        ..Lines::default()
    }
}

/// What the times say, in words.
fn verdict(costs: &[Cost], done: usize) -> String {
    if done < ALL {
        return format!("Measured {done} of {ALL}.");
    }
    let time = |length: u32, attention: bool| {
        let found = costs.iter().find(|c| (c.length, c.attention) == (length, attention));
        found.map_or(f64::NAN, |cost| f64::from(cost.milliseconds))
    };
    let (half, full) = (LENGTHS[LENGTHS.len() - 2], LENGTHS[LENGTHS.len() - 1]);
    let grows = |attention| time(full, attention) / time(half, attention);
    let quicker = LENGTHS.iter().rev().find(|length| time(**length, true) < time(**length, false));
    let who = match quicker {
        Some(length) if *length == full => {
            format!("Here attention is quicker up to T = {full}, and perhaps beyond.")
        }
        Some(length) => format!("Here attention is quicker up to T = {length}."),
        None => "Here attention is never quicker.".to_owned(),
    };
    format!(
        "From T = {half} to {full} the recurrent layer takes {:.1} times as long, {:.2} ms, and attention {:.1} times, \
         {:.2} ms. The first has twice the steps, the second four times the scores. {who} A GPU does thousands of sums at \
         once, so there the steps that must wait for each other cost far more.",
        grows(false),
        time(full, false),
        grows(true),
        time(full, true)
    )
}
