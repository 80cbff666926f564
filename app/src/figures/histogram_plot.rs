//! How histograms are drawn: one function for the canvas on screen and the SVG to export.

use plotters::{drawing::IntoDrawingArea, prelude::*};

use super::{
    color::Palette,
    frame::Caption,
    histogram::{Bins, Histogram},
    plot::{Anchor, Axis, Drawn, SVG_TEXT_SCALE, Surface},
    svg::titled,
    theme::Colors,
};

const TEXT: f64 = 13.0;
/// Above and below the bars of one group.
const HEAD: f64 = 24.0;
const FOOT: f64 = 26.0;
/// Left of the bars: room for the percents.
const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
/// Below everything: the name of the x axis.
const AXIS: f64 = 20.0;
/// Height of one group in a file.
const GROUP: f64 = 170.0;
/// On the page a group is so wide, or at least so narrow where otherwise it were lower than this.
const WIDE: f64 = 220.0;
const NARROW: f64 = 120.0;
const LOW: f64 = 100.0;

/// Where the groups are: small multiples on a grid, row by row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grid {
    pub columns: usize,
    pub rows: usize,
    pub width: f64,
    /// Of one group.
    pub height: f64,
}

impl Grid {
    /// All groups in `width` by `height`: `across` side by side or, where that is 0, few enough that each is
    /// wide, and enough that each is high.
    pub fn new(groups: usize, across: usize, width: f64, height: f64) -> Self {
        let height = height - AXIS;
        let fitting = |least: f64| ((width / least) as usize).clamp(1, groups.max(1));
        if across > 0 {
            let divides = |columns: &usize| across.is_multiple_of(*columns);
            let columns = (1..=fitting(NARROW)).rev().find(divides).unwrap_or(1);
            let rows = groups.div_ceil(columns).max(1);
            return Self { columns, rows, width, height: height / rows as f64 };
        }
        // No row with one of them alone if it can be helped.
        let rows = groups.div_ceil(fitting(WIDE)).max(1);
        let rows = rows.min((height / LOW) as usize).max(groups.div_ceil(fitting(NARROW))).max(1);
        let columns = groups.div_ceil(rows).max(1);
        Self { columns, rows, width, height: height / rows as f64 }
    }

    /// In a file, which is as high as it must be.
    fn in_file(groups: usize, across: usize, width: f64) -> Self {
        Self { height: GROUP, ..Self::new(groups, across, width, f64::INFINITY) }
    }

    /// Of the whole figure.
    fn total_height(&self) -> f64 {
        self.rows as f64 * self.height + AXIS
    }

    /// Left and right, top and bottom of a group's bars.
    pub fn plot(&self, group: usize) -> (f64, f64, f64, f64) {
        let width = self.width / self.columns as f64;
        let (x, y) =
            ((group % self.columns) as f64 * width, (group / self.columns) as f64 * self.height);
        (
            x + LEFT,
            (x + width - RIGHT).max(x + LEFT + 1.0),
            y + HEAD,
            (y + self.height - FOOT).max(y + HEAD + 1.0),
        )
    }

    /// The group and the bin, of `bins`, at a place.
    pub fn hit(&self, x: f64, y: f64, groups: usize, bins: usize) -> Option<(usize, usize)> {
        (0..groups).find_map(|group| {
            let (left, right, top, bottom) = self.plot(group);
            let share = (x - left) / (right - left);
            let inside = (0.0..1.0).contains(&share) && y >= top - HEAD && y <= bottom + FOOT;
            inside.then_some((group, (share * bins as f64) as usize))
        })
    }
}

/// Draws all groups on one pair of axes.
pub fn draw<DB: DrawingBackend>(
    surface: &Surface<DB>,
    histogram: &Histogram,
    grid: Grid,
    palette: &Palette,
) -> Drawn<DB> {
    let highest = histogram.groups.iter().flat_map(Bins::percents);
    let y = Axis::over(highest, None, false, true);
    let x = Axis { from: histogram.range.0, to: histogram.range.1, log: false };
    // As one, or names that belong together would begin apart.
    let longest = histogram.groups.iter().map(|bins| bins.name.chars().count()).max().unwrap_or(0);
    for (i, bins) in histogram.groups.iter().enumerate() {
        draw_group(surface, bins, longest, grid.plot(i), x, y, palette)?;
    }
    let (left, right, _, _) = grid.plot(0);
    let below = grid.rows as f64 * grid.height;
    let middle = if grid.columns == 1 { (left + right) / 2.0 } else { grid.width / 2.0 };
    let label = format!("{} (height: share of each plot’s values)", histogram.x_label);
    surface.text(&label, (middle, below), TEXT, palette.muted, Anchor::BELOW)
}

fn draw_group<DB: DrawingBackend>(
    surface: &Surface<DB>,
    bins: &Bins,
    longest: usize,
    (left, right, top, bottom): (f64, f64, f64, f64),
    x: Axis,
    y: Axis,
    palette: &Palette,
) -> Drawn<DB> {
    let x_at = |v: f64| left + x.share(v).unwrap_or(0.0) * (right - left);
    let y_at = |v: f64| bottom - y.share(v).unwrap_or(0.0) * (bottom - top);
    // Where a name is wider than its plot, all begin where the plots' numbers do.
    let is_wide = longest as f64 * 0.55 * TEXT > right - left;
    let name_at = if is_wide { left - LEFT + RIGHT } else { left };
    surface.text(&bins.name, (name_at, top - 12.0), TEXT, palette.ink, Anchor::LEFT)?;
    for (value, label) in y.ticks(3.0) {
        surface.line(&[(left, y_at(value)), (right, y_at(value))], palette.line, 1.0, &[])?;
        let label = format!("{label}%");
        surface.text(&label, (left - 6.0, y_at(value)), TEXT, palette.muted, Anchor::RIGHT)?;
    }
    let width = (right - left) / bins.counts.len().max(1) as f64;
    for (i, percent) in bins.percents().enumerate().filter(|(_, percent)| *percent > 0.0) {
        let from = left + i as f64 * width;
        // A hair of paper between bars where they are wide enough.
        let gap = if width >= 4.0 { 1.0 } else { 0.0 };
        surface.block((from, y_at(percent)), (from + width - gap, bottom), bins.hue.of(palette))?;
    }
    surface.line(&[(left, bottom), (right, bottom)], palette.muted, 1.0, &[])?;
    for (value, label) in x.ticks(((right - left) / 50.0).clamp(2.0, 6.0)) {
        surface.line(
            &[(x_at(value), bottom), (x_at(value), bottom + 4.0)],
            palette.muted,
            1.0,
            &[],
        )?;
        surface.text(&label, (x_at(value), bottom + 7.0), TEXT, palette.muted, Anchor::BELOW)?;
    }
    // What the axis does not hold is not hidden.
    let total = bins.total();
    let percent = |n: f64| format!("{:.1}%", 100.0 * n / total);
    if bins.below > 0.0 {
        let at = (left + 2.0, top + 8.0);
        surface.text(
            &format!("← {}", percent(bins.below)),
            at,
            TEXT,
            palette.muted,
            Anchor::LEFT,
        )?;
    }
    if bins.above > 0.0 {
        let at = (right - 2.0, top + 8.0);
        surface.text(
            &format!("{} →", percent(bins.above)),
            at,
            TEXT,
            palette.muted,
            Anchor::RIGHT,
        )?;
    }
    Ok(())
}

/// The histograms as a stand-alone SVG.
pub fn histogram_svg(histogram: &Histogram, caption: &Caption, colors: &Colors) -> String {
    const TITLE: i32 = 36;
    const SOURCE: f64 = 26.0;
    let grid = Grid::in_file(histogram.groups.len(), histogram.across, 800.0);
    let height = f64::from(TITLE) + grid.total_height() + SOURCE;
    let mut svg = String::new();
    {
        let whole = SVGBackend::with_string(&mut svg, (800, height as u32)).into_drawing_area();
        let palette = colors.palette;
        let page = Surface { area: &whole, scale: 1.0, text_scale: SVG_TEXT_SCALE };
        let (_, rest) = whole.split_vertically(TITLE);
        let body = Surface { area: &rest, ..page };
        let (title, source) = (&caption.title, &caption.source);
        // A string takes everything: this cannot fail.
        let drawn = page
            .fill(palette.paper)
            .and_then(|()| page.text(title, (16.0, 20.0), 15.0, palette.ink, Anchor::LEFT))
            .and_then(|()| draw(&body, histogram, grid, palette))
            .and_then(|()| {
                page.text(source, (16.0, height - 12.0), 12.0, palette.muted, Anchor::LEFT)
            })
            .and_then(|()| whole.present());
        debug_assert!(drawn.is_ok());
    }
    titled(svg, &caption.title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{
        color::Palette,
        histogram::tests::{caption, two},
    };

    #[test]
    fn groups_stand_side_by_side_where_they_fit() {
        let shape = |groups: usize, width: f64, height: f64| {
            let grid = Grid::new(groups, 0, width, height);
            assert!((grid.total_height() - height).abs() < 1e-9);
            (grid.columns, grid.rows)
        };
        assert_eq!(shape(4, 300.0, 600.0), (1, 4));
        assert_eq!(shape(4, 300.0, 240.0), (2, 2));
        assert_eq!(shape(4, 700.0, 500.0), (2, 2));
        assert_eq!(shape(6, 1200.0, 500.0).0, 3);
        assert_eq!(shape(1, 900.0, 50.0), (1, 1));
        let across = |width| Grid::new(12, 6, width, 700.0).columns;
        assert_eq!([960.0, 700.0, 300.0, 90.0].map(across), [6, 3, 2, 1]);
        let grid = Grid::new(4, 0, 700.0, 500.0);
        let (left, _, top, _) = grid.plot(3);
        assert_eq!(grid.hit(left + 1.0, top + 1.0, 4, 20), Some((3, 0)));
        assert_eq!(grid.hit(left - 9.0, top + 1.0, 4, 20), None);
    }

    #[test]
    fn draws_bars_and_what_lies_outside() {
        let svg = histogram_svg(&two(), &caption(), &Colors::new(&Palette::LIGHT));
        assert!(svg.contains("layer 1") && svg.contains("layer 2") && svg.contains("activation"));
        assert!(svg.contains("25.0% →"), "{svg}");
        assert!(!svg.contains("NaN"));
        let empty = histogram_svg(&Histogram::default(), &caption(), &Colors::new(&Palette::DARK));
        assert!(empty.contains("</svg>") && !empty.contains("NaN"));
    }
}
