//! A recurrent network unrolled in time: one column a step, the same weights in each.

mod column;
mod data;
mod export;
mod lap;
mod layout;
mod overview;
mod paint;
mod written;

use std::sync::Arc;

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;

use crate::figures::{
    canvas::{Size, use_latest, use_size, use_turn},
    export::Provenance,
    four_decimals,
    frame::{Files, Frame, choices},
    motion::{scrolling, use_own_motion},
    reading::{Reading, is_shortcut, step_cell},
    readout::SpokenReading,
    scale::ScaleBar,
    scroll::{self, Land},
    select::Pointing,
    sight::use_visible,
    since::{short_name, use_since},
    slot::Slot,
    table::TableData,
    theme::use_colors,
    token,
};
use crate::pointer::worded;
use crate::reactive::{effect, effect_with_last, memo, seldom};
use column::{ColumnView, LoopView};
pub use column::{INPUT, OUTPUT, STATE, U, V, W};
pub use data::Diagram;
pub use lap::Lap;
use lap::use_lap;
use layout::{Layout, MOST_LISTED, NAMES, Places};
pub use layout::{drawn, unrolled_of};
use overview::Overview;
use paint::{paint_band, paint_strips};
pub use written::{STRONGEST, Text, Texts, WrittenFigure, strength};

/// In training columns take turns at what is new: all of a long sentence would take a slow machine
/// longer than a frame has.
const TURNS: usize = 4;

/// Columns after an edited one in which to see what becomes of it.
const AFTER_EDIT: usize = 8;

/// Columns drawn beyond either edge, so that scrolling does not show their absence.
const BESIDE: i64 = 2;

/// Table columns before those of the units.
const NAMED: [&str; 5] = ["reads", "should say", "p of it", "loss", "moved by the edit"];

/// A step, and a unit of its state; both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    column: usize,
    unit: Option<usize>,
    /// Whether this is the cell with the loop, whatever step it shows.
    in_loop: bool,
}

/// The diagram with its overview, and `children` and its scale in a bar above.
///
/// `columns` is how many steps are unrolled, `at` the pinned step (0 is none) and `unit` its pinned
/// unit, both counted from 1. `on_open` hears that the learner wants their arithmetic, `on_edit` of a
/// click on an input, with its step from 0, `on_matrix` of one on a weight: `w`, `u` or `v`. A loop
/// that nothing is unrolled of goes through the sentence while the `lap` plays.
#[component]
pub fn UnrolledFigure(
    #[prop(into)] diagram: Signal<Diagram>,
    columns: Slot<u32>,
    at: Slot<u32>,
    unit: Slot<u32>,
    on_open: Callback<()>,
    on_edit: Callback<usize>,
    on_matrix: Callback<String>,
    lap: Lap,
    #[prop(into)] provenance: Signal<Provenance>,
    children: Children,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let scroller = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let band = NodeRef::<html::Canvas>::new();
    let scrolled = RwSignal::new(0.0);
    let size = use_size(scroller);
    let colors = use_colors();
    let visible = use_visible(root);
    let since = use_since(move || vec![Arc::new(diagram.with(Diagram::states))]);
    let compared = Signal::derive(move || match since.moved(0) {
        Some(moved) => diagram.with(|diagram| diagram.compared(&moved)),
        None => diagram.get(),
    });
    let shown = use_latest(compared, visible);
    let turns: [Signal<Arc<Diagram>>; TURNS] = {
        let mut last: Signal<Arc<Diagram>> = shown.into();
        core::array::from_fn(|turn| {
            if turn > 0 {
                let (source, late) = (last, use_turn(last, visible));
                // The first picture comes whole.
                last = Signal::derive(move || match late.with(|late| late.length()) {
                    0 => source.get(),
                    _ => late.get(),
                });
            }
            last
        })
    };
    let title = Signal::derive(move || match shown.with(|d| (d.unrolled, d.length())) {
        (0, _) => "One cell and a loop".to_owned(),
        (n, all) if n == all => format!("The loop unrolled: {n} copies of one cell"),
        (n, all) => format!("{} of {all} steps drawn", drawn(n as u32, all as u32)),
    });
    // Of what is written and read as numbers.
    let caption = Signal::derive(move || {
        let name = shown.with(|d| d.moved.as_ref().map(|moved| moved.0.clone()));
        name.map_or_else(|| title.get(), |name| format!("{}: {name}", title.get()))
    });
    // Every element of the diagram follows these.
    let unrolled = seldom(move || shown.with(|d| d.unrolled));
    let length = seldom(move || shown.with(|d| d.length()));
    let edited = seldom(move || shown.with(|d| d.edited.is_some()));
    // Read out at the end alone, it has all the room for its list.
    let at_end = seldom(move || {
        shown.with(|d| d.columns.first().is_some_and(|first| first.face.output.is_none()))
    });
    let layout = memo(move || {
        let Size { width, height, .. } = size.get();
        // Both follow the sentence, one after the other.
        let unrolled = unrolled.get().min(length.get());
        let one_guess = unrolled > MOST_LISTED && !at_end.get();
        Layout::new(width, height, (unrolled, length.get()), edited.get(), one_guess)
    });
    let folded = memo(move || layout.get().folded);
    let sentence = memo(move || {
        shown.with(|d| d.columns.iter().map(|c| c.face.token.as_str()).collect::<String>())
    });
    use_lap(lap, memo(move || unrolled.get() == 0), sentence, length);
    let motion = use_own_motion::<Places>();
    let there = memo(move || Arc::new(Places::of(&layout.get(), length.get())));
    let places = memo(move || motion.toward(there.get()));
    let moves = memo(move || !Arc::ptr_eq(&places.get(), &there.get()));
    // The columns in view, and a few beside them. Browsers lay out and paint even what is scrolled
    // away, which would be most of a long sentence.
    let near = memo(move || {
        let l = layout.get();
        let first = ((scrolled.get() - l.left) / l.column).floor() as i64;
        let seen = (size.get().width / l.column).ceil() as i64;
        first - BESIDE..first + seen + BESIDE
    });
    let pointing = Pointing::new(move |place: &Place| place.column < length.get());

    effect(move || {
        let Some(canvas) = canvas.get() else { return };
        let (layout, places, at) = (layout.get(), places.get(), lap.at.get());
        colors.with(|colors| {
            shown.with(|diagram| paint_strips(&canvas, diagram, at, &layout, &places, colors))
        });
    });
    effect(move || {
        let Some(band) = band.get().filter(|_| layout.get().banded) else { return };
        let (layout, at) = (layout.get(), lap.at.get());
        colors.with(|colors| shown.with(|d| paint_band(&band, d, at, &layout, colors)));
    });

    let on_screen = move |column: usize| {
        let Some(scroller) = scroller.try_get_untracked().flatten() else { return };
        let column = column.min(unrolled.get_untracked());
        let l = layout.get_untracked();
        let left = l.x_of(column) - l.column - NAMES;
        let right = l.x_of(column) + 2.0 * l.column;
        scroll::across(&scroller, [left, right], Land::AtEdge(0.0));
    };
    // The newest copy is the one to look at, and all of them from the first on.
    effect_with_last(move |last: Option<usize>| {
        let now = unrolled.get();
        if last.is_some_and(|last| last != now) {
            let one = last.is_some_and(|last| last + 1 == now);
            request_animation_frame(move || {
                if let Some(scroller) = scroller.try_get_untracked().flatten() {
                    let whole = !one && !folded.get_untracked();
                    // An edit is what is looked at then.
                    if whole && edited.get_untracked() {
                        return;
                    }
                    let end = scroller.scroll_width() - scroller.client_width();
                    let to = scrolling();
                    to.set_left(if whole { 0.0 } else { end.into() });
                    scroller.scroll_to_with_scroll_to_options(&to);
                }
            });
        }
        now
    });

    // And the edited one, once there is an edit, with as much of what follows as there is room for.
    let edited_at = memo(move || shown.with(|d| d.edited));
    effect(move || {
        if let Some(edited) = edited_at.get() {
            request_animation_frame(move || {
                for column in [edited + AFTER_EDIT, edited] {
                    on_screen(column);
                }
            });
        }
    });

    let change_columns = move |by: i32| {
        let all = length.get_untracked() as u32;
        let now = drawn(columns.get_untracked().min(all), all);
        let next = unrolled_of(now.saturating_add_signed(by), all);
        if next != columns.get_untracked() {
            columns.set(next);
        }
    };
    let open = move |place: Place| {
        if let Some(pointed) = place.unit {
            unit.set(pointed as u32 + 1);
        }
        at.set(place.column as u32 + 1);
        on_open.run(());
    };
    let hit = move |e: &ev::MouseEvent| {
        let track = e.current_target()?.unchecked_into::<web_sys::Element>();
        let rect = track.get_bounding_client_rect();
        let (x, y) = (f64::from(e.client_x()) - rect.left(), f64::from(e.client_y()) - rect.top());
        let l = layout.get_untracked();
        let place = shown.with_untracked(|d| {
            let column = l.column_at(x, y)?;
            let from_middle = (x - l.x_of(column.min(d.unrolled)) - l.middle()).abs();
            let within = from_middle < 0.8 * l.strip_width();
            let in_loop = column == d.unrolled && !l.is_ahead(x, y);
            Some(Place { column, unit: l.unit_at(y, d.hidden).filter(|_| within), in_loop })
        })?;
        Some((place, x, y))
    };
    let on_click = move |e: ev::MouseEvent| {
        let target = e.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok());
        let part = target.and_then(|t| t.closest(".rnn-arrow").ok().flatten());
        if let Some(part) = part.and_then(|p| p.get_attribute("data-part")) {
            on_matrix.run(part);
            return;
        }
        let Some((place, x, y)) = hit(&e) else { return };
        if place.column >= unrolled.get_untracked() {
            // The places beside the loop are only read.
            if place.in_loop {
                change_columns(1);
            }
            return;
        }
        let l = layout.get_untracked();
        let from_token = (x - l.x_of(place.column) - l.middle()).abs();
        let token = l.token_y..l.token_y + l.token_size;
        if from_token <= l.token_size / 2.0 && token.contains(&y) {
            on_edit.run(place.column);
        } else {
            open(place);
        }
    };
    let start = move || {
        let pinned =
            (at.get_untracked() as usize).checked_sub(1).filter(|c| *c < length.get_untracked());
        let last = unrolled.get_untracked().saturating_sub(1);
        let unit = unit.get_untracked() as usize - 1;
        pointing.shown_untracked().unwrap_or(Place {
            column: pinned.unwrap_or(last),
            unit: Some(unit),
            in_loop: unrolled.get_untracked() == 0,
        })
    };
    let step = move |(key, Place { column, unit, .. }): (String, Place)| {
        let (hidden, steps) = (shown.with_untracked(|d| d.hidden), unrolled.get_untracked().max(1));
        let (unit, column) = step_cell(&key, (unit.unwrap_or(0), column), (hidden, steps))?;
        let column = column.min(steps - 1);
        on_screen(column);
        let in_loop = unrolled.get_untracked() == 0;
        Some(Place { column, unit: Some(unit.min(hidden - 1)), in_loop })
    };
    let reader = Reading {
        pointing,
        hit: Callback::new(move |e| hit(&e).map(|(place, ..)| place)),
        start: Callback::new(move |()| (length.get_untracked() > 0).then(start)),
        step: Callback::new(step),
        // What a click does depends on which part of a column it is on.
        pick: None,
        tap_reads: true,
        focus_reads: false,
    };
    let on_key = move |e: ev::KeyboardEvent| {
        if is_shortcut(&e) || length.get_untracked() == 0 {
            return;
        }
        let place = start();
        let column = place.column.min(unrolled.get_untracked().saturating_sub(1));
        match e.key().as_str() {
            "Enter" | " " => {
                if unrolled.get_untracked() == 0 {
                    change_columns(1);
                } else {
                    open(Place { column, ..place });
                }
            }
            "+" | "=" => change_columns(1),
            "-" => change_columns(-1),
            "e" => {
                if unrolled.get_untracked() > 0 {
                    on_edit.run(column);
                }
            }
            key @ ("w" | "u" | "v") => on_matrix.run(key.to_owned()),
            "Escape" => {
                at.set(0);
                return;
            }
            _ => return,
        }
        e.prevent_default();
    };

    // The step that is seen where one points.
    let seen_at = move |place: Place| {
        let column = lap.at.get().filter(|_| place.in_loop);
        Place { column: column.unwrap_or(place.column), ..place }
    };
    let say = move |place: Place| {
        let Place { column, unit, .. } = seen_at(place);
        match unit.and_then(|unit| since.describe(0, (column, unit))) {
            Some(change) => format!("{change}."),
            None => shown.with(|d| d.describe(column, unit)),
        }
    };
    let reading = move || pointing.shown().map(say);
    let value_of =
        move |unit: usize, t: usize| shown.with(|d| d.columns.get(t)?.states.get(unit).copied());
    let cell = move |(t, c): (usize, usize)| {
        if let Some(unit) = c.checked_sub(NAMED.len()) {
            return value_of(unit, t).map(four_decimals);
        }
        shown.with(|d| {
            let face = &d.columns.get(t)?.face;
            let target = face.output.as_ref().and_then(|o| o.target.as_ref());
            match c {
                0 => Some(token::spoken(&face.token)),
                1 => target.map(|(name, _)| token::spoken(name)),
                2 => target.map(|(_, p)| format!("{p:.4}")),
                3 => face.output.as_ref()?.loss().map(|loss| format!("{loss:.4}")),
                _ => face.moved.map(|moved| format!("{moved:.4}")),
            }
        })
    };
    let table = TableData {
        name: "unrolled",
        summary: "Columns as a table",
        caption,
        shape: Signal::derive(move || (length.get(), shown.with(|d| NAMED.len() + d.hidden))),
        along: ("steps", "values"),
        row_name: Callback::new(move |t: usize| format!("t = {}", t + 1)),
        column_name: Callback::new(move |c: usize| match NAMED.get(c) {
            Some(name) => (*name).to_owned(),
            None => format!("unit {}", c - NAMED.len() + 1),
        }),
        cell: Callback::new(cell),
        absent: "–",
        start: Callback::new(move |()| Some((0, 0))),
    };
    let files =
        Files { json: export::unrolled_json, csv: export::unrolled_csv, svg: export::unrolled_svg };
    let no_marker = Signal::stored(None);
    let files = choices("unrolled", caption, shown, no_marker, provenance, colors, files);
    let label = move || {
        format!(
            "{}. Arrow keys move along steps and units, plus unrolls a step, minus folds one, Enter \
             opens the arithmetic, e edits the character, w, u and v open a matrix.",
            title.get()
        )
    };
    // Boxes over columns: hovered, pinned, edited.
    let column_box = move |class: &'static str, column: Signal<Option<usize>>| {
        let place = move || column.get().filter(|c| *c < unrolled.get() || folded.get());
        view! {
            <rect class=class y="1" height=move || layout.get().height - 2.0 rx="8"
                x=move || place().map_or(0.0, |c| layout.get().x_of(c.min(unrolled.get())) + 1.0)
                width=move || layout.get().column - 2.0
                style:display=move || if place().is_some() { "" } else { "none" }/>
        }
    };
    let unit_y = move || {
        let unit = pointing.shown().and_then(|p| p.unit)?;
        let l = layout.get();
        let height = l.strip_height / shown.with(|d| d.hidden.max(1)) as f64;
        Some((l.strip_y + height * unit as f64, height))
    };
    let start_x = move || places.with(|p| p.start);
    // The loop has read on from s₀.
    let is_left = move || {
        folded.get() && layout.get().unrolled == 0 && shown.with(|d| d.loop_step(lap.at.get())) > 0
    };
    let seen = Signal::derive(move || size.get().width);
    // What the rows are. They stay in sight.
    let row_name = move |name: &'static str, y: fn(&Layout) -> Option<f64>| {
        let y = move || layout.with(y);
        view! {
            <text x="0" y=move || y().unwrap_or_default()
                style:display=move || if y().is_some() { "" } else { "none" }>{name}</text>
        }
    };
    // Another character is not what training changed, and the edit has a difference of its own.
    let asked = Signal::derive(move || format!("{:?}", edited_at.get()));
    let compare = move || {
        view! {
            {since.button("unrolled", asked, provenance, Signal::stored(None))}
        }
    };
    let pointed = memo(move || pointing.shown().map(|place| place.column));
    view! {
        <div class="view-bar rnn-unroller" style=move || format!("--state-y:{}px", layout.get().strip_middle())>
            {children()}
            <ScaleBar short=true label=Signal::derive(move || shown.with(|d| short_name(d.state_name()).to_owned()))
                map=Signal::derive(move || shown.with(|d| d.state_map()))
                value=Signal::derive(move || {
                    let place = pointing.shown().map(seen_at)?;
                    value_of(place.unit?, place.column)
                })
                colors/>
        </div>
        <Frame name="unrolled" kind="unrolled" title root empty=Signal::derive(move || length.get() == 0)
            table since=Some(ViewFn::from(compare)) choices=files>
            <div class="rnn-scroller figure-box" node_ref=scroller
                on:scroll=move |_| {
                    if let Some(scroller) = scroller.get_untracked() {
                        scrolled.set(f64::from(scroller.scroll_left()));
                    }
                }>
                <div class="rnn-track" tabindex="0" role="application" aria-label=label
                    aria-roledescription="unrolled diagram" data-testid="rnn-track"
                    data-columns=move || unrolled.get().to_string()
                    data-step=move || turns[TURNS - 1].with(|d| d.step.to_string())
                    style=move || layout.with(|l| format!("width:{}px;height:{}px", l.width(), l.height))
                    {..reader.handlers()} on:click=on_click on:keydown=on_key>
                    <canvas class="rnn-strips" node_ref=canvas aria-hidden="true"
                        style=move || layout.with(|l| {
                            let Layout { strip_y, strip_height, .. } = l;
                            let width = l.width().floor();
                            format!("left:0;top:{strip_y}px;width:{width}px;height:{strip_height}px")
                        })></canvas>
                    <canvas class="rnn-strips" node_ref=band aria-hidden="true"
                        style=move || layout.with(|l| {
                            let Layout { ahead_y, ahead_height, .. } = l;
                            match l.banded {
                                true => format!("left:0;top:{ahead_y}px;width:{}px;height:{ahead_height}px", l.width().floor()),
                                false => "display:none".to_owned(),
                            }
                        })></canvas>
                    <svg class="rnn-diagram" class:rnn-moving=moves width=move || layout.get().width() height=move || layout.get().height
                        style:font-size=move || format!("{}px", layout.get().text) aria-hidden="true">
                        {column_box("rnn-hovered", Signal::derive(move || {
                            let here = pointing.shown()?;
                            (here.in_loop || here.column < unrolled.get()).then_some(here.column)
                        }))}
                        {column_box("rnn-pinned", Signal::derive(move || {
                            (at.get() as usize).checked_sub(1).filter(|c| *c < unrolled.get())
                        }))}
                        <g class="rnn-small">
                            // It ends where the strip of a column before the first would.
                            <rect class="rnn-strip rnn-zero" class:rnn-behind=is_left
                                x=move || start_x() + layout.get().start_x() - 0.5
                                y=move || layout.get().strip_y - 0.5 width=move || layout.get().start_width() + 1.0
                                height=move || layout.get().strip_height + 1.0 rx="2"/>
                            <text x=move || start_x() + layout.with(|l| l.start_x() + l.start_width() / 2.0) y=move || layout.with(|l| l.strip_y + l.strip_height + 1.2 * l.text)>
                                {move || if layout.get().is_tight() { "s₀" } else { "s₀ = 0" }}
                            </text>
                        </g>
                        <For each=move || 0..unrolled.get() key=|t| *t let:t>
                            <ColumnView t diagram=turns[t % TURNS] layout places near pointed/>
                        </For>
                        <Show when=move || folded.get()><LoopView diagram=shown lap layout places seen/></Show>
                        <rect class="rnn-unit" x=move || layout.get().left y=move || unit_y().map_or(0.0, |u| u.0)
                            width=move || layout.with(|l| l.column * (l.unrolled + usize::from(l.folded)) as f64)
                            height=move || unit_y().map_or(0.0, |u| u.1)
                            style:display=move || if unit_y().is_some() { "" } else { "none" }/>
                    </svg>
                    <svg class="rnn-diagram rnn-names" class:rnn-clear=move || layout.get().banded width=NAMES height=move || layout.get().height
                        style:font-size=move || format!("{}px", layout.get().text.min(14.0)) aria-hidden="true">
                        {row_name("step", |l| Some(l.time_foot()))}
                        {row_name("true next", |l| (l.told() > 0).then(|| l.truth_foot()))}
                        {row_name("guess", |l| Some((l.bars_y + l.bars_end()) / 2.0 + 4.0))}
                        {row_name("loss", |l| (l.told() > 1).then(|| l.loss_foot()))}
                        {row_name("state", |l| Some(l.strip_middle()))}
                        {row_name("reads", |l| Some(l.token_y + 0.5 * l.token_size + 5.0))}
                        <g style:display=move || if edited.get() { "" } else { "none" }>
                            {row_name("Δ state", |l| Some(l.moved_end() - 2.0))}
                        </g>
                    </svg>
                </div>
            </div>
            <Overview diagram=shown layout scroller scrolled=scrolled.into() size/>
            <p class="readout" data-testid="unrolled-readout"
                data-column=move || pointing.shown().map(|p| (seen_at(p).column + 1).to_string())
                data-unit=move || pointing.shown().and_then(|p| p.unit).map(|u| (u + 1).to_string())
                data-value=move || {
                    let place = pointing.shown().map(seen_at)?;
                    value_of(place.unit?, place.column).map(|v| v.to_string())
                }>
                {move || match reading() {
                    Some(text) => text.into_any(),
                    None if since.is_on() => view! {
                        <span class="hint">"Each strip shows the difference in the state. Point at a unit to read it."</span>
                    }.into_any(),
                    None if edited.get() => view! {
                        <span class="hint">
                            "The left half of each strip is the state before the edit, the right half after it. \
                             Δ below is how far the state moved, ‖Δs‖."
                        </span>
                    }.into_any(),
                    None => view! {
                        <span class="hint">
                            {worded("Point at a column to read it. Click a state for its arithmetic, a character to \
                             change it")}<span class="hint-more">", a W, U or V for its matrix"
                                {move || folded.get().then_some(", or the loop to unroll one step")}
                            </span>"."
                        </span>
                    }.into_any(),
                }}
            </p>
            <SpokenReading shown=Signal::derive(move || pointing.shown())
                words=Callback::new(move |place: Place| untrack(|| say(place)))/>
        </Frame>
    }
    .into_any()
}
