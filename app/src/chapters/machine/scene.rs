//! Where the parts of the picture stand: columns of numbers beside rows of tokens, from the text on
//! the left to the next character on the right.

use unroll_protocol::gpt::{Pass, Stage};

use super::draw::Way;
use crate::figures::tint;

/// A part of the picture, in the order in which a token passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Tokens,
    Embedding,
    Position,
    /// A block that is folded up, counted from 0.
    Folded(usize),
    Query,
    Key,
    Weights,
    Value,
    Mix,
    Attention,
    FeedForward,
    FinalNorm,
    Next,
}

impl Part {
    /// When the part is computed.
    pub fn stage(self, open: usize) -> Stage {
        match self {
            Self::Tokens | Self::Embedding | Self::Position => Stage::Embedding,
            // What lies before the open block has been computed when that one begins.
            Self::Folded(block) if block < open => Stage::Query,
            Self::Query | Self::Key => Stage::Query,
            Self::Weights => Stage::Weights,
            Self::Value | Self::Mix | Self::Attention => Stage::Mix,
            Self::FeedForward => Stage::FeedForward,
            Self::Folded(_) => Stage::Further,
            Self::FinalNorm | Self::Next => Stage::Next,
        }
    }

    /// What stands over its column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tokens => "text",
            Self::Embedding => "embedding",
            Self::Position => "position",
            Self::Folded(_) => "",
            Self::Query => "query",
            Self::Key => "key",
            Self::Weights => "weights",
            Self::Value => "value",
            Self::Mix => "mix",
            Self::Attention => "attention output",
            Self::FeedForward => "feed-forward",
            Self::FinalNorm => "norm",
            Self::Next => "next token",
        }
    }
}

/// How far along a stage is; the whole way is the furthest.
pub fn place_of(stage: Stage) -> usize {
    let order = Stage::ALL.iter().position(|other| *other == stage).unwrap_or(0);
    if order == 0 { Stage::ALL.len() } else { order }
}

/// One column of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    pub part: Part,
    pub x: f64,
    pub width: f64,
    /// Numbers in each of its rows; 0 where it holds none.
    pub count: usize,
}

impl Column {
    pub fn end(&self) -> f64 {
        self.x + self.width
    }

    pub fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }

    /// How many of its numbers are drawn: cells narrower than this would be a blur.
    pub fn drawn(&self) -> usize {
        ((self.width / LEAST_CELL) as usize).clamp(1, self.count.max(1)).min(self.count)
    }

    /// The number that a cell shows: evenly spaced ones, beginning with the first.
    pub fn number(&self, cell: usize) -> usize {
        cell * self.count / self.drawn().max(1)
    }

    /// Left and width of the cell that shows a number, or of the last one before it that is drawn.
    pub fn cell(&self, number: usize) -> (f64, f64) {
        let drawn = self.drawn().max(1);
        let cell = (0..drawn).rev().find(|&cell| self.number(cell) <= number).unwrap_or(0);
        let wide = self.width / drawn as f64;
        (self.x + wide * cell as f64, wide)
    }
}

/// What decides where everything stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    pub rows: usize,
    pub width: usize,
    pub blocks: usize,
    pub heads: usize,
    pub positions: bool,
    pub attention: bool,
    pub feed_forward: bool,
    /// The block that is open, counted from 0.
    pub open: usize,
    /// Whether tokens need not be characters.
    pub tinted: bool,
}

impl Shape {
    pub fn of(pass: &Pass) -> Self {
        Self {
            rows: pass.tokens.len(),
            width: pass.width(),
            blocks: pass.sizes.blocks.len(),
            heads: pass.heads().1,
            positions: pass.positions.is_some(),
            attention: pass.detail.attention.is_some(),
            feed_forward: pass.detail.feed_forward.is_some(),
            open: pass.detail.block as usize,
            tinted: tint::is_needed(&pass.vocabulary),
        }
    }

    /// Numbers of a query.
    pub fn head_width(&self) -> usize {
        self.width.checked_div(self.heads).unwrap_or(0)
    }
}

/// Left, top, width and height.
pub type Area = (f64, f64, f64, f64);

/// The picture's geometry in CSS pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub shape: Shape,
    pub width: f64,
    pub height: f64,
    /// How much of its width and of its height is seen at once.
    pub view: f64,
    pub seen: f64,
    /// Top of the first row, and from row to row.
    pub top: f64,
    pub pitch: f64,
    pub columns: Vec<Column>,
    /// Left and right of the open block's panel.
    pub panel: (f64, f64),
    /// Where what was computed is added to the stream.
    pub sums: Vec<f64>,
    /// Height of the heads' small maps with what is round them.
    maps: f64,
    /// Left, top and side of each head's small map.
    pub heads: Vec<(f64, f64, f64)>,
    /// Left and right of the bars behind the names of the next tokens.
    pub bars: (f64, f64),
    /// Top of the list of the next tokens.
    pub list: f64,
    /// From one of them to the next.
    bar_pitch: f64,
}

/// Left of the text: what is written comes back there.
const MARGIN: f64 = 12.0;
/// Width of the tokens, where each is a character and where they need not be.
const TOKENS: f64 = 30.0;
const LONG_TOKENS: f64 = 52.0;
/// Least width of a number.
pub(super) const LEAST_CELL: f64 = 2.5;
/// Width of the picture from which on nothing in it is narrow.
const WIDE: f64 = 820.0;
/// Least width of the picture: what stands between its columns is narrower there. In less room it is as
/// wide as is comfortable, and scrolls.
const LEAST_WIDTH: f64 = 640.0;
/// Least from row to row: as high as the letters. More rows than that has room for scroll, unless the room
/// is wide, as in a small frame: there neighbors' letters stand side by side.
const LEAST_PITCH: f64 = 12.0;
const CLOSEST_PITCH: f64 = 7.0;
/// From row to row where they scroll anyway.
const SCROLLED_PITCH: f64 = 15.0;
const MOST_PITCH: f64 = 44.0;
/// The largest room that a picture of 16 rows fills at its own size.
const FILLED: (f64, f64) = (1500.0, 750.0);
const TOP: f64 = 74.0;
/// The small maps of the heads, below the rows; less where the rows need the room.
const MAPS: f64 = 58.0;
const LEAST_MAPS: f64 = 30.0;
/// Round those of a folded block: between them, and above them for their name.
pub(super) const MAPS_GAP: f64 = 4.0;
const MAPS_NAME: f64 = 18.0;
/// In a narrow picture: large enough for a finger.
const NARROW_MAPS: f64 = 42.0;
/// Shapes and the bar of the parameters.
const FOOT: f64 = 76.0;
/// With what a stage's box under the maps needs there.
const NARROW_FOOT: f64 = 104.0;
/// Below the list of the next tokens: the bar of the parameters.
const BELOW_LIST: f64 = 50.0;
/// Round a plus sign.
const SUM: f64 = 30.0;
const GAP: f64 = 12.0;
/// Width of a share in which the names over the columns stand on one line.
const NAMED: f64 = 37.0;
/// Least width of the map.
const LEAST_MAP: f64 = 84.0;
/// A folded block.
const FOLDED: f64 = 56.0;
/// The next tokens that are listed.
pub const BARS: usize = 8;
/// Room for their names, where each is a character and where they need not be.
const NAMES: f64 = 26.0;
const LONG_NAMES: f64 = 66.0;
/// Room for their shares, in small letters and in large ones.
const SHARES: f64 = 44.0;
const LARGE_SHARES: f64 = 52.0;
/// The letters of both: small, and where the lines are high enough.
const LIST_FONT: (f64, f64) = (12.0, 14.0);
/// From one of them to the next: at least, and where all have room.
const LEAST_BAR: f64 = 13.0;
const BAR: f64 = 22.0;

impl Scene {
    /// A scene that fills a room of this size, or as much more as it needs.
    pub fn new(shape: Shape, room: (f64, f64)) -> Self {
        let more = more(shape.blocks);
        let narrow = is_narrow(room.0, shape.blocks);
        let width = if narrow { WIDE + more } else { room.0 };
        let rows = shape.rows.max(1) as f64;
        let maps = (room.1 - TOP - FOOT - rows * LEAST_PITCH).clamp(LEAST_MAPS, MAPS);
        let high = room.1 - TOP - maps - FOOT;
        let scrolls = high < rows * CLOSEST_PITCH;
        let pitch = match (narrow, scrolls) {
            (true, _) => {
                let high = room.1 - TOP - NARROW_MAPS - NARROW_FOOT;
                (high / rows).clamp(SCROLLED_PITCH, MOST_PITCH)
            }
            (_, true) => SCROLLED_PITCH,
            _ => (high / rows).min(MOST_PITCH),
        };
        // Where the picture scrolls sideways the list is as short as it can be, so that it is seen whole.
        let bar_pitch = match (narrow, scrolls) {
            (true, _) => LEAST_BAR,
            (_, true) => BAR,
            _ => (high / BARS as f64).clamp(LEAST_BAR, BAR),
        };
        let (maps, foot) = match (narrow, scrolls) {
            (true, _) => (NARROW_MAPS, NARROW_FOOT),
            (_, true) => (MAPS, FOOT),
            _ => (maps, FOOT),
        };
        // It reaches into the room below the rows there.
        let list = if narrow { 0.0 } else { BARS as f64 * bar_pitch };
        let height = TOP + (rows * pitch).max(list) + maps + foot;

        let plan = plan(shape);
        let tight = ((width - more) / WIDE).min(1.0);
        let fixed: f64 = plan.iter().map(|step| step.fixed() * tight).sum();
        let units: f64 = plan.iter().map(|step| step.units()).sum();
        let free = width - fixed - MARGIN - 1.0;
        // The map's cells are squares, as far as the map leaves the others room for their names.
        let squares = (rows * pitch.min(26.0)).clamp(LEAST_MAP, (width - more) * 0.25);
        let map = (free - units * NAMED).clamp(LEAST_MAP, squares);
        let unit = (free - if shape.attention { map } else { 0.0 }) / units.max(1.0);

        let (mut columns, mut sums) = (Vec::new(), Vec::new());
        let (mut x, mut panel) = (MARGIN, (0.0, 0.0));
        for step in plan {
            let wide = step.fixed() * tight + step.units() * unit;
            match step {
                Step::Column(part, _) | Step::Fixed(part, _) | Step::Wide(part, ..) => {
                    columns.push(Column { part, x, width: wide, count: count(part, shape) });
                    x += wide;
                }
                Step::Map => {
                    let (part, width) = (Part::Weights, map);
                    columns.push(Column { part, x, width, count: shape.rows });
                    x += map;
                }
                Step::Gap(_) | Step::Ribbons(_) => x += wide,
                Step::Sum => {
                    sums.push(x + wide / 2.0);
                    x += wide;
                }
                Step::Open => panel.0 = x,
                Step::Close => panel.1 = x,
            }
        }
        let mut scene = Self {
            shape,
            width,
            height,
            view: room.0,
            seen: room.1,
            top: TOP,
            pitch,
            columns,
            panel,
            sums,
            maps,
            heads: Vec::new(),
            bars: (0.0, 0.0),
            list: TOP,
            bar_pitch,
        };
        if let Some(next) = scene.column(Part::Next) {
            let names = if shape.tinted { LONG_NAMES } else { NAMES };
            let shares = if scene.list_font() > LIST_FONT.0 { LARGE_SHARES } else { SHARES };
            scene.bars = (next.x + names, next.end() - shares);
        }
        scene.heads = scene.small_maps();
        scene
    }

    /// The next tokens listed half-way down, where the whole picture is in sight. Where it is not, beside the
    /// row that they follow, or as near to it as lets the list stay whole.
    pub fn following(mut self, row: usize) -> Self {
        let high = self.bar_pitch * BARS as f64;
        let wanted = if self.is_scrolled() {
            self.middle(row) + self.bar_pitch / 2.0 - high
        } else if self.height > self.seen + 1.0 {
            self.middle(row) - self.bar_pitch / 2.0
        } else {
            (self.top + self.rows_end() - high) / 2.0
        };
        self.list = wanted.min(self.height - BELOW_LIST - high).max(self.top);
        self
    }

    /// Top of the first small map of a folded block, and the side of each: one group, half-way down, so that
    /// none seems to belong to the row beside it.
    pub fn folded_maps(&self, column: Column) -> (f64, f64) {
        let count = self.shape.heads.max(1) as f64;
        let room = self.foot() - self.top - MAPS_NAME;
        let side = (column.width - 8.0).min(room / count - MAPS_GAP).max(4.0);
        let spare = room - count * (side + MAPS_GAP);
        (self.top + MAPS_NAME + spare.max(0.0) / 2.0, side)
    }

    /// Whether the room is too narrow for the picture.
    pub fn is_scrolled(&self) -> bool {
        self.view < self.width
    }

    /// How far a token has come to the right, with the sum that it has just been added to.
    pub fn reach(&self, way: Way) -> f64 {
        let from = self.columns.first().map_or(0.0, Column::end);
        let to = self.column(Part::Next).map_or(self.width, |column| column.x);
        let reached = self.columns.iter().filter(|column| way.has(column.part, self));
        let end = reached.map(|column| column.end().min(to)).fold(from, f64::max);
        self.sums.iter().copied().find(|sum| (end..end + SUM).contains(sum)).unwrap_or(end)
    }

    fn small_maps(&self) -> Vec<(f64, f64, f64)> {
        let Some(weights) = self.column(Part::Weights) else { return Vec::new() };
        let count = self.shape.heads;
        let (left, right) = (self.panel.0 + 8.0, self.panel.1 - 8.0);
        let each = ((right - left) / count.max(1) as f64).min(self.maps - 8.0);
        let wide = each * count as f64;
        let first = (weights.middle() - wide / 2.0).clamp(left, (right - wide).max(left));
        let top = self.foot() - self.maps + 6.0;
        (0..count).map(|head| (first + each * head as f64, top, each - 6.0)).collect()
    }

    pub fn column(&self, part: Part) -> Option<Column> {
        self.columns.iter().copied().find(|column| column.part == part)
    }

    /// Middle of a row.
    pub fn middle(&self, row: usize) -> f64 {
        self.top + self.pitch * (row as f64 + 0.5)
    }

    /// Where the rows and the small maps end.
    pub fn foot(&self) -> f64 {
        self.height - if self.is_scrolled() { NARROW_FOOT } else { FOOT }
    }

    /// Where the rows end, over the small maps.
    pub fn rows_end(&self) -> f64 {
        self.foot() - self.maps
    }

    /// How tall the numbers of a row are.
    pub fn strip(&self) -> f64 {
        (self.pitch * 0.78).min(22.0)
    }

    pub fn row_at(&self, y: f64) -> Option<usize> {
        let row = (y - self.top) / self.pitch;
        (row >= 0.0 && row < self.shape.rows as f64).then_some(row as usize)
    }

    /// The next token whose line is at this height.
    pub fn bar_at(&self, y: f64) -> Option<usize> {
        let line = (y - self.list) / self.bar_pitch;
        (line >= 0.0 && line < BARS as f64).then_some(line as usize)
    }

    /// How large the letters in the list of the next tokens are.
    pub fn list_font(&self) -> f64 {
        let (small, large) = LIST_FONT;
        if self.bar_pitch >= 1.25 * large { large } else { small }
    }

    /// How tall the bars of the next tokens are.
    pub fn bar_high(&self) -> f64 {
        (0.64 * self.bar_pitch).max(10.0)
    }

    /// Middles of the lines of the next tokens.
    pub fn bar(&self, at: usize) -> f64 {
        self.list + self.bar_pitch * (at as f64 + 0.5)
    }
}

/// Width of a folded block, and of the gap before it. Many blocks are narrow: the twelve of GPT-2 have room
/// beside the open one on a laptop.
fn folded(blocks: usize) -> [f64; 2] {
    match blocks {
        ..=4 => [FOLDED, GAP],
        5..=8 => [30.0, GAP],
        _ => [16.0, 3.0],
    }
}

/// What the folded blocks need beyond the one that has room in the least width.
fn more(blocks: usize) -> f64 {
    let folded = blocks.saturating_sub(1) as f64 * folded(blocks).iter().sum::<f64>();
    (folded - FOLDED - GAP).max(0.0)
}

/// How much larger than at its own size all of the picture is in this room: on a projector its letters and tiles
/// grow with what is around them.
pub fn enlargement(room: (f64, f64)) -> f64 {
    (room.0 / FILLED.0).min(room.1 / FILLED.1).max(1.0)
}

/// Whether a room is too narrow for the picture of a model of so many blocks.
pub fn is_narrow(room: f64, blocks: usize) -> bool {
    room < LEAST_WIDTH + more(blocks)
}

/// How many numbers a row of a part holds.
fn count(part: Part, shape: Shape) -> usize {
    match part {
        Part::Query | Part::Key | Part::Value | Part::Mix => shape.head_width(),
        Part::Weights => shape.rows,
        Part::FeedForward => 4 * shape.width,
        Part::Tokens | Part::Next | Part::Folded(_) => 0,
        Part::Embedding | Part::Position | Part::Attention | Part::FinalNorm => shape.width,
    }
}

/// One step from left to right.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A column that takes so large a share of the free room.
    Column(Part, f64),
    Fixed(Part, f64),
    /// Both: what it needs, and a share.
    Wide(Part, f64, f64),
    Map,
    Gap(f64),
    /// Room for the ribbons, as a share.
    Ribbons(f64),
    Sum,
    Open,
    Close,
}

impl Step {
    fn fixed(self) -> f64 {
        match self {
            Self::Fixed(_, width) | Self::Gap(width) | Self::Wide(_, width, _) => width,
            Self::Sum => SUM,
            _ => 0.0,
        }
    }

    fn units(self) -> f64 {
        match self {
            Self::Column(_, units) | Self::Ribbons(units) | Self::Wide(_, _, units) => units,
            _ => 0.0,
        }
    }
}

fn plan(shape: Shape) -> Vec<Step> {
    use Step::{Close, Column, Fixed, Gap, Map, Open, Ribbons, Sum, Wide};
    let [width, gap] = folded(shape.blocks);
    let folded = |block: usize| [Gap(gap), Fixed(Part::Folded(block), width)];
    let mut plan = vec![
        Fixed(Part::Tokens, if shape.tinted { LONG_TOKENS } else { TOKENS }),
        Gap(GAP),
        Column(Part::Embedding, 1.2),
    ];
    if shape.positions {
        plan.extend([Sum, Column(Part::Position, 1.0)]);
    }
    plan.extend((0..shape.open).flat_map(folded));
    plan.extend([Gap(GAP), Open]);
    if shape.attention {
        plan.extend([Gap(GAP), Column(Part::Query, 0.8), Gap(8.0), Column(Part::Key, 0.8)]);
        plan.extend([Gap(GAP), Map, Gap(GAP), Column(Part::Value, 0.8), Ribbons(1.5)]);
        plan.extend([Column(Part::Mix, 0.8), Gap(GAP), Column(Part::Attention, 1.1), Sum]);
    }
    if shape.feed_forward {
        plan.extend([Gap(4.0), Column(Part::FeedForward, 1.4), Sum]);
    }
    plan.extend([Close]);
    plan.extend((shape.open + 1..shape.blocks).flat_map(folded));
    plan.extend([Gap(GAP), Column(Part::FinalNorm, 1.0), Gap(18.0), Wide(Part::Next, 96.0, 2.6)]);
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(rows: usize, blocks: usize, heads: usize) -> Shape {
        let (attention, feed_forward, positions) = (true, true, true);
        let (open, tinted) = (0, true);
        Shape { rows, width: 64, blocks, heads, positions, attention, feed_forward, open, tinted }
    }

    #[test]
    fn columns_follow_each_other_and_fill_the_room() {
        for (rows, blocks, heads) in [(1, 1, 1), (12, 2, 4), (48, 4, 8), (64, 12, 16)] {
            for room in [(340.0, 300.0), (1000.0, 600.0), (1500.0, 850.0)] {
                for open in [0, blocks - 1] {
                    let shape = Shape { open, ..shape(rows, blocks, heads) };
                    let scene = Scene::new(shape, room);
                    let mut x = 0.0;
                    for column in &scene.columns {
                        assert!(column.x >= x, "{column:?} of {room:?}");
                        assert!(column.width >= 10.0, "{column:?} of {room:?} {shape:?}");
                        x = column.end();
                    }
                    assert!((x - scene.width).abs() < 2.0, "{x} of {}", scene.width);
                    assert!(scene.width >= room.0 && scene.pitch >= CLOSEST_PITCH);
                    assert!(scene.middle(rows - 1) < scene.foot());
                    assert_eq!(scene.columns.len(), 11 + blocks);
                    for (x, y, side) in &scene.heads {
                        assert!(*x >= scene.panel.0 && x + side <= scene.panel.1);
                        assert!(y + side <= scene.foot());
                    }
                }
            }
        }
    }

    #[test]
    fn every_cell_stands_for_one_number_in_order() {
        for (count, width) in [(64, 40.0), (16, 40.0), (256, 48.0), (5, 200.0), (1, 10.0), (7, 1.0)]
        {
            let column = Column { part: Part::Embedding, x: 3.0, width, count };
            let drawn = column.drawn();
            assert!((1..=count).contains(&drawn));
            let numbers: Vec<usize> = (0..drawn).map(|cell| column.number(cell)).collect();
            assert!(numbers[0] == 0 && numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
            assert!(numbers[drawn - 1] < count);
            for (cell, &number) in numbers.iter().enumerate() {
                let (left, wide) = column.cell(number);
                assert!((left - 3.0 - wide * cell as f64).abs() < 1e-9);
            }
        }
        assert_eq!(Column { part: Part::Next, x: 0.0, width: 9.0, count: 0 }.drawn(), 0);
    }

    #[test]
    fn rows_are_as_high_as_their_letters_and_the_list_stays_whole_beside_its_row() {
        for room in [(676.0, 304.0), (366.0, 200.0), (1000.0, 600.0)] {
            for rows in [1, 8, 16, 64] {
                for row in 0..rows {
                    let scene = Scene::new(shape(rows, 2, 4), room).following(row);
                    let least = if room.0 > 640.0 { CLOSEST_PITCH } else { LEAST_PITCH };
                    assert!(scene.pitch >= least, "{room:?}");
                    assert!(scene.bar(BARS - 1) < scene.height - 42.0, "{rows} rows in {room:?}");
                    assert!((0..BARS).all(|at| scene.bar_at(scene.bar(at)) == Some(at)));
                }
            }
        }
        let embedded = Scene::new(shape(16, 2, 4), (676.0, 304.0));
        assert!(embedded.width == 676.0 && embedded.height <= 304.0, "{}", embedded.height);
        // Half-way down, whatever row is followed; beside it where not all rows are seen at once.
        let scene = Scene::new(shape(16, 2, 4), (1000.0, 600.0)).following(4);
        let middle = (scene.top + scene.rows_end()) / 2.0;
        assert!(((scene.bar(0) + scene.bar(BARS - 1)) / 2.0 - middle).abs() < 1e-9);
        let long = Scene::new(shape(64, 2, 4), (1000.0, 300.0)).following(4);
        assert_eq!(long.bar(0), long.middle(4));
    }

    #[test]
    fn a_picture_grows_with_a_room_that_it_would_not_fill() {
        assert_eq!(enlargement((1380.0, 720.0)), 1.0);
        let room = (1880.0, 1010.0);
        let by = enlargement(room);
        let scene = Scene::new(shape(16, 2, 4), (room.0 / by, room.1 / by));
        assert!(scene.width * by > 0.99 * room.0 && scene.height * by > 0.9 * room.1);
        assert!(scene.height * by <= room.1);
    }

    #[test]
    fn gpt_2_fits_beside_the_story_on_a_laptop() {
        let shape = Shape { width: 768, ..shape(16, 12, 12) };
        assert_eq!(Scene::new(shape, (980.0, 640.0)).width, 980.0);
    }

    #[test]
    fn what_a_model_lacks_is_not_drawn() {
        let none =
            Shape { attention: false, feed_forward: false, positions: false, ..shape(5, 2, 0) };
        let scene = Scene::new(none, (1000.0, 600.0));
        let parts: Vec<Part> = scene.columns.iter().map(|column| column.part).collect();
        let expected =
            [Part::Tokens, Part::Embedding, Part::Folded(1), Part::FinalNorm, Part::Next];
        assert_eq!(parts, expected);
        assert!(scene.heads.is_empty());
    }

    #[test]
    fn a_token_passes_the_parts_from_left_to_right() {
        for open in 0..3 {
            let scene = Scene::new(Shape { open, ..shape(8, 3, 2) }, (1000.0, 600.0));
            let stages: Vec<usize> =
                scene.columns.iter().map(|c| place_of(c.part.stage(open))).collect();
            assert!(stages.is_sorted(), "{stages:?}");
        }
        assert!(place_of(Stage::Whole) > place_of(Stage::Next));
    }
}
