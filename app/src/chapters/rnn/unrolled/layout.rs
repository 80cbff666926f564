//! Where things are in the diagram: it fills the room it is given.

use crate::figures::motion::Between;

/// Narrowest column, in which four letters with their bars can still be read.
const NARROWEST: f64 = 46.0;
/// Narrowest column where that brings the whole sentence into view; its bars lie under their letters.
const TIGHT: f64 = 24.0;
/// Widest column for each pixel of height: a single cell should not become a billboard, and the first
/// columns to be unrolled should leave those before them where they are.
const WIDEST: f64 = 0.3;
/// Room for the names of the rows, which stay in sight.
pub const NAMES: f64 = 68.0;
/// Most columns that have a list of what is expected; of more, each has the likeliest alone.
pub const MOST_LISTED: usize = 10;
/// Size of that one's letter, and of the truth over it.
const ALONE: f64 = 16.0;
/// What is free to the right of the last column.
const TAIL: f64 = 8.0;
/// Least height of a strip, as a share of the whole; less for the truth's sake.
const TALL: f64 = 0.38;
const TALL_WITH_TRUTH: f64 = 0.33;
/// Height of the loss's row, in letters.
const LOSS: f64 = 1.4;
/// Between the loop's words and what is still to come.
const CLEAR: f64 = 24.0;
/// Narrowest place of a column to come, and how few of them are no promise if they are not all.
const SLIMMEST: f64 = 12.0;
const FEW: usize = 11;
/// The same of a band over the whole width, and the least height of a figure that has one.
const THINNEST: f64 = 6.5;
const BAND_FROM: f64 = 192.0;
/// Least height of a strip above a band, as a share of the whole.
const TALL_WITH_BAND: f64 = 0.2;
/// Where a column is wide enough for whole words beside its numbers.
const ROOMY: f64 = 78.0;

/// Lengths in pixels. A column is a copy of the cell, its strip half as wide as itself and in its
/// middle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layout {
    /// Columns laid out.
    pub unrolled: usize,
    /// Whether the loop follows them.
    pub folded: bool,
    pub column: f64,
    /// Where the first column begins.
    pub left: f64,
    pub height: f64,
    /// Size of the letters.
    pub text: f64,
    /// Rows around the expectations for which there is room: the truth above, then the loss below.
    pub heads: usize,
    pub bars: usize,
    /// Whether the likeliest output stands alone, with no bars.
    pub one_guess: bool,
    /// Size of the truth's letters and, where it stands alone, of the guess's.
    pub told_size: f64,
    pub bars_y: f64,
    pub bar_height: f64,
    /// What is free below the expectations and the loss, so that the arrow to them does not touch their letters.
    pub free: f64,
    pub strip_y: f64,
    pub strip_height: f64,
    pub token_y: f64,
    pub token_size: f64,
    /// Where the bars begin that say how far an edit moved a state.
    pub moved_y: f64,
    /// Columns for which there is a place beside the loop, one every `pitch`: those to come, and of a
    /// loop alone, which reads them all, every one.
    pub ahead: usize,
    pub pitch: f64,
    /// Where they begin, and their strips' height.
    pub ahead_x: f64,
    pub ahead_y: f64,
    pub ahead_height: f64,
    /// Whether they are a band below the cell instead, where there is no room beside it for all.
    pub banded: bool,
}

impl Layout {
    /// Of so many columns of the `length` that there are, within a box of this size; with a row for how
    /// far the states moved where something is `edited`, and with `one_guess` over each, or a list.
    pub fn new(
        width: f64,
        height: f64,
        (unrolled, length): (usize, usize),
        edited: bool,
        one_guess: bool,
    ) -> Self {
        let height = height.max(120.0).floor();
        let folded = unrolled < length;
        let column = {
            let whole = NAMES + TIGHT * (1 + length) as f64 + TAIL;
            let narrowest = if whole <= width { TIGHT } else { NARROWEST };
            // The state before the first takes as much as a column, the loop almost two.
            let taken = |column: f64| {
                let of_loop = if folded { column + loop_of(column) } else { TAIL };
                NAMES + column * (1 + unrolled) as f64 + of_loop
            };
            let mut column = (WIDEST * height).max(NARROWEST);
            while column > narrowest && taken(column) > width {
                column -= 2.0;
            }
            // Even, so that a strip's edges are whole pixels.
            (column.max(narrowest) / 2.0).floor() * 2.0
        };
        let free = width - NAMES - column * (2 + unrolled) as f64 - loop_of(column);
        let alone = unrolled == 0 && folded;
        let to_come = if alone { length } else { length.saturating_sub(unrolled + 1) };
        let room = (free - CLEAR - TAIL).max(0.0);
        let beside = |few: usize| match (room / SLIMMEST) as usize {
            most if most < few.min(to_come) => 0,
            most => most.min(to_come),
        };
        let banded = alone
            && beside(length) == 0
            && !edited
            && height >= BAND_FROM
            && width >= THINNEST * length as f64;
        let ahead = if banded { length } else { beside(FEW) };
        let pitch = match ahead {
            0 => column,
            _ if banded => (width / length as f64).min(column),
            _ => (room / to_come as f64).clamp(SLIMMEST, column),
        };
        // With nothing beside it, a cell alone stands in the middle; the first copy pushes it aside.
        let in_middle = alone && (banded || ahead == 0);
        let aside = if in_middle { (free / 2.0).max(0.0).floor() } else { 0.0 };
        let left = NAMES + column + aside;
        let text = (0.025 * height).min(0.27 * column).clamp(13.0, 20.0).floor();
        // Where bars lie under their letters, both need the height.
        let least = if column < NARROWEST { text + 5.0 } else { text + 1.0 };
        let told_size = if one_guess { ALONE.min(0.075 * height).max(text) } else { text };
        let bar_height = match one_guess {
            true => (1.2 * told_size).round(),
            false => (0.034 * height).clamp(least, text + 6.0).floor(),
        };
        let gap = (0.07 * height).clamp(18.0, 48.0).floor();
        let token_size = (0.085 * height).clamp(24.0, 48.0).min(column - 8.0).floor();
        let free = (0.04 * height - 8.0).clamp(0.0, text).floor();
        let band = (0.18 * height).clamp(24.0, 72.0).floor();
        let below = gap
            + token_size
            + match edited {
                true => 18.0 + 1.1 * text,
                false if banded => 4.0 + band + 1.5 * text,
                false => 4.0,
            };
        let above = |heads: usize, bars: usize| {
            let truth = if heads > 0 { 1.5 * told_size } else { 0.0 };
            let bars_y = (1.4 * text + truth).round();
            let loss = if heads > 1 { LOSS * text } else { 0.0 };
            (bars_y, (bars_y + bar_height * bars as f64 + loss + free + gap).round())
        };
        // The state comes first: where it has little room, less stands above it. The truth stays
        // longest, for what is expected is compared with it.
        let ways: &[(usize, usize)] = match banded {
            true => &[(0, 4), (0, 3)],
            false if one_guess => &[(2, 1), (1, 1)],
            false => &[(2, 4), (2, 3), (2, 2), (1, 3), (1, 2), (1, 1), (0, 2)],
        };
        let tall = |&&(heads, bars): &&(usize, usize)| {
            let least = match heads {
                _ if banded => TALL_WITH_BAND,
                1 => TALL_WITH_TRUTH,
                _ => TALL,
            };
            height - above(heads, bars).1 - below >= least * height
        };
        let least = if one_guess { (0, 1) } else { (0, 2) };
        let (heads, bars) = ways.iter().find(tall).copied().unwrap_or(least);
        let (bars_y, strip_y) = above(heads, bars);
        let strip_height = (height - strip_y - below).max(32.0);
        let token_y = strip_y + strip_height + gap;
        let (ahead_x, ahead_y, ahead_height) = match banded {
            true => ((width - pitch * length as f64) / 2.0, token_y + token_size + 2.0, band),
            false => {
                let loop_end = left + column * (unrolled + 1) as f64 + loop_of(column);
                (loop_end + CLEAR, strip_y, strip_height)
            }
        };
        Self {
            unrolled,
            folded,
            column,
            left,
            height,
            text,
            heads,
            bars,
            one_guess,
            told_size,
            bars_y,
            bar_height,
            free,
            strip_y,
            strip_height,
            token_y,
            token_size,
            moved_y: token_y + token_size + 6.0,
            ahead,
            pitch,
            ahead_x,
            ahead_y,
            ahead_height,
            banded,
        }
    }

    /// For pictures of their own, whatever the window's size.
    pub fn of_picture(unrolled: usize, length: usize, edited: bool) -> Self {
        let of_loop = match unrolled {
            0 => 290.0 + 20.0 * length as f64,
            _ if unrolled < length => 160.0,
            _ => TAIL,
        };
        let width = NAMES + 84.0 * (1 + unrolled) as f64 + of_loop;
        Self::new(width, 400.0, (unrolled, length), edited, false)
    }

    /// The state's strip within its column.
    pub fn strip_x(&self) -> f64 {
        self.column / 4.0
    }

    pub fn strip_width(&self) -> f64 {
        self.column / 2.0
    }

    pub fn middle(&self) -> f64 {
        self.column / 2.0
    }

    /// Half the height of a strip.
    pub fn strip_middle(&self) -> f64 {
        self.strip_y + self.strip_height / 2.0
    }

    /// Where the expectations end.
    pub fn bars_end(&self) -> f64 {
        self.bars_y + self.bar_height * self.bars as f64
    }

    /// Where all that is read out ends, the loss with it.
    pub fn output_end(&self) -> f64 {
        self.bars_end() + if self.heads > 1 { LOSS * self.text } else { 0.0 }
    }

    /// Where the arrow to it ends.
    pub fn arrow_end(&self) -> f64 {
        self.output_end() + self.free
    }

    /// Rows around the expectations that say something. A loop alone is there to be followed.
    pub fn told(&self) -> usize {
        if self.unrolled == 0 { 0 } else { self.heads }
    }

    /// Where a column begins.
    pub fn x_of(&self, column: usize) -> f64 {
        self.left + self.column * column as f64
    }

    /// Middle of the column before the first, at whose right the state before the first step stands.
    pub fn start(&self) -> f64 {
        self.left - self.column / 2.0
    }

    /// How far the loop reaches to the right of its strip.
    pub fn loop_reach(&self) -> f64 {
        loop_of(self.column)
    }

    /// Where the loop with its words ends.
    fn loop_end(&self) -> f64 {
        self.x_of(self.unrolled + 1) + self.loop_reach()
    }

    /// Middles of the columns to come.
    fn middles(&self) -> impl Iterator<Item = f64> {
        let from = self.ahead_x + self.pitch / 2.0;
        (0..self.ahead).map(move |i| from + self.pitch * i as f64)
    }

    /// The step that the first of them is of, from 0.
    pub fn first_ahead(&self) -> usize {
        if self.unrolled == 0 { 0 } else { self.unrolled + 1 }
    }

    /// Where the strips of the columns to come begin.
    pub fn strips_ahead(&self) -> impl Iterator<Item = f64> {
        let half = self.width_ahead() / 2.0;
        self.middles().map(move |x| (x - half).round())
    }

    pub fn width_ahead(&self) -> f64 {
        (0.62 * self.pitch).min(self.strip_width()).round()
    }

    /// Their outlines, seen from the loop; of the first, which have been `read`, there are strips.
    pub fn outlines_ahead(&self, read: usize) -> String {
        let (at, width, height) = (self.x_of(self.unrolled), self.width_ahead(), self.ahead_height);
        let (top, width, height) = (self.ahead_y - 0.5, width + 1.0, height + 1.0);
        let outline = |x| format!("M{} {top}h{width}v{height}h-{width}z", x - at - 0.5);
        self.strips_ahead().skip(read).map(outline).collect()
    }

    /// Where what the loop reads is written, seen from it: one character at the cell and one at each
    /// column to come, or all in a row whose first is at the cell.
    pub fn letters_x(&self) -> String {
        if self.ahead == 0 {
            return self.letters_left().to_string();
        }
        let at = self.x_of(self.unrolled);
        let ahead = self.middles().map(|x| format!(" {:.1}", x - at));
        core::iter::once(self.middle().to_string()).chain(ahead).collect()
    }

    /// The foot of these letters; where the columns to come are a band, of the first and of the others.
    pub fn letters_y(&self) -> String {
        let at_cell = self.token_y + 0.68 * self.token_size;
        match self.banded {
            true => format!("{at_cell} {}", self.band_foot()),
            false => at_cell.to_string(),
        }
    }

    /// The foot of the letters under a band.
    fn band_foot(&self) -> f64 {
        self.ahead_y + self.ahead_height + 1.15 * self.text
    }

    /// Where such a row begins.
    pub fn letters_left(&self) -> f64 {
        self.middle() - 0.3 * self.letters()
    }

    /// Size of these letters.
    pub fn letters(&self) -> f64 {
        (1.25 * self.text).min(1.5 * self.pitch).max(11.0)
    }

    /// Foot of the letters that say how far an edit moved a state.
    pub fn moved_end(&self) -> f64 {
        self.moved_y + 9.0 + self.text
    }

    /// Foot of the letters that say which step it is.
    pub fn time_foot(&self) -> f64 {
        1.05 * self.text
    }

    /// Foot of the truth, above the expectations.
    pub fn truth_foot(&self) -> f64 {
        1.05 * self.text + 1.35 * self.told_size
    }

    /// Foot of the loss, below them.
    pub fn loss_foot(&self) -> f64 {
        self.bars_end() + 1.1 * self.text
    }

    /// Width of the state before the first step, which only holds zeros.
    pub fn start_width(&self) -> f64 {
        (self.strip_width() / 5.0).clamp(4.0, 16.0).round()
    }

    /// Where it begins, seen from the middle of its column: it ends where a whole strip would.
    pub fn start_x(&self) -> f64 {
        self.strip_width() / 2.0 - self.start_width()
    }

    /// Whether numbers stand with their names.
    pub fn is_roomy(&self) -> bool {
        self.column >= ROOMY
    }

    /// Whether a column has no room beside its letters.
    pub fn is_tight(&self) -> bool {
        self.column < NARROWEST
    }

    /// Width of everything.
    pub fn width(&self) -> f64 {
        match self.ahead {
            _ if !self.folded => self.x_of(self.unrolled) + TAIL,
            0 => self.loop_end(),
            ahead => (self.ahead_x + self.pitch * ahead as f64).max(self.loop_end()),
        }
    }

    /// Whether what is there is a place beside the loop.
    pub fn is_ahead(&self, x: f64, y: f64) -> bool {
        self.folded && if self.banded { y >= self.ahead_y } else { x > self.loop_end() }
    }

    /// The column at a distance from the left and the top, from 0. The loop shows the first that is not
    /// unrolled; the others have places of their own.
    pub fn column_at(&self, x: f64, y: f64) -> Option<usize> {
        let column = ((x - self.left) / self.column).floor();
        if self.is_ahead(x, y) {
            let ahead = self.middles().position(|middle| (x - middle).abs() <= self.pitch / 2.0);
            return ahead.map(|ahead| self.first_ahead() + ahead);
        }
        if column < 0.0 {
            return None;
        }
        let column = column as usize;
        if column < self.unrolled { Some(column) } else { self.folded.then_some(self.unrolled) }
    }

    /// The unit at a height, from 0.
    pub fn unit_at(&self, y: f64, hidden: usize) -> Option<usize> {
        let share = (y - self.strip_y) / self.strip_height;
        (0.0..1.0).contains(&share).then_some((share * hidden as f64) as usize)
    }
}

/// Where columns stand, which move when others are unrolled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// Of the state before the first step, the middle of its column.
    pub start: f64,
    pub columns: Vec<f64>,
    /// Of the loop, or where it was; `None` while there is no sentence.
    pub rest: Option<f64>,
}

impl Places {
    pub fn of(layout: &Layout, length: usize) -> Self {
        let x_of = |column| layout.x_of(column);
        Self {
            start: layout.start(),
            columns: (0..layout.unrolled).map(x_of).collect(),
            rest: (length > 0).then(|| x_of(layout.unrolled)),
        }
    }
}

impl Between for Places {
    fn between(&self, to: &Self, share: f64) -> Option<Self> {
        // Another size of the window has no way.
        if self.columns.len() == to.columns.len() {
            return None;
        }
        let rest = self.rest?;
        let way = |from: f64, to: f64| from + (to - from) * share;
        // What is new comes out of the loop.
        let from = self.columns.iter().copied().chain(core::iter::repeat(rest));
        Some(Self {
            start: way(self.start, to.start),
            columns: from.zip(&to.columns).map(|(from, to)| way(from, *to)).collect(),
            rest: Some(way(rest, to.rest?)),
        })
    }
}

/// How many cells are drawn: those unrolled and, of what is not, the one with the loop.
pub fn drawn(unrolled: u32, length: u32) -> u32 {
    (unrolled + 1).min(length)
}

/// What is unrolled where so many cells of the `length` are drawn. The last has no loop, for nothing is left.
pub fn unrolled_of(drawn: u32, length: u32) -> u32 {
    if drawn >= length { length } else { drawn.saturating_sub(1) }
}

/// Room to the right of the loop's column.
fn loop_of(column: f64) -> f64 {
    (0.6 * column).max(52.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_again() {
        let layout = Layout::new(900.0, 400.0, (2, 3), false, false);
        assert_eq!(layout.column_at(layout.x_of(1) + 3.0, 0.0), Some(1));
        // The loop shows the first that is not unrolled.
        assert_eq!(layout.column_at(layout.x_of(2) + 3.0, 0.0), Some(2));
        assert_eq!(layout.column_at(3.0 - layout.left, 0.0), None);
        let foot = layout.strip_y + layout.strip_height;
        assert_eq!(layout.unit_at(foot - 1.0, 2), Some(1));
        assert_eq!(layout.unit_at(layout.strip_y - 1.0, 2), None);
        let whole = Layout::new(900.0, 400.0, (3, 3), false, false);
        assert_eq!(whole.column_at(whole.x_of(3) + 3.0, 0.0), None);
        let alone = Layout::new(900.0, 400.0, (0, 3), false, false);
        assert_eq!(alone.column_at(alone.x_of(0) + 3.0, 0.0), Some(0));
    }

    #[test]
    fn what_is_counted_is_what_is_drawn() {
        assert_eq!([0, 1, 28, 30].map(|unrolled| drawn(unrolled, 30)), [1, 2, 29, 30]);
        assert_eq!([0, 1, 29, 30, 31].map(|drawn| unrolled_of(drawn, 30)), [0, 0, 28, 30, 30]);
        assert_eq!((drawn(0, 1), unrolled_of(2, 1), unrolled_of(0, 1)), (1, 1, 0));
        assert_eq!((drawn(0, 0), unrolled_of(0, 0)), (0, 0));
    }

    #[test]
    fn one_guess_leaves_the_state_more_room() {
        let (lists, one) = (
            Layout::new(1004.0, 520.0, (30, 30), false, false),
            Layout::new(1004.0, 520.0, (30, 30), false, true),
        );
        assert_eq!((lists.bars, lists.told_size), (4, lists.text));
        assert_eq!((one.heads, one.bars, one.told_size), (2, 1, 16.0));
        assert!(one.strip_height > lists.strip_height);
        // Truth, guess and loss, one under the other.
        let feet = [one.time_foot(), one.truth_foot(), one.bars_end(), one.loss_foot()];
        assert!(feet.is_sorted() && one.loss_foot() < one.output_end(), "{feet:?}");
        assert!(one.truth_foot() < one.bars_y && one.arrow_end() < one.strip_y);
    }

    #[test]
    fn what_can_be_wide_enough_fits() {
        for (width, height) in [(366.0, 180.0), (844.0, 330.0), (1004.0, 520.0), (2124.0, 1060.0)] {
            for unrolled in [0, 1, 3, 29, 30] {
                for edited in [false, true] {
                    let layout =
                        Layout::new(width, height, (unrolled, 30), edited, unrolled > MOST_LISTED);
                    let foot = match edited {
                        true => layout.moved_end(),
                        false if layout.banded => layout.band_foot(),
                        false => layout.moved_y - 6.0,
                    };
                    assert!(foot <= height, "{foot} of {height}");
                    let fits = layout.width() <= width || layout.column <= NARROWEST;
                    assert!(fits, "{} of {width}", layout.width());
                }
            }
        }
    }

    #[test]
    fn a_whole_sentence_fits_beside_the_story() {
        let layout = Layout::new(1004.0, 520.0, (30, 30), false, true);
        assert!(layout.width() <= 1004.0 && layout.column >= TIGHT, "{layout:?}");
        let small = Layout::new(844.0, 400.0, (30, 30), false, true);
        assert!(small.width() <= 844.0, "{small:?}");
        let phone = Layout::new(366.0, 206.0, (30, 30), false, true);
        assert!(phone.heads > 0 && phone.column == NARROWEST, "{phone:?}");
    }

    #[test]
    fn the_first_columns_stay_where_they_are() {
        let layout =
            |unrolled| Layout::new(1004.0, 520.0, (unrolled, 30), false, unrolled > MOST_LISTED);
        assert_eq!(layout(1).x_of(0), layout(3).x_of(0));
        // Nor does the cell alone, where there is room for what is to come.
        let alone = layout(0);
        assert_eq!((alone.x_of(0), alone.ahead), (layout(1).x_of(0), 30));
        assert!((alone.width() - (1004.0 - TAIL)).abs() < 0.01, "{}", alone.width());
        let first = alone.x_of(1) + alone.loop_reach() + CLEAR;
        assert_eq!(alone.column_at(first + 1.0, 0.0), Some(0));
        assert_eq!(alone.column_at(alone.width() - 1.0, 0.0), Some(29));
        assert_eq!(alone.column_at(first - 1.0, 0.0), None);
        // One more at the cell.
        assert_eq!(alone.letters_x().split(' ').count(), 31);
        // Else, with the state before it and its loop, it has as much room on either side.
        let phone = Layout::new(366.0, 210.0, (0, 30), false, false);
        let sides = [phone.start() - phone.strip_width() / 2.0 - NAMES, 366.0 - phone.loop_end()];
        assert!((sides[0] - sides[1] - phone.column / 4.0).abs() <= 1.0, "{sides:?}");
        // What it reads is below it, over the whole width.
        assert!(phone.banded && phone.ahead == 30 && phone.width_ahead() >= 6.0, "{phone:?}");
        assert!((phone.width() - 366.0).abs() < 0.01, "{}", phone.width());
        assert_eq!(phone.column_at(1.0, phone.ahead_y + 1.0), Some(0));
        assert_eq!(phone.column_at(365.0, phone.ahead_y + 1.0), Some(29));
        assert_eq!(phone.column_at(phone.x_of(0) + 3.0, phone.token_y), Some(0));
        assert!(phone.ahead_y >= phone.token_y + phone.token_size);
        let places = |unrolled| Places::of(&layout(unrolled), 30);
        let (one, all) = (places(1), places(30));
        let half = one.between(&all, 0.5).unwrap();
        assert_eq!(half.columns.len(), 30);
        assert_eq!(one.between(&all, 0.0).unwrap().columns[29], one.rest.unwrap());
        assert_eq!(one.between(&all, 1.0), Some(all.clone()));
        assert_eq!(half.between(&all, 0.5), None);
        assert_eq!(Places::default().between(&all, 0.5), None);
    }
}
