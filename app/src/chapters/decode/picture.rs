//! A drawing whose parts are read one by one, and may be pressed. The views of this chapter say what
//! is drawn, and what each part says.

use std::sync::Arc;

use leptos::{html, prelude::*};

use crate::{
    course::use_provenance,
    figures::{
        Sheet,
        canvas::{use_frame, use_latest, use_size},
        frame::{Files, Frame, choices},
        pen::{Paint, Pen},
        reading::{Reading, offset},
        readout::SpokenReading,
        scroll::{self, Land},
        select::Pointing,
        sheet_csv, sheet_json,
        svg::sheet,
        table::TableData,
        theme::{Colors, use_colors},
        use_visible,
    },
    reactive::memo,
};

/// A part that can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// Left, top, width, height.
    pub place: [f64; 4],
    /// What it says: one line.
    pub words: String,
}

/// Something to draw, with its numbers.
pub trait Drawing: Send + Sync + 'static {
    /// The height that it needs at this width, with text of this size. Where the room is lower, it
    /// scrolls.
    fn height(&self, width: f64, font: f64) -> f64;

    /// Draws on a room of this size, and says what can be read where.
    fn draw(&self, size: (f64, f64), pen: &mut Pen, colors: &Colors) -> Vec<Spot>;

    /// The numbers for files and for the table.
    fn sheet(&self) -> Sheet;
}

/// `None` while there is nothing to see.
pub type Shown = Option<Arc<dyn Drawing>>;

/// The size of the smallest text that is drawn.
pub const SMALLEST: f64 = 12.0;
/// Size of files.
const SIZE: (f64, f64) = (1100.0, 620.0);

/// What is drawn at a size.
struct Scene {
    size: (f64, f64),
    /// The height that it needs at this width.
    need: f64,
    svg: String,
    spots: Vec<Spot>,
}

/// The size of notes beside text of the size `font`: never too small to read.
pub fn smaller(font: f64) -> f64 {
    (0.9 * font).max(SMALLEST)
}

impl Scene {
    fn new(
        drawing: &dyn Drawing,
        (width, height): (f64, f64),
        paint: Paint,
        colors: &Colors,
    ) -> Option<Self> {
        if width < 1.0 || height < 1.0 {
            return None;
        }
        let font = (width / 50.0).min(height / 24.0).clamp(SMALLEST, 17.0);
        let need = drawing.height(width, SMALLEST);
        let size = (width, height.max(drawing.height(width, font)));
        let mut pen = Pen::new(font, paint);
        let spots = drawing.draw(size, &mut pen, colors);
        Some(Self { size, need, svg: pen.svg, spots })
    }

    fn at(&self, (x, y): (f64, f64)) -> Option<usize> {
        let within = |spot: &Spot| {
            let [left, top, width, height] = spot.place;
            (left..left + width).contains(&x) && (top..top + height).contains(&y)
        };
        self.spots.iter().position(within)
    }
}

/// Where an arrow key leads from a spot: to the nearest one on that side.
fn step(spots: &[Spot], key: &str, from: usize) -> Option<usize> {
    let middle = |spot: &Spot| {
        let [left, top, width, height] = spot.place;
        (left + width / 2.0, top + height / 2.0)
    };
    let (x, y) = middle(spots.get(from)?);
    let (right, down) = match key {
        "ArrowLeft" => (-1.0, 0.0),
        "ArrowRight" => (1.0, 0.0),
        "ArrowUp" => (0.0, -1.0),
        "ArrowDown" => (0.0, 1.0),
        "Home" => return Some(0),
        "End" => return spots.len().checked_sub(1),
        _ => return None,
    };
    let way = |spot: &Spot| {
        let (dx, dy) = (middle(spot).0 - x, middle(spot).1 - y);
        let (along, across) = (dx * right + dy * down, (dx * down).abs() + (dy * right).abs());
        (along > 0.5 && across <= 4.0 * along).then_some(along + 2.0 * across)
    };
    let nearest = spots.iter().enumerate().filter_map(|(at, spot)| Some((way(spot)?, at)));
    Some(nearest.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(from, |(_, at)| at))
}

/// The figure. `label` says how it is read; `hint` stands where a reading will.
#[component]
pub fn Picture(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    drawing: Signal<Shown>,
    label: &'static str,
    hint: &'static str,
    /// Hears which part was pressed, in the order in which they were drawn.
    #[prop(optional)]
    on_pick: Option<Callback<usize>>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let room = NodeRef::<html::Div>::new();
    let visible = use_visible(root);
    // What is said below a picture comes with its numbers and takes room from it: the picture is drawn
    // again for that, but not in the same frame.
    let size = use_frame(use_size(room), visible);
    let drawn = use_latest(drawing, visible);
    let colors = use_colors();
    let empty = Signal::derive(move || drawn.get().is_none());
    let scene = Memo::new_with_compare(
        move |_| {
            let (size, drawn) = (size.get(), drawn.get());
            let drawing = drawn.as_ref().as_ref()?.as_ref();
            let size = (size.width, size.height);
            let scene = colors.with(|colors| Scene::new(drawing, size, Paint::page(), colors));
            scene.map(Arc::new)
        },
        |_, _| true,
    );
    let count = memo(move || scene.get().map_or(0, |scene| scene.spots.len()));
    let pointing = Pointing::new(move |at: &usize| *at < count.get());
    let words = move |at: usize| {
        let scene = scene.get()?;
        Some(scene.spots.get(at)?.words.clone())
    };
    let reader = Reading {
        pointing,
        hit: Callback::new(move |event| scene.get_untracked()?.at(offset(&event))),
        start: Callback::new(move |()| {
            let any = count.get_untracked() > 0;
            any.then(|| pointing.shown_untracked().unwrap_or_default())
        }),
        step: Callback::new(move |(key, at): (String, usize)| {
            let scene = scene.get_untracked()?;
            let to = step(&scene.spots, &key, at)?;
            if let (Some(room), Some(spot)) = (room.get_untracked(), scene.spots.get(to)) {
                let [_, top, _, height] = spot.place;
                scroll::down(&room, [top, top + height], Land::InMiddle);
            }
            Some(to)
        }),
        pick: Some(on_pick.unwrap_or(Callback::new(move |at| pointing.toggle_pin(at)))),
        tap_reads: true,
        focus_reads: true,
    };
    let mark = move || {
        let scene = scene.get()?;
        let [left, top, width, height] = scene.spots.get(pointing.shown()?)?.place;
        Some(format!("left:{left:.1}px;top:{top:.1}px;width:{width:.1}px;height:{height:.1}px"))
    };
    let style = move || {
        scene.get().map(|scene| format!("width:{}px;height:{}px", scene.size.0, scene.size.1))
    };
    // The room is as high as its view lets it be; where that asks, it hears what the drawing needs. It never
    // hears what the drawing has: that follows the room, and each would make the other grow.
    let need = move || scene.get().map(|scene| format!("{:.0}px", scene.need.ceil()));
    let picture = move || scene.get().map_or(String::new(), |scene| scene.svg.clone());
    let files = Files {
        json: |shown: &Shown, caption, provenance| {
            sheet_json(&numbers(shown), caption.name, &caption.title, provenance)
        },
        csv: |shown: &Shown, caption, provenance| {
            sheet_csv(&numbers(shown), &caption.title, provenance)
        },
        svg: |shown: &Shown, caption, colors| {
            let paint = Paint::of(colors.palette);
            let scene =
                shown.as_deref().and_then(|drawing| Scene::new(drawing, SIZE, paint, colors));
            let (svg, size) = scene.map_or((String::new(), SIZE), |scene| (scene.svg, scene.size));
            sheet(&svg, size, caption, colors.palette)
        },
    };
    let none = Signal::stored(None);
    let provenance = use_provenance();
    view! {
        <Frame name kind="picture" title root empty table=table(name, title, drawn)
            choices=choices(name, title, drawn, none, provenance, colors, files)>
            <div class="figure-box decode-room" node_ref=room style=("--need", need)>
                <div class="decode-picture" class:decode-pressed=on_pick.is_some() style=style tabindex="0" role="group"
                    aria-label=label aria-roledescription="picture" data-testid=format!("{name}-picture")
                    translate="no" {..reader.handlers()}>
                    <svg aria-hidden="true" inner_html=picture></svg>
                    <Show when=move || mark().is_some()>
                        <div class="decode-mark" style=move || mark().unwrap_or_default()></div>
                    </Show>
                </div>
            </div>
            <p class="readout" data-testid=format!("{name}-readout")>
                {move || match pointing.shown().and_then(words) {
                    Some(text) => view! { <span translate="no">{text}</span> }.into_any(),
                    None => view! { <span class="hint">{hint}</span> }.into_any(),
                }}
            </p>
            <SpokenReading shown=Signal::derive(move || pointing.shown())
                words=Callback::new(move |at| untrack(|| words(at)).unwrap_or_default())/>
        </Frame>
    }
    .into_any()
}

fn numbers(shown: &Shown) -> Sheet {
    shown.as_deref().map(Drawing::sheet).unwrap_or_default()
}

/// The numbers as a table: the first column names the rows.
fn table(name: &'static str, title: Signal<String>, drawn: Memo<Arc<Shown>>) -> TableData {
    let sheet = Memo::new_with_compare(move |_| Arc::new(numbers(&drawn.get())), |_, _| true);
    let cell = move |row: usize, column: usize| {
        let sheet = sheet.get();
        Some(match sheet.rows.get(row)?.get(column)? {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Null => return None,
            other => other.to_string(),
        })
    };
    TableData {
        name,
        summary: "Values as a table",
        caption: title,
        shape: Signal::derive(move || {
            let sheet = sheet.get();
            (sheet.rows.len(), sheet.columns.len().saturating_sub(1))
        }),
        along: ("rows", "columns"),
        row_name: Callback::new(move |row| cell(row, 0).unwrap_or_default()),
        column_name: Callback::new(move |column: usize| {
            sheet.get().columns.get(column + 1).cloned().unwrap_or_default().replace('_', " ")
        }),
        cell: Callback::new(move |(row, column)| cell(row, column + 1)),
        absent: "–",
        start: Callback::new(move |()| Some((0, 0))),
    }
}

/// How many rectangles and lines a drawing has.
#[cfg(test)]
pub fn shapes(drawing: &dyn Drawing) -> usize {
    use crate::figures::color::Palette;
    let (colors, paint) = (Colors::new(&Palette::LIGHT), Paint::of(&Palette::LIGHT));
    let scene = Scene::new(drawing, (1100.0, 620.0), paint, &colors).expect("a size");
    scene.svg.matches("<rect").count() + scene.svg.matches("<path").count()
}

/// What a drawing must keep to at any size: everything readable lies within it, has words, and the
/// drawing has numbers.
#[cfg(test)]
pub fn keeps_to_its_room(drawing: &dyn Drawing) {
    use crate::figures::color::Palette;
    for size in [(1100.0, 620.0), (800.0, 420.0), (390.0, 300.0), (330.0, 220.0)] {
        let colors = Colors::new(&Palette::LIGHT);
        let paint = Paint::of(&Palette::LIGHT);
        let scene = Scene::new(drawing, size, paint, &colors).expect("a size");
        assert!(!scene.svg.contains("NaN") && !scene.svg.contains("inf"), "{size:?}");
        assert!(!scene.spots.is_empty());
        for spot in &scene.spots {
            let [left, top, width, height] = spot.place;
            assert!(left >= -0.01 && top >= -0.01 && width > 0.0 && height > 0.0, "{spot:?}");
            let inside = left + width <= scene.size.0 + 0.01 && top + height <= scene.size.1 + 0.01;
            assert!(inside, "{size:?}: {spot:?}");
            assert!(!spot.words.is_empty() && !spot.words.contains("NaN"), "{spot:?}");
        }
        for key in ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "End"] {
            assert!(step(&scene.spots, key, 0).is_some_and(|at| at < scene.spots.len()));
        }
    }
    let sheet = drawing.sheet();
    assert!(!sheet.rows.is_empty());
    assert!(sheet.rows.iter().all(|row| row.len() == sheet.columns.len()));
}
