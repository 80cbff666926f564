//! Several series over an x axis, read at one x together.

use std::sync::Arc;

use crate::reactive::{effect, memo};
use leptos::{html, prelude::*};

use super::{
    canvas::{use_latest, use_size},
    export::Provenance,
    frame::{Files, Frame, choices},
    lines_data::{Line, Lines, Stroke, lines_csv, lines_json, nearest},
    lines_plot::{self, Layout, lines_svg},
    motion::use_motion,
    numbers::{percent, place},
    plot::use_plot,
    reading::{Reading, offset, step_along},
    select::Pointing,
    sight::use_visible,
    table::TableData,
    theme::use_colors,
};

/// Where the x axis of a plot stands, for what is to stand in line with it: CSS pixels of x = 0 from
/// the left, from there to x = 1, and of the whole box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ruler {
    pub start: f64,
    pub unit: f64,
    pub width: f64,
}

/// Lines with the x at which they are read.
#[derive(Clone, Copy)]
pub struct LinesReading {
    pub shown: Memo<Arc<Lines>>,
    /// Where one can read.
    pub xs: Memo<Vec<f64>>,
    pointing: Pointing<f64>,
    marker: Signal<Option<f64>>,
    /// The x that is read: while nobody points the marker, or else the last.
    pub read: Memo<Option<f64>>,
}

impl LinesReading {
    /// `marker` is an x to mark, such as the present step.
    pub fn new(shown: Memo<Arc<Lines>>, xs: Memo<Vec<f64>>, marker: Signal<Option<f64>>) -> Self {
        let pointing = Pointing::new(|_: &f64| true);
        let read = memo(move || {
            xs.with(|xs| {
                let x = pointing.shown().or_else(|| marker.get()).or_else(|| xs.last().copied())?;
                nearest(xs, x).map(|i| xs[i])
            })
        });
        Self { shown, xs, pointing, marker, read }
    }
}

/// Named series, told apart by color, dash pattern and the names at their ends or beginnings.
///
/// `marker` is an x to mark, such as the present step. `hint` stands where lines will be while
/// there are none. `on_pick` hears of a click, or Enter, with the x that is read.
#[component]
pub fn LinesFigure(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] lines: Signal<Lines>,
    #[prop(into)] provenance: Signal<Provenance>,
    #[prop(into, optional)] marker: Signal<Option<f64>>,
    #[prop(into, optional)] hint: Signal<String>,
    #[prop(optional)] on_pick: Option<Callback<f64>>,
    /// Is told where the axis stands.
    #[prop(optional)]
    ruler: Option<RwSignal<Option<Ruler>>>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let shown = use_latest(lines, use_visible(root));
    let xs = memo(move || shown.get().xs());
    let empty = memo(move || shown.get().is_empty());
    let reading = LinesReading::new(shown, xs, marker);
    let read = reading.read;
    let label = move || format!("{}: {} to read at", title.get(), shown.get().x_label);
    let spoken = move || {
        let (lines, Some(x)) = (shown.get(), read.get()) else { return String::new() };
        let values =
            lines.series.iter().map(|s| format!("{} {}", s.name, s.reading(x, lines.is_share)));
        format!("{} {}: {}", lines.x_label, place(x), values.collect::<Vec<_>>().join(", "))
    };
    let files = Files { json: lines_json, csv: lines_csv, svg: lines_svg };
    let table = TableData {
        name,
        summary: "Values as a table",
        caption: title,
        shape: Signal::derive(move || (xs.with(Vec::len), shown.get().series.len())),
        along: ("points", "series"),
        row_name: Callback::new(move |i: usize| {
            let x = xs.with(|xs| xs.get(i).map_or(String::new(), |x| place(*x)));
            format!("{} {x}", shown.get().x_label)
        }),
        column_name: Callback::new(move |i: usize| {
            shown.get().series.get(i).map_or(String::new(), |s| s.name.clone())
        }),
        cell: Callback::new(move |(row, column): (usize, usize)| {
            let x = xs.with(|xs| xs.get(row).copied())?;
            let lines = shown.get();
            let point = lines.series.get(column)?.at(x).filter(|p| p.0 == x)?;
            Some(if lines.is_share { percent(point.1, 2) } else { place(point.1) })
        }),
        absent: "–",
        start: Callback::new(move |()| xs.with(|xs| Some((nearest(xs, read.get()?)?, 0)))),
    };
    view! {
        <Frame
            name
            kind="lines"
            title
            root
            empty=empty.into()
            table
            choices=choices(name, title, shown, marker, provenance, use_colors(), files)
        >
            <LinesBox
                reading
                label=Signal::derive(label)
                spoken=Signal::derive(spoken)
                hint=Signal::derive(move || if empty.get() { hint.get() } else { String::new() })
                on_pick
                ruler
            />
            <Legend name shown read />
        </Frame>
    }
}

/// The plot of the lines, with a cursor that pointer, finger and keys move.
///
/// `spoken` is what is read, in words; `hint` stands where lines will be, unless it is empty.
/// `on_pick` hears of a click, or Enter, with the x that is read.
#[component]
pub fn LinesBox(
    reading: LinesReading,
    #[prop(into)] label: Signal<String>,
    #[prop(into)] spoken: Signal<String>,
    #[prop(into)] hint: Signal<String>,
    #[prop(optional_no_strip)] on_pick: Option<Callback<f64>>,
    #[prop(optional_no_strip)] ruler: Option<RwSignal<Option<Ruler>>>,
) -> impl IntoView {
    let LinesReading { shown, xs, pointing, marker, read } = reading;
    let canvas = NodeRef::<html::Canvas>::new();
    let size = use_size(canvas);
    let layout = memo(move || {
        let size = size.get();
        Layout::new(&shown.get(), size.width, size.height)
    });
    if let Some(ruler) = ruler {
        let stands = memo(move || {
            let (layout, width) = (layout.get(), size.get().width);
            let start = layout.x_at(0.0);
            (width > 0.0).then(|| Ruler { start, unit: layout.x_at(1.0) - start, width })
        });
        effect(move || ruler.set(stands.get()));
    }
    let motion = use_motion();
    use_plot(canvas, size, use_colors(), move |surface, palette| {
        lines_plot::draw(surface, &motion.toward(shown.get()), &layout.get(), None, palette)
    });

    let hit = move |e| {
        let x = layout.get_untracked().x_under(offset(&e).0);
        xs.with_untracked(|xs| nearest(xs, x).map(|i| xs[i]))
    };
    let step = move |(key, x): (String, f64)| {
        xs.with_untracked(|xs| step_along(&key, nearest(xs, x)?, xs.len()).map(|i| xs[i]))
    };
    let reader = Reading {
        pointing,
        hit: Callback::new(hit),
        start: Callback::new(move |()| read.get_untracked()),
        step: Callback::new(step),
        pick: on_pick,
        tap_reads: false,
        focus_reads: false,
    };
    let upright = move |x: f64| {
        let layout = layout.get();
        let (left, top) = (layout.x_at(x), lines_plot::TOP);
        format!("left:{left}px;top:{top}px;bottom:{}px", lines_plot::BOTTOM)
    };
    let on_axis = move |x: &f64| {
        let axis = layout.get().x;
        (axis.from..=axis.to).contains(x)
    };
    view! {
        <div
            {..reader.handlers()}
            class="lines-box"
            class:pickable=on_pick.is_some()
            class:names-first=move || layout.get().names_first
            class:says=move || layout.get().says && pointing.shown().is_none()
            tabindex="0"
            role="slider"
            aria-label=label
            aria-valuemin=move || layout.get().x.from.to_string()
            aria-valuemax=move || layout.get().x.to.to_string()
            aria-valuenow=move || read.get().unwrap_or_default().to_string()
            aria-valuetext=spoken
        >
            <canvas node_ref=canvas aria-hidden="true"></canvas>
            {move || {
                marker
                    .get()
                    .filter(on_axis)
                    .map(|x| view! { <div class="lines-marker" style=upright(x)></div> })
            }}
            <Show when=move || pointing.shown().is_some()>
                <div class="lines-cursor" style=move || read.get().map(upright)></div>
                <Dots shown layout read />
            </Show>
            <Show when=move || hint.with(|h| !h.is_empty())>
                <p class="lines-hint hint">{hint}</p>
            </Show>
        </div>
    }
}

/// The points that are read, on their lines.
#[component]
fn Dots(shown: Memo<Arc<Lines>>, layout: Memo<Layout>, read: Memo<Option<f64>>) -> impl IntoView {
    move || {
        let (lines, layout, x) = (shown.get(), layout.get(), read.get()?);
        let dotted = lines.series.iter();
        let dotted = dotted.filter(|line| matches!(line.stroke, Stroke::Auto | Stroke::Points));
        let dots = dotted.filter_map(|line| {
            let (x, y) = line.at(x).filter(|p| p.0 == x)?;
            let (left, top) = (layout.x_at(x), layout.y_at(y)?);
            let within = (lines_plot::TOP - 1.0..=layout.bottom + 1.0).contains(&top);
            let color = line.css();
            within.then(|| {
                let style = format!("left:{left}px;top:{top}px;background:{color}");
                view! { <i class="lines-dot" style=style></i> }
            })
        });
        Some(dots.collect_view())
    }
}

/// Every series with its pattern, its name, and what it says at the x that is read, in a line or
/// two. Each value has the same room whatever it is, so that reading moves nothing.
#[component]
fn Legend(name: &'static str, shown: Memo<Arc<Lines>>, read: Memo<Option<f64>>) -> impl IntoView {
    // Changes seldom: the list is built anew only then.
    let keys = memo(move || {
        let key = |s: &Line| (s.name.clone(), s.css(), s.dash, s.stroke == Stroke::Points);
        shown.get().series.iter().map(key).collect::<Vec<_>>()
    });
    let row = move |(i, (series, color, dash, dots)): (
        usize,
        (String, String, super::Dash, bool),
    )| {
        let value = move || {
            let lines = shown.get();
            let read = read.get().zip(lines.series.get(i));
            read.map_or("–".into(), |(x, line)| line.reading(x, lines.is_share))
        };
        view! {
            <li>
                <svg class="lines-key" viewBox="0 0 32 10" aria-hidden="true">
                    <path class:dots=dots d=if dots { "M5 5h0M16 5h0M27 5h0" } else { "M1 5H31" } style=format!("stroke:{color}") stroke-dasharray=dash.css()></path>
                </svg>
                <span class="lines-name">{series}</span>
                <span class="lines-value">{value}</span>
            </li>
        }
    };
    let at = move || {
        let label = shown.get().x_label.clone();
        format!("{label} {}", read.get().map_or("–".into(), place))
    };
    view! {
        // Many series scroll in a small figure, also for the keyboard.
        <div class="lines-readout" translate="no" tabindex="0" role="group" aria-label="Values"
            data-testid=format!("{name}-readout") data-x=move || read.get().map(|x| x.to_string())>
            <span class="lines-x">{at}</span>
            <ul>{move || keys.get().into_iter().enumerate().map(row).collect_view()}</ul>
        </div>
        {move || shown.get().left_out().map(|text| view! { <p class="panel-note">{text}</p> })}
    }
}
