//! Lists of two numbers as arrows: two of them, and the three rows of a matrix.

use core::fmt::Write;

use super::board::{Axis, Board, Grip, Knob, Line, shown, term};
use crate::figures::{
    hue::Hue,
    pen::{Anchor, Pen},
};

/// A ruled plane with 0 in its middle.
struct Plane {
    place: (f64, f64),
    size: (f64, f64),
    middle: (f64, f64),
    unit: f64,
}

impl Plane {
    /// In which all lists of two numbers up to `reach` fit.
    fn new(place: (f64, f64), size: (f64, f64), reach: f64) -> Self {
        let middle = (place.0 + size.0 / 2.0, place.1 + size.1 / 2.0);
        Self { place, size, middle, unit: size.0.min(size.1) / 2.0 / (reach + 0.35) }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.middle.0 + x * self.unit, self.middle.1 - y * self.unit)
    }

    fn rule(&self, pen: &mut Pen) {
        let ((left, top), (width, height)) = (self.place, self.size);
        let (mut thin, line) = (String::new(), pen.paint.line());
        let reach = ((width / 2.0 / self.unit) as i32, (height / 2.0 / self.unit) as i32);
        // Writing to a String cannot fail.
        for i in (-reach.0..=reach.0).filter(|i| *i != 0) {
            let _ = write!(thin, "M{:.1} {top:.1}v{height:.1}", self.at((i.into(), 0.0)).0);
        }
        for i in (-reach.1..=reach.1).filter(|i| *i != 0) {
            let _ = write!(thin, "M{left:.1} {:.1}h{width:.1}", self.at((0.0, i.into())).1);
        }
        let _ = write!(pen.svg, r#"<path d="{thin}" fill="none" stroke="{line}"/>"#);
        let (x, y) = self.middle;
        pen.wire(
            Hue::Muted,
            1.5,
            &format!("M{left:.1} {y:.1}h{width:.1}M{x:.1} {top:.1}v{height:.1}"),
        );
        let small = pen.font * 0.85;
        for i in [-reach.0, reach.0] {
            let at = self.at((i.into(), 0.0));
            pen.sized(
                Hue::Muted,
                false,
                small.max(12.0),
                (at.0, at.1 + 1.2 * small),
                Anchor::Middle,
                &shown(i.into(), 0),
            );
        }
    }

    /// An arrow from one place to another, with its name at the tip.
    fn arrow(&self, pen: &mut Pen, hue: Hue, from: (f64, f64), to: (f64, f64), name: &str) {
        let (from, tip) = (self.at(from), self.at(to));
        let (dx, dy) = (tip.0 - from.0, tip.1 - from.1);
        let long = dx.hypot(dy);
        if long > 4.0 {
            let (ux, uy) = (dx / long, dy / long);
            let head = 14.0_f64.min(long);
            let (x, y) = (tip.0 - ux * head * 0.7, tip.1 - uy * head * 0.7);
            pen.wire(hue, 3.5, &format!("M{:.1} {:.1}L{x:.1} {y:.1}", from.0, from.1));
            pen.head(hue, tip, (ux, uy), head);
        }
        let (ux, uy) = if long > 4.0 { (dx / long, dy / long) } else { (0.0, -1.0) };
        let far = pen.font * 1.25 + 8.0;
        // Not over the edge.
        let x = (tip.0 + ux * far)
            .clamp(self.place.0 + pen.font, self.place.0 + self.size.0 - pen.font);
        let y = (tip.1 + uy * far).clamp(self.place.1 + pen.font, self.place.1 + self.size.1 - 4.0);
        pen.text(hue, true, (x, y + 0.35 * pen.font), Anchor::Middle, name);
    }

    /// What is dragged at the tip of an arrow.
    fn grip(&self, hue: Hue, numbers: (usize, usize), tip: (f64, f64)) -> Grip {
        Grip {
            at: self.at(tip),
            hue,
            x: Some(Axis { number: numbers.0, zero: self.middle.0, per_unit: self.unit }),
            y: Some(Axis { number: numbers.1, zero: self.middle.1, per_unit: -self.unit }),
            open: true,
        }
    }
}

const fn knob(name: &'static str, hue: Hue, reach: f64) -> Knob {
    Knob { name, hue, least: -reach, most: reach, step: 0.1 }
}

const A: Hue = Hue::Query;
const B: Hue = Hue::Key;
const RESULT: Hue = Hue::Output;

/// The farthest that the tip of an arrow goes.
const REACH: f64 = 5.0;

pub const ARROWS: Board = Board {
    name: "arrows",
    title: "Two lists as arrows",
    knobs: &[
        knob("a₁", A, REACH),
        knob("a₂", A, REACH),
        knob("b₁", B, REACH),
        knob("b₂", B, REACH),
    ],
    draw: draw_arrows,
    lines: arrow_lines,
    says: arrows_say,
};

/// What of the arrows is worked out: nothing, their sum, or their dot product, as
/// [`unroll_protocol::start::Shows`] has it.
fn works_out(numbers: &[f64]) -> u8 {
    numbers.get(4).copied().unwrap_or_default() as u8
}

pub fn two(numbers: &[f64]) -> ((f64, f64), (f64, f64)) {
    ((numbers[0], numbers[1]), (numbers[2], numbers[3]))
}

pub fn dot(a: (f64, f64), b: (f64, f64)) -> f64 {
    a.0 * b.0 + a.1 * b.1
}

fn draw_arrows(numbers: &[f64], size: (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let (a, b) = two(numbers);
    let plane = Plane::new((0.0, 0.0), size, REACH);
    plane.rule(pen);
    let dashed = |pen: &mut Pen, hue: Hue, from: (f64, f64), to: (f64, f64)| {
        let ((x, y), (u, v)) = (plane.at(from), plane.at(to));
        let color = pen.hue(hue);
        let _ = write!(
            pen.svg,
            r#"<path d="M{x:.1} {y:.1}L{u:.1} {v:.1}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="5 5"/>"#
        );
    };
    match works_out(numbers) {
        1 => {
            let sum = (a.0 + b.0, a.1 + b.1);
            dashed(pen, B, a, sum);
            dashed(pen, A, b, sum);
            plane.arrow(pen, RESULT, (0.0, 0.0), sum, "a + b");
        }
        2 => {
            // The shadow of b on the line through a: the dot product is as long as it, times a's length.
            let long = dot(a, a);
            if long > 0.0 {
                let share = dot(a, b) / long;
                let foot = (a.0 * share, a.1 * share);
                dashed(pen, B, b, foot);
                let ((x, y), (u, v)) = (plane.at((0.0, 0.0)), plane.at(foot));
                let color = pen.hue(RESULT);
                let _ = write!(
                    pen.svg,
                    r#"<path d="M{x:.1} {y:.1}L{u:.1} {v:.1}" stroke="{color}" stroke-width="12" stroke-opacity="0.3" stroke-linecap="round"/>"#
                );
            }
        }
        _ => {}
    }
    plane.arrow(pen, A, (0.0, 0.0), a, "a");
    plane.arrow(pen, B, (0.0, 0.0), b, "b");
    vec![plane.grip(A, (0, 1), a), plane.grip(B, (2, 3), b)]
}

fn list((x, y): (f64, f64)) -> String {
    format!("[{}, {}]", shown(x, 1), shown(y, 1))
}

fn arrow_lines(numbers: &[f64]) -> Vec<Line> {
    let (a, b) = two(numbers);
    let [a1, a2, b1, b2] = [a.0, a.1, b.0, b.1].map(|number| term(number, 1));
    let (sum, product) = ((a.0 + b.0, a.1 + b.1), dot(a, b));
    let both = [("a", a), ("b", b)].map(|(name, of)| Line {
        name,
        sum: list(of),
        value: of.0.hypot(of.1),
    });
    let mut lines: Vec<Line> = both.into();
    match works_out(numbers) {
        1 => lines.push(Line {
            name: "a + b",
            sum: format!("[{a1} + {b1}, {a2} + {b2}] = {}", list(sum)),
            value: sum.0.hypot(sum.1),
        }),
        2 => lines.push(Line {
            name: "a · b",
            sum: format!("{a1} × {b1} + {a2} × {b2} = {}", shown(product, 2)),
            value: product,
        }),
        _ => {}
    }
    lines
}

/// The angle between two arrows in degrees, where both have a length.
fn angle(a: (f64, f64), b: (f64, f64)) -> Option<f64> {
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    (lengths > 0.0).then(|| (dot(a, b) / lengths).clamp(-1.0, 1.0).acos().to_degrees())
}

fn arrows_say(numbers: &[f64]) -> String {
    let (a, b) = two(numbers);
    match works_out(numbers) {
        1 => format!(
            "Walk along a, then along b, and you stand at {}.",
            list((a.0 + b.0, a.1 + b.1))
        ),
        2 => {
            let Some(angle) = angle(a, b) else {
                return "One of the arrows has no length, so the dot product is 0.".to_owned();
            };
            let product = dot(a, b);
            let verdict = match product {
                p if p.abs() < 0.005 => "That is a right angle, so the dot product is 0.",
                p if p > 0.0 => "That is less than a right angle, so the dot product is positive.",
                _ => "That is more than a right angle, so the dot product is negative.",
            };
            format!("The angle between them is {}°. {verdict}", shown(angle, 0))
        }
        _ => format!(
            "a goes {} across and {} up; b goes {} across and {} up.",
            shown(a.0, 1),
            shown(a.1, 1),
            shown(b.0, 1),
            shown(b.1, 1)
        ),
    }
}

const X: Hue = Hue::Input;
const ROWS: [(Hue, &str); 3] = [(Hue::Query, "row 1"), (Hue::Key, "row 2"), (Hue::Value, "row 3")];
/// The farthest of an input or a row.
const MATRIX_REACH: f64 = 3.0;

pub const MATRIX: Board = Board {
    name: "matrix",
    title: "Three rows ask one input",
    knobs: &[
        knob("x₁", X, MATRIX_REACH),
        knob("x₂", X, MATRIX_REACH),
        knob("w₁₁", ROWS[0].0, MATRIX_REACH),
        knob("w₁₂", ROWS[0].0, MATRIX_REACH),
        knob("w₂₁", ROWS[1].0, MATRIX_REACH),
        knob("w₂₂", ROWS[1].0, MATRIX_REACH),
        knob("w₃₁", ROWS[2].0, MATRIX_REACH),
        knob("w₃₂", ROWS[2].0, MATRIX_REACH),
    ],
    draw: draw_matrix,
    lines: matrix_lines,
    says: matrix_says,
};

/// A row of the matrix and what it answers.
#[derive(Clone, Copy)]
struct Row {
    weights: (f64, f64),
    answer: f64,
}

/// The input and the rows.
fn rows(numbers: &[f64]) -> ((f64, f64), [Row; 3]) {
    let x = (numbers[0], numbers[1]);
    let row = |i: usize| {
        let weights = (numbers[2 + 2 * i], numbers[3 + 2 * i]);
        Row { weights, answer: dot(weights, x) }
    };
    (x, [0, 1, 2].map(row))
}

fn draw_matrix(numbers: &[f64], size: (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let (x, rows) = rows(numbers);
    let (width, height) = size;
    let (plane_size, rest, rest_size) = if width > 1.15 * height {
        let wide = (width * 0.5).min(height * 1.2);
        ((wide, height), (wide + pen.font * 1.5, 0.0), (width - wide - pen.font * 1.5, height))
    } else {
        let high = height - 8.5 * pen.font;
        ((width, high), (0.0, high + 0.5 * pen.font), (width, 8.0 * pen.font))
    };
    let plane = Plane::new((0.0, 0.0), plane_size, MATRIX_REACH);
    plane.rule(pen);
    for (i, row) in rows.iter().enumerate() {
        plane.arrow(pen, ROWS[i].0, (0.0, 0.0), row.weights, &format!("{}", i + 1));
    }
    plane.arrow(pen, X, (0.0, 0.0), x, "x");
    // A bar for each answer, from the line in the middle.
    let font = pen.font;
    let bars = (rest.0 + 5.2 * font, rest_size.0 - 10.0 * font);
    let (zero, most) =
        (bars.0 + bars.1 / 2.0, rows.iter().map(|row| row.answer.abs()).fold(3.0, f64::max));
    let pitch = (rest_size.1 / 3.0).min(5.0 * font);
    let top = rest.1 + (rest_size.1 - 3.0 * pitch) / 2.0;
    let foot = top + 3.0 * pitch;
    pen.wire(Hue::Muted, 1.5, &format!("M{zero:.1} {top:.1}V{foot:.1}"));
    for (i, Row { answer, .. }) in rows.iter().enumerate() {
        let (hue, middle) = (ROWS[i].0, top + (i as f64 + 0.5) * pitch);
        let long = answer / most * bars.1 / 2.0;
        pen.text(
            hue,
            true,
            (rest.0, middle + 0.35 * font),
            Anchor::Start,
            &format!("{} · x", ROWS[i].1),
        );
        let high = (pitch * 0.6).min(2.2 * font);
        pen.shade(hue, (zero + long.min(0.0), middle - high / 2.0), (long.abs(), high), 0.75);
        let end = rest.0 + rest_size.0;
        pen.text(Hue::Ink, true, (end, middle + 0.35 * font), Anchor::End, &shown(*answer, 2));
    }
    let mut grips: Vec<Grip> =
        (0..3).map(|i| plane.grip(ROWS[i].0, (2 + 2 * i, 3 + 2 * i), rows[i].weights)).collect();
    grips.push(plane.grip(X, (0, 1), x));
    grips
}

fn matrix_lines(numbers: &[f64]) -> Vec<Line> {
    let (x, rows) = rows(numbers);
    let names = ["row 1 · x", "row 2 · x", "row 3 · x"];
    let line = |i: usize| {
        let Row { weights: row, answer } = rows[i];
        let [w1, x1, w2, x2] = [row.0, x.0, row.1, x.1].map(|number| term(number, 1));
        Line {
            name: names[i],
            sum: format!("{w1} × {x1} + {w2} × {x2} = {}", shown(answer, 2)),
            value: answer,
        }
    };
    [0, 1, 2].map(line).into()
}

fn matrix_says(numbers: &[f64]) -> String {
    let (_, rows) = rows(numbers);
    let answers = rows.map(|row| shown(row.answer, 2)).join(", ");
    let best = (0..3).max_by(|&a, &b| rows[a].answer.total_cmp(&rows[b].answer)).unwrap_or(0);
    format!(
        "Two numbers went in, three came out: [{answers}]. Row {} gives the largest answer.",
        best + 1
    )
}
