//! The part that a token has come to, enlarged: a box beside it with the token's own numbers.

use std::fmt::Write;

use unroll_protocol::{
    architecture::{Architecture, Positions},
    gpt::{Pass, Stage},
};

use super::{
    cells::{map, values},
    draw::Way,
    scene::{Area, BARS, LEAST_CELL, Part, Scene},
};
use crate::figures::{
    Colors, Hue, ValueMap, four_decimals,
    labels::text_width,
    largest,
    pen::{Anchor, MONO, Paint, Pen},
    svg::{escape, write_rect},
    token,
};

const FONT: f64 = 12.0;
const PAD: f64 = 12.0;
/// Above and below what a box says, together.
const HIGH_PAD: f64 = 13.0;
const MOST_WIDTH: f64 = 430.0;
/// Where less than this is free behind the part, the box stands before it.
const LEAST_WIDTH: f64 = 250.0;
/// Between the part and its box: the leader's length.
const GAP: f64 = 22.0;
/// Width of a number, of a token's name, and of its place.
const NUMBER: f64 = 62.0;
const NAME: f64 = 20.0;
const LONG_NAME: f64 = 62.0;
const PLACE: f64 = 22.0;
/// Characters of the longest name of a token.
const LONGEST_NAME: usize = 7;

/// One line of a box, or two that belong together.
enum Item<'a> {
    /// In lines.
    Title(Vec<String>),
    Words(Vec<String>),
    /// A row of numbers as cells, under its name and its first numbers.
    Strip {
        label: String,
        hue: Hue,
        values: &'a [f32],
        map: ValueMap,
    },
    /// Names over the numbers of the rows below, and what is said of those that are not listed.
    Heads(Vec<&'static str>, String),
    Row(Row<'a>),
}

/// One token, with what is known of it.
struct Row<'a> {
    token: &'a str,
    /// Where it stands in the text, counted from 0.
    place: Option<usize>,
    shown: Shown<'a>,
    numbers: Vec<f32>,
}

enum Shown<'a> {
    Cells(&'a [f32], ValueMap),
    /// So much of the longest bar.
    Bar(Hue, f32),
}

impl Item<'_> {
    fn height(&self) -> f64 {
        match self {
            Self::Title(lines) => TITLE * lines.len() as f64,
            Self::Words(lines) => LINE * lines.len() as f64,
            Self::Heads(..) => LINE,
            Self::Strip { .. } => STRIP,
            Self::Row(_) => ROW,
        }
    }
}

const TITLE: f64 = 18.0;
const LINE: f64 = 16.0;
const ROW: f64 = 17.0;
const STRIP: f64 = 34.0;
/// A box lower than this shows only what its stage is about.
const LOW: f64 = 190.0;
/// Least height of a box that lets the small maps below the rows be seen.
const LEAST_HEIGHT: f64 = 100.0;
/// What the bar of the parameters takes at the foot of the picture.
const BAR_HIGH: f64 = 54.0;
/// How far the columns' names reach above the rows.
const NAMES: f64 = 30.0;

/// Where a box stands to its part.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// In what the token has not come to yet.
    Behind,
    /// Before the part, over or under the row that is followed, which stays in sight.
    Before,
    /// Under the rows, where the picture scrolls.
    Under,
}

/// Where there is room for a box.
#[derive(Clone, Copy)]
struct Room {
    side: Side,
    x: f64,
    width: f64,
    top: f64,
    bottom: f64,
}

impl Room {
    fn height(self) -> f64 {
        self.bottom - self.top
    }
}

/// A stage's box on a scene: where it stands, what it points at, and what it says of a pass.
pub struct Callout<'a> {
    pub area: Area,
    side: Side,
    /// Left and right of the part, and the middle and the height of its row.
    part: (f64, f64),
    row: (f64, f64),
    /// What else belongs in sight, from top to bottom.
    sight: (f64, f64),
    /// How much is seen at once.
    seen: f64,
    framed: bool,
    /// Whether the box itself is drawn; what it says is said without it, too.
    drawn: bool,
    tinted: bool,
    items: Vec<Item<'a>>,
}

impl<'a> Callout<'a> {
    /// `None` where the whole way is drawn, and where the box would hide a block that was opened to be seen.
    pub fn new(
        scene: &Scene,
        pass: &'a Pass,
        way: Way,
        architecture: Architecture,
    ) -> Option<Self> {
        let stage = *Stage::ALL.get(way.reached)?;
        let part = extent(scene, stage);
        let room = room(scene, way, stage, part);
        if stage == Stage::Further && scene.shape.open > 0 && room.side != Side::Behind {
            return None;
        }
        let mut build = Build {
            pass,
            way,
            architecture,
            width: room.width - 2.0 * PAD,
            most: room.height() - HIGH_PAD,
            detail: Detail::All,
            items: Vec::new(),
        };
        build.fit(stage);
        let height = build.height() + HIGH_PAD;
        let items = build.items;
        let middle = scene.middle(way.row);
        let last = (room.bottom - height).max(room.top);
        let y = match room.side {
            Side::Behind => (middle - height / 2.0).clamp(room.top, last),
            Side::Before if room.bottom < middle => last,
            Side::Before | Side::Under => room.top,
        };
        // The list of the next tokens is plain enough.
        let part = if stage == Stage::Next { framed_norm(scene, part) } else { part };
        // Its box would hide what led to the list, and say it once more.
        let drawn = stage != Stage::Next || room.side != Side::Before;
        let area = if drawn { (room.x, y, room.width, height) } else { (part.0, middle, 0.0, 0.0) };
        // The bar of the parameters tells of all blocks.
        let foot = if stage == Stage::Further { scene.height } else { 0.0 };
        let sight = match room.side {
            Side::Under => (scene.top - NAMES, foot),
            _ => (f64::INFINITY, 0.0),
        };
        Some(Self {
            area,
            side: room.side,
            part,
            row: (middle, scene.strip() + 8.0),
            sight,
            seen: scene.seen,
            framed: part.1 > part.0 && stage != Stage::Further,
            drawn,
            tinted: scene.shape.tinted,
            items,
        })
    }

    /// The box together with the part of the row that it enlarges, and with the columns' names where they have
    /// room.
    pub fn with_part(&self) -> Area {
        let (left, top, width, height) = self.area;
        let (middle, high) = self.row;
        // With the edge's own width.
        let edge = 2.0;
        let (x, y) = (left.min(self.part.0) - edge, top.min(middle - high / 2.0) - edge);
        let right = (left + width).max(self.part.1) + edge;
        let bottom = (top + height).max(middle + high / 2.0).max(self.sight.1) + edge;
        let y = y.min((bottom - self.seen).max(self.sight.0));
        (x, y, right - x, bottom - y)
    }

    /// What the box says, for those who can't see it.
    pub fn words(&self) -> String {
        let item = |item: &Item| match item {
            Item::Title(lines) => sentence(lines),
            Item::Words(lines) => lines.join(" "),
            Item::Strip { label, values, .. } => format!("{label}: {}.", first(values, 4)),
            Item::Heads(names, rest) => {
                let rest = if rest.is_empty() { String::new() } else { format!("{rest}. ") };
                format!("{rest}token, {}:", names.join(", "))
            }
            Item::Row(row) => {
                let numbers: Vec<String> = row.numbers.iter().map(|n| four_decimals(*n)).collect();
                format!("{} {};", token::spoken(row.token), numbers.join(" "))
            }
        };
        self.items.iter().map(item).collect::<Vec<_>>().join(" ")
    }

    /// What the box is about, as a sentence that stays as it is while the model trains.
    pub fn title(&self) -> String {
        let title = self.items.iter().find_map(|item| match item {
            Item::Title(lines) => Some(sentence(lines)),
            _ => None,
        });
        title.unwrap_or_default()
    }

    /// The box, with its leader and the frame round its part, as SVG text.
    pub fn svg(&self, paint: Paint, colors: &Colors) -> String {
        let mut pen = Pen::new(FONT, paint);
        let (x, y, width, height) = self.area;
        let (ink, paper) = (pen.hue(Hue::Hidden), paint.paper());
        if !self.drawn {
            self.frame(&mut pen);
            return pen.svg;
        }
        self.lead(&mut pen);
        // Writing to a String cannot fail.
        let _ = write!(
            pen.svg,
            r#"<rect class="machine-callout" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="8" fill="{paper}" stroke="{ink}" stroke-width="1.5"/><g transform="translate({:.1} {:.1})">"#,
            x + PAD,
            y + 8.0,
        );
        let mut top = 0.0;
        for item in &self.items {
            self.item(&mut pen, colors, item, top);
            top += item.height();
        }
        pen.svg.push_str("</g>");
        pen.svg
    }

    /// The line from the part to the box, and the frame round the part.
    fn lead(&self, pen: &mut Pen) {
        let ((left, right), (middle, high)) = (self.part, self.row);
        let (x, y, width, height) = self.area;
        let (above, below) = (middle - high / 2.0, middle + high / 2.0);
        let path = match self.side {
            Side::Behind => {
                format!("M{:.1} {middle:.1}H{x:.1}", if self.framed { right + 4.0 } else { right })
            }
            Side::Under => {
                let from = ((left + right) / 2.0).min(x + width - 10.0).max(x + 10.0);
                format!("M{from:.1} {below:.1}V{y:.1}")
            }
            Side::Before => {
                let is_above = y < middle;
                let (from, to) =
                    if is_above { (above, y + height - 16.0) } else { (below, y + 16.0) };
                format!("M{:.1} {from:.1}V{to:.1}H{:.1}", left + 6.0, x + width)
            }
        };
        pen.wire(Hue::Hidden, 1.5, &path);
        self.frame(pen);
    }

    fn frame(&self, pen: &mut Pen) {
        let ((left, right), (middle, high)) = (self.part, self.row);
        if self.framed {
            let ink = pen.hue(Hue::Hidden);
            let _ = write!(
                pen.svg,
                r#"<rect class="machine-framed" x="{:.1}" y="{:.1}" width="{:.1}" height="{high:.1}" rx="4" fill="none" stroke="{ink}" stroke-width="2"/>"#,
                left - 4.0,
                middle - high / 2.0,
                right - left + 8.0,
            );
        }
    }

    fn item(&self, pen: &mut Pen, colors: &Colors, item: &Item, top: f64) {
        let width = self.area.2 - 2.0 * PAD;
        let line = top + 12.0;
        match item {
            Item::Title(lines) => {
                for (at, words) in lines.iter().enumerate() {
                    let line = line + TITLE * at as f64;
                    pen.sized(Hue::Ink, true, 13.0, (0.0, line), Anchor::Start, words);
                }
            }
            Item::Words(lines) => {
                for (at, words) in lines.iter().enumerate() {
                    let line = line + LINE * at as f64;
                    pen.text(Hue::Muted, false, (0.0, line), Anchor::Start, words);
                }
            }
            Item::Strip { label, hue, values, map } => {
                let line = line + 2.0;
                pen.text(*hue, true, (0.0, line), Anchor::Start, label);
                let after = 1.1 * text_width(label, FONT) + 10.0;
                let fit = ((width - after - 16.0) / 60.0) as usize;
                if fit > 0 {
                    let numbers = first(values, fit);
                    pen.text(Hue::Muted, false, (after, line), Anchor::Start, &numbers);
                }
                cells(pen, colors, (values, *map), (0.0, top + 18.0, width, 13.0));
            }
            Item::Heads(names, rest) => {
                pen.text(Hue::Muted, false, (0.0, line), Anchor::Start, rest);
                for (at, name) in names.iter().rev().enumerate() {
                    let right = width - NUMBER * at as f64;
                    pen.text(Hue::Muted, false, (right, line), Anchor::End, name);
                }
            }
            Item::Row(row) => self.row(pen, colors, row, (top, width)),
        }
    }

    fn row(&self, pen: &mut Pen, colors: &Colors, row: &Row, (top, width): (f64, f64)) {
        let line = top + 12.0;
        let name = escape(&token::short_mark(row.token, LONGEST_NAME));
        let base = line - token::raised(&name, FONT);
        let _ = write!(
            pen.svg,
            r#"<text x="0" y="{base:.1}" font-size="{FONT}" font-family="{MONO}" fill="{}">{name}</text>"#,
            pen.hue(Hue::Ink),
        );
        let mut left = if self.tinted { LONG_NAME } else { NAME };
        if let Some(place) = row.place {
            left += PLACE;
            let place = (place + 1).to_string();
            pen.text(Hue::Muted, false, (left - 4.0, line), Anchor::End, &place);
        }
        let right = width - NUMBER * row.numbers.len() as f64;
        match row.shown {
            Shown::Cells(values, map) => {
                cells(pen, colors, (values, map), (left, top + 2.0, right - left, 13.0));
            }
            Shown::Bar(hue, share) => {
                let long = (right - left) * f64::from(share.clamp(0.0, 1.0));
                pen.shade(hue, (left, top + 3.0), (long.max(1.0), 11.0), 1.0);
            }
        }
        for (at, number) in row.numbers.iter().rev().enumerate() {
            let right = width - NUMBER * at as f64;
            pen.text(Hue::Ink, false, (right, line), Anchor::End, &four_decimals(*number));
        }
    }
}

/// The first numbers of a row.
fn first(values: &[f32], count: usize) -> String {
    let numbers: Vec<String> =
        values.iter().take(count).map(|value| four_decimals(*value)).collect();
    numbers.join(", ") + if values.len() > count { ", …" } else { "" }
}

/// A row of cells; as in the picture not all of them, where they would be a blur.
fn cells(
    pen: &mut Pen,
    colors: &Colors,
    (values, map): (&[f32], ValueMap),
    (x, y, width, height): Area,
) {
    let drawn = ((width / LEAST_CELL) as usize).clamp(1, values.len().max(1));
    let each = width / drawn as f64;
    for cell in 0..drawn {
        let value = values.get(cell * values.len() / drawn).filter(|value| value.is_finite());
        if let Some(value) = value {
            let left = x + each * cell as f64;
            // A hair wider, so that no seam shows between neighbors.
            write_rect(&mut pen.svg, left, y, each * 1.04, height, map.color(*value, colors));
        }
    }
}

/// Left and right of what a stage computes.
pub fn extent(scene: &Scene, stage: Stage) -> (f64, f64) {
    let open = scene.shape.open;
    let of = |part: Part| part.stage(open) == stage && !matches!(part, Part::Tokens | Part::Value);
    // A block before the open one is not what the token has come to.
    let is_passed = |part: Part| matches!(part, Part::Folded(block) if block < open);
    let mut parts = scene.columns.iter().filter(|c| of(c.part) && !is_passed(c.part));
    let Some(first) = parts.next() else { return (scene.panel.1, scene.panel.1) };
    (first.x, parts.next_back().unwrap_or(first).end())
}

/// Left and width of what stands below a part where the picture scrolls: no wider than is seen at once.
pub fn under(scene: &Scene, (left, right): (f64, f64)) -> (f64, f64) {
    let width = (scene.view - 10.0).min(MOST_WIDTH);
    let x = ((left + right - width) / 2.0).clamp(4.0, (scene.width - width - 4.0).max(4.0));
    (x, width)
}

fn framed_norm(scene: &Scene, part: (f64, f64)) -> (f64, f64) {
    scene.column(Part::FinalNorm).map_or(part, |norm| (norm.x, norm.end()))
}

fn room(scene: &Scene, way: Way, stage: Stage, (left, right): (f64, f64)) -> Room {
    // The small maps are pressed while attention is looked at.
    let is_attention = matches!(stage, Stage::Query | Stage::Weights | Stage::Mix);
    let end = if is_attention { scene.rows_end() } else { scene.foot() + 2.0 };
    let top = scene.top - 54.0;
    let half = scene.pitch / 2.0 + 8.0;
    let (above, below) = (scene.middle(way.row) - half, scene.middle(way.row) + half);
    if scene.is_scrolled() {
        let (x, width) = under(scene, (left, right));
        let under_rows = scene.rows_end() + 6.0;
        let low = scene.height - if stage == Stage::Further { BAR_HIGH } else { 4.0 };
        let first = match stage {
            Stage::Next => (scene.bar(BARS - 1) + 8.0).min(low - LEAST_HEIGHT),
            _ if is_attention => scene.foot() - 3.0,
            _ => under_rows,
        };
        // Nothing of what the story speaks of is hidden where a box below it is seen together with its row.
        let is_near = |top: &f64| top + LEAST_HEIGHT - above <= scene.seen;
        let top = [first, under_rows].into_iter().find(is_near).unwrap_or(below);
        let bottom = (scene.top - NAMES + scene.seen).max(top + LEAST_HEIGHT).min(low);
        return Room { side: Side::Under, x, width, top, bottom };
    }
    let x = scene.reach(way).max(right) + GAP;
    let free = scene.width - x - 2.0;
    if free >= LEAST_WIDTH {
        return Room { side: Side::Behind, x, width: free.min(MOST_WIDTH), top, bottom: end };
    }
    let first = scene.columns.first().map_or(0.0, |column| column.end() + 8.0);
    let from = left - GAP;
    let width = (from - first).min(MOST_WIDTH);
    let side = |(top, bottom): (f64, f64)| Room {
        side: Side::Before,
        x: from - width,
        width,
        top,
        bottom,
    };
    let (over, under) = (side((top, above)), side((below, end)));
    let best = if over.height() >= under.height() { over } else { under };
    let lowest = side((below, scene.foot() + 2.0));
    let has_room = best.height() >= LEAST_HEIGHT || best.height() >= lowest.height();
    if has_room { best } else { lowest }
}

/// The colors of the rows after the open block and those behind it: one scale, so that they can be compared.
pub fn further_map(pass: &Pass) -> ValueMap {
    let stream = &pass.stream.values;
    let before = pass.embeddings.values.len() * (pass.detail.block as usize + 1);
    ValueMap::around_most(stream.get(before..).unwrap_or_default())
}

/// How much a box says.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Detail {
    All,
    /// Only what its stage is about.
    Less,
    /// No sentences, but under a list.
    Numbers,
    /// A title and one strip or list.
    Least,
}

/// By what the keys are chosen of which a list tells, where it has no room for all.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Score,
    Weight,
}

/// A box while it is filled.
struct Build<'a> {
    pass: &'a Pass,
    way: Way,
    architecture: Architecture,
    width: f64,
    most: f64,
    detail: Detail,
    items: Vec<Item<'a>>,
}

impl<'a> Build<'a> {
    /// As much as there is room for.
    fn fit(&mut self, stage: Stage) {
        use Detail::{All, Least, Less, Numbers};
        for detail in [All, Less, Numbers, Least] {
            // Lists would take the room that there is, however short it leaves them.
            if detail == All && self.most < LOW {
                continue;
            }
            self.detail = detail;
            self.items.clear();
            self.fill(stage);
            if self.height() <= self.most {
                return;
            }
        }
        while self.height() > self.most && self.items.len() > 1 {
            self.items.pop();
        }
    }

    fn height(&self) -> f64 {
        self.items.iter().map(Item::height).sum()
    }

    fn fill(&mut self, stage: Stage) {
        let done = match stage {
            Stage::Query => self.products(),
            Stage::Weights => self.weights(),
            Stage::Mix => self.mix(),
            Stage::FeedForward => self.feed_forward(),
            Stage::Further => {
                self.further();
                Some(())
            }
            Stage::Next => self.next(),
            Stage::Embedding | Stage::Whole => self.embedding(),
        };
        if done.is_none() {
            self.items.clear();
            self.title("This model does not have this part.");
        }
    }

    fn title(&mut self, text: &str) {
        self.items.push(Item::Title(wrapped(text, self.width, 13.0)));
    }

    fn say(&mut self, text: &str) {
        if self.detail < Detail::Numbers {
            self.items.push(Item::Words(wrapped(text, self.width, FONT)));
        }
    }

    /// The followed row of a part.
    fn of(&self, part: Part, row: usize) -> Option<(&'a [f32], ValueMap)> {
        let all = values(self.pass, part, self.way.head)?;
        let count = all.len().checked_div(self.pass.tokens.len())?;
        Some((all.get(row * count..(row + 1) * count)?, map(part, all)))
    }

    fn strip(&mut self, label: String, hue: Hue, (values, map): (&'a [f32], ValueMap)) {
        let has_one = self.items.iter().any(|item| matches!(item, Item::Strip { .. }));
        if self.detail < Detail::Least || !has_one {
            self.items.push(Item::Strip { label, hue, values, map });
        }
    }

    fn is_low(&self) -> bool {
        self.detail > Detail::All
    }

    /// How many rows there is still room for, when so much follows them. Sentences give way to a second one.
    fn rows(&self, after: f64) -> usize {
        let least = if self.detail < Detail::Numbers { 2 } else { 1 };
        (((self.most - self.height() - after) / ROW) as usize).max(least)
    }

    fn name(&self) -> String {
        let text = self.pass.tokens.get(self.way.row).map_or("", String::as_str);
        format!("‘{}’", token::mark(text))
    }

    /// The followed row in the stream before a block, or after the last one.
    fn stream(&self, block: usize) -> Option<(&'a [f32], ValueMap)> {
        let all = self.pass.stream.block(&[block])?;
        Some((self.pass.stream.block(&[block, self.way.row])?, ValueMap::around_most(all)))
    }

    fn embedding(&mut self) -> Option<()> {
        let (row, width) = (self.way.row, self.pass.width());
        let id = self.pass.ids.get(row)?;
        self.title(&format!("{} has id {id}", self.name()));
        // Beside fixed vectors the row of the table is lengthened.
        let is_longer =
            matches!(self.architecture.positions, Positions::Sinusoidal | Positions::Integer);
        let times = if is_longer { format!(" × √{width}") } else { String::new() };
        if !self.is_low() {
            let longer = if is_longer { format!(", each times √{width}") } else { String::new() };
            self.say(&format!("So it gets row {id} of the table: {width} numbers{longer}."));
        }
        self.strip(format!("row {id}{times}"), Hue::Ink, self.of(Part::Embedding, row)?);
        if let Some(position) = self.of(Part::Position, row) {
            self.strip(format!("+ position {}", row + 1), Hue::Ink, position);
            self.strip("= into block 1".to_owned(), Hue::Hidden, self.stream(0)?);
        }
        Some(())
    }

    /// The tokens that may be looked at, at most so many: the largest by this, in their order.
    fn keys(&self, most: usize, by: By) -> Option<(Vec<(usize, f32)>, usize)> {
        let (weights, _) = self.of(Part::Weights, self.way.row)?;
        let rows = weights.len();
        let allowed = |key: &usize| self.pass.mask.get(self.way.row * rows + key) == Some(&true);
        let seen: Vec<usize> = (0..rows).filter(allowed).collect();
        let size = |&key: &usize| {
            if by == By::Weight { weights.get(key).copied() } else { self.divided(key) }
        };
        let sizes = seen.iter().map(size).collect::<Option<Vec<f32>>>()?;
        let mut keys: Vec<(usize, f32)> =
            largest(&sizes, most).into_iter().map(|(at, size)| (seen[at], size)).collect();
        keys.sort_by_key(|key| key.0);
        Some((keys, seen.len()))
    }

    /// A row for each key, and how many there are where not all have room.
    fn list(
        &mut self,
        heads: &[&'static str],
        by: By,
        after: f64,
        row: impl Fn(&Self, usize, f32) -> Option<(Shown<'a>, Vec<f32>)>,
    ) -> Option<()> {
        self.items.push(Item::Heads(heads.to_vec(), String::new()));
        let (mut keys, all) = self.keys(self.rows(after), by)?;
        // A sentence gives way where only for it not all keys have room.
        let words = self.items.iter().position(|item| matches!(item, Item::Words(_)));
        if let Some(at) = words.filter(|_| keys.len() < all) {
            let said = self.items.remove(at);
            if self.rows(after) < all {
                self.items.insert(at, said);
            } else {
                keys = self.keys(all, by)?.0;
            }
        }
        if let Some(Item::Heads(_, rest)) = self.items.last_mut()
            && keys.len() < all
        {
            let listed: f32 = keys.iter().map(|key| key.1).sum();
            *rest = match by {
                By::Score => format!("{} of {all} keys", keys.len()),
                By::Weight => format!("the rest: {}", four_decimals(1.0 - listed)),
            };
        }
        for (key, size) in keys {
            let (shown, numbers) = row(self, key, size)?;
            let token = self.pass.tokens.get(key)?;
            self.items.push(Item::Row(Row { token, place: Some(key), shown, numbers }));
        }
        Some(())
    }

    /// Query times key.
    fn product(&self, key: usize) -> Option<f32> {
        let (query, _) = self.of(Part::Query, self.way.row)?;
        let (key, _) = self.of(Part::Key, key)?;
        Some(query.iter().zip(key).map(|(q, k)| q * k).sum())
    }

    /// The product, divided where this model divides it.
    fn divided(&self, key: usize) -> Option<f32> {
        let product = self.product(key)?;
        let width = self.of(Part::Key, key)?.0.len() as f32;
        Some(if self.architecture.scaled { product / width.sqrt() } else { product })
    }

    fn is_alibi(&self) -> bool {
        self.architecture.positions == Positions::Alibi
    }

    fn products(&mut self) -> Option<()> {
        let query = self.of(Part::Query, self.way.row)?;
        self.title(&format!("The query of {} times each key", self.name()));
        let score = match (self.architecture.scaled, self.is_alibi()) {
            (true, false) => format!("Divided by √{}, a product is a score.", query.0.len()),
            (false, false) => "Here each product is the score.".to_owned(),
            (true, true) => {
                format!("Divided by √{}, and lowered with distance, it is a score.", query.0.len())
            }
            (false, true) => "A product, lowered with distance, is the score.".to_owned(),
        };
        self.say(&score);
        if !self.is_low() {
            self.strip("query".to_owned(), Hue::Query, query);
        }
        // A score that is lowered with distance is no part of a pass.
        let heads: &[&str] = match (self.architecture.scaled, self.is_alibi()) {
            (true, true) => &["query · key", "divided"],
            (false, true) => &["query · key"],
            (_, false) => &["query · key", "score"],
        };
        self.list(heads, By::Score, 0.0, |build, key, divided| {
            let (values, map) = build.of(Part::Key, key)?;
            let numbers = [build.product(key)?, divided].into_iter().take(heads.len()).collect();
            Some((Shown::Cells(values, map), numbers))
        })
    }

    fn weights(&mut self) -> Option<()> {
        self.title("Softmax turns scores into weights");
        self.say("Together all its weights are 1.");
        let alibi = self.is_alibi();
        let heads: &[&str] = if alibi { &["weight"] } else { &["score", "weight"] };
        let most = self.of(Part::Weights, self.way.row)?.0.iter().copied().fold(0.0, f32::max);
        self.list(heads, By::Weight, 0.0, |build, key, weight| {
            let score = if alibi { None } else { Some(build.divided(key)?) };
            let numbers = score.into_iter().chain([weight]).collect();
            Some((Shown::Bar(Hue::Query, weight / most), numbers))
        })
    }

    fn mix(&mut self) -> Option<()> {
        let row = self.way.row;
        let (mix, joined) = (self.of(Part::Mix, row)?, self.of(Part::Attention, row)?);
        self.title("The values, each times its weight");
        if !self.is_low() {
            self.say("Their sum is the mix. The joined mixes, times Wᴼ, are added to the line.");
        }
        let after = if self.is_low() { STRIP } else { 2.0 * STRIP };
        if self.detail < Detail::Least {
            self.list(&["weight"], By::Weight, after, |build, key, weight| {
                let (values, map) = build.of(Part::Value, key)?;
                Some((Shown::Cells(values, map), vec![weight]))
            })?;
        }
        self.strip("mix".to_owned(), Hue::Value, mix);
        if !self.is_low() {
            let label =
                if self.architecture.residual { "added to the line" } else { "the new line" };
            self.strip(label.to_owned(), Hue::Ink, joined);
        }
        Some(())
    }

    fn feed_forward(&mut self) -> Option<()> {
        let neurons = self.of(Part::FeedForward, self.way.row)?;
        let output = &self.pass.detail.feed_forward.as_ref()?.output;
        let after = (output.block(&[self.way.row])?, ValueMap::around_most(&output.values));
        let (count, width) = (neurons.0.len(), self.pass.width());
        let active = neurons.0.iter().filter(|&&value| value > 0.0).count();
        self.title(&format!("{count} neurons read this row alone"));
        let are = if active == 1 { "is" } else { "are" };
        self.say(&format!(
            "{active} {are} above 0. A matrix turns them back into {width} numbers."
        ));
        self.strip("neurons".to_owned(), Hue::Ink, neurons);
        self.strip("feed-forward output".to_owned(), Hue::Hidden, after);
        Some(())
    }

    fn further(&mut self) {
        let (open, blocks) = (self.pass.detail.block as usize, self.pass.sizes.blocks.len());
        match blocks - open.min(blocks) {
            0 | 1 => self.title(&format!("Block {} is the last", open + 1)),
            2 => self.title(&format!("Block {blocks} does the same")),
            _ => self.title(&format!("Blocks {} to {blocks} do the same", open + 2)),
        }
        self.say("Each block has parameters of its own.");
        let room = ((self.most - self.height()) / STRIP) as usize;
        let after = (open + 1..=blocks).rev().take(room.max(1)).collect::<Vec<_>>();
        let map = further_map(self.pass);
        for block in after.into_iter().rev() {
            if let Some(row) = self.pass.stream.block(&[block, self.way.row]) {
                self.strip(format!("row after block {block}"), Hue::Hidden, (row, map));
            }
        }
    }

    fn next(&mut self) -> Option<()> {
        let row = self.way.row;
        let shares = self.pass.probabilities.block(&[row])?;
        self.title(&format!("What comes after {}?", self.name()));
        self.say("The row gives each token a logit. Softmax turns the logits into shares p. ln p is the logit, minus the same number for all.");
        if !self.is_low() {
            self.strip("norm".to_owned(), Hue::Ink, self.of(Part::FinalNorm, row)?);
        }
        self.items.push(Item::Heads(vec!["ln p", "p"], String::new()));
        let most = self.rows(0.0).min(BARS);
        let largest = largest(shares, most);
        let longest = largest.first().map_or(1.0, |(_, share)| *share);
        for (id, share) in largest {
            let token = self.pass.vocabulary.get(id)?;
            let shown = Shown::Bar(Hue::Output, share / longest);
            let numbers = vec![share.ln(), share];
            self.items.push(Item::Row(Row { token, place: None, shown, numbers }));
        }
        Some(())
    }
}

/// A title as it is said.
fn sentence(lines: &[String]) -> String {
    let title = lines.join(" ");
    if title.ends_with(['.', '?']) { title } else { title + "." }
}

/// A text in lines that are no wider than this.
fn wrapped(text: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapters::machine::{cells::tests::pass, scene::Shape};

    const ROOMS: [(f64, f64); 4] =
        [(1000.0, 600.0), (830.0, 365.0), (676.0, 304.0), (366.0, 203.0)];

    #[test]
    fn every_stage_has_a_box_within_the_picture_beside_its_row() {
        for rows in [1, 6, 16] {
            let pass = pass(rows, 2);
            for room in ROOMS {
                for row in 0..rows as usize {
                    for reached in 1..Stage::ALL.len() {
                        let way = Way { head: 1, row, reached, lines: false };
                        let scene = Scene::new(Shape::of(&pass), room).following(row);
                        let callout = Callout::new(&scene, &pass, way, Architecture::GPT2).unwrap();
                        let (x, y, width, height) = callout.area;
                        let case = format!("{rows} rows, {room:?}, {way:?}: {:?}", callout.area);
                        assert!(x >= 0.0 && x + width <= scene.width, "{case}");
                        assert!(y >= 0.0 && y + height <= scene.height, "{case}");
                        assert!(width >= 200.0 || !callout.drawn, "{case}");
                        let repeats = reached + 1 == Stage::ALL.len() && !scene.is_scrolled();
                        assert_eq!(callout.drawn, !repeats, "{case}");
                        assert!(
                            !callout.words().is_empty() && !callout.title().is_empty(),
                            "{case}"
                        );
                        let middle = scene.middle(row);
                        let (above, below) =
                            (middle - scene.strip() / 2.0, middle + scene.strip() / 2.0);
                        let is_beside = callout.side == Side::Behind;
                        let is_clear = y + height <= above || y >= below || !callout.drawn;
                        assert!(is_beside || is_clear, "{case}");
                        assert!(callout.items.len() > 1, "{case}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_phone_sees_the_rows_and_their_small_maps_beside_the_box() {
        let pass = pass(6, 2);
        let scene = Scene::new(Shape::of(&pass), (366.0, 262.0)).following(5);
        let colors = Colors::new(&crate::figures::color::Palette::DARK);
        for reached in 1..Stage::ALL.len() {
            let way = Way { head: 0, row: 5, reached, lines: false };
            let callout = Callout::new(&scene, &pass, way, Architecture::GPT2).unwrap();
            let (_, top, _, height) = callout.with_part();
            let maps = (2..5).contains(&reached);
            let end = if maps { scene.heads[0].1 + scene.heads[0].2 } else { scene.rows_end() };
            assert!(callout.area.1 >= end && height <= scene.seen, "{reached}: {:?}", callout.area);
            assert!(top <= scene.top - 18.0, "{reached}: the names are cut at {top}");
        }
        // A room that is not laid out yet.
        let none = Scene::new(scene.shape, (0.0, 0.0)).following(5);
        let way = Way { head: 0, row: 5, reached: 7, lines: false };
        let callout = Callout::new(&none, &pass, way, Architecture::GPT2).unwrap();
        assert!(!callout.svg(Paint::page(), &colors).is_empty());
    }

    #[test]
    fn the_numbers_are_those_of_the_pass() {
        let pass = pass(4, 2);
        let scene = Scene::new(Shape::of(&pass), (1000.0, 600.0));
        let words = |reached: usize, architecture: Architecture| {
            let way = Way { head: 1, row: 2, reached, lines: false };
            Callout::new(&scene, &pass, way, architecture).unwrap().words()
        };
        let attention = pass.detail.attention.as_ref().unwrap();
        let [query, key] = [&attention.queries, &attention.keys].map(|a| a.block(&[1]).unwrap());
        let product: f32 = (0..4).map(|i| query[8 + i] * key[4 + i]).sum();
        let said = words(2, Architecture::GPT2);
        let both = format!("{} {}", four_decimals(product), four_decimals(product / 2.0));
        assert!(said.contains(&both), "{said}");
        let alibi = Architecture { positions: Positions::Alibi, ..Architecture::GPT2 };
        assert!(!words(3, alibi).contains("score,"));
        let plain = Architecture { scaled: false, ..alibi };
        assert!(words(2, plain).contains("token, query · key:"));
        let vectors = Architecture { positions: Positions::Sinusoidal, ..Architecture::GPT2 };
        assert!(words(1, vectors).contains("row 2 × √8:") && !words(1, alibi).contains('×'));
        let weight = four_decimals(pass.weights.get(&[0, 1, 2, 1]).unwrap());
        assert!(words(3, Architecture::GPT2).contains(&weight));
        assert!(words(6, Architecture::GPT2).contains("after block 2"));
        let way = Way { head: 0, row: 0, reached: Stage::ALL.len(), lines: false };
        assert!(Callout::new(&scene, &pass, way, Architecture::GPT2).is_none());
        let opened = Scene::new(Shape { open: 1, ..scene.shape }, (1000.0, 600.0));
        let way = Way { reached: 6, ..way };
        assert!(Callout::new(&opened, &pass, way, Architecture::GPT2).is_none());
    }
    #[test]
    fn what_a_model_lacks_is_said_in_one_sentence() {
        let mut pass = pass(4, 2);
        (pass.detail.attention, pass.weights) = (None, Default::default());
        let scene = Scene::new(Shape::of(&pass), (1000.0, 600.0));
        for reached in 2..=4 {
            let way = Way { head: 0, row: 2, reached, lines: false };
            let callout = Callout::new(&scene, &pass, way, Architecture::GPT2).unwrap();
            assert_eq!(callout.words(), "This model does not have this part.");
        }
    }
}
