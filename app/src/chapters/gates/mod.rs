//! `gates`: every gate of every unit over the characters, and gates held open or shut.

mod figure;
mod held;
mod memory;
mod questions;
mod state;
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
use figure::MainFigure;
use memory::MemoryPanel;
use questions::{Check, Guess};
use state::Gates;
use text::{IDEAS, Intro, More, tries};
use units::UnitsPanel;

pub const INFO: Info = Info {
    id: Chapter::Gates,
    title: "LSTM and GRU: gates",
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
            check=move || view! { <Check gates/> }
            more=|| view! { <More/> }
            views=vec![
                StageView::new("figure", "Figure", move || view! { <MainFigure gates/> }),
                StageView::new("further", "Further", ViewFn::from(move || view! {
                <UnitsPanel gates/>
                <MemoryPanel gates/>
                <Guess gates/>
            })),
            ]
            settings=move || view! { <Controls gates/> }
            model=Signal::stored(String::new())
        />
    }
}

#[component]
fn Controls(gates: Gates) -> impl IntoView {
    view! {
        <ChoiceField name="gates-task"/>
        <ChoiceField name="gates-cell"/>
        <SliderField name="gates-units" least=2.0 most=32.0/>
        <ChoiceField name="gates-sentence"/>
        <Show when=move || gates.is_drawn.get()>
            <SliderField name="gates-sample" most=20.0/>
        </Show>
    }
    .into_any()
}
