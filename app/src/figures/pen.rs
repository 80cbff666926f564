//! Draws diagrams as SVG text: on the page in the colors of its theme, which change without a
//! redraw, in a file in numbers.

use std::fmt::Write;

use super::{color::Palette, hue::Hue, svg::escape, tint::tint};

/// What colors are called.
#[derive(Clone, Copy)]
pub struct Paint(Option<&'static Palette>);

impl Paint {
    /// The properties of the style sheet.
    pub fn page() -> Self {
        Self(None)
    }

    /// The numbers of one theme.
    pub fn of(palette: &'static Palette) -> Self {
        Self(Some(palette))
    }

    pub fn hue(self, hue: Hue) -> String {
        self.0.map_or_else(|| hue.css().to_owned(), |palette| hue.of(palette).css())
    }

    /// What things are drawn on.
    pub fn paper(self) -> String {
        self.0.map_or_else(|| "var(--paper)".to_owned(), |palette| palette.paper.css())
    }

    /// Behind this token.
    pub fn token(self, token: &str) -> String {
        self.tint(tint(token))
    }

    /// Behind a token: see [`super::tint`].
    pub fn tint(self, which: usize) -> String {
        match self.0 {
            Some(palette) => palette.tokens[which].css(),
            None => format!("var(--token-{which})"),
        }
    }

    /// Hairlines.
    pub fn line(self) -> String {
        self.0.map_or_else(|| "var(--line)".to_owned(), |palette| palette.line.css())
    }
}

/// How a box is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    pub hue: Hue,
    pub thick: f64,
    /// How much of the hue is in the ground, from 0 to 1.
    pub share: f64,
}

/// The page's font, for canvases and files. Where a file is opened, Inter may be missing.
pub const FACE: &str = "Inter, system-ui, sans-serif";

/// The page's monospaced font, likewise: tokens are set in it.
pub const MONO: &str = "ui-monospace, Menlo, Consolas, monospace";

/// Draws with text of one size.
pub struct Pen {
    pub svg: String,
    pub font: f64,
    pub paint: Paint,
}

/// Where a text stands to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn css(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

impl Pen {
    pub fn new(font: f64, paint: Paint) -> Self {
        Self { svg: String::new(), font, paint }
    }

    pub fn hue(&self, hue: Hue) -> String {
        self.paint.hue(hue)
    }

    /// A line along an SVG path.
    pub fn wire(&mut self, hue: Hue, thick: f64, path: &str) {
        // Writing to a String cannot fail.
        let _ = write!(
            self.svg,
            r#"<path d="{path}" fill="none" stroke="{}" stroke-width="{thick}" stroke-linejoin="round" stroke-linecap="round"/>"#,
            self.hue(hue)
        );
    }

    pub fn text(&mut self, hue: Hue, bold: bool, at: (f64, f64), anchor: Anchor, text: &str) {
        self.sized(hue, bold, self.font, at, anchor, text);
    }

    /// Text of another size.
    pub fn sized(
        &mut self,
        hue: Hue,
        bold: bool,
        size: f64,
        at: (f64, f64),
        anchor: Anchor,
        text: &str,
    ) {
        self.write((hue, bold), size, at, anchor, "", text);
    }

    /// Text on an edge of paper: lines may pass under it.
    pub fn haloed(
        &mut self,
        (hue, bold): (Hue, bool),
        size: f64,
        at: (f64, f64),
        anchor: Anchor,
        text: &str,
    ) {
        let halo = format!(
            r#" stroke="{}" stroke-width="{:.1}" stroke-linejoin="round" paint-order="stroke""#,
            self.paint.paper(),
            0.3 * size
        );
        self.write((hue, bold), size, at, anchor, &halo, text);
    }

    /// A token, whose characters all have the same width.
    pub fn mono(&mut self, hue: Hue, bold: bool, at: (f64, f64), anchor: Anchor, text: &str) {
        let face = format!(r#" font-family="{MONO}""#);
        self.write((hue, bold), self.font, at, anchor, &face, text);
    }

    /// Single letters of one line, each around a place of its own. They are one element: a browser sets that
    /// in a fraction of the time that an element for each letter takes.
    pub fn letters(&mut self, hue: Hue, y: f64, letters: &[(f64, char)]) {
        let places: Vec<String> = letters.iter().map(|(x, _)| format!("{x:.1}")).collect();
        let text: String = letters.iter().map(|(_, letter)| letter).collect();
        let _ = write!(
            self.svg,
            r#"<text x="{}" y="{y:.1}" font-size="{:.1}" font-family="{MONO}" text-anchor="middle" fill="{}">{}</text>"#,
            places.join(" "),
            self.font,
            self.hue(hue),
            escape(&text)
        );
    }

    fn write(
        &mut self,
        (hue, bold): (Hue, bool),
        size: f64,
        (x, y): (f64, f64),
        anchor: Anchor,
        more: &str,
        text: &str,
    ) {
        let _ = write!(
            self.svg,
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size:.1}"{more} font-weight="{}" text-anchor="{}" fill="{}">{}</text>"#,
            if bold { 650 } else { 400 },
            anchor.css(),
            self.hue(hue),
            escape(text)
        );
    }

    /// A round knot in which two numbers meet.
    pub fn knot(&mut self, hue: Hue, (x, y): (f64, f64), sign: &str) {
        let (radius, size) = (self.font * 0.95, self.font * 1.25);
        let _ = write!(
            self.svg,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.1}" fill="{}" stroke="{}" stroke-width="2.5"/><text x="{x:.1}" y="{:.1}" font-size="{size:.1}" font-weight="650" text-anchor="middle" fill="{}">{sign}</text>"#,
            self.paint.paper(),
            self.hue(hue),
            y + size * 0.35,
            self.hue(Hue::Ink),
        );
    }

    /// A rounded box that hides what is under it.
    pub fn boxed(&mut self, place: (f64, f64), size: (f64, f64), round: f64, stroke: Stroke) {
        let ((x, y), (width, height), hue) = (place, size, self.hue(stroke.hue));
        let _ = write!(
            self.svg,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{round:.1}" fill="{}"/><rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{round:.1}" fill="{hue}" fill-opacity="{}" stroke="{hue}" stroke-width="{:.1}"/>"#,
            self.paint.paper(),
            stroke.share,
            stroke.thick,
        );
    }

    /// A soft rounded ground without an edge.
    pub fn panel(&mut self, hue: Hue, place: (f64, f64), size: (f64, f64), round: f64) {
        let ((x, y), (width, height)) = (place, size);
        let _ = write!(
            self.svg,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{round:.1}" fill="{}" fill-opacity="0.065"/>"#,
            self.hue(hue)
        );
    }

    /// A soft ground of any shape.
    pub fn ground(&mut self, hue: Hue, path: &str) {
        let _ =
            write!(self.svg, r#"<path d="{path}" fill="{}" fill-opacity="0.065"/>"#, self.hue(hue));
    }

    /// A filled cell of which `share` is color.
    pub fn shade(&mut self, hue: Hue, place: (f64, f64), size: (f64, f64), share: f64) {
        let ((x, y), (width, height)) = (place, size);
        let _ = write!(
            self.svg,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="1" fill="{}" fill-opacity="{share}"/>"#,
            self.hue(hue)
        );
    }

    /// The head of an arrow whose tip is at a place and that points along `direction`.
    pub fn head(&mut self, hue: Hue, (x, y): (f64, f64), direction: (f64, f64), long: f64) {
        let (dx, dy) = (direction.0 * long, direction.1 * long);
        let (back_x, back_y) = (x - dx, y - dy);
        let _ = write!(
            self.svg,
            r#"<path d="M{x:.1} {y:.1}L{:.1} {:.1}L{:.1} {:.1}z" fill="{}"/>"#,
            back_x - dy * 0.48,
            back_y + dx * 0.48,
            back_x + dy * 0.48,
            back_y - dx * 0.48,
            self.hue(hue)
        );
    }

    /// Where lines join.
    pub fn dot(&mut self, hue: Hue, (x, y): (f64, f64), radius: f64) {
        let color = self.hue(hue);
        let _ =
            write!(self.svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.1}" fill="{color}"/>"#);
    }
}
