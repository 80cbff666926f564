//! The layers of one model along its residual stream, from the token to the logits, with the length of
//! what each adds.

use std::fmt::Write;

use leptos::{ev::MouseEvent, html, prelude::*};
use serde_json::json;
use unroll_protocol::study::block::{LAYERS, Source, Stream};

use super::{
    Page, models,
    stream::{model, short, size},
};
use crate::{
    course::Sentence,
    figures::{
        Colors, Frame, Hue, Provenance,
        canvas::{use_latest, use_size},
        decimals,
        export::{axis, csv_comment, head, open_object},
        frame::{Caption, Files, choices},
        labels::text_width,
        pen::{Anchor, Paint, Pen, Stroke},
        reading::{Reading, step_along},
        readout::SpokenReading,
        select::Pointing,
        svg::sheet,
        theme::use_colors,
        token::mark,
        use_visible,
    },
    pointer::worded,
    reactive::memo,
};

const NAME: &str = "block-wiring";

/// The picture over the sentence and the model on show.
pub fn view(page: Page) -> AnyView {
    let root = NodeRef::<html::Section>::new();
    let room = NodeRef::<html::Div>::new();
    let size = use_size(room);
    let source = Signal::derive(move || {
        page.stream.with(|s| s.as_ref().map_or_else(Wiring::default, |s| Wiring::of(s)))
    });
    let drawn = use_latest(source, use_visible(root));
    let count = memo(move || drawn.get().parts.len());
    let plan = memo(move || {
        let size = size.get();
        Plan::new(&drawn.get(), (size.width, size.height))
    });
    let pointing = Pointing::new(move |part: &usize| *part < count.get());
    let picture = move || draw(&drawn.get(), &plan.get(), pointing.shown(), Paint::page());
    let reading = Reading {
        pointing,
        hit: Callback::new(hit),
        start: Callback::new(move |()| {
            (count.get_untracked() > 0).then(|| pointing.shown_untracked().unwrap_or(0))
        }),
        step: Callback::new(move |(key, at): (String, usize)| {
            step_along(&key, at, count.get_untracked())
        }),
        pick: Some(Callback::new(move |part| pointing.toggle_pin(part))),
        tap_reads: true,
        focus_reads: true,
    };
    let title = Signal::derive(move || format!("From the token to the logits, {}", model(page)));
    let none = Signal::stored(None);
    let files = Files { json: wiring_json, csv: wiring_csv, svg: wiring_svg };
    let choices = choices(NAME, title, drawn, none, page.provenance, use_colors(), files);
    let words = Callback::new(move |part: usize| drawn.get_untracked().says(part));
    let read = move || match pointing.shown() {
        Some(part) => drawn.get().says(part).into_any(),
        None => view! { <span class="hint">{worded(drawn.get().hint())}</span> }.into_any(),
    };
    view! {
        <Sentence label="Your sentence" problem=page.problem/>
        <div class="view-bar">{models(page)}</div>
        <Frame name=NAME kind="diagram" title root
            empty=Signal::derive(move || drawn.get().parts.is_empty()) choices>
            <div class="figure-box block-wiring" node_ref=room role="application" tabindex="0"
                aria-roledescription="diagram" aria-label=move || drawn.get().spoken()
                data-testid="block-wiring-picture" {..reading.handlers()}>
                <svg aria-hidden="true" style=move || format!("height:{:.1}px", plan.get().height())
                    inner_html=picture></svg>
            </div>
            <p class="readout" data-testid="block-wiring-readout">{read}</p>
            <SpokenReading shown=Signal::derive(move || pointing.shown()) words/>
        </Frame>
    }
    .into_any()
}

/// The part that an event is about.
fn hit(event: MouseEvent) -> Option<usize> {
    let target: web_sys::Element = event_target(&event);
    target.closest("[data-part]").ok().flatten()?.get_attribute("data-part")?.parse().ok()
}

/// Where a model has its norms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Norms {
    #[default]
    None,
    Before,
    After,
}

/// What writes into the stream, and what is known of it at the position on show.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    source: Source,
    /// Length of its term; with norms after the layers of what is left of it behind the last block.
    adds: Option<f32>,
    /// Length of the stream behind it.
    after: Option<f32>,
}

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
struct Wiring {
    parts: Vec<Part>,
    norms: Norms,
    residual: bool,
    token: String,
    position: u32,
}

impl Wiring {
    fn of(stream: &Stream) -> Self {
        let residual = stream.sources.contains(&Source::Token);
        let norms = match stream.deviation {
            Some(_) => Norms::Before,
            None if stream.sources.contains(&Source::NormOffsets) => Norms::After,
            None => Norms::None,
        };
        let layers =
            (1..=LAYERS).flat_map(|block| [Source::Attention(block), Source::FeedForward(block)]);
        // Without residual connections only the last layer is left in the answer, though all are there.
        let layers = layers.filter(|layer| !residual || stream.sources.contains(layer));
        let mut sum = Vec::new();
        let part = |source: Source| {
            let term = stream.sources.iter().position(|other| *other == source);
            // Where a norm has rescaled the terms since, their sum so far is no longer what the stream was.
            let numbers = term.filter(|_| residual && norms != Norms::After);
            let after = numbers.and_then(|term| stream.terms.block(&[term])).map(|numbers| {
                sum.resize(numbers.len(), 0.0);
                sum.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += f64::from(*x));
                sum.iter().map(|x| x * x).sum::<f64>().sqrt() as f32
            });
            Part { source, adds: term.and_then(|term| size(stream, term)), after }
        };
        let embeddings = [Source::Token, Source::Position];
        let mut parts: Vec<Part> = embeddings.into_iter().chain(layers).map(part).collect();
        if let Some(last) = parts.last_mut() {
            last.after = stream.whole.get(stream.position as usize).copied();
        }
        let token = stream.tokens.get(stream.position as usize);
        let token = token.map(|token| mark(token)).unwrap_or_default();
        Self { parts, norms, residual, token, position: stream.position + 1 }
    }

    /// What is said of a part.
    fn says(&self, part: usize) -> String {
        let Some(Part { source, adds, after }) = self.parts.get(part) else { return String::new() };
        let written = |length: &f32| decimals(*length, 2);
        let name = match source {
            Source::Token => format!("The embedding of ‘{}’", self.token),
            Source::Position => format!("The embedding of position {}", self.position),
            layer => {
                let name = layer.name();
                name[..1].to_uppercase() + &name[1..]
            }
        };
        let is_layer = !matches!(source, Source::Token | Source::Position);
        let adds = adds.as_ref().map(written);
        let does = match adds {
            _ if is_layer && !self.residual => format!("{name} replaces the stream"),
            Some(length) if self.norms == Norms::After => {
                format!(
                    "{name}: after the last norm, a length of {length} is left of what it added"
                )
            }
            Some(length) => format!("{name} adds a vector of length {length}"),
            None => format!("{name} goes into the stream"),
        };
        let then = match after.as_ref().map(written) {
            Some(length) => format!("; then the stream has length {length}."),
            None => ".".to_owned(),
        };
        does + &then
    }

    /// What stands where nothing is read.
    fn hint(&self) -> &'static str {
        match (self.residual, self.norms) {
            // Before there is an answer nothing is known of the model.
            _ if self.parts.is_empty() => "",
            (false, _) => "No line goes around the boxes: each layer replaces the stream.",
            (true, Norms::After) => "In the boxes: the length that is left of what each added.",
            (true, _) => "In the boxes: the length added. Below the line: the stream’s length.",
        }
    }

    /// The picture for who can't see it.
    fn spoken(&self) -> String {
        let parts: Vec<String> = (0..self.parts.len()).map(|part| self.says(part)).collect();
        parts.join(" ")
    }

    /// Columns of the picture: the parts, the final norm and the logits.
    fn columns(&self) -> usize {
        self.parts.len() + 2
    }

    /// How thick a line of this length is, where the longest has `most`.
    fn thick(&self, length: Option<f32>, most: f64) -> f64 {
        let lengths = self.parts.iter().flat_map(|part| [part.adds, part.after]).flatten();
        let longest = lengths.fold(1e-6, f32::max);
        // Of an unknown length: neither thick nor thin.
        length.map_or(0.3 * most, |length| (f64::from(length / longest) * most).max(1.5))
    }
}

/// The smallest text, in CSS pixels, and the largest.
const TEXT: (f64, f64) = (12.0, 22.0);
/// Heights in letters of a row with the names of its blocks, of one without, and of one without the stream's
/// lengths as well.
const ROWS: [f64; 3] = [8.4, 7.2, 5.9];
/// Width in letters that a column with a layer's whole name has.
const NAMED: f64 = 7.9;

/// Where things lie. The columns are wrapped into rows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plan {
    /// Columns in a row.
    across: usize,
    rows: usize,
    /// Of a column, and of a row.
    width: f64,
    height: f64,
    font: f64,
}

impl Plan {
    fn new(wiring: &Wiring, (width, height): (f64, f64)) -> Self {
        let columns = wiring.columns();
        let least = if wiring.norms == Norms::After { 4.8 } else { 3.4 };
        // A block has two layers, which stay together.
        let ways = (1..=columns.div_ceil(2)).map(|pairs| {
            let rows = columns.div_ceil(2 * pairs);
            let (width, height) = (width / (2 * pairs) as f64, height / rows as f64);
            Self { across: 2 * pairs, rows, width, height, font: TEXT.0 }
        });
        let is_wide = |way: &Self| way.width >= least * TEXT.0;
        // The more is written, the better; then the larger it is, and the wider the columns.
        let worth = |way: &Self| {
            let written = ROWS.iter().filter(|row| way.height >= *row * TEXT.0).count();
            let large = (way.width / NAMED).min(way.height / ROWS[0]) + 1e-3 * way.width;
            1e6 * written as f64 + large
        };
        let fits = |way: &Self| is_wide(way) && way.height >= ROWS[2] * TEXT.0;
        let best = ways.clone().filter(fits).max_by(|a, b| worth(a).total_cmp(&worth(b)));
        if let Some(way) = best {
            // Narrower ones are for the smallest text alone.
            let font = (way.width / (least + 0.35)).min(way.height / ROWS[0]);
            let font = font.clamp(TEXT.0, TEXT.1);
            return Self { font, ..way };
        }
        // It scrolls, in as few rows as there can be.
        let way = ways.clone().filter(is_wide).min_by_key(|way| way.rows);
        let way = way.or_else(|| ways.clone().next());
        let narrow = Self { across: 2, rows: columns.div_ceil(2), width, height, font: TEXT.0 };
        Self { height: ROWS[0] * TEXT.0, ..way.unwrap_or(narrow) }
    }

    fn height(&self) -> f64 {
        self.rows as f64 * self.height
    }

    /// In which row a column is, and its left edge.
    fn at(&self, column: usize) -> (usize, f64) {
        (column / self.across, (column % self.across) as f64 * self.width)
    }

    fn levels(&self, row: usize) -> Levels {
        let font = self.font;
        let kind = ROWS.iter().position(|row| self.height >= row * font - 0.1);
        let kind = kind.unwrap_or(ROWS.len() - 1);
        let free = (self.height - ROWS[kind] * font).max(0.0);
        let branch = (0.4 * free).min(4.0 * font);
        let top = row as f64 * self.height + ((free - branch) / 2.0).min(2.0 * font);
        let boxes = top + if kind == 0 { 1.3 } else { 0.1 } * font;
        let norm = boxes + 3.0 * font + branch / 2.0;
        let line = norm + 2.3 * font + branch / 2.0;
        let length = (kind < 2).then_some(line + 1.7 * font);
        Levels { named: (kind == 0).then_some(top), boxes, norm, line, length }
    }
}

/// The heights of one row.
struct Levels {
    /// The upper edge of a block's name, where there is room for one.
    named: Option<f64>,
    boxes: f64,
    norm: f64,
    line: f64,
    /// Where the stream's length is written, if there is room for it.
    length: Option<f64>,
}

const BOX: f64 = 2.8;
/// Of a norm, in letters.
const PILL: (f64, f64) = (2.6, 1.4);

/// Where a layer leaves the line, where it comes back, and where a norm after it stands.
struct Places {
    up: f64,
    down: f64,
    norm: f64,
}

impl Places {
    fn new(norms: Norms, (left, width): (f64, f64), font: f64) -> Self {
        let (up, down, norm) = match norms {
            Norms::None => (0.22 * width, 0.78 * width, 0.0),
            Norms::Before => {
                let up = (0.27 * width).max(1.3 * font);
                // Beside the norm, as far as there is room.
                (up, (0.77 * width).max(up + 1.75 * font).min(width - 0.2 * font), 0.0)
            }
            Norms::After => {
                let norm = (0.78 * width).min(width - 1.3 * font);
                let down = (0.42 * width).min(norm - 2.15 * font);
                ((0.12 * width).min(down - 0.95 * font), down, norm)
            }
        };
        Self { up: left + up, down: left + down, norm: left + norm }
    }
}

fn hue(source: Source) -> Hue {
    match source {
        Source::Attention(_) => Hue::Query,
        Source::FeedForward(_) => Hue::Weight,
        Source::Token | Source::Position | Source::NormOffsets => Hue::Input,
    }
}

/// The block that a layer is part of.
pub fn block(source: Source) -> Option<u32> {
    match source {
        Source::Attention(block) | Source::FeedForward(block) => Some(block),
        _ => None,
    }
}

/// A norm around its middle.
fn pill(pen: &mut Pen, (x, y): (f64, f64)) {
    let (font, (width, height)) = (pen.font, PILL);
    let (width, height) = (width * font, height * font);
    let place = (x - width / 2.0, y - height / 2.0);
    let stroke = Stroke { hue: Hue::Muted, thick: 1.25, share: 0.0 };
    pen.boxed(place, (width, height), height / 2.0, stroke);
    pen.text(Hue::Ink, false, (x, y + 0.35 * font), Anchor::Middle, "norm");
}

/// The picture as the inside of an SVG.
fn draw(wiring: &Wiring, plan: &Plan, lit: Option<usize>, paint: Paint) -> String {
    let (font, right) = (plan.font, plan.across as f64 * plan.width);
    if right < 1.0 || wiring.parts.is_empty() {
        return String::new();
    }
    let most = 0.9 * font;
    // Grounds, lines, and what stands on them.
    let (mut under, mut lines) = (Pen::new(font, paint), Pen::new(font, paint));
    let mut over = Pen::new(font, paint);
    let mut knots = Pen::new(0.8 * font, paint);
    let (mut row, mut x, mut thick) = (0, 0.0, 0.0);
    let next_row = |lines: &mut Pen, from: (usize, f64), thick: f64| {
        let line = plan.levels(from.0).line;
        lines.wire(
            Hue::Hidden,
            thick,
            &format!("M{:.1} {line:.1}H{:.1}", from.1, right - 1.2 * font),
        );
        lines.head(Hue::Hidden, (right, line), (1.0, 0.0), 1.5 * font);
    };
    for (index, part) in wiring.parts.iter().enumerate() {
        let (at_row, column) = plan.at(index);
        if at_row != row {
            next_row(&mut lines, (row, x), thick);
            (row, x) = (at_row, thick / 2.0);
        }
        let levels = plan.levels(row);
        let (left, width) = (column + 0.15 * font, plan.width - 0.3 * font);
        let middle = left + width / 2.0;
        let bottom = levels.boxes + BOX * font;
        let line = levels.line;
        let color = hue(part.source);
        let adds = wiring.thick(part.adds, most);
        let is_layer = block(part.source).is_some();
        let places = Places::new(wiring.norms, (left, width), font);
        let joins = if is_layer { places.down } else { middle };
        if is_layer && !wiring.residual {
            // The line itself goes through the box.
            let path = format!(
                "M{x:.1} {line:.1}H{up:.1}V{bottom:.1}M{joins:.1} {bottom:.1}V{line:.1}",
                up = places.up
            );
            lines.wire(Hue::Hidden, thick, &path);
        } else if part.source != Source::Token {
            lines.wire(Hue::Hidden, thick, &format!("M{x:.1} {line:.1}H{joins:.1}"));
            if is_layer {
                lines.wire(color, 1.5, &format!("M{:.1} {line:.1}V{bottom:.1}", places.up));
            }
        }
        if !is_layer || wiring.residual {
            lines.wire(color, adds, &format!("M{joins:.1} {bottom:.1}V{line:.1}"));
        }
        x = joins;
        thick = wiring.thick(part.after, most);

        let _ = write!(over.svg, r#"<g data-part="{index}" class="block-part">"#);
        let (top, high) = (row as f64 * plan.height, plan.height);
        // What can be pointed at is the whole column.
        let _ = write!(
            over.svg,
            r#"<rect x="{column:.1}" y="{top:.1}" width="{:.1}" height="{high:.1}" fill-opacity="0"/>"#,
            plan.width
        );
        let thickness = if lit == Some(index) { 3.5 } else { 1.75 };
        let stroke = Stroke { hue: color, thick: thickness, share: 0.12 };
        over.boxed((left, levels.boxes), (width, BOX * font), 0.4 * font, stroke);
        let names = match part.source {
            Source::Token => [format!("token ‘{}’", wiring.token), format!("‘{}’", wiring.token)],
            Source::Position => [format!("position {}", wiring.position), "pos.".to_owned()],
            layer => [layer.name(), short(layer)],
        };
        let fits = text_width(&names[0], font) <= width - 0.4 * font;
        let name = if fits { &names[0] } else { &names[1] };
        over.text(Hue::Ink, false, (middle, levels.boxes + 1.15 * font), Anchor::Middle, name);
        if let Some(length) = part.adds {
            let at = (middle, levels.boxes + 2.4 * font);
            over.text(color, true, at, Anchor::Middle, &decimals(length, 2));
        }
        if is_layer && wiring.norms == Norms::Before {
            pill(&mut over, (places.up, levels.norm + PILL.1 * font / 2.0));
        }
        if is_layer && wiring.norms == Norms::After {
            lines.wire(Hue::Hidden, thick, &format!("M{x:.1} {line:.1}H{:.1}", places.norm));
            pill(&mut over, (places.norm, line));
            x = places.norm;
        }
        if let (Some(length), Some(y)) = (part.after, levels.length) {
            let at = (joins.min(right - 1.3 * font), y);
            over.text(Hue::Hidden, false, at, Anchor::Middle, &decimals(length, 2));
        }
        over.svg.push_str("</g>");
        if part.source == Source::Position || is_layer && wiring.residual {
            knots.knot(Hue::Hidden, (joins, line), "+");
        }
        // The ground of a block begins with its first layer.
        let first = |other: usize| block(wiring.parts[other].source) == block(part.source);
        if let (Some(number), Some(named)) = (block(part.source), levels.named)
            && !(index > 0 && first(index - 1))
        {
            let count = wiring.parts[index..].iter();
            let count = count.take_while(|part| block(part.source) == Some(number)).count();
            let wide = count as f64 * plan.width - 0.1 * font;
            let place = (column + 0.05 * font, named);
            under.panel(Hue::Ink, place, (wide, line + 0.9 * font - named), 0.4 * font);
            let at = (column + wide / 2.0, named + 0.95 * font);
            under.sized(
                Hue::Muted,
                false,
                (0.8 * font).max(TEXT.0),
                at,
                Anchor::Middle,
                &format!("block {number}"),
            );
        }
    }
    // The final norm, if there is one, and the logits.
    let (end_row, column) = plan.at(wiring.parts.len());
    if end_row != row {
        next_row(&mut lines, (row, x), thick);
        (row, x) = (end_row, thick / 2.0);
    }
    let line = plan.levels(row).line;
    let end = column + 1.9 * plan.width;
    lines.wire(Hue::Hidden, thick, &format!("M{x:.1} {line:.1}H{:.1}", end - 1.2 * font));
    lines.head(Hue::Hidden, (end, line), (1.0, 0.0), 1.5 * font);
    if wiring.norms == Norms::Before {
        pill(&mut over, (column + 0.5 * plan.width, line));
    }
    let at = (column + 1.45 * plan.width, line - 0.9 * font);
    over.text(Hue::Output, true, at, Anchor::Middle, "logits");
    under.svg + &lines.svg + &knots.svg + &over.svg
}

fn wiring_json(drawn: &Wiring, caption: &Caption, provenance: &Provenance) -> String {
    let mut map = head(caption.name, &caption.title, provenance);
    map.insert("shape".into(), json!([drawn.parts.len(), 2]));
    let names: Vec<String> = drawn.parts.iter().map(|part| part.source.name()).collect();
    map.insert(
        "axes".into(),
        json!([axis("part", names), axis("length", ["term", "stream after"])]),
    );
    let values: Vec<_> = drawn.parts.iter().map(|part| [part.adds, part.after]).collect();
    // As text: `json!` would widen each f32 and write digits it does not have.
    open_object(&map, "values") + &serde_json::to_string(&values).unwrap_or_default() + "}"
}

fn wiring_csv(drawn: &Wiring, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    text.push_str("part,length,stream_after\n");
    let written =
        |length: Option<f32>| length.map_or_else(String::new, |length| format!("{length:?}"));
    for Part { source, adds, after } in &drawn.parts {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{},{}", source.name(), written(*adds), written(*after));
    }
    text
}

fn wiring_svg(drawn: &Wiring, caption: &Caption, colors: &Colors) -> String {
    const SIZE: (f64, f64) = (960.0, 420.0);
    let plan = Plan::new(drawn, SIZE);
    let inside = draw(drawn, &plan, None, Paint::of(colors.palette));
    sheet(&inside, (SIZE.0, plan.height()), caption, colors.palette)
}

#[cfg(test)]
mod tests {
    use unroll_protocol::{Array, study::block::Shown};

    use super::*;

    fn stream(sources: Vec<Source>, deviation: Option<f32>) -> Stream {
        let count = sources.len();
        Stream {
            shown: Shown::Full,
            tokens: vec!["a".into(), "<".into()],
            dropped: 0,
            position: 1,
            token: 0,
            next: None,
            sizes: Array { shape: vec![count as u32, 2], values: vec![5.0; 2 * count] },
            whole: vec![1.0, 9.0],
            terms: Array { shape: vec![count as u32, 2], values: [3.0, 4.0].repeat(count) },
            sources,
            deviation,
            gamma: Vec::new(),
            unembedding: Vec::new(),
            contributions: Vec::new(),
            offset: 0.0,
            logit: 0.0,
            probabilities: Vec::new(),
        }
    }

    fn all() -> Vec<Source> {
        let layers =
            (1..=LAYERS).flat_map(|block| [Source::Attention(block), Source::FeedForward(block)]);
        [Source::Token, Source::Position].into_iter().chain(layers).collect()
    }

    #[test]
    fn lengths_are_those_that_can_be_known() {
        let pre = Wiring::of(&stream(all(), Some(1.0)));
        assert_eq!((pre.norms, pre.residual, pre.parts.len()), (Norms::Before, true, 14));
        // Equal terms: the sum of three is three times as long.
        assert_eq!(pre.parts[2].after, Some(15.0));
        assert_eq!(
            pre.says(2),
            "Attention 1 adds a vector of length 5.00; then the stream has length 15.00."
        );
        let mut sources = all();
        sources.push(Source::NormOffsets);
        let post = Wiring::of(&stream(sources, None));
        assert_eq!(post.norms, Norms::After);
        assert_eq!((post.parts[2].after, post.parts[13].after), (None, Some(9.0)));
        let cut = Wiring::of(&stream(vec![Source::FeedForward(LAYERS)], Some(1.0)));
        assert_eq!((cut.residual, cut.parts.len(), cut.parts[2].adds), (false, 14, None));
        assert_eq!(cut.says(2), "Attention 1 replaces the stream.");
        let csv = wiring_csv(
            &cut,
            &Caption { name: NAME, title: "t".into(), marker: None, source: String::new() },
            &Provenance::default(),
        );
        assert!(csv.ends_with("attention 6,,\nfeed-forward 6,5.0,9.0\n"), "{csv}");
    }

    #[test]
    fn every_layer_is_in_every_picture() {
        let mut with_offsets = all();
        with_offsets.push(Source::NormOffsets);
        let few: Vec<_> =
            all().into_iter().filter(|source| !matches!(source, Source::Attention(_))).collect();
        for stream in [
            stream(all(), Some(1.0)),
            stream(all(), None),
            stream(with_offsets, None),
            stream(few, Some(1.0)),
            stream(vec![Source::FeedForward(LAYERS)], Some(1.0)),
        ] {
            let wiring = Wiring::of(&stream);
            for size in
                [(328.0, 250.0), (456.0, 200.0), (700.0, 300.0), (1000.0, 480.0), (1800.0, 1000.0)]
            {
                let plan = Plan::new(&wiring, size);
                assert!(plan.across as f64 * plan.width <= size.0 + 0.1, "{size:?}");
                assert!(plan.rows * plan.across >= wiring.columns());
                let svg = draw(&wiring, &plan, None, Paint::page());
                assert_eq!(svg.matches("data-part").count(), wiring.parts.len());
                assert!(!svg.contains("NaN"));
                let pluses = if wiring.residual { wiring.parts.len() - 1 } else { 1 };
                assert_eq!(svg.matches(">+<").count(), pluses);
            }
        }
    }
}
