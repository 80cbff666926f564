//! Which unit follows what, ranked, and the chosen one beside what it follows. What is said of a unit is first
//! said of the characters on show, where it can be seen; and then of many others, which one string can't replace.

use leptos::prelude::*;
use unroll_protocol::study::gates::{Followed, Quantity};

use super::{
    figure::row_name,
    state::{Gates, followed, ranking, three},
};
use crate::{
    controls::grouped,
    figures::{Dash, Hue, Line, Lines, LinesFigure, Ruler, token::mark},
    reactive::memo,
};

/// Units listed: enough to see how fast it falls off.
const LISTED: usize = 12;

/// What the characters on show are called.
const HERE: &str = "this string";

/// How to read r, for who has not opened what the story says of it.
const READ_R: &str = "At r = 1 a unit follows exactly, at −1 exactly upside down, at 0 not at all.";

/// From so close a correlation on a unit is said to count: more than half of how its state varies goes with what it
/// follows (r² is that share).
const COUNTS: f32 = 0.75;

/// Narrower places than this, in CSS pixels, have no room for a character each.
const LEAST: f64 = 8.0;

#[component]
pub fn Counts(gates: Gates) -> impl IntoView {
    let rows = memo(move || {
        let held_out = gates.units(ranking).unwrap_or_default();
        // Of the untrained model they would stand beside those of a trained one.
        let is_now = gates.settled.get();
        let row = |(unit, others)| {
            (unit, gates.follows_here(unit).map(|(_, r)| r), is_now.then_some(others))
        };
        let mut rows: Vec<_> = held_out.into_iter().map(row).collect();
        let size = |here: Option<f32>| here.map_or(0.0, f32::abs);
        // Where nothing changes on show, the order of the others stays.
        rows.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
        rows.truncate(LISTED);
        rows
    });
    let characters = move || gates.units(|units| units.characters).unwrap_or_default();
    let row = move |(unit, here, others): (usize, Option<f32>, Option<f32>)| {
        let chosen = move || gates.unit.get() == unit;
        // From the middle to the right, and to the left of a unit that counts downward.
        let r = here.unwrap_or_default();
        let width = 50.0 * r.abs();
        let bar = format!(
            "width:{width:.0}%;margin-left:{:.0}%",
            if r < 0.0 { 50.0 - width } else { 50.0 }
        );
        let here = here.map_or("–".to_owned(), three);
        let others = others.map_or("…".to_owned(), three);
        view! {
            <li>
                <button type="button" class="gates-rank" class:gates-chosen=chosen
                    aria-pressed=move || chosen().to_string()
                    data-testid=format!("gates-unit-{}", unit + 1)
                    on:click=move |_| gates.choose_unit(unit)>
                    <span>{format!("unit {}", unit + 1)}<span class="visually-hidden">": r ="</span></span>
                    <span class="gates-rank-bar" aria-hidden="true"><i style=bar></i></span>
                    <span class="number">{here}<span class="visually-hidden">{format!(" on {HERE}, ")}</span></span>
                    <span class="number gates-others">{others}
                        <span class="visually-hidden">{format!(" on {} others", untrack(characters))}</span>
                    </span>
                </button>
            </li>
        }
        .into_any()
    };
    view! {
        <p class="view-note" role="status" data-testid="gates-best">{move || {
            match gates.units(|_| best(gates)).flatten() {
                Some(best) => view! { {best} <br/> {READ_R} }.into_any(),
                None => nothing(gates).into_any(),
            }
        }}</p>
        <div class="view-side has-aside" data-testid="gates-units">
            <div class="gates-beside"><Beside gates/></div>
            <div>
                <p class="gates-ranks-head" aria-hidden="true">
                    <span>{format!("r on {HERE}")}</span>
                    <span>{move || format!("r on {} characters", characters())}</span>
                </p>
                <ol class="gates-ranks view-scroll" aria-label="Units, the best on this string first">
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
            "At step {}, on {} characters that it was not trained on, {state} of unit {} best follows {what}{way}: \
             r = {}.",
            grouped(units.step.into()),
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

/// How closely a unit follows the answer, and on which characters: those on show, or the held-out ones where the answer
/// never changes on show.
pub struct Follows {
    what: Followed,
    /// The state that follows.
    state: Quantity,
    r: f32,
    on: String,
    /// Whether these are those on show.
    here: bool,
}

impl Follows {
    /// Of the unit that is looked at.
    pub fn new(gates: Gates) -> Option<Self> {
        // Before the ranking is there, nobody knows which unit it leads to.
        let unit = gates.units(|_| gates.unit.get())?;
        let state = gates.seen(|seen| seen.cell.memory())?;
        if let Some((what, r)) = gates.follows_here(unit) {
            return Some(Self { what, state, r, on: HERE.to_owned(), here: true });
        }
        gates.units(|units| {
            let (what, r) = units.follows.first()?;
            let on = format!("{} other characters", units.characters);
            Some(Self { what: *what, state, r: *r.get(unit)?, on, here: false })
        })?
    }

    /// For the title of a figure.
    pub fn in_title(&self) -> String {
        let what = match self.what {
            Followed::Depth => "depth",
            Followed::Quotation => "quotes",
        };
        format!("correlation of {} with {what} on {}: {}", self.state.id(), self.on, three(self.r))
    }
}

/// How well the unit that is looked at follows the answer.
pub fn follows(gates: Gates) -> Option<String> {
    let Follows { what, r, on, .. } = Follows::new(gates)?;
    Some(format!("Correlation with {} on {on}: {}.", answer(what), three(r)))
}

/// How open the `keeper` of the unit that is looked at is on average, over the same characters as `follows`: nothing
/// of a cell that has another one.
fn open(gates: Gates, keeper: Quantity, follows: &Follows) -> Option<f32> {
    let unit = gates.unit.get();
    if follows.here {
        return gates.keeps.read(|seen| {
            let row = (seen.quantity == keeper).then(|| seen.values.block(&[unit]))??;
            Some(row.iter().sum::<f32>() / row.len() as f32)
        })?;
    }
    gates.units(|units| {
        let (_, means) = units.means.iter().find(|(gate, _)| *gate == keeper)?;
        means.get(unit).copied()
    })?
}

/// Which row is framed, how well its unit follows, and how open its `keeper` is.
pub fn framed(gates: Gates, keeper: Quantity) -> String {
    let said = || {
        let follows = Follows::new(gates)?;
        let open = three(open(gates, keeper, &follows)?);
        let name = row_name(gates.unit.get());
        let Follows { what, state, r, on, .. } = follows;
        let perfect = if r < 0.0 { "−1 is perfect, but upside down" } else { "1 is perfect" };
        let (what, state, r, keeper) = (answer(what), state.id(), three(r), keeper.id());
        Some(format!(
            "The framed row is {name}. On {on}, the correlation of its {state} with {what} is {r}, where {perfect}. \
             Its {keeper} is {open} on average."
        ))
    };
    said().unwrap_or_default()
}

/// How the framed unit of a GRU keeps its count, or not.
pub fn way_of_gru(gates: Gates) -> &'static str {
    let seen = || {
        let follows = Follows::new(gates)?;
        Some((follows.r, open(gates, Quantity::Update, &follows)?))
    };
    match seen() {
        None => "",
        Some((r, _)) if r.abs() < COUNTS => "With so weak a correlation, it hardly keeps count.",
        Some((_, mean)) if mean < 0.5 => "So most of its count is written anew by n at each step.",
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
    let ruler = RwSignal::new(None);
    view! {
        <LinesFigure name="gates-beside" title lines provenance=gates.provenance marker on_pick=pick ruler/>
        {string(gates, ruler)}
    }
    .into_any()
}

/// What is read, each character under its place on the axis. The figure of all units says it to who can't see it.
fn string(gates: Gates, ruler: RwSignal<Option<Ruler>>) -> AnyView {
    let tokens = memo(move || gates.seen(|seen| seen.tokens.clone()).unwrap_or_default());
    let style = move || match ruler.get() {
        Some(Ruler { start, unit, .. }) if unit >= LEAST => {
            format!("padding-left:{:.1}px;grid-auto-columns:{unit:.2}px", start + unit / 2.0)
        }
        _ => "display:none".to_owned(),
    };
    let characters = move || {
        let character = |token: String| view! { <span>{mark(&token)}</span> };
        tokens.get().into_iter().map(character).collect_view()
    };
    view! {
        <div class="gates-string" aria-hidden="true" translate="no" data-testid="gates-string" style=style>
            {characters}
        </div>
    }
    .into_any()
}
