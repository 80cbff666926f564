//! Small SVG pictures, written as markup: numbers and fixed words only, nothing a learner typed.

use core::fmt::Write;

pub const WIDTH: f64 = 280.0;
pub const HEIGHT: f64 = 130.0;

/// What has been drawn so far. Colors are classes of `teaching.css`.
#[derive(Default)]
pub struct Pen {
    pub markup: String,
}

/// A span of numbers along the picture's edges.
#[derive(Clone, Copy)]
pub struct Plot {
    pub x: (f64, f64),
    pub y: (f64, f64),
}

/// The part of the picture a plot fills: left, top, right, bottom.
const FRAME: [f64; 4] = [8.0, 10.0, WIDTH - 8.0, HEIGHT - 10.0];

impl Plot {
    pub fn at(self, x: f64, y: f64) -> (f64, f64) {
        let [left, top, right, bottom] = FRAME;
        (
            left + (x - self.x.0) / (self.x.1 - self.x.0) * (right - left),
            bottom - (y - self.y.0) / (self.y.1 - self.y.0) * (bottom - top),
        )
    }

    fn holds(self, (x, y): (f64, f64)) -> bool {
        (self.x.0..=self.x.1).contains(&x) && (self.y.0..=self.y.1).contains(&y)
    }
}

impl Pen {
    // Writing to a String cannot fail.
    pub fn line(&mut self, class: &str, (a, b): (f64, f64), (c, d): (f64, f64)) {
        let _ = write!(
            self.markup,
            r#"<line class="{class}" x1="{a:.1}" y1="{b:.1}" x2="{c:.1}" y2="{d:.1}"/>"#
        );
    }

    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (w, h): (f64, f64)) {
        let _ = write!(
            self.markup,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{:.1}" height="{:.1}"/>"#,
            w.max(0.0),
            h.max(0.0)
        );
    }

    pub fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let _ = write!(
            self.markup,
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius}"/>"#
        );
    }

    /// `anchor` is start, middle or end; `y` is the baseline.
    pub fn text(&mut self, anchor: &str, (x, y): (f64, f64), text: &str) {
        self.label("toy-text", anchor, (x, y), text);
    }

    pub fn label(&mut self, class: &str, anchor: &str, (x, y): (f64, f64), text: &str) {
        let _ = write!(
            self.markup,
            r#"<text class="{class}" text-anchor="{anchor}" x="{x:.1}" y="{y:.1}">{text}</text>"#
        );
    }

    /// A line with a head at its second end.
    pub fn arrow(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.line(class, from, to);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if length < 1.0 {
            return;
        }
        let (ux, uy) = (dx / length * 8.0, dy / length * 8.0);
        for side in [0.5, -0.5] {
            self.line(class, to, (to.0 - ux + side * uy, to.1 - uy - side * ux));
        }
    }

    /// The axes where they cross the plot.
    pub fn axes(&mut self, plot: Plot) {
        if plot.holds((plot.x.0, 0.0)) {
            self.line("toy-axis", plot.at(plot.x.0, 0.0), plot.at(plot.x.1, 0.0));
        }
        if plot.holds((0.0, plot.y.0)) {
            self.line("toy-axis", plot.at(0.0, plot.y.0), plot.at(0.0, plot.y.1));
        }
    }

    /// The points that lie in the plot, joined.
    pub fn path(&mut self, class: &str, plot: Plot, points: impl Iterator<Item = (f64, f64)>) {
        let mut d = String::new();
        for point in points.filter(|&point| plot.holds(point)) {
            let (x, y) = plot.at(point.0, point.1);
            let _ = write!(d, "{}{x:.1} {y:.1}", if d.is_empty() { 'M' } else { 'L' });
        }
        let _ = write!(self.markup, r#"<path class="{class}" d="{d}"/>"#);
    }

    pub fn curve(&mut self, plot: Plot, f: fn(f64) -> f64) {
        let x = |i: i32| plot.x.0 + (plot.x.1 - plot.x.0) * f64::from(i) / 140.0;
        self.path("toy-curve", plot, (0..=140).map(|i| (x(i), f(x(i)))));
    }

    /// Horizontal bars from 0, as long as their numbers, of which `full` fills the room.
    pub fn bars(&mut self, rows: &[(&str, f64, &str)], full: f64) {
        let height = HEIGHT / rows.len() as f64;
        for (i, &(name, share, number)) in rows.iter().enumerate() {
            let y = i as f64 * height;
            let middle = y + height / 2.0 + 5.0;
            self.text("start", (0.0, middle), name);
            self.rect("toy-room", (58.0, y + 6.0), (150.0, height - 12.0));
            self.rect(
                "toy-bar",
                (58.0, y + 6.0),
                (150.0 * (share / full).clamp(0.0, 1.0), height - 12.0),
            );
            self.text("end", (WIDTH, middle), number);
        }
    }

    /// Upright bars from a line at `middle`; `most` reaches `reach` above or below it.
    pub fn columns(&mut self, values: &[f64], most: f64, (middle, reach): (f64, f64)) {
        let width = WIDTH / values.len() as f64;
        self.line("toy-axis", (0.0, middle), (WIDTH, middle));
        for (i, &value) in values.iter().enumerate() {
            let x = (i as f64 + 0.5) * width;
            let height = (value / most).clamp(-1.0, 1.0) * reach;
            let bar = width.min(36.0) * 0.7;
            self.rect("toy-bar", (x - bar / 2.0, middle - height.max(0.0)), (bar, height.abs()));
        }
    }

    /// Columns around 0 with their numbers under them.
    pub fn numbered(&mut self, values: &[f64], most: f64) {
        self.columns(values, most, (54.0, 50.0));
        let width = WIDTH / values.len() as f64;
        for (i, &value) in values.iter().enumerate() {
            self.text("middle", ((i as f64 + 0.5) * width, HEIGHT - 4.0), &four(value));
        }
    }

    /// A row of cells with words in them; `lit` says which stand out.
    pub fn cells(&mut self, y: f64, height: f64, words: &[String], lit: impl Fn(usize) -> bool) {
        let width = WIDTH / words.len() as f64;
        for (i, word) in words.iter().enumerate() {
            let class = if lit(i) { "toy-cell toy-lit" } else { "toy-cell" };
            let x = i as f64 * width;
            self.rect(class, (x + 1.0, y + 1.0), (width - 2.0, height - 2.0));
            let class = if lit(i) { "toy-text toy-strong" } else { "toy-text" };
            self.label(class, "middle", (x + width / 2.0, y + height / 2.0 + 5.0), word);
        }
    }
}

/// A number with four significant digits.
pub fn four(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.abs().to_string();
    }
    let places = |power: i32| usize::try_from(3 - power).unwrap_or(0);
    let mut power = x.abs().log10().floor() as i32;
    // 9.9999 is 10.00.
    if x.abs() >= (10f64.powi(power + 1)) * (1.0 - 5e-5) {
        power += 1;
    }
    let text = if (-4..6).contains(&power) {
        format!("{x:.*}", places(power))
    } else {
        format!("{x:.3e}").replace('e', " × 10^")
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_and_no_more() {
        let read = [0.0, 1.0, -1.386_29, 0.024_999_9, 9.999_96, 12_345.6, 1.234_56e-7].map(four);
        assert_eq!(read, ["0", "1.000", "−1.386", "0.02500", "10.00", "12346", "1.235 × 10^−7"]);
    }
}
