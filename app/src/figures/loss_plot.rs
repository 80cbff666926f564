//! How a loss curve is drawn: one function for the canvas on screen and the SVG to export.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{
    color::{Palette, Rgb},
    curve::Curve,
    plot::{font, rgb, tick_distance},
};

/// Space around the plot, in CSS pixels: room for the axis labels and the names at the lines' ends.
pub const LEFT: f64 = 52.0;
pub const RIGHT: f64 = 66.0;
pub const TOP: f64 = 14.0;
pub const BOTTOM: f64 = 46.0;

/// What the drawing function needs besides a surface.
pub struct Plot<'a> {
    pub curve: &'a Curve,
    /// V; the loss of knowing nothing is ln V. 0 before an experiment started.
    pub vocabulary: usize,
    pub palette: &'a Palette,
    /// Pixels of the surface for each CSS pixel.
    pub scale: f64,
    /// Font sizes are multiplied by this: plotters' SVG backend divides them by 1.24.
    pub text_scale: f64,
}

/// Last step on the axis: a round number above the last step taken, so that the axis moves seldom.
pub fn last_step_shown(last_step: u32) -> u32 {
    let mut decade = 100;
    loop {
        for factor in [1, 2, 5] {
            if let Some(end) = u32::checked_mul(decade, factor)
                && last_step <= end
            {
                return end;
            }
        }
        match decade.checked_mul(10) {
            Some(next) => decade = next,
            None => return u32::MAX,
        }
    }
}

/// Smallest and largest loss of each of `buckets` equal spans of steps up to `end`, in the order
/// they came, so that no spike is lost where many steps share a pixel.
pub fn extremes(curve: &Curve, end: u32, buckets: usize) -> Vec<(f64, f64)> {
    let points = curve.points();
    if points.len() <= buckets {
        return points.iter().map(|p| (f64::from(p.step), f64::from(p.loss))).collect();
    }
    let mut line: Vec<(f64, f64)> = Vec::with_capacity(2 * buckets + 2);
    let (mut bucket, mut low, mut high) = (usize::MAX, points[0], points[0]);
    let mut close = |low: unroll_protocol::CurvePoint, high: unroll_protocol::CurvePoint| {
        let (first, second) = if low.step <= high.step { (low, high) } else { (high, low) };
        line.push((f64::from(first.step), f64::from(first.loss)));
        if first.step != second.step {
            line.push((f64::from(second.step), f64::from(second.loss)));
        }
    };
    for &point in points {
        let at = (u64::from(point.step) * buckets as u64 / u64::from(end.max(1))) as usize;
        if at != bucket {
            if bucket != usize::MAX {
                close(low, high);
            }
            (bucket, low, high) = (at, point, point);
        }
        if point.loss < low.loss {
            low = point;
        }
        if point.loss > high.loss {
            high = point;
        }
    }
    close(low, high);
    line
}

/// Every n-th of the smoothed values, about `most` of them, the last one always.
fn thinned(curve: &Curve, most: usize) -> Vec<(f64, f64)> {
    let n = curve.points().len();
    let every = n.div_ceil(most.max(1)).max(1);
    let kept = (0..n).filter(|i| i % every == 0 || i + 1 == n);
    kept.filter_map(|i| Some((f64::from(curve.points()[i].step), curve.smoothed(i)?))).collect()
}

/// Draws axes, the line of knowing nothing and, once there are any, the curves.
pub fn draw<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    plot: &Plot,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let palette = plot.palette;
    area.fill(&rgb(palette.paper))?;
    let px = |css: f64| (css * plot.scale).round() as i32;
    let (width, _) = area.dim_in_pixel();
    let buckets = (f64::from(width) / plot.scale - LEFT - RIGHT).max(10.0);

    let end = last_step_shown(plot.curve.last_step());
    let train = extremes(plot.curve, end, buckets as usize);
    let knows_nothing = (plot.vocabulary > 1).then(|| (plot.vocabulary as f64).ln());
    let held_out: Vec<(f64, f64)> =
        plot.curve.held_out().map(|(s, l)| (f64::from(s), f64::from(l))).collect();
    let highest = train.iter().chain(&held_out).map(|p| p.1).filter(|l| l.is_finite());
    let highest = highest.fold(knows_nothing.map_or(4.0, |n| n * 1.08), f64::max);
    let distance = tick_distance(highest, 6.0);
    let top = (highest / distance).ceil() * distance;

    let chart = ChartBuilder::on(area)
        .margin_left(px(LEFT))
        .margin_right(px(RIGHT))
        .margin_top(px(TOP))
        .margin_bottom(px(BOTTOM))
        .build_cartesian_2d(0.0..f64::from(end), 0.0..top)?;
    // Text is placed by hand: plotters' own axes measure it by laying out the whole page anew.
    let at = |step: f64, loss: f64| chart.backend_coord(&(step, loss));
    let text = |text: &str, (x, y): (i32, i32), size: f64, color: Rgb, h: HPos, v: VPos| {
        let font = font(size * plot.scale * plot.text_scale);
        let style = font.color(&rgb(color)).pos(Pos::new(h, v));
        area.draw(&Text::new(text.to_string(), (x, y), style))
    };
    let line = |points: Vec<(f64, f64)>, color: RGBAColor, css_width: f64| {
        let points: Vec<(i32, i32)> = points.into_iter().map(|(s, l)| at(s, l)).collect();
        let style = color.stroke_width(px(css_width).max(1) as u32);
        area.draw(&PathElement::new(points, style))
    };

    let grid = rgb(palette.line).to_rgba();
    for i in 0..=(top / distance).round() as u32 {
        let loss = f64::from(i) * distance;
        line(vec![(0.0, loss), (f64::from(end), loss)], grid, 1.0)?;
        let (x, y) = at(0.0, loss);
        let label = format!("{}", (loss * 1e6).round() / 1e6);
        text(&label, (x - px(8.0), y), 13.0, palette.muted, HPos::Right, VPos::Center)?;
    }
    // Each label takes about 70 CSS pixels.
    let between = tick_distance(f64::from(end), (buckets / 70.0).max(1.0)).max(1.0);
    for i in 0..=(f64::from(end) / between).floor() as u32 {
        let step = f64::from(i) * between;
        let (x, y) = at(step, 0.0);
        area.draw(&PathElement::new(vec![(x, y), (x, y + px(4.0))], rgb(palette.muted)))?;
        let place = (x, y + px(8.0));
        text(&format!("{step}"), place, 13.0, palette.muted, HPos::Center, VPos::Top)?;
    }
    let (left, bottom) = at(0.0, 0.0);
    let (right, _) = at(f64::from(end), 0.0);
    let below = ((left + right) / 2, bottom + px(26.0));
    text("step", below, 13.0, palette.muted, HPos::Center, VPos::Top)?;
    let middle = (at(0.0, top).1 + bottom) / 2;
    let font = font(13.0 * plot.scale * plot.text_scale);
    let upwards = font
        .transform(FontTransform::Rotate270)
        .color(&rgb(palette.muted))
        .pos(Pos::new(HPos::Center, VPos::Top));
    area.draw(&Text::new("loss (nats per token)".to_string(), (px(6.0), middle), upwards))?;

    if let Some(loss) = knows_nothing {
        let dash = f64::from(end) / buckets;
        for i in 0..(buckets / 8.0) as u32 {
            let from = f64::from(i) * 8.0 * dash;
            line(vec![(from, loss), (from + 4.0 * dash, loss)], rgb(palette.ink).to_rgba(), 1.0)?;
        }
        let (x, y) = at(f64::from(end), loss);
        let label = format!("ln V = {loss:.2}: knows nothing");
        text(&label, (x, y - px(4.0)), 13.0, palette.ink, HPos::Right, VPos::Bottom)?;
    }
    if plot.curve.is_empty() {
        return Ok(());
    }

    line(train, rgb(palette.train_curve).mix(0.35), 1.0)?;
    let smoothed = thinned(plot.curve, buckets as usize);
    let train_end = smoothed.last().copied();
    line(smoothed, rgb(palette.train_curve).to_rgba(), 2.0)?;
    let held_out_end = held_out.last().copied();
    // Points tell this line from the other without its colour; too many would hide it.
    let every = held_out.len().div_ceil(24).max(1);
    let color = rgb(palette.held_out_curve);
    for (i, &(step, loss)) in held_out.iter().rev().enumerate() {
        if i % every == 0 {
            area.draw(&Circle::new(at(step, loss), px(3.5), color.filled()))?;
        }
    }
    line(held_out, color.to_rgba(), 1.5)?;

    let mut names = vec![];
    names.extend(train_end.map(|p| ("train", at(p.0, p.1), palette.train_curve)));
    names.extend(held_out_end.map(|p| ("held-out", at(p.0, p.1), palette.held_out_curve)));
    names.sort_by_key(|name| name.1.1);
    let mut free = i32::MIN;
    for (name, (x, y), color) in names {
        let y = y.max(free);
        free = y + px(16.0);
        text(name, (x + px(8.0), y), 13.0, color, HPos::Left, VPos::Center)?;
    }
    Ok(())
}

/// The curve as a stand-alone SVG.
pub fn loss_svg(curve: &Curve, vocabulary: usize, palette: &Palette) -> String {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (800, 400)).into_drawing_area();
    let plot = Plot { curve, vocabulary, palette, scale: 1.0, text_scale: 1.24 };
    // A string takes everything: this cannot fail.
    let drawn = draw(&area, &plot).and_then(|()| area.present());
    debug_assert!(drawn.is_ok());
    drop(area);
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::falling;

    #[test]
    fn the_axis_ends_on_round_numbers() {
        assert_eq!([0, 100, 101, 450, 5001].map(last_step_shown), [100, 100, 200, 500, 10_000]);
        assert_eq!(last_step_shown(u32::MAX), u32::MAX);
    }

    #[test]
    fn many_steps_keep_their_spikes() {
        let mut curve = falling(20_000);
        let spike = unroll_protocol::CurvePoint { step: 20_001, loss: 9.0, ..curve.points()[0] };
        curve.push(spike);
        let line = extremes(&curve, 50_000, 500);
        assert!(line.len() <= 1002, "{}", line.len());
        assert_eq!(line.iter().map(|p| p.1).fold(0.0, f64::max), 9.0);
        assert!(line.windows(2).all(|w| w[0].0 < w[1].0));
        assert_eq!(extremes(&falling(3), 100, 500).len(), 3);
    }

    #[test]
    fn draws_before_and_after_training() {
        let empty = loss_svg(&Curve::default(), 65, &Palette::LIGHT);
        assert!(empty.contains("ln V = 4.17: knows nothing") && empty.contains("</svg>"));
        let svg = loss_svg(&falling(300), 65, &Palette::LIGHT);
        assert!(svg.contains("held-out") && svg.matches("<circle").count() >= 10);
    }
}
