//! The picture but for its cells, as SVG text: rows, names, the way of one token, the next
//! characters, and the parameters.

use std::fmt::Write;

use unroll_protocol::gpt::{Pass, Stage};

use super::{
    cells::values,
    scene::{BARS, Column, Part, Scene, place_of},
    sizes::{Segment, segments, span},
};
use crate::{
    controls::grouped,
    figures::{
        Hue,
        labels::text_width,
        largest,
        pen::{Anchor, MONO, Paint, Pen},
        percent,
        svg::escape,
        token,
    },
};

/// What of a pass is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// The head whose numbers are shown, counted from 0.
    pub head: usize,
    /// The token whose way is drawn, counted from 0.
    pub row: usize,
    /// How far it has come, as [`place_of`] counts.
    pub reached: usize,
    /// Whether the rows' lines and what is added to them are what to look at.
    pub lines: bool,
}

impl Way {
    /// Whether the token has come to `part`.
    pub fn has(&self, part: Part, scene: &Scene) -> bool {
        place_of(part.stage(scene.shape.open)) <= self.reached
    }

    /// How much is seen of a part's numbers.
    pub fn strength(&self, part: Part, scene: &Scene) -> f64 {
        match self.has(part, scene) {
            true if self.lines => BEHIND_LINES,
            true => 1.0,
            false => AHEAD,
        }
    }
}

/// How much is seen of what the token has not come to yet.
const AHEAD: f64 = 0.35;
/// How much is seen of numbers where the lines are what to look at.
const BEHIND_LINES: f64 = 0.25;

const FONT: f64 = 12.0;
/// Names begin beside the arrow that comes back to the text, and stand so far apart.
const NAMES_FROM: f64 = 24.0;
const NAME_GAP: f64 = 6.0;
/// Rounds in which names make room for each other.
const NAME_ROUNDS: usize = 96;
/// The smallest letters.
const SMALLEST: f64 = 12.0;
/// Characters of the longest name of a token.
const LONGEST_NAME: usize = 8;
/// Rows closer than this have no room for letters one above the other.
const CLOSE: f64 = 11.5;
/// How round the row that is followed turns to what comes next.
const TURN: f64 = 16.0;
/// Above the list of the next tokens: its name's letters, and where what comes back to the text begins.
const LIST_NAME: f64 = 8.0;
const ABOVE_LIST: f64 = 24.0;
/// How far left of the text it goes down.
const BESIDE_TEXT: f64 = 9.0;
/// What the longest bar of that list stands for while no share is above a half.
const HALF: &str = "50%";
/// The widest of the bands from the values.
const WIDEST_BAND: f64 = 10.0;

pub fn hue(part: Part) -> Hue {
    match part {
        Part::Query => Hue::Query,
        Part::Key => Hue::Key,
        Part::Value | Part::Mix => Hue::Value,
        Part::Next => Hue::Output,
        _ => Hue::Ink,
    }
}

/// What stays while the model learns.
/// Tokens that are `tinted` need not be characters: each has a color of its own.
pub fn ground(scene: &Scene, tokens: &[String], tinted: bool, way: Way, paint: Paint) -> String {
    let mut pen = Pen::new(FONT, paint);
    panels(&mut pen, scene, way);
    rows(&mut pen, scene, way);
    head_counts(&mut pen, scene, way);
    for (row, text) in tokens.iter().enumerate() {
        chip(&mut pen, scene, row, text, tinted, row == way.row);
    }
    headings(&mut pen, scene, way);
    loop_back(&mut pen, scene, way);
    pen.svg
}

/// What changes with the model's numbers.
pub fn flow(scene: &Scene, pass: &Pass, way: Way, paint: Paint) -> String {
    let mut pen = Pen::new(FONT, paint);
    ribbons(&mut pen, scene, pass, way);
    bars(&mut pen, scene, pass, way);
    parameters(&mut pen, scene, pass);
    pen.svg
}

/// Begins a group that is as strong as its part has been reached.
fn group(pen: &mut Pen, reached: bool) {
    faded(pen, if reached { 1.0 } else { AHEAD });
}

/// Begins a group of which so much is seen.
fn faded(pen: &mut Pen, opacity: f64) {
    // Writing to a String cannot fail.
    let _ = write!(pen.svg, r#"<g opacity="{opacity}">"#);
}

fn end(pen: &mut Pen) {
    pen.svg.push_str("</g>");
}

fn panels(pen: &mut Pen, scene: &Scene, way: Way) {
    let (shape, foot) = (scene.shape, scene.foot());
    let top = scene.top - 54.0;
    let line = pen.paint.line();
    let panel = |pen: &mut Pen, (left, right): (f64, f64), edge: &str| {
        let _ = write!(
            pen.svg,
            r#"<rect x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" rx="10" fill="{line}" fill-opacity="0.28"{edge}/>"#,
            right - left,
            foot - top + 2.0,
        );
    };
    panel(pen, scene.panel, "");
    // The step about the other blocks asks to open one.
    let asked =
        format!(r#" class="machine-asked" stroke="{}" stroke-width="2""#, pen.hue(Hue::Hidden));
    let asked = if way.reached == place_of(Stage::Further) { asked.as_str() } else { "" };
    let name = format!("block {} of {}", shape.open + 1, shape.blocks);
    group(pen, way.has(Part::Query, scene));
    pen.text(Hue::Muted, true, (scene.panel.0 + 12.0, top + 16.0), Anchor::Start, &name);
    end(pen);
    for column in &scene.columns {
        let Part::Folded(block) = column.part else { continue };
        group(pen, way.has(column.part, scene));
        panel(pen, (column.x, column.end()), asked);
        let name = if column.width < 50.0 {
            format!("{}", block + 1)
        } else {
            format!("block {}", block + 1)
        };
        pen.text(Hue::Muted, true, (column.middle(), top + 16.0), Anchor::Middle, &name);
        end(pen);
    }
}

/// Over the small maps of each folded block how many they are, between the rows' lines.
fn head_counts(pen: &mut Pen, scene: &Scene, way: Way) {
    let heads = match scene.shape.heads {
        0 => return,
        1 => "1 head".to_owned(),
        heads => format!("{heads} heads"),
    };
    for column in &scene.columns {
        if !matches!(column.part, Part::Folded(_)) || column.width <= text_width(&heads, FONT) {
            continue;
        }
        group(pen, way.has(column.part, scene));
        // The middle of its letters: as near to the maps as a place between two lines is.
        let lowest = scene.folded_maps(*column).0 - 10.0;
        let middle = scene.top + scene.pitch * ((lowest - scene.top) / scene.pitch).floor();
        let at = (column.middle(), middle + 4.0);
        pen.haloed((Hue::Muted, false), FONT, at, Anchor::Middle, &heads);
        end(pen);
    }
}

/// The residual stream of every token, and where parts add to it.
fn rows(pen: &mut Pen, scene: &Scene, way: Way) {
    let from = scene.columns.first().map_or(0.0, |column| column.end());
    let to = scene.column(Part::Next).map_or(scene.width, |column| column.x);
    let reached = if way.has(Part::Next, scene) { to } else { scene.reach(way) };
    streams(pen, scene, (from, reached), way.lines);
    group(pen, false);
    streams(pen, scene, (reached, to), false);
    end(pen);
    let y = scene.middle(way.row);
    let into_list = if way.has(Part::Next, scene) {
        // Up or down to its list, and along all of it.
        let (first, last) = (scene.bar(0), scene.bar(BARS - 1));
        let turned = |by: f64, end: f64| {
            let (from, then) = (to - TURN, y + by.clamp(-TURN, TURN));
            format!("H{from:.1}Q{to:.1} {y:.1} {to:.1} {then:.1}V{end:.1}")
        };
        if y > last {
            turned(last - y, first)
        } else if y < first {
            turned(first - y, last)
        } else {
            format!("H{to:.1}M{to:.1} {first:.1}V{last:.1}")
        }
    } else {
        format!("H{reached:.1}")
    };
    pen.wire(Hue::Hidden, 3.5, &format!("M{from:.1} {y:.1}{into_list}"));
    let (radius, thick) = match way.lines {
        true => ((scene.pitch * 0.45).min(10.0), 2.0),
        false => ((scene.pitch * 0.3).min(7.5), 1.0),
    };
    let paper = pen.paint.paper();
    for &x in &scene.sums {
        group(pen, x <= reached);
        for row in 0..scene.shape.rows {
            let is_followed = x <= reached && (way.lines || row == way.row);
            let hue = if is_followed { Hue::Hidden } else { Hue::Muted };
            let (y, arm, ink) = (scene.middle(row), radius * 0.55, pen.hue(hue));
            let _ = write!(
                pen.svg,
                r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.1}" fill="{paper}" stroke="{ink}" stroke-width="{thick}"/><path d="M{:.1} {y:.1}h{:.1}M{x:.1} {:.1}v{:.1}" stroke="{ink}" stroke-width="{thick}"/>"#,
                x - arm,
                2.0 * arm,
                y - arm,
                2.0 * arm,
            );
        }
        end(pen);
    }
    if way.lines {
        added(pen, scene);
    }
}

/// What each plus sign adds, below the last one, or above the names where small maps stand there.
fn added(pen: &mut Pen, scene: &Scene) {
    let shape = scene.shape;
    let parts = [
        (shape.positions, "+ position"),
        (shape.attention, "+ attention"),
        (shape.feed_forward, "+ feed-forward"),
    ];
    let names: Vec<&str> = parts.iter().filter(|part| part.0).map(|part| part.1).collect();
    let room = |(&sum, name): (&f64, &&str)| {
        let wide = 1.06 * text_width(name, FONT);
        (sum - wide / 2.0, wide)
    };
    let wanted: Vec<(f64, f64)> = scene.sums.iter().zip(&names).map(room).collect();
    let lefts = on_one_line(&wanted, NAMES_FROM, scene.panel.1.max(scene.view));
    let maps = scene.panel.0..scene.heads.last().map_or(scene.panel.0, |map| map.0 + map.2);
    let is_free = !lefts.iter().any(|left| maps.contains(left));
    let y = if is_free { scene.rows_end() + 15.0 } else { scene.top - 38.0 };
    for (left, name) in lefts.into_iter().zip(names) {
        pen.text(Hue::Hidden, true, (left, y), Anchor::Start, name);
    }
}

/// A stretch of every token's stream, strong where it is what to look at.
fn streams(pen: &mut Pen, scene: &Scene, (from, to): (f64, f64), strong: bool) {
    let (ink, thick) = if strong { (pen.hue(Hue::Hidden), 3.0) } else { (pen.paint.line(), 1.5) };
    for row in 0..scene.shape.rows {
        let y = scene.middle(row);
        let _ = write!(
            pen.svg,
            r#"<path d="M{from:.1} {y:.1}H{to:.1}" stroke="{ink}" stroke-width="{thick}"/>"#
        );
    }
}

fn chip(pen: &mut Pen, scene: &Scene, row: usize, text: &str, tinted: bool, chosen: bool) {
    let Some(column) = scene.column(Part::Tokens) else { return };
    let (y, high) = (scene.middle(row), scene.strip() + 1.5);
    let room = if tinted { (column.width - 6.0) / (0.62 * SMALLEST) } else { f64::INFINITY };
    let name = token::fitted_mark(text, LONGEST_NAME, room);
    // As large as lets a longer token keep to its column.
    let fits = column.width / (0.62 * token::columns(&name));
    let size = (scene.pitch * 0.78).clamp(SMALLEST, 15.0).min(fits.max(SMALLEST));
    // Where rows are closer than letters are high, neighbors stand side by side.
    let aside = if scene.pitch < CLOSE { column.width / 4.0 } else { 0.0 };
    let below = 0.34 * size - token::raised(&name, size);
    let x = column.middle() + if row.is_multiple_of(2) { -aside } else { aside };
    let (fill, edge) = if chosen {
        (pen.hue(Hue::Hidden), pen.hue(Hue::Hidden))
    } else if tinted {
        (pen.paint.token(text), pen.paint.line())
    } else {
        (pen.paint.paper(), pen.paint.line())
    };
    let ink = if chosen { pen.paint.paper() } else { pen.hue(Hue::Ink) };
    let _ = write!(
        pen.svg,
        r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{high:.1}" rx="4" fill="{fill}" stroke="{edge}"/><text x="{:.1}" y="{:.1}" font-size="{:.1}" font-family="{MONO}" text-anchor="middle" fill="{ink}">{}</text>"#,
        column.x,
        y - high / 2.0,
        column.width,
        x,
        y + below,
        size,
        escape(&name),
    );
}

/// Names over the columns, shapes under them.
fn headings(pen: &mut Pen, scene: &Scene, way: Way) {
    let named: Vec<Column> = scene
        .columns
        .iter()
        // What tokens are can be seen; the list of the next ones has its name directly over it.
        .filter(|column| !matches!(column.part, Part::Tokens | Part::Folded(_) | Part::Next))
        .copied()
        .collect();
    let names: Vec<Vec<&str>> = named.iter().map(|column| words(column.part)).collect();
    let wanted: Vec<(f64, f64)> = named.iter().zip(&names).map(|(c, n)| name_room(c, n)).collect();
    let lefts = on_one_line(&wanted, NAMES_FROM, scene.width);
    for (((column, words), left), wanted) in named.iter().zip(&names).zip(lefts).zip(&wanted) {
        group(pen, way.has(column.part, scene));
        let x = left + wanted.1 / 2.0;
        for (line, word) in words.iter().rev().enumerate() {
            let y = scene.top - 8.0 - 13.0 * line as f64;
            pen.text(hue(column.part), true, (x, y), Anchor::Middle, word);
        }
        if let Some((x, shape)) = shape_of(scene, column) {
            pen.text(Hue::Muted, false, (x, scene.foot() + 16.0), Anchor::Middle, &shape);
        }
        end(pen);
    }
    if let Some(next) = scene.column(Part::Next) {
        group(pen, way.has(Part::Next, scene));
        let (at, name) = ((next.x + 6.0, scene.list - LIST_NAME), Part::Next.name());
        pen.text(hue(Part::Next), true, at, Anchor::Start, name);
        end(pen);
    }
}

/// A part's name in lines.
fn words(part: Part) -> Vec<&'static str> {
    match part.name() {
        "feed-forward" => vec!["feed-", "forward"],
        name => name.split(' ').collect(),
    }
}

/// Where a name would like to begin, and how wide it is.
fn name_room(column: &Column, words: &[&str]) -> (f64, f64) {
    // They are bold.
    let wide = words.iter().map(|word| 1.06 * text_width(word, FONT)).fold(0.0, f64::max);
    (column.middle() - wide / 2.0, wide)
}

/// Where names begin that would like to begin there and are so wide: in their order, none in
/// another, each as near to its place as the others let it be.
fn on_one_line(wanted: &[(f64, f64)], from: f64, to: f64) -> Vec<f64> {
    let mut lefts: Vec<f64> = wanted.iter().map(|name| name.0).collect();
    // Neighbors in each other's way make room by half each, so that no name goes far alone.
    for _ in 0..NAME_ROUNDS {
        for at in 1..lefts.len() {
            let over = lefts[at - 1] + wanted[at - 1].1 + NAME_GAP - lefts[at];
            if over > 0.0 {
                lefts[at - 1] -= over / 2.0;
                lefts[at] += over / 2.0;
            }
        }
        if let Some(first) = lefts.first_mut() {
            *first = first.max(from);
        }
        if let (Some(last), Some(name)) = (lefts.last_mut(), wanted.last()) {
            *last = last.min(to - name.1);
        }
    }
    lefts
}

/// The shape of a column's numbers and where it stands, where it is another than that of the column
/// before or the column is the first of its kind.
fn shape_of(scene: &Scene, column: &Column) -> Option<(f64, String)> {
    let (rows, heads) = (scene.shape.rows, scene.shape.heads);
    let between = |other: Part| {
        scene.column(other).map_or(column.middle(), |other| (column.x + other.end()) / 2.0)
    };
    let x = match column.part {
        // The embedding's shape, the query's and the value's.
        Part::Tokens | Part::Folded(_) | Part::Next | Part::Position | Part::Key | Part::Mix => {
            return None;
        }
        Part::Query => between(Part::Key),
        Part::Value => between(Part::Mix),
        _ => column.middle(),
    };
    Some(match column.part {
        Part::Weights | Part::Query | Part::Value => {
            (x, format!("[{heads}, {rows}, {}]", column.count))
        }
        _ => (x, format!("[{rows}, {}]", column.count)),
    })
}

/// What is drawn is written after the text, and the model reads it again.
fn loop_back(pen: &mut Pen, scene: &Scene, way: Way) {
    let (Some(text), Some(next)) = (scene.column(Part::Tokens), scene.column(Part::Next)) else {
        return;
    };
    group(pen, way.has(Part::Next, scene));
    // From above the list and its name, beside the text, and into the last row: a new token comes there.
    let (from, to, y) = (next.x + 38.0, text.x - BESIDE_TEXT, 9.0);
    let (start, last) = (scene.list - ABOVE_LIST, scene.middle(scene.shape.rows.saturating_sub(1)));
    let path = format!(
        "M{from:.1} {start:.1}V{:.1}Q{from:.1} {y} {:.1} {y}H{:.1}Q{to:.1} {y} {to:.1} {:.1}V{:.1}Q{to:.1} {last:.1} {:.1} {last:.1}H{:.1}m-4 -4l4 4l-4 4",
        y + 8.0,
        from - 8.0,
        to + 8.0,
        y + 8.0,
        last - 5.0,
        to + 5.0,
        text.x - 1.5,
    );
    pen.wire(Hue::Hidden, 1.5, &path);
    let words = "drawn, written after the text, read again";
    let (x, wide) = ((from + to) / 2.0, FONT * 0.5 * words.len() as f64);
    let paper = pen.paint.paper();
    let _ = write!(
        pen.svg,
        r#"<g class="machine-again"><rect x="{:.1}" y="0" width="{:.1}" height="18" fill="{paper}"/>"#,
        x - wide / 2.0 - 8.0,
        wide + 16.0
    );
    pen.text(Hue::Muted, false, (x, y + 4.0), Anchor::Middle, words);
    pen.svg.push_str("</g>");
    end(pen);
}

/// What the chosen token takes from each value, as wide as its weight: the largest has all the width there is.
fn ribbons(pen: &mut Pen, scene: &Scene, pass: &Pass, way: Way) {
    let (Some(from), Some(to)) = (scene.column(Part::Value), scene.column(Part::Mix)) else {
        return;
    };
    let Some(weights) = values(pass, Part::Weights, way.head) else { return };
    let rows = scene.shape.rows;
    let Some(weights) = weights.get(way.row * rows..(way.row + 1) * rows) else { return };
    let most = weights.iter().copied().filter(|weight| weight.is_finite()).fold(0.0, f32::max);
    let widest = (0.6 * scene.strip()).min(WIDEST_BAND);
    faded(pen, way.strength(Part::Value, scene));
    let (left, right, y) = (from.end() + 1.0, to.x - 1.0, scene.middle(way.row));
    let middle = (left + right) / 2.0;
    let ink = pen.hue(Hue::Value);
    for (key, weight) in weights.iter().enumerate() {
        if !weight.is_finite() || *weight < 0.004 {
            continue;
        }
        let wide = (widest * f64::from(weight / most)).max(0.6);
        let _ = write!(
            pen.svg,
            r#"<path d="M{left:.1} {from:.1}C{middle:.1} {from:.1} {middle:.1} {y:.1} {right:.1} {y:.1}" fill="none" stroke="{ink}" stroke-opacity="0.5" stroke-width="{wide:.2}"/>"#,
            from = scene.middle(key),
        );
    }
    end(pen);
}

/// The likeliest next characters after the chosen token.
fn bars(pen: &mut Pen, scene: &Scene, pass: &Pass, way: Way) {
    let Some(column) = scene.column(Part::Next) else { return };
    let Some(next) = pass.probabilities.block(&[way.row]) else { return };
    group(pen, way.has(Part::Next, scene));
    let ((left, right), high, font) = (scene.bars, scene.bar_high(), scene.list_font());
    let best = largest(next, BARS);
    // Shares up to a half are drawn twice as long, where there is room to say so.
    let named = column.x + 6.0 + 1.06 * text_width(Part::Next.name(), FONT);
    let is_said = right - text_width(HALF, FONT) > named + NAME_GAP;
    let is_half = is_said && best.first().is_some_and(|(_, share)| *share <= 0.5);
    let full = if is_half { 0.5 } else { 1.0 };
    if is_half {
        let line = pen.paint.line();
        let _ = write!(
            pen.svg,
            r#"<path d="M{right:.1} {:.1}v8" stroke="{line}" stroke-width="1.5"/>"#,
            scene.list - 5.0
        );
        pen.text(Hue::Muted, false, (right, scene.list - LIST_NAME), Anchor::End, HALF);
    }
    for (at, (id, probability)) in best.into_iter().enumerate() {
        let (y, is_first) = (scene.bar(at), at == 0);
        let name = pass.vocabulary.get(id).map_or("", String::as_str);
        let name = token::short_mark(name, LONGEST_NAME);
        let (at, anchor) = match token::columns(&name) {
            1.0 if !scene.shape.tinted => (column.x + 12.0, Anchor::Middle),
            // Ends where its bar begins.
            _ => (left - 4.0, Anchor::End),
        };
        // A long name has no room for more.
        let size = if scene.shape.tinted { FONT } else { font };
        let below = 0.34 * size - token::raised(&name, size);
        pen.sized(Hue::Ink, is_first, size, (at, y + below), anchor, &name);
        let long = (right - left) * f64::from(probability).clamp(0.0, full) / full;
        let ink = pen.hue(Hue::Output);
        let _ = write!(
            pen.svg,
            r#"<rect x="{left:.1}" y="{:.1}" width="{:.1}" height="{high:.1}" rx="2" fill="{ink}"/>"#,
            y - high / 2.0,
            long.max(1.0),
        );
        let share = percent(probability, 1);
        let (hue, at) = (
            if is_first { Hue::Ink } else { Hue::Muted },
            (left + long.max(1.0) + 5.0, y + 0.34 * font),
        );
        pen.sized(hue, is_first, font, at, Anchor::Start, &share);
    }
    end(pen);
}

/// The parameters of every part, as long as they are many.
fn parameters(pen: &mut Pen, scene: &Scene, pass: &Pass) {
    let bottom = scene.height;
    let total = format!("{} parameters", grouped(pass.sizes.total()));
    pen.text(Hue::Ink, true, (span(scene).0, bottom - 42.0), Anchor::Start, &total);
    for Segment { x, width, strength, label, count } in segments(&pass.sizes, scene) {
        let ink = pen.hue(Hue::Weight);
        let _ = write!(
            pen.svg,
            r#"<rect x="{x:.1}" y="{:.1}" width="{:.1}" height="12" rx="2" fill="{ink}" fill-opacity="{strength}"/>"#,
            bottom - 36.0,
            (width - 1.5).max(0.5),
        );
        // Its number is read in it where only its name has room.
        let texts = [format!("{label} {}", grouped(count)), label];
        let fits = |text: &&String| text.chars().count() as f64 * 6.4 < width;
        if let Some(text) = texts.iter().find(fits) {
            pen.text(Hue::Muted, false, (x + 1.0, bottom - 11.0), Anchor::Start, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::scene::Shape, *};

    #[test]
    fn what_is_written_comes_back_to_the_last_row() {
        let (positions, attention, feed_forward) = (true, true, true);
        let (rows, width, blocks, heads, open, tinted) = (12, 64, 2, 4, 0, false);
        let shape =
            Shape { rows, width, blocks, heads, positions, attention, feed_forward, open, tinted };
        let scene = Scene::new(shape, (1000.0, 600.0)).following(3);
        let mut pen = Pen::new(FONT, Paint::page());
        let reached = place_of(Stage::Next);
        loop_back(&mut pen, &scene, Way { head: 0, row: 3, reached, lines: false });
        assert!(pen.svg.contains(&format!(" {:.1}H", scene.middle(rows - 1))), "{}", pen.svg);
        assert!(scene.column(Part::Tokens).is_some_and(|text| text.x > BESIDE_TEXT));
    }

    #[test]
    fn names_keep_their_order_and_out_of_each_other() {
        let room = |columns: f64| (columns * 10.0, 60.0);
        let wanted = [room(1.0), room(6.0), room(8.0), room(30.0)];
        let lefts = on_one_line(&wanted, NAMES_FROM, 400.0);
        for at in 1..lefts.len() {
            assert!(lefts[at] - lefts[at - 1] >= 60.0, "{lefts:?}");
        }
        assert!(lefts[0] >= NAMES_FROM);
        assert_eq!(lefts[3], 300.0, "a name with room stays");
        assert!(on_one_line(&[], NAMES_FROM, 400.0).is_empty());
    }
}
