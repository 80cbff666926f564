//! All heads of all layers as small heatmaps, of which one is chosen.

use std::fmt::Write;

use leptos::{context::Provider, ev, html, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::{
    head_grid_paint::use_pictures,
    reading::{focus_child, is_shortcut, listener, step_cell},
    slot::Slot,
    view::HeadView,
};
use crate::{
    fetched::{Fetch, View, fetched_later, part},
    reactive::{effect, memo},
};

/// Heads that can be switched off, as a chapter has them; layers and heads count from 1.
#[derive(Clone, Copy)]
pub struct Switches {
    /// Those that are off.
    pub off: Signal<Vec<(u32, u32)>>,
    /// Whether a click on a head switches it rather than just choosing it.
    pub switching: Signal<bool>,
    pub toggle: Callback<(u32, u32)>,
}

/// What a head mostly looks at, in words of three lengths, and how many percent of its weight lie there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    pub words: [&'static str; 3],
    pub percent: Option<u32>,
}

impl Job {
    /// In full.
    fn say(self) -> String {
        format!("{}{}", self.words[0], self.share())
    }

    fn share(self) -> String {
        self.percent.map_or(String::new(), |percent| format!(" {percent}%"))
    }
}

/// A radio group of layers (down) by heads (right); writes the choice into `layer` and `head`,
/// counted from 1.
#[derive(Clone, Copy)]
pub struct HeadGrid {
    pub view: Memo<Option<HeadView>>,
    /// How many of each there are before the first trace: their room is kept free.
    pub planned: Signal<Option<(u32, u32)>>,
    pub layer: Slot<u32>,
    pub head: Slot<u32>,
    pub switches: Option<Switches>,
    /// What stands under the pictures, layer by layer; nothing under those without a job.
    pub jobs: Option<Signal<Vec<Option<Job>>>>,
    /// Whether rows and columns are named in words: there is room for them.
    pub words: bool,
}

impl HeadGrid {
    /// Layers and heads, as soon as they are known.
    pub fn shape(self) -> Option<(u32, u32)> {
        let seen = self.view.with(|v| v.as_ref().map(|v| (v.layers(), v.heads())));
        seen.or_else(|| self.planned.get())
    }
}

/// The grid, once the first picture is there.
pub fn heads_later(of: HeadGrid) -> AnyView {
    const GRID: Fetch = part!(head_grid: View = all_heads);
    let grid = fetched_later(GRID, "The picture of all heads");
    view! { <div class="head-grid-room"><Provider value=of>{grid}</Provider></div> }.into_any()
}

fn all_heads() -> AnyView {
    let of: HeadGrid = expect_context();
    let shape = memo(move || of.shape());
    view! {
        <div class="head-grid-scroller">
            {move || {
                // Built anew only when the model has another shape.
                let (layers, heads) = shape.get()?;
                Some(view! { <Grid of layers heads /> })
            }}
        </div>
    }
    .into_any()
}

/// Most columns whose names are words, and under whose pictures there is room for some.
const MOST_IN_WORDS: u32 = 8;

#[component]
fn Grid(of: HeadGrid, layers: u32, heads: u32) -> impl IntoView {
    let HeadGrid { view, layer, head, switches, jobs, words, .. } = of;
    let jobs = jobs.filter(|_| heads <= MOST_IN_WORDS);
    let chosen =
        memo(move || (layer.get().clamp(1, layers.max(1)), head.get().clamp(1, heads.max(1))));
    let choose = move |(l, h)| {
        layer.set(l);
        head.set(h);
    };
    let (grid, canvas) = (NodeRef::<html::Div>::new(), NodeRef::<html::Canvas>::new());
    let off = memo(move || switches.map(|switches| switches.off.get()).unwrap_or_default());
    let painted = use_pictures(view, off, grid, canvas);
    let switching = move || switches.is_some_and(|switches| switches.switching.get());
    let on_key = move |e: ev::KeyboardEvent| {
        if is_shortcut(&e) {
            return;
        }
        let (l, h) = chosen.get_untracked();
        let (at, shape) = ((l as usize - 1, h as usize - 1), (layers as usize, heads as usize));
        let Some((layer, head)) = step_cell(&e.key(), at, shape) else { return };
        e.prevent_default();
        choose((layer as u32 + 1, head as u32 + 1));
        if let Some(group) = listener(&e) {
            focus_child(&group, layer * shape.1 + head);
        }
    };
    let on_click = move |e: ev::MouseEvent| {
        let Some(place) = pressed(&e) else { return };
        choose(place);
        if let Some(switches) = switches
            && switches.switching.get_untracked()
        {
            switches.toggle.run(place);
        }
    };
    let shown = StoredValue::new((None, Vec::new()));
    effect(move || {
        let Some(grid) = grid.get() else { return };
        let now = (Some(chosen.get()), off.get());
        let (before, off_before) = shown
            .try_update_value(|shown| std::mem::replace(shown, now.clone()))
            .unwrap_or_default();
        let (chosen, off) = now;
        for place in before.into_iter().chain(chosen) {
            mark_chosen(&grid, heads, place, Some(place) == chosen);
        }
        for place in off_before.iter().chain(&off) {
            mark_off(&grid, heads, *place, off.contains(place));
        }
    });
    if let Some(jobs) = jobs {
        caption(grid, jobs);
    }
    let names = move |word: &'static str, letter: &'static str, count: u32| {
        // As many heads as GPT-2 has leave no room for words above them.
        let in_words = words && (word == "layer" || count <= MOST_IN_WORDS);
        let name = move |i: u32| match in_words {
            true => format!("{word} {i}"),
            false => format!("{letter}{i}"),
        };
        (1..=count).map(|i| view! { <span>{name(i)}</span> }).collect_view()
    };
    view! {
        <div class="head-grid-box" class:words=words class:jobs=jobs.is_some() style=format!("--heads:{};--layers:{}", heads.max(1), layers.max(1))>
        <div class="head-columns" aria-hidden="true">{names("head", "H", heads)}</div>
        <div class="head-rows" aria-hidden="true">{names("layer", "L", layers)}</div>
        <div class="head-plane">
        <div
            class="head-grid"
            node_ref=grid
            class:switching=switching
            role="radiogroup"
            aria-label=move || {
                if switching() {
                    "Layer and head. Arrow keys choose, Enter switches off and on."
                } else {
                    "Layer and head. Arrow keys choose."
                }
            }
            data-painted=move || painted.get().map(|step| step.to_string())
            on:keydown=on_key
            on:click=on_click
            inner_html=buttons(layers, heads, jobs.is_some())
        >
        </div>
        // All pictures in one: a canvas for each would be a layer each for the browser to keep.
        <canvas class="head-pictures" node_ref=canvas aria-hidden="true"></canvas>
        </div>
        </div>
    }
}

/// Each head's button, chosen and off as none of them is, with room for its job. They are one piece of markup,
/// with one listener for all: 144 with views of their own, as many as GPT-2 has heads, would hold up the page.
fn buttons(layers: u32, heads: u32, jobs: bool) -> String {
    let mut markup = String::new();
    let job = if jobs { "<span class=\"head-job\"></span>" } else { "" };
    for (l, h) in (1..=layers).flat_map(|l| (1..=heads).map(move |h| (l, h))) {
        let name = name(l, h);
        // Writing to a string cannot fail.
        let _ = write!(
            markup,
            "<button type=\"button\" role=\"radio\" class=\"head\" data-testid=\"head-l{l}-h{h}\" \
             data-layer=\"{l}\" data-head=\"{h}\" title=\"{name}\" aria-label=\"{name}\" aria-checked=\"false\" \
             tabindex=\"-1\"><i class=\"head-picture\"></i><span class=\"head-off\">off</span>{job}</button>"
        );
    }
    markup
}

fn name(layer: u32, head: u32) -> String {
    format!("layer {layer}, head {head}")
}

/// Layer and head of the button that a click is on.
fn pressed(e: &ev::MouseEvent) -> Option<(u32, u32)> {
    let button = e.target()?.dyn_into::<Element>().ok()?.closest(".head").ok()??;
    let number = |name| button.get_attribute(name)?.parse().ok();
    Some((number("data-layer")?, number("data-head")?))
}

/// The button of a head, in a grid with so many `heads` a layer.
fn button(grid: &Element, heads: u32, (layer, head): (u32, u32)) -> Option<Element> {
    let column = head.checked_sub(1).filter(|column| *column < heads)?;
    grid.children().item(layer.checked_sub(1)? * heads + column)
}

/// Writes each head's job under its picture.
fn caption(grid: NodeRef<html::Div>, jobs: Signal<Vec<Option<Job>>>) {
    let said = StoredValue::new(Vec::<Option<Job>>::new());
    effect(move || {
        let Some(grid) = grid.get() else { return };
        let (buttons, now) = (grid.children(), jobs.get());
        // Those of a model of another shape are on their way out.
        if now.len() != buttons.length() as usize {
            return;
        }
        let before =
            said.try_update_value(|said| std::mem::replace(said, now.clone())).unwrap_or_default();
        for (at, job) in now.into_iter().enumerate() {
            let before = before.get(at);
            let Some(button) = buttons.item(at as u32).filter(|_| before != Some(&job)) else {
                continue;
            };
            let Some(caption) = button.last_element_child() else { continue };
            let words = job.map_or(String::new(), |job| {
                let ([long, short, shortest], share) = (job.words, job.share());
                format!("<span>{long}</span><span>{short}</span><span>{shortest}</span><span>{share}</span>")
            });
            caption.set_inner_html(&words);
            // Never refused: the name is one.
            let _ = button.set_attribute("aria-description", &job.map_or(String::new(), Job::say));
        }
    });
}

fn mark_chosen(grid: &Element, heads: u32, place: (u32, u32), chosen: bool) {
    let Some(button) = button(grid, heads, place) else { return };
    // Never refused: the names are names.
    let _ = button.set_attribute("aria-checked", if chosen { "true" } else { "false" });
    let _ = button.set_attribute("tabindex", if chosen { "0" } else { "-1" });
}

fn mark_off(grid: &Element, heads: u32, place: (u32, u32), off: bool) {
    let Some(button) = button(grid, heads, place) else { return };
    let state = if off { ", switched off" } else { "" };
    // Likewise.
    let _ = button.class_list().toggle_with_force("off", off);
    let _ = button.set_attribute("aria-label", &(name(place.0, place.1) + state));
}
