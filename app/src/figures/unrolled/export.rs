//! The diagram as text and as a picture of its own. Pure functions, no browser.

use std::fmt::Write;

use serde_json::{Map, json};

use super::column::name_of;
use super::data::{
    BAR_HEIGHT, BAR_LENGTH, BARS_Y, COLUMN, Diagram, HEIGHT, LEFT, MIDDLE, MOVED_Y, STRIP_HEIGHT,
    STRIP_WIDTH, STRIP_X, STRIP_Y, TOKEN_SIZE, TOKEN_Y, x_of,
};
use crate::figures::{
    export::{Provenance, axis, csv_comment, field, open_object, rows_json},
    frame::Caption,
    heatmap_svg::escape,
    theme::Colors,
    token,
};

/// All steps of the sentence with their states, `values[t][unit]`, those of the sentence before an
/// edit, `before[t][unit]`, and what each step expects.
pub fn unrolled_json(diagram: &Diagram, caption: &Caption, provenance: &Provenance) -> String {
    let columns: Vec<_> = diagram
        .columns
        .iter()
        .map(|column| {
            let output = column.face.output.as_ref();
            let target = output.and_then(|output| output.target.as_ref());
            json!({
                "token": column.face.token,
                "replaced": column.face.replaced,
                "expects": output.map(|output| {
                    let bars = output.bars.iter();
                    bars.map(|(name, p)| json!([name, exact(Some(*p))])).collect::<Vec<_>>()
                }),
                "target": target.map(|target| &target.0),
                "target_probability": exact(target.map(|target| target.1)),
                "loss": exact(output.and_then(|output| output.loss())),
                "moved": exact(column.face.moved),
            })
        })
        .collect();
    let mut map = Map::new();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!(caption.name));
    map.insert("title".into(), json!(caption.title));
    map.insert("step".into(), json!(diagram.step));
    map.insert("unrolled".into(), json!(diagram.unrolled));
    map.insert("edited".into(), json!(diagram.edited));
    map.insert("shape".into(), json!([diagram.length(), diagram.hidden]));
    let tokens: Vec<&str> = diagram.columns.iter().map(|c| c.face.token.as_str()).collect();
    let units: Vec<usize> = (1..=diagram.hidden).collect();
    map.insert("axes".into(), json!([axis("t", tokens), axis("unit", units)]));
    map.insert("columns".into(), json!(columns));
    provenance.write_into(&mut map);
    let states: Vec<f32> = diagram.columns.iter().flat_map(|c| c.states.clone()).collect();
    let before: Option<Vec<&Vec<f32>>> =
        diagram.columns.iter().map(|c| c.before.as_ref()).collect();
    let before = before.filter(|before| !before.is_empty()).map_or("null".to_owned(), |before| {
        rows_json(&before.into_iter().flatten().copied().collect::<Vec<f32>>(), diagram.hidden)
    });
    open_object(&map, "values")
        + &rows_json(&states, diagram.hidden)
        + ",\"before\":"
        + &before
        + "}"
}

/// The shortest digits that read back as the same `f32`.
fn exact(value: Option<f32>) -> Option<f64> {
    value?.to_string().parse().ok()
}

/// One line a step; steps counted from 1, loss in nats.
pub fn unrolled_csv(diagram: &Diagram, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    text.push_str("t,token,target,target_probability,loss,moved");
    for unit in 1..=diagram.hidden {
        let _ = write!(text, ",s{unit}");
    }
    text.push('\n');
    let number = |value: Option<f32>| value.map_or(String::new(), |value| format!("{value:?}"));
    for (t, column) in diagram.columns.iter().enumerate() {
        let output = column.face.output.as_ref();
        let target = output.and_then(|output| output.target.as_ref());
        let _ = write!(
            text,
            "{},{},{},{},{},{}",
            t + 1,
            field(&column.face.token),
            target.map_or(String::new(), |(name, _)| field(name)),
            number(target.map(|(_, p)| *p)),
            number(output.and_then(|output| output.loss())),
            number(column.face.moved),
        );
        for state in &column.states {
            let _ = write!(text, ",{state:?}");
        }
        text.push('\n');
    }
    text
}

/// The unrolled columns as on screen, all of them, with title and where they come from.
pub fn unrolled_svg(diagram: &Diagram, caption: &Caption, colors: &Colors) -> String {
    let palette = colors.palette;
    let (width, height) = (diagram.width().max(480.0), HEIGHT + 72.0);
    let mut svg = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="12"><title>{title}</title><rect width="100%" height="100%" fill="{paper}"/><text x="16" y="24" font-size="15" fill="{ink}">{title}</text><text x="16" y="{foot}" fill="{muted}">{source}</text><g transform="translate(0 36)" text-anchor="middle" fill="{ink}"><rect x="{zero}" y="{STRIP_Y}" width="{STRIP_WIDTH}" height="{STRIP_HEIGHT}" fill="{grey}" stroke="{muted}"/><text x="{zero_middle}" y="{below}" fill="{muted}">s₀ = 0</text>"##,
        title = escape(&caption.title),
        source = escape(&caption.source),
        foot = height - 12.0,
        paper = palette.paper.css(),
        ink = palette.ink.css(),
        muted = palette.muted.css(),
        grey = colors.signed.at(0.0).css(),
        zero = LEFT - COLUMN + STRIP_X,
        zero_middle = LEFT - COLUMN + MIDDLE,
        below = STRIP_Y + STRIP_HEIGHT + 18.0,
    );
    // Folded, the last state stands for the loop.
    let last = diagram.length().saturating_sub(1);
    let loop_too = diagram.folded().then_some((diagram.unrolled, last));
    for (place, t) in (0..diagram.unrolled).map(|t| (t, t)).chain(loop_too) {
        write_column(&mut svg, diagram, place, t, colors);
    }
    svg.push_str("</g></svg>");
    svg
}

fn write_column(svg: &mut String, diagram: &Diagram, place: usize, t: usize, colors: &Colors) {
    let (column, palette) = (&diagram.columns[t], colors.palette);
    let (ink, muted) = (palette.ink.css(), palette.muted.css());
    let in_loop = place >= diagram.unrolled;
    let middle_y = STRIP_Y + STRIP_HEIGHT / 2.0;
    let time = if in_loop && place < t {
        format!("t = {} … {}", place + 1, t + 1)
    } else {
        format!("t = {}", t + 1)
    };
    let _ = write!(
        svg,
        r#"<g transform="translate({} 0)"><text x="{MIDDLE}" y="14" fill="{muted}">{time}</text><g fill="none" stroke="{ink}"><path d="M{} {middle_y}H{STRIP_X}"/><path d="M{MIDDLE} {TOKEN_Y}V{}"/>"#,
        x_of(place),
        STRIP_X + STRIP_WIDTH - COLUMN,
        STRIP_Y + STRIP_HEIGHT,
    );
    if column.face.output.is_some() {
        let _ = write!(svg, r#"<path d="M{MIDDLE} {STRIP_Y}V{}"/>"#, STRIP_Y - 24.0);
    }
    if in_loop {
        let right = STRIP_X + STRIP_WIDTH;
        let _ = write!(
            svg,
            r#"<path d="M{right} {} C{far} {}, {far} {}, {right} {}"/>"#,
            middle_y - 26.0,
            middle_y - 60.0,
            middle_y + 60.0,
            middle_y + 26.0,
            far = right + 66.0,
        );
    }
    let _ = write!(
        svg,
        r#"</g><text x="0" y="{}">U</text><text x="{}" y="{}">W</text><g shape-rendering="crispEdges">"#,
        middle_y - 8.0,
        MIDDLE + 14.0,
        TOKEN_Y - 9.0,
    );
    let cell = STRIP_HEIGHT / diagram.hidden.max(1) as f64;
    let halves = match &column.before {
        Some(before) => vec![(0.0, 0.5, before), (0.5, 0.5, &column.states)],
        None => vec![(0.0, 1.0, &column.states)],
    };
    for (from, share, states) in halves {
        for (unit, value) in states.iter().enumerate() {
            let _ = write!(
                svg,
                r#"<rect x="{}" y="{:.2}" width="{}" height="{cell:.2}" fill="{}"/>"#,
                STRIP_X + from * STRIP_WIDTH,
                STRIP_Y + cell * unit as f64,
                share * STRIP_WIDTH,
                colors.signed.at(*value).css(),
            );
        }
    }
    let _ = write!(
        svg,
        r#"</g><rect x="{STRIP_X}" y="{STRIP_Y}" width="{STRIP_WIDTH}" height="{STRIP_HEIGHT}" fill="none" stroke="{muted}"/>"#,
    );
    if let Some(output) = &column.face.output {
        for (i, (name, p)) in output.bars.iter().enumerate() {
            let y = BARS_Y + BAR_HEIGHT * i as f64;
            let _ = write!(
                svg,
                r#"<rect x="20" y="{}" width="{:.1}" height="9" fill="{muted}" opacity="0.5"/><text x="9" y="{}" text-anchor="start">{}</text>"#,
                y + 3.0,
                BAR_LENGTH * f64::from(*p),
                y + 11.0,
                escape(&name_of(name)),
            );
        }
        if let (Some((name, p)), Some(loss)) = (&output.target, output.loss()) {
            let _ = write!(
                svg,
                r#"<text x="{MIDDLE}" y="34">✓ {} {p:.2}</text><text x="{MIDDLE}" y="50" fill="{muted}">loss {loss:.2}</text>"#,
                escape(&name_of(name)),
            );
        }
    }
    if !in_loop {
        let _ = write!(
            svg,
            r#"<rect x="{STRIP_X}" y="{TOKEN_Y}" width="{TOKEN_SIZE}" height="{TOKEN_SIZE}" rx="4" fill="none" stroke="{muted}"/><text x="{MIDDLE}" y="{}">{}</text>"#,
            TOKEN_Y + 19.0,
            escape(&token::mark(&column.face.token)),
        );
    }
    if let Some(moved) = column.face.moved {
        let _ = write!(
            svg,
            r#"<text x="{MIDDLE}" y="{}" fill="{muted}">Δ {moved:.2}</text>"#,
            MOVED_Y + 22.0
        );
    }
    svg.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{super::data::tests::unrolled, *};

    fn caption() -> Caption {
        Caption { name: "unrolled", title: "A < B".into(), marker: None, source: "here".into() }
    }

    #[test]
    fn states_read_back_exactly() {
        let diagram = Diagram::new(&unrolled(), 2, 7);
        let text = unrolled_json(&diagram, &caption(), &Provenance::default());
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&read["shape"], &read["step"]), (&json!([3, 2]), &json!(7)));
        let value = read["values"][1][0].as_f64().unwrap() as f32;
        assert_eq!(value, diagram.columns[1].states[0]);
        assert_eq!(read["columns"][1]["replaced"], json!(" "));
        assert_eq!(read["columns"][1]["moved"], json!(0.8));
        assert_eq!(read["before"][1][0], json!(0.0));
        let csv = unrolled_csv(&diagram, &caption(), &Provenance::default());
        assert_eq!(
            csv.lines().nth(1).unwrap(),
            "t,token,target,target_probability,loss,moved,s1,s2"
        );
        assert_eq!(csv.lines().count(), 5);
    }

    #[test]
    fn the_picture_holds_every_column_and_is_well_formed() {
        let colors = Colors::new(&crate::figures::color::Palette::LIGHT);
        for (columns, count) in [(0, 1), (2, 3), (3, 3)] {
            let svg = unrolled_svg(&Diagram::new(&unrolled(), columns, 0), &caption(), &colors);
            assert_eq!(svg.matches(">t = ").count(), count);
            assert!(svg.contains("A &lt; B") && svg.ends_with("</svg>"));
            assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
        }
    }
}
