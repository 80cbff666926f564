//! How series are drawn: one function for the canvas on screen and the SVG to export.

use plotters::{drawing::IntoDrawingArea, prelude::*};

use super::{
    color::{Palette, Rgb},
    frame::Caption,
    labels::{in_lines, place_labels, text_width},
    lines_data::{Line, Lines, Stroke},
    numbers::percent,
    plot::{Anchor, Axis, Drawn, SVG_TEXT_SCALE, Surface},
    polyline::{clearance, clip, thin},
    svg::titled,
    theme::Colors,
};

/// Below and above the plot, in CSS pixels.
pub const TOP: f64 = 14.0;
pub const BOTTOM: f64 = 46.0;
/// Share of its color that a [`Stroke::Faint`] line keeps on the paper.
const FAINT: f64 = 0.35;
/// The same of a [`Stroke::Marked`] line.
const QUIET: f64 = 0.7;
/// Of tick labels and names.
const TEXT: f64 = 13.0;
/// A character's width at that size, about.
const CHARACTER: f64 = 8.0;
/// Room for names with numbers goes by such steps: a digit more does not move the plot.
const ROOM: f64 = 24.0;
/// From one name to the next, at least.
const LINE_HEIGHT: f64 = 16.0;
/// The thin line to a name is at most so long: a longer one would seem to be a curve.
const LEADER: f64 = 30.0;
/// A line of fewer points than this has its name only beside its end.
const NAMED_FROM: usize = 3;
/// Between the plot and the names, and on both sides of them.
const GAP: f64 = 12.0;
const MARGINS: f64 = 18.0;
/// Of more lines than this only those are named whose names stand beside their ends.
const MANY: usize = 8;
/// A curve that is so far from a reference's name leaves it be.
const CLEAR: f64 = 20.0;
/// One that comes closer than this is in its way.
const LEAST_CLEAR: f64 = 4.0;
/// Into so many parts the places between the ends divide the line.
const BETWEEN: u32 = 12;
/// Series with at most so many points show each of them.
const DOTTED: usize = 32;
/// About so many points of a [`Stroke::Dotted`] line are seen.
const DOTS: usize = 24;

/// Where the plot is on its surface, in CSS pixels, and what its axes span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    pub left: f64,
    pub right: f64,
    pub bottom: f64,
    pub x: Axis,
    pub y: Axis,
    /// CSS pixels for the name at a line's end; 0 where there is no room for names.
    pub name: f64,
    /// Whether the names have what the lines come to after them.
    pub says: bool,
    /// Whether the names stand on the left, and the y axis on the right.
    pub names_first: bool,
    /// Lines of text that a name may have.
    pub rows: usize,
}

impl Layout {
    pub fn new(lines: &Lines, width: f64, height: f64) -> Self {
        let (x, y) = (lines.x_axis(), lines.y_axis());
        let ticks = y_ticks(lines, y, height);
        let widest = ticks.iter().map(|t| t.1.chars().count()).max().unwrap_or(1) as f64;
        let named = lines.series.iter().filter(|line| line.stroke != Stroke::Faint);
        let named: Vec<&Line> = named.collect();
        // The key under the plot names the lines where their names can't all stand apart.
        let high = height - BOTTOM - TOP + LINE_HEIGHT;
        let apart = |rows: usize| (named.len() * rows) as f64 * LINE_HEIGHT <= high;
        let rows = if apart(2) { 2 } else { 1 };
        // Names take at most about a third; the key below has them whole.
        let most = (width * 0.36 - MARGINS).max(0.0);
        let longest = |says: bool, rows: usize, most: f64| {
            let rows = named.iter().flat_map(|line| label(line, says, most, rows));
            rows.map(|row| text_width(&row, TEXT)).fold(0.0, f64::max)
        };
        let told = longest(true, rows, most);
        let says = told <= most && named.iter().any(|line| !line.says.is_empty());
        let too_long = !says && width < 420.0 && longest(false, rows, f64::INFINITY) > most;
        let crowded = !apart(1) && named.len() <= MANY;
        let name = match says {
            _ if crowded || too_long => 0.0,
            true => ((told / ROOM).ceil() * ROOM).min(most),
            false => longest(false, rows, most).min(most),
        };
        let axis = 34.0 + CHARACTER * widest.max(2.0);
        let room = if name > 0.0 { MARGINS + name } else { 14.0 };
        let names_first = lines.names_first && name > 0.0;
        let (before, after) = if names_first { (room, axis) } else { (axis, room) };
        Self {
            left: before,
            right: (width - after).max(1.0),
            bottom: (height - BOTTOM).max(TOP + 1.0),
            x,
            y,
            name,
            says,
            names_first,
            rows,
        }
    }

    pub fn width(&self) -> f64 {
        (self.right - self.left).max(1.0)
    }

    pub fn x_at(&self, x: f64) -> f64 {
        self.left + self.x.share(x).unwrap_or(0.0) * self.width()
    }

    /// `None` for what has no place on a log axis.
    pub fn y_at(&self, y: f64) -> Option<f64> {
        Some(self.bottom - self.y.share(y)? * (self.bottom - TOP))
    }

    /// The x under a pointer.
    pub fn x_under(&self, px: f64) -> f64 {
        self.x.value(((px - self.left) / self.width()).clamp(0.0, 1.0))
    }
}

fn y_ticks(lines: &Lines, y: Axis, height: f64) -> Vec<(f64, String)> {
    let mut ticks = y.ticks(((height - TOP - BOTTOM) / 40.0).clamp(2.0, 8.0));
    if lines.is_share {
        ticks.iter_mut().for_each(|(value, label)| *label = percent(*value, 0));
    }
    ticks
}

/// Draws axes, references and series; `marker` is an x to mark, in files only: on screen it is an
/// element of its own that moves without a redraw.
pub fn draw<DB: DrawingBackend>(
    surface: &Surface<DB>,
    lines: &Lines,
    layout: &Layout,
    marker: Option<f64>,
    palette: &Palette,
) -> Drawn<DB> {
    draw_axes(surface, lines, layout, palette)?;
    let references: Vec<(&str, f64)> = lines
        .references
        .iter()
        .filter_map(|reference| Some((reference.name.as_str(), layout.y_at(reference.y)?)))
        .filter(|(_, y)| (TOP - 0.5..=layout.bottom + 0.5).contains(y))
        .collect();
    for &(_, y) in &references {
        surface.line(&[(layout.left, y), (layout.right, y)], palette.ink, 1.0, &[4.0, 4.0])?;
    }
    if let Some(x) = marker.filter(|x| (layout.x.from..=layout.x.to).contains(x)) {
        let x = layout.x_at(x);
        surface.line(&[(x, TOP), (x, layout.bottom)], palette.ink, 1.0, &[])?;
    }
    let mut names = vec![];
    let mut drawn = vec![];
    let mut marks = vec![];
    for line in &lines.series {
        let mut named_at = None;
        let color = line.color(palette);
        let (color, width) = match line.stroke {
            Stroke::Faint => (color.over(palette.paper, FAINT), 1.0),
            Stroke::Dotted => (color, 1.5),
            Stroke::Marked => (color.over(palette.paper, QUIET), 1.0),
            // Where many points share a pixel the line is a band: thinner, or it hides the others.
            Stroke::Auto if line.points.len() as f64 > 2.0 * layout.width() => (color, 1.0),
            Stroke::Auto | Stroke::Smooth | Stroke::Points => (color, 2.0),
        };
        let mut runs = thin(&line.points, layout.x, layout.y.log, layout.width() as usize);
        if line.stroke == Stroke::Points {
            runs = runs.iter().flatten().map(|point| vec![*point]).collect();
        }
        for run in &runs {
            let placed: Vec<(f64, f64)> =
                run.iter().filter_map(|&(x, y)| Some((layout.x_at(x), layout.y_at(y)?))).collect();
            let (from, to) = (layout.left - 0.5, layout.right + 0.5);
            for piece in clip_sides(&clip(&placed, TOP - 0.5, layout.bottom + 0.5), from, to) {
                surface.line(&piece, color, width, line.dash.pattern())?;
                let alone = piece.len() == 1;
                if alone && line.stroke == Stroke::Marked {
                    marks.push((piece[0], line.hue.of(palette)));
                } else if alone || line.stroke == Stroke::Auto && line.points.len() <= DOTTED {
                    for &at in piece.iter().filter(|p| placed.contains(p)) {
                        surface.dot(at, 3.0, color)?;
                    }
                }
                named_at = match layout.names_first {
                    true => named_at.or(piece.first().copied()),
                    false => piece.last().copied(),
                };
                drawn.push(piece);
            }
        }
        if line.stroke == Stroke::Dotted {
            draw_dots(surface, line, layout, color)?;
        }
        // Text needs its whole color.
        let named_at = named_at.filter(|_| line.stroke != Stroke::Faint);
        names.extend(named_at.map(|at| (line, at, line.hue.of(palette))));
    }
    for (at, color) in marks {
        surface.dot(at, 6.5, palette.paper)?;
        surface.dot(at, 4.5, color)?;
    }
    draw_names(surface, layout, &names, palette)?;
    draw_references(surface, layout, &references, &drawn, palette)
}

/// The references' names over all else: of the places at both ends, above the line and below, each
/// has the one that keeps farthest from the curves and from the other references. Where curves pass
/// through all of these, it stands between the ends.
fn draw_references<DB: DrawingBackend>(
    surface: &Surface<DB>,
    layout: &Layout,
    references: &[(&str, f64)],
    curves: &[Vec<(f64, f64)>],
    palette: &Palette,
) -> Drawn<DB> {
    let Layout { left, right, bottom, .. } = *layout;
    let mut taken: Vec<Vec<(f64, f64)>> = vec![];
    for &(name, y) in references {
        let width = text_width(name, TEXT);
        let others = references.iter().filter(|other| other.1 != y);
        let others: Vec<_> = others.map(|other| vec![(left, other.1), (right, other.1)]).collect();
        let mut best: Option<(f64, (f64, f64), Anchor)> = None;
        let ends = [
            (right, true, Anchor::ABOVE_RIGHT),
            (right, false, Anchor::BELOW_RIGHT),
            (left + 4.0, true, Anchor::ABOVE_LEFT),
            (left + 4.0, false, Anchor::BELOW_LEFT),
        ];
        let between = (1..BETWEEN).flat_map(|i| {
            let x = left + (right - left - width) * f64::from(i) / f64::from(BETWEEN);
            [(x, true, Anchor::ABOVE_LEFT), (x, false, Anchor::BELOW_LEFT)]
        });
        for (i, (x, above, anchor)) in ends.into_iter().chain(between).enumerate() {
            if i == ends.len() && best.is_some_and(|(free, ..)| free >= LEAST_CLEAR) {
                break;
            }
            let (top, low) =
                if above { (y - 4.0 - TEXT, y - 4.0) } else { (y + 4.0, y + 4.0 + TEXT) };
            if top < 0.0 || low > bottom {
                continue;
            }
            let along = if x == right { (right - width, right) } else { (x, x + width) };
            let lines = curves.iter().chain(&others).chain(&taken);
            let free = lines.map(|line| clearance(line, along, (top, low)));
            let free = free.fold(CLEAR, f64::min);
            if best.is_none_or(|(most, ..)| free > most) {
                best = Some((free, (x, if above { y - 4.0 } else { y + 4.0 }), anchor));
            }
        }
        let Some((free, at, anchor)) = best else { continue };
        if free < LEAST_CLEAR {
            surface.halo(name, at, TEXT, palette.paper, anchor)?;
        }
        surface.text(name, at, TEXT, palette.ink, anchor)?;
        let from = if at.0 == right { right - width } else { at.0 };
        taken.push(vec![(from, at.1), (from + width, at.1)]);
    }
    Ok(())
}

/// Dots on a line that is told from another by them: the last point, and every n-th before it.
fn draw_dots<DB: DrawingBackend>(
    surface: &Surface<DB>,
    line: &Line,
    layout: &Layout,
    color: Rgb,
) -> Drawn<DB> {
    let every = line.points.len().div_ceil(DOTS).max(1);
    for &(x, y) in line.points.iter().rev().step_by(every).filter(|p| p.1.is_finite()) {
        let Some(y) = layout.y_at(y).filter(|y| (TOP - 0.5..=layout.bottom + 0.5).contains(y))
        else {
            continue;
        };
        surface.dot((layout.x_at(x), y), 3.5, color)?;
    }
    Ok(())
}

/// Leaves out what lies left or right of the plot.
fn clip_sides(pieces: &[Vec<(f64, f64)>], from: f64, to: f64) -> Vec<Vec<(f64, f64)>> {
    let flip = |line: &[(f64, f64)]| line.iter().map(|p| (p.1, p.0)).collect::<Vec<_>>();
    let clipped = pieces.iter().flat_map(|piece| clip(&flip(piece), from, to));
    clipped.map(|piece| flip(&piece)).collect()
}

fn draw_axes<DB: DrawingBackend>(
    surface: &Surface<DB>,
    lines: &Lines,
    layout: &Layout,
    palette: &Palette,
) -> Drawn<DB> {
    let (width, height) = surface.size();
    let Layout { left, right, bottom, .. } = *layout;
    let (beside, anchor, edge) = if layout.names_first {
        (right + 8.0, Anchor::LEFT, width - 6.0 - TEXT)
    } else {
        (left - 8.0, Anchor::RIGHT, 6.0)
    };
    for (value, label) in y_ticks(lines, layout.y, height) {
        let Some(y) = layout.y_at(value) else { continue };
        surface.line(&[(left, y), (right, y)], palette.line, 1.0, &[])?;
        surface.text(&label, (beside, y), TEXT, palette.muted, anchor)?;
    }
    // Each label takes about 70 CSS pixels.
    for (value, label) in layout.x.ticks(layout.width() / 70.0) {
        let x = layout.x_at(value);
        surface.line(&[(x, bottom), (x, bottom + 4.0)], palette.muted, 1.0, &[])?;
        surface.text(&label, (x, bottom + 8.0), TEXT, palette.muted, Anchor::BELOW)?;
    }
    surface.line(&[(left, bottom), (right, bottom)], palette.muted, 1.0, &[])?;
    let middle = ((left + right) / 2.0, bottom + 26.0);
    surface.text(&lines.x_label, middle, TEXT, palette.muted, Anchor::BELOW)?;
    // Rather none than a piece of it: the figure's title says what is drawn.
    if CHARACTER * lines.y_label.chars().count() as f64 > bottom + BOTTOM {
        return Ok(());
    }
    surface.upwards(&lines.y_label, (edge, (TOP + bottom) / 2.0), TEXT, palette.muted)
}

/// A line's name in one row or two, or the name and what the line comes to.
fn label(line: &Line, says: bool, most: f64, rows: usize) -> Vec<String> {
    if !says || line.says.is_empty() {
        return in_lines(&line.name, TEXT, most, rows);
    }
    let whole = format!("{} {}", line.name, line.says);
    if rows > 1 && text_width(&whole, TEXT) > most {
        return vec![line.name.clone(), line.says.clone()];
    }
    vec![whole]
}

/// The names at the lines' ends, or where they begin, apart from each other; a thin line leads to one
/// that had to move a little. The first points of a line that is to grow are named by the key alone.
fn draw_names<DB: DrawingBackend>(
    surface: &Surface<DB>,
    layout: &Layout,
    names: &[(&Line, (f64, f64), Rgb)],
    palette: &Palette,
) -> Drawn<DB> {
    if layout.name == 0.0 {
        return Ok(());
    }
    let (side, start, anchor) = if layout.names_first {
        (-1.0, layout.left - GAP, Anchor::RIGHT)
    } else {
        (1.0, layout.right + GAP, Anchor::LEFT)
    };
    let grown =
        |line: &Line, x: f64| line.points.len() >= NAMED_FROM || (start - x) * side <= LEADER;
    let names = names.iter().filter(|(line, (x, _), _)| grown(line, *x));
    let names = names.map(|&(line, end, color)| {
        (label(line, layout.says, layout.name + 0.5, layout.rows), end, color)
    });
    let names: Vec<(Vec<String>, (f64, f64), Rgb)> = names.collect();
    let wanted: Vec<f64> = names.iter().map(|n| n.1.1).collect();
    let rows = names.iter().map(|n| n.0.len()).max().unwrap_or(1) as f64;
    let half = (rows - 1.0) * LINE_HEIGHT / 2.0;
    let places: Vec<Option<f64>> = if names.len() > MANY {
        beside_their_ends(&wanted, LINE_HEIGHT * rows)
    } else {
        let places = place_labels(&wanted, LINE_HEIGHT * rows, TOP + half, layout.bottom - half);
        places.into_iter().map(Some).collect()
    };
    for ((rows, (x, y), color), place) in names.iter().zip(places) {
        let Some(place) = place else { continue };
        let moved = (place - y).abs() > 4.0 || (start - x) * side > 24.0;
        if moved && (place - y).hypot(start - x) <= LEADER {
            surface.line(
                &[(x + 3.0 * side, *y), (start - 3.0 * side, place)],
                palette.line,
                1.0,
                &[],
            )?;
        }
        let first = place - (rows.len() - 1) as f64 * LINE_HEIGHT / 2.0;
        for (i, row) in rows.iter().enumerate() {
            let at = (start, first + i as f64 * LINE_HEIGHT);
            surface.text(row, at, TEXT, *color, anchor)?;
        }
    }
    Ok(())
}

/// Where the labels go that have room where they want to be, the topmost first.
fn beside_their_ends(wanted: &[f64], height: f64) -> Vec<Option<f64>> {
    let mut places = vec![None; wanted.len()];
    let mut last = f64::NEG_INFINITY;
    loop {
        let next = (0..wanted.len()).filter(|&i| wanted[i] >= last + height);
        let Some(next) = next.min_by(|&a, &b| wanted[a].total_cmp(&wanted[b])) else { break };
        last = wanted[next];
        places[next] = Some(last);
    }
    places
}

/// The plot as a stand-alone SVG, with its title and where it comes from.
pub fn lines_svg(lines: &Lines, caption: &Caption, colors: &Colors) -> String {
    const SIZE: (u32, u32) = (800, 460);
    /// Title above, source below.
    const HEAD: i32 = 36;
    const FOOT: i32 = 24;
    let mut svg = String::new();
    {
        let whole = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let palette = colors.palette;
        let page = Surface { area: &whole, scale: 1.0, text_scale: SVG_TEXT_SCALE };
        let (head, rest) = whole.split_vertically(HEAD);
        let (body, foot) = rest.split_vertically(SIZE.1 as i32 - HEAD - FOOT);
        let body = Surface { area: &body, ..page };
        let (width, height) = body.size();
        let layout = Layout::new(lines, width, height);
        let head = Surface { area: &head, ..page };
        let foot = Surface { area: &foot, ..page };
        let text = [Some(caption.source.clone()), lines.left_out()];
        let text: Vec<String> = text.into_iter().flatten().collect();
        // A string takes everything: this cannot fail.
        let drawn = page
            .fill(palette.paper)
            .and_then(|()| head.text(&caption.title, (16.0, 20.0), 15.0, palette.ink, Anchor::LEFT))
            .and_then(|()| draw(&body, lines, &layout, caption.marker, palette))
            .and_then(|()| {
                foot.text(&text.join(". "), (16.0, 10.0), 12.0, palette.muted, Anchor::LEFT)
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
        lines_data::tests::{caption, two},
    };

    #[test]
    fn draws_lines_names_and_references() {
        let svg = lines_svg(&two(), &caption(), &Colors::new(&Palette::LIGHT));
        for text in
            ["RNN", "LSTM, &lt;c&gt;", "start", "step", "><title>Norms</title>", "being 0 or less"]
        {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(!svg.contains("NaN"));
        let empty = lines_svg(&Lines::default(), &caption(), &Colors::new(&Palette::DARK));
        assert!(empty.contains("</svg>"));
    }

    #[test]
    fn names_give_way_on_narrow_screens() {
        assert_eq!(Layout::new(&two(), 400.0, 240.0).name, text_width("LSTM, <c>", TEXT));
        let mut long = two();
        long.series[0].name = "a name that is rather long".into();
        assert_eq!(Layout::new(&long, 300.0, 240.0).name, 0.0);
        let layout = Layout::new(&long, 900.0, 240.0);
        assert_eq!(layout.name, text_width(&long.series[0].name, TEXT));
        assert!(900.0 - layout.right > GAP + layout.name, "the name ends before the edge");
        // In half of the stage it has two rows, and is whole.
        let layout = Layout::new(&long, 450.0, 240.0);
        assert_eq!(layout.name, text_width("is rather long", TEXT));
        assert!((layout.x_under(layout.x_at(7.0)) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn what_lines_come_to_follows_their_names_where_there_is_room() {
        let mut said = two();
        said.series[0].says = "0.0042, × 0.5 per step".into();
        let layout = |width| Layout::new(&said, width, 240.0);
        assert_eq!(label(&said.series[0], true, 900.0, 2), ["RNN 0.0042, × 0.5 per step"]);
        assert_eq!(label(&said.series[0], true, 150.0, 2), ["RNN", "0.0042, × 0.5 per step"]);
        assert!(layout(900.0).says && layout(900.0).name % ROOM == 0.0);
        // Else the names alone are as they would be without.
        assert_eq!(layout(400.0), Layout::new(&two(), 400.0, 240.0));
    }

    #[test]
    fn names_stand_where_lines_begin_that_meet_at_their_ends() {
        let first = Lines { names_first: true, ..two() };
        let (usual, layout) =
            (Layout::new(&two(), 900.0, 240.0), Layout::new(&first, 900.0, 240.0));
        assert!(layout.names_first && layout.left > GAP + layout.name);
        assert_eq!(900.0 - layout.right, usual.left, "the axis is on the right");
        // Without names all is where it is elsewhere.
        let narrow = |lines: &Lines| Layout::new(lines, 60.0, 240.0);
        assert_eq!(narrow(&first), narrow(&two()));
        let end = |lines: &Lines| {
            let svg = lines_svg(lines, &caption(), &Colors::new(&Palette::LIGHT));
            svg.split("RNN").next().unwrap().rsplit("<text").next().unwrap().contains("\"end\"")
        };
        assert_eq!([end(&two()), end(&first)], [false, true]);
    }

    #[test]
    fn no_name_is_led_to_from_afar() {
        let drawn = |points: &[(f64, f64)]| {
            let line = Line { name: "RNN".into(), points: points.to_vec(), ..Line::default() };
            let (x_range, y_range) = (Some((0.0, 10.0)), Some((0.0, 1.0)));
            let lines = Lines { series: vec![line], x_range, y_range, ..Lines::default() };
            let svg = lines_svg(&lines, &caption(), &Colors::new(&Palette::LIGHT));
            (svg.contains("RNN"), svg.matches("<polyline").count())
        };
        let [early, grown, at_end] = [
            drawn(&[(0.0, 0.1), (1.0, 0.2)]),
            drawn(&[(0.0, 0.1), (1.0, 0.2), (2.0, 0.3)]),
            drawn(&[(0.0, 0.1), (10.0, 0.2)]),
        ];
        assert_eq!([early.0, grown.0, at_end.0], [false, true, true]);
        assert_eq!(early.1, grown.1, "a line, and none to its name");
    }

    #[test]
    fn marks_lie_over_all_and_points_are_alone() {
        let (point, gap) = ((1.0, 1.0), (1.0, f64::NAN));
        let marked = vec![(0.0, 1.0), point, gap, point, gap, point, (2.0, 2.0)];
        let series = [(Stroke::Marked, marked), (Stroke::Points, vec![(0.0, 0.5), (2.0, 1.0)])];
        let line = |(stroke, points)| Line { stroke, points, ..Line::default() };
        let lines = Lines { series: series.map(line).into(), ..two() };
        let svg = lines_svg(&lines, &caption(), &Colors::new(&Palette::LIGHT));
        let radii: Vec<&str> = svg.split("<circle").skip(1).collect();
        let radii = radii.iter().map(|circle| circle.split("r=\"").nth(1).unwrap_or_default());
        let radii: Vec<_> = radii.map(|rest| rest.split('"').next().unwrap_or_default()).collect();
        assert_eq!(radii, ["3", "3", "7", "5"], "the rim before its dot");
        let read = [0.0, 1.0].map(|x| lines.series[1].reading(x, false));
        assert_eq!(read, ["0.5", "–"]);
    }

    #[test]
    fn of_many_lines_those_are_named_that_have_room() {
        let places = beside_their_ends(&[50.0, 20.0, 58.0, 36.0, 90.0], 16.0);
        assert_eq!(places, [None, Some(20.0), Some(58.0), Some(36.0), Some(90.0)]);
        assert_eq!(beside_their_ends(&[], 16.0), []);
        let mut many = two();
        let line = |i: i32| Line {
            name: format!("term {i}"),
            points: vec![(0.0, 1.0), (29.0, 1e-9 * f64::from(i))],
            ..Line::default()
        };
        many.series = (1..=20).map(line).collect();
        let svg = lines_svg(&many, &caption(), &Colors::new(&Palette::LIGHT));
        assert!(svg.contains("term 20") && !svg.contains("term 19"), "{svg}");
    }

    #[test]
    fn the_name_of_a_reference_keeps_clear_of_curves() {
        // One that runs just above the line at its right end, and one just below at its left.
        let mut lines = Lines {
            series: vec![
                Line { points: vec![(0.0, 0.0), (9.0, 0.0), (10.0, 0.55)], ..Line::default() },
                Line { points: vec![(0.0, 0.45), (1.0, 0.45), (2.0, 0.0)], ..Line::default() },
            ],
            references: vec![super::super::lines_data::Reference { name: "chance".into(), y: 0.5 }],
            y_range: Some((0.0, 1.0)),
            ..Lines::default()
        };
        let ends = |lines: &Lines| {
            let svg = lines_svg(lines, &caption(), &Colors::new(&Palette::LIGHT));
            let before: Vec<&str> = svg.split("chance").collect();
            let texts = before.len() - 1;
            let last = before[texts - 1].rsplit("<text").next().unwrap();
            (texts, last.contains("text-anchor=\"start\""))
        };
        assert_eq!(ends(&lines), (1, true), "above the line's left end");
        lines.series.push(Line { points: vec![(0.0, 0.52), (10.0, 0.52)], ..Line::default() });
        lines.series.push(Line { points: vec![(0.0, 0.48), (10.0, 0.48)], ..Line::default() });
        assert_eq!(ends(&lines).0, 9, "with a halo where there is no free place");
        for line in &mut lines.series[2..] {
            line.points =
                [&[(0.0, 0.5), (4.0, 0.5), (5.0, 0.0)][..], &[(6.0, 0.0), (7.0, 0.5), (10.0, 0.5)]]
                    .concat();
        }
        assert_eq!(ends(&lines), (1, true), "between the ends where both are taken");
    }
}
