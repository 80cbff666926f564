//! The picture of the whole model on the page: drawn, read, and stepped through.

use std::sync::Arc;

use leptos::{html, prelude::*};
use serde_json::json;
use unroll_protocol::{
    Architecture,
    gpt::{Pass, Stage},
};

use super::{
    callout::{Callout, further_map},
    cells::{map, values},
    draw::{Way, flow, ground},
    paint::{paint, svg},
    read::{Place, door, hit, part_of, said, step},
    scene::{Area, Part, Scene, Shape, enlargement, is_narrow, place_of},
};
use crate::{
    controls::counted,
    course::ChapterLink,
    figures::{
        Slot, ValueMap,
        canvas::{use_latest, use_size},
        export::{Provenance, axis, csv_comment, field, head, open_object, rows_json},
        frame::{Caption, Files, Frame, choices},
        hidden_canvas, own,
        pen::Paint,
        reading::{Reading, offset},
        readout::SpokenReading,
        scale::ScaleBar,
        scroll::{self, Land},
        select::Pointing,
        sight::use_visible,
        table::TableData,
        theme::{Colors, use_colors},
        tint, token,
    },
    reactive::{effect, memo},
};

/// What the picture shows and where it is changed. Layers, heads and rows count from 1; row 0 is the
/// last.
#[derive(Clone, Copy)]
pub struct Choice {
    pub block: Slot<u32>,
    pub head: Slot<u32>,
    pub row: Slot<u32>,
    pub stage: Slot<Stage>,
    /// Whether the rows' lines are what to look at.
    pub lines: Signal<bool>,
}

/// What is drawn: one snapshot, for the page and for files.
#[derive(Clone, Debug, Default, PartialEq)]
struct Drawn {
    pass: Option<Arc<Pass>>,
    architecture: Architecture,
    head: u32,
    row: u32,
    stage: usize,
    lines: bool,
}

impl Drawn {
    fn way(&self) -> Way {
        let (rows, heads) =
            self.pass.as_ref().map_or((0, 0), |pass| (pass.tokens.len(), pass.heads().1));
        let head = (self.head.max(1) as usize).min(heads.max(1)) - 1;
        let row = if self.row == 0 { rows } else { (self.row as usize).min(rows) };
        Way { head, row: row.saturating_sub(1), reached: self.stage, lines: self.lines }
    }

    fn enlarged(&self, scene: &Scene, colors: &Colors) -> Option<Enlarged> {
        let callout = Callout::new(scene, self.pass.as_ref()?, self.way(), self.architecture)?;
        Some(Enlarged {
            area: callout.area,
            with_part: callout.with_part(),
            title: callout.title(),
            words: callout.words(),
            svg: callout.svg(Paint::page(), colors),
        })
    }
}

/// The box of a stage, made once for each pass.
#[derive(Clone, Debug, Default, PartialEq)]
struct Enlarged {
    area: Area,
    /// The box together with the part of the row that it enlarges.
    with_part: Area,
    title: String,
    words: String,
    svg: String,
}

/// The whole model as one picture.
#[component]
pub fn MachineFigure(
    pass: Signal<Option<Arc<Pass>>>,
    architecture: Signal<Architecture>,
    choice: Choice,
    /// The blocks of the model, before anything is known of a pass through it.
    blocks: Memo<Option<u32>>,
    /// Told whether the room is too narrow for the whole picture.
    narrow: RwSignal<bool>,
    #[prop(into)] provenance: Signal<Provenance>,
) -> impl IntoView {
    let Choice { block, head, row, stage, lines } = choice;
    let root = NodeRef::<html::Section>::new();
    let room = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let size = use_size(room);
    let colors = use_colors();
    let source = Signal::derive(move || Drawn {
        pass: pass.get(),
        architecture: architecture.get(),
        head: head.get(),
        row: row.get(),
        stage: place_of(stage.get()),
        lines: lines.get(),
    });
    let drawn = use_latest(source, use_visible(root));
    let empty = Signal::derive(move || drawn.get().pass.is_none());
    let shape = memo(move || drawn.get().pass.as_deref().map(Shape::of));
    let way = memo(move || drawn.get().way());
    let followed = memo(move || way.get().row);
    // The scene is laid out at its own size; what is drawn, marked and pointed at is so much larger.
    let larger = memo(move || {
        let size = size.get();
        enlargement((size.width, size.height))
    });
    let scene = memo(move || {
        // A room that is not laid out yet has no picture.
        let size = Some(size.get()).filter(|size| size.width > 0.0)?;
        let larger = larger.get();
        let scene = Scene::new(shape.get()?, (size.width / larger, size.height / larger));
        Some(Arc::new(scene.following(followed.get())))
    });
    let tokens =
        memo(move || drawn.get().pass.as_ref().map_or(Vec::new(), |pass| pass.tokens.clone()));
    let tinted = memo(move || {
        drawn.get().pass.as_ref().is_some_and(|pass| tint::is_needed(&pass.vocabulary))
    });
    let behind = move || {
        let scene = scene.get()?;
        Some(tokens.with(|tokens| ground(&scene, tokens, tinted.get(), way.get(), Paint::page())))
    };
    let enlarged = memo(move || {
        let (scene, drawn) = (scene.get()?, drawn.get());
        colors.with(|colors| drawn.enlarged(&scene, colors)).map(Arc::new)
    });
    let before = move || {
        let (scene, drawn) = (scene.get()?, drawn.get());
        let mut svg = flow(&scene, drawn.pass.as_ref()?, drawn.way(), Paint::page());
        enlarged.with(|enlarged| svg += enlarged.as_ref().map_or("", |enlarged| &enlarged.svg));
        Some(svg)
    };
    // By the width with a scroll bar in it, which comes and goes with what is drawn.
    effect(move || {
        let (size, Some(blocks)) = (size.get(), blocks.get()) else { return };
        let Some(room) = room.get().filter(|_| size.width > 0.0) else { return };
        let now = is_narrow(f64::from(room.offset_width()), blocks as usize);
        if narrow.get_untracked() != now {
            narrow.set(now);
        }
    });
    let reached = memo(move || way.get().reached);
    let part_in_sight = memo(move || {
        let area = match enlarged.get() {
            Some(enlarged) => enlarged.with_part,
            // The whole way is read from its beginning.
            None if reached.get() == place_of(Stage::Whole) => (0.0, 0.0, 1.0, 1.0),
            None => return None,
        };
        let (x, y, width, height) = area;
        Some((reached.get(), [x, y, width, height].map(f64::round)))
    });
    effect(move || {
        let (Some((_, [x, y, width, height])), Some(room)) =
            (part_in_sight.get(), room.get_untracked())
        else {
            return;
        };
        let area = (x, y, width, height);
        let larger = larger.get_untracked();
        // The room has its new picture by then.
        request_animation_frame(move || keep_in_sight(&room, area, larger));
    });
    // Said once a step, not with each pass while the model trains.
    let title_of_part = memo(move || enlarged.get().map(|enlarged| enlarged.title.clone()));
    let hidden = StoredValue::new_local(hidden_canvas());
    effect(move || {
        let (Some(canvas), Some(scene), drawn) = (canvas.get(), scene.get(), drawn.get()) else {
            return;
        };
        let Some(pass) = drawn.pass.as_deref() else { return };
        // A page whose shapes do not fit is about to get its new scene.
        if scene.shape != Shape::of(pass) {
            return;
        }
        let scale = size.get().scale.max(1.0) * larger.get();
        hidden.with_value(|hidden| {
            let hidden = hidden.as_ref()?;
            colors.with(|colors| paint(&canvas, hidden, &scene, pass, drawn.way(), colors, scale))
        });
    });

    let pointing = Pointing::new(move |place: &Place| {
        let rows = tokens.with(Vec::len);
        match place {
            Place::Row(_, row) | Place::Number(_, row, _) => *row < rows,
            _ => true,
        }
    });
    // Where the pointer rests there is another part as soon as another block is open, and a step is about its own.
    let open = memo(move || shape.get().map(|shape| shape.open));
    effect(move || {
        open.track();
        reached.track();
        pointing.leave();
    });
    let at = move |e: web_sys::MouseEvent| {
        let (scene, drawn) = (scene.get_untracked()?, drawn.get_untracked());
        let ((x, y), larger) = (offset(&e), larger.get_untracked());
        let point @ (x, y) = (x / larger, y / larger);
        let covers = |(left, top, width, height): Area| {
            (left..left + width).contains(&x) && (top..top + height).contains(&y)
        };
        if enlarged.get_untracked().is_some_and(|enlarged| covers(enlarged.area)) {
            return None;
        }
        hit(&scene, drawn.pass.as_ref()?, point)
    };
    let pick = move |place: Place| match place {
        Place::Head(at, number) => {
            block.set(at as u32 + 1);
            head.set(number as u32 + 1);
        }
        Place::Name(Part::Folded(at)) | Place::Row(Part::Folded(at), _) => block.set(at as u32 + 1),
        Place::Row(_, at) | Place::Number(_, at, _)
            if !matches!(place, Place::Number(Part::Next, ..)) =>
        {
            let last = at + 1 == tokens.with_untracked(Vec::len);
            row.set(if last { 0 } else { at as u32 + 1 });
            pointing.toggle_pin(place);
        }
        _ => pointing.toggle_pin(place),
    };
    let reader = Reading {
        pointing,
        hit: Callback::new(at),
        start: Callback::new(move |()| {
            let last = Place::Row(Part::Tokens, way.get_untracked().row);
            scene
                .with_untracked(Option::is_some)
                .then(|| pointing.shown_untracked().unwrap_or(last))
        }),
        step: Callback::new(move |(key, place): (String, Place)| {
            let scene = scene.get_untracked()?;
            let to = step(&scene, &key, place, way.get_untracked().row)?;
            if let (Some(area), Some(room)) = (frame_of(&scene, to), room.get_untracked()) {
                keep_in_sight(&room, area, larger.get_untracked());
            }
            Some(to)
        }),
        pick: Some(Callback::new(pick)),
        tap_reads: true,
        focus_reads: true,
    };
    let words = move |place: Place| {
        let (scene, drawn) = (scene.get()?, drawn.get());
        Some(said(drawn.pass.as_ref()?, &scene, drawn.way(), place))
    };
    let mark = move || {
        let (scene, place) = (scene.get()?, pointing.shown()?);
        let (left, top, width, height) = times(frame_of(&scene, place)?, larger.get());
        Some(format!("left:{left:.1}px;top:{top:.1}px;width:{width:.1}px;height:{height:.1}px"))
    };
    let label = move || {
        let shape = shape.get();
        let (rows, blocks) = shape.map_or((0, 0), |shape| (shape.rows, shape.blocks));
        format!(
            "The whole model: {rows} rows of tokens pass {blocks} blocks from left to right. Left and right \
             arrow move between parts, up and down between rows. Enter chooses a row, a head or a block."
        )
    };
    let title = Signal::derive(move || {
        let block = drawn.get().pass.as_ref().map_or(1, |pass| pass.detail.block + 1);
        format!("A GPT on your sentence: block {block}, head {}", way.get().head + 1)
    });
    let files = Files { json: machine_json, csv: machine_csv, svg: machine_svg };
    let none = Signal::stored(None);
    let part = memo(move || {
        let scene = scene.get()?;
        Some(part_of(pointing.shown()?, &scene))
    });
    let style = move || {
        let (scene, larger) = (scene.get()?, larger.get());
        Some(format!("width:{}px;height:{}px", larger * scene.width, larger * scene.height))
    };
    let view_box = move || scene.get().map(|scene| format!("0 0 {} {}", scene.width, scene.height));
    view! {
        <Frame name="machine" kind="machine" title root empty
            table=table(drawn, part, title)
            choices=choices("machine", title, drawn, none, provenance, colors, files)>
            <div class="figure-box machine-room" node_ref=room>
                <div class="machine-picture" style=style tabindex="0" role="group" aria-label=label
                    aria-roledescription="picture" aria-describedby=own("machine", "words") data-testid="machine-picture" translate="no"
                    data-row=move || (way.get().row + 1).to_string()
                    data-head=move || (way.get().head + 1).to_string()
                    {..reader.handlers()}>
                    <svg aria-hidden="true" viewBox=view_box inner_html=move || behind().unwrap_or_default()></svg>
                    <canvas node_ref=canvas aria-hidden="true"></canvas>
                    <svg aria-hidden="true" viewBox=view_box inner_html=move || before().unwrap_or_default()></svg>
                    <Show when=move || mark().is_some()>
                        <div class="machine-mark" style=move || mark().unwrap_or_default()></div>
                    </Show>
                </div>
            </div>
            <p class="visually-hidden" role="status" data-testid="machine-callout-title">{title_of_part}</p>
            <p class="visually-hidden" id=own("machine", "words") data-testid="machine-callout">
                {move || enlarged.get().map(|enlarged| enlarged.words.clone())}
            </p>
            <Scales drawn pointed=Signal::derive(move || pointing.shown())
                enlarged=Signal::derive(move || enlarged.get().is_some())/>
            <p class="readout" data-testid="machine-readout">
                {move || match pointing.shown().and_then(words) {
                    Some(text) => view! { <span translate="no">{text}</span> }.into_any(),
                    None if narrow.get() => view! { <span class="hint">"Swipe for more. Tap to read."</span> }.into_any(),
                    None => view! { <span class="hint">"Point at anything to read it. Press a row to follow it."</span> }.into_any(),
                }}
                " "
                {move || part.get().map(|part| {
                    let chapter = door(part);
                    view! { <ChapterLink chapter testid="machine-door">{format!("Chapter: {}", chapter.label())}</ChapterLink> }
                })}
            </p>
            <SpokenReading shown=Signal::derive(move || pointing.shown())
                words=Callback::new(move |place| untrack(|| words(place)).unwrap_or_default())/>
        </Frame>
    }
    .into_any()
}

/// What the colors stand for: those of weights, and those of the column that is read or of the step.
#[component]
fn Scales(
    drawn: Memo<Arc<Drawn>>,
    pointed: Signal<Option<Place>>,
    /// Whether the step has its box.
    enlarged: Signal<bool>,
) -> impl IntoView {
    let colors = use_colors();
    let column = memo(move || match pointed.get() {
        Some(Place::Row(part, _) | Place::Number(part, ..) | Place::Name(part))
            if !matches!(part, Part::Tokens | Part::Folded(_) | Part::Next | Part::Weights) =>
        {
            Some(part)
        }
        _ => None,
    });
    // The box of the other blocks has rows that no column shows.
    let of_rows = memo(move || {
        let is_further = drawn.with(|drawn| Stage::ALL.get(drawn.stage) == Some(&Stage::Further));
        is_further && enlarged.get() && column.get().is_none()
    });
    let part = memo(move || match column.get() {
        Some(part) => part,
        None => drawn.with(|drawn| {
            let part = match Stage::ALL.get(drawn.stage) {
                Some(Stage::Query | Stage::Weights) => Part::Query,
                Some(Stage::Mix) => Part::Mix,
                Some(Stage::FeedForward) => Part::FeedForward,
                Some(Stage::Next) => Part::FinalNorm,
                _ => Part::Embedding,
            };
            let has = |pass: &Arc<Pass>| values(pass, part, drawn.way().head).is_some();
            if drawn.pass.as_ref().is_some_and(has) { part } else { Part::Embedding }
        }),
    });
    let signed = memo(move || {
        let drawn = drawn.get();
        if let Some(pass) = drawn.pass.as_ref().filter(|_| of_rows.get()) {
            return further_map(pass);
        }
        let numbers =
            drawn.pass.as_ref().and_then(|pass| values(pass, part.get(), drawn.way().head));
        map(part.get(), numbers.unwrap_or_default())
    });
    // What the numbers under the columns count, of the first of them.
    let shape = memo(move || {
        drawn.get().pass.as_deref().map(|pass| {
            let (rows, width) = (pass.tokens.len(), pass.width());
            let (tokens, numbers) =
                (counted(rows as u64, "token"), counted(width as u64, "number"));
            format!("[{rows}, {width}]: {tokens} × {numbers}. ")
        })
    });
    // The number that is read, of a column with weights or of another one.
    let read = move |weights: bool| {
        Signal::derive(move || match pointed.get()? {
            Place::Number(of, row, at)
                if (of == Part::Weights) == weights && (weights || of == part.get()) =>
            {
                let drawn = drawn.get();
                let pass = drawn.pass.as_ref()?;
                let numbers = values(pass, of, drawn.way().head)?;
                let count = numbers.len().checked_div(pass.tokens.len())?;
                numbers.get(row * count + at).copied()
            }
            _ => None,
        })
    };
    view! {
        <div class="machine-scales" data-testid="machine-scales">
            <ScaleBar short=true label="weights" map=Signal::stored(ValueMap::Probability) value=read(true) colors/>
            <ScaleBar short=true label=Signal::derive(move || if of_rows.get() { "row" } else { part.get().name() }.to_owned()) map=signed.into()
                value=read(false) colors/>
            <span class="hint" data-testid="machine-shape">{move || shape.get()} "Point at a name for more."</span>
        </div>
    }
    .into_any()
}

/// Scrolls the room so that what the keys, or a step of the explanation, have come to is seen.
fn keep_in_sight(room: &web_sys::Element, area: Area, larger: f64) {
    let (x, y, width, height) = times(area, larger);
    scroll::across(room, [x, x + width], Land::AtEdge(0.0));
    scroll::down(room, [y, y + height], Land::AtEdge(0.0));
}

/// An area of the scene as it is on the page.
fn times((x, y, width, height): Area, larger: f64) -> Area {
    (x * larger, y * larger, width * larger, height * larger)
}

/// The rectangle round a place.
fn frame_of(scene: &Scene, place: Place) -> Option<Area> {
    let row_of = |column: super::scene::Column, row: usize| {
        let high = scene.strip();
        (column.x - 2.0, scene.middle(row) - high / 2.0 - 2.0, column.width + 4.0, high + 4.0)
    };
    Some(match place {
        Place::Name(part) => {
            let column = scene.column(part)?;
            (column.x - 4.0, scene.top - 36.0, column.width + 8.0, scene.foot() - scene.top + 36.0)
        }
        Place::Number(Part::Next, _, at) => {
            let column = scene.column(Part::Next)?;
            let high = scene.bar_high() + 8.0;
            (column.x, scene.bar(at) - high / 2.0, column.width, high)
        }
        Place::Row(part, row) => row_of(scene.column(part)?, row),
        Place::Number(part, row, at) => {
            let column = scene.column(part)?;
            let (_, top, _, high) = row_of(column, row);
            let (left, wide) = column.cell(at);
            (left - 1.0, top, wide.max(2.0) + 2.0, high)
        }
        Place::Head(block, head) => {
            let maps = super::paint::small_maps(scene);
            let (_, _, [x, y, side]) =
                maps.into_iter().find(|map| (map.0, map.1) == (block, head))?;
            (x - 2.0, y - 2.0, side + 4.0, side + 4.0)
        }
        Place::Size(_) => return None,
    })
}

/// Reads something of a pass, of a part's numbers and of how many each row has.
type Read<'a> = dyn Fn(&Pass, &[f32], usize) -> Option<String> + 'a;

/// The numbers of the part that is read: a row a token, a column a number.
fn table(drawn: Memo<Arc<Drawn>>, part: Memo<Option<Part>>, title: Signal<String>) -> TableData {
    let part = move || match part.get() {
        None | Some(Part::Tokens | Part::Folded(_)) => Part::Embedding,
        Some(part) => part,
    };
    let with = move |read: &Read| {
        let drawn = drawn.get();
        let pass = drawn.pass.as_ref()?;
        let values = values(pass, part(), drawn.way().head)?;
        read(pass, values, values.len().checked_div(pass.tokens.len())?)
    };
    TableData {
        name: "machine",
        summary: "Values as a table",
        caption: Signal::derive(move || format!("{}: {}", title.get(), part().name())),
        shape: Signal::derive(move || {
            let drawn = drawn.get();
            let pass = drawn.pass.as_deref();
            let rows = pass.map_or(0, |pass| pass.tokens.len());
            let values = pass.and_then(|pass| values(pass, part(), drawn.way().head));
            (rows, values.and_then(|values| values.len().checked_div(rows)).unwrap_or(0))
        }),
        along: ("rows", "columns"),
        row_name: Callback::new(move |at: usize| {
            with(&|pass, _, _| Some(token::name_at(pass.tokens.get(at)?, at))).unwrap_or_default()
        }),
        column_name: Callback::new(move |at: usize| {
            let name = with(&|pass, _, _| match part() {
                Part::Weights => Some(token::name_at(pass.tokens.get(at)?, at)),
                Part::Next => Some(token::mark(pass.vocabulary.get(at)?)),
                _ => None,
            });
            name.unwrap_or_else(|| (at + 1).to_string())
        }),
        cell: Callback::new(move |(row, column): (usize, usize)| {
            with(&|pass, values, count| {
                let masked =
                    part() == Part::Weights && pass.mask.get(row * count + column) == Some(&false);
                values.get(row * count + column).filter(|_| !masked).map(|v| format!("{v:.4}"))
            })
        }),
        absent: "–",
        start: Callback::new(move |()| Some((drawn.get().way().row, 0))),
    }
}

/// All parts that hold numbers.
const PARTS: [Part; 11] = [
    Part::Embedding,
    Part::Position,
    Part::Query,
    Part::Key,
    Part::Weights,
    Part::Value,
    Part::Mix,
    Part::Attention,
    Part::FeedForward,
    Part::FinalNorm,
    Part::Next,
];

/// The numbers of every part, `values[part][token][number]`.
fn machine_json(drawn: &Drawn, caption: &Caption, provenance: &Provenance) -> String {
    let mut map = head(caption.name, &caption.title, provenance);
    let Some(pass) = &drawn.pass else { return serde_json::Value::Object(map).to_string() };
    let way = drawn.way();
    map.insert("step".into(), json!(pass.step));
    map.insert("block".into(), json!(pass.detail.block + 1));
    map.insert("head".into(), json!(way.head + 1));
    map.insert("dropped_tokens".into(), json!(pass.dropped));
    map.insert("parameter_counts".into(), json!(pass.sizes));
    let parts = PARTS.iter().filter_map(|part| Some((part, values(pass, *part, way.head)?)));
    let parts: Vec<(&Part, &[f32])> = parts.collect();
    let names: Vec<&str> = parts.iter().map(|(part, _)| part.name()).collect();
    let axes =
        json!([axis("part", names), axis("token", &pass.tokens), axis("next", &pass.vocabulary)]);
    map.insert("axes".into(), axes);
    let rows = pass.tokens.len().max(1);
    let values = parts.iter().map(|(_, values)| rows_json(values, values.len() / rows));
    open_object(&map, "values") + "[" + &values.collect::<Vec<_>>().join(",") + "]}"
}

/// One line a number: part, token, number, value.
fn machine_csv(drawn: &Drawn, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    text.push_str("part,position,token,number,value\n");
    let Some(pass) = &drawn.pass else { return text };
    let rows = pass.tokens.len().max(1);
    for part in PARTS {
        let Some(values) = values(pass, part, drawn.way().head) else { continue };
        let count = (values.len() / rows).max(1);
        for (i, value) in values.iter().enumerate() {
            let (row, at) = (i / count, i % count);
            let token = pass.tokens.get(row).map_or(String::new(), |token| field(token));
            text += &format!("{},{},{token},{},{value:?}\n", part.name(), row + 1, at + 1);
        }
    }
    text
}

fn machine_svg(drawn: &Drawn, caption: &Caption, colors: &Colors) -> String {
    /// A slide's shape; the picture grows where it has more rows.
    const ROOM: (f64, f64) = (1280.0, 660.0);
    let pass = drawn.pass.as_ref();
    pass.map_or(String::new(), |pass| {
        svg(pass, drawn.way(), drawn.architecture, ROOM, caption, colors)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapters::machine::cells::tests::pass;

    fn drawn() -> Drawn {
        Drawn { pass: Some(Arc::new(pass(4, 2))), head: 2, row: 0, stage: 9, ..Drawn::default() }
    }

    #[test]
    fn files_hold_all_numbers_with_their_digits() {
        let caption =
            Caption { name: "machine", title: "T".into(), marker: None, source: String::new() };
        let drawn = drawn();
        let json = machine_json(&drawn, &caption, &Provenance::default());
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        let pass = drawn.pass.as_ref().unwrap();
        let query = pass.detail.attention.as_ref().unwrap().queries.get(&[1, 2, 3]).unwrap();
        assert_eq!(read["values"][2][2][3].as_f64().unwrap() as f32, query);
        assert_eq!(read["axes"][0]["labels"][2], "query");
        assert_eq!(read["parameter_counts"]["head"], 24);
        let csv = machine_csv(&drawn, &caption, &Provenance::default());
        assert!(csv.contains(&format!("query,3,\"\n\",4,{query:?}\n")), "{csv}");
    }

    #[test]
    fn the_row_on_show_is_the_last_unless_one_is_chosen() {
        assert_eq!(drawn().way(), Way { head: 1, row: 3, reached: 9, lines: false });
        let other = Drawn { row: 2, head: 9, ..drawn() }.way();
        assert_eq!((other.head, other.row), (1, 1));
        assert_eq!(Drawn { row: 60, ..drawn() }.way().row, 3);
        assert_eq!(Drawn::default().way().row, 0);
    }
}
