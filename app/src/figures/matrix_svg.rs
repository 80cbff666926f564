//! A matrix as a stand-alone SVG: rectangles and plain text.

use std::fmt::Write;

use super::pen::{FACE, MONO};
use super::{
    frame::Caption,
    matrix_data::Matrix,
    matrix_paint::column_name,
    svg::{escape, write_rect},
    theme::Colors,
    token,
};

const LEFT: f64 = 110.0;
const TOP: f64 = 110.0;

/// The matrix with labels, scale, title and where it comes from.
pub fn matrix_svg(matrix: &Matrix, caption: &Caption, colors: &Colors) -> String {
    let (rows, columns) = matrix.shape();
    // Squares of many cells are small, or the picture were of many thousand pixels.
    let smallest = if rows == columns { 2.0 } else { 8.0 };
    let cell = (640.0 / columns.max(1) as f64).clamp(smallest, 32.0);
    let cell_height = if rows == columns { cell } else { cell.max(14.0) };
    let (cells_width, cells_height) = (cell * columns as f64, cell_height * rows as f64);
    let (width, height) = (
        (LEFT + cells_width + 40.0 + (8.0 * matrix.value_name.chars().count() as f64).max(70.0))
            .max(420.0),
        TOP + cells_height.max(180.0) + 40.0,
    );
    let palette = colors.palette;
    let mut svg = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="{FACE}" font-size="13"><title>{title}</title><defs><pattern id="blocked" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="{blocked}"/><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="{hatch}"/></pattern></defs><rect width="100%" height="100%" fill="{paper}"/><text x="16" y="24" font-size="15" fill="{ink}">{title}</text><text x="16" y="{foot}" font-size="12" fill="{muted}">{source}</text><text x="{LEFT}" y="{above}" fill="{muted}">{column_axis} →</text><text transform="translate(16 {TOP}) rotate(-90)" dy="0.6em" text-anchor="end" fill="{muted}">← {row_axis}</text>"#,
        title = escape(&caption.title),
        source = escape(&caption.source),
        row_axis = escape(&matrix.row_axis),
        column_axis = escape(&matrix.column_axis),
        above = if upright(matrix, cell) { TOP - 26.0 } else { 50.0 },
        foot = height - 12.0,
        blocked = palette.blocked.css(),
        hatch = palette.blocked_line.css(),
        paper = palette.paper.css(),
        ink = palette.ink.css(),
        muted = palette.muted.css(),
    );
    if matrix.has_absent() {
        let _ = write!(
            svg,
            r#"<rect x="{LEFT}" y="{TOP}" width="{cells_width}" height="{cells_height}" fill="url(#blocked)"/>"#
        );
    }
    svg.push_str(r#"<g shape-rendering="crispEdges">"#);
    for row in 0..rows {
        let map = matrix.map_of(row);
        let color = |column: usize| {
            let value = matrix.value(row, column);
            value.is_finite().then(|| map.color(value, colors))
        };
        let y = TOP + row as f64 * cell_height;
        let mut start = 0;
        while start < columns {
            // Neighbors of one color become one rectangle.
            let mut end = start + 1;
            while end < columns && color(end) == color(start) {
                end += 1;
            }
            if let Some(color) = color(start) {
                let (x, width) = (LEFT + start as f64 * cell, (end - start) as f64 * cell);
                write_rect(&mut svg, x, y, width, cell_height, color);
            }
            start = end;
        }
    }
    svg.push_str("</g>");
    write_labels(&mut svg, matrix, cell, cell_height, colors);
    write_scale(&mut svg, matrix, LEFT + cells_width + 24.0, colors);
    svg.push_str("</svg>\n");
    svg
}

/// Size of the labels of cells that are so wide, or so high.
fn label_size(cell: f64) -> f64 {
    (cell * 0.85).clamp(8.0, 13.0)
}

/// Whether a column's label is no wider than its column.
fn fits(label: &str, width: f64) -> bool {
    label.chars().count() <= 1 || 0.62 * label_size(width) * token::columns(label) <= width
}

/// Whether all column labels stand upright.
fn upright(matrix: &Matrix, width: f64) -> bool {
    matrix.columns.iter().all(|label| fits(column_name(matrix, label), width))
}

fn write_labels(svg: &mut String, matrix: &Matrix, width: f64, height: f64, colors: &Colors) {
    let ink = colors.palette.ink.css();
    let every = |cell: f64| (label_size(cell) * 1.1 / cell).ceil().max(1.0) as usize;
    let _ = write!(svg, r#"<g font-family="{MONO}" fill="{ink}">"#);
    for (row, label) in matrix.rows.iter().enumerate().step_by(every(height)) {
        let (x, y) = (LEFT - 6.0, TOP + (row as f64 + 0.5) * height);
        let (label, size) = (escape(&token::short_label(label, 10)), label_size(height));
        let _ = write!(
            svg,
            r#"<text x="{x}" y="{y:.2}" dy="0.35em" text-anchor="end" font-size="{size}">{label}</text>"#
        );
    }
    for (column, label) in matrix.columns.iter().enumerate().step_by(every(width)) {
        let x = LEFT + (column as f64 + 0.5) * width;
        let label = token::short_label(column_name(matrix, label), 6);
        let (fits, label, size) = (fits(&label, width), escape(&label), label_size(width));
        let y = TOP - 6.0;
        // What does not fit is turned.
        let place = if fits {
            format!(r#"x="{x:.2}" y="{y}" text-anchor="middle""#)
        } else {
            format!(r#"transform="translate({x:.2} {y}) rotate(-90)" dy="0.35em""#)
        };
        let _ = write!(svg, r#"<text {place} font-size="{size}">{label}</text>"#);
    }
    svg.push_str("</g>");
}

fn write_scale(svg: &mut String, matrix: &Matrix, x: f64, colors: &Colors) {
    const BANDS: usize = 64;
    const HEIGHT: f64 = 150.0;
    let top = TOP + 24.0;
    svg.push_str(r#"<g shape-rendering="crispEdges">"#);
    let band = HEIGHT / BANDS as f64;
    for i in 0..BANDS {
        let share = 1.0 - i as f32 / (BANDS - 1) as f32;
        let color = matrix.map.color(matrix.map.value(share), colors);
        write_rect(svg, x, top + i as f64 * band, 14.0, band, color);
    }
    let _ = write!(svg, r#"</g><g fill="{}">"#, colors.palette.ink.css());
    for (i, tick) in matrix.map.ticks().iter().enumerate() {
        let y = top + HEIGHT * (1.0 - i as f64 / 4.0);
        let _ = write!(svg, r#"<text x="{}" y="{y}" dy="0.35em">{tick}</text>"#, x + 20.0);
    }
    let name = escape(&matrix.value_name);
    let _ = write!(svg, r#"<text x="{x}" y="{}">{name}</text></g>"#, top - 12.0);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::figures::{
        color::Palette,
        matrix_data::tests::{caption, small},
        view::{self, HeadView},
    };

    #[test]
    fn draws_every_cell_that_has_a_value() {
        let svg = matrix_svg(&small(), &caption(), &Colors::new(&Palette::LIGHT));
        assert_eq!(svg.matches("<rect x=").count(), 64 + 5 + 1, "{svg}");
        assert!(svg.contains("␣") && svg.contains("&lt;") && svg.contains("−0.5"));
        assert!(!svg.contains("NaN"));
        let empty = matrix_svg(&Matrix::default(), &caption(), &Colors::new(&Palette::DARK));
        assert!(empty.ends_with("</svg>\n"));
    }

    #[test]
    fn draws_every_weight_that_may_be_seen() {
        let view = HeadView::new(Arc::new(view::tests::trace()), 1, 1).unwrap();
        let matrix = HeadView::to_matrix(Some(&view));
        let svg = matrix_svg(&matrix, &caption(), &Colors::new(&Palette::LIGHT));
        let cells = svg.matches("<rect x=").count() - 65;
        // Neither the 64 of the scale nor the ground. Six cells; in the last row the two equal ones
        // are one rectangle.
        assert_eq!(cells, 5, "{svg}");
        assert!(svg.contains("url(#blocked)") && svg.contains("␣") && !svg.contains("NaN"));
        assert_eq!(escape("<&>"), "&lt;&amp;&gt;");
    }
}
