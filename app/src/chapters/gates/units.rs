//! Which unit follows what, ranked, and the chosen one beside what it follows.

use leptos::prelude::*;
use unroll_protocol::study::gates::{Followed, Quantity};

use super::{
    figure::row_name,
    state::{Gates, followed, ranking, three},
};
use crate::{
    figures::{Dash, Hue, Line, Lines, LinesFigure},
    reactive::memo,
};

/// Units listed: enough to see how fast it falls off.
const LISTED: usize = 12;

#[component]
pub fn Counts(gates: Gates) -> impl IntoView {
    let rows = memo(move || {
        gates
            .units(|units| {
                let mut rows = ranking(units);
                rows.truncate(LISTED);
                rows
            })
            .unwrap_or_default()
    });
    let row = move |(unit, r): (usize, f32)| {
        let chosen = move || gates.unit.get() == unit;
        // From the middle to the right, and to the left of a unit that counts downward.
        let width = 50.0 * r.abs();
        let bar = format!(
            "width:{width:.0}%;margin-left:{:.0}%",
            if r < 0.0 { 50.0 - width } else { 50.0 }
        );
        view! {
            <li>
                <button type="button" class="gates-rank" class:gates-chosen=chosen
                    aria-pressed=move || chosen().to_string() data-testid=format!("gates-unit-{}", unit + 1)
                    on:click=move |_| gates.choose_unit(unit)>
                    <span>{format!("unit {}", unit + 1)}</span>
                    <span class="gates-rank-bar" aria-hidden="true"><i style=bar></i></span>
                    <span class="number">{format!("r = {}", three(r))}</span>
                </button>
            </li>
        }
        .into_any()
    };
    view! {
        <p class="view-note" role="status" data-testid="gates-best">{move || gates.units(|_| best(gates)).flatten()
            .unwrap_or_else(|| nothing(gates))}</p>
        <div class="view-side has-aside" data-testid="gates-units">
            <div><Beside gates/></div>
            <div>
                <ol class="gates-ranks view-scroll" aria-label="Units, the one that follows best first">
                    {move || rows.get().into_iter().map(row).collect_view()}
                </ol>
            </div>
        </div>
    }
    .into_any()
}

/// The claim, of this model at this step.
pub fn best(gates: Gates) -> Option<String> {
    gates.units(|units| {
        let (what, _) = units.follows.first()?;
        let (unit, r) = *ranking(units).first()?;
        let state = units.cell.memory().id();
        let (what, way) = (answer(*what), if r < 0.0 { ", upside down" } else { "" });
        Some(format!(
            "On {} characters that it was not trained on, {state} of unit {} follows {what}{way}: r = {}.",
            units.characters,
            unit + 1,
            three(r)
        ))
    })?
}

/// What the model is asked for, in a sentence.
fn answer(what: Followed) -> &'static str {
    match what {
        Followed::Depth => "the bracket depth",
        Followed::Quotation => "whether it is inside a quotation",
    }
}

/// How well the unit that is looked at follows the answer.
pub fn follows(gates: Gates) -> Option<String> {
    let unit = gates.unit.get();
    gates.units(|units| {
        let (what, r) = units.follows.first()?;
        Some(format!("Correlation with {}: {}.", answer(*what), three(*r.get(unit)?)))
    })?
}

/// Which row is framed, how well its unit follows, and how open its `keeper` is, in the row itself where that is
/// on show: nothing of a cell that has another one.
pub fn framed(gates: Gates, keeper: Quantity) -> String {
    let unit = gates.unit.get();
    let on_show = gates.seen(|seen| {
        let row = (seen.quantity == keeper).then(|| seen.values.block(&[unit]))??;
        Some(row.iter().sum::<f32>() / row.len() as f32)
    });
    let framed = gates.units(|units| {
        let r = *units.follows.first()?.1.get(unit)?;
        let (_, means) = units.means.iter().find(|(gate, _)| *gate == keeper)?;
        let (r, name, keeper) = (three(r), row_name(unit), keeper.id());
        let state = units.cell.memory().id();
        let average = match on_show.flatten() {
            Some(mean) => format!("In this row, {keeper} is {} on average.", three(mean)),
            None => format!(
                "On {} other characters, its {keeper} is {} on average.",
                units.characters,
                three(*means.get(unit)?)
            ),
        };
        Some(format!(
            "The framed row is {name}: the correlation of its {state} with the depth is {r}, where 1 is perfect. \
             {average}"
        ))
    });
    framed.flatten().unwrap_or_default()
}

/// How the framed unit of a GRU keeps its count, or not.
pub fn way_of_gru(gates: Gates) -> &'static str {
    let unit = gates.unit.get();
    let mean = gates.units(|units| {
        let (_, means) = units.means.iter().find(|(gate, _)| *gate == Quantity::Update)?;
        means.get(unit).copied()
    });
    match mean.flatten() {
        None => "",
        Some(mean) if mean < 0.5 => "So most of its count is written anew by n at each step.",
        Some(_) => "So most of its count stays from step to step.",
    }
}

pub fn nothing(gates: Gates) -> String {
    if gates.units(|_| ()).is_none() {
        return "The model is still being built.".into();
    }
    "The held-out end of this text has neither brackets nor quotation marks, so there is nothing for a unit to \
     follow. Choose the task of brackets or of quotations."
        .into()
}

/// The chosen unit's state and what it follows, over the characters that are read.
#[component]
fn Beside(gates: Gates) -> impl IntoView {
    let lines = memo(move || {
        let unit = gates.unit.get();
        gates
            .seen(|seen| {
                let line = |values: &[f32], name: String, hue, dash| {
                    Line::new(
                        name,
                        hue,
                        dash,
                        values
                            .iter()
                            .enumerate()
                            .map(|(at, value)| ((at + 1) as f64, f64::from(*value)))
                            .collect(),
                    )
                };
                let state = seen.cell.memory().id();
                let hue = if state == "c" { Hue::Cell } else { Hue::Hidden };
                let mut series = Vec::new();
                if let Some(values) = seen.memory.block(&[unit]) {
                    series.push(line(
                        values,
                        format!("{state} of unit {}", unit + 1),
                        hue,
                        Dash::Solid,
                    ));
                }
                let free = seen.free_memory.as_ref().and_then(|free| free.block(&[unit]));
                if let Some(values) = free {
                    series.push(line(values, "with nothing held".into(), hue, Dash::Dotted));
                }
                for (what, values) in &seen.followed {
                    let dash = if *what == Followed::Depth { Dash::Dashed } else { Dash::Mixed };
                    series.push(line(values, followed(*what).into(), Hue::Ink, dash));
                }
                Lines { x_label: "character".into(), series, ..Lines::default() }
            })
            .unwrap_or_default()
    });
    let title = memo(move || format!("Unit {} beside what it could follow", gates.unit.get() + 1));
    let marker = Signal::derive(move || gates.at.get().map(|at| (at + 1) as f64));
    let pick = Callback::new(move |x: f64| {
        let unit = gates.unit.get_untracked();
        gates.pin(unit, (x as usize).saturating_sub(1));
    });
    view! {
        <LinesFigure name="gates-beside" title lines provenance=gates.provenance marker on_pick=pick/>
    }
    .into_any()
}
