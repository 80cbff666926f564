//! A machine as a file: its parts, its picture.

use std::fmt::Write;

use serde_json::{Map, json};

use super::{Machine, changed, draw, parts};
use crate::figures::{
    Colors, Provenance,
    export::{csv_comment, field},
    frame::{Caption, Files},
    pen::Paint,
    svg::escape,
};

pub const FILES: Files<Machine> = Files { json, csv, svg };

fn json(machine: &Machine, caption: &Caption, provenance: &Provenance) -> String {
    let mut map = Map::new();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!(caption.name));
    map.insert("title".into(), json!(caption.title));
    map.insert("changed".into(), json!(changed(*machine)));
    provenance.write_into(&mut map);
    let part = |part: &super::Part| {
        json!({
            "id": part.id,
            "name": part.name,
            "does": part.does,
            "math": part.math,
            "shape": part.shape,
            "chapter": part.door.id(),
            "new": part.new,
        })
    };
    map.insert("parts".into(), parts(*machine).iter().map(part).collect());
    serde_json::Value::Object(map).to_string()
}

fn csv(machine: &Machine, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    text.push_str("part,name,math,shape,does,chapter,new\n");
    for part in parts(*machine) {
        let [name, math, shape, does] = [part.name, part.math, part.shape, part.does].map(field);
        let (door, new) = (part.door.id(), u8::from(part.new));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{name},{math},{shape},{does},{door},{new}", part.id);
    }
    text
}

fn svg(machine: &Machine, caption: &Caption, colors: &Colors) -> String {
    /// Of the picture; around it a margin, the title and the source.
    const SIZE: (f64, f64) = (1200.0, 720.0);
    let palette = colors.palette;
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1260 810" width="1260" height="810" font-family="system-ui, sans-serif"><title>{title}</title><rect width="100%" height="100%" fill="{paper}"/><text x="30" y="36" font-size="20" font-weight="650" fill="{ink}">{title}</text><text x="30" y="796" font-size="12" fill="{muted}">{source}</text><g transform="translate(30 58)">{inside}</g></svg>"#,
        title = escape(&caption.title),
        paper = palette.paper.css(),
        ink = palette.ink.css(),
        muted = palette.muted.css(),
        source = escape(&caption.source),
        inside = draw(*machine, SIZE, Paint::of(palette), None),
    )
}
