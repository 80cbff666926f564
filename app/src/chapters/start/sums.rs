//! Scores that become shares, and slopes that multiply.

use super::{
    board::{Axis, Board, Grip, Knob, Line, shown, term},
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
    title: "What comes after “th”?",
    knobs: &[score("score of e"), score("score of a"), score("score of o"), score("score of z")],
    draw: draw_shares,
    lines: share_lines,
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

fn draw_shares(numbers: &[f64], (width, height): (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let scores = &numbers[..4];
    let (powers, _, shares) = softmax(scores);
    let font = pen.font;
    let left = (5.5 * font).min(width * 0.2);
    let column = (width - left) / 4.0;
    let middle = |i: usize| left + (i as f64 + 0.5) * column;
    let strip = (2.6 * font).min(height * 0.16);
    let strip_top = height - strip - 2.0 * font;
    let below = strip_top - 0.8 * font;
    // Scores, from a line in the middle of what is left, with a number beyond the tip of each.
    let room = below - 1.6 * font;
    let beyond = KNOB + 1.4 * font;
    let unit = ((room - 2.0 * beyond) / 8.0).max(1.0);
    let zero = beyond + 4.0 * unit;
    pen.text(SCORE, true, (0.0, zero + 0.35 * font), Anchor::Start, "scores");
    pen.wire(Hue::Muted, 1.5, &format!("M{left:.1} {zero:.1}H{width:.1}"));
    let bar = (column * 0.42).min(4.0 * font);
    for (i, (score, letter)) in scores.iter().zip(LETTERS).enumerate() {
        let (long, x) = (score * unit, middle(i));
        pen.shade(SCORE, (x - bar / 2.0, zero - long.max(0.0)), (bar, long.abs()), 0.65);
        // The letter on the side of the line that the bar leaves free.
        let tip = zero - long;
        let (value_at, letter_at) = if *score < 0.0 {
            (tip + KNOB + 1.1 * font, zero - 0.75 * font)
        } else {
            (tip - KNOB - 0.4 * font, zero + 1.55 * font)
        };
        pen.text(Hue::Ink, false, (x, value_at), Anchor::Middle, &shown(*score, 1));
        pen.text(Hue::Ink, true, (x, letter_at), Anchor::Middle, letter);
    }
    pen.text(Hue::Muted, false, (0.0, below), Anchor::Start, "powers");
    for (i, power) in powers.iter().enumerate() {
        pen.text(Hue::Muted, false, (middle(i), below), Anchor::Middle, &shown(*power, 2));
    }
    // One whole, cut into shares. What is too small for its label has it as near as there is room.
    pen.text(SHARE, true, (0.0, strip_top + strip / 2.0 + 0.35 * font), Anchor::Start, "shares");
    let mut from = left;
    let whole = width - left;
    let named = |(letter, share): (&str, &f64)| {
        let share = if *share < 0.0005 { "<0.1%".to_owned() } else { percent(*share) };
        format!("{letter} {share}")
    };
    let labels: Vec<String> = LETTERS.into_iter().zip(&shares).map(named).collect();
    let middles: Vec<f64> = shares
        .iter()
        .map(|share| {
            from += share * whole;
            from - share * whole / 2.0
        })
        .collect();
    let widths: Vec<f64> =
        labels.iter().map(|label| label.chars().count() as f64 * 0.6 * font).collect();
    let places = beside_each_other(&middles, &widths, 0.7 * font, width);
    for (i, share) in shares.iter().enumerate() {
        let (wide, at) = (share * whole, middles[i]);
        let depth = [0.8, 0.55, 0.35, 0.2][i];
        pen.shade(SHARE, (at - wide / 2.0, strip_top), ((wide - 2.0).max(0.5), strip), depth);
        if (places[i] - at).abs() > wide / 2.0 {
            let (foot, head) = (strip_top + strip + 2.0, height - 1.25 * font);
            pen.wire(Hue::Muted, 1.0, &format!("M{at:.1} {foot:.1}L{:.1} {head:.1}", places[i]));
        }
        pen.text(Hue::Ink, false, (places[i], height - 0.3 * font), Anchor::Middle, &labels[i]);
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
    let best = (0..4).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(0);
    format!(
        "The letter “{}” has the largest share, {}. All shares are above 0, and together they are 100%.",
        LETTERS[best],
        percent(shares[best])
    )
}

const LINK: Hue = Hue::Gradient;

const fn link(name: &'static str) -> Knob {
    Knob { name, hue: LINK, least: -2.0, most: 2.0, step: 0.1 }
}

pub const CHAIN: Board = Board {
    name: "chain",
    title: "A chain of four slopes",
    knobs: &[link("slope 1"), link("slope 2"), link("slope 3"), link("slope 4")],
    draw: draw_chain,
    lines: chain_lines,
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

fn draw_chain(numbers: &[f64], (width, height): (f64, f64), pen: &mut Pen) -> Vec<Grip> {
    let font = pen.font;
    let nudges = nudges(numbers);
    let gap = 1.6 * font;
    let per_row = if width > 1.1 * height { 4 } else { 2 };
    let lines = 4 / per_row;
    let bars = (height * 0.36).min(12.0 * font);
    let cell = (
        (width - gap * (per_row as f64 - 1.0)) / per_row as f64,
        (height - bars - font) / lines as f64,
    );
    let side = cell.0.min(cell.1 - 1.9 * font) - 8.0;
    let mut grips = Vec::new();
    for (i, &slope) in numbers[..4].iter().enumerate() {
        let corner = (
            (i % per_row) as f64 * (cell.0 + gap) + (cell.0 - side) / 2.0,
            (i / per_row) as f64 * cell.1 + 1.5 * font,
        );
        let (middle, unit) = ((corner.0 + side / 2.0, corner.1 + side / 2.0), side / 2.0);
        pen.panel(Hue::Ink, corner, (side, side), 6.0);
        pen.wire(
            Hue::Muted,
            1.0,
            &format!(
                "M{:.1} {:.1}h{side:.1}M{:.1} {:.1}v{side:.1}",
                corner.0, middle.1, middle.0, corner.1
            ),
        );
        // A slope of 2 reaches the corner.
        let reach = unit * 0.45;
        let (dx, dy) = (unit * 0.9, slope * reach);
        pen.wire(
            LINK,
            3.0,
            &format!(
                "M{:.1} {:.1}L{:.1} {:.1}",
                middle.0 - dx,
                middle.1 + dy,
                middle.0 + dx,
                middle.1 - dy
            ),
        );
        let title = format!("× {}", shown(slope, 1));
        pen.text(LINK, true, (middle.0, corner.1 - 0.4 * font), Anchor::Middle, &title);
        grips.push(Grip {
            at: (middle.0 + dx, middle.1 - dy),
            hue: LINK,
            x: None,
            y: Some(Axis { number: i, zero: middle.1, per_unit: -reach }),
            open: false,
        });
    }
    // What is left of the nudge, from the start to the end.
    let most = nudges.iter().fold(1.0_f64, |most, nudge| most.max(nudge.abs()));
    let (top, pitch) = (height - bars, width / 5.0);
    let has_minus = nudges.iter().any(|nudge| *nudge < 0.0);
    let room = bars - 3.2 * font;
    let (zero, unit) = if has_minus {
        (top + 1.6 * font + room / 2.0, room / 2.0 / most)
    } else {
        (top + 1.6 * font + room, room / most)
    };
    pen.wire(Hue::Muted, 1.5, &format!("M0 {zero:.1}H{width:.1}"));
    let names = ["nudge", "after 1", "after 2", "after 3", "after 4"];
    for (i, nudge) in nudges.iter().enumerate() {
        let (x, long) = ((i as f64 + 0.5) * pitch, nudge * unit);
        let wide = (pitch * 0.5).min(5.0 * font);
        pen.shade(Hue::Output, (x - wide / 2.0, zero - long.max(0.0)), (wide, long.abs()), 0.7);
        let above = zero - long.max(0.0) - 0.4 * font;
        pen.text(Hue::Ink, true, (x, above), Anchor::Middle, &trimmed(*nudge));
        pen.text(Hue::Muted, false, (x, height - 0.3 * font), Anchor::Middle, names[i]);
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
