//! Text with a bar over each character, as tall as the character is surprising.

use std::collections::BTreeMap;

use serde_json::json;

use super::{
    picture::{Drawing, SMALLEST, Spot, smaller},
    wrap::{Stand, wrapped},
};
use crate::figures::{
    Hue, Sheet, exact,
    pen::{Anchor, Pen},
    percent,
    theme::Colors,
    tint::Grounds,
    token,
};

/// The surprise of the tallest bar, in nats: a share of a quarter of a percent.
const TALLEST: f32 = 6.0;

/// One token of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    pub token: String,
    /// In nats; `None` where nothing was guessed.
    pub surprise: Option<f32>,
    /// What the model bet on most in its place, and with which share.
    pub expected: Option<(String, f32)>,
}

/// A stretch of text with what is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// What it is called; nothing where there is one passage only.
    pub name: String,
    /// What is measured of it; each part has its line where there is room beside the text.
    pub notes: Vec<String>,
    pub letters: Vec<Letter>,
}

impl Passage {
    /// The mean surprise of its tokens, in nats.
    pub fn mean(&self) -> Option<f64> {
        let known: Vec<f64> =
            self.letters.iter().filter_map(|letter| letter.surprise.map(f64::from)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }
}

/// Texts under each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Skyline {
    pub passages: Vec<Passage>,
    /// So many tokens each passage will have, or more: it has their room while it is written.
    pub planned: usize,
    /// Whether each token has a ground of its own, for it need not be a character.
    pub tinted: bool,
}

/// Sizes that follow from the width and the text's size.
struct Layout {
    cell: f64,
    bar: f64,
    line: f64,
    /// Where text begins, and how much of it stands in a line.
    left: f64,
    /// In cells: a token takes as many as its mark has columns.
    fit: usize,
    gap: f64,
    /// Of what is said of a text, only so many parts are: the last.
    notes: usize,
    /// In cells: what a token takes beyond its letters.
    more: f64,
    /// Only so many lines of each text are shown.
    most: usize,
    /// See [`Skyline::planned`].
    planned: usize,
}

/// Characters of the longest name of a token.
const LONGEST_NAME: usize = 12;
/// A letter's width, as a share of the font.
const LETTER: f64 = 0.6;
/// Cells beside the letters of a token that has a ground.
const BESIDE: f64 = 0.4;
/// Letters of a token that need not be a character, about.
const LETTERS: f64 = 3.0;

impl Skyline {
    fn layout(&self, width: f64, font: f64) -> Layout {
        let named = self.passages.iter().any(|passage| !passage.name.is_empty());
        // Names stand beside their texts. On a phone there is little room for them.
        let (left, gap, notes) = match width > 42.0 * font {
            _ if !named => (0.0, 0.0, 0),
            true => (11.0 * font, 0.7 * font, usize::MAX),
            false => (8.5 * font, 0.1 * font, 1),
        };
        let cell = 0.66 * font;
        let bar = if named { 0.9 * font } else { 1.7 * font };
        Layout {
            cell,
            bar,
            line: bar + 1.6 * font,
            left,
            fit: (((width - left) / cell) as usize).max(8),
            gap,
            notes,
            more: if self.tinted { BESIDE } else { 0.0 },
            most: usize::MAX,
            planned: self.planned,
        }
    }

    /// How high all of it is.
    fn tall(&self, layout: &Layout) -> f64 {
        let high = |passage: &Passage| lines(passage, layout) * layout.line + layout.gap;
        self.passages.iter().map(high).sum::<f64>().max(layout.line)
    }

    /// The layout for a room: with letters as large as fit, and never too small to read. Small letters need
    /// fewer lines. In a room too low for those, texts beside their names end early, all after as many lines.
    fn fitting(&self, (width, height): (f64, f64), font: f64) -> (Layout, f64) {
        let sizes = [1.5, 1.35, 1.2, 1.1, 1.0, 0.9, 0.8, 0.7].map(|zoom| zoom * font);
        let layouts = sizes.into_iter().filter(|size| *size >= SMALLEST);
        let layouts = layouts.map(|size| (self.layout(width, size), size));
        if let Some(whole) = layouts.into_iter().find(|(layout, _)| self.tall(layout) <= height) {
            return whole;
        }
        let mut layout = self.layout(width, SMALLEST);
        if layout.left > 0.0 {
            layout.most =
                self.passages.iter().map(|text| lines(text, &layout) as usize).max().unwrap_or(1);
            while layout.most > 1 && self.tall(&layout) > height {
                layout.most -= 1;
            }
        }
        (layout, SMALLEST)
    }
}

/// Where each letter of a passage stands: see [`wrapped`].
fn places(passage: &Passage, layout: &Layout, last: Option<usize>) -> Vec<Stand> {
    let whole = layout.fit as f64;
    let wide = |letter: &Letter| (token::columns(&name(letter)) + layout.more).min(whole);
    let tokens = passage.letters.iter().map(|letter| (&*letter.token, wide(letter)));
    wrapped(&tokens.collect::<Vec<_>>(), whole, last)
}

/// Lines that a passage takes: those that are shown, and those that are still to be written.
fn lines(passage: &Passage, layout: &Layout) -> f64 {
    let written = places(passage, layout, None).last().map_or(1, |(line, ..)| line + 1);
    let letters = if layout.more > 0.0 { LETTERS } else { 1.0 };
    let to_come = match passage.letters.len() < layout.planned {
        true => (letters + layout.more) * layout.planned as f64 / layout.fit as f64,
        false => 0.0,
    };
    written.max(to_come.ceil() as usize).min(layout.most) as f64
}

/// A letter as it stands in its cells: a space as the gap that it is in a text.
fn name(letter: &Letter) -> String {
    token::short_mark(&letter.token, LONGEST_NAME).replace('␣', " ")
}

/// Spaces and the like stand back.
fn hue_of(muted: bool) -> Hue {
    if muted { Hue::Muted } else { Hue::Ink }
}

/// The only letter of a name, if it looks the same whatever stands before and after it.
fn alone(name: &str) -> Option<char> {
    let mut letters = name.chars();
    let plain = |c: &char| c.is_ascii_graphic() || "⏎⇥".contains(*c) || ('¡'..='ʯ').contains(c);
    letters.next().filter(plain).filter(|_| letters.next().is_none())
}

fn words(letter: &Letter) -> String {
    let name = format!("‘{}’", token::mark(&letter.token));
    let Some(surprise) = letter.surprise else {
        return format!("{name} comes first: the model was not asked to guess it.");
    };
    let share = percent((-f64::from(surprise)).exp(), 2);
    let start = format!("{name}: share {share}, surprise {surprise:.2} nats.");
    match &letter.expected {
        Some((best, _)) if *best == letter.token => {
            format!("{start} It was the model’s first guess.")
        }
        Some((best, share)) => {
            let best = token::mark(best);
            format!("{start} The model’s first guess was ‘{best}’ with {}.", percent(*share, 1))
        }
        None => start,
    }
}

impl Drawing for Skyline {
    fn height(&self, width: f64, font: f64) -> f64 {
        let mut layout = self.layout(width, font.min(SMALLEST));
        if layout.left > 0.0 {
            layout.most = 1;
        }
        self.tall(&layout)
    }

    fn draw(&self, (width, height): (f64, f64), pen: &mut Pen, _: &Colors) -> Vec<Spot> {
        let (mut layout, font) = self.fitting((width, height), pen.font);
        pen.font = font;
        // What is left makes the bars taller: then they are easier to compare.
        let count: f64 = self.passages.iter().map(|passage| lines(passage, &layout)).sum();
        let tallest = if self.passages.len() == 1 { 3.5 } else { 2.0 } * font;
        let room = height - self.tall(&layout);
        layout.bar += (room / count.max(1.0)).clamp(0.0, tallest - layout.bar);
        layout.line = layout.bar + 1.6 * font;
        let mut spots = Vec::new();
        let mut top = 0.0;
        for passage in &self.passages {
            if layout.left > 0.0 {
                // Three lines are as high as the lowest row is.
                let mut base = top + layout.bar - 0.15 * font;
                // Where nothing is written yet the name alone stands, quietly.
                let is_there = !passage.letters.is_empty();
                pen.text(hue_of(!is_there), is_there, (0.0, base), Anchor::Start, &passage.name);
                let unsaid = passage.notes.len().saturating_sub(layout.notes);
                for part in &passage.notes[unsaid..] {
                    base += 1.05 * font;
                    let at = (0.0, base);
                    pen.sized(Hue::Muted, false, smaller(font), at, Anchor::Start, part);
                }
            }
            let most = layout.most;
            let is_shown = |stand: &Stand| stand.0 < most;
            let whole = places(passage, &layout, None);
            let is_cut = !whole.iter().all(is_shown);
            let stands = if is_cut { places(passage, &layout, most.checked_sub(1)) } else { whole };
            let placed = || passage.letters.iter().zip(stands.iter().copied().filter(is_shown));
            if self.tinted {
                let mut grounds = Grounds::default();
                for (letter, (line, before, cells)) in placed() {
                    let x = layout.left + before * layout.cell;
                    let y = top + line as f64 * layout.line + layout.bar + 0.1 * font;
                    let size = (cells * layout.cell, 1.35 * font);
                    grounds.add(&letter.token, (x, y), size);
                }
                grounds.draw(pen);
            }
            // By line, spaces and the like apart.
            let mut singles = BTreeMap::<(usize, bool), Vec<(f64, char)>>::new();
            let base = |line: usize| top + line as f64 * layout.line + layout.bar + 1.1 * font;
            for (letter, (line, before, cells)) in placed() {
                let x = layout.left + before * layout.cell;
                let y = top + line as f64 * layout.line;
                let wide = cells * layout.cell;
                let ground = y + layout.bar;
                if let Some(surprise) = letter.surprise {
                    let share = f64::from((surprise / TALLEST).clamp(0.0, 1.0));
                    let high = (share * layout.bar).max(1.0);
                    let size = (wide - 1.0, high);
                    pen.shade(Hue::Gradient, (x, ground - high), size, 0.4 + 0.6 * share);
                }
                let (mark, muted) = (name(letter), letter.token.trim().is_empty());
                // Gaps at its ends take their room, and are nothing to be drawn.
                let drawn = mark.trim_matches(' ');
                let ends = [mark.trim_end_matches(' '), mark.trim_start_matches(' ')];
                let [end, start] = ends.map(|rest| rest.len() as f64 / 2.0);
                let middle = x + wide / 2.0 + LETTER * font * (end - start);
                match alone(drawn) {
                    _ if drawn.is_empty() => {}
                    Some(letter) => {
                        singles.entry((line, muted)).or_default().push((middle, letter));
                    }
                    None => {
                        let at = (middle, base(line));
                        pen.mono(hue_of(muted), false, at, Anchor::Middle, drawn);
                    }
                }
                let place = [x, y, wide, layout.line];
                spots.push(Spot { place, words: words(letter) });
            }
            for ((line, muted), letters) in singles {
                pen.letters(hue_of(muted), base(line), &letters);
            }
            if is_cut {
                let end = placed().last().map_or(0.0, |(_, (_, before, cells))| before + cells);
                let at = (layout.left + (end + 0.5) * layout.cell, base(most - 1));
                pen.text(Hue::Muted, false, at, Anchor::Start, "…");
            }
            top += lines(passage, &layout) * layout.line + layout.gap;
        }
        spots
    }

    fn sheet(&self) -> Sheet {
        let mut sheet =
            Sheet::new(&["character", "text", "place", "surprise", "expected", "share"]);
        for passage in &self.passages {
            for (at, letter) in passage.letters.iter().enumerate() {
                sheet.rows.push(vec![
                    json!(letter.token),
                    json!(passage.name),
                    json!(at + 1),
                    letter.surprise.map_or(json!(null), exact),
                    letter.expected.as_ref().map_or(json!(null), |(best, _)| json!(best)),
                    letter.expected.as_ref().map_or(json!(null), |(_, share)| exact(*share)),
                ]);
            }
        }
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::{super::picture::keeps_to_its_room, *};

    fn passage(name: &str, length: usize) -> Passage {
        let letter = |at: usize| Letter {
            token: ["t", " ", "\n", "w"][at % 4].to_owned(),
            surprise: (at > 0).then_some(at as f32 % 9.0),
            expected: (at > 0 && at.is_multiple_of(2)).then(|| ("\n".to_owned(), 0.25)),
        };
        Passage {
            name: name.to_owned(),
            notes: vec!["mean 2.00".to_owned()],
            letters: (0..length).map(letter).collect(),
        }
    }

    #[test]
    fn texts_keep_to_their_room() {
        keeps_to_its_room(&Skyline { passages: vec![passage("", 700)], planned: 0, tinted: false });
        let mut long = passage("", 90);
        for (at, letter) in long.letters.iter_mut().enumerate() {
            letter.token = [" the", "⟨E4⟩⟨B8⟩", "世界", "incomprehensibly"][at % 4].to_owned();
        }
        let of = |tinted| Skyline { passages: vec![long.clone()], planned: 0, tinted };
        let layout = Layout { fit: 20, ..of(false).layout(800.0, 14.0) };
        let first = [(0, 0.0, 4.0), (0, 4.0, 8.0), (0, 12.0, 3.4)];
        assert_eq!(places(&long, &layout, None)[..3], first);
        keeps_to_its_room(&of(false));
        keeps_to_its_room(&of(true));
        let seven = (0..7).map(|at| passage(&format!("Way {at}"), 80)).collect();
        keeps_to_its_room(&Skyline { passages: seven, planned: 80, tinted: true });
    }

    #[test]
    fn texts_beside_their_names_end_early_in_a_low_room() {
        let seven = (0..7).map(|at| passage(&format!("Way {at}"), 120)).collect();
        let skyline = Skyline { passages: seven, planned: 80, tinted: false };
        assert!(skyline.height(676.0, 12.0) <= 304.0);
        let (layout, font) = skyline.fitting((676.0, 304.0), 12.0);
        assert_eq!((layout.most, font), (1, SMALLEST));
        assert!(skyline.tall(&layout) <= 304.0);
        // On a phone all seven are in sight.
        assert!(skyline.height(366.0, 12.0) <= 220.0, "{}", skyline.height(366.0, 12.0));
    }

    #[test]
    fn what_is_to_be_written_has_its_room() {
        let room = |lengths: [usize; 2]| {
            let passages = lengths.map(|length| passage("Way", length)).to_vec();
            Skyline { passages, planned: 80, tinted: false }.fitting((800.0, 300.0), 14.0).1
        };
        let full = room([80, 80]);
        assert_eq!([room([0, 0]), room([80, 3])], [full; 2]);
    }

    #[test]
    fn tokens_have_grounds_only_where_they_need_not_be_characters() {
        let mut mixed = passage("", 4);
        for (letter, token) in mixed.letters.iter_mut().zip([" the", " cat", " the", "s"]) {
            letter.token = token.to_owned();
        }
        let drawn = |tinted| {
            let paint = crate::figures::pen::Paint::of(&crate::figures::color::Palette::LIGHT);
            let mut pen = Pen::new(14.0, paint);
            let colors = Colors::new(&crate::figures::color::Palette::LIGHT);
            let skyline = Skyline { passages: vec![mixed.clone()], planned: 0, tinted };
            let spots = skyline.draw((800.0, 300.0), &mut pen, &colors);
            let grounds: Vec<String> =
                pen.svg.split("<path class=\"grounds\"").skip(1).map(str::to_owned).collect();
            let places = |path: &String| {
                let path = path.split_once("/>").map_or("", |(path, _)| path);
                path.matches('M').count()
            };
            let all: usize = grounds.iter().map(places).sum();
            (all, spots[0].place[2])
        };
        let (plain, tinted) = (drawn(false), drawn(true));
        assert_eq!((plain.0, tinted.0), (0, 4), "one for each token");
        assert!(tinted.1 > plain.1, "and room around its letters");
    }

    #[test]
    fn single_letters_of_a_line_are_one_text() {
        let mut mixed = passage("", 8);
        for (letter, token) in
            mixed.letters.iter_mut().zip(["t", "h", "e", " ", "😀", "&", "é", "in"])
        {
            letter.token = token.to_owned();
        }
        let paint = crate::figures::pen::Paint::of(&crate::figures::color::Palette::LIGHT);
        let mut pen = Pen::new(14.0, paint);
        let colors = Colors::new(&crate::figures::color::Palette::LIGHT);
        Skyline { passages: vec![mixed], planned: 0, tinted: false }.draw(
            (800.0, 300.0),
            &mut pen,
            &colors,
        );
        let texts: Vec<&str> = pen.svg.split("<text").skip(1).collect();
        assert_eq!(texts.len(), 3, "the emoji, “in”, letters; a space is a gap: {texts:?}");
        let letters = texts.iter().find(|text| text.contains(">the&amp;é<")).expect("in one");
        let places = letters.split('"').nth(1).expect("x");
        assert_eq!(places.split(' ').count(), 5, "each has its place");
    }

    #[test]
    fn letters_say_what_was_expected() {
        let all = passage("", 5).letters;
        assert!(words(&all[0]).contains("was not asked"));
        assert_eq!(words(&all[1]), "‘␣’: share 36.79%, surprise 1.00 nats.");
        assert!(words(&all[2]).ends_with("It was the model’s first guess."));
        assert!(words(&all[4]).ends_with("first guess was ‘⏎’ with 25.0%."));
        let mean = passage("", 5).mean().unwrap();
        assert!((mean - 2.5).abs() < 1e-9);
    }
}
