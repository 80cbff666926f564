//! Parts of the pictures that are saved as SVG.

use std::fmt::Write;

use super::color::Rgb;

/// Text made safe for SVG; characters that XML forbids never get here (see [`super::token::mark`]).
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub fn write_rect(svg: &mut String, x: f64, y: f64, width: f64, height: f64, color: Rgb) {
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r#"<rect x="{x:.3}" y="{y:.3}" width="{width:.3}" height="{height:.3}" fill="{}"/>"#,
        color.css()
    );
}
