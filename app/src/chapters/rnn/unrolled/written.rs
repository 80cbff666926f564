//! What recurrent networks write, character by character, each with how surprising it was.

use std::fmt::Write;

use leptos::prelude::*;
use serde_json::{Map, Value, json};

use crate::figures::pen::{FACE, MONO};
use crate::figures::{
    canvas::use_latest,
    export::{Provenance, csv_comment, field},
    frame::{Caption, Files, Frame, choices},
    sight::use_visible,
    svg::escape,
    theme::{Colors, use_colors},
    token,
};

/// Surprise in nats that has the strongest color.
pub const STRONGEST: f32 = 6.0;

/// Texts to be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts(pub Vec<Text>);

/// One text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// Who wrote it, and how.
    pub name: String,
    /// Each character with its surprise in nats.
    pub characters: Vec<(String, f32)>,
    /// Which one was forced, from 0.
    pub forced: Option<usize>,
}

/// How much of the color of surprise a character has, from 0 to 1.
pub fn strength(surprise: f32) -> f32 {
    0.55 * (surprise / STRONGEST).clamp(0.0, 1.0)
}

/// The frame of what is written; `children` show the texts.
#[component]
pub fn WrittenFigure(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    texts: Signal<Texts>,
    provenance: Signal<Provenance>,
    children: Children,
) -> impl IntoView {
    let root = NodeRef::new();
    let colors = use_colors();
    let shown = use_latest(texts, use_visible(root));
    let empty = Signal::derive(move || shown.with(|texts| texts.0.is_empty()));
    let files = Files { json: texts_json, csv: texts_csv, svg: texts_svg };
    let choices = choices(name, title, shown, Signal::stored(None), provenance, colors, files);
    view! { <Frame name kind="written" title root empty choices>{children()}</Frame> }.into_any()
}

fn texts_json(texts: &Texts, caption: &Caption, provenance: &Provenance) -> String {
    let text = |text: &Text| {
        let (characters, surprise): (Vec<&String>, Vec<f32>) =
            text.characters.iter().map(|(character, surprise)| (character, *surprise)).unzip();
        json!({
            "name": text.name,
            "characters": characters,
            "surprise": surprise,
            "forced": text.forced,
        })
    };
    let mut map = Map::new();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!(caption.name));
    map.insert("title".into(), json!(caption.title));
    map.insert("texts".into(), json!(texts.0.iter().map(text).collect::<Vec<_>>()));
    provenance.write_into(&mut map);
    Value::Object(map).to_string()
}

/// One line a character; places counted from 1, surprise in nats.
fn texts_csv(texts: &Texts, caption: &Caption, provenance: &Provenance) -> String {
    let mut csv = csv_comment(&caption.title, provenance);
    csv.push_str("text,place,character,surprise,forced\n");
    for text in &texts.0 {
        for (i, (character, surprise)) in text.characters.iter().enumerate() {
            let forced = u8::from(text.forced == Some(i));
            // Writing to a String cannot fail.
            let _ = writeln!(
                csv,
                "{},{},{},{surprise:?},{forced}",
                field(&text.name),
                i + 1,
                field(character),
            );
        }
    }
    csv
}

/// Each text as one line of letters on the color of their surprise.
fn texts_svg(texts: &Texts, caption: &Caption, colors: &Colors) -> String {
    const LETTER: f64 = 10.0;
    const LINE: f64 = 58.0;
    let palette = colors.palette;
    let longest = texts.0.iter().map(|text| text.characters.len()).max().unwrap_or(0);
    let width = (32.0 + LETTER * longest as f64).max(480.0);
    let height = 84.0 + LINE * texts.0.len() as f64;
    let mut svg = String::new();
    let _ = write!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="{FACE}" font-size="13"><title>{title}</title><rect width="100%" height="100%" fill="{paper}"/><text x="16" y="24" font-size="15" fill="{ink}">{title}</text><text x="16" y="{foot}" font-size="12" fill="{muted}">{source}</text>"##,
        title = escape(&caption.title),
        source = escape(&caption.source),
        foot = height - 12.0,
        paper = palette.paper.css(),
        ink = palette.ink.css(),
        muted = palette.muted.css(),
    );
    for (row, text) in texts.0.iter().enumerate() {
        let y = 56.0 + LINE * row as f64;
        let (name, muted) = (escape(&text.name), palette.muted.css());
        let _ = write!(
            svg,
            r#"<text x="16" y="{y}" fill="{muted}">{name}</text><g font-family="{MONO}" font-size="16" text-anchor="middle" fill="{}">"#,
            palette.ink.css(),
        );
        for (i, (character, surprise)) in text.characters.iter().enumerate() {
            let x = 16.0 + LETTER * i as f64;
            let frame = if text.forced == Some(i) { palette.ink.css() } else { "none".into() };
            let _ = write!(
                svg,
                r#"<rect x="{x}" y="{}" width="{LETTER}" height="22" fill="{}" fill-opacity="{:.2}" stroke="{frame}"/><text x="{}" y="{}">{}</text>"#,
                y + 8.0,
                palette.gradient.css(),
                strength(*surprise),
                x + LETTER / 2.0,
                y + 24.0,
                escape(&token::mark(character)),
            );
        }
        svg.push_str("</g>");
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_and_are_drawn_whole() {
        let characters = vec![("a".into(), 0.25), ("<".into(), 9.0)];
        let texts = Texts(vec![Text { name: "A, plain".into(), characters, forced: Some(1) }]);
        let caption =
            Caption { name: "written", title: "t".into(), marker: None, source: "here".into() };
        let json: Value =
            serde_json::from_str(&texts_json(&texts, &caption, &Provenance::default())).unwrap();
        assert_eq!(json["texts"][0]["surprise"], json!([0.25, 9.0]));
        let csv = texts_csv(&texts, &caption, &Provenance::default());
        assert_eq!(csv.lines().nth(3), Some("\"A, plain\",2,<,9.0,1"));
        let colors = Colors::new(&crate::figures::color::Palette::LIGHT);
        let svg = texts_svg(&texts, &caption, &colors);
        assert!(svg.contains("&lt;") && svg.ends_with("</g></svg>"), "{svg}");
    }
}
