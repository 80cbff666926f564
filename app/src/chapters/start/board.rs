//! A drawing that is moved by hand: what is dragged in it, the same numbers on sliders beside it, and
//! what is worked out from them.

use core::fmt::Write;

use crate::reactive::memo;
use leptos::{ev, html, prelude::*};
use serde_json::{Map, json};
use unroll_protocol::read_number;

use crate::figures::{
    Colors, Provenance, Slot,
    canvas::{use_latest, use_size},
    drag::dragging,
    export::{csv_comment, field, head},
    frame::{Caption, Files, Frame, choices},
    hue::Hue,
    pen::{Paint, Pen},
    svg::sheet,
    theme::use_colors,
    use_visible,
};

/// A number that the learner moves.
pub struct Knob {
    pub name: &'static str,
    pub hue: Hue,
    pub least: f64,
    pub most: f64,
    pub step: f64,
}

/// What of a drawing is dragged, and which numbers that moves.
pub struct Grip {
    pub at: (f64, f64),
    pub hue: Hue,
    pub x: Option<Axis>,
    pub y: Option<Axis>,
    /// Drawn as a ring, so that what it is on is seen through it.
    pub open: bool,
}

/// How far from its zero a number stands on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// Which number it is.
    pub number: usize,
    pub zero: f64,
    pub per_unit: f64,
}

impl Axis {
    fn read(self, at: f64) -> f64 {
        (at - self.zero) / self.per_unit
    }
}

/// One line of what is worked out.
pub struct Line {
    pub name: &'static str,
    /// Letters and numbers: `3.0 × 1.0 + 1.0 × 2.5 = 5.50`.
    pub sum: String,
    /// What it comes to, for files.
    pub value: f64,
}

/// Draws numbers on a room of a size, and returns what is dragged there.
pub type Draw = fn(&[f64], (f64, f64), &mut Pen) -> Vec<Grip>;

/// A drawing and its numbers, which have one decimal or two.
pub struct Board {
    pub name: &'static str,
    /// What the drawing shows.
    pub title: fn(&[f64]) -> &'static str,
    pub knobs: &'static [Knob],
    /// The knob that the story asks for, which stands ahead of the others.
    pub first: usize,
    /// The numbers are the knobs', and behind them what else the view sets.
    pub draw: Draw,
    /// What stands over the grips, and is none itself.
    pub over: fn(&[f64], (f64, f64), &mut Pen),
    pub lines: fn(&[f64]) -> Vec<Line>,
    /// One or two sentences on what one sees.
    pub says: fn(&[f64]) -> String,
}

/// For drawings whose grips have nothing over them.
pub fn nothing(_: &[f64], _: (f64, f64), _: &mut Pen) {}

/// A number as it is shown.
pub fn shown(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| matches!(b, b'0' | b'.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// As a factor or a term in a sum: what is negative stands in parentheses.
pub fn term(value: f64, decimals: usize) -> String {
    let text = shown(value, decimals);
    if text.starts_with('−') { format!("({text})") } else { text }
}

impl Knob {
    /// The nearest number that it can stand at.
    fn nearest(&self, value: f64) -> f64 {
        let steps = (value / self.step).round();
        // Ten steps of 0.1 are 1.
        let value = (steps * self.step * 1e6).round() / 1e6;
        value.clamp(self.least, self.most)
    }

    fn decimals(&self) -> usize {
        if self.step < 0.1 { 2 } else { 1 }
    }
}

/// What is on show: the numbers of the knobs and what else the view sets.
#[derive(Clone, Default)]
struct Shown {
    /// `None` until something is drawn.
    board: Option<&'static Board>,
    numbers: Vec<f64>,
}

/// The numbers of a setting, exactly as they read in decimals.
fn exact(numbers: &[f32]) -> impl Iterator<Item = f64> {
    numbers.iter().map(|number| (f64::from(*number) * 1e4).round() / 1e4)
}

/// The drawing, its sliders and its sums. `further` are numbers that other controls of the view set.
#[component]
pub fn BoardView(
    board: &'static Board,
    numbers: Slot<Vec<f32>>,
    #[prop(into, default = Signal::stored(Vec::new()))] further: Signal<Vec<f64>>,
    /// Other controls of the view.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let all = Signal::derive(move || {
        let mut all: Vec<f64> = exact(&numbers.get()).collect();
        all.truncate(board.knobs.len());
        // A link may give a number that a knob can't stand at.
        for (number, knob) in all.iter_mut().zip(board.knobs) {
            *number = number.clamp(knob.least, knob.most);
        }
        all.extend(further.get());
        all
    });
    let set = move |moves: &[(usize, f64)]| {
        let mut next = numbers.get_untracked();
        for &(at, value) in moves {
            if let (Some(number), Some(knob)) = (next.get_mut(at), board.knobs.get(at)) {
                *number = knob.nearest(value) as f32;
            }
        }
        if next != numbers.get_untracked() {
            numbers.set(next);
        }
    };
    let knob = move |place: usize| {
        let at = (board.first + place) % board.knobs.len();
        let knob = &board.knobs[at];
        let value = memo(move || all.with(|all| all.get(at).copied().unwrap_or_default()));
        let moved = move |event: ev::Event| {
            if let Some(value) = read_number(&event_target_value(&event)) {
                set(&[(at, value)]);
            }
        };
        view! {
            <label class="knob">
                <span class=format!("knob-name {}", knob.hue.class()) translate="no">{knob.name}</span>
                <input type="range" min=knob.least max=knob.most step=knob.step
                    style=format!("--thumb:{}", knob.hue.css())
                    data-testid=format!("{}-knob-{at}", board.name)
                    prop:value=move || value.get().to_string() on:input=moved/>
                <output translate="no">{move || shown(value.get(), knob.decimals())}</output>
            </label>
        }
    };
    let lines = memo(move || {
        let lines = (board.lines)(&all.get());
        lines.into_iter().map(|line| (line.name, line.sum)).collect::<Vec<_>>()
    });
    let line = move |(name, sum): (&'static str, String)| {
        view! { <dt>{name}</dt><dd translate="no">{sum}</dd> }
    };
    view! {
        <div class="view-side has-aside start-side">
            <Drawing board all set=Callback::new(move |moves: Vec<(usize, f64)>| set(&moves))/>
            <div class="start-numbers" data-testid=format!("{}-numbers", board.name)>
                {children.map(|children| children())}
                <p class="start-says" aria-live="polite" data-testid=format!("{}-says", board.name)>
                    {move || (board.says)(&all.get())}
                </p>
                <div class="knobs" role="group" aria-label="Numbers to move">
                    {(0..board.knobs.len()).map(knob).collect_view()}
                </div>
                <dl class="start-lines" data-testid=format!("{}-lines", board.name)>
                    {move || lines.get().into_iter().map(line).collect_view()}
                </dl>
            </div>
        </div>
    }
    .into_any()
}

/// The figure, whose grips are dragged.
#[component]
fn Drawing(
    board: &'static Board,
    all: Signal<Vec<f64>>,
    set: Callback<Vec<(usize, f64)>>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let room = NodeRef::<html::Div>::new();
    let size = use_size(room);
    let source = Signal::derive(move || Shown { board: Some(board), numbers: all.get() });
    let drawn = use_latest(source, use_visible(root));
    let picture = move || {
        let size = size.get();
        inside(board, &drawn.get().numbers, (size.width, size.height), Paint::page(), true).0
    };
    let take = |event: &ev::PointerEvent| {
        let target: web_sys::Element = event_target(event);
        let grip = target.closest("[data-grip]").ok()??;
        let grip = grip.get_attribute("data-grip")?.parse::<usize>().ok()?;
        event.prevent_default();
        Some(grip)
    };
    let drag = move |event: &ev::PointerEvent, held: usize| {
        let Some(room) = room.get_untracked() else { return };
        let rect = room.get_bounding_client_rect();
        let at =
            (f64::from(event.client_x()) - rect.left(), f64::from(event.client_y()) - rect.top());
        let size = size.get_untracked();
        let numbers = all.get_untracked();
        let (_, grips) = inside(board, &numbers, (size.width, size.height), Paint::page(), false);
        let Some(grip) = grips.get(held) else { return };
        let x = grip.x.map(|axis| (axis.number, axis.read(at.0)));
        let y = grip.y.map(|axis| (axis.number, axis.read(at.1)));
        set.run(x.into_iter().chain(y).collect());
    };
    let title = Signal::derive(move || (board.title)(&all.get()).to_owned());
    let provenance = Signal::stored(Provenance {
        device: "a drawing moved by hand, without a model".to_owned(),
        ..Provenance::default()
    });
    let files = Files { json, csv, svg };
    let choices =
        choices(board.name, title, drawn, Signal::stored(None), provenance, use_colors(), files);
    view! {
        <Frame name=board.name kind="board" title root empty=Signal::stored(false) choices>
            <div {..dragging(RwSignal::new(None), take, drag)} class="figure-box board" node_ref=room role="img"
                aria-label=move || (board.says)(&drawn.get().numbers)
                data-testid=format!("{}-picture", board.name)>
                <svg aria-hidden="true" inner_html=picture></svg>
            </div>
        </Frame>
    }
    .into_any()
}

/// The inside of an SVG of this size, and its grips, which are drawn where they can be taken.
fn inside(
    board: &Board,
    numbers: &[f64],
    size: (f64, f64),
    paint: Paint,
    has_grips: bool,
) -> (String, Vec<Grip>) {
    if size.0 < 1.0 || size.1 < 1.0 || numbers.len() < board.knobs.len() {
        return (String::new(), Vec::new());
    }
    let font = (size.0 / 40.0).min(size.1 / 22.0).clamp(12.0, 20.0);
    let mut pen = Pen::new(font, paint);
    let grips = (board.draw)(numbers, size, &mut pen);
    if has_grips {
        for (i, grip) in grips.iter().enumerate() {
            let ((x, y), hue) = (grip.at, pen.hue(grip.hue));
            let (share, radius, edge) = match grip.open {
                true => (0.14, 11, hue.clone()),
                false => (1.0, 8, paint.paper()),
            };
            // Writing to a String cannot fail.
            let _ = write!(
                pen.svg,
                r#"<g class="grip" data-grip="{i}"><circle cx="{x:.1}" cy="{y:.1}" r="22" fill="transparent"/><circle class="grip-dot" cx="{x:.1}" cy="{y:.1}" r="{radius}" fill="{hue}" fill-opacity="{share}" stroke="{edge}" stroke-width="2"/></g>"#
            );
        }
    }
    (board.over)(numbers, size, &mut pen);
    (pen.svg, grips)
}

fn json(shown: &Shown, caption: &Caption, provenance: &Provenance) -> String {
    let mut map = head(caption.name, &caption.title, provenance);
    if let Some(board) = shown.board {
        let numbers = board.knobs.iter().zip(&shown.numbers);
        let numbers: Map<_, _> = numbers.map(|(k, n)| (k.name.to_owned(), json!(n))).collect();
        map.insert("numbers".into(), numbers.into());
        let lines = (board.lines)(&shown.numbers);
        let lines = lines
            .iter()
            .map(|line| json!({ "name": line.name, "sum": line.sum, "value": line.value }));
        map.insert("worked_out".into(), lines.collect());
    }
    serde_json::Value::Object(map).to_string()
}

fn csv(shown: &Shown, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    text.push_str("name,value\n");
    let Some(board) = shown.board else { return text };
    let numbers = board.knobs.iter().map(|knob| knob.name).zip(shown.numbers.iter().copied());
    let lines = (board.lines)(&shown.numbers);
    for (name, value) in numbers.chain(lines.iter().map(|line| (line.name, line.value))) {
        let _ = writeln!(text, "{},{value}", field(name));
    }
    text
}

fn svg(shown: &Shown, caption: &Caption, colors: &Colors) -> String {
    const SIZE: (f64, f64) = (1100.0, 680.0);
    let paint = Paint::of(colors.palette);
    let drawn = shown.board.map(|board| inside(board, &shown.numbers, SIZE, paint, false).0);
    sheet(&drawn.unwrap_or_default(), SIZE, caption, colors.palette)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::color::Palette;

    #[test]
    fn numbers_read_as_they_should() {
        assert_eq!([shown(-0.04, 1), shown(-1.25, 2), shown(3.0, 1)], ["0.0", "−1.25", "3.0"]);
        assert_eq!((term(-2.0, 1), term(2.0, 1)), ("(−2.0)".to_owned(), "2.0".to_owned()));
        let knob = Knob { name: "a", hue: Hue::Query, least: -5.0, most: 5.0, step: 0.1 };
        assert_eq!([0.26, 9.0, -0.04].map(|value| knob.nearest(value)), [0.3, 5.0, 0.0]);
    }

    /// Every drawing at several sizes: what is drawn is finite, what is dragged lies in the picture,
    /// and dragging a grip to where it is moves no number.
    #[test]
    fn drawings_fit_their_rooms() {
        for (board, numbers) in crate::chapters::start::boards() {
            for size in [(1100.0, 680.0), (700.0, 420.0), (360.0, 260.0), (330.0, 500.0)] {
                let (svg, grips) = inside(board, &numbers, size, Paint::of(&Palette::LIGHT), true);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{} {size:?}", board.name);
                assert!(!grips.is_empty());
                for grip in grips {
                    let (x, y) = grip.at;
                    let inside = (0.0..=size.0).contains(&x) && (0.0..=size.1).contains(&y);
                    assert!(inside, "{} {size:?}: {:?}", board.name, grip.at);
                    for (axis, at) in [(grip.x, x), (grip.y, y)] {
                        let Some(axis) = axis else { continue };
                        let (read, now) = (axis.read(at), numbers[axis.number]);
                        assert!((read - now).abs() < 1e-6, "{}: {read} is {now}", board.name);
                    }
                }
            }
            for line in (board.lines)(&numbers) {
                assert!(line.value.is_finite() && !line.sum.contains('-'), "{}", line.sum);
            }
        }
    }
}
