//! How far each unit's gates are open against how long it remembers.

use crate::reactive::memo;
use leptos::prelude::*;
use unroll_protocol::study::gates::{Quantity, Units};

use super::state::{Gates, named, three};
use super::{
    circuit::gate_hue,
    scatter::{Cloud, Scatter, ScatterFigure},
};

/// The shortest memory on the axis.
const SHORTEST: f64 = 0.5;

#[component]
pub fn Memory(gates: Gates) -> impl IntoView {
    let scatter = memo(move || gates.units(clouds).unwrap_or_default());
    let chosen = Signal::derive(move || Some(gates.unit.get()));
    let pick = Callback::new(move |unit: usize| gates.choose_unit(unit));
    let words = move || gates.units(says);
    view! {
        <ScatterFigure name="gates-memory" title="Each dot is a unit: farther right, the gate is more open; higher up, the memory is longer"
            scatter chosen on_pick=pick provenance=gates.provenance/>
        <p class="view-note" role="status" data-testid="gates-memory-says">{words}</p>
        <details class="disclosure gates-meant" data-testid="gates-memory">
            <summary>"What length of memory means here"</summary>
            <p>
                "After 8 characters we add 0.1 to the unit’s own state and to nothing else. Then the model reads on. \
                 The unit’s memory is the number of steps until less than 37% (1/e) of that change is left in its \
                 state, by whatever path. It is averaged over 3 strings. So the number comes from running the \
                 model, not from its gates."
            </p>
        </details>
    }
    .into_any()
}

fn clouds(units: &Units) -> Scatter {
    let floor = |steps: &f32| f64::from(*steps).max(SHORTEST);
    // As high as these memories need, so that short ones are told apart.
    let most = 1.5 * units.memory.iter().map(floor).fold(2.0, f64::max);
    Scatter {
        points: (1..=units.memory.len()).map(|unit| format!("unit {unit}")).collect(),
        x_label: "mean opening".into(),
        y_label: "steps of memory".into(),
        y_range: (SHORTEST, most.min(units.longest.into()).max(2.0 * SHORTEST)),
        y_log: true,
        ys: units.memory.iter().map(floor).collect(),
        clouds: units
            .means
            .iter()
            .map(|(gate, means)| Cloud {
                name: named(*gate),
                hue: Some(gate_hue(*gate)),
                xs: means.iter().map(|mean| f64::from(*mean)).collect(),
            })
            .collect(),
    }
}

/// Correlation over the units of a gate's mean with the logarithm of the memory's length.
fn with_memory(units: &Units, gate: Quantity) -> Option<f64> {
    let (_, means) = units.means.iter().find(|(other, _)| *other == gate)?;
    let memory = units.memory.iter().map(|steps| f64::from(*steps).max(SHORTEST).ln());
    let pairs: Vec<(f64, f64)> = means.iter().map(|mean| f64::from(*mean)).zip(memory).collect();
    let count = pairs.len() as f64;
    let (mx, my) = pairs.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / count, m.1 + p.1 / count));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|p| f(p.0 - mx, p.1 - my)).sum::<f64>();
    let scale = (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt();
    (pairs.len() > 2 && scale > 1e-9).then(|| sum(&|x, y| x * y) / scale)
}

/// How open the keepers are and how long the memories, in this GRU.
pub fn longest(gates: Gates) -> Option<String> {
    gates.units(|units| {
        let (_, means) = units.means.iter().find(|(gate, _)| *gate == Quantity::Update)?;
        let most = |values: &[f32]| values.iter().copied().fold(0f32, f32::max);
        let (open, steps) = (most(means), most(&units.memory));
        let more = if steps >= units.longest as f32 { " or more" } else { "" };
        let next = if steps < SHORT {
            "So a small change does not last long in any unit. The network can still keep a count: n is \
             made from the old h too, so the units can pass the count on from step to step."
        } else {
            "In that view, the sentence under the figure says whether units with a larger z remember longer."
        };
        Some(format!(
            "In your model no unit’s z is above {open:.2} on average, and the longest memory is {steps:.1} \
             steps{more}. {next}"
        ))
    })?
}

/// Memories of fewer steps than this are hardly told apart.
const SHORT: f32 = 3.0;

/// What this model's units say of their gates and their memory.
fn says(units: &Units) -> String {
    let keeper = Quantity::Forget.of(units.cell);
    let Some(keeps) = with_memory(units, keeper) else {
        return "There are too few units to compare.".into();
    };
    let id = keeper.id();
    let count = units.memory.len();
    // What is weaker than this comes about by chance in more than 1 of 20 such networks.
    let strong = 2.0 / (count as f64).sqrt();
    let little = format!("too close to 0 to tell with {count} units");
    let keeps_words = match keeps {
        r if r > strong => format!("units with a larger {id} remember longer"),
        r if r < -strong => format!("here units with a larger {id} remember for fewer steps"),
        _ => little.clone(),
    };
    let most = units.memory.iter().copied().fold(0f32, f32::max);
    let short = if most < SHORT {
        format!("No memory here lasts longer than {most:.1} steps: each unit is soon overwritten. ")
    } else {
        String::new()
    };
    let first = format!(
        "{short}Across the units, the mean of {id} and the length of memory have correlation {}: {keeps_words}.",
        three(keeps as f32)
    );
    let Some(resets) = with_memory(units, Quantity::Reset) else { return first };
    let resets_words = match resets {
        r if r > strong => "units that reset more often (r near 0) remember for fewer steps",
        r if r < -strong => "here units that reset more often (r near 0) remember longer",
        _ => &little,
    };
    format!(
        "{first} The mean of the reset gate and the length of memory have correlation {}: {resets_words}.",
        three(resets as f32)
    )
}
