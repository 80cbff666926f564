//! The cells of the picture: on a canvas on the page, as rectangles in a file.

use std::fmt::Write;

use unroll_protocol::{Architecture, gpt::Pass};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::{
    callout::Callout,
    cells::{Cells, cells},
    draw::{Way, flow, ground, hue},
    scene::{MAPS_GAP, Part, Scene, Shape},
};
use crate::figures::pen::FACE;
use crate::figures::{
    Colors, Hue,
    canvas::{Size, prepare, put_pixels},
    frame::Caption,
    pen::Paint,
    svg::{escape, write_rect},
    tint,
};

/// A head's map in small: its block, its head, left, top and side.
pub type SmallMap = (usize, usize, [f64; 3]);

/// The small maps: of the open block below its rows, of each other block in its column.
pub fn small_maps(scene: &Scene) -> Vec<SmallMap> {
    let open = scene.shape.open;
    let mut maps: Vec<SmallMap> = scene
        .heads
        .iter()
        .enumerate()
        .map(|(head, &(x, y, side))| (open, head, [x, y, side]))
        .collect();
    for column in &scene.columns {
        let Part::Folded(block) = column.part else { continue };
        let (top, side) = scene.folded_maps(*column);
        for head in 0..scene.shape.heads {
            let y = top + (side + MAPS_GAP) * head as f64;
            maps.push((block, head, [column.middle() - side / 2.0, y, side]));
        }
    }
    maps
}

/// One RGBA pixel a cell that is drawn; what may not be looked at stays transparent.
fn pixels(cells: &Cells, colors: &Colors) -> Vec<u8> {
    let (rows, drawn) = (cells.values.len() / cells.column.count.max(1), cells.column.drawn());
    let mut pixels = vec![0; rows * drawn * 4];
    for (i, pixel) in pixels.chunks_exact_mut(4).enumerate() {
        let (row, at) = (i / drawn, cells.column.number(i % drawn));
        if let Some(value) = cells.get(row, at).filter(|value| value.is_finite()) {
            let color = cells.map.color(value, colors);
            pixel.copy_from_slice(&color.pixel(255));
        }
    }
    pixels
}

/// Paints all cells. `hidden` is a canvas nobody sees. `None` if the browser refuses a canvas.
pub fn paint(
    canvas: &HtmlCanvasElement,
    hidden: &HtmlCanvasElement,
    scene: &Scene,
    pass: &Pass,
    way: Way,
    colors: &Colors,
    scale: f64,
) -> Option<()> {
    let size = Size { width: scene.width, height: scene.height, scale };
    let context = prepare(canvas, size)?;
    context.set_transform(scale, 0.0, 0.0, scale, 0.0, 0.0).ok()?;
    for cells in cells(pass, scene, way.head) {
        put_pixels(hidden, &pixels(&cells, colors), cells.column.drawn() as u32)?;
        context.set_global_alpha(way.strength(cells.column.part, scene));
        strip(&context, hidden, scene, &cells, way, colors)?;
    }
    for (block, head, place) in small_maps(scene) {
        context.set_global_alpha(map_strength(scene, way, block));
        small_map(&context, hidden, scene, pass, (block, head, place), colors)?;
    }
    context.set_global_alpha(1.0);
    Some(())
}

/// How much is seen of a block's small maps.
fn map_strength(scene: &Scene, way: Way, block: usize) -> f64 {
    let part = if block == scene.shape.open { Part::Weights } else { Part::Folded(block) };
    way.strength(part, scene)
}

/// Begins a group of a file of which so much is seen.
fn begin(svg: &mut String, strength: f64) {
    // Writing to a String cannot fail.
    let _ = write!(svg, r#"<g opacity="{strength}">"#);
}

/// One column, row by row.
fn strip(
    context: &CanvasRenderingContext2d,
    hidden: &HtmlCanvasElement,
    scene: &Scene,
    cells: &Cells,
    way: Way,
    colors: &Colors,
) -> Option<()> {
    let (column, high) = (cells.column, scene.strip());
    context.set_image_smoothing_enabled(false);
    let outline = hue(column.part);
    context.set_line_width(1.0);
    for row in 0..scene.shape.rows {
        let top = scene.middle(row) - high / 2.0;
        // What is nowhere there is paper: rows of the stream show through only where they are looked at.
        if !way.lines {
            context.set_fill_style_str(&colors.palette.paper.css());
            context.fill_rect(column.x, top, column.width, high);
        }
        context
            .draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
                hidden,
                0.0,
                row as f64,
                column.drawn() as f64,
                1.0,
                column.x,
                top,
                column.width,
                high,
            )
            .ok()?;
        let edge =
            if outline == Hue::Ink { colors.palette.line } else { outline.of(colors.palette) };
        context.set_stroke_style_str(&edge.css());
        context.stroke_rect(column.x - 0.5, top - 0.5, column.width + 1.0, high + 1.0);
    }
    Some(())
}

fn small_map(
    context: &CanvasRenderingContext2d,
    hidden: &HtmlCanvasElement,
    scene: &Scene,
    pass: &Pass,
    (block, head, [x, y, side]): SmallMap,
    colors: &Colors,
) -> Option<()> {
    let Some(weights) = pass.head(block, head) else { return Some(()) };
    let pixel = |(weight, allowed): (&f32, &bool)| {
        let color = colors.ramp.at(*weight);
        color.pixel(if *allowed { 255 } else { 0 })
    };
    let pixels: Vec<u8> = weights.iter().zip(&pass.mask).flat_map(pixel).collect();
    put_pixels(hidden, &pixels, scene.shape.rows as u32)?;
    context.set_fill_style_str(&colors.palette.paper.css());
    context.fill_rect(x, y, side, side);
    context.set_image_smoothing_enabled(side < scene.shape.rows as f64);
    context.draw_image_with_html_canvas_element_and_dw_and_dh(hidden, x, y, side, side).ok()?;
    context.set_stroke_style_str(&colors.palette.line.css());
    context.stroke_rect(x - 0.5, y - 0.5, side + 1.0, side + 1.0);
    Some(())
}

/// The whole picture as a file: all of it shapes, so that it stays sharp at any size. `room` is how
/// large it is at least.
pub fn svg(
    pass: &Pass,
    way: Way,
    architecture: Architecture,
    room: (f64, f64),
    caption: &Caption,
    colors: &Colors,
) -> String {
    let scene = Scene::new(Shape::of(pass), room).following(way.row);
    let palette = colors.palette;
    let paint = Paint::of(palette);
    let mut inside = ground(&scene, &pass.tokens, tint::is_needed(&pass.vocabulary), way, paint);
    for cells in cells(pass, &scene, way.head) {
        let (column, high) = (cells.column, scene.strip());
        let wide = column.width / column.drawn() as f64;
        begin(&mut inside, way.strength(column.part, &scene));
        for row in 0..scene.shape.rows {
            let top = scene.middle(row) - high / 2.0;
            if !way.lines {
                write_rect(&mut inside, column.x, top, column.width, high, palette.paper);
            }
            for at in 0..column.drawn() {
                if let Some(value) =
                    cells.get(row, column.number(at)).filter(|value| value.is_finite())
                {
                    let color = cells.map.color(value, colors);
                    let x = column.x + wide * at as f64;
                    // A hair wider, so that no seam shows between neighbors.
                    write_rect(&mut inside, x, top, wide * 1.04, high, color);
                }
            }
        }
        inside.push_str("</g>");
    }
    for (block, head, [x, y, side]) in small_maps(&scene) {
        let Some(weights) = pass.head(block, head) else { continue };
        let (rows, each) = (scene.shape.rows, side / scene.shape.rows as f64);
        begin(&mut inside, map_strength(&scene, way, block));
        write_rect(&mut inside, x, y, side, side, palette.paper);
        for (i, (weight, allowed)) in weights.iter().zip(&pass.mask).enumerate() {
            if *allowed {
                let (left, top) = (x + each * (i % rows) as f64, y + each * (i / rows) as f64);
                write_rect(&mut inside, left, top, each, each, colors.ramp.at(*weight));
            }
        }
        inside.push_str("</g>");
    }
    inside.push_str(&flow(&scene, pass, way, paint));
    if let Some(callout) = Callout::new(&scene, pass, way, architecture) {
        inside.push_str(&callout.svg(paint, colors));
    }
    let (width, height) = (scene.width + 40.0, scene.height + 80.0);
    let mut file = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        file,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" font-family="{FACE}"><title>{title}</title><rect width="100%" height="100%" fill="{paper}"/><text x="20" y="28" font-size="16" fill="{ink}">{title}</text><text x="20" y="{foot:.0}" font-size="12" fill="{muted}">{source}</text><g transform="translate(20 40)">{inside}</g></svg>"#,
        title = escape(&caption.title),
        paper = palette.paper.css(),
        ink = palette.ink.css(),
        muted = palette.muted.css(),
        foot = height - 14.0,
        source = escape(&caption.source),
    );
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chapters::machine::{cells::tests::pass, scene::Column},
        figures::color::Palette,
    };

    #[test]
    fn a_file_holds_every_cell_and_every_name() {
        let pass = pass(4, 2);
        let caption =
            Caption { name: "machine", title: "a < b".into(), marker: None, source: "here".into() };
        let way = Way { head: 0, row: 3, reached: 9, lines: false };
        let colors = Colors::new(&Palette::LIGHT);
        let architecture = Architecture::GPT2;
        let svg = svg(&pass, way, architecture, (1000.0, 600.0), &caption, &colors);
        assert!(svg.contains("a &lt; b") && !svg.contains("NaN"));
        for name in ["embedding", "query", "weights", "1,920 parameters", "block 2"] {
            assert!(svg.contains(name), "{name}");
        }
        // Cells, 6 of 16 weights of each map masked, and the paper under each row and each map.
        let scene = Scene::new(Shape::of(&pass), (1000.0, 600.0));
        let drawn = |column: &Column| if column.part == Part::Weights { 0 } else { column.drawn() };
        let strips = 4 * scene.columns.iter().map(drawn).sum::<usize>() + 10;
        let maps = 4 * (10 + 1);
        let rows = 4 * 10;
        assert!(svg.matches("<rect").count() >= strips + maps + rows);
    }
}
