//! Draws diagrams as SVG text: on the page in the colors of its theme, which change without a
//! redraw, in a file in numbers.

use std::fmt::Write;

use super::{color::Palette, hue::Hue, svg::escape};

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

    /// Hairlines.
    pub fn line(self) -> String {
        self.0.map_or_else(|| "var(--line)".to_owned(), |palette| palette.line.css())
    }
}

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

    pub fn text(&mut self, hue: Hue, bold: bool, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let _ = write!(
            self.svg,
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{:.1}" font-weight="{}" text-anchor="{}" fill="{}">{}</text>"#,
            self.font,
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
}
