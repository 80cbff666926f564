//! Parts of plots: axes, thinned lines, dashes, labels that keep out of each other's way. Pure
//! functions, and a surface that is a canvas on screen and an SVG in a file.

use leptos::{html, prelude::*};
use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};
use plotters_canvas::CanvasBackend;

use super::{
    canvas::{Size, prepare},
    color::{Palette, Rgb},
    theme::Colors,
};
use crate::reactive::effect;

const FONT: &str = "system-ui, sans-serif";

/// The page's font. Not by plotters' conversion from a name, which brings Unicode's tables of small
/// letters along: 5 KB to download.
fn font(size: f64) -> FontDesc<'static> {
    FontDesc::new(FontFamily::Name(FONT), size, FontStyle::Normal)
}

/// plotters' SVG backend divides font sizes by this.
pub const SVG_TEXT_SCALE: f64 = 1.24;

pub type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

fn rgb(Rgb(r, g, b): Rgb) -> RGBColor {
    RGBColor(r, g, b)
}

/// A round distance between ticks, at most `most` of which lie between 0 and `end`.
fn tick_distance(end: f64, most: f64) -> f64 {
    let decade = 10f64.powf((end / most).log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|f| f * decade).into_iter().find(|d| end / d <= most).unwrap_or(end)
}

/// Last step on the axis: the last step taken, rounded up to a round number of which it holds ten
/// at least, so that the axis moves seldom and at most a tenth of it is empty.
pub fn last_step_shown(last_step: u32) -> u32 {
    // Of the first few the axis holds ten, and then goes on by two.
    let (mut round, mut decade) = (2, 1u32);
    while decade <= last_step / 10 {
        let within = [1, 2, 5].map(|factor| decade.saturating_mul(factor));
        let largest = within.into_iter().rfind(|round| *round <= last_step / 10);
        round = largest.unwrap_or(decade).max(2);
        decade = decade.saturating_mul(10);
    }
    last_step.max(10).div_ceil(round).saturating_mul(round)
}

/// A number as axes and tables write it: `0.05`, `1200`, `3.2·10⁻⁹`.
pub fn short(value: f64) -> String {
    with_digits(value, 5)
}

/// A number that is read in passing: as [`short`], to four digits.
pub fn brief(value: f64) -> String {
    with_digits(value, 4)
}

fn with_digits(value: f64, digits: u8) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if (1e-4..1e6).contains(&size) {
        let digits = (f64::from(digits) - 1.0 - size.log10().floor()).clamp(0.0, 8.0) as usize;
        let text = format!("{value:.digits$}");
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        text.replace('-', "−")
    } else {
        power_of_ten(value, 2)
    }
}

/// A share of one whole with so many decimal places: `37%`, `37.04%`.
pub fn percent(share: impl Into<f64>, places: usize) -> String {
    format!("{:.places$}%", 100.0 * share.into())
}

/// A number by its power of ten, with at most so many decimals: `2.98·10⁻⁸`.
pub fn power_of_ten(value: f64, decimals: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.abs().to_string();
    }
    let text = format!("{value:.decimals$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    let power = superscript(exponent.parse().unwrap_or(0));
    let text = match (digits, exponent) {
        (_, "0") => digits.to_owned(),
        ("1", _) => format!("10{power}"),
        _ => format!("{digits}·10{power}"),
    };
    text.replace('-', "−")
}

/// A number as an exponent.
pub fn superscript(exponent: i32) -> String {
    let sign = if exponent < 0 { "⁻" } else { "" };
    let digit =
        |c: char| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize];
    sign.chars().chain(exponent.unsigned_abs().to_string().chars().map(digit)).collect()
}

/// One axis: what it spans, and whether by equal differences or equal factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub from: f64,
    pub to: f64,
    pub log: bool,
}

impl Axis {
    /// An axis from `range`, or else one that holds all `values` and ends on round numbers. Log
    /// axes hold the positive ones. A linear axis whose values are all on one side begins at 0 when
    /// `from_zero`.
    pub fn over(
        values: impl Iterator<Item = f64>,
        range: Option<(f64, f64)>,
        log: bool,
        from_zero: bool,
    ) -> Self {
        if let Some((from, to)) = range.filter(|&(from, to)| from < to && (!log || from > 0.0)) {
            return Self { from, to, log };
        }
        let kept = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let (low, high) = kept
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            return Self { from: if log { 0.1 } else { 0.0 }, to: 1.0, log };
        }
        if log {
            let (from, to) = (low.log10().floor(), high.log10().ceil());
            let to = if to > from { to } else { from + 1.0 };
            return Self { from: 10f64.powf(from), to: 10f64.powf(to), log };
        }
        if !from_zero {
            let (from, to) = if low < high { (low, high) } else { (low - 0.5, low + 0.5) };
            return Self { from, to, log };
        }
        let (low, high) = (low.min(0.0), high.max(0.0));
        let (low, high) = if low < high { (low, high) } else { (0.0, 1.0) };
        let distance = tick_distance(high - low, 6.0);
        let round = |v: f64| v * distance;
        Self { from: round((low / distance).floor()), to: round((high / distance).ceil()), log }
    }

    /// A linear axis that begins just under the least of `values`, on a round number, and ends just
    /// over the greatest, or at `most` where that is as great. What moves less than a quarter of
    /// the greatest has that much room all the same: noise does not fill a plot.
    pub fn close(
        values: impl Iterator<Item = f64>,
        range: Option<(f64, f64)>,
        most: Option<f64>,
    ) -> Self {
        let values = values.chain(most).filter(|v| v.is_finite());
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if range.is_some() || low > high || high <= 0.0 {
            return Self::over([low, high].into_iter(), range, false, true);
        }
        let low = low.min(high - high / 4.0);
        let distance = tick_distance(high - low, 20.0);
        let from = (low / distance - 0.05).floor() * distance;
        let from = if low >= 0.0 { from.max(0.0) } else { from };
        let finer = distance / 2.0;
        let to = if most == Some(high) { high } else { (high / finer - 1e-6).ceil() * finer };
        Self { from, to, log: false }
    }

    /// Where `value` lies between the ends, 0 to 1; `None` for what has no place on the axis.
    pub fn share(&self, value: f64) -> Option<f64> {
        let share = if self.log {
            if value <= 0.0 {
                return None;
            }
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        share.is_finite().then_some(share)
    }

    /// The value at `share` of the way.
    pub fn value(&self, share: f64) -> f64 {
        if self.log {
            self.from * (self.to / self.from).powf(share)
        } else {
            self.from + share * (self.to - self.from)
        }
    }

    /// At most about `most` round values with their labels.
    pub fn ticks(&self, most: f64) -> Vec<(f64, String)> {
        let most = most.max(1.0);
        let labeled = |v: f64| (v, short(v));
        if self.log {
            let decades = (self.to / self.from).log10();
            let (first, last) = (self.from.log10(), self.to.log10());
            let every = (decades / most).ceil().max(1.0);
            let within = |v: &f64| *v >= self.from * 0.999_999 && *v <= self.to * 1.000_001;
            let start = (first / every - 1e-9).ceil() * every;
            let count = ((last - start) / every + 1e-9).floor().max(-1.0) as i32;
            let round: Vec<f64> =
                (0..=count).map(|i| 10f64.powf(start + f64::from(i) * every)).collect();
            if round.len() >= 3 {
                return round.into_iter().map(labeled).collect();
            }
            // One decade or two: 2 and 5 stand between.
            let low = first.floor() as i32;
            let finer =
                (low..=last.ceil() as i32).flat_map(|d| [1.0, 2.0, 5.0].map(|f| f * 10f64.powi(d)));
            let finer: Vec<f64> = finer.filter(within).collect();
            if finer.len() >= 2 && finer.len() as f64 <= most.max(4.0) {
                return finer.into_iter().map(labeled).collect();
            }
            if round.len() >= 2 {
                return round.into_iter().map(labeled).collect();
            }
            return vec![labeled(self.from), labeled(self.to)];
        }
        let distance = tick_distance(self.to - self.from, most);
        let first = (self.from / distance - 1e-6).ceil() as i64;
        let last = (self.to / distance + 1e-6).floor() as i64;
        (first..=last).map(|i| labeled(i as f64 * distance)).collect()
    }
}

/// The line cut where it has a gap (a value that is not finite, or has no place on a log axis), and
/// with the lowest and highest value of each of `buckets` equal spans of x only, in the order they
/// came, so that no spike is lost where many points share a pixel. What lies outside `x` is left
/// out, save one point either side.
pub fn thin(points: &[(f64, f64)], x: Axis, log: bool, buckets: usize) -> Vec<Vec<(f64, f64)>> {
    let first = points.partition_point(|p| p.0 < x.from).saturating_sub(1);
    let last = (points.partition_point(|p| p.0 <= x.to) + 1).min(points.len());
    let within = &points[first.min(last)..last];
    let placed = |p: &(f64, f64)| p.1.is_finite() && (!log || p.1 > 0.0);
    let runs = within.split(|p| !placed(p)).filter(|run| !run.is_empty());
    if within.len() <= 2 * buckets {
        return runs.map(<[_]>::to_vec).collect();
    }
    let bucket_of = |p: &(f64, f64)| (x.share(p.0).unwrap_or(0.0) * buckets as f64).floor() as i64;
    let thin_run = |run: &[(f64, f64)]| {
        let mut line = vec![];
        for bucket in run.chunk_by(|a, b| bucket_of(a) == bucket_of(b)) {
            // Of a chunk, the first is there; ends are kept so that lines meet their gaps.
            let at = |better: fn(f64, f64) -> bool| {
                (1..bucket.len())
                    .fold(0, |best, i| if better(bucket[i].1, bucket[best].1) { i } else { best })
            };
            let (low, high) = (at(|a, b| a < b), at(|a, b| a > b));
            line.push(bucket[low.min(high)]);
            if low != high {
                line.push(bucket[low.max(high)]);
            }
        }
        line
    };
    runs.map(thin_run).collect()
}

/// Where labels of `height` go that would like to be at `wanted`: as near as can be without one
/// over another, within `low` and `high`, in the order of what they want.
pub fn place_labels(wanted: &[f64], height: f64, low: f64, high: f64) -> Vec<f64> {
    let n = wanted.len();
    if n == 0 {
        return vec![];
    }
    // Too many for the space: closer together, never out of it.
    let height = if n > 1 { height.min((high - low) / (n - 1) as f64) } else { height };
    // A handful: the library's sort would be a hundred times as much code.
    let mut order: Vec<usize> = Vec::with_capacity(n);
    for label in 0..n {
        let below = |&other: &usize| wanted[other].total_cmp(&wanted[label]).is_le();
        order.insert(order.partition_point(below), label);
    }
    // What is left after taking off the heights above must not fall: pool neighbors that do.
    let mut pools: Vec<(f64, usize)> = vec![];
    for (i, &label) in order.iter().enumerate() {
        pools.push((wanted[label] - i as f64 * height, 1));
        while let [.., (above, a), (below, b)] = pools[..]
            && above > below
        {
            pools.truncate(pools.len() - 2);
            pools.push(((above * a as f64 + below * b as f64) / (a + b) as f64, a + b));
        }
    }
    let mut places = vec![0.0; n];
    let flat = pools.iter().flat_map(|&(place, count)| std::iter::repeat_n(place, count));
    for (i, (&label, place)) in order.iter().zip(flat).enumerate() {
        let place = place.clamp(low, (high - (n - 1) as f64 * height).max(low));
        places[label] = place + i as f64 * height;
    }
    places
}

/// About how wide text of so many CSS pixels is in the page's font, whichever the system has: by its
/// letters, as the widest of the usual fonts draws them. A file is drawn for fonts that nobody knows.
pub fn text_width(text: &str, size: f64) -> f64 {
    let ems = text.chars().map(|letter| match letter {
        ' ' | '.' | ',' | ':' | ';' | '!' | '|' | '\'' | '’' | '‘' | 'i' | 'j' | 'l' | 'I'
        | 'J' => 0.32,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '/' | '-' | '·' | '“' | '”' | '"' => 0.42,
        'c' | 'k' | 's' | 'z' => 0.56,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '→' | '←' | '—' => 0.98,
        'O' | 'Q' | 'D' | 'G' | 'H' | 'N' | 'U' | '=' | '+' | '−' | '<' | '>' => 0.8,
        'A'..='Z' => 0.69,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.42,
        letter if (letter as u32) < 0x2e80 => 0.64,
        _ => 1.0,
    });
    ems.sum::<f64>() * size
}

/// `text` in a line of at most `most` CSS pixels, or in two where `rows` are: broken at the space
/// that makes them most alike, and cut where even that is too wide.
pub fn in_lines(text: &str, size: f64, most: f64, rows: usize) -> Vec<String> {
    let width = |text: &str| text_width(text, size);
    if width(text) <= most {
        return vec![text.to_owned()];
    }
    let halves = text.match_indices(' ').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let wider = |(a, b): &(&str, &str)| width(a).max(width(b));
    let best = halves.min_by(|a, b| wider(a).total_cmp(&wider(b)));
    if let Some((first, second)) = best.filter(|halves| rows > 1 && wider(halves) <= most) {
        return vec![first.to_owned(), second.to_owned()];
    }
    let mut cut = String::new();
    for letter in text.chars() {
        if width(&cut) + width(&format!("{letter}…")) > most {
            break;
        }
        cut.push(letter);
    }
    vec![cut.trim_end().to_owned() + "…"]
}

/// How far, up or down, a polyline keeps from a box between `left` and `right`, `top` and `bottom`:
/// 0 where it runs through it, infinite where it is nowhere above or below.
pub fn clearance(line: &[(f64, f64)], (left, right): (f64, f64), (top, bottom): (f64, f64)) -> f64 {
    let gap = |low: f64, high: f64| (low - bottom).max(top - high).max(0.0);
    if let &[(x, y)] = line {
        return if (left..=right).contains(&x) { gap(y, y) } else { f64::INFINITY };
    }
    let gaps = line.windows(2).filter_map(|pair| {
        let (a, b) = (pair[0], pair[1]);
        let (from, to) = (a.0.min(b.0).max(left), a.0.max(b.0).min(right));
        let at =
            |x: f64| if a.0 == b.0 { a.1 } else { a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0) };
        let ends = if a.0 == b.0 { [a.1, b.1] } else { [at(from), at(to)] };
        (from <= to).then(|| gap(ends[0].min(ends[1]), ends[0].max(ends[1])))
    });
    gaps.fold(f64::INFINITY, f64::min)
}

/// The parts of a polyline that lie between `top` and `bottom`.
pub fn clip(line: &[(f64, f64)], top: f64, bottom: f64) -> Vec<Vec<(f64, f64)>> {
    let inside = |p: (f64, f64)| (top..=bottom).contains(&p.1);
    let mut pieces = vec![];
    let mut piece: Vec<(f64, f64)> =
        line.first().copied().filter(|&p| inside(p)).into_iter().collect();
    for pair in line.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if !inside(a) || !inside(b) {
            // Where the segment crosses an edge, in the order of travel.
            let crossing = |edge: f64| {
                let t = (edge - a.1) / (b.1 - a.1);
                ((0.0..=1.0).contains(&t) && a.1 != b.1).then_some((a.0 + t * (b.0 - a.0), edge))
            };
            let edges = if a.1 < b.1 { [top, bottom] } else { [bottom, top] };
            for cut in edges.into_iter().filter_map(crossing) {
                piece.push(cut);
                if piece.len() > 1 && !inside(b) {
                    pieces.push(std::mem::take(&mut piece));
                }
            }
        }
        if inside(b) {
            piece.push(b);
        } else if !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    pieces.push(piece);
    pieces.retain(|p| !p.is_empty());
    pieces
}

/// A polyline cut into dashes of `pattern`.
fn dashes(line: &[(f64, f64)], pattern: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let (Some(&first), false) = (line.first(), pattern.is_empty()) else {
        return vec![line.to_vec()];
    };
    let mut pieces = vec![];
    let (mut part, mut left, mut piece) = (0, pattern[0], vec![first]);
    for pair in line.windows(2) {
        let (mut a, b) = (pair[0], pair[1]);
        loop {
            let length = (b.0 - a.0).hypot(b.1 - a.1);
            if length < left {
                left -= length;
                break;
            }
            let t = left / length;
            a = (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1));
            if part % 2 == 0 {
                piece.push(a);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![a];
            }
            part = (part + 1) % pattern.len();
            left = pattern[part];
        }
        if part % 2 == 0 {
            piece.push(b);
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

/// Where text stands relative to its place.
#[derive(Clone, Copy)]
pub struct Anchor(pub HPos, pub VPos);

impl Anchor {
    pub const LEFT: Self = Self(HPos::Left, VPos::Center);
    pub const RIGHT: Self = Self(HPos::Right, VPos::Center);
    pub const BELOW: Self = Self(HPos::Center, VPos::Top);
    pub const ABOVE_RIGHT: Self = Self(HPos::Right, VPos::Bottom);
    pub const BELOW_RIGHT: Self = Self(HPos::Right, VPos::Top);
    pub const ABOVE_LEFT: Self = Self(HPos::Left, VPos::Bottom);
    pub const BELOW_LEFT: Self = Self(HPos::Left, VPos::Top);
}

/// A drawing area spoken to in CSS pixels.
pub struct Surface<'a, DB: DrawingBackend> {
    pub area: &'a DrawingArea<DB, Shift>,
    /// Pixels of the area for each CSS pixel.
    pub scale: f64,
    /// Font sizes are multiplied by this: [`SVG_TEXT_SCALE`] for SVG.
    pub text_scale: f64,
}

impl<DB: DrawingBackend> Surface<'_, DB> {
    /// Width and height in CSS pixels.
    pub fn size(&self) -> (f64, f64) {
        let (width, height) = self.area.dim_in_pixel();
        (f64::from(width) / self.scale, f64::from(height) / self.scale)
    }

    fn pixel(&self, (x, y): (f64, f64)) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    pub fn fill(&self, color: Rgb) -> Drawn<DB> {
        self.area.fill(&rgb(color))
    }

    pub fn text(
        &self,
        text: &str,
        at: (f64, f64),
        size: f64,
        color: Rgb,
        anchor: Anchor,
    ) -> Drawn<DB> {
        let font = font(size * self.scale * self.text_scale);
        let style = font.color(&rgb(color)).pos(Pos::new(anchor.0, anchor.1));
        self.area.draw(&Text::new(text.to_string(), self.pixel(at), style))
    }

    /// What text that is drawn next at this place needs around it to be read over lines: itself in
    /// the color of the paper, a little to every side.
    pub fn halo(
        &self,
        text: &str,
        (x, y): (f64, f64),
        size: f64,
        paper: Rgb,
        anchor: Anchor,
    ) -> Drawn<DB> {
        for (dx, dy) in [(2.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.0, -2.0)] {
            self.text(text, (x + dx, y + dy), size, paper, anchor)?;
        }
        for (dx, dy) in [(1.5, 1.5), (-1.5, 1.5), (1.5, -1.5), (-1.5, -1.5)] {
            self.text(text, (x + dx, y + dy), size, paper, anchor)?;
        }
        Ok(())
    }

    /// Text that reads upwards, its middle at `at`.
    pub fn upwards(&self, text: &str, at: (f64, f64), size: f64, color: Rgb) -> Drawn<DB> {
        let font = font(size * self.scale * self.text_scale);
        let style = font.transform(FontTransform::Rotate270).color(&rgb(color));
        let style = style.pos(Pos::new(HPos::Center, VPos::Top));
        self.area.draw(&Text::new(text.to_string(), self.pixel(at), style))
    }

    pub fn line(
        &self,
        points: &[(f64, f64)],
        color: Rgb,
        width: f64,
        pattern: &[f64],
    ) -> Drawn<DB> {
        let style = rgb(color).stroke_width((width * self.scale).round().max(1.0) as u32);
        for piece in dashes(points, pattern) {
            let piece: Vec<(i32, i32)> = piece.into_iter().map(|p| self.pixel(p)).collect();
            self.area.draw(&PathElement::new(piece, style))?;
        }
        Ok(())
    }

    pub fn dot(&self, at: (f64, f64), radius: f64, color: Rgb) -> Drawn<DB> {
        let radius = (radius * self.scale).round() as i32;
        self.area.draw(&Circle::new(self.pixel(at), radius, rgb(color).filled()))
    }

    pub fn block(&self, from: (f64, f64), to: (f64, f64), color: Rgb) -> Drawn<DB> {
        self.area.draw(&Rectangle::new([self.pixel(from), self.pixel(to)], rgb(color).filled()))
    }
}

/// Draws on `canvas` whenever what `draw` reads, the size or the theme changes.
pub fn use_plot(
    canvas: NodeRef<html::Canvas>,
    size: Signal<Size>,
    colors: Memo<Colors>,
    draw: impl Fn(&Surface<CanvasBackend>, &Palette) -> Drawn<CanvasBackend> + 'static,
) {
    effect(move || {
        let (Some(canvas), size) = (canvas.get(), size.get()) else { return };
        if prepare(&canvas, size).is_none() {
            return;
        }
        let Some(backend) = CanvasBackend::with_canvas_object(canvas) else { return };
        let palette = colors.get().palette;
        let area = backend.into_drawing_area();
        let surface = Surface { area: &area, scale: size.scale, text_scale: 1.0 };
        // What a canvas refuses to draw (it lost its context) comes with the next redraw.
        let _ = surface.fill(palette.paper).and_then(|()| draw(&surface, palette));
    });
}

/// Four decimals and a true minus.
pub fn four_decimals(value: f32) -> String {
    format!("{value:.4}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_ten_is_written_only_where_there_is_one() {
        let written = [2.98e-8, 1e-7, 0.9999, 0.0, -4.0e12].map(|value| power_of_ten(value, 2));
        assert_eq!(written, ["2.98·10⁻⁸", "10⁻⁷", "1", "0", "−4·10¹²"]);
        assert_eq!(superscript(-123), "⁻¹²³");
        assert_eq!((percent(0.25f32, 0), percent(0.12346, 2)), ("25%".into(), "12.35%".into()));
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(tick_distance(4.5, 6.0), 1.0);
        assert_eq!(tick_distance(0.9, 6.0), 0.2);
        let labels = |axis: Axis, most| -> Vec<String> {
            axis.ticks(most).into_iter().map(|t| t.1).collect()
        };
        let linear = Axis::over([0.03, 0.87].into_iter(), None, false, true);
        assert_eq!(labels(linear, 6.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        let signed = Axis::over([-1.7, 2.0].into_iter(), None, false, true);
        assert_eq!(labels(signed, 6.0), ["−2", "−1", "0", "1", "2"]);
        let log = Axis::over([0.0, 3e-9, 40.0].into_iter(), None, true, false);
        assert_eq!((log.from, log.to), (1e-9, 100.0));
        assert_eq!(labels(log, 6.0), ["10⁻⁸", "10⁻⁶", "0.0001", "0.01", "1", "100"]);
        let short_log = Axis { from: 0.5, to: 8.0, log: true };
        assert_eq!(labels(short_log, 6.0), ["0.5", "1", "2", "5"]);
        assert_eq!(log.share(0.0), None);
        assert!((log.share(1e-9).unwrap()).abs() < 1e-12);
        assert!((log.value(log.share(0.25).unwrap()) - 0.25).abs() < 1e-12);
        let nothing = Axis::over([0.0, f64::NAN].into_iter(), None, true, false);
        assert_eq!((nothing.from, nothing.to), (0.1, 1.0));
        assert_eq!(Axis::over([3.0].into_iter(), None, true, false).to, 10.0);
    }

    #[test]
    fn the_last_step_shown_is_round_and_near() {
        assert_eq!([0, 7, 11, 60, 61].map(last_step_shown), [10, 10, 12, 60, 65]);
        assert_eq!([100, 101, 250, 5001].map(last_step_shown), [100, 110, 260, 5500]);
        assert_eq!(last_step_shown(u32::MAX), u32::MAX);
        for step in 20..3000 {
            let shown = last_step_shown(step);
            assert!(shown >= step && 10 * (shown - step) <= step, "{step}: {shown}");
        }
    }

    #[test]
    fn a_close_axis_leaves_little_empty() {
        let ends = |values: &[f64], most| {
            let axis = Axis::close(values.iter().copied(), None, most);
            (axis.from, axis.to)
        };
        let near = |(from, to): (f64, f64), ends: (f64, f64)| {
            assert!((from - ends.0).abs() < 1e-9 && (to - ends.1).abs() < 1e-9, "{from} {to}");
        };
        let nothing = 65f64.ln();
        near(ends(&[4.1, 2.13], Some(nothing)), (2.0, nothing));
        near(ends(&[4.05, 2.13], None), (2.1, 4.05));
        near(ends(&[4.6, 2.13], Some(nothing)), (2.0, 4.6));
        // Before training, and while little has been learned.
        near(ends(&[], Some(4.0)), (2.95, 4.0));
        near(ends(&[4.0, 3.98], Some(4.0)), (2.95, 4.0));
        near(ends(&[4.0, 0.1, f64::NAN], None), (0.0, 4.0));
        near(ends(&[], None), (0.0, 1.0));
        near(ends(&[0.0], None), (0.0, 1.0));
        let given = Axis::close([4.0].into_iter(), Some((0.0, 4.0)), None);
        near((given.from, given.to), (0.0, 4.0));
    }

    #[test]
    fn text_has_the_room_it_takes() {
        // As wide as DejaVu Sans, the widest font that "system-ui" is likely to be, draws them.
        for (text, ems) in [("RNN", 2.19), ("guessing", 4.47), ("Elman, held out", 7.88)] {
            let width = text_width(text, 1.0);
            assert!((ems..1.15 * ems).contains(&width), "{text}: {width}");
        }
        assert_eq!(in_lines("held out", 13.0, 100.0, 2), ["held out"]);
        let long = "BatchNorm, step 1’s everywhere";
        assert_eq!(in_lines(long, 13.0, 150.0, 2), ["BatchNorm, step", "1’s everywhere"]);
        assert_eq!(in_lines(long, 13.0, 90.0, 1), ["BatchNorm…"]);
    }

    #[test]
    fn lines_keep_their_distance() {
        let line = [(0.0, 0.0), (100.0, 100.0)];
        assert_eq!(clearance(&line, (0.0, 10.0), (30.0, 40.0)), 20.0);
        assert_eq!(clearance(&line, (30.0, 60.0), (40.0, 50.0)), 0.0);
        assert_eq!(clearance(&line, (200.0, 210.0), (0.0, 10.0)), f64::INFINITY);
        assert_eq!(clearance(&[(5.0, 5.0)], (0.0, 10.0), (8.0, 20.0)), 3.0);
        assert_eq!(clearance(&[], (0.0, 10.0), (8.0, 20.0)), f64::INFINITY);
    }

    #[test]
    fn numbers_are_short() {
        let cases = [0.0, 1.0, 1200.0, -0.5, 1.0 / 3.0, 1e-9, 3.2e-7, 2.5e8, 123_456.0];
        let texts = ["0", "1", "1200", "−0.5", "0.33333", "10⁻⁹", "3.2·10⁻⁷", "2.5·10⁸", "123456"];
        assert_eq!(cases.map(short), texts);
        assert_eq!(
            [1.0 / 3.0, 0.063_736, 2.9288, 1234.6].map(brief),
            ["0.3333", "0.06374", "2.929", "1235"]
        );
    }

    #[test]
    fn many_points_keep_their_spikes_and_gaps() {
        let mut points: Vec<(f64, f64)> = (0..20_000).map(|i| (f64::from(i), 1.0)).collect();
        points[7_777].1 = 9.0;
        points[12_000].1 = f64::NAN;
        points[15_000].1 = 0.0;
        let x = Axis { from: 0.0, to: 20_000.0, log: false };
        let lines = thin(&points, x, true, 500);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().map(Vec::len).sum::<usize>() <= 1010);
        assert_eq!(lines.iter().flatten().map(|p| p.1).fold(0.0, f64::max), 9.0);
        assert!(lines.iter().flatten().map(|p| p.0).is_sorted());
        assert_eq!(thin(&points, x, false, 500).len(), 2);
        assert_eq!(thin(&[], x, false, 500), Vec::<Vec<_>>::new());
        let cut = Axis { from: 10.0, to: 20.0, log: false };
        assert_eq!(thin(&points, cut, false, 500)[0].len(), 13);
    }

    #[test]
    fn labels_do_not_overlap() {
        let places = place_labels(&[50.0, 52.0, 10.0, 51.0], 16.0, 0.0, 200.0);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| w[1] - w[0] > 15.99), "{places:?}");
        assert_eq!(places[2], 10.0);
        assert!((places[3] - 51.0).abs() < 1e-9, "the middle one stays: {places:?}");
        let low = place_labels(&[199.0, 198.0], 16.0, 0.0, 200.0);
        assert_eq!(low, [200.0, 184.0]);
        let crowded = place_labels(&[5.0; 30], 16.0, 0.0, 100.0);
        assert!(crowded.iter().all(|p| (0.0..=100.001).contains(p)));
        assert!(place_labels(&[], 16.0, 0.0, 1.0).is_empty());
    }

    #[test]
    fn lines_stay_in_their_plot() {
        let line = [(0.0, -10.0), (10.0, 10.0), (20.0, 30.0), (30.0, 5.0)];
        let pieces = clip(&line, 0.0, 20.0);
        assert_eq!(pieces[0], [(5.0, 0.0), (10.0, 10.0), (15.0, 20.0)]);
        assert_eq!(pieces[1], [(24.0, 20.0), (30.0, 5.0)]);
        assert_eq!(clip(&[(0.0, -5.0), (10.0, 25.0)], 0.0, 20.0).len(), 1);
        assert_eq!(clip(&[(0.0, 5.0)], 0.0, 20.0), [[(0.0, 5.0)]]);
        assert!(clip(&[(0.0, -5.0), (1.0, -9.0)], 0.0, 20.0).is_empty());
    }

    #[test]
    fn dashes_follow_the_line() {
        let pieces = dashes(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], &[6.0, 2.0]);
        assert_eq!(pieces[0], [(0.0, 0.0), (6.0, 0.0)]);
        assert_eq!(pieces[1], [(8.0, 0.0), (10.0, 0.0), (10.0, 4.0)]);
        assert_eq!(pieces[2], [(10.0, 6.0), (10.0, 10.0)]);
        assert_eq!(dashes(&[(0.0, 0.0)], &[6.0, 2.0]), Vec::<Vec<_>>::new());
    }
}
