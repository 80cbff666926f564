//! Series over an x axis: the data of [`super::LinesFigure`], how it is read, and as text.

use serde_json::json;

use super::{
    color::{Palette, Rgb},
    export::{Provenance, axis, csv_comment, field, head, open_object},
    frame::Caption,
    hue::{Dash, Hue},
    motion::Between,
    numbers::{brief, percent, place},
    plot::{Axis, last_step_shown},
};

/// How y values are spread over the height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum YScale {
    #[default]
    Linear,
    /// By equal differences, from just under the least value that is shown: for losses, whose way
    /// from knowing nothing fills the plot.
    Close,
    /// By equal factors. Values of 0 and below have no place on it; the figure says how many.
    Log,
}

/// How much a line stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// With its points where they are few, thin where they are very many.
    #[default]
    Auto,
    /// Thin, pale and without a name: the noise behind a smoothed line.
    Faint,
    /// Never thin, and without points.
    Smooth,
    /// With some of its points however many there are.
    Dotted,
    /// Thin and quiet; a point between gaps is a large dot over all lines.
    Marked,
    /// No line between its points, which say nothing of what lies between them.
    Points,
}

/// One series, its points in order of x. A y that is not a number is a gap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    pub name: String,
    /// What it comes to: stands after its name in the plot where there is room for all of them.
    pub says: String,
    pub hue: Hue,
    pub dash: Dash,
    pub stroke: Stroke,
    /// Share of the paper in its color, from 0 to 1: tells lines of one hue apart in their order.
    pub faded: f64,
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// A series that is called so and looks so.
    pub fn new(name: impl Into<String>, hue: Hue, dash: Dash, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), hue, dash, points, ..Self::default() }
    }
}

/// A value to compare with, drawn across the whole plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    pub name: String,
    pub y: f64,
}

/// What a [`super::LinesFigure`] shows. Without ranges the axes hold all that is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    pub x_label: String,
    pub y_label: String,
    pub series: Vec<Line>,
    pub references: Vec<Reference>,
    pub y_scale: YScale,
    /// Whether x goes by equal factors.
    pub x_log: bool,
    pub x_range: Option<(f64, f64)>,
    pub y_range: Option<(f64, f64)>,
    /// Whether y is a share of one whole: it is read in percent, and stays what it is in files.
    pub is_share: bool,
    /// Whether the names stand where the lines begin, for lines that meet at their ends. The y axis is
    /// on the right then.
    pub names_first: bool,
}

impl Lines {
    /// An x range for steps of a live training: its end is round, near, and moves seldom.
    pub fn steps(last_step: u32) -> Option<(f64, f64)> {
        Some((0.0, f64::from(last_step_shown(last_step))))
    }

    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|line| line.points.is_empty())
    }

    pub fn x_axis(&self) -> Axis {
        let xs = self.series.iter().flat_map(|line| line.points.iter().map(|p| p.0));
        Axis::over(xs, self.x_range, self.x_log, false)
    }

    pub fn y_axis(&self) -> Axis {
        let ys = self.series.iter().flat_map(|line| line.points.iter().map(|p| p.1));
        if self.y_scale == YScale::Close {
            let most = self.references.iter().map(|r| r.y).max_by(f64::total_cmp);
            let ys = ys.chain(self.references.iter().map(|r| r.y));
            return Axis::close(ys, self.y_range, most);
        }
        let ys = ys.chain(self.references.iter().map(|r| r.y));
        Axis::over(ys, self.y_range, self.y_scale == YScale::Log, true)
    }

    /// Every x at which some series has a point, in order.
    pub fn xs(&self) -> Vec<f64> {
        let mut xs: Vec<f64> =
            self.series.iter().flat_map(|line| line.points.iter().map(|p| p.0)).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        xs
    }

    /// What a log axis cannot show, in a sentence; `None` if it shows all.
    pub fn left_out(&self) -> Option<String> {
        if self.y_scale != YScale::Log {
            return None;
        }
        let count = |line: &&Line| line.points.iter().filter(|p| p.1 <= 0.0).count();
        let counts: Vec<String> = self
            .series
            .iter()
            .filter(|line| count(line) > 0)
            .map(|line| format!("{} of {}", count(&line), line.name))
            .collect();
        (!counts.is_empty())
            .then(|| format!("Not on the log axis, being 0 or less: {}.", counts.join(", ")))
    }
}

impl Between for Lines {
    /// Each line that there was moves up or down where it had a point before.
    fn between(&self, to: &Self, share: f64) -> Option<Self> {
        let before = |name: &str| self.series.iter().find(|line| line.name == name);
        let stays = to.series.iter().any(|line| before(&line.name).is_some());
        if !stays || self.y_scale != to.y_scale {
            return None;
        }
        let is_log = to.y_scale == YScale::Log;
        let mut now = to.clone();
        for line in &mut now.series {
            let Some(before) = before(&line.name) else { continue };
            for (x, y) in &mut line.points {
                // What had no place on the axis comes from nowhere.
                let was = |point: &(f64, f64)| point.0 == *x && !(is_log && point.1 <= 0.0);
                let Some((_, from)) = before.at(*x).filter(was) else { continue };
                let value = if is_log {
                    from.powf(1.0 - share) * y.powf(share)
                } else {
                    from + (*y - from) * share
                };
                if value.is_finite() {
                    *y = value;
                }
            }
        }
        Some(now)
    }
}

impl Line {
    /// The line's color in one theme.
    pub fn color(&self, palette: &Palette) -> Rgb {
        self.hue.of(palette).over(palette.paper, 1.0 - self.faded)
    }

    /// The line's color in the page's theme, as a CSS value.
    pub fn css(&self) -> String {
        if self.faded == 0.0 {
            return self.hue.css().to_owned();
        }
        format!("color-mix(in srgb, var(--paper) {:.0}%, {})", 100.0 * self.faded, self.hue.css())
    }

    /// The point at `x`, or else the last one before it.
    pub fn at(&self, x: f64) -> Option<(f64, f64)> {
        self.points[..self.points.partition_point(|p| p.0 <= x)].last().copied()
    }

    /// What the series says at `x`: the value there, or the one before with its own x.
    pub fn reading(&self, x: f64, is_share: bool) -> String {
        let brief = |y: f64| match y.fract() == 0.0 {
            _ if is_share => percent(y, 1),
            true => place(y),
            false => brief(y),
        };
        match self.at(x) {
            None => "–".into(),
            Some((_, y)) if !y.is_finite() => "–".into(),
            Some((at, y)) if at == x => brief(y),
            Some(_) if self.stroke == Stroke::Points => "–".into(),
            Some((at, y)) => format!("{} (at {})", brief(y), place(at)),
        }
    }
}

/// The index of the value of the sorted `xs` nearest to `x`.
pub fn nearest(xs: &[f64], x: f64) -> Option<usize> {
    let after = xs.partition_point(|v| *v < x);
    let candidates = [after.checked_sub(1), (after < xs.len()).then_some(after)];
    let distance = |i: &usize| (xs[*i] - x).abs();
    candidates.into_iter().flatten().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// The series, `values[i]` holding the `[x, y]` pairs of the i-th; a gap is `null`.
pub fn lines_json(lines: &Lines, caption: &Caption, provenance: &Provenance) -> String {
    let names: Vec<&str> = lines.series.iter().map(|line| line.name.as_str()).collect();
    let mut map = head(caption.name, &caption.title, provenance);
    let points: Vec<usize> = lines.series.iter().map(|line| line.points.len()).collect();
    map.insert("points".into(), json!(points));
    map.insert(
        "axes".into(),
        json!([axis("series", names), axis("point", [&lines.x_label, &lines.y_label])]),
    );
    map.insert("log".into(), json!(lines.y_scale == YScale::Log));
    let references: Vec<_> =
        lines.references.iter().map(|r| json!({ "name": r.name, "y": r.y })).collect();
    map.insert("references".into(), json!(references));
    map.insert("marker".into(), json!(caption.marker));
    let values: Vec<&Vec<(f64, f64)>> = lines.series.iter().map(|line| &line.points).collect();
    open_object(&map, "values") + &serde_json::to_string(&values).unwrap_or_default() + "}"
}

/// One line an x, one column a series; left empty where a series has no point.
pub fn lines_csv(lines: &Lines, caption: &Caption, provenance: &Provenance) -> String {
    // Values of several kinds have no name in common.
    let colon = if lines.y_label.is_empty() { "" } else { ": " };
    let what = format!("{}{colon}{} by {}", caption.title, lines.y_label, lines.x_label);
    let mut text = csv_comment(&what, provenance);
    text.push_str(&field(&lines.x_label));
    for line in &lines.series {
        text.push(',');
        text.push_str(&field(&line.name));
    }
    text.push('\n');
    for x in lines.xs() {
        text.push_str(&format!("{x:?}"));
        for line in &lines.series {
            let y = line.at(x).filter(|p| p.0 == x && p.1.is_finite());
            text.push_str(&y.map_or(",".into(), |p| format!(",{:?}", p.1)));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
pub mod tests {
    use serde_json::Value;

    use super::*;

    pub fn two() -> Lines {
        let line = |name: &str, points: Vec<(f64, f64)>| Line {
            name: name.into(),
            points,
            ..Line::default()
        };
        Lines {
            x_label: "step".into(),
            y_label: "norm, |g|".into(),
            series: vec![
                line("RNN", (0..30).map(|t| (f64::from(t), 0.5f64.powi(t))).collect()),
                line("LSTM, <c>", vec![(0.0, 1.0), (10.0, 0.0), (20.0, 0.25), (25.0, f64::NAN)]),
            ],
            references: vec![Reference { name: "start".into(), y: 1.0 }],
            y_scale: YScale::Log,
            ..Lines::default()
        }
    }

    pub fn caption() -> Caption {
        Caption { name: "norms", title: "Norms".into(), marker: Some(4.0), source: "here".into() }
    }

    #[test]
    fn reads_what_is_there() {
        let lines = two();
        assert_eq!(lines.xs().len(), 30);
        assert_eq!(lines.series[0].reading(1.0, false), "0.5");
        assert_eq!(lines.series[0].reading(1.0, true), "50.0%");
        assert_eq!(lines.series[1].reading(21.0, false), "0.25 (at 20)");
        assert_eq!(lines.series[1].reading(10.0, false), "0");
        assert_eq!(lines.series[1].reading(26.0, false), "–");
        assert_eq!(
            lines.left_out().unwrap(),
            "Not on the log axis, being 0 or less: 1 of LSTM, <c>."
        );
        assert_eq!(nearest(&[1.0, 2.0, 4.0], 3.2), Some(2));
        assert_eq!(nearest(&[1.0, 2.0, 4.0], -9.0), Some(0));
        assert_eq!(nearest(&[], 1.0), None);
    }

    #[test]
    fn a_close_axis_holds_what_is_shown() {
        let points = vec![(0.0, 4.05), (60.0, 2.13)];
        let mut lines = Lines {
            y_scale: YScale::Close,
            series: vec![Line::new("train", Hue::First, Dash::Solid, points)],
            references: [4.17, 1.5].map(|y| Reference { name: "ln V".into(), y }).into(),
            ..Lines::default()
        };
        let ends = |lines: &Lines| (lines.y_axis().from, lines.y_axis().to);
        assert!(
            (ends(&lines).0 - 1.4).abs() < 1e-9 && ends(&lines).1 == 4.17,
            "{:?}",
            ends(&lines)
        );
        assert_eq!(lines.left_out(), None);
        lines.y_range = Some((0.0, 4.0));
        assert_eq!(ends(&lines), (0.0, 4.0));
    }

    #[test]
    fn files_read_back() {
        let provenance = Provenance { device: "CPU".into(), ..Provenance::default() };
        let json: Value =
            serde_json::from_str(&lines_json(&two(), &caption(), &provenance)).unwrap();
        assert_eq!(json["values"][0][3], json!([3.0, 0.125]));
        assert_eq!(json["values"][1][3], json!([25.0, null]));
        assert_eq!(json["points"], json!([30, 4]));
        assert_eq!(json["device"], json!("CPU"));
        let csv = lines_csv(&two(), &caption(), &provenance);
        let rows: Vec<&str> = csv.lines().collect();
        assert_eq!(rows[1], "step,RNN,\"LSTM, <c>\"");
        assert_eq!(rows[2], "0.0,1.0,1.0");
        assert_eq!(rows[3], "1.0,0.5,");
        assert_eq!(rows.len(), 32);
    }

    #[test]
    fn lines_move_where_they_had_a_point() {
        let line = |points: &[(f64, f64)]| Line::new("a", Hue::Muted, Dash::Solid, points.to_vec());
        let lines = |y_scale, points: &[(f64, f64)]| Lines {
            y_scale,
            series: vec![line(points)],
            ..Lines::default()
        };
        let halfway = |y_scale, from: &[(f64, f64)]| {
            let to = lines(y_scale, &[(0.0, 4.0), (1.0, 9.0)]);
            lines(y_scale, from).between(&to, 0.5).map(|mut now| now.series.remove(0).points)
        };
        assert_eq!(halfway(YScale::Linear, &[(0.0, 2.0)]), Some(vec![(0.0, 3.0), (1.0, 9.0)]));
        let log = halfway(YScale::Log, &[(0.0, 1.0), (1.0, 0.0)]).unwrap();
        assert!((log[0].1 - 2.0).abs() < 1e-12, "by equal factors");
        assert_eq!(log[1], (1.0, 9.0), "0 has no place on the axis");
        let other = Lines { series: Vec::new(), ..Lines::default() };
        assert_eq!(other.between(&lines(YScale::Linear, &[]), 0.5), None, "other series");
    }
}
