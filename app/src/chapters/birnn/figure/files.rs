//! The figure of both directions as files.

use std::fmt::Write;

use serde_json::{Map, json};
use unroll_protocol::Array;

use super::{Columns, Content, Row, data::direction};
use crate::figures::pen::{FACE, MONO};
use crate::figures::{
    export::{Provenance, csv_comment, field, open_object},
    frame::Caption,
    svg::{escape, write_rect},
    theme::Colors,
    token::mark,
};

/// What a row holds, in words.
fn kind(columns: &Columns, row: &Row) -> String {
    match row.content {
        Content::States { backward, .. } => {
            format!("{} {}", direction(backward), columns.state_name())
        }
        Content::Answers(_) => "answer".to_owned(),
    }
}

/// A list of lists, with no more digits than an f32 has.
fn lists(values: &Array) -> String {
    let length = values.shape.first().copied().unwrap_or(0) as usize;
    let rows: Vec<&[f32]> = (0..length).filter_map(|t| values.block(&[t])).collect();
    serde_json::to_string(&rows).unwrap_or_default()
}

/// `rows`: each with its model, what it holds, and a list for every position.
pub fn columns_json(columns: &Columns, caption: &Caption, provenance: &Provenance) -> String {
    let mut map = Map::new();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!(caption.name));
    map.insert("title".into(), json!(caption.title));
    map.insert("tokens".into(), json!(columns.tokens));
    map.insert("right".into(), json!(columns.wanted));
    provenance.write_into(&mut map);
    let row = |row: &Row| {
        let head = json!({ "model": row.reader.name(), "kind": kind(columns, row) }).to_string();
        let head = &head[..head.len() - 1];
        match &row.content {
            Content::States { values, .. } => format!("{head},\"values\":{}}}", lists(values)),
            Content::Answers(answers) => {
                let said: Vec<_> = answers.iter().map(|a| a.as_ref().map(|a| &a.token)).collect();
                let sure: Vec<_> =
                    answers.iter().map(|a| a.as_ref().map(|a| a.probability)).collect();
                let sure = serde_json::to_string(&sure).unwrap_or_default();
                format!("{head},\"answers\":{},\"probabilities\":{sure}}}", json!(said))
            }
        }
    };
    let rows: Vec<String> = columns.rows.iter().map(row).collect();
    format!("{}[{}]}}", open_object(&map, "rows"), rows.join(","))
}

/// One line a number: a unit's state, or an answer's probability.
pub fn columns_csv(columns: &Columns, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    text.push_str("model,kind,position,token,unit,answer,value\n");
    for row in &columns.rows {
        let (model, kind) = (field(&row.reader.name()), field(&kind(columns, row)));
        for (t, token) in columns.tokens.iter().enumerate() {
            let (place, token) = (t + 1, field(token));
            // Writing to a String cannot fail.
            match &row.content {
                Content::States { values, .. } => {
                    for (unit, value) in values.block(&[t]).unwrap_or(&[]).iter().enumerate() {
                        let unit = unit + 1;
                        let _ = writeln!(text, "{model},{kind},{place},{token},{unit},,{value:?}");
                    }
                }
                Content::Answers(answers) => {
                    if let Some(Some(said)) = answers.get(t) {
                        let (answer, value) = (field(&said.token), said.probability);
                        let _ =
                            writeln!(text, "{model},{kind},{place},{token},,{answer},{value:?}");
                    }
                }
            }
        }
    }
    text
}

pub fn columns_svg(columns: &Columns, caption: &Caption, colors: &Colors) -> String {
    const COLUMN: f64 = 40.0;
    const LEFT: f64 = 16.0;
    const STATES: f64 = 56.0;
    let palette = colors.palette;
    let (ink, muted) = (palette.ink.css(), palette.muted.css());
    let middle = |t: usize| LEFT + COLUMN * (t as f64 + 0.5);
    let mut body = String::new();
    let mut y = 72.0;
    // Writing to a String cannot fail.
    let text = |body: &mut String, t: usize, y: f64, weight: u32, text: &str| {
        let (x, text) = (middle(t), escape(text));
        let _ = write!(
            body,
            r#"<text x="{x}" y="{y}" text-anchor="middle" font-family="{MONO}" font-weight="{weight}">{text}</text>"#
        );
    };
    for (t, token) in columns.tokens.iter().enumerate() {
        let shown = if columns.hidden == Some(t) { "▢".to_owned() } else { mark(token) };
        text(&mut body, t, y, 700, &shown);
    }
    let mut before = None;
    for row in &columns.rows {
        if before != Some(row.reader) {
            y += 30.0;
            let name = escape(&row.reader.name());
            let _ = write!(body, r#"<text x="{LEFT}" y="{y}" font-weight="700">{name}</text>"#);
            before = Some(row.reader);
        }
        match &row.content {
            Content::States { backward, values } => {
                y += 8.0;
                for t in 0..columns.tokens.len() {
                    let state = values.block(&[t]).unwrap_or(&[]);
                    let high = STATES / state.len().max(1) as f64;
                    for (unit, value) in state.iter().enumerate() {
                        let at = (middle(t) - 12.0, y + high * unit as f64);
                        let color = columns.state_map().color(*value, colors);
                        write_rect(&mut body, at.0, at.1, 24.0, high, color);
                    }
                    if t > 0 {
                        let x = middle(t) - COLUMN / 2.0;
                        let way = if *backward { "←" } else { "→" };
                        let y = y + STATES / 2.0 + 5.0;
                        let _ = write!(
                            body,
                            r#"<text x="{x}" y="{y}" text-anchor="middle" fill="{muted}">{way}</text>"#
                        );
                    }
                }
                y += STATES;
            }
            Content::Answers(answers) => {
                y += 20.0;
                for (t, said) in answers.iter().enumerate() {
                    let right = said.as_ref().is_some_and(|said| said.right == Some(true));
                    let token = said.as_ref().map_or("–", |said| &said.token);
                    text(&mut body, t, y, if right { 700 } else { 400 }, token);
                }
            }
        }
    }
    let width = (2.0 * LEFT + COLUMN * columns.tokens.len() as f64).max(480.0);
    let (height, foot) = (y + 44.0, y + 32.0);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="{FACE}" font-size="14" fill="{ink}"><title>{title}</title><rect width="100%" height="100%" fill="{paper}"/><text x="{LEFT}" y="28" font-size="16">{title}</text>{body}<text x="{LEFT}" y="{foot}" font-size="12" fill="{muted}">{source}</text></svg>"#,
        title = escape(&caption.title),
        paper = palette.paper.css(),
        source = escape(&caption.source),
    )
}

#[cfg(test)]
mod tests {
    use super::{super::data::tests::reading, *};
    use crate::figures::color::Palette;

    #[test]
    fn files_read_back() {
        let columns = Columns::new(&reading(), Some(1), None);
        let caption =
            Caption { name: "birnn", title: "Both".into(), marker: None, source: "here".into() };
        let json = columns_json(&columns, &caption, &Provenance::default());
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["rows"][0]["values"][1][0].as_f64().unwrap() as f32, 0.2);
        assert!(json.contains("[0.2]"), "{json}");
        assert_eq!(read["rows"][2]["answers"][2], serde_json::Value::Null);
        let csv = columns_csv(&columns, &caption, &Provenance::default());
        assert_eq!(csv.lines().nth(3), Some("both ways,forward state,2,\" \",1,,0.2"));
        let svg = columns_svg(&columns, &caption, &Colors::new(&Palette::LIGHT));
        assert!(svg.contains("both ways") && svg.ends_with("</svg>"));
    }
}
