//! Curves: the slope at a place, and a walk downhill.

use core::fmt::Write;

use super::board::{Axis, Board, Grip, Knob, Line, shown, term};
use crate::figures::{
    hue::Hue,
    pen::{Anchor, Pen, Stroke},
};

/// A stretch of numbers in each direction, and the room they are drawn in.
struct Chart {
    x: (f64, f64),
    y: (f64, f64),
    size: (f64, f64),
    /// Room under the curve for what is written there.
    foot: f64,
}

impl Chart {
    fn x_axis(&self, number: usize) -> Axis {
        let per_unit = self.size.0 / (self.x.1 - self.x.0);
        Axis { number, zero: -self.x.0 * per_unit, per_unit }
    }

    fn y_axis(&self, number: usize) -> Axis {
        let high = self.size.1 - self.foot;
        let per_unit = -high / (self.y.1 - self.y.0);
        Axis { number, zero: high - self.y.0 * per_unit, per_unit }
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (across, up) = (self.x_axis(0), self.y_axis(0));
        (across.zero + x * across.per_unit, up.zero + y * up.per_unit)
    }

    /// The curve and its ground line.
    fn draw(&self, pen: &mut Pen, curve: impl Fn(f64) -> f64) {
        let ground = self.at(0.0, 0.0).1;
        pen.wire(Hue::Muted, 1.5, &format!("M0 {ground:.1}H{:.1}", self.size.0));
        let mut path = String::new();
        for i in 0..=160 {
            let x = self.x.0 + (self.x.1 - self.x.0) * f64::from(i) / 160.0;
            let (x, y) = self.at(x, curve(x).clamp(self.y.0 - 1.0, self.y.1 + 1.0));
            // Writing to a String cannot fail.
            let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
        }
        pen.wire(Hue::Ink, 2.5, &path);
    }

    /// The numbers under the ground line, over what crosses them.
    fn numbers(&self, pen: &mut Pen) {
        let ground = self.at(0.0, 0.0).1;
        let small = (pen.font * 0.85).max(12.0);
        for i in (self.x.0.ceil() as i32)..=(self.x.1.floor() as i32) {
            let x = self.at(i.into(), 0.0).0;
            pen.wire(Hue::Muted, 1.5, &format!("M{x:.1} {ground:.1}v5"));
            let at = (x, ground + 1.4 * small + 2.0);
            pen.haloed((Hue::Muted, false), small, at, Anchor::Middle, &shown(i.into(), 0));
        }
    }

    /// A straight line through a place, as far as `reach` to both sides.
    fn tangent(&self, pen: &mut Pen, hue: Hue, (x, y): (f64, f64), slope: f64, reach: f64) {
        // Not out of the picture.
        let reach = reach.min((self.y.1 - self.y.0) * 0.35 / slope.abs().max(1e-9));
        let (from, to) =
            (self.at(x - reach, y - slope * reach), self.at(x + reach, y + slope * reach));
        pen.wire(hue, 3.0, &format!("M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1));
    }
}

/// A number with up to four decimals, without zeros at its end.
pub fn trimmed(value: f64) -> String {
    let text = shown(value, 4);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "−" { "0".to_owned() } else { text.to_owned() }
}

const PLACE: Hue = Hue::Input;
const NUDGED: Hue = Hue::Query;
const SLOPE: Hue = Hue::Gradient;

pub const NUDGE: Board = Board {
    name: "slope",
    title: "How steep the curve is",
    knobs: &[
        Knob { name: "place w", hue: PLACE, least: -2.0, most: 2.0, step: 0.1 },
        Knob { name: "nudge h", hue: NUDGED, least: 0.01, most: 1.0, step: 0.01 },
    ],
    draw: draw_nudge,
    lines: nudge_lines,
    says: nudge_says,
};

fn square(w: f64) -> f64 {
    w * w
}

fn draw_nudge(numbers: &[f64], size: (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let (w, h) = (numbers[0], numbers[1]);
    let chart = Chart { x: (-2.4, 3.2), y: (-1.1, 9.6), size, foot: 0.0 };
    chart.draw(pen, square);
    chart.tangent(pen, SLOPE, (w, square(w)), 2.0 * w, 1.3);
    chart.numbers(pen);
    let (from, to) = (chart.at(w, square(w)), chart.at(w + h, square(w + h)));
    // Across, then up: the run and the rise of the nudge.
    pen.wire(NUDGED, 2.0, &format!("M{:.1} {:.1}H{:.1}V{:.1}", from.0, from.1, to.0, to.1));
    if to.0 - from.0 > 3.0 * pen.font {
        let rise = shown(square(w + h) - square(w), 2);
        // On paper of its own: the tangent passes here.
        let (wide, high) = (pen.font * 5.2, pen.font * 1.5);
        let middle = f64::midpoint(from.1, to.1);
        let stroke = Stroke { hue: NUDGED, thick: 0.0, share: 0.0 };
        pen.boxed((to.0 + 4.0, middle - high / 2.0), (wide, high), 3.0, stroke);
        let side = (to.0 + 8.0, middle + 0.35 * pen.font);
        pen.text(NUDGED, true, side, Anchor::Start, &format!("rise {rise}"));
    }
    vec![
        Grip {
            at: to,
            hue: NUDGED,
            x: Some(Axis { number: 1, zero: from.0, per_unit: chart.x_axis(0).per_unit }),
            y: None,
            open: false,
        },
        Grip { at: from, hue: PLACE, x: Some(chart.x_axis(0)), y: None, open: false },
    ]
}

fn nudge_lines(numbers: &[f64]) -> Vec<Line> {
    let (w, h) = (numbers[0], numbers[1]);
    let (low, high) = (square(w), square(w + h));
    let line = |name, sum, value| Line { name, sum, value };
    vec![
        line("height at w", format!("{}² = {}", term(w, 1), trimmed(low)), low),
        line("height at w + h", format!("{}² = {}", term(w + h, 2), trimmed(high)), high),
        line(
            "rise / nudge",
            format!(
                "({} − {}) / {} = {}",
                trimmed(high),
                trimmed(low),
                shown(h, 2),
                shown((high - low) / h, 2)
            ),
            (high - low) / h,
        ),
        line("slope at w", format!("2 × {} = {}", term(w, 1), shown(2.0 * w, 1)), 2.0 * w),
    ]
}

fn nudge_says(numbers: &[f64]) -> String {
    let (w, h) = (numbers[0], numbers[1]);
    let ratio = (square(w + h) - square(w)) / h;
    format!(
        "The rise divided by the nudge is {}. Make the nudge smaller, and the result gets closer to the slope, {}.",
        shown(ratio, 2),
        shown(2.0 * w, 1)
    )
}

const CURVE: Hue = Hue::Muted;
const START: Hue = Hue::Input;
const NOW: Hue = Hue::Output;

const fn height(name: &'static str) -> Knob {
    Knob { name, hue: CURVE, least: 0.0, most: 4.0, step: 0.1 }
}

pub const VALLEY: Board = Board {
    name: "valley",
    title: "A walk downhill",
    knobs: &[
        height("height at −2"),
        height("height at −1"),
        height("height at 0"),
        height("height at 1"),
        height("height at 2"),
        Knob { name: "start w", hue: START, least: -2.2, most: 2.2, step: 0.1 },
        Knob { name: "rate", hue: SLOPE, least: 0.01, most: 1.5, step: 0.01 },
    ],
    draw: draw_valley,
    lines: valley_lines,
    says: valley_says,
};

/// Where the walk begins, among the valley's numbers.
const START_AT: usize = 5;

/// A smooth curve through five heights at −2 to 2 (Catmull and Rom 1974), straight beyond. Returns its
/// height and its slope.
fn curve(heights: &[f64], w: f64) -> (f64, f64) {
    let tangent = |i: usize| match i {
        0 => heights[1] - heights[0],
        4 => heights[4] - heights[3],
        _ => (heights[i + 1] - heights[i - 1]) / 2.0,
    };
    if w <= -2.0 {
        return (heights[0] + tangent(0) * (w + 2.0), tangent(0));
    }
    if w >= 2.0 {
        return (heights[4] + tangent(4) * (w - 2.0), tangent(4));
    }
    let i = ((w + 2.0).floor() as usize).min(3);
    let t = w + 2.0 - i as f64;
    let (p, q, m, n) = (heights[i], heights[i + 1], tangent(i), tangent(i + 1));
    // The cubic with these heights and tangents at its ends.
    let (a, b) = (2.0 * (p - q) + m + n, 3.0 * (q - p) - 2.0 * m - n);
    (((a * t + b) * t + m) * t + p, (3.0 * a * t + 2.0 * b) * t + m)
}

/// Beyond this a walk has left the picture for good.
const FAR: f64 = 8.0;

/// The places of a walk downhill, the first before any step: w − rate · slope, again and again.
fn walk(numbers: &[f64]) -> Vec<f64> {
    let (heights, rate) = (&numbers[..5], numbers[6]);
    let steps = numbers.get(7).copied().unwrap_or_default() as usize;
    let mut places = vec![numbers[START_AT]];
    for _ in 0..steps {
        let w = places[places.len() - 1];
        if w.abs() > FAR {
            break;
        }
        places.push(w - rate * curve(heights, w).1);
    }
    places
}

/// Where the slope's number stands to its place in a picture so wide: on the side that the curve leaves
/// free, above it or, where no room is left there, below.
fn beside((x, y): (f64, f64), slope: f64, width: f64, font: f64) -> ((f64, f64), Anchor) {
    let (away, room) = (1.3 * font, 7.0 * font);
    let (above, below) = ((y - 0.9 * font).max(font), y + 1.6 * font);
    let (to_left, to_right) = (x > room, x < width - room);
    if slope.abs() < LEVEL {
        let x = x.clamp(room / 2.0, width - room / 2.0);
        return ((x, (y - 2.1 * font).max(font)), Anchor::Middle);
    }
    match (slope > 0.0, to_left, to_right) {
        (true, true, _) => ((x - away, above), Anchor::End),
        (true, false, _) => ((x + away, below), Anchor::Start),
        (false, _, true) => ((x + away, above), Anchor::Start),
        (false, _, false) => ((x - away, below), Anchor::End),
    }
}

/// Slopes below this leave the place right above them free.
const LEVEL: f64 = 0.4;

fn draw_valley(numbers: &[f64], size: (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let heights = &numbers[..5];
    let chart = Chart { x: (-2.5, 2.5), y: (-0.75, 4.4), size, foot: 0.0 };
    chart.draw(pen, |w| curve(heights, w).0);
    chart.numbers(pen);
    let places = walk(numbers);
    let on = |w: f64| chart.at(w, curve(heights, w).0);
    let is_seen = |w: &f64| (-2.5..=2.5).contains(w);
    // From step to step; more would be one stroke.
    const DRAWN: usize = 60;
    for pair in places.windows(2).take(DRAWN).filter(|pair| pair.iter().all(is_seen)) {
        let (from, to) = (on(pair[0]), on(pair[1]));
        let color = pen.hue(START);
        let _ = write!(
            pen.svg,
            r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="{color}" stroke-width="1.5" stroke-opacity="0.5"/><circle cx="{:.1}" cy="{:.1}" r="3.5" fill="{color}"/>"#,
            from.0, from.1, to.0, to.1, to.0, to.1
        );
    }
    let now = places[places.len() - 1];
    if is_seen(&now) {
        let (height, slope) = curve(heights, now);
        chart.tangent(pen, SLOPE, (now, height), slope, 0.55);
        pen.dot(NOW, on(now), 9.0);
        let (at, anchor) = beside(on(now), slope, size.0, pen.font);
        let text = format!("slope {}", shown(slope, 2));
        pen.haloed((SLOPE, true), pen.font, at, anchor, &text);
    }
    let grip = |i: usize| Grip {
        at: chart.at(i as f64 - 2.0, heights[i]),
        hue: CURVE,
        x: None,
        y: Some(chart.y_axis(i)),
        open: false,
    };
    let mut grips: Vec<Grip> = (0..5).map(grip).collect();
    let start = numbers[START_AT];
    grips.push(Grip {
        at: on(start),
        hue: START,
        x: Some(chart.x_axis(START_AT)),
        y: None,
        open: false,
    });
    grips
}

fn valley_lines(numbers: &[f64]) -> Vec<Line> {
    let (heights, rate) = (&numbers[..5], numbers[6]);
    let places = walk(numbers);
    let now = places[places.len() - 1];
    let (height, slope) = curve(heights, now);
    let next = now - rate * slope;
    let line = |name, sum, value| Line { name, sum, value };
    vec![
        line("steps", (places.len() - 1).to_string(), (places.len() - 1) as f64),
        line("place w", shown(now, 3), now),
        line("height", shown(height, 3), height),
        line("slope", shown(slope, 3), slope),
        line(
            "next w",
            format!(
                "{} − {} × {} = {}",
                shown(now, 3),
                shown(rate, 2),
                term(slope, 3),
                shown(next, 3)
            ),
            next,
        ),
    ]
}

/// The lowest place of the curve in the picture.
fn deepest(heights: &[f64]) -> f64 {
    let places = (0..=400).map(|i| f64::from(i) / 100.0 - 2.0);
    places.map(|w| curve(heights, w).0).fold(f64::INFINITY, f64::min)
}

fn valley_says(numbers: &[f64]) -> String {
    let heights = &numbers[..5];
    let places = walk(numbers);
    let (steps, now) = (places.len() - 1, places[places.len() - 1]);
    let (height, slope) = curve(heights, now);
    if steps == 0 {
        let way = if slope > 0.0 { "left" } else { "right" };
        return match slope.abs() < 0.01 {
            true => "Here the ground is level: no step leads anywhere.".to_owned(),
            false => format!("The slope is {}, so downhill is to the {way}.", shown(slope, 2)),
        };
    }
    let count = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
    if now.abs() > 2.5 {
        // Where the ground falls off the picture's edge, any rate leads out.
        let rises = slope * now.signum() > 0.0;
        let advice = if rises { " Try a lower rate." } else { "" };
        return format!("After {count} the walk has left the picture.{advice}");
    }
    let fate = if slope.abs() >= 0.05 {
        "It has not come to rest."
    } else if height < deepest(heights) + 0.05 {
        "It rests in the deepest place."
    } else {
        "It rests, but not in the deepest place. The ground is level here, so it can’t go on."
    };
    format!("After {count} the height is {}. {fate}", shown(height, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_through_its_heights_with_the_slope_it_says() {
        let heights = [3.2, 1.2, 2.2, 0.5, 3.4];
        for (i, height) in heights.iter().enumerate() {
            assert!((curve(&heights, i as f64 - 2.0).0 - height).abs() < 1e-12);
        }
        for i in -230..=230 {
            let w = f64::from(i) / 100.0 + 0.003;
            let (near, slope) = (1e-6, curve(&heights, w).1);
            let rise = curve(&heights, w + near).0 - curve(&heights, w - near).0;
            assert!((rise / (2.0 * near) - slope).abs() < 1e-4, "at {w}");
        }
    }

    #[test]
    fn walks_end_in_a_valley_or_leave() {
        let numbers =
            |start: f64, rate: f64, steps: f64| [3.2, 1.2, 2.2, 0.5, 3.4, start, rate, steps];
        let end = |numbers: [f64; 8]| *walk(&numbers).last().unwrap();
        assert!(
            (end(numbers(-1.9, 0.1, 100.0)) + 0.94).abs() < 0.1,
            "{}",
            end(numbers(-1.9, 0.1, 100.0))
        );
        assert!(
            (end(numbers(1.9, 0.1, 100.0)) - 0.94).abs() < 0.15,
            "{}",
            end(numbers(1.9, 0.1, 100.0))
        );
        assert_eq!(walk(&numbers(0.5, 0.1, 7.0)).len(), 8);
        let wild = [4.0, 0.0, 4.0, 0.0, 4.0, 0.4, 1.5, 500.0];
        assert!(walk(&wild).iter().all(|w| w.is_finite()));
    }

    #[test]
    fn numbers_lose_zeros_at_their_end_only() {
        assert_eq!([0.25, 4.0, 0.0, -1.5, 100.0].map(trimmed), ["0.25", "4", "0", "−1.5", "100"]);
    }
}
