//! `gates`: every gate of every unit over the characters, and gates held open or shut.

mod circuit;
mod figure;
mod held;
mod memory;
mod notebooks;
mod questions;
mod scatter;
mod state;
mod strips;
mod sums;
mod text;
mod units;

use leptos::prelude::*;
use unroll_protocol::{link::Chapter, study::gates::Quantity};

use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{ChapterFrame, StageView, further},
    teaching::{Live, live},
};
use figure::{Answers, EveryUnit};
use memory::Memory;
use questions::{Check, Guess};
use state::Gates;
use sums::Circuit;
use text::More;
use units::Counts;

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use text::NAMES;
pub use text::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Gates,
    warm_steps: 300,
    curves: 1,
    uses_text: true,
    view: || view! { <GatesChapter/> }.into_any(),
};

#[component]
fn GatesChapter() -> impl IntoView {
    let gates = Gates::new();
    view! {
        <ChapterFrame
            script=&text::SCRIPT
            further
            live=lives(gates)
            asks=vec![
                ("gates-shut", ViewFn::from(move || view! { <Guess gates/> })),
                ("gates", ViewFn::from(move || view! { <Check gates/> })),
            ]
            more=|| view! { <More/> }
            views=vec![
                StageView::new("units", "Every unit", move || view! { <EveryUnit gates/> }),
                StageView::new("circuit", "Circuit", move || view! { <Circuit gates/> }),
                StageView::new("counts", "Counting", move || view! { <Counts gates/> }),
                StageView::new("memory", "Memory", move || view! { <Memory gates/> }),
                StageView::new("answers", "Answers", move || view! { <Answers gates/> }),
            ]
            settings=|| view! { <Controls/> }
            model=Signal::derive(move || gates.store.link.with(|l| {
                let units = l.gates.units;
                format!("{}, {units} {}", l.gates.cell.label(), if units == 1 { "unit" } else { "units" })
            }))
        />
    }
}

/// What the text reads off the model.
fn lives(gates: Gates) -> Vec<Live> {
    vec![
        live("best", move || units::best(gates).unwrap_or_else(|| units::nothing(gates))),
        live("framed", move || units::framed(gates, Quantity::Forget)),
        live("framed-gru", move || units::framed(gates, Quantity::Update)),
        live("way-gru", move || units::way_of_gru(gates).to_owned()),
        live("outcome", move || figure::outcome(gates).unwrap_or_else(|| "…".into())),
        live("memory", move || memory::longest(gates).unwrap_or_default()),
    ]
}

#[component]
fn Controls() -> impl IntoView {
    view! {
        <div class="course-controls">
            <ChoiceField name="gates-task"/>
            <ChoiceField name="gates-cell"/>
            <SliderField name="gates-units" least=2.0 most=32.0/>
        </div>
    }
    .into_any()
}
