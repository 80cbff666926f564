//! A head's heatmap as a stand-alone SVG: rectangles and plain text, nothing scripted or linked.

use std::fmt::Write;

use super::{color::Rgb, theme::Colors, token, view::HeadView};

/// Text made safe for SVG; characters that XML forbids never get here (see [`token::mark`]).
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Side of the square the cells fill, in SVG units.
const SIDE: f64 = 560.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 84.0;

/// The heatmap with its labels, scale and a caption naming layer, head and step.
pub fn attention_svg(view: &HeadView, colors: &Colors) -> String {
    let t = view.size();
    let cell = SIDE / t as f64;
    let palette = colors.palette;
    let (width, height) = (LEFT + SIDE + 90.0, TOP + SIDE + 16.0);
    let mut svg = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="13"><title>Attention weights, layer {layer}, head {head}, step {step}</title><defs><pattern id="blocked" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="{blocked}"/><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="{hatch}"/></pattern></defs><rect width="100%" height="100%" fill="{paper}"/><text x="{LEFT}" y="22" font-size="15" fill="{ink}">Attention weights, layer {layer}, head {head}, step {step}</text>"#,
        layer = view.layer(),
        head = view.head(),
        step = view.trace().step,
        blocked = palette.blocked.css(),
        hatch = palette.blocked_line.css(),
        paper = palette.paper.css(),
        ink = palette.ink.css(),
    );
    write_blocked(&mut svg, cell * t as f64);
    let _ = write!(svg, r#"<g shape-rendering="crispEdges">"#);
    for query in 0..t {
        write_row(&mut svg, view, query, cell, colors);
    }
    svg.push_str("</g>");
    write_labels(&mut svg, view, cell, colors);
    write_scale(&mut svg, colors);
    svg.push_str("</svg>\n");
    svg
}

/// The ground of the cells: what a query may not see stays hatched.
fn write_blocked(svg: &mut String, side: f64) {
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r#"<rect x="{LEFT}" y="{TOP}" width="{side}" height="{side}" fill="url(#blocked)"/>"#
    );
}

/// One query's cells; neighbours of one colour become one rectangle, which keeps long sentences
/// small.
fn write_row(svg: &mut String, view: &HeadView, query: usize, cell: f64, colors: &Colors) {
    let row = view.row(query);
    let color_at = |key: usize| {
        (!view.is_blocked(query, key)).then(|| row.get(key).map(|&w| colors.ramp.at(w)))
    };
    let y = TOP + query as f64 * cell;
    let mut start = 0;
    while start < view.size() {
        let mut end = start + 1;
        let Some(Some(color)) = color_at(start) else {
            start = end;
            continue;
        };
        while color_at(end) == Some(Some(color)) {
            end += 1;
        }
        write_rect(svg, LEFT + start as f64 * cell, y, (end - start) as f64 * cell, cell, color);
        start = end;
    }
}

pub fn write_rect(svg: &mut String, x: f64, y: f64, width: f64, height: f64, color: Rgb) {
    let _ = write!(
        svg,
        r#"<rect x="{x:.3}" y="{y:.3}" width="{width:.3}" height="{height:.3}" fill="{}"/>"#,
        color.css()
    );
}

fn write_labels(svg: &mut String, view: &HeadView, cell: f64, colors: &Colors) {
    let size = (cell * 0.8).clamp(8.0, 13.0);
    let every = (size * 1.15 / cell).ceil().max(1.0) as usize;
    let palette = colors.palette;
    let _ = write!(
        svg,
        r#"<g font-family="ui-monospace, monospace" font-size="{size}" fill="{}">"#,
        palette.ink.css()
    );
    for i in (0..view.size()).step_by(every) {
        let label = escape(&token::short_mark(view.token(i), 4));
        let middle = (i as f64 + 0.5) * cell;
        let (x, y) = (LEFT + middle, TOP + middle);
        let _ = write!(
            svg,
            r#"<text x="{x:.2}" y="{}" text-anchor="middle">{label}</text><text x="{}" y="{y:.2}" dy="0.35em" text-anchor="end">{label}</text>"#,
            TOP - 6.0,
            LEFT - 6.0,
        );
    }
    let (center, middle) = (LEFT + SIDE / 2.0, TOP + SIDE / 2.0);
    let _ = write!(
        svg,
        r#"</g><text x="{center}" y="{}" text-anchor="middle" fill="{}">key: the token looked at</text><text transform="translate(18 {middle}) rotate(-90)" text-anchor="middle" fill="{}">query: the token that looks</text>"#,
        TOP - 28.0,
        palette.key.css(),
        palette.query.css(),
    );
}

/// The scale from 0 (bottom) to 1 (top), right of the cells.
fn write_scale(svg: &mut String, colors: &Colors) {
    const BANDS: usize = 64;
    let (x, height) = (LEFT + SIDE + 20.0, SIDE / 2.0);
    let top = TOP + SIDE - height;
    let band = height / BANDS as f64;
    svg.push_str(r#"<g shape-rendering="crispEdges">"#);
    for i in 0..BANDS {
        let probability = 1.0 - i as f32 / (BANDS - 1) as f32;
        write_rect(svg, x, top + i as f64 * band, 14.0, band, colors.ramp.at(probability));
    }
    let ink = colors.palette.ink.css();
    let _ = write!(svg, r#"</g><g fill="{ink}">"#);
    for (tick, value) in [("0", 0.0), ("0.25", 0.25), ("0.5", 0.5), ("0.75", 0.75), ("1", 1.0)] {
        let y = top + height * (1.0 - value);
        let _ = write!(svg, r#"<text x="{}" y="{y}" dy="0.35em">{tick}</text>"#, x + 20.0);
    }
    let _ = write!(
        svg,
        r#"<text x="{x}" y="{}">attention</text><text x="{x}" y="{}">weight</text></g>"#,
        top - 30.0,
        top - 14.0
    );
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::figures::{color::Palette, view};

    #[test]
    fn draws_every_cell_that_may_be_seen() {
        let view = HeadView::new(Arc::new(view::tests::trace()), 1, 1).unwrap();
        let svg = attention_svg(&view, &Colors::new(&Palette::LIGHT));
        let cells = svg.matches("<rect x=").count() - 65;
        // Not the scale of 64 nor the ground. Six cells; in the last row the two equal ones are one rectangle.
        assert_eq!(cells, 5, "{svg}");
        assert!(svg.contains("url(#blocked)"));
        assert!(svg.contains("layer 1, head 1, step 7"));
        assert!(svg.contains("␣") && !svg.contains("NaN"));
        assert_eq!(escape("<&>"), "&lt;&amp;&gt;");
    }
}
