//! A machine on the page.

use leptos::{ev::MouseEvent, html, prelude::*};

use super::{Machine, changed, draw, files::FILES, parts, spoken};
use crate::{
    course::ChapterLink,
    figures::{
        Provenance,
        canvas::{use_latest, use_size},
        frame::{Frame, choices},
        pen::Paint,
        reading::{Reading, step_along},
        readout::SpokenReading,
        select::Pointing,
        theme::use_colors,
        use_visible,
    },
};

/// The number of the part that an event is about.
fn hit(machine: Machine, event: &MouseEvent) -> Option<usize> {
    let target: web_sys::Element = event_target(event);
    let part = target.closest("[data-part]").ok().flatten()?.get_attribute("data-part")?;
    parts(machine).iter().position(|other| other.id == part)
}

/// The picture of a machine, whose parts are read one by one.
#[component]
pub fn OtherMachine(machine: Machine) -> impl IntoView {
    let name = match machine {
        Machine::Elman => "machine-elman",
        Machine::Lstm => "machine-lstm",
        Machine::Gru => "machine-gru",
        Machine::EncoderDecoder => "machine-encoder-decoder",
        Machine::Bahdanau => "machine-bahdanau",
        Machine::Transformer => "machine-transformer",
    };
    let list = parts(machine);
    let root = NodeRef::<html::Section>::new();
    let room = NodeRef::<html::Div>::new();
    let size = use_size(room);
    let drawn = use_latest(Signal::stored(machine), use_visible(root));
    let pointing = Pointing::new(move |part: &usize| *part < list.len());
    let picture = move || {
        let size = size.get();
        let lit = pointing.shown().and_then(|part| Some(list.get(part)?.id));
        draw(*drawn.get(), (size.width, size.height), Paint::page(), lit)
    };
    let reading = Reading {
        pointing,
        hit: Callback::new(move |event: MouseEvent| hit(machine, &event)),
        start: Callback::new(move |()| Some(pointing.shown_untracked().unwrap_or(0))),
        step: Callback::new(move |(key, at): (String, usize)| step_along(&key, at, list.len())),
        pick: Some(Callback::new(move |part| pointing.toggle_pin(part))),
        tap_reads: true,
        focus_reads: true,
    };
    let title = Signal::stored(machine.title().to_owned());
    let none = Signal::stored(None);
    let provenance = Signal::stored(Provenance {
        device: "a drawing without numbers".to_owned(),
        ..Provenance::default()
    });
    let choices = choices(name, title, drawn, none, provenance, use_colors(), FILES);
    let shown = Signal::derive(move || pointing.shown());
    let words = Callback::new(move |part: usize| {
        list.get(part).map_or(String::new(), |part| {
            format!("{}: {} {}, shape {}", part.name, part.does, part.math, part.shape)
        })
    });
    view! {
        <Frame name kind="diagram" title root empty=Signal::stored(false) choices>
            <p class="machine-new">"new here"</p>
            <div class="figure-box machine-drawing" node_ref=room role="application" tabindex="0"
                aria-roledescription="diagram" aria-label=spoken(machine)
                data-testid=format!("{name}-picture") {..reading.handlers()}>
                <svg aria-hidden="true" inner_html=picture></svg>
            </div>
            <div class="readout machine-readout" data-testid=format!("{name}-readout")>
                {move || read(machine, pointing)}
            </div>
            <SpokenReading shown words/>
        </Frame>
    }
    .into_any()
}

/// What is pointed at, or else what the machine brought.
fn read(machine: Machine, pointing: Pointing<usize>) -> AnyView {
    let Some(part) = pointing.shown().and_then(|part| parts(machine).get(part)) else {
        return view! { <p class="machine-changed">{changed(machine)}</p> }.into_any();
    };
    view! {
        <p class="machine-part-line">
            <b class=part.hue.class()>{part.name}</b>
            <span class="machine-math" translate="no">{part.math}</span>
            <span class="machine-shape" translate="no">{part.shape}</span>
            <span class="readout-pin">{if pointing.is_pinned() { "pinned" } else { "" }}</span>
        </p>
        <p class="machine-does">
            {part.does} " "
            <ChapterLink chapter=part.door class="machine-door">{part.door.label()}</ChapterLink>
        </p>
    }
    .into_any()
}
