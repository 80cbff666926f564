//! `gates`: every gate of every unit over the characters, and gates held open or shut.

mod circuit;
mod figure;
mod held;
mod memory;
mod questions;
mod scatter;
mod state;
mod strips;
mod sums;
mod text;
mod units;

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{ChapterFrame, StageView},
};
use figure::{Answers, EveryUnit};
use memory::Memory;
use questions::{Check, Guess};
use state::Gates;
use sums::Circuit;
use text::{IDEAS, Intro, More, tries};
use units::Counts;

pub const INFO: Info = Info {
    id: Chapter::Gates,
    warm_steps: 300,
    uses_text: true,
    view: || view! { <GatesChapter/> }.into_any(),
};

#[component]
fn GatesChapter() -> impl IntoView {
    let gates = Gates::new();
    view! {
        <ChapterFrame
            before="A plain RNN overwrites its whole state at every character, so what came early fades: \
                    it could not choose what to keep."
            intro=|| view! { <Intro/> }
            ideas=IDEAS
            tries=tries()
            check=move || view! {
                <Guess gates/>
                <Check gates/>
            }
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
