//! Scores that become shares, and slopes that multiply.

use core::fmt::Write;

use super::{
    board::{Axis, Board, Grip, Knob, Line, nothing, shown, term},
    curves::trimmed,
};
use crate::figures::{
    hue::Hue,
    pen::{Anchor, Pen},
};

const SCORE: Hue = Hue::Weight;
const SHARE: Hue = Hue::Output;
/// Of the dot that a score is moved by, in pixels.
const KNOB: f64 = 9.0;
/// What could come after “th”.
const LETTERS: [&str; 4] = ["e", "a", "o", "z"];

const fn score(name: &'static str) -> Knob {
    Knob { name, hue: SCORE, least: -4.0, most: 4.0, step: 0.1 }
}

pub const SHARES: Board = Board {
    name: "shares",
    title: |_| "What comes after “th”?",
    knobs: &[score("score of e"), score("score of a"), score("score of o"), score("score of z")],
    first: 0,
    draw: draw_shares,
    lines: share_lines,
    over: nothing,
    says: shares_say,
};

/// e to each score, their sum, and each as a share of it.
pub fn softmax(scores: &[f64]) -> (Vec<f64>, f64, Vec<f64>) {
    let powers: Vec<f64> = scores.iter().map(|score| score.exp()).collect();
    let sum = powers.iter().sum();
    let shares = powers.iter().map(|power| power / sum).collect();
    (powers, sum, shares)
}

/// A share of one whole. None is 0, so none reads as 0.
pub fn percent(share: f64) -> String {
    if share < 0.0005 { "under 0.1%".to_owned() } else { format!("{}%", shown(100.0 * share, 1)) }
}

/// The middles of labels of these widths, each as near to where it belongs as lets all of them stand
/// `gap` apart, the last one ahead of `end`.
fn beside_each_other(middles: &[f64], widths: &[f64], gap: f64, end: f64) -> Vec<f64> {
    let mut places = Vec::with_capacity(middles.len());
    let mut free = f64::MIN;
    for (middle, width) in middles.iter().zip(widths) {
        let place = middle.max(free + width / 2.0);
        free = place + width / 2.0 + gap;
        places.push(place);
    }
    let mut end = end;
    for (place, width) in places.iter_mut().zip(widths).rev() {
        *place = place.min(end - width / 2.0);
        end = *place - width / 2.0 - gap;
    }
    places
}

/// The tops that the scale of the powers may have: each is enough for powers up to it.
const TOPS: [f64; 8] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0];

/// A whole is cut into shares where the powers run into it.
fn flow(pen: &mut Pen, from: (f64, f64), top: f64, to: (f64, f64), foot: f64) {
    let (color, bend) = (pen.hue(SHARE), f64::midpoint(top, foot));
    // Writing to a String cannot fail.
    let _ = write!(
        pen.svg,
        r#"<path d="M{:.1} {top:.1}C{:.1} {bend:.1} {:.1} {bend:.1} {:.1} {foot:.1}H{:.1}C{:.1} {bend:.1} {:.1} {bend:.1} {:.1} {top:.1}z" fill="{color}" fill-opacity="0.16"/>"#,
        from.0, from.0, to.0, to.0, to.1, to.1, from.1, from.1
    );
}

/// Three bands over each other: the scores, their powers in the same columns, and the whole that the powers
/// flow into.
fn draw_shares(numbers: &[f64], (width, height): (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let scores = &numbers[..4];
    let (powers, sum, shares) = softmax(scores);
    let font = pen.font;
    let small = (0.85 * font).max(12.0);
    let left = (6.4 * font).min(width * 0.22);
    let column = (width - left) / 4.0;
    let middle = |i: usize| left + (i as f64 + 0.5) * column;
    let (card, bar) = (column * 0.86, (column * 0.42).min(4.0 * font));
    let (head, gap, strip) = (1.5 * font, 1.3 * font, 2.2 * font);
    let whole_top = height - strip - 1.7 * font;
    let room = whole_top - head - gap;
    let scores_foot = head + 0.42 * room;
    let powers_top = scores_foot + gap;
    let powers_foot = powers_top + 0.33 * room;
    let unit = ((scores_foot - head) / 2.0 - KNOB - 2.0).max(4.0) / 4.0;
    let zero = f64::midpoint(head, scores_foot);
    let most = powers.iter().copied().fold(0.0, f64::max);
    let top = TOPS.into_iter().find(|top| most <= *top).unwrap_or(most);
    let tall = powers_foot - powers_top - 1.4 * font;

    pen.text(SCORE, true, (0.0, zero + 0.35 * font), Anchor::Start, "scores");
    let named = f64::midpoint(powers_top, powers_foot) + 0.4 * font;
    pen.text(SHARE, true, (0.0, named), Anchor::Start, "powers");
    // On a low screen there is room for the names alone.
    let is_low = room < 13.0 * font;
    if !is_low {
        let (muted, raised) = (pen.hue(Hue::Muted), named + 1.35 * small);
        let _ = write!(
            pen.svg,
            r#"<text x="0" y="{raised:.1}" font-size="{small:.1}" fill="{muted}">2.72<tspan dy="{:.1}">score</tspan></text>"#,
            -0.4 * small
        );
        let between = f64::midpoint(powers_foot, whole_top) + 0.35 * small;
        let added = format!("sum {}", shown(sum, 2));
        pen.sized(Hue::Muted, false, small, (0.0, between), Anchor::Start, &added);
    }
    let shared = whole_top + strip / 2.0 + 0.35 * font;
    pen.text(SHARE, true, (0.0, shared), Anchor::Start, "shares");

    for i in 0..4 {
        pen.panel(Hue::Ink, (middle(i) - card / 2.0, 0.0), (card, scores_foot), 6.0);
        let place = (middle(i) - card / 2.0, powers_top);
        pen.panel(Hue::Ink, place, (card, powers_foot - powers_top), 6.0);
    }
    pen.wire(Hue::Muted, 1.5, &format!("M{left:.1} {zero:.1}H{width:.1}"));
    // What both are measured by; that of the powers changes with them.
    let line = pen.paint.line();
    let ceiling = powers_foot - tall;
    let marks = [(zero - 4.0 * unit, 4.0), (zero + 4.0 * unit, -4.0), (ceiling, top)];
    for (y, number) in marks.into_iter().filter(|_| !is_low) {
        let _ = write!(pen.svg, r#"<path d="M{left:.1} {y:.1}H{width:.1}" stroke="{line}"/>"#);
        let at = (left - 0.4 * font, y + 0.35 * small);
        pen.sized(Hue::Muted, false, small, at, Anchor::End, &trimmed(number));
    }

    let mut from = left;
    let mut segments = [(0.0, 0.0); 4];
    for (segment, share) in segments.iter_mut().zip(&shares) {
        *segment = (from, from + share * (width - left));
        from = segment.1;
    }
    for i in 0..4 {
        let (x, long, high) = (middle(i), scores[i] * unit, powers[i] / top * tall);
        pen.text(Hue::Ink, true, (x, 1.15 * font), Anchor::Middle, LETTERS[i]);
        pen.shade(SCORE, (x - bar / 2.0, zero - long.max(0.0)), (bar, long.abs()), 0.65);
        // The number on the side of the line that the bar leaves free.
        let free = if scores[i] < 0.0 { -0.6 * font } else { 0.85 * font + KNOB.min(0.5 * font) };
        pen.text(Hue::Ink, false, (x, zero + free), Anchor::Middle, &shown(scores[i], 1));
        let (start, end) = (scores_foot + 2.0, powers_top - 1.0);
        pen.wire(Hue::Muted, 1.5, &format!("M{x:.1} {start:.1}V{:.1}", end - 5.0));
        pen.head(Hue::Muted, (x, end), (0.0, 1.0), 7.0);
        let place = (x - bar / 2.0, powers_foot - high);
        pen.shade(SHARE, place, (bar, high.max(1.0)), 0.65);
        let at = (x, place.1 - 0.35 * font);
        pen.text(Hue::Ink, false, at, Anchor::Middle, &shown(powers[i], 2));
        let (start, end) = segments[i];
        let end = (end - 2.0).max(start + 0.5);
        flow(pen, (x - bar / 2.0, x + bar / 2.0), powers_foot, (start, end), whole_top);
        pen.shade(SHARE, (start, whole_top), (end - start, strip), 0.3);
    }

    // A letter and its share stand in the segment or, where that is too narrow, right under it.
    let label = |i: usize| {
        let share = shares[i];
        let share = if share < 0.0005 { "<0.1%".to_owned() } else { percent(share) };
        format!("{} {share}", LETTERS[i])
    };
    let labels = [0, 1, 2, 3].map(label);
    let wide = |i: usize| labels[i].chars().count() as f64 * 0.6 * font;
    let center = |i: usize| f64::midpoint(segments[i].0, segments[i].1);
    let (fits, narrow): (Vec<usize>, Vec<usize>) =
        (0..4).partition(|i| wide(*i) + 0.4 * font < segments[*i].1 - segments[*i].0);
    for i in fits {
        pen.text(Hue::Ink, true, (center(i), shared), Anchor::Middle, &labels[i]);
    }
    let middles: Vec<f64> = narrow.iter().map(|i| center(*i)).collect();
    let widths: Vec<f64> = narrow.iter().map(|i| wide(*i)).collect();
    let places = beside_each_other(&middles, &widths, 0.7 * font, width);
    for (i, place) in narrow.into_iter().zip(places) {
        let (foot, head) = (whole_top + strip + 1.0, height - 1.15 * font);
        pen.wire(Hue::Muted, 1.0, &format!("M{:.1} {foot:.1}L{place:.1} {head:.1}", center(i)));
        let at = (place, height - 0.2 * font);
        pen.text(Hue::Ink, true, at, Anchor::Middle, &labels[i]);
    }
    let grip = |i: usize| Grip {
        at: (middle(i), zero - scores[i] * unit),
        hue: SCORE,
        x: None,
        y: Some(Axis { number: i, zero, per_unit: -unit }),
        open: false,
    };
    (0..4).map(grip).collect()
}

fn share_lines(numbers: &[f64]) -> Vec<Line> {
    let (powers, sum, shares) = softmax(&numbers[..4]);
    let line = |i: usize| Line {
        name: ["share of e", "share of a", "share of o", "share of z"][i],
        sum: format!("{} / {} = {}", shown(powers[i], 2), shown(sum, 2), percent(shares[i])),
        value: shares[i],
    };
    let added = powers.iter().map(|power| shown(*power, 2)).collect::<Vec<_>>().join(" + ");
    let sum = Line { name: "sum", sum: format!("{added} = {}", shown(sum, 2)), value: sum };
    [sum].into_iter().chain((0..4).map(line)).collect()
}

fn shares_say(numbers: &[f64]) -> String {
    let (_, _, shares) = softmax(&numbers[..4]);
    let most = shares.iter().copied().fold(0.0, f64::max);
    let best = LETTERS.iter().zip(&shares).filter(|(_, share)| most - **share < 1e-9);
    let best = best.map(|(letter, _)| format!("“{letter}”")).collect::<Vec<_>>();
    let share = percent(most);
    let largest = match &best[..] {
        [one] => format!("The letter {one} has the largest share, {share}."),
        [_, _, _, _] => format!("All four letters have the same share, {share}."),
        some => format!("The letters {} have the largest share, {share} each.", some.join(" and ")),
    };
    format!("{largest} All shares are above 0, and they add up to 100%.")
}

const LINK: Hue = Hue::Gradient;

const fn link(name: &'static str) -> Knob {
    Knob { name, hue: LINK, least: -2.0, most: 2.0, step: 0.1 }
}

pub const CHAIN: Board = Board {
    name: "chain",
    title: |_| "A chain of four slopes",
    knobs: &[link("slope 1"), link("slope 2"), link("slope 3"), link("slope 4")],
    first: 0,
    draw: draw_chain,
    lines: chain_lines,
    over: nothing,
    says: chain_says,
};

/// What is left of a nudge of 1 after each link, from the start.
pub fn nudges(slopes: &[f64]) -> Vec<f64> {
    let mut left = vec![1.0];
    for slope in &slopes[..4] {
        left.push(left[left.len() - 1] * slope);
    }
    left
}

/// One link as a line whose slope is dragged, with one across and the slope up as legs.
fn draw_link(
    pen: &mut Pen,
    (x, y): (f64, f64),
    size: (f64, f64),
    number: usize,
    slope: f64,
) -> Grip {
    pen.panel(Hue::Ink, (x - size.0 / 2.0, y - size.1 / 2.0), size, 6.0);
    let (left, top) = (x - size.0 / 2.0, y - size.1 / 2.0);
    let axes = format!("M{left:.1} {y:.1}h{:.1}M{x:.1} {top:.1}v{:.1}", size.0, size.1);
    pen.wire(Hue::Muted, 1.0, &axes);
    // True to scale: a slope of 2 goes two up for one across, and ends inside.
    let reach = (0.45 * size.0, 0.45 * size.1);
    let one = (reach.1 / 2.0).min(0.7 * reach.0);
    let dx = reach.0.min(reach.1 / slope.abs().max(1e-9));
    let tip = (x + one, y - slope * one);
    let color = pen.hue(LINK);
    let _ = write!(
        pen.svg,
        r#"<path d="M{x:.1} {y:.1}H{:.1}V{:.1}" fill="none" stroke="{color}" stroke-width="1.5" stroke-dasharray="3 3"/>"#,
        tip.0, tip.1
    );
    let dy = slope * dx;
    let path = format!("M{:.1} {:.1}L{:.1} {:.1}", x - dx, y + dy, x + dx, y - dy);
    pen.wire(LINK, 3.0, &path);
    Grip {
        at: tip,
        hue: LINK,
        x: None,
        y: Some(Axis { number, zero: y, per_unit: -one }),
        open: false,
    }
}

/// The chain in one row: what goes in, and from bar to bar a link with its panel above its arrow.
fn draw_chain(numbers: &[f64], (width, height): (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let font = pen.font;
    let nudges = nudges(numbers);
    let pitch = width / 5.0;
    let middle = |i: usize| (i as f64 + 0.5) * pitch;
    let wide = pitch - 0.8 * font;
    let panel = (wide, (1.5 * wide).min(height * 0.36));
    let bars = (height - panel.1 - 4.6 * font).min(22.0 * font);
    let top = (height - panel.1 - 4.6 * font - bars) / 2.0;
    let row = top + panel.1 + 2.2 * font;
    let bars_top = row + 0.9 * font;

    let mut grips = Vec::new();
    for (i, &slope) in numbers[..4].iter().enumerate() {
        let x = f64::midpoint(middle(i), middle(i + 1));
        grips.push(draw_link(pen, (x, top + panel.1 / 2.0), panel, i, slope));
        let factor = format!("× {}", shown(slope, 1));
        pen.text(LINK, true, (x, row - 0.75 * font), Anchor::Middle, &factor);
        // Between the numbers, however long they are.
        let half = |nudge: f64| 0.3 * font * trimmed(nudge).chars().count() as f64 + 0.4 * font;
        let (from, to) = (middle(i) + half(nudges[i]), middle(i + 1) - half(nudges[i + 1]));
        pen.wire(LINK, 2.0, &format!("M{from:.1} {row:.1}H{:.1}", to - 6.0));
        pen.head(LINK, (to, row), (1.0, 0.0), 9.0);
    }
    // All bars on one line: what is left of the nudge.
    let most = nudges.iter().fold(1.0_f64, |most, nudge| most.max(nudge.abs()));
    let has_minus = nudges.iter().any(|nudge| *nudge < 0.0);
    let zero = bars_top + if has_minus { bars / 2.0 } else { bars };
    let unit = 0.93 * (zero - bars_top) / most;
    let bar = (pitch * 0.42).min(4.0 * font);
    let names = ["nudge", "after 1", "after 2", "after 3", "after 4"];
    for (i, nudge) in nudges.iter().enumerate() {
        let (x, long) = (middle(i), nudge * unit);
        pen.panel(Hue::Ink, (x - wide / 2.0, bars_top), (wide, bars), 6.0);
        pen.shade(Hue::Output, (x - bar / 2.0, zero - long.max(0.0)), (bar, long.abs()), 0.7);
        let at = (x, row + 0.35 * font);
        pen.text(Hue::Ink, true, at, Anchor::Middle, &trimmed(*nudge));
        let at = (x, bars_top + bars + 1.2 * font);
        pen.text(Hue::Muted, false, at, Anchor::Middle, names[i]);
    }
    pen.wire(Hue::Muted, 1.5, &format!("M0 {zero:.1}H{width:.1}"));
    // What they are measured by: it moves as they grow.
    for side in if has_minus { &[1.0, -1.0][..] } else { &[1.0] } {
        let (y, line) = (zero - side * unit, pen.hue(Hue::Muted));
        // Writing to a String cannot fail.
        let _ = write!(
            pen.svg,
            r#"<path d="M0 {y:.1}H{width:.1}" stroke="{line}" stroke-opacity="0.5" stroke-dasharray="2 4"/>"#
        );
        let at = (0.6 * font, y - side * 0.2 * font + if *side > 0.0 { 0.0 } else { 0.7 * font });
        let small = (0.85 * font).max(12.0);
        pen.sized(Hue::Muted, false, small, at, Anchor::Start, &shown(*side, 0));
    }
    grips
}

fn chain_lines(numbers: &[f64]) -> Vec<Line> {
    let nudges = nudges(numbers);
    let names = ["after link 1", "after link 2", "after link 3", "after link 4"];
    let line = |i: usize| {
        let (before, after) = (nudges[i], nudges[i + 1]);
        let before = if before < 0.0 { format!("({})", trimmed(before)) } else { trimmed(before) };
        Line {
            name: names[i],
            sum: format!("{before} × {} = {}", term(numbers[i], 1), trimmed(after)),
            value: after,
        }
    };
    (0..4).map(line).collect()
}

fn chain_says(numbers: &[f64]) -> String {
    let last = nudges(numbers)[4];
    let fate = match last.abs() {
        0.0 => "Nothing is left: at least one slope is 0.",
        size if size < 1.0 - 1e-9 => "It has shrunk on the way.",
        size if size > 1.0 + 1e-9 => "It has grown on the way.",
        _ => "It keeps its size.",
    };
    let turned = if last < 0.0 { " Its sign has changed." } else { "" };
    format!("A nudge of 1 at the start is a nudge of {} at the end. {fate}{turned}", trimmed(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_softmax() {
        let (_, sum, shares) = softmax(&[2.0, 1.0, 0.0, -1.0]);
        assert!((sum - 11.475_217).abs() < 1e-6);
        assert!((shares[0] - 0.643_914).abs() < 1e-6);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let (_, _, moved) = softmax(&[3.0, 2.0, 1.0, 0.0]);
        assert!(shares.iter().zip(&moved).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn letters_that_tie_are_said_to() {
        let says = |scores: [f64; 4]| shares_say(&scores);
        assert!(
            says([2.0, 1.0, 0.0, -1.0]).starts_with("The letter “e” has the largest share, 64.4%.")
        );
        assert!(says([0.0; 4]).starts_with("All four letters have the same share, 25.0%."));
        assert!(says([1.0, 1.0, 0.0, 0.0]).starts_with("The letters “e” and “a” have"));
    }

    #[test]
    fn labels_stand_beside_each_other() {
        let apart = beside_each_other(&[50.0, 150.0], &[40.0, 40.0], 5.0, 200.0);
        assert_eq!(apart, [50.0, 150.0], "where they belong");
        let crowded = beside_each_other(&[50.0, 190.0, 199.0], &[40.0, 40.0, 40.0], 5.0, 200.0);
        assert_eq!(crowded, [50.0, 135.0, 180.0], "none passes the edge");
    }

    #[test]
    fn slopes_multiply() {
        assert_eq!(nudges(&[2.0, 0.5, -1.0, 1.5]), [1.0, 2.0, 1.0, -1.0, -1.5]);
    }
}
