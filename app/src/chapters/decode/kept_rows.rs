//! The drawing of a cache: what is kept of the tokens before, and the one row that is computed.

use serde_json::json;
use unroll_protocol::{
    Array,
    gpt::{Cached, likeliest},
};

use super::picture::{Drawing, Spot, smaller};
use crate::figures::{
    Hue, Sheet, decimals, exact,
    pen::{Anchor, Pen, Stroke},
    percent,
    svg::write_rect,
    theme::Colors,
    tint::Grounds,
    token,
};

/// Most numbers of a key or a value that are drawn.
const MOST_DRAWN: usize = 32;
/// Likeliest next tokens that are drawn.
const NEXT: usize = 6;

/// Characters of the longest name of a token.
const LONGEST_NAME: usize = 8;

/// Columns of the widest name.
fn widest<'a>(names: impl Iterator<Item = &'a String>) -> f64 {
    let columns = names.map(|name| token::columns(&token::short_mark(name, LONGEST_NAME)));
    columns.fold(1.0, f64::max)
}

/// Width of a token's ground.
fn token_width(token: &str, font: f64) -> f64 {
    (0.62 * token::columns(&token::short_mark(token, LONGEST_NAME)) + 0.5) * font
}

/// One head's part of a cache.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRows {
    pub tokens: Vec<String>,
    /// `[S, d]` each.
    keys: Vec<f32>,
    values: Vec<f32>,
    query: Vec<f32>,
    weights: Vec<f32>,
    /// Whether everything was computed anew, for the window has moved.
    anew: bool,
    /// Likeliest next tokens with their shares.
    next: Vec<(String, f32)>,
    /// Whether each token has a ground of its own, for it need not be a character.
    tinted: bool,
}

fn part(all: &Array, block: usize, head: usize) -> Option<Vec<f32>> {
    let heads = *all.shape.get(1)? as usize;
    let each = all.shape[2..].iter().map(|&size| size as usize).product::<usize>();
    let start = (block * heads + head) * each;
    all.values.get(start..start + each).map(<[f32]>::to_vec)
}

impl KeptRows {
    /// The part of the cache that belongs to a head of a block with attention, both counted from 0.
    /// What there are fewer of is counted from its end.
    pub fn new(told: &Cached, block: usize, head: usize, tinted: bool) -> Option<Self> {
        let heads = *told.keys.shape.get(1)? as usize;
        let block = block.min((told.blocks as usize).checked_sub(1)?);
        let head = head.min(heads.checked_sub(1)?);
        let next = likeliest(&told.shares).into_iter().take(NEXT);
        Some(Self {
            tokens: told.tokens.clone(),
            keys: part(&told.keys, block, head)?,
            values: part(&told.values, block, head)?,
            query: part(&told.queries, block, head)?,
            weights: part(&told.weights, block, head)?,
            anew: told.dropped > 0,
            next: next
                .map(|id| (told.vocabulary.get(id).cloned().unwrap_or_default(), told.shares[id]))
                .collect(),
            tinted,
        })
    }

    fn width(&self) -> usize {
        self.query.len()
    }

    /// Whether a row was computed for this token, rather than kept.
    fn is_new(&self, row: usize) -> bool {
        self.anew || row + 1 == self.tokens.len()
    }
}

impl Drawing for KeptRows {
    fn height(&self, _: f64, font: f64) -> f64 {
        11.0 * font
    }

    fn draw(&self, (width, height): (f64, f64), pen: &mut Pen, colors: &Colors) -> Vec<Spot> {
        let font = pen.font;
        let mut spots = Vec::new();
        let line = 1.4 * font;
        let top = 3.4 * font;
        // The last rows, and a line for those before them.
        let fit = (((height - top - 0.4 * font) / line) as usize).max(3);
        let count = self.tokens.len();
        let shown = if count > fit { fit - 1 } else { count };
        let hidden = count - shown;
        // Names of one character have room as it is.
        let label = 3.2 * font + 0.62 * font * (widest(self.tokens[hidden..].iter()) - 1.0);
        let next = 0.62 * font * (widest(self.next.iter().map(|next| &next.0)) - 1.0);
        let tail = if width > 40.0 * font { 11.0 * font + next } else { 0.0 };
        let weight = (5.0 * font).min(width * 0.16);
        let gap = font;
        let next_left = width - tail + 0.5 * gap;
        let strip = ((width - label - tail - weight - 3.0 * gap) / 2.0).max(24.0);
        let (keys, weights) = (label + 0.5 * gap, label + strip + 1.25 * gap);
        let values = weights + weight + 0.75 * gap;
        let drawn = self.width().clamp(1, MOST_DRAWN);
        let cell = strip / drawn as f64;
        let largest = |all: &[f32]| all.iter().fold(1e-9f32, |most, v| most.max(v.abs()));
        let (most_key, most_value) = (largest(&self.keys), largest(&self.values));
        // Queries and keys are compared number by number, but on scales of their own.
        let most_query = largest(&self.query);
        let strip_of = |pen: &mut Pen, all: &[f32], most: f32, x: f64, y: f64| {
            for (at, value) in all.iter().take(drawn).enumerate() {
                let left = x + at as f64 * cell;
                let color = colors.signed.at(value / most);
                write_rect(&mut pen.svg, left, y, cell, line - 3.0, color);
            }
        };
        let head = |pen: &mut Pen, hue, x: f64, text: &str| {
            pen.sized(hue, true, smaller(font), (x, 0.95 * font), Anchor::Start, text);
        };
        head(pen, Hue::Key, keys, "keys");
        head(pen, Hue::Query, weights, if weight > 4.2 * font { "weights" } else { "w" });
        head(pen, Hue::Value, values, "values");
        let heaviest = f64::from(largest(&self.weights));
        // The new token's query stands over the keys that it is compared with.
        let query_top = 1.45 * font;
        strip_of(pen, &self.query, most_query, keys, query_top);
        let stroke = Stroke { hue: Hue::Query, thick: 1.5, share: 0.0 };
        frame(pen, (keys, query_top), (strip, line - 3.0), stroke);
        let last = self.tokens.last().map_or(String::new(), |token| token::mark(token));
        pen.sized(Hue::Query, true, smaller(font), (0.0, query_top + font), Anchor::Start, "query");
        spots.push(Spot {
            place: [keys, query_top, strip, line - 3.0],
            words: format!("The query of ‘{last}’: it is compared with every key below."),
        });
        let row_top = |at: usize| top + (at + usize::from(hidden > 0)) as f64 * line;
        if self.tinted {
            let mut grounds = Grounds::default();
            let mut add = |token: &String, x: f64, y: f64| {
                grounds.add(token, (x, y), (token_width(token, font), line - 3.0));
            };
            for at in 0..shown {
                let token = &self.tokens[hidden + at];
                add(token, label + 0.25 * font - token_width(token, font), row_top(at));
            }
            if tail > 0.0 {
                for (at, (token, _)) in self.next.iter().enumerate() {
                    add(token, next_left - 0.25 * font, top + at as f64 * line);
                }
            }
            grounds.draw(pen);
        }
        for at in 0..shown {
            let row = hidden + at;
            let y = row_top(at);
            let base = y + 0.72 * line;
            let new = self.is_new(row);
            let name = token::short_mark(&self.tokens[row], LONGEST_NAME);
            let hue = if new { Hue::Ink } else { Hue::Muted };
            pen.mono(hue, row + 1 == count, (label, base), Anchor::End, &name);
            let d = self.width();
            let of = |all: &[f32]| all[row * d..(row + 1) * d].to_vec();
            strip_of(pen, &of(&self.keys), most_key, keys, y);
            strip_of(pen, &of(&self.values), most_value, values, y);
            let share = f64::from(self.weights[row]);
            let bar = (share / heaviest * weight).max(0.5);
            pen.shade(Hue::Query, (weights, y + 2.0), (bar, line - 7.0), 0.85);
            let state = if new { "computed now" } else { "kept" };
            for (x, all, what) in [(keys, &self.keys, "key"), (values, &self.values, "value")] {
                let numbers = of(all).iter().take(4).map(|v| decimals(*v, 3)).collect::<Vec<_>>();
                let more = if d > 4 { ", …" } else { "" };
                let words = format!(
                    "The {what} of ‘{name}’ ({}), {state}: {}{more}.",
                    row + 1,
                    numbers.join(", ")
                );
                spots.push(Spot { place: [x, y, strip, line - 3.0], words });
            }
            let words =
                format!("‘{last}’ gives ‘{name}’ ({}) a weight of {}.", row + 1, percent(share, 1));
            spots.push(Spot { place: [weights, y, weight, line - 3.0], words });
        }
        if hidden > 0 {
            let said = match self.anew {
                true => format!("{hidden} rows before these, computed again"),
                false => format!("{hidden} rows before these, kept"),
            };
            let at = (keys, top + 0.72 * line);
            pen.sized(Hue::Muted, false, smaller(font), at, Anchor::Start, &said);
        }
        // A frame round what was computed.
        let rows = if self.anew { shown } else { 1 };
        let first = top + (shown - rows + usize::from(hidden > 0)) as f64 * line;
        let size = (strip + 3.0, rows as f64 * line);
        let stroke = Stroke { hue: Hue::Output, thick: 2.0, share: 0.0 };
        for x in [keys, values] {
            frame(pen, (x - 1.5, first - 1.5), size, stroke);
        }
        if tail > 0.0 {
            let x = next_left;
            pen.sized(Hue::Output, true, smaller(font), (x, 0.95 * font), Anchor::Start, "next");
            let most = self.next.first().map_or(1.0, |next| next.1.max(f32::MIN_POSITIVE));
            let room = tail - next - 6.2 * font;
            for (at, (name, share)) in self.next.iter().enumerate() {
                let y = top + at as f64 * line;
                let base = y + 0.72 * line;
                let short = token::short_mark(name, LONGEST_NAME);
                pen.mono(Hue::Ink, at == 0, (x, base), Anchor::Start, &short);
                let long = (f64::from(share / most) * room).max(1.0);
                pen.shade(Hue::Output, (x + 1.6 * font + next, y + 2.0), (long, line - 7.0), 0.85);
                pen.text(Hue::Muted, false, (width, base), Anchor::End, &percent(*share, 1));
                let words = format!(
                    "Next may be ‘{}’: its share is {}.",
                    token::mark(name),
                    percent(*share, 2)
                );
                spots.push(Spot { place: [x, y, width - x, line - 3.0], words });
            }
        }
        spots
    }

    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new(&["token", "place", "state", "weight"]);
        let d = self.width();
        for what in ["key", "value"] {
            sheet.columns.extend((1..=d).map(|at| format!("{what}_{at}")));
        }
        for (row, name) in self.tokens.iter().enumerate() {
            let state = if self.is_new(row) { "computed" } else { "kept" };
            let mut cells =
                vec![json!(name), json!(row + 1), json!(state), exact(self.weights[row])];
            for all in [&self.keys, &self.values] {
                cells.extend(all[row * d..(row + 1) * d].iter().map(|value| exact(*value)));
            }
            sheet.rows.push(cells);
        }
        sheet
    }
}

/// An empty frame.
fn frame(pen: &mut Pen, (x, y): (f64, f64), (width, height): (f64, f64), stroke: Stroke) {
    let path = format!("M{x:.1} {y:.1}h{width:.1}v{height:.1}h{:.1}z", -width);
    pen.wire(stroke.hue, stroke.thick, &path);
}

#[cfg(test)]
mod tests {
    use super::{super::picture::keeps_to_its_room, *};

    fn told(count: u32, width: u32, dropped: u32) -> Cached {
        let of = |shape: &[u32]| {
            let size: u32 = shape.iter().product();
            let values = (0..size).map(|at| (at % 7) as f32 / 3.0 - 1.0).collect();
            Array { shape: shape.to_vec(), values }
        };
        Cached {
            tokens: (0..count).map(|at| ["a", " ", "\n"][at as usize % 3].to_owned()).collect(),
            dropped,
            blocks: 2,
            queries: of(&[2, 2, width]),
            keys: of(&[2, 2, count, width]),
            values: of(&[2, 2, count, width]),
            weights: of(&[2, 2, count]),
            vocabulary: ["a", "b", "c"].map(str::to_owned).to_vec(),
            shares: vec![0.2, 0.7, 0.1],
            difference: 1e-7,
            products: [10, 100],
        }
    }

    #[test]
    fn one_row_is_new_and_all_are_once_the_window_moves() {
        let rows = KeptRows::new(&told(5, 4, 0), 1, 1, false).unwrap();
        assert_eq!((0..5).filter(|&row| rows.is_new(row)).collect::<Vec<_>>(), [4]);
        let moved = KeptRows::new(&told(5, 4, 1), 1, 1, false).unwrap();
        assert!((0..5).all(|row| moved.is_new(row)));
        // The second block’s second head.
        let all = told(5, 4, 0);
        assert_eq!(rows.keys, all.keys.values[3 * 20..]);
        assert_eq!(rows.query, all.queries.values[3 * 4..]);
        assert_eq!(rows.next[0], ("b".to_owned(), 0.7));
        assert_eq!(KeptRows::new(&Cached { blocks: 0, ..all }, 0, 0, false), None);
    }

    #[test]
    fn the_drawing_keeps_to_its_room() {
        for (count, width, dropped) in [(1, 8, 0), (12, 16, 0), (48, 16, 3), (300, 128, 0)] {
            for tinted in [false, true] {
                let told = told(count, width, dropped);
                keeps_to_its_room(&KeptRows::new(&told, 0, 0, tinted).unwrap());
            }
        }
    }
}
