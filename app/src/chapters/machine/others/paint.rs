//! A plan as the inside of an SVG.

use std::fmt::Write;

use super::plan::{Look, Piece, Plan, Point, Wire};
use crate::figures::{
    Hue,
    pen::{Anchor, Paint, Pen, Stroke},
};

pub fn paint(plan: &Plan, paint: Paint, lit: Option<&str>) -> String {
    let mut pen = Pen::new(plan.font, paint);
    let round = 0.8 * plan.font;
    for (hue, rect) in &plan.panels {
        pen.panel(*hue, (rect.x, rect.y), (rect.width, rect.height), round);
    }
    for (hue, path) in &plan.grounds {
        pen.ground(*hue, path);
    }
    for wire in &plan.wires {
        draw_wire(&mut pen, wire);
    }
    for (hue, at) in &plan.dots {
        pen.dot(*hue, *at, 0.22 * plan.font);
    }
    for piece in &plan.pieces {
        draw_piece(&mut pen, plan, piece, lit == Some(piece.part.id));
    }
    for note in &plan.notes {
        pen.sized(note.hue, note.bold, plan.small(), note.at, note.anchor, &note.text);
    }
    pen.svg
}

fn draw_wire(pen: &mut Pen, wire: &Wire) {
    let [.., before, end] = wire.points[..] else { return };
    let tip = 0.55 * pen.font;
    let (mut points, mut direction) = (wire.points.clone(), unit(before, end));
    if wire.swept {
        direction = (1.0, 0.0);
    }
    // The line ends within its head, so that a thick one does not blunt the tip.
    if wire.arrow
        && let Some(last) = points.last_mut()
    {
        *last = (end.0 - 0.7 * tip * direction.0, end.1 - 0.7 * tip * direction.1);
    }
    let path = if wire.swept {
        let ((x, y), (to_x, to_y)) = (points[0], points[1]);
        let middle = (x + to_x) / 2.0;
        format!("M{x:.1} {y:.1}C{middle:.1} {y:.1} {middle:.1} {to_y:.1} {to_x:.1} {to_y:.1}")
    } else {
        rounded(&points, 0.6 * pen.font)
    };
    pen.wire(wire.hue, wire.thick, &path);
    if wire.arrow {
        pen.head(wire.hue, end, direction, tip);
    }
}

/// From `a` towards `b`, of length 1.
fn unit(a: Point, b: Point) -> Point {
    let (x, y) = (b.0 - a.0, b.1 - a.1);
    let length = x.hypot(y).max(f64::MIN_POSITIVE);
    (x / length, y / length)
}

/// A path along `points` whose corners are rounded.
fn rounded(points: &[Point], radius: f64) -> String {
    let mut path = String::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|i| points.get(i));
        // Writing to a String cannot fail.
        let _ = match (before, points.get(i + 1)) {
            (None, _) => write!(path, "M{x:.1} {y:.1}"),
            (Some(_), None) => write!(path, "L{x:.1} {y:.1}"),
            (Some(&before), Some(&after)) => {
                let half = |p: Point| (p.0 - x).hypot(p.1 - y) / 2.0;
                let radius = radius.min(half(before)).min(half(after));
                let (back, on) = (unit((x, y), before), unit((x, y), after));
                write!(
                    path,
                    "L{:.1} {:.1}Q{x:.1} {y:.1} {:.1} {:.1}",
                    x + radius * back.0,
                    y + radius * back.1,
                    x + radius * on.0,
                    y + radius * on.1
                )
            }
        };
    }
    path
}

/// Shades of a vector’s cells, made up: there are no numbers here.
const SHADES: [f64; 6] = [0.55, 0.12, 0.8, 0.3, 0.06, 0.45];

fn draw_piece(pen: &mut Pen, plan: &Plan, piece: &Piece, is_lit: bool) {
    let (hue, rect, font) = (piece.part.hue, piece.rect, plan.font);
    let thin = plan.thin();
    let thick = match (is_lit, piece.part.new) {
        (true, _) => 2.5 * thin,
        (false, true) => 1.6 * thin,
        (false, false) => 0.9 * thin,
    };
    let share = match (is_lit, piece.part.new) {
        (true, _) => 0.24,
        (false, true) => 0.15,
        (false, false) => 0.0,
    };
    let (place, size) = ((rect.x, rect.y), (rect.width, rect.height));
    let round = match piece.look {
        Look::Pill | Look::Knot | Look::Wave => rect.height / 2.0,
        Look::Strip(_) | Look::OneHot(_) => 0.25 * font,
        Look::Box | Look::Chip => 0.45 * font,
    };
    // Writing to a String cannot fail.
    let _ = write!(pen.svg, r#"<g data-part="{}" class="machine-part">"#, piece.part.id);
    let stroke = Stroke { hue, thick, share };
    match piece.look {
        Look::Strip(_) | Look::OneHot(_) => {
            let share = if piece.part.new { share } else { 0.0 };
            pen.boxed(place, size, round, Stroke { share, ..stroke });
            let (count, gap) = (SHADES.len() as f64, 0.14 * font);
            let upright = rect.height > rect.width;
            let long = if upright { rect.height } else { rect.width };
            let each = (long - gap) / count;
            for i in 0..SHADES.len() {
                let shade = match piece.look {
                    Look::OneHot(one) if one == i => 1.0,
                    Look::OneHot(_) => 0.1,
                    // Steps that share no factor with the number of shades.
                    Look::Strip(step) if step % 2 == 1 => SHADES[(5 * i + step) % SHADES.len()],
                    Look::Strip(step) => SHADES[(i + step) % SHADES.len()],
                    _ => 0.0,
                };
                let along = gap + each * i as f64;
                let (x, y, w, h) = if upright {
                    (gap, along, rect.width - 2.0 * gap, each - gap)
                } else {
                    (along, gap, each - gap, rect.height - 2.0 * gap)
                };
                pen.shade(hue, (rect.x + x, rect.y + y), (w, h), shade);
            }
        }
        _ => pen.boxed(place, size, round, stroke),
    }
    let (x, y) = rect.center();
    if piece.look == Look::Wave {
        let (a, b) = (0.27 * rect.width, 0.5 * rect.height);
        let path = format!("M{:.1} {y:.1}q{:.1} {:.1} {a:.1} 0t{a:.1} 0", x - a, a / 2.0, -b);
        pen.wire(hue, 1.2 * thin, &path);
    }
    let ink = if piece.look == Look::Chip || piece.look == Look::Knot { Hue::Ink } else { hue };
    if piece.under.is_empty() {
        let size = if piece.look == Look::Knot { 1.15 * font } else { font };
        pen.sized(ink, true, size, (x, y + 0.36 * size), Anchor::Middle, &piece.text);
    } else {
        pen.sized(ink, true, font, (x, y - 0.12 * font), Anchor::Middle, &piece.text);
        let place = (x, y + 0.3 * font + 0.72 * plan.small());
        pen.sized(Hue::Muted, false, plan.small(), place, Anchor::Middle, &piece.under);
    }
    pen.svg.push_str("</g>");
}
