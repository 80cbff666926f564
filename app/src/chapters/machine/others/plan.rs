//! A drawing before it is drawn: rectangles, wires and words, all in pixels.

use super::{Machine, Part, parts};
use crate::figures::{Hue, pen::Anchor};

pub type Point = (f64, f64);

/// No text is smaller.
pub const SMALLEST: f64 = 12.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn around((x, y): Point, (width, height): (f64, f64)) -> Self {
        Self { x: x - width / 2.0, y: y - height / 2.0, width, height }
    }

    /// Between two corners.
    pub fn between((left, top): Point, (right, bottom): Point) -> Self {
        Self { x: left, y: top, width: right - left, height: bottom - top }
    }

    pub fn center(self) -> Point {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    pub fn bottom(self) -> Point {
        (self.center().0, self.y + self.height)
    }

    pub fn left(self) -> Point {
        (self.x, self.center().1)
    }

    pub fn right(self) -> Point {
        (self.x + self.width, self.center().1)
    }
}

/// What a part looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    Box,
    /// A letter.
    Chip,
    /// A matrix of weights.
    Pill,
    /// Where numbers meet.
    Knot,
    /// A one-hot vector: which of its cells is set.
    OneHot(usize),
    /// A vector: cells in a row, or upright, whose shades depend on the number.
    Strip(usize),
    /// A wave in a circle.
    Wave,
}

/// One box of a part.
#[derive(Clone, Debug)]
pub struct Piece {
    pub part: &'static Part,
    pub rect: Rect,
    pub look: Look,
    pub text: String,
    /// A smaller second line; may be empty.
    pub under: String,
}

#[derive(Clone, Debug)]
pub struct Wire {
    pub hue: Hue,
    pub thick: f64,
    pub points: Vec<Point>,
    /// Bends in one sweep from the first point to the last, setting out and arriving level.
    pub swept: bool,
    pub arrow: bool,
}

#[derive(Clone, Debug)]
pub struct Note {
    pub hue: Hue,
    pub bold: bool,
    pub at: Point,
    pub anchor: Anchor,
    pub text: String,
}

/// A drawing's parts, the first lowest.
#[derive(Clone, Debug)]
pub struct Plan {
    pub machine: Machine,
    pub width: f64,
    pub height: f64,
    pub font: f64,
    /// Soft grounds, each a rectangle or any other path.
    pub panels: Vec<(Hue, Rect)>,
    pub grounds: Vec<(Hue, String)>,
    pub wires: Vec<Wire>,
    pub dots: Vec<(Hue, Point)>,
    pub pieces: Vec<Piece>,
    pub notes: Vec<Note>,
}

/// About how wide a text is, in the widest of the usual faces.
pub fn width_of(text: &str, size: f64, bold: bool) -> f64 {
    let each = |c: char| match c {
        '₀'..='₉' | '₊' | '₋' | 'ₜ' | 'ⱼ' | 'ᵢ' | 'ₖ' => 0.43,
        'i' | 'j' | 'l' | ' ' | ',' | '.' | '(' | ')' => 0.38,
        'm' | 'w' | 'W' | '→' | '←' => 0.9,
        _ => 0.62,
    };
    text.chars().map(each).sum::<f64>() * size * if bold { 1.1 } else { 1.0 }
}

impl Plan {
    pub fn new(machine: Machine, (width, height): (f64, f64)) -> Self {
        let font = (width / 62.0).min(height / 37.0).clamp(SMALLEST, 21.0);
        Self {
            machine,
            width,
            height,
            font,
            panels: Vec::new(),
            grounds: Vec::new(),
            wires: Vec::new(),
            dots: Vec::new(),
            pieces: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether there is room for words beside the boxes.
    pub fn is_wide(&self) -> bool {
        self.width >= 760.0 && self.height >= 330.0
    }

    /// The size of the smaller text.
    pub fn small(&self) -> f64 {
        (self.font * 0.8).max(SMALLEST)
    }

    /// A thin wire; states are drawn twice as thick.
    pub fn thin(&self) -> f64 {
        (self.font * 0.11).max(1.4)
    }

    pub fn thick(&self) -> f64 {
        2.2 * self.thin()
    }

    /// Puts a box for the part there, with the first of `names` that fits, or else the last, and
    /// below it `under` if that fits too.
    pub fn put(&mut self, id: &str, look: Look, rect: Rect, names: &[&str], under: &str) -> Rect {
        let Some(part) = parts(self.machine).iter().find(|part| part.id == id) else {
            debug_assert!(false, "{:?} has no part {id}", self.machine);
            return rect;
        };
        let pad = if look == Look::Box { 0.4 * self.font } else { 2.0 };
        let fits = |name: &&&str| width_of(name, self.font, true) <= rect.width - pad;
        let name = names.iter().find(fits).or(names.last());
        let high = rect.height >= 1.25 * (self.font + self.small());
        let roomy = width_of(under, self.small(), false) <= rect.width - 0.7 * self.font;
        let under = if high && roomy { under } else { "" };
        let text = name.map_or(String::new(), |name| (*name).to_owned());
        self.pieces.push(Piece { part, rect, look, text, under: under.to_owned() });
        rect
    }

    /// A letter in a box of its own.
    pub fn chip(&mut self, id: &str, at: Point, letter: &str) -> Rect {
        let side = 2.0 * self.font;
        self.put(id, Look::Chip, Rect::around(at, (side, side)), &[letter], "")
    }

    pub fn pill(&mut self, id: &str, at: Point, name: &str) -> Rect {
        let rect = Rect::around(at, (2.3 * self.font, 1.55 * self.font));
        self.put(id, Look::Pill, rect, &[name], "")
    }

    pub fn knot(&mut self, id: &str, at: Point, sign: &str) -> Rect {
        let side = 1.75 * self.font;
        self.put(id, Look::Knot, Rect::around(at, (side, side)), &[sign], "")
    }

    /// A wire from point to point with rounded corners.
    pub fn wire(&mut self, hue: Hue, thick: f64, points: &[Point]) {
        let points = points.to_vec();
        self.wires.push(Wire { hue, thick, points, swept: false, arrow: false });
    }

    /// A wire that ends in an arrow head.
    pub fn arrow(&mut self, hue: Hue, thick: f64, points: &[Point]) {
        let points = points.to_vec();
        self.wires.push(Wire { hue, thick, points, swept: false, arrow: true });
    }

    pub fn sweep(&mut self, hue: Hue, thick: f64, from: Point, to: Point) {
        let points = vec![from, to];
        self.wires.push(Wire { hue, thick, points, swept: true, arrow: true });
    }

    /// Where wires join.
    pub fn dot(&mut self, hue: Hue, at: Point) {
        self.dots.push((hue, at));
    }

    pub fn panel(&mut self, hue: Hue, rect: Rect) {
        self.panels.push((hue, rect));
    }

    /// Small words.
    pub fn note(&mut self, hue: Hue, at: Point, anchor: Anchor, text: &str) {
        self.notes.push(Note { hue, bold: false, at, anchor, text: text.to_owned() });
    }

    /// The small bold name of a panel.
    pub fn name(&mut self, hue: Hue, at: Point, anchor: Anchor, text: &str) {
        self.notes.push(Note { hue, bold: true, at, anchor, text: text.to_owned() });
    }

    /// What a note covers.
    #[cfg(test)]
    pub fn extent(&self, note: &Note) -> Rect {
        let size = self.small();
        let width = width_of(&note.text, size, note.bold);
        let x = match note.anchor {
            Anchor::Start => note.at.0,
            Anchor::Middle => note.at.0 - width / 2.0,
            Anchor::End => note.at.0 - width,
        };
        Rect { x, y: note.at.1 - 0.8 * size, width, height: size }
    }
}
