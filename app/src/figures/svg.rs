//! Parts of the pictures that are saved as SVG.

use std::fmt::Write;

use super::pen::FACE;
use super::{
    color::{Palette, Rgb},
    frame::Caption,
};

/// Text made safe for SVG; characters that XML forbids never get here (see [`super::token::mark`]).
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// An SVG by the plotting library, which writes no title, with one: what screen readers call it.
pub fn titled(mut svg: String, title: &str) -> String {
    if let Some(at) = svg.find('>') {
        svg.insert_str(at + 1, &format!("<title>{}</title>", escape(title)));
    }
    svg
}

/// A drawing as a file of its own: `inside`, of this width and height, under its title and over a
/// line on where it comes from.
pub fn sheet(
    inside: &str,
    (width, height): (f64, f64),
    caption: &Caption,
    palette: &Palette,
) -> String {
    let (width, height) = (width + 60.0, height + 90.0);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="{FACE}"><title>{title}</title><rect width="100%" height="100%" fill="{paper}"/><text x="30" y="36" font-size="20" font-weight="650" fill="{ink}">{title}</text><text x="30" y="{foot}" font-size="12" fill="{muted}">{source}</text><g transform="translate(30 58)">{inside}</g></svg>"#,
        title = escape(&caption.title),
        paper = palette.paper.css(),
        ink = palette.ink.css(),
        muted = palette.muted.css(),
        foot = height - 14.0,
        source = escape(&caption.source),
    )
}

pub fn write_rect(svg: &mut String, x: f64, y: f64, width: f64, height: f64, color: Rgb) {
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r#"<rect x="{x:.3}" y="{y:.3}" width="{width:.3}" height="{height:.3}" fill="{}"/>"#,
        color.css()
    );
}
