//! Where a matrix's cells are, and how they are painted.

use std::sync::Arc;

use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::pen::{FACE, MONO};
use super::{
    canvas::{self, Size},
    color::Palette,
    hue::Hue,
    matrix_data::Matrix,
    matrix_strip::Across,
    scale::ValueMap,
    theme::Colors,
    token,
};

/// Smaller than this no cell becomes that may scroll within its figure instead.
const NARROWEST: f64 = 7.0;
const LOWEST: f64 = 4.0;
/// A cell is at most so many times as wide as it is high, or as high as it is wide.
const LONGEST: f64 = 4.0;
/// On a phone squares that the height keeps lower than this use the width there is, up to twice their height.
const FINGER: f64 = 24.0;
/// Larger ones stand apart, if their colors are not those of shares.
const APART: f64 = 14.0;
/// Sizes of the labels' fonts.
const SMALLEST_FONT: f64 = 12.0;
const LARGEST_FONT: f64 = 18.0;
/// Room for an axis title.
const TITLE: f64 = 22.0;
/// Right and below, so that outlines are not cut.
const EDGE: f64 = 3.0;
/// Longest labels, in characters.
const ROW_LABEL: usize = 14;
const NARROW_ROW_LABEL: usize = 10;
const COLUMN_LABEL: usize = 6;
/// A figure that is narrower than this has no room for long names.
const NARROW: f64 = 420.0;
/// Column labels so short are never turned: where they don't fit, some are left out.
const SHORT: f64 = 2.0;
/// Between one label and the next, in characters.
const GAP: f64 = 0.7;
const CHARACTER: f64 = 0.62;
/// Room for a single character beside another, as a share of the font.
const STAGGER: f64 = 0.72;
/// In at most so many columns row labels stand in turn.
const MOST_LANES: usize = 3;
/// Instead of every how many labels one is written, where none is.
const NONE: usize = usize::MAX;
/// Of a row's mark: its largest font, and its height there.
const MARK: (f64, f64) = (14.0, 20.0);

/// How cells find their room, and the colors of the axes' titles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Whether cells become as small as it takes to be all in sight; otherwise they scroll.
    pub shrinks: bool,
    /// Few rows are as high as there is room, up to a third of it each, however narrow their cells are.
    pub tall: bool,
    /// Cells are squares, however many rows and columns there are.
    pub square: bool,
    /// Whether rows that are too low for a label each have none but that of the one that is lit or read.
    pub sole: bool,
    pub row_hue: Hue,
    pub column_hue: Hue,
}

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
    /// Longest row label, in characters.
    pub row_label: usize,
    /// In how many columns row labels stand in turn, where rows are lower than they.
    pub lanes: usize,
    /// Every n-th label is written.
    pub row_every: usize,
    pub column_every: usize,
    /// Whether column labels that are wider than their column are written upwards.
    pub turned: bool,
    /// Of labels and cells together.
    pub width: f64,
    pub height: f64,
    /// Device pixels for each CSS pixel.
    pub scale: f64,
    pub look: Look,
}

impl Geometry {
    /// For a matrix in a box of `size`: as many rows as columns make the largest squares that fit,
    /// any other matrix fills the box, unless its cells are to be squares too.
    pub fn new(matrix: &Matrix, size: Size, look: Look) -> Self {
        let ((rows, columns), Size { width, height, scale }) = (matrix.shape(), size);
        if width <= 0.0 || height <= 0.0 || (rows == 0 && !look.shrinks) {
            return Self::default();
        }
        if rows == 0 {
            // The frame and its titles are there before any cell is.
            let (left, top) = (TITLE + 18.0, TITLE + 18.0);
            let every = Self { row_every: 1, column_every: 1, ..Self::default() };
            return Self { left, top, width, height, scale, look, ..every };
        }
        let (narrowest, lowest) = if look.shrinks { (0.1, 0.1) } else { (NARROWEST, LOWEST) };
        let longest = |labels: &[String], most: usize| {
            let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(1);
            longest.clamp(1, most) as f64
        };
        let title = |name: &str| if name.is_empty() { 4.0 } else { TITLE };
        let row_label = if width < NARROW { NARROW_ROW_LABEL } else { ROW_LABEL };
        let labels = matrix.columns.iter().map(|label| column_name(matrix, label));
        let lengths: Vec<f64> =
            labels.clone().map(|l| l.chars().count().clamp(1, COLUMN_LABEL) as f64).collect();
        let column_label = lengths.iter().copied().fold(1.0, f64::max);
        // Numbers in their order are understood where some are left out.
        let short = column_label <= SHORT || labels.into_iter().all(is_count);
        // A long label between short ones needs no more room than they leave it.
        let beside = lengths.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        let beside = beside.chain(lengths.last().copied()).fold(1.0, f64::max);
        let largest = (height / 45.0).clamp(14.0, LARGEST_FONT);
        let left =
            title(&matrix.row_axis) + 10.0 + largest * CHARACTER * longest(&matrix.rows, row_label);
        let beside_labels = |left: f64| {
            // One pixel less: a box's size is known in whole ones.
            let room = (width - left - EDGE - 1.0) / columns as f64;
            let widest = room.max(narrowest);
            let is_phone = width < NARROW && !look.shrinks;
            let fitting = |cell: f64| (cell * 0.85).clamp(SMALLEST_FONT, largest);
            let every = |font: f64, cell: f64| (font * 1.05 / cell).ceil().max(1.0) as usize;
            let of = |width: f64| {
                let flat_font = (width / (CHARACTER * (beside + GAP))).min(largest);
                let all_fit = flat_font >= SMALLEST_FONT;
                let turned = !all_fit && !short;
                let single = column_label <= 1.0;
                let column_font =
                    if turned || single { fitting(width) } else { flat_font.max(SMALLEST_FONT) };
                let header =
                    if turned { column_font * CHARACTER * column_label } else { column_font };
                let top = title(&matrix.column_axis) + header + 8.0;
                let highest = ((height - top - EDGE - 1.0) / rows as f64).max(lowest);
                let (cell_width, cell_height) = if rows == columns || look.square {
                    let side = widest.min(highest);
                    let device = side * scale;
                    // Cells of 1 or 2 pixels must all be the same size, or the eye sees stripes.
                    let whole = look.shrinks && (1.0..4.0).contains(&device);
                    let side = if whole { device.floor() / scale } else { side };
                    let wide = if is_phone { (2.0 * side).min(FINGER).min(room) } else { side };
                    (wide.max(side), side)
                } else {
                    let most = if look.tall { height / 3.0 } else { 0.0 };
                    (widest.min(LONGEST * highest), highest.min(most.max(LONGEST * widest)))
                };
                let row_font = fitting(cell_height);
                let (cells_width, cells_height) =
                    (cell_width * columns as f64, cell_height * rows as f64);
                let (width, height) = if look.shrinks {
                    (size.width, size.height)
                } else {
                    (left + cells_width + EDGE, top + cells_height + EDGE)
                };
                Self {
                    rows,
                    columns,
                    left,
                    top,
                    cell_width,
                    cell_height,
                    row_font,
                    column_font,
                    row_label,
                    lanes: 1,
                    row_every: every(row_font, cell_height),
                    column_every: if single {
                        every(CHARACTER * column_font, cell_width)
                    } else if turned {
                        every(column_font, cell_width)
                    } else if all_fit {
                        1
                    } else {
                        let across = column_font * CHARACTER * (column_label + GAP);
                        (across / cell_width).ceil().max(1.0) as usize
                    },
                    turned,
                    width,
                    height,
                    scale,
                    look,
                }
            };
            // How wide cells are says which way their labels are written, and so how high they can be.
            of(of(widest).cell_width)
        };
        let whole = beside_labels(left);
        let lanes = whole.row_every;
        // In a square that is all in sight, letters in three columns are no axis: the sentence is above it, and what
        // is chosen has its own.
        if look.shrinks && lanes >= MOST_LANES && longest(&matrix.rows, row_label) == 1.0 {
            return Self { row_every: NONE, column_every: NONE, ..whole };
        }
        if look.sole && lanes > 1 {
            return Self { row_every: NONE, ..whole };
        }
        if (2..=MOST_LANES).contains(&lanes) && longest(&matrix.rows, row_label) == 1.0 {
            let aside = STAGGER * whole.row_font * (lanes - 1) as f64;
            return Self { lanes, row_every: 1, ..beside_labels(left + aside) };
        }
        whole
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
        Across { left, cell, count, width: self.width }
    }

    /// Of the frame around the cells.
    fn frame(&self) -> (f64, f64) {
        if self.rows == 0 {
            (self.width - self.left - EDGE, self.height - self.top - EDGE)
        } else {
            (self.cells_width(), self.cells_height())
        }
    }

    /// From the four edges to the cells, as CSS says it.
    pub fn inset(&self) -> String {
        let (width, height) = self.frame();
        let (right, bottom) = (self.width - self.left - width, self.height - self.top - height);
        format!("{}px {right}px {bottom}px {}px", self.top, self.left)
    }

    /// Left of `column`.
    pub fn x(&self, column: usize) -> f64 {
        self.left + self.cell_width * column as f64
    }

    /// Top of `row`.
    pub fn y(&self, row: usize) -> f64 {
        self.top + self.cell_height * row as f64
    }

    /// The row at a height.
    pub fn row_at(&self, y: f64) -> Option<usize> {
        let row = (y - self.top) / self.cell_height;
        (row >= 0.0 && row < self.rows as f64).then_some(row as usize)
    }

    /// The row and column at a place.
    pub fn hit(&self, x: f64, y: f64) -> Option<(usize, usize)> {
        let column = (x - self.left) / self.cell_width;
        let within = column >= 0.0 && column < self.columns as f64;
        Some((self.row_at(y)?, within.then_some(column as usize)?))
    }

    /// Whether a label is no wider than its column.
    fn holds(&self, label: &str) -> bool {
        self.column_font * CHARACTER * token::columns(label) <= self.cell_width
    }

    /// Whether the pointer is on the labels left of the cells.
    pub fn is_label(&self, x: f64) -> bool {
        (TITLE..self.left).contains(&x)
    }

    /// A rectangle of cells as CSS.
    pub fn style(&self, rows: core::ops::Range<usize>, columns: core::ops::Range<usize>) -> String {
        let (left, top) = (self.x(columns.start), self.y(rows.start));
        let (width, height) = (self.x(columns.end) - left, self.y(rows.end) - top);
        format!("left:{left}px;top:{top}px;width:{width}px;height:{height}px")
    }

    /// How much farther left than the nearest a row's label stands.
    fn aside(&self, row: usize) -> f64 {
        STAGGER * self.row_font * (row % self.lanes.max(1)) as f64
    }

    /// Where a row's name ends, at the edge of the cells, and its size, as CSS. It covers the row's own label,
    /// and leaves those around it whole.
    pub fn beside_row(&self, row: usize) -> String {
        let lanes = self.lanes.max(1) as f64;
        let (beside, padding) = if lanes > 1.0 { (4.5, 1.5) } else { (2.0, 4.0) };
        let (right, middle) =
            (self.left - beside - self.aside(row), self.y(row) + self.cell_height / 2.0);
        let font = self.row_font.min(MARK.0);
        let line = (2.0 * lanes * self.cell_height - self.row_font).clamp(font, MARK.1);
        format!(
            "right:calc(100% - {right}px);top:{middle}px;padding:0 {padding}px;font-size:{font}px;line-height:{line}px"
        )
    }

    /// Where a column's name stands, at the edge of the cells, as CSS.
    pub fn above_column(&self, column: usize) -> String {
        let (middle, above) = (self.x(column) + self.cell_width / 2.0, self.top - 2.0);
        format!("left:{middle}px;bottom:calc(100% - {above}px)")
    }
}

/// What a painting left on its canvas.
pub struct Painted {
    geometry: Geometry,
    palette: &'static Palette,
    matrix: Arc<Matrix>,
    /// Whether all but the cells can stay: nothing was painted over them, and they cover what was
    /// there before.
    stays: bool,
}

impl Painted {
    /// Whether `next` differs in the values of its cells only.
    fn is_ground_of(&self, next: &Self) -> bool {
        let (a, b) = (&self.matrix, &next.matrix);
        self.stays
            && next.stays
            && (self.geometry, self.palette) == (next.geometry, next.palette)
            && (&a.columns, &a.column_axis) == (&b.columns, &b.column_axis)
            && a.values.len() == b.values.len()
            && a.values.iter().zip(&b.values).all(|(a, b)| a.is_finite() == b.is_finite())
    }
}

/// Paints the cells, their column labels and outlines around the `marked` ones; only the cells where
/// the rest is there from `before`. `cells` is a canvas nobody sees that holds one pixel for each
/// cell. Returns what is to be given as `before` next time; `None` if the browser refuses a canvas.
pub fn paint(
    canvas: &HtmlCanvasElement,
    cells: &HtmlCanvasElement,
    geometry: Geometry,
    matrix: Arc<Matrix>,
    marked: &[(usize, usize)],
    colors: &Colors,
    before: Option<Painted>,
) -> Option<Painted> {
    let (g, scale) = (geometry, geometry.scale);
    // Several cells to a pixel are averaged, which leaves the outermost half transparent: those
    // cannot be painted over. One cell to several pixels stays sharp and covers what was there.
    let averaged = g.cell_width * scale < 1.0;
    let stays = !averaged && marked.is_empty();
    let painted = Painted { geometry, palette: colors.palette, matrix, stays };
    let matrix = &*painted.matrix;
    let is_empty = (g.rows, g.columns) != matrix.shape() || g.rows == 0;
    let keeps_ground = before.is_some_and(|before| before.is_ground_of(&painted));
    let context = if keeps_ground {
        canvas.get_context("2d").ok()??.unchecked_into()
    } else {
        canvas::prepare(canvas, Size { width: g.width, height: g.height, scale })?
    };
    context.set_transform(scale, 0.0, 0.0, scale, 0.0, 0.0).ok()?;
    if !keeps_ground {
        if !is_empty && matrix.has_absent() {
            paint_hatching(&context, g, colors);
        }
        if !is_empty || g.look.shrinks {
            let (width, height) = g.frame();
            context.set_stroke_style_str(&colors.palette.line.css());
            context.set_line_width(1.0);
            context.stroke_rect(g.left - 0.5, g.top - 0.5, width + 1.0, height + 1.0);
            let above = Size { width: g.width, height: g.top, scale };
            canvas::with_text(&context, above, |text| {
                write_column_labels(text, g, matrix, colors)
            })?;
        }
    }
    if !is_empty {
        canvas::put_pixels(cells, &pixels(matrix, colors), g.columns as u32)?;
        context.set_image_smoothing_enabled(averaged);
        let (width, height) = (g.cells_width(), g.cells_height());
        context
            .draw_image_with_html_canvas_element_and_dw_and_dh(cells, g.left, g.top, width, height)
            .ok()?;
        if matrix.map != ValueMap::Probability {
            paint_gaps(&context, g, colors);
        }
        paint_marked(&context, g, marked, colors);
    }
    // The context keeps its transform; the next painting starts from none.
    context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok()?;
    Some(painted)
}

/// A column's label, without what its axis says already: `12` for `no. 12` on the axis `no.`.
pub(super) fn column_name<'a>(matrix: &Matrix, label: &'a str) -> &'a str {
    let rest = label.strip_prefix(&*matrix.column_axis).and_then(|rest| rest.strip_prefix(' '));
    rest.filter(|rest| is_count(rest)).unwrap_or(label)
}

fn is_count(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tokens are set in a monospaced font, as everywhere; names and numbers in the page's, which is narrower.
fn face_of(labels: &[String]) -> &'static str {
    // A token may be a space, or begin with one.
    let are_names = labels.iter().any(|label| label.trim().contains(' '));
    let are_numbers = labels.iter().all(|label| is_count(label));
    if are_names || are_numbers { FACE } else { MONO }
}

/// An axis's title, or only its first words where there is little room.
fn title(axis: &str, room: f64) -> &str {
    if room < 200.0 { axis.split(':').next().unwrap_or(axis) } else { axis }
}

/// One RGBA pixel a cell; those without a value stay transparent.
fn pixels(matrix: &Matrix, colors: &Colors) -> Vec<u8> {
    let mut pixels = vec![0; matrix.values.len() * 4];
    let columns = matrix.columns.len().max(1);
    for (row, values) in matrix.values.chunks(columns).enumerate() {
        let map = matrix.map_of(row);
        let row = pixels[row * columns * 4..].chunks_exact_mut(4);
        for (pixel, &value) in row.zip(values) {
            if value.is_finite() {
                pixel.copy_from_slice(&map.color(value, colors).pixel(255));
            }
        }
    }
    pixels
}

/// Under the cells, seen where there is no value: no color of a map stands for "not there".
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

/// Between large cells, of which neighbors beyond the scale's end would be one slab of color.
fn paint_gaps(context: &CanvasRenderingContext2d, g: Geometry, colors: &Colors) {
    if g.cell_width.min(g.cell_height) < APART {
        return;
    }
    context.set_fill_style_str(&colors.palette.paper.css());
    let (width, height) = (g.cells_width(), g.cells_height());
    // On whole pixels of the device, so that all are of one width.
    let whole = |at: f64| (at * g.scale).round() / g.scale;
    for column in 1..g.columns {
        context.fill_rect(whole(g.x(column) - 0.5), g.top, 1.0, height);
    }
    for row in 1..g.rows {
        context.fill_rect(g.left, whole(g.y(row) - 0.5), width, 1.0);
    }
}

/// Whether the label is one of those that are written.
fn is_written(at: usize, every: usize) -> bool {
    every != NONE && at.is_multiple_of(every)
}

fn write_column_labels(
    context: &CanvasRenderingContext2d,
    g: Geometry,
    matrix: &Matrix,
    colors: &Colors,
) -> Option<()> {
    context.set_fill_style_str(&g.look.column_hue.of(colors.palette).css());
    context.set_font(&format!("13px {FACE}"));
    context.set_text_baseline("top");
    if !matrix.column_axis.is_empty() {
        let (width, _) = g.frame();
        let text = format!("{} →", title(&matrix.column_axis, width));
        // In the middle, but where that may be scrolled out of sight.
        let (align, x) =
            if g.look.shrinks { ("center", g.left + width / 2.0) } else { ("left", g.left) };
        context.set_text_align(align);
        context.fill_text(&text, x, 2.0).ok()?;
    }
    if g.rows == 0 {
        return Some(());
    }
    context.set_fill_style_str(&colors.palette.ink.css());
    context.set_font(&format!("{}px {}", g.column_font, face_of(&matrix.columns)));
    for column in (0..g.columns).filter(|column| is_written(*column, g.column_every)) {
        let name = column_name(matrix, &matrix.columns[column]);
        let label = token::short_label(name, COLUMN_LABEL);
        let middle = g.x(column) + g.cell_width / 2.0;
        if g.turned && !g.holds(&label) {
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
            let raise = token::raised(&label, g.column_font);
            context.fill_text(&label, middle, g.top - 4.0 - raise).ok()?;
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
        // Ink within paper: seen on every color of both maps.
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
    g: Geometry,
    matrix: &Matrix,
    colors: &Colors,
) -> Option<()> {
    let scale = g.scale;
    let size = Size { width: g.left - 1.0, height: g.height, scale };
    let context = canvas::prepare(canvas, size)?;
    if (g.rows, g.columns) != matrix.shape() {
        return None;
    }
    context.set_fill_style_str(&colors.palette.paper.css());
    context.fill_rect(0.0, 0.0, size.width * scale, size.height * scale);
    canvas::with_text(&context, size, |text| write_row_labels(text, g, matrix, colors))
}

fn write_row_labels(
    context: &CanvasRenderingContext2d,
    g: Geometry,
    matrix: &Matrix,
    colors: &Colors,
) -> Option<()> {
    context.set_fill_style_str(&colors.palette.ink.css());
    context.set_font(&format!("{}px {}", g.row_font, face_of(&matrix.rows)));
    context.set_text_baseline("middle");
    context.set_text_align("right");
    for row in (0..g.rows).filter(|row| is_written(*row, g.row_every)) {
        let label = token::short_label(&matrix.rows[row], g.row_label);
        let raise = token::raised(&label, g.row_font);
        let middle = g.y(row) + g.cell_height / 2.0;
        context.fill_text(&label, g.left - 6.0 - g.aside(row), middle - raise).ok()?;
    }
    if !matrix.row_axis.is_empty() {
        let (_, height) = g.frame();
        let text = format!("← {}", title(&matrix.row_axis, height));
        let (align, y) =
            if g.look.shrinks { ("center", g.top + height / 2.0) } else { ("right", g.top) };
        context.set_fill_style_str(&g.look.row_hue.of(colors.palette).css());
        context.set_font(&format!("13px {FACE}"));
        context.set_text_baseline("top");
        context.set_text_align(align);
        context.translate(2.0, y).ok()?;
        context.rotate(-std::f64::consts::FRAC_PI_2).ok()?;
        context.fill_text(&text, 0.0, 0.0).ok()?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(matrix: &Matrix, width: f64, height: f64) -> Geometry {
        Geometry::new(matrix, Size { width, height, scale: 1.0 }, Look::default())
    }

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
            assert!(g.width <= width && g.height <= height, "{g:?}");
        };
        let g = geometry(&matrix(60, 60, "a"), 900.0, 500.0);
        fits(g, 900.0, 500.0);
        assert!(g.cell_width == g.cell_height && g.height > 490.0, "{g:?}");
        let g = geometry(&matrix(60, 60, "a"), 320.0, 200.0);
        assert!(g.cell_height == LOWEST && g.height > 200.0, "scrolls");
        // A phone's width is used where its height is short, and every label has its place.
        let g = geometry(&matrix(30, 30, "a"), 366.0, 215.0);
        fits(g, 366.0, 215.0);
        assert!(g.cell_width > 1.5 * g.cell_height && g.column_every == 1, "{g:?}");
        assert!((2..=MOST_LANES).contains(&g.lanes) && g.row_every == 1, "{g:?}");
        let sole = Look { sole: true, ..Look::default() };
        let size = Size { width: 366.0, height: 215.0, scale: 1.0 };
        let one = Geometry::new(&matrix(30, 30, "a"), size, sole);
        assert!(one.row_every == NONE && one.column_every == 1 && one.left < g.left, "{one:?}");
        let g = geometry(&matrix(30, 30, "a"), 640.0, 215.0);
        assert_eq!(g.cell_width, g.cell_height, "elsewhere squares are squares");
        let g = geometry(&matrix(2, 2, "a"), 2000.0, 1200.0);
        assert!(g.height > 1190.0, "{g:?}");
        let g = geometry(&matrix(16, 64, "unit 12"), 900.0, 500.0);
        fits(g, 900.0, 500.0);
        assert!(g.width > 890.0 && g.height > 490.0, "{g:?}");
        let g = geometry(&matrix(16, 64, "unit 12"), 300.0, 500.0);
        assert!(g.cell_width == NARROWEST && g.width > 300.0, "scrolls");
        for g in [(2, 30), (30, 2)] {
            let g = geometry(&matrix(g.0, g.1, "a"), 900.0, 900.0);
            fits(g, 900.0, 900.0);
            assert!((0.25..=4.0).contains(&(g.cell_width / g.cell_height)), "{g:?}");
        }
        let tall = Look { tall: true, ..Look::default() };
        let g = Geometry::new(
            &matrix(1, 24, "a"),
            Size { width: 600.0, height: 450.0, scale: 1.0 },
            tall,
        );
        assert_eq!(g.cell_height, 150.0, "{g:?}");
        let square = Look { square: true, ..Look::default() };
        for rows in [1, 14, 24] {
            let size = Size { width: 600.0, height: 450.0, scale: 1.0 };
            let g = Geometry::new(&matrix(rows, 24, "a"), size, square);
            fits(g, 600.0, 450.0);
            assert_eq!(g.cell_width, g.cell_height, "{g:?}");
        }
        for (rows, columns) in [(64, 64), (3, 200), (200, 3)] {
            let g = geometry(&matrix(rows, columns, "unit 1"), 380.0, 220.0);
            assert!(g.row_font >= SMALLEST_FONT && g.column_font >= SMALLEST_FONT, "{g:?}");
        }
        assert_eq!(geometry(&matrix(0, 3, "a"), 900.0, 500.0), Geometry::default());
    }

    #[test]
    fn only_labels_that_do_not_fit_are_turned() {
        let labeled = |axis: &str, columns: Vec<String>, width: f64| {
            let values = vec![0.0; 10 * columns.len()];
            let rows = vec!["a".into(); 10];
            let column_axis = axis.into();
            let matrix = Matrix { rows, columns, values, column_axis, ..Matrix::default() };
            geometry(&matrix, width, 500.0)
        };
        let letters = || (b'a'..=b'z').map(|letter| char::from(letter).to_string());
        // One long label has the room that its neighbors leave.
        let g = labeled("written", std::iter::once("end".into()).chain(letters()).collect(), 720.0);
        assert!(!g.turned && g.column_every == 1 && g.column_font >= SMALLEST_FONT, "{g:?}");
        let words = || letters().map(|letter| format!("{letter}ord")).chain(letters());
        let g = labeled("written", words().collect(), 900.0);
        assert!(g.turned && g.holds("a") && !g.holds("aord"), "{g:?}");
        // Numbers are never turned: some are left out, and what the axis says is not said again.
        let numbers = |count: usize| (1..=count).map(|n| format!("no. {n}")).collect();
        let g = labeled("no.", numbers(32), 900.0);
        assert!(!g.turned && g.column_every == 1, "{g:?}");
        let g = labeled("no.", numbers(32), 480.0);
        assert!(!g.turned && g.column_every == 2, "{g:?}");
        let g = labeled("no.", numbers(128), 900.0);
        assert!(!g.turned && g.column_every > 2, "{g:?}");
        let g = labeled("unit", numbers(32), 900.0);
        assert!(g.turned, "its axis does not say it");
    }

    #[test]
    fn finds_the_cell_under_the_pointer() {
        let g = geometry(&matrix(16, 64, "u"), 900.0, 500.0);
        assert_eq!(g.hit(g.x(63) + 1.0, g.y(15) + 1.0), Some((15, 63)));
        assert_eq!(g.hit(g.left - 1.0, g.y(3)), None);
        assert_eq!(g.hit(g.x(3), g.y(16) + 0.5), None);
        assert_eq!(Geometry::default().hit(1.0, 1.0), None);
    }

    #[test]
    fn cells_that_shrink_are_all_in_sight_and_alike() {
        let look = Look { shrinks: true, ..Look::default() };
        let square = |width, scale, count| {
            let (row_axis, column_axis) = ("query".into(), "key".into());
            let matrix = Matrix { row_axis, column_axis, ..matrix(count, count, "a") };
            Geometry::new(&matrix, Size { width, height: width, scale }, look)
        };
        let g = square(640.0, 1.0, 512);
        assert!(g.cell_width == 1.0 && g.row_every > 5 && g.column_every > 5, "{g:?}");
        let g = square(640.0, 2.0, 64);
        assert!(g.row_every <= 2 && g.cell_width > 9.0, "{g:?}");
        let g = square(400.0, 1.0, 10);
        assert!(g.x(10) <= 400.0 && g.y(10) <= 400.0 && (g.width, g.height) == (400.0, 400.0));
        assert_eq!((g.row_at(g.y(4) + 1.0), g.is_label(g.left - 1.0)), (Some(4), true));
        let empty = square(400.0, 1.0, 0);
        assert!(empty.frame().0 > 300.0 && empty.hit(200.0, 200.0).is_none());
        assert_eq!((empty.row_every, empty.column_every), (1, 1));
    }
}
