//! The drawing of one choice: the model's shares, what is left of them, and the number drawn.

use serde_json::json;
use unroll_protocol::gpt::{Sampling, SamplingError, choose, likeliest, shares};

use super::picture::{Drawing, Spot, smaller};
use crate::figures::{
    Hue, Sheet, exact,
    pen::{Anchor, MONO, Pen},
    percent,
    theme::Colors,
    tint::Grounds,
    token,
};

/// Pixels of the narrowest stretch that is drawn by itself.
const NARROWEST: f64 = 0.5;
/// Where the bars' scale may end, in percent: it moves in steps, not with every number.
const ENDS: [f32; 9] = [5.0, 10.0, 15.0, 25.0, 35.0, 50.0, 65.0, 80.0, 100.0];
/// Characters of the longest name of a token.
const LONGEST_NAME: usize = 12;
/// Ink of what the number falls on, and of the other bars and stretches.
const CHOSEN: f64 = 0.95;
const OTHER_BAR: f64 = 0.65;
const OTHER_STRETCH: f64 = 0.28;

/// The next token as it is about to be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Bets {
    pub vocabulary: Vec<String>,
    pub logits: Vec<f32>,
    /// The model's own shares.
    pub plain: Vec<f32>,
    /// The shares that the character is drawn from.
    pub left: Vec<f32>,
    /// Between 0 and 1.
    pub number: f64,
    /// What the number falls on.
    pub chosen: usize,
    /// Whether each token has a ground of its own, for it need not be a character.
    tinted: bool,
    /// Ids, the likeliest first.
    order: Vec<usize>,
    /// Where the stretch of each character begins, in order of their ids.
    starts: Vec<f64>,
}

impl Bets {
    pub fn new(
        vocabulary: Vec<String>,
        logits: Vec<f32>,
        sampling: &Sampling,
        number: f64,
        tinted: bool,
    ) -> Result<Self, SamplingError> {
        let plain = shares(&logits, &Sampling::PLAIN)?;
        let left = shares(&logits, sampling)?;
        let chosen = choose(&left, number);
        let order = likeliest(&logits);
        let start =
            |sum: &mut f64, share: &f32| Some(core::mem::replace(sum, *sum + f64::from(*share)));
        let starts = left.iter().scan(0.0, start).collect();
        Ok(Self { vocabulary, logits, plain, left, number, chosen, tinted, order, starts })
    }

    /// How many characters can still be drawn.
    pub fn kept(&self) -> usize {
        self.left.iter().filter(|share| **share > 0.0).count()
    }

    pub fn character(&self, id: usize) -> &str {
        self.vocabulary.get(id).map_or("", String::as_str)
    }

    /// As it is named where space is scarce.
    fn name(&self, id: usize) -> String {
        token::short_mark(self.character(id), LONGEST_NAME)
    }

    /// How many columns its name takes as the name of a row.
    fn columns(&self, id: usize) -> f64 {
        let name = self.name(id);
        token::word(&name).map_or_else(|| token::columns(&name), token::word_columns)
    }

    /// The stretch of 0 to 1 that a character has, in the order of the vocabulary.
    pub fn stretch(&self, id: usize) -> (f64, f64) {
        let before = self.starts[id];
        (before, before + f64::from(self.left[id]))
    }

    /// How surprising the model finds a character, in nats.
    pub fn surprise(&self, id: usize) -> f64 {
        -f64::from(self.plain[id]).ln()
    }

    /// Where the bars' scale ends, in percent: the first of a few at which each bar leaves so large a part of
    /// the scale free.
    fn end(&self, free: f64) -> Option<f32> {
        let largest = self.left.iter().chain(&self.plain).fold(0f32, |most, at| most.max(*at));
        let most = f64::from(100.0 * largest);
        ENDS.into_iter().find(|end| most <= f64::from(*end) * (1.0 - free) + 1e-4)
    }

    /// Whether there is nothing to draw for: one has all.
    pub fn is_certain(&self) -> bool {
        self.kept() == 1
    }

    /// What is said above the line, and the same where there is less room.
    fn captions(&self) -> [&'static str; 2] {
        match self.is_certain() {
            true => ["No draw here: the first choice has the whole line.", "No draw here."],
            false => [
                "All chances end to end, in the order of the vocabulary. The number falls on one:",
                "All chances, in the order of the vocabulary",
            ],
        }
    }

    fn words(&self, id: usize) -> String {
        let name = format!("‘{}’", token::mark(self.character(id)));
        let plain = percent(self.plain[id], 2);
        let start = format!("{name}: logit {:.3}, model’s share {plain}.", self.logits[id]);
        match self.left[id] {
            0.0 => format!("{start} Its chance is now 0, so it can’t be drawn."),
            left => format!("{start} Its chance of being drawn is {}.", percent(left, 2)),
        }
    }
}

impl Drawing for Bets {
    fn height(&self, _: f64, font: f64) -> f64 {
        11.0 * font
    }

    fn draw(&self, (width, height): (f64, f64), pen: &mut Pen, _: &Colors) -> Vec<Spot> {
        let font = pen.font;
        let mut spots = Vec::new();
        let strip_high = 2.0 * font;
        let strip_top = height - strip_high - 1.7 * font;
        let top = 1.8 * font;
        // Where there is hardly room for rows, they come before words about them.
        let caption_high = if height > 16.0 * font { 2.2 * font } else { 0.5 * font };
        // A line at the end says what the others have together.
        let line = if height > 16.0 * font { 1.65 } else { 1.4 } * font;
        let axis = 1.3 * font;
        let lines = (((strip_top - caption_high - top - axis) / line) as usize).max(2);
        let listed = if self.order.len() > lines { lines - 1 } else { self.order.len() };
        // A space comes and goes: there is always room for its name.
        let space = token::word_columns("space");
        let widest = self.order[..listed].iter().map(|&id| self.columns(id)).fold(space, f64::max);
        let label = (0.62 * widest + 1.0) * font;
        // A row's numbers stand between its name and its bar: the model's share and the chance.
        let number_wide = (4.6 * font).min(width * 0.2);
        let (model_end, chance_end) = (label + number_wide, label + 2.0 * number_wide);
        // Half of what is written below the scale's end stands beyond it.
        let (zero, clear) = (chance_end + 0.7 * font, width - 1.4 * font);
        // The number that is drawn stands behind the longest bar, too.
        let arrow = 6.0 * font;
        let room = (clear - zero).max(arrow + 20.0);
        let (scale_end, room) = match self.end(arrow / room) {
            Some(end) => (end, room),
            None => (100.0, room - arrow),
        };
        let long = |share: f32| f64::from(100.0 * share / scale_end) * room;
        let (certain, unchanged) = (self.is_certain(), self.left == self.plain);
        // The same numbers twice would ask what tells them apart: their room stays free until something does.
        if !unchanged {
            let at = (model_end, font);
            pen.sized(Hue::Muted, false, smaller(font), at, Anchor::End, "model");
        }
        pen.sized(Hue::Output, true, smaller(font), (chance_end, font), Anchor::End, "chance");
        let rest: Vec<usize> = self.order[listed..].to_vec();
        let listed_count = listed;
        let of = |all: &[f32], ids: &[usize]| ids.iter().map(|&id| all[id]).sum::<f32>();
        let listed = self.order[..listed].iter().map(|&id| vec![id]);
        let rows = listed.chain((!rest.is_empty()).then_some(rest));
        if self.tinted {
            let mut grounds = Grounds::default();
            for (at, &id) in self.order[..listed_count].iter().enumerate() {
                let wide = (0.62 * self.columns(id) + 0.5) * font;
                let high = (1.35 * font).min(line);
                let place =
                    (label - 0.45 * font - wide, top + (at as f64 + 0.5) * line - high / 2.0);
                grounds.add(self.character(id), place, (wide, high));
            }
            grounds.draw(pen);
        }
        let number = format!("{:.4}", self.number);
        let axis_top = top + listed_count as f64 * line;
        for share in [0.0, scale_end / 2.0, scale_end] {
            let x = zero + f64::from(share / scale_end) * room;
            pen.wire(Hue::Muted, 1.0, &format!("M{x:.1} {axis_top:.1}v{:.1}", 0.25 * font));
            let at = (x, axis_top + 1.15 * font);
            let said = format!("{share}%");
            pen.sized(Hue::Muted, false, smaller(font), at, Anchor::Middle, &said);
        }
        for (at, ids) in rows.enumerate() {
            // The others stand below the bars' scale.
            let below = if at < listed_count { 0.0 } else { axis };
            let middle = top + (at as f64 + 0.5) * line + below;
            let (plain, left) = (of(&self.plain, &ids), of(&self.left, &ids));
            let chosen = ids.contains(&self.chosen);
            let cut = left == 0.0;
            let (hue, one) = (if cut { Hue::Muted } else { Hue::Ink }, ids.len() == 1);
            let base = middle + 0.35 * font;
            if one {
                let name = self.name(ids[0]);
                let at = (label - 0.7 * font, base);
                match token::word(&name) {
                    Some(word) if chosen => {
                        pen.sized(hue, true, smaller(font), at, Anchor::End, word);
                    }
                    Some(word) => {
                        pen.sized(Hue::Muted, false, smaller(font), at, Anchor::End, word);
                    }
                    None => pen.mono(hue, chosen, at, Anchor::End, &name),
                }
            }
            let bar = line * 0.34;
            // The model's share above, what it is drawn with below. Others are no bar of their own:
            // theirs would be longer than any character's.
            let ink = if chosen { CHOSEN } else { OTHER_BAR };
            let end = if one {
                // Two that are equal are one.
                let high = if unchanged { 2.0 * bar } else { bar };
                if !unchanged {
                    pen.shade(Hue::Muted, (zero, middle - bar), (long(plain).max(1.0), bar), 0.45);
                }
                if !cut {
                    let size = (long(left).max(1.0), high);
                    pen.shade(Hue::Output, (zero, middle + bar - high), size, ink);
                }
                zero + long(plain.max(left))
            } else {
                let others = format!("{} others together", ids.len());
                pen.text(Hue::Muted, false, (zero, base), Anchor::Start, &others);
                zero + 0.55 * font * others.len() as f64
            };
            if chosen && !certain {
                // The number has this row. After many others, there is room for the arrow only.
                let fits = end + arrow < width + 0.01;
                let said = if fits { format!("← {number}") } else { "←".to_owned() };
                pen.text(Hue::Ink, true, (end + 0.5 * font, base), Anchor::Start, &said);
            }
            if !unchanged {
                pen.text(Hue::Muted, false, (model_end, base), Anchor::End, &percent(plain, 1));
            }
            let said = if cut { "0%".to_owned() } else { percent(left, 1) };
            pen.text(hue, chosen, (chance_end, base), Anchor::End, &said);
            let words = match ids.as_slice() {
                [id] => self.words(*id),
                ids => format!(
                    "The other {}: the model gives them {} in all. The chance that one of them is drawn is {}.",
                    ids.len(),
                    percent(plain, 2),
                    percent(left, 2)
                ),
            };
            spots.push(Spot { place: [0.0, middle - line / 2.0, width, line], words });
        }
        // The line from 0 to 1, cut into stretches in the order of the vocabulary.
        let fits = |caption: &&str| 0.52 * smaller(font) * caption.len() as f64 <= width;
        let caption = self.captions().into_iter().find(fits).filter(|_| caption_high > font);
        if let Some(caption) = caption {
            let at = (0.0, strip_top - 0.9 * font);
            pen.sized(Hue::Muted, false, smaller(font), at, Anchor::Start, caption);
        }
        // Stretches that are too narrow to be seen apart are drawn as one.
        let mut narrow = None::<(f64, f64)>;
        let together = |pen: &mut Pen, narrow: Option<(f64, f64)>| {
            if let Some((from, to)) = narrow {
                let size = ((to - from).max(0.2), strip_high);
                pen.shade(Hue::Output, (from, strip_top), size, OTHER_STRETCH);
            }
        };
        let tick = (!certain).then_some(self.number * width);
        for (id, share) in self.left.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let (from, to) = self.stretch(id);
            let (x, wide) = (from * width, (to - from) * width);
            if wide < NARROWEST && id != self.chosen {
                let from = narrow.map_or(x, |(from, _)| from);
                narrow = Some((from, x + wide));
                continue;
            }
            together(pen, narrow.take());
            let tint = if id == self.chosen { CHOSEN } else { OTHER_STRETCH };
            let gap = if wide > 4.0 { 1.0 } else { 0.0 };
            pen.shade(Hue::Output, (x, strip_top), ((wide - gap).max(0.2), strip_high), tint);
            let name = self.name(id);
            let room = (0.62 * token::columns(&name) + 0.78) * font;
            if let Some(middle) = clear_of(tick, (x, wide), room) {
                let at = (middle, strip_top + 0.65 * strip_high - token::raised(&name, font));
                match id == self.chosen {
                    true => on_fill(pen, at, &name),
                    false => pen.mono(Hue::Ink, false, at, Anchor::Middle, &name),
                }
            }
            if wide > 2.0 {
                let words = format!(
                    "‘{name}’ has the stretch from {from:.4} to {to:.4}: its chance of {}.",
                    percent(*share, 2)
                );
                let wide = wide.min(width - x);
                spots.push(Spot { place: [x, strip_top, wide, strip_high], words });
            }
        }
        together(pen, narrow);
        if let Some(x) = tick {
            let (low, high) = (strip_top - 0.45 * font, strip_top + strip_high + 0.45 * font);
            pen.wire(Hue::Ink, 2.5, &format!("M{x:.1} {low:.1}V{high:.1}"));
            let name = self.name(self.chosen);
            let said = format!("{number} → {}", token::word(&name).unwrap_or(&name));
            let half = 0.35 * font * token::columns(&said);
            let anchor = match x {
                x if x < half => Anchor::Start,
                x if x > width - half => Anchor::End,
                _ => Anchor::Middle,
            };
            pen.text(Hue::Ink, true, (x, high + font), anchor, &said);
        }
        spots
    }

    fn sheet(&self) -> Sheet {
        let mut sheet =
            Sheet::new(&["character", "logit", "share", "drawn_with", "from", "to", "chosen"]);
        let row = |&id: &usize| {
            let (from, to) = self.stretch(id);
            vec![
                json!(self.character(id)),
                exact(self.logits[id]),
                exact(self.plain[id]),
                exact(self.left[id]),
                json!(from),
                json!(to),
                json!(id == self.chosen),
            ]
        };
        sheet.rows = self.order.iter().map(row).collect();
        sheet
    }
}

/// The middle of a name that needs so much room in a stretch, if it has that: beside the tick, where that
/// would cover it.
fn clear_of(tick: Option<f64>, (x, wide): (f64, f64), room: f64) -> Option<f64> {
    let middle = x + wide / 2.0;
    let (middle, wide) = match tick {
        Some(tick) if (tick - middle).abs() < room / 2.0 && tick < x + wide && tick > x => {
            let (before, after) = (tick - x, x + wide - tick);
            if before > after { (x + before / 2.0, before) } else { (tick + after / 2.0, after) }
        }
        _ => (middle, wide),
    };
    (wide > room).then_some(middle)
}

/// Text on a full color.
fn on_fill(pen: &mut Pen, (x, y): (f64, f64), text: &str) {
    let (paper, font) = (pen.paint.paper(), pen.font);
    let text = crate::figures::svg::escape(text);
    pen.svg.push_str(&format!(
        r#"<text x="{x:.1}" y="{y:.1}" font-size="{font:.1}" font-family="{MONO}" font-weight="650" text-anchor="middle" fill="{paper}">{text}</text>"#
    ));
}

#[cfg(test)]
mod tests {
    use super::{
        super::picture::{keeps_to_its_room, shapes},
        *,
    };

    pub fn bets(sampling: Sampling, number: f64) -> Bets {
        let vocabulary: Vec<String> =
            "\u{fffd}\n abcdefghijklmnopqrstuvwxyz".chars().map(String::from).collect();
        let logits = (0..vocabulary.len()).map(|at| 3.0 - 0.4 * ((at * 7) % 29) as f32).collect();
        Bets::new(vocabulary, logits, &sampling, number, false).unwrap()
    }

    #[test]
    fn a_vocabulary_of_many_thousands_is_drawn_with_a_few_shapes() {
        let vocabulary: Vec<String> = (0..50_000).map(|id| format!("t{id}")).collect();
        let logits = (0..50_000).map(|id| if id % 9_999 == 0 { 9.0 } else { 0.0 }).collect();
        let many = Bets::new(vocabulary, logits, &Sampling::PLAIN, 0.7, false).unwrap();
        let last = many.stretch(49_999).1;
        assert!((last - 1.0).abs() < 1e-4, "{last}");
        assert!(shapes(&many) < 120, "{}", shapes(&many));
        keeps_to_its_room(&many);
    }

    #[test]
    fn what_is_drawn_is_what_the_engine_would_draw() {
        let plain = bets(Sampling::PLAIN, 0.5);
        assert_eq!(plain.left, plain.plain);
        assert_eq!(plain.kept(), plain.vocabulary.len());
        let (from, to) = plain.stretch(plain.chosen);
        assert!((from..to).contains(&0.5));
        let greedy = bets(Sampling::GREEDY, 0.99);
        assert_eq!((greedy.kept(), greedy.chosen), (1, greedy.order[0]));
        let cut = bets(Sampling { top_k: 4, ..Sampling::PLAIN }, 0.99);
        assert_eq!(cut.kept(), 4);
        assert!(cut.words(cut.order[5]).contains("can’t be drawn"));
        assert!(cut.left[cut.order[0]] > cut.plain[cut.order[0]]);
        let diverged = Bets::new(vec!["a".into()], vec![f32::NAN], &Sampling::PLAIN, 0.5, false);
        assert!(diverged.unwrap_err().to_string().contains("diverged"));
    }

    #[test]
    fn a_name_stands_beside_the_tick() {
        assert_eq!(clear_of(None, (10.0, 40.0), 20.0), Some(30.0));
        assert_eq!(clear_of(Some(12.0), (10.0, 40.0), 20.0), Some(30.0));
        assert_eq!(clear_of(Some(28.0), (10.0, 40.0), 20.0), Some(39.0));
        assert_eq!(clear_of(Some(36.0), (10.0, 40.0), 20.0), Some(23.0));
        assert_eq!(clear_of(Some(30.0), (10.0, 40.0), 30.0), None);
        assert_eq!(clear_of(Some(60.0), (10.0, 15.0), 20.0), None);
    }

    #[test]
    fn nothing_is_drawn_for_where_one_has_all() {
        let arrows = |bets: &Bets| {
            use crate::figures::{color::Palette, pen::Paint};
            let mut pen = Pen::new(14.0, Paint::of(&Palette::LIGHT));
            bets.draw((1100.0, 620.0), &mut pen, &Colors::new(&Palette::LIGHT));
            pen.svg.matches(['←', '→']).count()
        };
        assert_eq!(arrows(&bets(Sampling::PLAIN, 0.5)), 2, "at the row and at the line");
        assert_eq!(arrows(&bets(Sampling::GREEDY, 0.5)), 0);
    }

    #[test]
    fn the_number_stands_at_the_end_of_every_bar() {
        use crate::figures::{color::Palette, pen::Paint};
        let sure = bets(Sampling { temperature: 0.1, ..Sampling::PLAIN }, 0.5);
        for width in [288.0, 366.0, 900.0] {
            let mut pen = Pen::new(12.0, Paint::of(&Palette::LIGHT));
            sure.draw((width, 248.0), &mut pen, &Colors::new(&Palette::LIGHT));
            assert!(pen.svg.contains("← 0.5000"), "{width}");
        }
    }

    #[test]
    fn the_bars_keep_their_scale_until_one_outgrows_it() {
        let plain = bets(Sampling::PLAIN, 0.5);
        let with = |share: f32, free: f64| {
            Bets { left: vec![share], plain: vec![0.0], ..plain.clone() }.end(free)
        };
        let ends = [0.02, 0.1, 0.11, 0.3, 0.51, 1.0].map(|share| with(share, 0.0));
        assert_eq!(ends, [5.0, 10.0, 15.0, 35.0, 65.0, 100.0].map(Some));
        assert_eq!([with(0.51, 0.25), with(0.9, 0.25)], [Some(80.0), None]);
    }

    #[test]
    fn the_drawing_keeps_to_its_room() {
        for number in [0.0, 0.5, 0.9999] {
            keeps_to_its_room(&bets(Sampling::PLAIN, number));
            keeps_to_its_room(&bets(Sampling::GREEDY, number));
            let cut = bets(Sampling { top_p: 0.6, ..Sampling::PLAIN }, number);
            keeps_to_its_room(&Bets { tinted: true, ..cut });
        }
    }
}
