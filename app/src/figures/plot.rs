//! Parts of plots: axes, and a surface that is a canvas on screen and an SVG in a file.

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
    numbers::place,
    pen::FACE,
    polyline::dashes,
    theme::Colors,
};
use crate::reactive::effect;

/// The page's font. Not by plotters' conversion from a name, which brings Unicode's tables of small
/// letters along: 5 KB to download.
fn font(size: f64) -> FontDesc<'static> {
    FontDesc::new(FontFamily::Name(FACE), size, FontStyle::Normal)
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
            // A little room, so that what is round stays as it is.
            let round_above = |value: f64| tick_distance(value, 1.0 + 1e-9);
            let (from, to) = (1.0 / round_above(1.0 / low), round_above(high));
            let to = if to > 1.5 * from { to } else { 10.0 * from };
            return Self { from, to, log };
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
        let labeled = |v: f64| (v, place(v));
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
        let round = |most: f64| {
            let distance = tick_distance(self.to - self.from, most);
            let first = (self.from / distance - 1e-6).ceil() as i64;
            let last = (self.to / distance + 1e-6).floor() as i64;
            (first..=last).map(|i| labeled(i as f64 * distance)).collect::<Vec<_>>()
        };
        // One alone says nothing of the scale.
        let few = round(most);
        if few.len() < 2 { round(2.0 * most) } else { few }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn near((from, to): (f64, f64), ends: (f64, f64)) {
        assert!((from - ends.0).abs() < 1e-9 && (to - ends.1).abs() < 1e-9, "{from} {to}");
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
        assert_eq!(labels(signed, 1.5), ["−2", "0", "2"]);
        let steps = Axis { from: 1.0, to: 32.0, log: false };
        assert_eq!(labels(steps, 2.0), ["10", "20", "30"]);
        let log = Axis::over([0.0, 3e-9, 40.0].into_iter(), None, true, false);
        near((log.from, log.to), (2e-9, 50.0));
        assert_eq!(labels(log, 6.0), ["10⁻⁸", "10⁻⁶", "0.0001", "0.01", "1"]);
        let losses = Axis::over([2.31, 4.98].into_iter(), None, true, false);
        assert_eq!(labels(losses, 6.0), ["2", "5"]);
        let short_log = Axis { from: 0.5, to: 8.0, log: true };
        assert_eq!(labels(short_log, 6.0), ["0.5", "1", "2", "5"]);
        assert_eq!(log.share(0.0), None);
        assert!((log.share(2e-9).unwrap()).abs() < 1e-9);
        assert!((log.value(log.share(0.25).unwrap()) - 0.25).abs() < 1e-12);
        let nothing = Axis::over([0.0, f64::NAN].into_iter(), None, true, false);
        assert_eq!((nothing.from, nothing.to), (0.1, 1.0));
        let one = Axis::over([3.0].into_iter(), None, true, false);
        near((one.from, one.to), (2.0, 5.0));
        let round = Axis::over([0.1].into_iter(), None, true, false);
        near((round.from, round.to), (0.1, 1.0));
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
}
