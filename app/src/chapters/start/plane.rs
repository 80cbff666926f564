//! Lists of two numbers as arrows: two of them, and the three rows of a matrix.

use core::fmt::Write;

use super::{
    board::{Axis, Board, Grip, Knob, Line, nothing, shown, term},
    curves::trimmed,
    labels::Labels,
};
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
        // A ring at the farthest tip is whole.
        const RING: f64 = 13.0;
        let unit = (size.0.min(size.1) / 2.0 - RING).max(1.0) / reach;
        Self { place, size, middle, unit }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.middle.0 + x * self.unit, self.middle.1 - y * self.unit)
    }

    fn rule(&self, pen: &mut Pen, labels: &mut Labels) {
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
        labels.line((left, y), (left + width, y));
        labels.line((x, top), (x, top + height));
        // On every line where there is room for that, else on the last. What is said of a walk stands
        // beside the upright axis, too.
        let small = (pen.font * 0.85).max(12.0);
        let is_marked = |i: &i32, reach: i32, room: f64| {
            *i != 0 && (self.unit > room * small || i.abs() == reach)
        };
        for i in (-reach.0..=reach.0).filter(|i| is_marked(i, reach.0, 1.5)) {
            let at = self.at((i.into(), 0.0));
            if (at.0 - x).abs() < width / 2.0 - 0.6 * small {
                let at = (at.0, at.1 + 1.2 * small);
                labels.line((at.0 - 0.5 * small, at.1 - 4.0), (at.0 + 0.5 * small, at.1 - 4.0));
                pen.haloed((Hue::Muted, false), small, at, Anchor::Middle, &shown(i.into(), 0));
            }
        }
        for i in (-reach.1..=reach.1).filter(|i| is_marked(i, reach.1, 2.0)) {
            let at = self.at((0.0, i.into()));
            if (at.1 - y).abs() < height / 2.0 - 0.6 * small {
                labels.line((at.0 - 1.4 * small, at.1), at);
                let at = (at.0 - 0.4 * small, at.1 + 0.35 * small);
                pen.haloed((Hue::Muted, false), small, at, Anchor::End, &shown(i.into(), 0));
            }
        }
    }

    /// An arrow from 0 to a place.
    fn arrow(&self, pen: &mut Pen, labels: &mut Labels, hue: Hue, to: (f64, f64)) {
        let (from, tip) = (self.middle, self.at(to));
        let (dx, dy) = (tip.0 - from.0, tip.1 - from.1);
        let long = dx.hypot(dy);
        if long > 4.0 {
            let (ux, uy) = (dx / long, dy / long);
            let head = 14.0_f64.min(long);
            let (x, y) = (tip.0 - ux * head * 0.7, tip.1 - uy * head * 0.7);
            pen.wire(hue, 3.5, &format!("M{:.1} {:.1}L{x:.1} {y:.1}", from.0, from.1));
            pen.head(hue, tip, (ux, uy), head);
        }
        labels.line(from, tip);
        labels.ring(tip);
    }

    /// The name of an arrow at its tip, beyond it if there is room.
    fn name(&self, pen: &mut Pen, labels: &mut Labels, hue: Hue, to: (f64, f64), name: &str) {
        let (tip, font) = (self.at(to), pen.font);
        let (dx, dy) = (tip.0 - self.middle.0, tip.1 - self.middle.1);
        let long = dx.hypot(dy).max(1.0);
        let (ux, uy) = (dx / long, dy / long);
        let out = if dx < 0.0 { Anchor::End } else { Anchor::Start };
        let back = if dx < 0.0 { Anchor::Start } else { Anchor::End };
        let (side, lift) = (if dx < 0.0 { -1.0 } else { 1.0 }, if dy > 0.0 { 1.0 } else { -1.0 });
        let base = tip.1 + 0.35 * font;
        let over = (tip.0, base + lift * (16.0 + 0.6 * font));
        let under = (tip.0, base - lift * (16.0 + 0.6 * font));
        let beyond = (tip.0 + ux * 20.0, base + uy * (20.0 + 0.5 * font));
        let level = (tip.0 + side * 20.0, base);
        let places = if ux.abs() > 0.35 {
            [(beyond, out), (level, out), (over, Anchor::Middle), (over, back), (under, out)]
        } else {
            [(over, Anchor::Middle), (level, out), (over, out), (over, back), (under, out)]
        };
        labels.write(pen, (hue, true), &places, name);
    }

    /// How an arrow is walked, across and up. One that goes up first stays off the ground that the other
    /// walks on.
    fn walk(&self, pen: &mut Pen, labels: &mut Labels, hue: Hue, to: (f64, f64), up_first: bool) {
        let (corner, tip) = (self.corner(to, up_first), self.at(to));
        dashed(pen, labels, hue, &[self.middle, corner, tip]);
    }

    /// Where a walk turns.
    fn corner(&self, (x, y): (f64, f64), up_first: bool) -> (f64, f64) {
        self.at(if up_first { (0.0, y) } else { (x, 0.0) })
    }

    /// How far the two parts of a walk go, on the side that the arrow leaves free if there is room.
    fn measure(
        &self,
        pen: &mut Pen,
        labels: &mut Labels,
        hue: Hue,
        to: (f64, f64),
        up_first: bool,
    ) {
        let font = pen.font;
        let (corner, tip, zero) = (self.corner(to, up_first), self.at(to), self.middle);
        let ((x, y), is_long) = (to, |long: f64| long.abs() * self.unit > 1.2 * font);
        // Beyond the numbers of the axes, too.
        let (close, far) = (0.5 * font, 1.9 * font);
        if is_long(x) {
            let (left, right) = (zero.0.min(tip.0), zero.0.max(tip.0));
            let under = if up_first { y < 0.0 } else { y >= 0.0 };
            let level = |away: f64, under: bool| match under {
                true => corner.1 + away + 0.8 * font,
                false => corner.1 - away,
            };
            let mut places = Vec::new();
            for (away, under) in [(close, under), (far, under), (close, !under), (far, !under)] {
                let y = level(away, under);
                places.extend([
                    ((f64::midpoint(left, right), y), Anchor::Middle),
                    ((right - 14.0, y), Anchor::End),
                    ((left + 14.0, y), Anchor::Start),
                ]);
            }
            // A walk that is shorter than its words has them where it began.
            if up_first {
                let base = corner.1 + 0.35 * font;
                places.push(match x < 0.0 {
                    true => ((right + close, base), Anchor::Start),
                    false => ((left - close, base), Anchor::End),
                });
            }
            labels.write(pen, (hue, false), &places, &format!("{} across", trimmed(x)));
        }
        if is_long(y) {
            let to_right = if up_first { x < 0.0 } else { x >= 0.0 };
            let mut places = Vec::new();
            for (away, to_right) in
                [(close, to_right), (far, to_right), (close, !to_right), (far, !to_right)]
            {
                let (x, anchor) = match to_right {
                    true => (corner.0 + away, Anchor::Start),
                    false => (corner.0 - away, Anchor::End),
                };
                places.extend(
                    [0.5, 0.35, 0.65].map(|share| {
                        ((x, zero.1 + share * (tip.1 - zero.1) + 0.35 * font), anchor)
                    }),
                );
            }
            labels.write(pen, (hue, false), &places, &format!("{} up", trimmed(y)));
        }
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

/// A dashed line from place to place on the screen.
fn dashed(pen: &mut Pen, labels: &mut Labels, hue: Hue, places: &[(f64, f64)]) {
    for ends in places.windows(2) {
        labels.line(ends[0], ends[1]);
    }
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let (path, color) = (path.join("L"), pen.hue(hue));
    let _ = write!(
        pen.svg,
        r#"<path d="M{path}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="5 5"/>"#
    );
}

/// A list with its name, as it stands at the tip of its arrow.
fn named(name: &str, (x, y): (f64, f64)) -> String {
    format!("{name} = [{}, {}]", trimmed(x), trimmed(y))
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
    title: |numbers| match works_out(numbers) {
        1 => "The sum of two lists",
        2 => "The dot product of two lists",
        _ => "A list of two numbers is an arrow",
    },
    knobs: &[
        knob("a₁", A, REACH),
        knob("a₂", A, REACH),
        knob("b₁", B, REACH),
        knob("b₂", B, REACH),
    ],
    first: 0,
    draw: draw_arrows,
    lines: arrow_lines,
    over: nothing,
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
    let shows = works_out(numbers);
    let sum = (a.0 + b.0, a.1 + b.1);
    // A sum may lie farther out than what it is made of.
    let reach = if shows == 1 { REACH.max(sum.0.abs()).max(sum.1.abs()) } else { REACH };
    let plane = Plane::new((0.0, 0.0), size, reach);
    let labels = &mut Labels::new(size);
    plane.rule(pen, labels);
    match shows {
        1 => {
            dashed(pen, labels, B, &[plane.at(a), plane.at(sum)]);
            dashed(pen, labels, A, &[plane.at(b), plane.at(sum)]);
            plane.arrow(pen, labels, RESULT, sum);
        }
        2 => {
            // The shadow of b on the line through a: the dot product is as long as it, times a's length.
            let long = dot(a, a);
            if long > 0.0 {
                let share = dot(a, b) / long;
                let foot = (a.0 * share, a.1 * share);
                dashed(pen, labels, B, &[plane.at(b), plane.at(foot)]);
                let ((x, y), (u, v)) = (plane.at((0.0, 0.0)), plane.at(foot));
                let color = pen.hue(RESULT);
                let _ = write!(
                    pen.svg,
                    r#"<path d="M{x:.1} {y:.1}L{u:.1} {v:.1}" stroke="{color}" stroke-width="12" stroke-opacity="0.3" stroke-linecap="round"/>"#
                );
            }
        }
        _ => {
            plane.walk(pen, labels, A, a, false);
            plane.walk(pen, labels, B, b, true);
        }
    }
    plane.arrow(pen, labels, A, a);
    plane.arrow(pen, labels, B, b);
    plane.name(pen, labels, A, a, &named("a", a));
    plane.name(pen, labels, B, b, &named("b", b));
    match shows {
        1 => plane.name(pen, labels, RESULT, sum, &named("a + b", sum)),
        2 => {}
        _ => {
            plane.measure(pen, labels, A, a, false);
            plane.measure(pen, labels, B, b, true);
        }
    }
    vec![plane.grip(A, (0, 1), a), plane.grip(B, (2, 3), b)]
}

fn list((x, y): (f64, f64)) -> String {
    format!("[{}, {}]", shown(x, 1), shown(y, 1))
}

fn arrow_lines(numbers: &[f64]) -> Vec<Line> {
    let (a, b) = two(numbers);
    let [a1, a2, b1, b2] = [a.0, a.1, b.0, b.1].map(|number| term(number, 1));
    let (sum, product) = ((a.0 + b.0, a.1 + b.1), dot(a, b));
    // The lists themselves stand at the arrows.
    match works_out(numbers) {
        1 => vec![Line {
            name: "a + b",
            sum: format!("[{a1} + {b1}, {a2} + {b2}] = {}", list(sum)),
            value: sum.0.hypot(sum.1),
        }],
        2 => vec![Line {
            name: "a · b",
            sum: format!("{a1} × {b1} + {a2} × {b2} = {}", shown(product, 2)),
            value: product,
        }],
        _ => Vec::new(),
    }
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
            let verdict = match dot(a, b) {
                p if p.abs() < 0.005 => "a right angle: the dot product is 0.",
                p if p > 0.0 => "less than a right angle: the dot product is positive.",
                _ => "more than a right angle: the dot product is negative.",
            };
            format!("The angle is {}°, {verdict}", shown(angle, 0))
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
const ROWS: [Hue; 3] = [Hue::Query, Hue::Key, Hue::Value];
/// The farthest of an input or a row.
const MATRIX_REACH: f64 = 3.0;

pub const MATRIX: Board = Board {
    name: "matrix",
    title: |_| "Three rows ask one input",
    knobs: &[
        knob("x₁", X, MATRIX_REACH),
        knob("x₂", X, MATRIX_REACH),
        knob("w₁₁", ROWS[0], MATRIX_REACH),
        knob("w₁₂", ROWS[0], MATRIX_REACH),
        knob("w₂₁", ROWS[1], MATRIX_REACH),
        knob("w₂₂", ROWS[1], MATRIX_REACH),
        knob("w₃₁", ROWS[2], MATRIX_REACH),
        knob("w₃₂", ROWS[2], MATRIX_REACH),
    ],
    first: 0,
    draw: draw_matrix,
    lines: matrix_lines,
    over: nothing,
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
    let font = pen.font;
    let is_wide = width > 1.15 * height && width > 41.0 * font;
    let (plane_size, rest, rest_size) = if is_wide {
        let wide = (width * 0.5).min(height * 1.2);
        ((wide, height), (wide + pen.font * 1.5, 0.0), (width - wide - pen.font * 1.5, height))
    } else {
        let high = height - 8.0 * font;
        ((width, high), (0.0, high + 0.5 * font), (width, 7.4 * font))
    };
    let plane = Plane::new((0.0, 0.0), plane_size, MATRIX_REACH);
    let labels = &mut Labels::new(plane_size);
    plane.rule(pen, labels);
    for (i, row) in rows.iter().enumerate() {
        plane.arrow(pen, labels, ROWS[i], row.weights);
    }
    plane.arrow(pen, labels, X, x);
    for (i, row) in rows.iter().enumerate() {
        plane.name(pen, labels, ROWS[i], row.weights, &(i + 1).to_string());
    }
    plane.name(pen, labels, X, x, "x");
    // The grids beside the bars of the answers, or over them.
    let head = 1.6 * font;
    let (grids_top, pitch) = match is_wide {
        true => (rest.1 + 0.2 * height, 2.2 * font),
        false => (rest.1 + head, (rest_size.1 - head) / 3.0),
    };
    let end = draw_grids(pen, (rest.0, grids_top), pitch, x, &rows);
    let (left, top) = match is_wide {
        true => (rest.0, grids_top + 3.0 * pitch + 2.0 * font),
        false => (end + font, grids_top),
    };
    let reach = (rest.0 + rest_size.0 - left) / 2.0;
    let (zero, most) = (left + reach, rows.iter().map(|row| row.answer.abs()).fold(3.0, f64::max));
    pen.wire(Hue::Muted, 1.5, &format!("M{zero:.1} {top:.1}v{:.1}", 3.0 * pitch));
    for (i, Row { answer, .. }) in rows.iter().enumerate() {
        let (middle, high) = (top + (i as f64 + 0.5) * pitch, 0.6 * pitch);
        let long = answer / most * reach;
        let place = (zero + long.min(0.0), middle - high / 2.0);
        pen.shade(ROWS[i], place, (long.abs(), high), 0.75);
        // Its name on the side of the line that it leaves free: an answer of 0 has no bar to tell it by.
        let (side, anchor) = if *answer < 0.0 { (0.5, Anchor::Start) } else { (-0.5, Anchor::End) };
        let at = (zero + side * font, middle + 0.35 * font);
        pen.text(ROWS[i], true, at, anchor, &(i + 1).to_string());
    }
    let mut grips: Vec<Grip> =
        (0..3).map(|i| plane.grip(ROWS[i], (2 + 2 * i, 3 + 2 * i), rows[i].weights)).collect();
    grips.push(plane.grip(X, (0, 1), x));
    grips
}

/// The matrix as a grid, its rows one above the other, times x, and what that comes to. Returns where it
/// ends on the right.
fn draw_grids(
    pen: &mut Pen,
    (left, top): (f64, f64),
    pitch: f64,
    x: (f64, f64),
    rows: &[Row; 3],
) -> f64 {
    let font = pen.font;
    let base = |row: f64| top + (row + 0.5) * pitch + 0.35 * font;
    let number = |pen: &mut Pen, hue: Hue, right: f64, row: f64, text: &str| {
        pen.text(hue, true, (right, base(row)), Anchor::End, text);
    };
    // From the row of its name on: where it begins, how wide and how high it is, and its name.
    let grid = |pen: &mut Pen, at: f64, wide: f64, (first, count): (f64, f64), name: &str| {
        let (y, high, end) = (top + first * pitch, count * pitch, at + wide);
        let tick = 0.35 * font;
        let path = format!(
            "M{:.1} {y:.1}H{at:.1}v{high:.1}h{tick:.1}M{:.1} {y:.1}H{end:.1}v{high:.1}h{:.1}",
            at + tick,
            end - tick,
            -tick
        );
        pen.wire(Hue::Ink, 1.5, &path);
        let small = (0.85 * font).max(12.0);
        let over = (at + wide / 2.0, y - 0.4 * font);
        pen.sized(Hue::Muted, false, small, over, Anchor::Middle, name);
        end
    };
    let weights = left + 1.2 * font;
    let input = grid(pen, weights, 7.4 * font, (0.0, 3.0), "matrix") + 0.7 * font;
    let equals = grid(pen, input, 3.4 * font, (0.5, 2.0), "x");
    let answers = equals + 1.8 * font;
    let end = grid(pen, answers, 4.4 * font, (0.0, 3.0), "answers");
    for (i, Row { weights: (across, up), answer }) in rows.iter().enumerate() {
        let (hue, row) = (ROWS[i], i as f64);
        pen.text(hue, true, (left, base(row)), Anchor::Start, &(i + 1).to_string());
        number(pen, hue, weights + 3.2 * font, row, &shown(*across, 1));
        number(pen, hue, weights + 6.9 * font, row, &shown(*up, 1));
        number(pen, hue, end - 0.5 * font, row, &shown(*answer, 2));
    }
    number(pen, X, equals - 0.5 * font, 0.5, &shown(x.0, 1));
    number(pen, X, equals - 0.5 * font, 1.5, &shown(x.1, 1));
    pen.text(Hue::Ink, true, (equals + 0.9 * font, base(1.0)), Anchor::Middle, "=");
    end
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
    let ties = (0..3).filter(|&i| rows[best].answer - rows[i].answer < 0.005).count() > 1;
    let largest = match ties {
        true => "More than one row gives the largest.".to_owned(),
        false => format!("Row {} gives the largest.", best + 1),
    };
    format!("Two numbers in, three answers out: [{answers}]. {largest}")
}
