//! The diagram as text and as a picture of its own. Pure functions, no browser.

use std::fmt::Write;

use serde_json::{Map, json};

use super::{column::name_of, data::Diagram, layout::Layout};
use crate::figures::pen::FACE;
use crate::figures::{
    export::{Provenance, axis, csv_comment, field, open_object, rows_json},
    frame::Caption,
    svg::escape,
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
    map.insert("value".into(), json!(diagram.state_name()));
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
    let l = Layout::of_picture(diagram.unrolled, diagram.length(), diagram.edited.is_some());
    let (width, height) = (l.width().max(480.0), l.height + 72.0);
    let mut svg = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="{FACE}" font-size="12"><title>{title}</title><rect width="100%" height="100%" fill="{paper}"/><text x="16" y="24" font-size="15" fill="{ink}">{title}</text><text x="16" y="{foot}" fill="{muted}">{source}</text><g transform="translate(0 36)" text-anchor="middle" fill="{ink}"><rect x="{zero}" y="{strip_y}" width="{strip_width}" height="{strip_height}" fill="{grey}" stroke="{muted}"/><text x="{start}" y="{below}" fill="{muted}">s₀ = 0</text>"##,
        title = escape(&caption.title),
        source = escape(&caption.source),
        foot = height - 12.0,
        paper = palette.paper.css(),
        ink = palette.ink.css(),
        muted = palette.muted.css(),
        grey = colors.signed.at(0.0).css(),
        zero = l.start() + l.start_x(),
        strip_y = l.strip_y,
        strip_width = l.start_width(),
        strip_height = l.strip_height,
        start = l.start() + l.start_x() + l.start_width() / 2.0,
        below = l.strip_y + l.strip_height + 18.0,
    );
    let loop_too = usize::from(diagram.folded());
    for t in 0..diagram.unrolled + loop_too {
        write_column(&mut svg, diagram, &l, t, colors);
    }
    svg.push_str("</g></svg>");
    svg
}

fn write_column(svg: &mut String, diagram: &Diagram, l: &Layout, t: usize, colors: &Colors) {
    let (column, palette) = (&diagram.columns[t], colors.palette);
    let (ink, muted) = (palette.ink.css(), palette.muted.css());
    let in_loop = t >= diagram.unrolled;
    let (bars, bar_names) = (1.3 * l.text, 0.35 * l.text);
    let (middle, middle_y) = (l.middle(), l.strip_middle());
    let (strip_x, strip_width) = (l.strip_x(), l.strip_width());
    let foot = l.strip_y + l.strip_height;
    let _ = write!(
        svg,
        r#"<g transform="translate({} 0)"><text x="{middle}" y="14" fill="{muted}">t = {}</text><g fill="none" stroke="{ink}"><path d="M{} {middle_y}H{strip_x}"/><path d="M{middle} {}V{foot}"/>"#,
        l.x_of(t),
        t + 1,
        strip_x + strip_width - l.column,
        l.token_y,
    );
    if column.face.output.is_some() {
        let _ = write!(svg, r#"<path d="M{middle} {}V{}"/>"#, l.strip_y, l.arrow_end() + 4.0);
    }
    if in_loop {
        let right = strip_x + strip_width;
        let _ = write!(
            svg,
            r#"<path d="M{right} {} C{far} {}, {far} {}, {right} {}"/>"#,
            middle_y - 26.0,
            middle_y - 60.0,
            middle_y + 60.0,
            middle_y + 26.0,
            far = right + 66.0,
        );
        if l.ahead > 0 {
            let ahead = diagram.columns.iter().skip(l.first_ahead());
            let read = core::iter::once(column).chain(ahead).map(|c| c.face.token.as_str());
            let _ = write!(
                svg,
                r#"<path d="{}" stroke="{}" stroke-dasharray="3 3"/><text x="{}" y="{}" font-size="{:.1}" fill="{muted}" stroke="none">{}</text>"#,
                l.outlines_ahead(0),
                palette.line.css(),
                l.letters_x(),
                l.token_y + 0.68 * l.token_size,
                l.letters(),
                escape(&token::short_mark(&read.collect::<String>(), 1 + l.ahead)),
            );
        }
    }
    let _ = write!(
        svg,
        r#"</g><text x="0" y="{}">U</text><text x="{}" y="{}">W</text><g shape-rendering="crispEdges">"#,
        middle_y - 8.0,
        middle + 14.0,
        l.token_y - 9.0,
    );
    let cell = l.strip_height / diagram.hidden.max(1) as f64;
    let halves = match &column.before {
        Some(before) => vec![(0.0, 0.5, before), (0.5, 0.5, &column.states)],
        None => vec![(0.0, 1.0, &column.states)],
    };
    for (from, share, states) in halves {
        for (unit, value) in states.iter().enumerate() {
            let _ = write!(
                svg,
                r#"<rect x="{}" y="{:.2}" width="{}" height="{cell:.2}" fill="{}"/>"#,
                strip_x + from * strip_width,
                l.strip_y + cell * unit as f64,
                share * strip_width,
                diagram.state_map().color(*value, colors).css(),
            );
        }
    }
    let _ = write!(
        svg,
        r#"</g><rect x="{strip_x}" y="{}" width="{strip_width}" height="{}" fill="none" stroke="{muted}"/>"#,
        l.strip_y, l.strip_height,
    );
    if let Some(output) = &column.face.output {
        for (i, (name, p)) in output.bars.iter().enumerate() {
            let y = l.bars_y + l.bar_height * i as f64;
            let _ = write!(
                svg,
                r#"<rect x="{bars}" y="{}" width="{:.1}" height="{}" fill="{muted}" opacity="0.5"/><text x="5" y="{}" text-anchor="start">{}</text>"#,
                y + 2.0,
                (l.column - bars - 4.0) * f64::from(*p),
                l.bar_height - 4.0,
                y + l.bar_height / 2.0 + bar_names,
                escape(&name_of(name)),
            );
        }
        if let (Some((name, p)), Some(loss)) = (&output.target, output.loss()) {
            let _ = write!(
                svg,
                r#"<text x="{middle}" y="{}">✓ {} p={p:.2}</text><text x="{middle}" y="{}" fill="{muted}">loss {loss:.2}</text>"#,
                l.truth_foot(),
                escape(&name_of(name)),
                l.loss_foot(),
            );
        }
    }
    // Where what is to come has its places, the row of letters has this one, too.
    if !in_loop || l.ahead == 0 {
        let (x, y, size) = (middle - l.token_size / 2.0, l.token_y, l.token_size);
        let _ = write!(
            svg,
            r#"<rect x="{x}" y="{y}" width="{size}" height="{size}" rx="4" fill="none" stroke="{muted}"/><text x="{middle}" y="{}" font-size="{:.0}">{}</text>"#,
            y + 0.7 * size,
            0.62 * size,
            escape(&token::mark(&column.face.token)),
        );
    }
    if let Some(moved) = column.face.moved {
        let y = l.moved_end();
        let _ = write!(svg, r#"<text x="{middle}" y="{y}" fill="{muted}">Δ {moved:.2}</text>"#);
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
    fn a_loop_alone_shows_what_is_to_come() {
        let colors = Colors::new(&crate::figures::color::Palette::LIGHT);
        let mut diagram = Diagram::new(&unrolled(), 0, 0);
        diagram.columns = diagram.columns.iter().cycle().take(30).cloned().collect();
        let svg = unrolled_svg(&diagram, &caption(), &colors);
        let (_, ghosts) = svg.split_once("stroke-dasharray").unwrap();
        let xs = ghosts.split('"').nth(3).unwrap();
        assert_eq!(xs.split(' ').count(), 31, "{xs}");
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
