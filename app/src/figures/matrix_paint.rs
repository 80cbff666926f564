//! Where a matrix's cells are, and how they are painted.

use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::{
    canvas::{self, Size},
    matrix_data::Matrix,
    matrix_strip::Across,
    theme::Colors,
    token,
};

/// Smaller than this no cell becomes: the matrix scrolls within its figure instead.
const NARROWEST: f64 = 7.0;
const LOWEST: f64 = 4.0;
/// A cell is at most so many times as wide as it is high, or as high as it is wide.
const LONGEST: f64 = 4.0;
/// Sizes of the labels' fonts.
const SMALLEST_FONT: f64 = 12.0;
const LARGEST_FONT: f64 = 18.0;
/// Room for an axis title.
const TITLE: f64 = 22.0;
/// Right and below, so that outlines are not cut.
const EDGE: f64 = 3.0;
/// Longest labels, in characters.
const ROW_LABEL: usize = 10;
const COLUMN_LABEL: usize = 6;
const CHARACTER: f64 = 0.62;

/// Where the cells are, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Geometry {
    pub rows: usize,
    pub columns: usize,
    /// Left of the first column and top of the first row.
    pub left: f64,
    pub top: f64,
    pub cell_width: f64,
    pub cell_height: f64,
    /// Sizes of the labels' fonts.
    pub row_font: f64,
    pub column_font: f64,
    /// Every n-th label is written.
    pub row_every: usize,
    pub column_every: usize,
    /// Whether column labels are written upwards.
    pub turned: bool,
}

impl Geometry {
    /// For a matrix in a box of `width` by `height`: as many rows as columns make the largest squares
    /// that fit, any other matrix fills the box.
    pub fn new(matrix: &Matrix, width: f64, height: f64) -> Self {
        let (rows, columns) = matrix.shape();
        if rows == 0 || width <= 0.0 || height <= 0.0 {
            return Self::default();
        }
        let longest = |labels: &[String], most: usize| {
            let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(1);
            longest.clamp(1, most) as f64
        };
        let title = |name: &str| if name.is_empty() { 4.0 } else { TITLE };
        let (row_label, column_label) =
            (longest(&matrix.rows, ROW_LABEL), longest(&matrix.columns, COLUMN_LABEL));
        let largest = (height / 45.0).clamp(14.0, LARGEST_FONT);
        let left = title(&matrix.row_axis) + 10.0 + largest * CHARACTER * row_label;
        // One pixel less: a box's size is known in whole ones.
        let widest = ((width - left - EDGE - 1.0) / columns as f64).max(NARROWEST);
        let fitting = |cell: f64| (cell * 0.85).clamp(SMALLEST_FONT, largest);
        let every = |font: f64, cell: f64| (font * 1.05 / cell).ceil().max(1.0) as usize;
        let of = |width: f64| {
            let flat_font = (width / (CHARACTER * column_label)).min(largest);
            let turned = flat_font < SMALLEST_FONT && column_label > 1.0;
            let column_font =
                if turned || column_label <= 1.0 { fitting(width) } else { flat_font };
            let header = if turned { column_font * CHARACTER * column_label } else { column_font };
            let top = title(&matrix.column_axis) + header + 8.0;
            let highest = ((height - top - EDGE - 1.0) / rows as f64).max(LOWEST);
            let (cell_width, cell_height) = if rows == columns {
                let side = widest.min(highest);
                (side, side)
            } else {
                (widest.min(LONGEST * highest), highest.min(LONGEST * widest))
            };
            let row_font = fitting(cell_height);
            Self {
                rows,
                columns,
                left,
                top,
                cell_width,
                cell_height,
                row_font,
                column_font,
                row_every: every(row_font, cell_height),
                column_every: every(column_font, cell_width),
                turned,
            }
        };
        // How wide cells are says which way their labels are written, and so how high they can be.
        of(of(widest).cell_width)
    }

    pub fn cells_width(&self) -> f64 {
        self.cell_width * self.columns as f64
    }

    pub fn cells_height(&self) -> f64 {
        self.cell_height * self.rows as f64
    }

    /// Where the columns are, for what stands above or below them.
    pub fn across(&self) -> Across {
        let (left, cell, count) = (self.left, self.cell_width, self.columns);
        Across { left, cell, count, width: self.width() }
    }

    /// Of labels and cells together.
    pub fn width(&self) -> f64 {
        self.left + self.cells_width() + EDGE
    }

    pub fn height(&self) -> f64 {
        self.top + self.cells_height() + EDGE
    }

    /// Left of `column`.
    pub fn x(&self, column: usize) -> f64 {
        self.left + self.cell_width * column as f64
    }

    /// Top of `row`.
    pub fn y(&self, row: usize) -> f64 {
        self.top + self.cell_height * row as f64
    }

    /// The row and column at a place.
    pub fn hit(&self, x: f64, y: f64) -> Option<(usize, usize)> {
        let index = |v: f64, cell: f64, count: usize| {
            let i = v / cell;
            (i >= 0.0 && i < count as f64).then_some(i as usize)
        };
        if self.rows == 0 {
            return None;
        }
        let row = index(y - self.top, self.cell_height, self.rows)?;
        Some((row, index(x - self.left, self.cell_width, self.columns)?))
    }

    /// A rectangle of cells as CSS.
    pub fn style(&self, rows: core::ops::Range<usize>, columns: core::ops::Range<usize>) -> String {
        let (left, top) = (self.x(columns.start), self.y(rows.start));
        let (width, height) = (self.x(columns.end) - left, self.y(rows.end) - top);
        format!("left:{left}px;top:{top}px;width:{width}px;height:{height}px")
    }
}

/// Paints the cells, their column labels and outlines around the `marked` ones. `cells` is a canvas
/// nobody sees that holds one pixel for each cell. `None` if the browser refuses a canvas.
pub fn paint(
    canvas: &HtmlCanvasElement,
    cells: &HtmlCanvasElement,
    scale: f64,
    geometry: Geometry,
    matrix: &Matrix,
    marked: &[(usize, usize)],
    colors: &Colors,
) -> Option<()> {
    let g = geometry;
    let context = canvas::prepare(canvas, Size { width: g.width(), height: g.height(), scale })?;
    if (g.rows, g.columns) != matrix.shape() || g.rows == 0 {
        return None;
    }
    context.set_transform(scale, 0.0, 0.0, scale, 0.0, 0.0).ok()?;
    if matrix.has_absent() {
        paint_hatching(&context, g, colors);
    }
    canvas::put_pixels(cells, &pixels(matrix, colors), g.columns as u32)?;
    context.set_image_smoothing_enabled(false);
    let (width, height) = (g.cells_width(), g.cells_height());
    context
        .draw_image_with_html_canvas_element_and_dw_and_dh(cells, g.left, g.top, width, height)
        .ok()?;
    context.set_stroke_style_str(&colors.palette.line.css());
    context.set_line_width(1.0);
    context.stroke_rect(g.left - 0.5, g.top - 0.5, width + 1.0, height + 1.0);
    paint_column_labels(&context, g, matrix, colors)?;
    paint_marked(&context, g, marked, colors);
    context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok()
}

/// One RGBA pixel a cell; those without a value stay transparent.
fn pixels(matrix: &Matrix, colors: &Colors) -> Vec<u8> {
    let mut pixels = vec![0; matrix.values.len() * 4];
    for (pixel, &value) in pixels.chunks_exact_mut(4).zip(&matrix.values) {
        if value.is_finite() {
            let color = matrix.map.color(value, colors);
            pixel.copy_from_slice(&[color.0, color.1, color.2, 255]);
        }
    }
    pixels
}

/// Under the cells, seen where there is no value: no colour of a map stands for "not there".
fn paint_hatching(context: &CanvasRenderingContext2d, g: Geometry, colors: &Colors) {
    context.save();
    context.begin_path();
    context.rect(g.left, g.top, g.cells_width(), g.cells_height());
    context.clip();
    context.set_fill_style_str(&colors.palette.blocked.css());
    context.fill_rect(g.left, g.top, g.cells_width(), g.cells_height());
    context.set_stroke_style_str(&colors.palette.blocked_line.css());
    context.set_line_width(1.0);
    context.begin_path();
    let (width, height) = (g.cells_width(), g.cells_height());
    let mut x = g.left;
    while x < g.left + width + height {
        context.move_to(x, g.top);
        context.line_to(x - height, g.top + height);
        x += 8.0;
    }
    context.stroke();
    context.restore();
}

fn paint_column_labels(
    context: &CanvasRenderingContext2d,
    g: Geometry,
    matrix: &Matrix,
    colors: &Colors,
) -> Option<()> {
    context.set_fill_style_str(&colors.palette.muted.css());
    context.set_font("14px system-ui, sans-serif");
    context.set_text_baseline("top");
    context.set_text_align("left");
    if !matrix.column_axis.is_empty() {
        context.fill_text(&format!("{} →", matrix.column_axis), g.left, 2.0).ok()?;
    }
    context.set_fill_style_str(&colors.palette.ink.css());
    context.set_font(&format!("{}px ui-monospace, monospace", g.column_font));
    for column in (0..g.columns).step_by(g.column_every) {
        let label = token::short_label(&matrix.columns[column], COLUMN_LABEL);
        let middle = g.x(column) + g.cell_width / 2.0;
        if g.turned {
            context.save();
            context.translate(middle, g.top - 5.0).ok()?;
            context.rotate(-std::f64::consts::FRAC_PI_2).ok()?;
            context.set_text_align("left");
            context.set_text_baseline("middle");
            context.fill_text(&label, 0.0, 0.0).ok()?;
            context.restore();
        } else {
            context.set_text_align("center");
            context.set_text_baseline("bottom");
            context.fill_text(&label, middle, g.top - 4.0).ok()?;
        }
    }
    Some(())
}

fn paint_marked(
    context: &CanvasRenderingContext2d,
    g: Geometry,
    marked: &[(usize, usize)],
    colors: &Colors,
) {
    let within = marked.iter().filter(|(row, column)| *row < g.rows && *column < g.columns);
    for &(row, column) in within {
        let (x, y) = (g.x(column), g.y(row));
        // Ink within paper: seen on every colour of both maps.
        for (inset, width, color) in
            [(1.5, 3.0, colors.palette.paper), (1.0, 1.5, colors.palette.ink)]
        {
            context.set_stroke_style_str(&color.css());
            context.set_line_width(width);
            context.stroke_rect(
                x + inset,
                y + inset,
                g.cell_width - 2.0 * inset,
                g.cell_height - 2.0 * inset,
            );
        }
    }
}

/// Paints the row labels on a canvas of their own, which stays in sight when the cells scroll.
pub fn paint_row_labels(
    canvas: &HtmlCanvasElement,
    scale: f64,
    g: Geometry,
    matrix: &Matrix,
    colors: &Colors,
) -> Option<()> {
    let size = Size { width: g.left - 1.0, height: g.height(), scale };
    let context = canvas::prepare(canvas, size)?;
    if (g.rows, g.columns) != matrix.shape() {
        return None;
    }
    context.set_transform(scale, 0.0, 0.0, scale, 0.0, 0.0).ok()?;
    context.set_fill_style_str(&colors.palette.paper.css());
    context.fill_rect(0.0, 0.0, size.width, size.height);
    context.set_fill_style_str(&colors.palette.ink.css());
    context.set_font(&format!("{}px ui-monospace, monospace", g.row_font));
    context.set_text_baseline("middle");
    context.set_text_align("right");
    for row in (0..g.rows).step_by(g.row_every) {
        let label = token::short_label(&matrix.rows[row], ROW_LABEL);
        context.fill_text(&label, g.left - 6.0, g.y(row) + g.cell_height / 2.0).ok()?;
    }
    if !matrix.row_axis.is_empty() {
        context.set_fill_style_str(&colors.palette.muted.css());
        context.set_font("14px system-ui, sans-serif");
        context.set_text_baseline("top");
        context.set_text_align("right");
        context.translate(2.0, g.top).ok()?;
        context.rotate(-std::f64::consts::FRAC_PI_2).ok()?;
        context.fill_text(&format!("← {}", matrix.row_axis), 0.0, 0.0).ok()?;
    }
    context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize, label: &str) -> Matrix {
        Matrix {
            rows: vec![label.into(); rows],
            columns: vec!["x".into(); columns],
            values: vec![0.0; rows * columns],
            ..Matrix::default()
        }
    }

    #[test]
    fn cells_fill_their_box_or_scroll() {
        let fits = |g: Geometry, width: f64, height: f64| {
            assert!(g.width() <= width && g.height() <= height, "{g:?}");
        };
        let g = Geometry::new(&matrix(60, 60, "a"), 900.0, 500.0);
        fits(g, 900.0, 500.0);
        assert!(g.cell_width == g.cell_height && g.height() > 490.0, "{g:?}");
        let g = Geometry::new(&matrix(60, 60, "a"), 320.0, 200.0);
        assert_eq!((g.cell_width, g.cell_height), (LOWEST, LOWEST));
        let g = Geometry::new(&matrix(2, 2, "a"), 2000.0, 1200.0);
        assert!(g.height() > 1190.0, "{g:?}");
        let g = Geometry::new(&matrix(16, 64, "unit 12"), 900.0, 500.0);
        fits(g, 900.0, 500.0);
        assert!(g.width() > 890.0 && g.height() > 490.0, "{g:?}");
        let g = Geometry::new(&matrix(16, 64, "unit 12"), 300.0, 500.0);
        assert!(g.cell_width == NARROWEST && g.width() > 300.0, "scrolls");
        for g in [(2, 30), (30, 2)] {
            let g = Geometry::new(&matrix(g.0, g.1, "a"), 900.0, 900.0);
            fits(g, 900.0, 900.0);
            assert!((0.25..=4.0).contains(&(g.cell_width / g.cell_height)), "{g:?}");
        }
        for (rows, columns) in [(64, 64), (3, 200), (200, 3)] {
            let g = Geometry::new(&matrix(rows, columns, "unit 1"), 380.0, 220.0);
            assert!(g.row_font >= SMALLEST_FONT && g.column_font >= SMALLEST_FONT, "{g:?}");
        }
        assert_eq!(Geometry::new(&matrix(0, 3, "a"), 900.0, 500.0), Geometry::default());
    }

    #[test]
    fn finds_the_cell_under_the_pointer() {
        let g = Geometry::new(&matrix(16, 64, "u"), 900.0, 500.0);
        assert_eq!(g.hit(g.x(63) + 1.0, g.y(15) + 1.0), Some((15, 63)));
        assert_eq!(g.hit(g.left - 1.0, g.y(3)), None);
        assert_eq!(g.hit(g.x(3), g.y(16) + 0.5), None);
        assert_eq!(Geometry::default().hit(1.0, 1.0), None);
    }
}
