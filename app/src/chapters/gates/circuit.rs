//! One unit of an LSTM or a GRU at one step as a circuit: the carried state as a line that valves
//! act on, every number where it arises.

use std::{fmt::Write, sync::Arc};

use leptos::{ev, html, prelude::*};
use unroll_protocol::study::gates::{CellChoice, GateSum, Quantity, Sums};

use super::state::{from_state, three};
use crate::figures::{
    canvas::{use_latest, use_size},
    decimals,
    export::{Provenance, csv_comment, head, open_object},
    frame::{Caption, Files, Frame, choices},
    hue::Hue,
    pen::{Anchor, Paint, Pen},
    sight::use_visible,
    svg::sheet,
    theme::{Colors, use_colors},
};

/// The hue of each gate and state, the same in every figure, formula and text.
pub fn gate_hue(quantity: Quantity) -> Hue {
    match quantity {
        Quantity::Input => Hue::Input,
        Quantity::Forget | Quantity::Update => Hue::Weight,
        Quantity::Candidate | Quantity::New => Hue::Value,
        Quantity::Output => Hue::Output,
        Quantity::Reset => Hue::Key,
        Quantity::Cell => Hue::Cell,
        Quantity::Hidden => Hue::Hidden,
    }
}

/// What the figure shows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Drawn {
    sums: Option<Arc<Sums>>,
    /// The gate whose box is marked.
    shown: Option<Quantity>,
}

/// The circuit. A click on a gate's box tells `on_pick`; `shown` is marked.
#[component]
pub fn CircuitFigure(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] sums: Signal<Option<Arc<Sums>>>,
    #[prop(into)] shown: Signal<Quantity>,
    on_pick: Callback<Quantity>,
    #[prop(into)] provenance: Signal<Provenance>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let room = NodeRef::<html::Div>::new();
    let size = use_size(room);
    let colors = use_colors();
    let source = Signal::derive(move || Drawn { sums: sums.get(), shown: Some(shown.get()) });
    let drawn = use_latest(source, use_visible(root));
    let empty = Signal::derive(move || drawn.get().sums.is_none());
    let picture = move || {
        let (drawn, size) = (drawn.get(), size.get());
        let Some(sums) = &drawn.sums else { return String::new() };
        draw(sums, (size.width, size.height), drawn.shown, Paint::page())
    };
    let pick = move |e: ev::MouseEvent| {
        let target: web_sys::Element = event_target(&e);
        let gate = target.closest("[data-gate]").ok().flatten();
        let gate = gate.and_then(|gate| Quantity::from_id(&gate.get_attribute("data-gate")?));
        if let Some(gate) = gate {
            on_pick.run(gate);
        }
    };
    let said = move || drawn.get().sums.as_deref().map(spoken);
    let files = Files { json: circuit_json, csv: circuit_csv, svg: circuit_svg };
    let none = Signal::stored(None);
    view! {
        <Frame name kind="circuit" title root empty
            choices=choices(name, title, drawn, none, provenance, colors, files)>
            <div class="figure-box circuit" node_ref=room role="img" aria-label=said
                data-testid=format!("{name}-picture") on:click=pick>
                <svg aria-hidden="true" inner_html=picture></svg>
            </div>
        </Frame>
    }
    .into_any()
}

/// The picture for who can't see it.
fn spoken(sums: &Sums) -> String {
    let each = sums.gates.iter().map(|sum| {
        let function = if sum.gate.opens() { "σ" } else { "tanh" };
        let held = if sum.held { "held at " } else { "" };
        format!(
            "{} {held}{}, {function}({}), W x + b = {}, {} = {}",
            sum.gate.label(),
            three(sum.value),
            three(sum.sum),
            three(sum.weight + sum.bias),
            from_state(sum.gate),
            three(sum.from_state)
        )
    });
    let state = sums.cell.memory().label();
    format!(
        "{}; {state} before {}, after {}.",
        each.collect::<Vec<_>>().join("; "),
        three(sums.before),
        three(sums.after)
    )
}

/// Narrower than this, what is written is shortened.
const NARROW: f64 = 420.0;

/// Where the heights of the circuit lie.
struct Levels {
    state: f64,
    knots: f64,
    boxes: f64,
    box_height: f64,
    box_width: f64,
    /// Lines of a gate's sum below its box.
    sums: usize,
    /// Left free at both sides: a frame may stand around the picture.
    side: f64,
    is_narrow: bool,
}

impl Levels {
    fn new((width, height): (f64, f64), font: f64) -> Self {
        let box_height = 3.5 * font;
        let line = 1.35 * font;
        // Above the state stands what it is, between the levels two knots.
        let least = 2.6 * font + 4.4 * font + box_height;
        let is_narrow = width < NARROW;
        let sums = (((height - least - 0.6 * font) / line) as usize).min(3);
        let free = (height - least - 0.6 * font - sums as f64 * line).max(0.0);
        let state = 2.6 * font + free * 0.12;
        let knots = state + 2.6 * font + free * 0.34;
        let boxes = knots + 1.8 * font + free * 0.34;
        let box_width = (width * 0.205).min(10.5 * font);
        let side = if is_narrow { 6.0 } else { 14.0 };
        Self { state, knots, boxes, box_height, box_width, sums, side, is_narrow }
    }
}

/// A gate's box with how far it is open, and its sum below as far as there is room.
fn gate_box(pen: &mut Pen, levels: &Levels, x: f64, sum: &GateSum, is_shown: bool) {
    let (hue, font) = (gate_hue(sum.gate), pen.font);
    let (width, height) = (levels.box_width, levels.box_height);
    let (left, top) = (x - width / 2.0, levels.boxes);
    let color = pen.hue(hue);
    let _ = write!(
        pen.svg,
        r#"<g data-gate="{}" class="circuit-gate"><rect x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}" rx="8" fill="{}" stroke="{color}" stroke-width="{}" stroke-dasharray="{}"/>"#,
        sum.gate.id(),
        pen.paint.paper(),
        if is_shown { 4 } else { 2 },
        if sum.held { "6 4" } else { "none" },
    );
    // How far it is open; a candidate has a sign and begins in the middle.
    let inner = width - 16.0;
    let (from, long) = if sum.gate.opens() {
        (left + 8.0, inner * f64::from(sum.value.clamp(0.0, 1.0)))
    } else {
        let half = inner / 2.0 * f64::from(sum.value.clamp(-1.0, 1.0));
        (x + half.min(0.0), half.abs())
    };
    let _ = write!(
        pen.svg,
        r#"<path d="M{:.1} {y:.1}h{inner:.1}" stroke="{}" stroke-width="4"/><path d="M{from:.1} {y:.1}h{long:.1}" stroke="{color}" stroke-width="4"/>"#,
        left + 8.0,
        pen.paint.line(),
        y = top + height - 0.6 * font,
    );
    let name = sum.gate.label().trim_end_matches(" gate");
    let fits = name.len() as f64 * 0.62 * font < width - 8.0;
    pen.text(
        hue,
        true,
        (x, top + 1.2 * font),
        Anchor::Middle,
        if fits { name } else { sum.gate.id() },
    );
    let value = if sum.held { format!("held {}", three(sum.value)) } else { three(sum.value) };
    pen.text(Hue::Ink, true, (x, top + 2.45 * font), Anchor::Middle, &value);
    let function = if sum.gate.opens() { "σ" } else { "tanh" };
    let input = if levels.is_narrow { "Wx+b" } else { "W x + b =" };
    let lines = [
        format!("{function}({})", three(sum.sum)),
        format!("{input} {}", three(sum.weight + sum.bias)),
        format!("{} = {}", from_state(sum.gate), three(sum.from_state)),
    ];
    for (i, line) in lines.iter().take(levels.sums).enumerate() {
        let y = top + height + 1.3 * font + 1.35 * font * i as f64;
        pen.text(Hue::Muted, false, (x, y), Anchor::Middle, line);
    }
    pen.svg.push_str("</g>");
}

/// The picture as the inside of an SVG of this size.
fn draw(sums: &Sums, size: (f64, f64), shown: Option<Quantity>, paint: Paint) -> String {
    let (width, height) = size;
    if width < 1.0 || height < 1.0 {
        return String::new();
    }
    let font = (width / 42.0).min(height / 17.0).clamp(12.0, 19.0);
    let mut pen = Pen::new(font, paint);
    let levels = Levels::new(size, font);
    match sums.cell {
        CellChoice::Lstm | CellChoice::Projected => lstm(&mut pen, &levels, width, sums, shown),
        CellChoice::Gru | CellChoice::Cho => gru(&mut pen, &levels, width, sums, shown),
    }
    pen.svg
}

/// The sum of one gate.
fn sum_of(sums: &Sums, gate: Quantity) -> Option<&GateSum> {
    sums.gates.iter().find(|sum| sum.gate == gate)
}

/// The state's line from one end to the other, with what it is before and after.
fn state_line(pen: &mut Pen, levels: &Levels, width: f64, sums: &Sums) {
    let (hue, y, font) = (gate_hue(sums.cell.memory()), levels.state, pen.font);
    let (left, right) = (levels.side, width - levels.side);
    pen.wire(hue, 6.0, &format!("M{left} {y:.1}H{right:.1}"));
    let name = sums.cell.memory().id();
    let above = y - 1.35 * font;
    pen.text(
        hue,
        true,
        (left, above),
        Anchor::Start,
        &format!("{name} before = {}", three(sums.before)),
    );
    pen.text(hue, true, (right, above), Anchor::End, &format!("{name} = {}", three(sums.after)));
}

fn lstm(pen: &mut Pen, levels: &Levels, width: f64, sums: &Sums, shown: Option<Quantity>) {
    let font = pen.font;
    let at = |share: f64| width * share;
    let (forget, input, candidate, output) = (at(0.12), at(0.37), at(0.61), at(0.87));
    let (plus, tap) = ((input + candidate) / 2.0, at(0.735));
    let (state, knots, boxes) = (levels.state, levels.knots, levels.boxes);
    let value = |gate| sum_of(sums, gate).map_or(f32::NAN, |sum| sum.value);
    let (f, i, g) = (value(Quantity::Forget), value(Quantity::Input), value(Quantity::Candidate));
    state_line(pen, levels, width, sums);
    pen.wire(gate_hue(Quantity::Forget), 3.0, &format!("M{forget:.1} {boxes:.1}V{state:.1}"));
    let (input_hue, candidate_hue) = (gate_hue(Quantity::Input), gate_hue(Quantity::Candidate));
    pen.wire(input_hue, 3.0, &format!("M{input:.1} {boxes:.1}V{knots:.1}H{plus:.1}"));
    pen.wire(candidate_hue, 3.0, &format!("M{candidate:.1} {boxes:.1}V{knots:.1}H{plus:.1}"));
    pen.wire(Hue::Cell, 3.0, &format!("M{plus:.1} {knots:.1}V{state:.1}"));
    pen.wire(Hue::Cell, 3.0, &format!("M{tap:.1} {state:.1}V{knots:.1}H{output:.1}"));
    pen.wire(gate_hue(Quantity::Output), 3.0, &format!("M{output:.1} {boxes:.1}V{knots:.1}"));
    let right = width - levels.side;
    pen.wire(Hue::Hidden, 4.0, &format!("M{output:.1} {knots:.1}H{right:.1}"));
    pen.knot(gate_hue(Quantity::Forget), (forget, state), "×");
    pen.knot(Hue::Cell, (plus, state), "+");
    pen.knot(Hue::Cell, (plus, knots), "×");
    pen.knot(gate_hue(Quantity::Output), (output, knots), "×");
    let between = (forget + plus) / 2.0;
    let below = state + 1.5 * font;
    let kept = format!("f · c = {}", three(f * sums.before));
    pen.text(Hue::Muted, false, (between, below), Anchor::Middle, &kept);
    let written = format!("i · g = {}", three(i * g));
    let middle = (state + knots) / 2.0 + 0.35 * font;
    pen.text(Hue::Muted, false, (plus + 0.7 * font, middle), Anchor::Start, &written);
    let squashed = three(sums.after.tanh());
    let (line, left) = (format!("tanh(c) = {squashed}"), tap + 0.7 * font);
    if levels.is_narrow {
        // Two lines above the knot.
        for (text, below) in [("tanh(c)", 1.5), (squashed.as_str(), 2.65)] {
            pen.text(Hue::Muted, false, (left, state + below * font), Anchor::Start, text);
        }
    } else {
        pen.text(Hue::Muted, false, (left, middle), Anchor::Start, &line);
    }
    if let Some(hidden) = sums.hidden {
        let name = if sums.cell == CellChoice::Projected { "o · tanh(c)" } else { "h" };
        // There is little between the wire and the edge.
        let number = decimals(hidden, if levels.is_narrow { 2 } else { 3 });
        let line = format!("{name} = {number}");
        // Below the output's wire, or above and below it where one line has no room.
        let is_narrow = 0.62 * font * line.chars().count() as f64 > right - 8.0 - output;
        let lines =
            if is_narrow { vec![(name, -0.6), (&number, 1.4)] } else { vec![(line.as_str(), 1.4)] };
        for (text, below) in lines {
            let at = (right, knots + below * font);
            pen.text(Hue::Hidden, true, at, Anchor::End, text);
        }
    }
    let boxes = [
        (forget, Quantity::Forget),
        (input, Quantity::Input),
        (candidate, Quantity::Candidate),
        (output, Quantity::Output),
    ];
    for (x, gate) in boxes {
        if let Some(sum) = sum_of(sums, gate) {
            gate_box(pen, levels, x, sum, shown == Some(gate));
        }
    }
}

fn gru(pen: &mut Pen, levels: &Levels, width: f64, sums: &Sums, shown: Option<Quantity>) {
    let font = pen.font;
    let at = |share: f64| width * share;
    let (update, new, reset) = (at(0.18), at(0.53), at(0.85));
    let (state, knots, boxes) = (levels.state, levels.knots, levels.boxes);
    let value = |gate| sum_of(sums, gate).map_or(f32::NAN, |sum| sum.value);
    let (z, n) = (value(Quantity::Update), value(Quantity::New));
    let hue = gate_hue(Quantity::Update);
    state_line(pen, levels, width, sums);
    pen.wire(hue, 3.0, &format!("M{update:.1} {boxes:.1}V{state:.1}"));
    pen.wire(hue, 3.0, &format!("M{update:.1} {knots:.1}H{new:.1}"));
    let candidate = gate_hue(Quantity::New);
    pen.wire(candidate, 3.0, &format!("M{new:.1} {boxes:.1}V{knots:.1}"));
    pen.wire(Hue::Hidden, 3.0, &format!("M{new:.1} {knots:.1}V{state:.1}"));
    // What resets acts before the candidate is made: an arrow into its box.
    let (y, side) = (boxes + levels.box_height / 2.0, levels.box_width / 2.0);
    let (from, to) = (reset - side, new + side);
    let tip = font * 0.5;
    pen.wire(
        gate_hue(Quantity::Reset),
        3.0,
        &format!(
            "M{from:.1} {y:.1}H{to:.1}m{tip:.1} {:.1}l{:.1} {tip:.1}l{tip:.1} {tip:.1}",
            -tip, -tip
        ),
    );
    pen.knot(hue, (update, state), "×");
    pen.knot(Hue::Hidden, (new, state), "+");
    pen.knot(candidate, (new, knots), "×");
    let kept = format!("z · h = {}", three(z * sums.before));
    pen.text(Hue::Muted, false, ((update + new) / 2.0, state + 1.5 * font), Anchor::Middle, &kept);
    let rest = format!("1 − z = {}", three(1.0 - z));
    pen.text(Hue::Muted, false, ((update + new) / 2.0, knots - 0.6 * font), Anchor::Middle, &rest);
    let written = format!("(1 − z) · n = {}", three((1.0 - z) * n));
    let middle = (state + knots) / 2.0 + 0.35 * font;
    pen.text(Hue::Muted, false, (new + 0.7 * font, middle), Anchor::Start, &written);
    let gates = [(update, Quantity::Update), (new, Quantity::New), (reset, Quantity::Reset)];
    for (x, gate) in gates {
        if let Some(sum) = sum_of(sums, gate) {
            gate_box(pen, levels, x, sum, shown == Some(gate));
        }
    }
}

fn circuit_json(drawn: &Drawn, caption: &Caption, provenance: &Provenance) -> String {
    let map = head(caption.name, &caption.title, provenance);
    // As text: `json!` would widen each f32 and write digits it does not have.
    let sums = serde_json::to_string(&drawn.sums.as_deref()).unwrap_or_default();
    open_object(&map, "sums") + &sums + "}"
}

fn circuit_csv(drawn: &Drawn, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    text.push_str("quantity,from_input,from_state,sum,value,held\n");
    let Some(sums) = &drawn.sums else { return text };
    for sum in &sums.gates {
        let (input, held) = (sum.weight + sum.bias, u8::from(sum.held));
        let (gate, state) = (sum.gate.id(), sum.from_state);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{gate},{input:?},{state:?},{:?},{:?},{held}", sum.sum, sum.value);
    }
    let name = sums.cell.memory().id();
    let _ = writeln!(text, "{name} before,,,,{:?},0\n{name},,,,{:?},0", sums.before, sums.after);
    if let Some(hidden) = sums.hidden {
        let _ = writeln!(text, "o tanh(c),,,,{hidden:?},0");
    }
    text
}

fn circuit_svg(drawn: &Drawn, caption: &Caption, colors: &Colors) -> String {
    const SIZE: (f64, f64) = (800.0, 380.0);
    let inside = drawn.sums.as_ref();
    let inside = inside.map(|sums| draw(sums, SIZE, None, Paint::of(colors.palette)));
    sheet(&inside.unwrap_or_default(), SIZE, caption, colors.palette)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::color::Palette;

    fn sums(cell: CellChoice) -> Sums {
        let gate = |gate: &Quantity| GateSum {
            gate: *gate,
            weight: 0.5,
            bias: 0.25,
            terms: Vec::new(),
            rest: 0.0,
            others: 0,
            state_bias: None,
            reset: None,
            from_state: -0.5,
            sum: 0.25,
            value: 0.5,
            held: false,
        };
        let states = [Quantity::Cell, Quantity::Hidden];
        let gates = cell.quantities().iter().filter(|quantity| !states.contains(quantity));
        Sums {
            cell,
            token: "(".into(),
            unit: 0,
            at: 3,
            gates: gates.map(gate).collect(),
            before: 0.2,
            after: 0.35,
            hidden: None,
            projected: None,
        }
    }

    #[test]
    fn every_gate_is_in_every_circuit() {
        for cell in CellChoice::ALL {
            let sums = sums(*cell);
            for size in [(340.0, 150.0), (560.0, 420.0), (1500.0, 900.0)] {
                let svg = draw(&sums, size, None, Paint::page());
                for gate in &sums.gates {
                    assert!(svg.contains(&format!(r#"data-gate="{}""#, gate.gate.id())));
                }
                assert!(!svg.contains("NaN"));
                let levels = Levels::new(size, 12.0);
                assert!(levels.boxes + levels.box_height <= size.1 + 0.5, "{size:?}");
            }
        }
    }

    #[test]
    fn files_read_back() {
        let drawn = Drawn { sums: Some(Arc::new(sums(CellChoice::Gru))), shown: None };
        let caption =
            Caption { name: "circuit", title: "a < b".into(), marker: None, source: "here".into() };
        let json = circuit_json(&drawn, &caption, &Provenance::default());
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["sums"]["before"].as_f64().unwrap() as f32, 0.2);
        assert!(json.contains(r#""before":0.2,"#));
        let csv = circuit_csv(&drawn, &caption, &Provenance::default());
        assert!(csv.ends_with("h before,,,,0.2,0\nh,,,,0.35,0\n"), "{csv}");
        let svg = circuit_svg(&drawn, &caption, &Colors::new(&Palette::LIGHT));
        assert!(svg.contains("a &lt; b"));
    }
}
