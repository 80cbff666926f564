//! Curves: the slope at a place, and a walk downhill.

use core::fmt::Write;

use super::{
    board::{Axis, Board, Grip, Knob, Line, nothing, shown, term},
    labels::{Labels, Place},
};
use crate::figures::{
    hue::Hue,
    pen::{Anchor, Pen},
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

    /// The curve, cut at the edge of the plot, and its ground line.
    fn draw(&self, pen: &mut Pen, labels: &mut Labels, curve: impl Fn(f64) -> f64) {
        let ground = self.at(0.0, 0.0).1;
        pen.wire(Hue::Muted, 1.5, &format!("M0 {ground:.1}H{:.1}", self.size.0));
        labels.line((0.0, ground), (self.size.0, ground));
        let mut path = String::new();
        let mut last = None;
        for i in 0..=160 {
            let x = self.x.0 + (self.x.1 - self.x.0) * f64::from(i) / 160.0;
            let (x, y) = self.at(x, curve(x).clamp(self.y.0 - 1.0, self.y.1 + 1.0));
            // Writing to a String cannot fail.
            let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
            labels.line(last.unwrap_or((x, y)), (x, y));
            last = Some((x, y));
        }
        let (width, height) = self.size;
        let _ = write!(pen.svg, r#"<svg width="{width:.1}" height="{height:.1}">"#);
        pen.wire(Hue::Ink, 2.5, &path);
        pen.svg.push_str("</svg>");
    }

    /// The numbers under the ground line, over what crosses them.
    fn numbers(&self, pen: &mut Pen, labels: &mut Labels) {
        let ground = self.at(0.0, 0.0).1;
        let small = (pen.font * 0.85).max(12.0);
        for i in (self.x.0.ceil() as i32)..=(self.x.1.floor() as i32) {
            let x = self.at(i.into(), 0.0).0;
            pen.wire(Hue::Muted, 1.5, &format!("M{x:.1} {ground:.1}v5"));
            let at = (x, ground + 1.4 * small + 2.0);
            labels.line((x - 0.5 * small, at.1 - 4.0), (x + 0.5 * small, at.1 - 4.0));
            pen.haloed((Hue::Muted, false), small, at, Anchor::Middle, &shown(i.into(), 0));
        }
    }

    /// Lines at these heights, with their numbers and their name at the left edge.
    fn heights(&self, pen: &mut Pen, labels: &mut Labels, heights: &[f64]) {
        let (line, small) = (pen.paint.line(), (pen.font * 0.85).max(12.0));
        for height in heights {
            let y = self.at(0.0, *height).1;
            let _ = write!(pen.svg, r#"<path d="M0 {y:.1}H{:.1}" stroke="{line}"/>"#, self.size.0);
            labels.line((0.0, y - 0.5 * small), (1.4 * small, y - 0.5 * small));
            let at = (0.0, y - 0.25 * small);
            pen.haloed((Hue::Muted, false), small, at, Anchor::Start, &shown(*height, 0));
        }
        pen.haloed((Hue::Muted, false), small, (0.0, pen.font), Anchor::Start, "height");
        labels.line((0.0, 1.2 * pen.font), (3.5 * small, 1.2 * pen.font));
    }

    /// The tangent of a place as far as `reach` to both sides, but neither out of the picture nor into the
    /// ground. Returns its ends, the upper one first.
    fn tangent(
        &self,
        pen: &mut Pen,
        labels: &mut Labels,
        (x, y): (f64, f64),
        slope: f64,
        reach: f64,
    ) -> [(f64, f64); 2] {
        let steep = slope.abs().max(1e-9);
        let up =
            reach.min((self.y.1 - y).max(0.0) / steep).min(0.35 * (self.y.1 - self.y.0) / steep);
        let down = reach.min(y.max(0.0) / steep);
        let side = if slope < 0.0 { -1.0 } else { 1.0 };
        let end = |along: f64| {
            let along = along.clamp(self.x.0 - x, self.x.1 - x);
            self.at(x + along, y + slope * along)
        };
        let ends = [end(side * up), end(-side * down)];
        let [upper, lower] = ends;
        pen.wire(
            SLOPE,
            3.0,
            &format!("M{:.1} {:.1}L{:.1} {:.1}", lower.0, lower.1, upper.0, upper.1),
        );
        labels.line(lower, upper);
        ends
    }
}

/// The slope of a tangent: near its upper end, under it if there is room, else over it or farther down.
fn write_slope(pen: &mut Pen, labels: &mut Labels, [upper, lower]: [(f64, f64); 2], text: &str) {
    let font = pen.font;
    let (dx, dy) = (upper.0 - lower.0, upper.1 - lower.1);
    let long = dx.hypot(dy).max(1.0);
    // Square to the tangent, down the screen.
    let across = (dx.signum() * dy.abs() / long, dx.abs() / long);
    let mut places = Vec::new();
    for share in [1.0, 0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1, 0.0] {
        for side in [1.0, -1.0] {
            let away = (side * across.0, side * across.1);
            let (x, y) = (lower.0 + share * dx, lower.1 + share * dy);
            let at = (x + 0.7 * font * away.0, y + font * away.1 + 0.35 * font);
            let anchor = match away.0 {
                x if x > 0.25 => Anchor::Start,
                x if x < -0.25 => Anchor::End,
                _ => Anchor::Middle,
            };
            places.push((at, anchor));
        }
    }
    labels.write(pen, (SLOPE, true), &places, text);
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
    title: |_| "How steep the curve w² is",
    knobs: &[
        Knob { name: "place w", hue: PLACE, least: -2.0, most: 2.0, step: 0.1 },
        Knob { name: "nudge h", hue: NUDGED, least: 0.01, most: 1.0, step: 0.01 },
    ],
    first: 1,
    draw: draw_nudge,
    lines: nudge_lines,
    over: nothing,
    says: nudge_says,
};

fn square(w: f64) -> f64 {
    w * w
}

fn draw_nudge(numbers: &[f64], size: (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let (w, h) = (numbers[0], numbers[1]);
    let font = pen.font;
    let chart = Chart { x: (-2.4, 4.2), y: (0.0, 9.6), size, foot: 4.2 * font };
    let mut labels = Labels::new(size);
    chart.heights(pen, &mut labels, &[2.0, 4.0, 6.0, 8.0]);
    chart.draw(pen, &mut labels, square);
    let (from, to) = (chart.at(w, square(w)), chart.at(w + h, square(w + h)));
    let ground = chart.at(0.0, 0.0).1;
    // From the ground up to the nudge, which has its name under the numbers.
    let level = ground + 2.5 * font;
    let color = pen.hue(NUDGED);
    let _ = write!(
        pen.svg,
        r#"<path d="M{:.1} {level:.1}V{:.1}M{:.1} {level:.1}V{:.1}" fill="none" stroke="{color}" stroke-dasharray="3 3"/>"#,
        from.0, from.1, to.0, from.1
    );
    let ends = chart.tangent(pen, &mut labels, (w, square(w)), 2.0 * w, 1.3);
    chart.numbers(pen, &mut labels);
    pen.wire(NUDGED, 2.0, &format!("M{:.1} {level:.1}H{:.1}", from.0, to.0));
    let text = format!("nudge {}", shown(h, 2));
    let at = (f64::midpoint(from.0, to.0), level + 1.3 * font);
    pen.haloed((NUDGED, true), font, at, Anchor::Middle, &text);
    // Across, then up: the run and the rise of the nudge.
    pen.wire(NUDGED, 2.0, &format!("M{:.1} {:.1}H{:.1}V{:.1}", from.0, from.1, to.0, to.1));
    labels.line(from, (to.0, from.1));
    labels.line((to.0, from.1), to);
    labels.ring(from);
    labels.ring(to);
    if to.0 - from.0 > 3.0 * font {
        let text = format!("rise {}", shown(square(w + h) - square(w), 2));
        let beside = |share: f64| {
            let y = from.1 + share * (to.1 - from.1) + 0.35 * font;
            [((to.0 + 8.0, y), Anchor::Start), ((to.0 - 8.0, y), Anchor::End)]
        };
        let places: Vec<_> = [0.3, 0.5, 0.2, 0.6, 0.8].into_iter().flat_map(beside).collect();
        labels.write(pen, (NUDGED, true), &places, &text);
    }
    write_slope(pen, &mut labels, ends, &format!("slope {}", shown(2.0 * w, 1)));
    labels.write(pen, (PLACE, true), &around(from, font), "w");
    labels.write(pen, (NUDGED, true), &around(to, font), "w + h");
    vec![
        Grip {
            at: to,
            hue: NUDGED,
            x: Some(Axis { number: 1, zero: from.0, per_unit: chart.x_axis(0).per_unit }),
            y: None,
            open: true,
        },
        Grip { at: from, hue: PLACE, x: Some(chart.x_axis(0)), y: None, open: true },
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
        line("slope at w", format!("2w = 2 × {} = {}", term(w, 1), shown(2.0 * w, 1)), 2.0 * w),
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
    title: |_| "A walk downhill",
    knobs: &[
        height("height at −2"),
        height("height at −1"),
        height("height at 0"),
        height("height at 1"),
        height("height at 2"),
        Knob { name: "start w", hue: START, least: -2.2, most: 2.2, step: 0.1 },
        Knob { name: "rate", hue: SLOPE, least: 0.01, most: 1.5, step: 0.01 },
    ],
    first: 6,
    draw: draw_valley,
    lines: valley_lines,
    over: draw_ball,
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

/// Around a handle, over it first.
fn around(at: (f64, f64), font: f64) -> [Place; 6] {
    let [a, b, c, d] = beside(at, font);
    let over = |far: f64| ((at.0, at.1 + far * font + 0.35 * font), Anchor::Middle);
    [over(-1.4), c, d, a, b, over(1.4)]
}

/// Beside a handle, on the right or on the left.
fn beside((x, y): (f64, f64), font: f64) -> [Place; 4] {
    let far = 1.2 * font;
    let at = |side: f64, up: f64| (x + side * far, y + 0.35 * font - up * far);
    [
        (at(1.0, 0.0), Anchor::Start),
        (at(-1.0, 0.0), Anchor::End),
        (at(1.0, 1.0), Anchor::Start),
        (at(-1.0, 1.0), Anchor::End),
    ]
}

/// The stretch of the valley that is drawn.
const EDGE: f64 = 2.5;

fn valley_chart(size: (f64, f64), font: f64) -> Chart {
    Chart { x: (-EDGE, EDGE), y: (-0.1, 4.95), size, foot: 2.2 * font }
}

fn draw_valley(numbers: &[f64], size: (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let heights = &numbers[..5];
    let chart = valley_chart(size, pen.font);
    let mut labels = Labels::new(size);
    chart.heights(pen, &mut labels, &[1.0, 2.0, 3.0]);
    chart.draw(pen, &mut labels, |w| curve(heights, w).0);
    chart.numbers(pen, &mut labels);
    let places = walk(numbers);
    let on = |w: f64| chart.at(w, curve(heights, w).0);
    let is_seen = |w: &f64| w.abs() <= EDGE;
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
        labels.line(from, to);
    }
    let grip = |i: usize| Grip {
        at: chart.at(i as f64 - 2.0, heights[i]),
        hue: CURVE,
        x: None,
        y: Some(chart.y_axis(i)),
        open: true,
    };
    let mut grips: Vec<Grip> = (0..5).map(grip).collect();
    let start = numbers[START_AT];
    grips.push(Grip {
        at: on(start),
        hue: START,
        x: Some(chart.x_axis(START_AT)),
        y: None,
        open: true,
    });
    for grip in &grips {
        labels.ring(grip.at);
    }
    let now = places[places.len() - 1];
    if is_seen(&now) {
        let (height, slope) = curve(heights, now);
        labels.ring(on(now));
        if places.len() > 1 {
            labels.write(pen, (START, true), &beside(on(start), pen.font), "start");
        }
        let ends = chart.tangent(pen, &mut labels, (now, height), slope, 0.55);
        write_slope(pen, &mut labels, ends, &format!("slope {}", shown(slope, 2)));
    }
    grips
}

/// Whether one more step would change no number on show.
pub fn is_at_rest(numbers: &[f64]) -> bool {
    let places = walk(numbers);
    let now = places[places.len() - 1];
    now.abs() > FAR || (numbers[6] * curve(&numbers[..5], now).1).abs() < 0.0005
}

/// Where the walk is now, as a ball over the handles.
fn draw_ball(numbers: &[f64], size: (f64, f64), pen: &mut Pen) {
    let now = *walk(numbers).last().unwrap_or(&0.0);
    if now.abs() > EDGE {
        return;
    }
    let (x, y) = valley_chart(size, pen.font).at(now, curve(&numbers[..5], now).0);
    let (color, paper) = (pen.hue(NOW), pen.paint.paper());
    let _ = write!(
        pen.svg,
        r#"<circle cx="{x:.1}" cy="{y:.1}" r="10" fill="{color}" stroke="{paper}" stroke-width="2" pointer-events="none"/>"#
    );
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
    if now.abs() > EDGE {
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
